/* SPDX-License-Identifier: BSD-3-Clause */
/* sequence_search.c - see sequence_search.h.
 *
 *   1. numbers of groups to try
 *   2. the partitions of one graph, and of samples of its items
 *   3. the judgement
 *   4. all graphs, and the choice */
#include "search/sequence_search.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "core/rng.h"
#include "math/agreement.h"
#include "math/graph.h"
#include "parallel/map.h"

#include <math.h>
#include <string.h>

enum {
    NEIGHBOURS = 10,
    SAMPLES = 10,     /* of the items, for the stability */
    OWN = 4,          /* weight of a number of groups in its stability; of the numbers next to it: 1 */
    RUNS = 10,        /* of k-means for the partition, */
    FEW_RUNS = 4,     /* for that of a sample, and where many numbers of groups are tried */
    MEMBERS = 3,      /* a number of groups is recommended if they have so many members on average */
    EACH = 12,        /* all numbers up to this one are tried, then every twelfth or so */
    MOST_GROUPS = 60, /* unless a number is given: the time grows with its cube */
    MOST_TRIED = 64,  /* unless they are given */
};
#define SAMPLED 0.8 /* share of the items in a sample */
#define ROOTS   3.0 /* at most so many times the root of the number of items are tried */

/* ---- 1. numbers of groups ------------------------------------------------------------------------------ */

typedef struct {
    int n;
    int64_t *K; /* [n]  ascending */
    bool given; /* by the caller */
} numbers;

static void numbers_free(numbers *x)
{
    free(x->K);
}

/* The numbers to try for N items: those given, or else from 2 on. */
static vhem_status numbers_to_try(vhem_ctx *ctx, int64_t N, int n_K, const int64_t *K, numbers *out)
{
    int64_t most = (int64_t)(ROOTS * sqrt((double)N)), least_members = N / MEMBERS + 1;

    most = most < least_members ? most : least_members;
    most = most < MOST_GROUPS ? most : MOST_GROUPS;
    out->given = n_K > 0;
    VH_NEW(out->K, out->given ? n_K : MOST_TRIED);
    for (int t = 0; t < n_K; t++)
        out->K[out->n++] = K[t];
    for (int64_t k = 2; !out->given && (k <= most || out->n == 0) && out->n < MOST_TRIED; k += 1 + k / EACH)
        out->K[out->n++] = k < N ? k : N;
    return VHEM_OK;
}

/* Neighbours of each of n items: of few items, all would be neighbours of all. */
static int count_neighbours(int64_t n)
{
    return n < 8 ? 1 : n / 4 < NEIGHBOURS ? (int)(n / 4) : NEIGHBOURS;
}

/* ---- 2. partitions of one graph ------------------------------------------------------------------------ */

typedef struct { /* one graph while it is judged */
    int64_t n;
    const vh_near *near;
    uint64_t seed;
    const numbers *tried;
    int *label;   /* [tried][n] */
    double *V;    /* [most][n]  eigenvectors of the graph */
    int *sampled; /* [tried][SAMPLES][n]  the partitions of samples; -1: not in the sample */
    double *same; /* [tried][SAMPLES]  their agreement with that of all items */
} judging;

static void judging_free(judging *j)
{
    free(j->label);
    free(j->V);
    free(j->sampled);
    free(j->same);
}

static int most_groups(const judging *j)
{
    return (int)j->tried->K[j->tried->n - 1];
}

void vh_number_groups(int64_t n, int K, int *label, int *to)
{
    int next = 0;
    for (int k = 0; k < K; k++)
        to[k] = -1;
    for (int64_t i = 0; i < n; i++) {
        if (to[label[i]] < 0)
            to[label[i]] = next++;
        label[i] = to[label[i]];
    }
}

/* Partitions the graph of all items into each number of groups; out [tried] gets the modularities. */
static vhem_status partition_all(vhem_ctx *ctx, judging *j, vh_judged *out)
{
    VH_CLEANUP(vh_graph_free) vh_graph g = { 0 };
    VH_AUTOFREE int *to = NULL;

    VH_NEW(to, most_groups(j));
    VH_TRY(vh_graph_new(ctx, j->near, count_neighbours(j->n), j->n, NULL, &g));
    VH_TRY(vh_graph_embed(ctx, &g, most_groups(j), NULL, j->V, NULL));
    for (int t = 0; t < j->tried->n; t++) {
        int *label = j->label + vh_row(t, j->n), runs = j->tried->n > 1 ? FEW_RUNS : RUNS;
        int K = (int)j->tried->K[t];
        VH_TRY(vh_graph_partition(ctx, &g, j->V, K, runs, j->seed, label));
        vh_number_groups(j->n, K, label, to);
        out[t] = (vh_judged){ .K = K, .stability = NAN };
        VH_TRY(vh_graph_modularity(ctx, &g, label, &out[t].modularity));
    }
    return VHEM_OK;
}

typedef struct {      /* a sample of the items and its graph */
    int64_t n, *item; /* [n]  ascending */
    vh_graph graph;
    double *V; /* [most groups][n]; only as many as there are items */
} sample;

static void sample_free(sample *s)
{
    free(s->item);
    free(s->V);
    vh_graph_free(&s->graph);
}

/* Draws sample k; its eigenvectors start from those of all items. */
static vhem_status open_sample(vhem_ctx *ctx, const judging *j, int64_t k, sample *s)
{
    int most = most_groups(j);
    vh_rng rng;

    s->n = (int64_t)ceil(SAMPLED * (double)j->n);
    most = most < s->n ? most : (int)s->n;
    VH_NEW(s->item, s->n);
    VH_NEW(s->V, vh_cells(most, s->n));
    vh_rng_init(&rng, j->seed, VH_RNG_SPLIT, (uint64_t)k);
    vh_rng_subset(&rng, j->n, s->n, s->item);
    for (int c = 0; c < most; c++)
        for (int64_t i = 0; i < s->n; i++)
            s->V[vh_ij(c, s->n, i)] = j->V[vh_ij(c, j->n, s->item[i])];
    VH_TRY(vh_graph_new(ctx, j->near, count_neighbours(j->n), s->n, s->item, &s->graph));
    return vh_graph_embed(ctx, &s->graph, most, NULL, s->V, NULL);
}

/* vh_work: partitions sample k into each number of groups, and compares with the partitions of all items. */
static vhem_status compare_sample(vhem_ctx *ctx, void *arg, int64_t k, int worker)
{
    judging *j = arg;
    VH_CLEANUP(sample_free) sample s = { 0 };
    VH_AUTOFREE int *label = NULL, *there = NULL;
    uint64_t seed = vh_rng_seed(j->seed, (uint64_t)k + 1);
    (void)worker;

    VH_TRY(open_sample(ctx, j, k, &s));
    VH_NEW(label, s.n);
    VH_NEW(there, s.n);
    for (int t = 0; t < j->tried->n; t++) {
        int *out = j->sampled + ((size_t)t * SAMPLES + (size_t)k) * (size_t)j->n;
        vhem_agreement a;
        int K = (int)(j->tried->K[t] < s.n ? j->tried->K[t] : s.n);
        VH_TRY(vh_graph_partition(ctx, &s.graph, s.V, K, FEW_RUNS, seed, label));
        for (int64_t i = 0; i < j->n; i++)
            out[i] = -1;
        for (int64_t i = 0; i < s.n; i++) {
            there[i] = j->label[vh_ij(t, j->n, s.item[i])];
            out[s.item[i]] = label[i];
        }
        vh_agreement(s.n, there, label, &a);
        j->same[vh_ij(t, SAMPLES, k)] = a.adjusted_rand;
    }
    return VHEM_OK;
}

/* share [n]: in how many of the samples that have it each item is in the group it has among all, in partition
 * t. */
static vhem_status find_share(vhem_ctx *ctx, const judging *j, int t, double *share)
{
    const int *all = j->label + vh_row(t, j->n);
    int K = (int)j->tried->K[t];
    VH_AUTOFREE int *there = NULL, *label = NULL, *to = NULL, *seen = NULL;

    VH_NEW(there, j->n);
    VH_NEW(label, j->n);
    VH_NEW(to, K);
    VH_NEW(seen, j->n);
    for (int k = 0; k < SAMPLES; k++) {
        const int *sampled = j->sampled + ((size_t)t * SAMPLES + (size_t)k) * (size_t)j->n;
        int64_t n = 0;
        for (int64_t i = 0; i < j->n; i++)
            if (sampled[i] >= 0) {
                there[n] = all[i];
                label[n++] = sampled[i];
            }
        VH_TRY(vh_match_groups(ctx, n, K, there, label, to));
        for (int64_t i = 0; i < j->n; i++)
            if (sampled[i] >= 0) {
                share[i] += to[sampled[i]] == all[i];
                seen[i]++;
            }
    }
    for (int64_t i = 0; i < j->n; i++)
        share[i] = seen[i] > 0 ? share[i] / seen[i] : 1;
    return VHEM_OK;
}

/* ---- 3. the judgement ---------------------------------------------------------------------------------- */

static double worth(const vh_judged *x)
{
    return x->modularity + x->stability;
}

/* The best of the numbers tried.  The largest of our own is none: a larger one might be better still.  A
 * single group, which always agrees with itself, is the best of itself alone. */
static int best_tried(const numbers *tried, const vh_judged *judged)
{
    int best = tried->n > 1 && tried->K[0] == 1 ? 1 : 0;
    for (int t = best + 1; t < tried->n - !tried->given; t++)
        best = worth(&judged[t]) > worth(&judged[best]) ? t : best;
    return best;
}

/* Mean agreement of the samples on a number of groups and, with less weight, on those tried next to it:
 * that of one number alone depends too much on which samples were drawn. */
static double stability_near(const judging *j, int t)
{
    double sum = 0, all = 0;
    for (int u = t > 0 ? t - 1 : t; u <= t + 1 && u < j->tried->n; u++) {
        double weight = u == t ? OWN : 1;
        if (llabs(j->tried->K[u] - j->tried->K[t])
            > 1 + j->tried->K[t] / EACH) /* one in between was left out */
            continue;
        for (int k = 0; k < SAMPLES; k++, all += weight)
            sum += weight * j->same[vh_ij(u, SAMPLES, k)];
    }
    return sum / all;
}

/* Partitions the graph of c and judges its partitions. */
static vhem_status judge(vhem_ctx *ctx, int64_t n, const numbers *tried, uint64_t seed, vh_seq_candidate *c)
{
    VH_CLEANUP(judging_free) judging j = { .n = n, .near = &c->near, .seed = seed, .tried = tried };
    int n_tried = tried->n;

    VH_NEW(j.label, vh_cells(n_tried, n));
    VH_NEW(j.V, vh_cells(most_groups(&j), n));
    VH_NEW(j.sampled, vh_cells(n_tried * SAMPLES, n));
    VH_NEW(j.same, vh_cells(n_tried, SAMPLES));
    VH_NEW(c->judged, n_tried);
    VH_TRY(partition_all(ctx, &j, c->judged));
    VH_TRY(vh_map(ctx, &(vh_work){ .n = SAMPLES, .run = compare_sample, .arg = &j }, NULL));
    for (int t = 0; t < n_tried; t++)
        c->judged[t].stability = stability_near(&j, t);
    c->n_judged = n_tried;
    int best = best_tried(tried, c->judged);
    c->best = c->judged[best];
    if (c->best.K <= VH_MOST_MATCHED) {
        VH_NEW(c->share, n);
        VH_TRY(find_share(ctx, &j, best, c->share));
    }
    VH_NEW(c->label, n);
    memcpy(c->label, j.label + vh_row(best, n), sizeof *c->label * (size_t)n);
    return VHEM_OK;
}

/* ---- 4. all graphs ------------------------------------------------------------------------------------- */

/* A graph whose models cannot be fitted is left out, unless memory ran out or the search was stopped. */
static vhem_status leave_out(vhem_ctx *ctx, const vh_seq_candidate *c, vhem_status st)
{
    char name[80];
    if (st == VHEM_ENOMEM || st == VHEM_ESTOPPED)
        return st;
    vh_log(ctx, VHEM_LOG_INFO, "%s: left out: %s", vh_graph_name(&c->kind, name, sizeof name), ctx->error);
    return VHEM_OK;
}

vhem_status vh_seq_search_run(vhem_ctx *ctx, const vh_graph_source *from, int n_K, const int64_t *K,
                              uint64_t seed, vh_seq_search *out)
{
    VH_CLEANUP(numbers_free) numbers tried = { 0 };
    vh_graph_kind kind[VH_MOST_GRAPHS];

    VH_TRY(numbers_to_try(ctx, from->sets->n, n_K, K, &tried));
    out->n = from->sets->n;
    out->best = -1;
    out->n_all = vh_graph_kinds(ctx, from, kind);
    for (int k = 0; k < out->n_all; k++) {
        vh_seq_candidate *c = &out->all[k];
        c->kind = kind[k];
        VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "stopped; %d of %d graphs were made", k, out->n_all);
        vhem_status st = vh_graph_neighbours(ctx, from, &c->kind, &c->near);
        VH_TRY(st == VHEM_OK ? judge(ctx, out->n, &tried, seed, c) : leave_out(ctx, c, st));
        if (c->label && (out->best < 0 || worth(&c->best) > worth(&out->all[out->best].best)))
            out->best = k;
        vh_progress(ctx, "cluster", k + 1, out->n_all);
    }
    VH_CHECK(out->best >= 0, VHEM_ENUMERIC, "no graph of these sequences could be made: %s", ctx->error);
    return VHEM_OK;
}

vhem_status vh_seq_search_number(vhem_ctx *ctx, const vh_seq_search *s, uint64_t seed, vh_judged *out)
{
    VH_CLEANUP(numbers_free) numbers tried = { 0 };
    vh_seq_candidate c = { .near = s->all[s->best].near }; /* borrowed */

    VH_TRY(numbers_to_try(ctx, s->n, 0, NULL, &tried));
    vhem_status st = judge(ctx, s->n, &tried, seed, &c);
    *out = c.best;
    free(c.judged);
    free(c.label);
    free(c.share);
    return st;
}

void vh_seq_search_free(vh_seq_search *s)
{
    for (int k = 0; k < s->n_all; k++) {
        vh_near_free(&s->all[k].near);
        free(s->all[k].judged);
        free(s->all[k].label);
        free(s->all[k].share);
    }
    *s = (vh_seq_search){ 0 };
}
