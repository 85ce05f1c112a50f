/* SPDX-License-Identifier: BSD-3-Clause */
/* first_reduce.c - see first_reduce.h. */
#include "methods/first_reduce.h"

#include "core/alloc.h"
#include "core/options.h"
#include "core/rng.h"
#include "math/logsum.h"
#include "hmm/convert.h"
#include "hmm/missing_columns.h"

#include <string.h>

typedef struct {
    vhem_ctx *ctx;
    const vh_input *in;
    vhem_cluster_options opt; /* for each part */
    uint64_t seed;
    vh_h3m **set;  /* [parts]  centres of each part, */
    double *share; /* [parts]  and its weight */
    int *label;    /* [Kb]  centre of each model, numbered across all parts */
    int n_centers; /* number of centres of the parts so far */
    int R;         /* centres requested per part */
    vh_clustering *out;
} first_reduction;

static int count_parts(const vh_input *in)
{
    return in->shards ? in->shards->n : 1;
}

static void task_free(first_reduction *t)
{
    for (int p = 0; t->set && p < count_parts(t->in); p++)
        vh_h3m_free(t->set[p]);
    free(t->set);
    free(t->share);
    free(t->label);
}

/* Loads the models of part p, with normalised weights; *first is the index of its first model.  Fails if the
 * part has no weight. */
static vhem_status take_part(vhem_ctx *ctx, first_reduction *t, int p, int64_t *first, vh_h3m **out)
{
    const vh_shards *shards = t->in->shards;
    double sum = 0;

    *first = 0;
    if (shards) {
        *first = shards->shard[p]->first;
        VH_TRY(vh_shards_read(ctx, shards, *first, shards->shard[p]->K, false, out));
        vh_h3m_settle_family(*out);
    } else {
        VH_TRY(vh_h3m_subset(ctx, t->in->models, NULL, t->in->Kb, out));
    }
    for (int64_t i = 0; i < (*out)->K; i++)
        sum += (*out)->omega[i];
    t->share[p] = sum;
    VH_CHECK(sum > 0, VHEM_EINVAL, "no model of part %d has any weight, and a part is reduced by itself", p);
    vh_normalise((*out)->K, (*out)->omega);
    return VHEM_OK;
}

/* Keeps the centres that have members, and sets each model's label to its centre, numbered across parts. */
static vhem_status keep_centers(first_reduction *t, int p, int64_t first, const vh_clustering *c)
{
    vhem_ctx *ctx = t->ctx;
    VH_AUTOFREE int64_t *index = NULL;
    VH_AUTOFREE int *number = NULL;
    int n = 0;
    VH_OWN(vh_h3m) *used = NULL;

    VH_NEW(index, c->Kr);
    VH_NEW(number, c->Kr);
    for (int j = 0; j < c->Kr; j++) {
        number[j] = t->n_centers + n;
        if (c->centers->omega[j] > 0)
            index[n++] = j;
    }
    VH_TRY(vh_h3m_subset(ctx, c->centers, index, n, &used));
    used->lengths = t->in->models->lengths; /* a centre represents a typical member */
    for (int64_t i = 0; i < c->Kb; i++)
        t->label[first + i] = number[c->label[i]];
    t->set[p] = used;
    t->n_centers += n;
    used = NULL;
    return VHEM_OK;
}

static vhem_status reduce_part(first_reduction *t, int p)
{
    vhem_ctx *ctx = t->ctx;
    VH_OWN(vh_h3m) *part = NULL;
    VH_OWN(vh_clustering) *c = NULL;
    int64_t first = 0;

    VH_TRY(take_part(ctx, t, p, &first, &part));
    vh_input in = vh_input_models(part, t->R < part->K ? t->R : part->K);
    in.centers_only = true;
    VH_TRY(vh_cluster(ctx, &in, &t->opt, vh_rng_seed(t->seed, ((uint64_t)p + 1) << 40), &c));
    VH_TRY(keep_centers(t, p, first, c));
    if (c->lacking && t->in->shards && !t->out->lacking) /* counted when names are read */
        VH_NEW(t->out->lacking, t->in->Kb);
    vh_log(ctx, VHEM_LOG_INFO, "part %d: %lld models are %lld centres", p, (long long)part->K,
           (long long)t->set[p]->K);
    return VHEM_OK;
}

/* Maps the labels of the centres to the models, and moves the results to out. */
static void take_labels_of_centres(const first_reduction *t, vh_clustering *c, vh_clustering *out)
{
    for (int64_t i = 0; i < t->in->Kb; i++)
        out->label[i] = c->label[t->label[i]];
    out->n_iter = c->n_iter;
    out->converged = c->converged;
    out->n_empty = c->n_empty;
    out->n_revived = c->n_revived;
    out->n_fell = c->n_fell;
    out->bound = c->bound;
    out->centers = c->centers;
    c->bound = NULL;
    c->centers = NULL;
}

vhem_status vh_first_reduce(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *opt, uint64_t seed,
                            vh_clustering *out)
{
    int parts = count_parts(in);
    VH_CLEANUP(task_free)
    first_reduction t = { .ctx = ctx, .in = in, .seed = seed, .R = opt->first_reduce, .out = out };
    vhem_cluster_options last = *opt;
    VH_OWN(vh_h3m) *all = NULL;
    VH_OWN(vh_clustering) *c = NULL;

    vh_options_drop_unused(VHEM_CLUSTER_OPTIONS, opt->method, &last); /* unused options were filled in */
    last.first_reduce = -1;
    t.opt = last;
    t.opt.start = NULL;
    t.opt.candidate = 1;
    VH_NEW(t.set, parts);
    VH_NEW(t.share, parts);
    VH_NEW(t.label, in->Kb);
    for (int p = 0; p < parts; p++) {
        VH_TRY(reduce_part(&t, p));
        vh_progress(ctx, "first-reduce", p + 1, parts);
    }
    VH_CHECK(in->K <= t.n_centers, VHEM_EINVAL,
             "%lld clusters of %d centres: " VH_OPT("first_reduce=%d") " must be larger", (long long)in->K,
             t.n_centers, opt->first_reduce);
    VH_TRY(vh_h3m_pool(ctx, (const vh_h3m *const *)t.set, t.share, parts, &all));
    vh_normalise(all->K, all->omega);
    all->lengths = in->models->lengths;
    vh_input second = vh_input_models(all, in->K);
    second.centers_only = true;
    vhem_status st = vh_cluster(ctx, &second, &last, seed, &c);
    if (c && (st == VHEM_OK || st == VHEM_ESTOPPED))
        take_labels_of_centres(&t, c, out);
    return st;
}
