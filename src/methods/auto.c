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

#include "search/searched_items.h"
#include "search/sequence_search.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "fit/fit.h"
#include "fit/frames.h"
#include "fit/infer.h"
#include "fit/options.h"
#include "math/agreement.h"
#include "math/logsum.h"
#include "fit/sets.h"
#include "parallel/ranks.h"
#include "vhem/estep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MANY = 4000,      /* items: the search looks at a sample if there are more, */
    LANDMARKS = 2500, /* of this size */
    ORDERED = 100,    /* frames, by which the states of a centre are put in order */
    FEW = 10,         /* items: fewer hardly have neighbours */
};
#define CLEARLY 0.1 /* modularity and stability together */

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

    VH_NEW(loglik, vh_cells(from->data->N, K));
    VH_NEW(log_omega, K);
    free(x->L);
    free(x->z);
    x->back = 0;
    VH_NEW(x->L, vh_cells(n, K));
    VH_NEW(x->z, vh_cells(n, K));
    VH_TRY(vh_score(ctx, x->centers, from->data, NULL, loglik));
    vh_sets_sum(from->sets, K, loglik, x->L);
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
    return out->centers ? finish(ctx, from, grouped, won->label, out) : st;
}

/* Centres for the groups that won: of the shapes in the table, those that put most items back. */
static vhem_status make_centers(vhem_ctx *ctx, const vh_graph_source *from, const vh_seq_search *s,
                                described *out)
{
    vhem_ctx quiet; /* its fits would repeat the warnings of others */

    vh_ctx_child(ctx, ctx->threads, &quiet);
    vhem_status st = try_shapes(&quiet, from, s, out);
    VH_CHECK(st == VHEM_OK, st, "%s", quiet.error);
    VH_CHECK(out->centers, VHEM_ENUMERIC, "no model of the groups could be fitted");
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

/* Puts x [n], numbers of this size of the items searched, in the order of all; scratch is as large as x. */
static void put_back(const vh_searched_items *items, void *x, size_t size, void *scratch)
{
    char *to = x, *from = memcpy(scratch, x, size * (size_t)items->n);
    for (int64_t i = 0; i < items->n; i++)
        memcpy(to + (size_t)items->pick[i] * size, from + (size_t)i * size, size);
}

/* All items were searched: puts the partitions in their order. */
static vhem_status put_in_order(vhem_ctx *ctx, const vh_searched_items *items, vh_seq_search *s)
{
    VH_AUTOFREE int *to = NULL;
    VH_AUTOFREE double *scratch = NULL;

    VH_NEW(scratch, items->n);
    VH_NEW(to, items->n);
    for (int k = 0; k < s->n_all; k++) {
        vh_seq_candidate *c = &s->all[k];
        if (!c->label)
            continue;
        put_back(items, c->label, sizeof *c->label, scratch);
        if (c->share)
            put_back(items, c->share, sizeof *c->share, scratch);
        vh_number_groups(items->n, c->best.K, c->label, to);
    }
    return VHEM_OK;
}

/* The groups of a sample; all other items go to the centre that explains them best. */
static vhem_status assign_others(vhem_ctx *ctx, const vh_graph_source *all, const vh_searched_items *items,
                                 vh_seq_search *s, vh_clustering *out)
{
    VH_CLEANUP(described_free) described x = { 0 };
    vh_graph_source from = *all;

    vh_log(ctx, VHEM_LOG_WARN,
           "the groups are those of %lld of the %lld items; each other item is in the group whose centre "
           "explains it best",
           (long long)items->n, (long long)all->sets->n);
    from.data = items->full;
    from.sets = &items->sets;
    VH_TRY(make_centers(ctx, &from, s, &x));
    VH_TRY(score_items(ctx, all, NULL, &x));
    VH_TRY(take_centers(ctx, &x, out));
    vh_label_by_z(out);
    for (int64_t i = 0; i < items->n; i++)
        out->label[items->pick[i]] = s->all[s->best].label[i];
    return VHEM_OK;
}

static vhem_status keep_groups(vhem_ctx *ctx, const vh_graph_source *all, const vh_searched_items *items,
                               vh_seq_search *s, vh_clustering *out)
{
    VH_CLEANUP(described_free) described x = { 0 };

    VH_TRY(put_in_order(ctx, items, s));
    VH_TRY(make_centers(ctx, all, s, &x));
    VH_TRY(take_centers(ctx, &x, out));
    memcpy(out->label, s->all[s->best].label, sizeof *out->label * (size_t)out->Kb);
    return VHEM_OK;
}

/* Searches with the number of clusters of the input, or those to choose from. */
static vhem_status search_for(vhem_ctx *ctx, const vh_graph_source *from, const vh_input *in, uint64_t seed,
                              vh_seq_search *s)
{
    if (in->K > 0)
        return vh_seq_search_run(ctx, from, 1, &in->K, seed, s);
    return vh_seq_search_run(ctx, from, in->n_choice, in->choice, seed, s);
}

/* Groups that were asked for may hold several kinds each: says so where more groups are clearly better. */
static vhem_status tell_number(vhem_ctx *ctx, const vh_seq_search *s, uint64_t seed)
{
    const vh_judged *kept = &s->all[s->best].best;
    vh_judged best;

    VH_TRY(vh_seq_search_number(ctx, s, seed, &best));
    double gain = best.modularity + best.stability - kept->modularity - kept->stability;
    if (best.K > kept->K && gain > CLEARLY)
        vh_log(ctx, VHEM_LOG_WARN,
               "%d groups are clearer than %d (modularity %.2f and stability %.2f, in place of %.2f and "
               "%.2f): some of these groups hold several kinds",
               best.K, kept->K, best.modularity, best.stability, kept->modularity, kept->stability);
    return VHEM_OK;
}

/* Where no column varies there is nothing to tell items apart by. */
static vhem_status require_variation(vhem_ctx *ctx, const vh_graph_source *all, const vh_fit_scale *scale)
{
    bool any = all->sets->n == 1;
    for (int k = 0; k < all->data->d; k++)
        any |= scale->spread[k] > 0;
    VH_CHECK(any, VHEM_EINVAL, "no column varies: there is nothing to tell the sequences apart by");
    return VHEM_OK;
}

/* Without two frames in a row there is no course to compare: most likely a table has a row for each sequence,
 * or the names are of frames. */
static void warn_of_single_frames(vhem_ctx *ctx, const vh_graph_source *all)
{
    for (int64_t n = 0; n < all->data->N; n++)
        if (vh_data_length(all->data, n) > 1)
            return;
    if (all->sets->n > 1)
        vh_log(
            ctx, VHEM_LOG_WARN,
            "every sequence has only one frame, so nothing is known of its course; a table needs one row for "
            "each frame, and the same name in all rows of a sequence");
}

static vhem_status search(vhem_ctx *ctx, const vh_graph_source *all, const vh_input *in,
                          const vhem_cluster_options *opt, uint64_t seed, vh_clustering *out)
{
    VH_CLEANUP(vh_seq_search_free) vh_seq_search s = { 0 };
    VH_CLEANUP(vh_searched_items_free) vh_searched_items items = { 0 };
    VH_CLEANUP(vh_fit_scale_free) vh_fit_scale scale = { 0 };
    int64_t most = opt->landmarks > 0 ? opt->landmarks : all->sets->n > MANY ? LANDMARKS : all->sets->n;
    int64_t K = in->K > 0 || in->n_choice == 0 ? in->K : in->choice[in->n_choice - 1];
    vh_graph_source from = *all;

    VH_CHECK(K <= most, VHEM_EINVAL, "%lld clusters need at least as many %s, there are %lld", (long long)K,
             most < all->sets->n ? "landmarks" : "items", (long long)most);
    VH_TRY(vh_check_items(ctx, all));
    if (all->sets->n < FEW)
        vh_log(ctx, VHEM_LOG_WARN,
               all->sets->n == 1 ? "there is only %lld %s%s, so there is nothing to group"
                                 : "groups among only %lld %s%s cannot be relied on",
               (long long)all->sets->n, all->by_group ? "group" : "sequence", all->sets->n == 1 ? "" : "s");
    warn_of_single_frames(ctx, all);
    VH_TRY(vh_fit_scale_of(ctx, all->data, NULL, 1, 0, &scale)); /* warns of columns that never vary */
    VH_TRY(require_variation(ctx, all, &scale));
    VH_TRY(vh_searched_items_new(ctx, all, most, seed, &items));
    from.data = items.plain ? items.plain : items.full;
    from.sets = &items.sets;
    VH_TRY(search_for(ctx, &from, in, seed, &s));
    VH_TRY((items.n < all->sets->n ? assign_others : keep_groups)(ctx, all, &items, &s, out));
    VH_TRY(report_graphs(ctx, &s, out));
    if (in->K == 0)
        VH_TRY(report_choice(ctx, &s.all[s.best], out));
    if (in->K > 1)
        VH_TRY(tell_number(ctx, &s, seed));
    VH_TRY(vh_tell_strange(ctx, all->data, all->sets, out));
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
