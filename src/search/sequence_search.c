/* SPDX-License-Identifier: BSD-3-Clause */
/* sequence_search.c - see sequence_search.h.
 *
 *   1. one partition and its judgement
 *   2. all graphs, and the choice */
#include "search/sequence_search.h"

#include "core/alloc.h"
#include "core/rng.h"
#include "math/agreement.h"

#include <math.h>
#include <string.h>

enum {
    NEIGHBOURS = 10,
    SAMPLES = 6,     /* of the items, for the stability */
    RUNS = 10,       /* of k-means */
    SAMPLE_RUNS = 4, /* in a sample */
};
#define SAMPLED 0.8 /* share of the items in a sample */

/* ---- 1. one partition ---------------------------------------------------------------------------------- */

/* Numbers groups by first appearance; returns how many there are. */
static int renumber(int64_t n, int K, int *label, int *to)
{
    int next = 0;
    for (int k = 0; k < K; k++)
        to[k] = -1;
    for (int64_t i = 0; i < n; i++) {
        if (to[label[i]] < 0)
            to[label[i]] = next++;
        label[i] = to[label[i]];
    }
    return next;
}

typedef struct { /* a sample of the items */
    int n;
    int *pick; /* [n]  ascending */
} sample;

static void sample_free(sample *s)
{
    free(s->pick);
}

static vhem_status draw_sample(vhem_ctx *ctx, int64_t n, uint64_t seed, int k, sample *out)
{
    VH_AUTOFREE int64_t *pick = NULL;
    vh_rng rng;

    out->n = (int)(SAMPLED * (double)n + 0.5);
    VH_NEW(pick, out->n);
    VH_NEW(out->pick, out->n);
    vh_rng_init(&rng, seed, VH_RNG_SPLIT, (uint64_t)k);
    vh_rng_spread(&rng, n, out->n, pick);
    for (int i = 0; i < out->n; i++)
        out->pick[i] = (int)pick[i];
    return VHEM_OK;
}

/* Partitions a sample; *same: agreement with the partition of all items there. */
static vhem_status compare_sample(vhem_ctx *ctx, const vh_seq_candidate *c, int64_t n, int K, uint64_t seed, int k,
                                  const double *X, double *same, double *share)
{
    VH_CLEANUP(sample_free) sample s = { 0 };
    VH_OWN(vh_graph) *g = NULL;
    VH_AUTOFREE int *there = NULL, *label = NULL, *to = NULL;
    VH_AUTOFREE double *start = NULL, *places = NULL;
    vhem_agreement a;

    VH_TRY(draw_sample(ctx, n, seed, k, &s));
    VH_NEW(there, s.n);
    VH_NEW(label, s.n);
    VH_NEW(to, K);
    VH_NEW(start, (size_t)s.n * (size_t)K);
    VH_NEW(places, (size_t)s.n * (size_t)K);
    for (int i = 0; i < s.n; i++) {
        there[i] = c->label[s.pick[i]];
        memcpy(start + (size_t)i * (size_t)K, X + (size_t)s.pick[i] * (size_t)K, sizeof *X * (size_t)K);
    }
    VH_TRY(vh_graph_new(ctx, c->near, NEIGHBOURS, s.pick, s.n, &g));
    VH_TRY(vh_graph_embed(ctx, g, K, start, places));
    VH_TRY(vh_graph_partition(ctx, s.n, K, places, SAMPLE_RUNS, vh_rng_seed(seed, (uint64_t)k + 1), label));
    vh_agreement(s.n, there, label, &a);
    *same += a.adjusted_rand / SAMPLES;
    VH_TRY(vh_match_groups(ctx, s.n, K, there, label, to));
    for (int i = 0; i < s.n; i++) {
        share[2 * s.pick[i]] += to[label[i]] == there[i];
        share[2 * s.pick[i] + 1] += 1;
    }
    return VHEM_OK;
}

/* Partitions the graph of c and judges the partition. */
static vhem_status judge(vhem_ctx *ctx, int64_t n, int K, uint64_t seed, vh_seq_candidate *c)
{
    VH_OWN(vh_graph) *g = NULL;
    VH_AUTOFREE int *to = NULL;
    VH_AUTOFREE double *X = NULL, *share = NULL;

    VH_NEW(c->label, n);
    VH_NEW(to, K);
    VH_NEW(X, (size_t)n * (size_t)K);
    VH_NEW(share, 2 * n);
    VH_TRY(vh_graph_new(ctx, c->near, NEIGHBOURS, NULL, (int)n, &g));
    VH_TRY(vh_graph_embed(ctx, g, K, NULL, X));
    VH_TRY(vh_graph_partition(ctx, (int)n, K, X, RUNS, seed, c->label));
    c->K = renumber(n, K, c->label, to);
    c->modularity = vh_graph_modularity(g, c->label);
    for (int k = 0; k < SAMPLES; k++)
        VH_TRY(compare_sample(ctx, c, n, K, seed, k, X, &c->stability, share));
    VH_NEW(c->share, n);
    for (int64_t i = 0; i < n; i++)
        c->share[i] = share[2 * i + 1] > 0 ? share[2 * i] / share[2 * i + 1] : 1;
    return VHEM_OK;
}

/* ---- 2. all graphs ------------------------------------------------------------------------------------- */

static double worth(const vh_seq_candidate *c)
{
    return c->modularity + c->stability;
}

/* Fails if memory ran out or the search was stopped; other failures only leave out this graph. */
static vhem_status leave_out(vhem_ctx *ctx, const vh_seq_candidate *c, vhem_status st)
{
    char name[80];
    if (st == VHEM_ENOMEM || st == VHEM_ESTOPPED || st == VHEM_OK)
        return st;
    vh_log(ctx, VHEM_LOG_INFO, "%s: left out: %s", vh_graph_name(&c->kind, name, sizeof name), ctx->error);
    return VHEM_OK;
}

static vhem_status try_graph(vhem_ctx *ctx, const vh_graph_source *from, int K, uint64_t seed, vh_seq_candidate *c)
{
    VH_TRY(vh_graph_neighbours(ctx, from, &c->kind, &c->near));
    return judge(ctx, from->sets->n, K, seed, c);
}

vhem_status vh_seq_search_run(vhem_ctx *ctx, const vh_graph_source *from, int K, uint64_t seed,
                              vh_seq_search *out)
{
    vh_graph_kind kind[VH_MOST_GRAPHS];

    out->n = from->sets->n;
    out->best = -1;
    out->n_all = vh_graph_kinds(from, kind);
    for (int k = 0; k < out->n_all; k++) {
        vh_seq_candidate *c = &out->all[k];
        c->kind = kind[k];
        VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "stopped");
        VH_TRY(leave_out(ctx, c, try_graph(ctx, from, K, seed, c)));
        if (c->share && (out->best < 0 || worth(c) > worth(&out->all[out->best])))
            out->best = k;
        vh_progress(ctx, "cluster", k + 1, out->n_all);
    }
    VH_CHECK(out->best >= 0, VHEM_ENUMERIC, "%s", ctx->error);
    return VHEM_OK;
}

void vh_seq_search_free(vh_seq_search *s)
{
    for (int k = 0; k < s->n_all; k++) {
        vh_near_free(s->all[k].near);
        free(s->all[k].label);
        free(s->all[k].share);
    }
    *s = (vh_seq_search){ 0 };
}
