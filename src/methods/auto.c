/* SPDX-License-Identifier: BSD-3-Clause */
/* auto.c - clusters sequences, or groups of sequences, with nothing but their number said: the search finds
 * the groups (search/sequence_search.h), and centres are made for them.
 *
 * The partition is kept as it was found: a loop that moves members to the centre that explains them best
 * merges what the graph keeps apart.  Each centre is one HMM fitted to all sequences of its group, in the
 * columns as they are; of the shapes in the table, the one whose centres put most items back into their
 * groups.  z and L_hmm are those of the centres. */
#include "methods/methods.h"
#include "methods/state_order.h"
#include "methods/strange.h"

#include "search/sequence_search.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "fit/fit.h"
#include "fit/frames.h"
#include "fit/infer.h"
#include "fit/options.h"
#include "math/agreement.h"
#include "math/logsum.h"
#include "core/rng.h"
#include "models/items.h"
#include "parallel/ranks.h"
#include "vhem/estep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MANY = 5000,      /* items: the search looks at a sample if there are more, */
    LANDMARKS = 2500, /* of this size */
    ORDERED = 100,    /* frames, by which the states of a centre are put in order */
};

/* Copies the sequences with their cluster as their group. */
static vhem_status by_cluster(vhem_ctx *ctx, const vh_graph_source *from, const int *label, int K,
                              vhem_data **out)
{
    const vhem_data *data = from->data;
    VH_OWN(vhem_data) *copy = NULL;
    VH_AUTOFREE int64_t *seq = NULL;
    VH_AUTOFREE const char **group = NULL;
    VH_AUTOFREE char *text = NULL;
    enum { WIDTH = 16 };

    VH_NEW(seq, data->N);
    VH_NEW(group, data->N);
    VH_NEW(text, vh_cells(K, WIDTH));
    for (int k = 0; k < K; k++)
        snprintf(text + vh_row(k, WIDTH), WIDTH, "%d", k + 1);
    for (int64_t i = 0; i < from->sets->n; i++)
        for (int64_t k = from->sets->first[i]; k < from->sets->first[i + 1]; k++) {
            int64_t n = from->sets->seq[k];
            seq[n] = n;
            group[n] = text + vh_row(label[i], WIDTH);
        }
    VH_TRY(vh_data_subset(ctx, data, seq, data->N, &copy));
    VH_TRY(vh_data_describe(ctx, copy, &(vhem_data_text){ .group = group }));
    *out = vh_take(copy);
    return VHEM_OK;
}

typedef struct { /* centres of one shape, and what they say of the items */
    const vh_graph_kind *kind;
    vh_h3m *centers;
    double *L, *z; /* [n][K] */
    int64_t back;  /* items that they put back into their group */
} described;

static void described_free(described *x)
{
    vh_h3m_free(x->centers);
    free(x->L);
    free(x->z);
    *x = (described){ 0 };
}

/* Computes L and z of the items, and how many of them would be put back into the groups label [n], which may
 * be NULL. */
static vhem_status score_items(vhem_ctx *ctx, const vh_graph_source *from, const int *label, described *x)
{
    int64_t n = from->sets->n;
    int K = (int)x->centers->K;
    VH_AUTOFREE double *loglik = NULL, *log_omega = NULL;
    const vh_items items = { .n = n, .seq = from->sets->seq, .first = from->sets->first };

    VH_NEW(loglik, vh_cells(from->data->N, K));
    VH_NEW(log_omega, K);
    free(x->L);
    free(x->z);
    x->back = 0;
    VH_NEW(x->L, vh_cells(n, K));
    VH_NEW(x->z, vh_cells(n, K));
    VH_TRY(vh_score(ctx, x->centers, from->data, NULL, loglik));
    vh_items_sum(&items, K, loglik, x->L);
    for (int j = 0; j < K; j++)
        log_omega[j] = log(x->centers->omega[j]);
    for (int64_t i = 0; i < n; i++) {
        double *z = x->z + vh_row(i, K);
        vh_reduce_assign(K, log_omega, 1, x->L + vh_row(i, K), z);
        for (int j = 0; j < K; j++)
            z[j] = exp(z[j]);
        x->back += label && vh_argmax(K, z, 1) == label[i];
    }
    return VHEM_OK;
}

/* Weights of the centres: shares of the items. */
static void weigh(int64_t n, const int *label, vh_h3m *centers)
{
    memset(centers->omega, 0, sizeof *centers->omega * (size_t)centers->K);
    for (int64_t i = 0; i < n; i++)
        centers->omega[label[i]]++;
    for (int64_t j = 0; j < centers->K; j++)
        centers->omega[j] /= (double)n;
}

/* Fits centres of one shape to the groups label [n]; they replace those in `out` if they put more items back.
 * grouped: the sequences by their groups. */
static vhem_status describe(vhem_ctx *ctx, const vh_graph_source *from, const vhem_data *grouped,
                            const vh_graph_kind *kind, const int *label, described *out)
{
    VH_CLEANUP(described_free) described x = { .kind = kind };
    vhem_fit_options o = vh_graph_fit(from, kind);

    o.by_group = 1;
    VH_TRY(vh_fit_each(ctx, grouped, &o, &x.centers, NULL));
    weigh(from->sets->n, label, x.centers);
    VH_TRY(score_items(ctx, from, label, &x));
    if (!out->centers || x.back > out->back) {
        described_free(out);
        *out = x;
        x = (described){ 0 };
    }
    return VHEM_OK;
}

/* Goes on from the centres until they no longer change: the fits so far only compared shapes. */
static vhem_status finish(vhem_ctx *ctx, const vh_graph_source *from, const vhem_data *grouped,
                          const int *label, described *x)
{
    vhem_models start = vh_models_of_hmms(x->centers);
    vhem_fit_options o = vh_graph_fit(from, x->kind);
    VH_OWN(vh_h3m) *centers = NULL;

    o.by_group = 1;
    o.tol = -1;
    o.start = &start;
    o.prior = x->centers->prior;
    VH_TRY(vh_fit_each(ctx, grouped, &o, &centers, NULL));
    if (strcmp(x->kind->topology, "free") == 0)
        VH_TRY(vh_order_states(ctx, centers, ORDERED));
    vh_h3m_free(x->centers);
    x->centers = vh_take(centers);
    weigh(from->sets->n, label, x->centers);
    return score_items(ctx, from, label, x);
}

/* A shape that cannot be fitted is passed over, unless none can. */
static vhem_status try_shapes(vhem_ctx *ctx, const vh_graph_source *from, const vh_seq_search *s,
                              described *out)
{
    VH_OWN(vhem_data) *grouped = NULL;
    const vh_seq_candidate *won = &s->all[s->best];
    vhem_status st = VHEM_OK;

    VH_TRY(by_cluster(ctx, from, won->label, won->best.K, &grouped));
    for (int k = 0; k < s->n_all; k++) {
        const vh_graph_kind *kind = &s->all[k].kind;
        if (kind->topology && kind->view == VH_AS_THEY_ARE)
            st = describe(ctx, from, grouped, kind, won->label, out);
        if (st == VHEM_ENOMEM || st == VHEM_ESTOPPED)
            return st;
    }
    if (!out->centers)
        return st != VHEM_OK ? st : vh_fail(ctx, VHEM_ENUMERIC, "no model of the groups could be fitted");
    return finish(ctx, from, grouped, won->label, out);
}

/* Centres for the groups that won: of the shapes in the table, those that put most items back. */
static vhem_status make_centers(vhem_ctx *ctx, const vh_graph_source *from, const vh_seq_search *s,
                                described *out)
{
    vhem_ctx quiet; /* its fits would repeat the warnings of others */

    vh_ctx_child(ctx, ctx->threads, &quiet);
    vhem_status st = try_shapes(&quiet, from, s, out);
    VH_CHECK(st == VHEM_OK, st, "%s", quiet.error);
    for (int64_t j = 0; j < out->centers->K; j++) {
        VH_TRY(vh_h3m_set_cluster(ctx, &out->centers->hmm[j].name, j));
        VH_TRY(vh_h3m_set_text(ctx, &out->centers->hmm[j].label, NULL));
    }
    return VHEM_OK;
}

/* The options say of which shape the centres are, as nobody asked for one. */
static vhem_status take_centers(vhem_ctx *ctx, described *x, vh_clustering *out)
{
    VH_TRY(vh_clustering_keep(ctx, out, x->kind->topology, &out->options.topology));
    out->Kr = (int)x->centers->K;
    out->centers = vh_take(x->centers);
    out->z = vh_take(x->z);
    out->L_hmm = vh_take(x->L);
    out->options.S = x->kind->S;
    out->options.M = out->centers->hmm[0].M;
    out->converged = 1;
    return VHEM_OK;
}

void vh_auto_defaults(const vh_input *in, vhem_cluster_options *o)
{
    (void)in;
    o->restarts = 1; /* one search, whose fits have their own restarts */
}

/* All graphs, with what the judge said of them. */
static vhem_status report_graphs(vhem_ctx *ctx, vh_seq_search *s, vh_clustering *out)
{
    char name[80];
    const vh_seq_candidate *won = &s->all[s->best];

    VH_NEW(out->run, s->n_all);
    for (int k = 0; k < s->n_all; k++) {
        vh_seq_candidate *c = &s->all[k];
        vhem_agreement same;
        if (!c->label)
            continue;
        vhem_cluster_run *u = &out->run[out->n_run++];
        vh_agreement(s->n, c->label, won->label, &same);
        *u = (vhem_cluster_run){ .bound = NAN,
                                 .finished = 1,
                                 .as_good = c == won,
                                 .modularity = c->best.modularity,
                                 .stability = c->best.stability,
                                 .agreement = same.adjusted_rand,
                                 .S = c->kind.S };
        if (c->kind.topology)
            VH_TRY(vh_clustering_keep(ctx, out, c->kind.topology, &u->topology));
        VH_TRY(vh_clustering_keep(ctx, out, vh_graph_name(&c->kind, name, sizeof name), &u->init));
        if (c != won && s->n == out->Kb) /* else they are those of landmarks */
            u->label = vh_take(c->label);
    }
    if (s->n == out->Kb)
        out->share = vh_take(s->all[s->best].share);
    return VHEM_OK;
}

/* The numbers of groups that were tried in the graph that was kept. */
static vhem_status report_choice(vhem_ctx *ctx, const vh_seq_candidate *won, vh_clustering *out)
{
    VH_NEW(out->choice, won->n_judged);
    for (int t = 0; t < won->n_judged; t++) {
        out->choice[t] = vh_choice_new(won->judged[t].K);
        out->choice[t].modularity = won->judged[t].modularity;
        out->choice[t].stability = won->judged[t].K > 1 ? won->judged[t].stability : NAN;
    }
    out->n_choice = won->n_judged;
    return VHEM_OK;
}

typedef struct { /* the items that the search looks at, where it cannot look at all */
    vhem_data *data;
    vh_sets sets;
    int64_t n, *pick; /* [n]  ascending, as indices of all items */
} landmarks;

static void landmarks_free(landmarks *l)
{
    vh_object_free(l->data);
    vh_sets_free(&l->sets);
    free(l->pick);
}

/* Draws n of the items. */
static vhem_status draw_landmarks(vhem_ctx *ctx, const vh_graph_source *all, int64_t n, uint64_t seed,
                                  landmarks *out)
{
    VH_AUTOFREE int64_t *seq = NULL, *item = NULL;
    int64_t N = 0;
    vh_rng rng;

    out->n = n;
    VH_NEW(out->pick, n);
    vh_rng_init(&rng, seed, VH_RNG_SPLIT, 0);
    vh_rng_spread(&rng, all->sets->n, (int)n, out->pick);
    VH_NEW(seq, all->data->N);
    VH_NEW(item, all->data->N);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = all->sets->first[out->pick[i]]; k < all->sets->first[out->pick[i] + 1]; k++) {
            seq[N] = all->sets->seq[k];
            item[N++] = i;
        }
    VH_TRY(vh_data_subset(ctx, all->data, seq, N, &out->data));
    return vh_sets_from(ctx, N, item, n, &out->sets);
}

/* Searches with the number of clusters of the input, or those to choose from. */
static vhem_status search_for(vhem_ctx *ctx, const vh_graph_source *from, const vh_input *in, uint64_t seed,
                              vh_seq_search *s)
{
    if (in->K > 0)
        return vh_seq_search_run(ctx, from, 1, &in->K, seed, s);
    return vh_seq_search_run(ctx, from, in->n_choice, in->choice, seed, s);
}

/* The same search among landmarks; all other items go to the centre that explains them best. */
static vhem_status cluster_landmarks(vhem_ctx *ctx, const vh_graph_source *all, const landmarks *few,
                                     const vh_input *in, uint64_t seed, vh_seq_search *s, vh_clustering *out)
{
    VH_CLEANUP(described_free) described x = { 0 };
    vh_graph_source from = *all;

    vh_log(ctx, VHEM_LOG_WARN,
           "the groups are those of %lld of the %lld items; each other item is in the group "
           "whose centre explains it best",
           (long long)few->n, (long long)all->sets->n);
    from.data = few->data;
    from.sets = &few->sets;
    VH_TRY(search_for(ctx, &from, in, seed, s));
    VH_TRY(make_centers(ctx, &from, s, &x));
    VH_TRY(score_items(ctx, all, NULL, &x));
    VH_TRY(take_centers(ctx, &x, out));
    vh_label_by_z(out);
    for (int64_t i = 0; i < few->n; i++)
        out->label[few->pick[i]] = s->all[s->best].label[i];
    return VHEM_OK;
}

static vhem_status cluster_all(vhem_ctx *ctx, const vh_graph_source *from, const vh_input *in, uint64_t seed,
                               vh_seq_search *s, vh_clustering *out)
{
    VH_CLEANUP(described_free) described x = { 0 };

    VH_TRY(search_for(ctx, from, in, seed, s));
    VH_TRY(make_centers(ctx, from, s, &x));
    VH_TRY(take_centers(ctx, &x, out));
    memcpy(out->label, s->all[s->best].label, sizeof *out->label * (size_t)out->Kb);
    return VHEM_OK;
}

/* Every process makes the whole search. */
static vhem_status search(vhem_ctx *ctx, const vh_graph_source *from, const vh_input *in,
                          const vhem_cluster_options *opt, uint64_t seed, vh_clustering *out)
{
    VH_CLEANUP(vh_seq_search_free) vh_seq_search s = { 0 };
    VH_CLEANUP(landmarks_free) landmarks few = { 0 };
    VH_CLEANUP(vh_fit_scale_free) vh_fit_scale scale = { 0 };
    int64_t most = opt->landmarks > 0 ? opt->landmarks : from->sets->n > MANY ? LANDMARKS : from->sets->n;

    int64_t K = in->K > 0 || in->n_choice == 0 ? in->K : in->choice[in->n_choice - 1];
    VH_CHECK(K <= most, VHEM_EINVAL, "%lld clusters need at least as many %s, there are %lld", (long long)K,
             most < from->sets->n ? "landmarks" : "items", (long long)most);
    VH_TRY(vh_check_items(ctx, from));
    VH_TRY(vh_fit_scale_of(ctx, from->data, NULL, 1, 0, &scale)); /* warns of columns that never vary */
    if (most < from->sets->n) {
        VH_TRY(draw_landmarks(ctx, from, most, seed, &few));
        VH_TRY(cluster_landmarks(ctx, from, &few, in, seed, &s, out));
    } else {
        VH_TRY(cluster_all(ctx, from, in, seed, &s, out));
    }
    VH_TRY(report_graphs(ctx, &s, out));
    if (in->K == 0)
        VH_TRY(report_choice(ctx, &s.all[s.best], out));
    VH_TRY(vh_tell_strange(ctx, from->data, from->sets, out));
    return vh_frames_name(ctx, in->data, out->centers);
}

vhem_status vh_method_auto(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *opt, uint64_t seed,
                           vh_clustering *out)
{
    VH_CLEANUP(vh_sets_free) vh_sets sets = { 0 };
    VH_CLEANUP(vh_frames_free) vh_frames frames = { 0 };

    VH_TRY(vh_sets_from(ctx, in->data->N, in->item, in->Kb, &sets));
    VH_TRY(vh_frames_to_fit(ctx, in->data, opt->emission, NULL, NULL, &frames));
    const vh_graph_source from = { .data = frames.data,
                                   .sets = &sets,
                                   .by_group = in->by_group,
                                   .emission = opt->emission,
                                   .S = opt->S,
                                   .M = opt->M,
                                   .topology = opt->topology };
    vh_ranks_leave(ctx);
    return vh_ranks_join(ctx, search(ctx, &from, in, opt, seed, out));
}
