/* SPDX-License-Identifier: BSD-3-Clause */
/* spectral_starts.c - see spectral_starts.h.
 *
 *   1. distances between the models, or a sample of them
 *   2. one candidate: a partition, settled, then VHEM; repeated if labels have moved
 *   3. all candidates; the best are settled with more restarts
 *
 * Time and memory for distances are quadratic in the number of models, so for large sets they are computed on
 * a sample; the resulting centres serve all models. */
#include "search/spectral_starts.h"

#include "distance/embedding.h"
#include "search/group_centres.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "parallel/ranks.h"
#include "core/rng.h"
#include "parallel/parallel.h"
#include "math/agreement.h"
#include "math/graph.h"
#include "math/spectral.h"
#include "hmm/convert.h"

#include <math.h>
#include <string.h>

enum {
    PLACED = 1000,      /* models in the embedding, */
    PLACED_EACH = 20,   /* or this many per cluster if that is more, */
    PLACED_MOST = 2000, /* but at most this many */
    JUDGE = 5,          /* neighbours in the graph for modularity */
    KMEANS = 20,        /* runs of k-means */
    KMEANS_ITER = 200,  /* iterations per run */
    RESTARTS = 20,      /* for each centre of a candidate, */
    WINNER = 60,        /* for the best candidates, */
    THOROUGH = 100,     /* and in a thorough search */
    THOROUGH_WINNER = 300,
    NEAR = 2,             /* times the slack: candidates this close to the best are settled again */
    ROUNDS = 1,           /* times that moved labels are settled again */
    THOROUGH_ROUNDS = 4,  /* and in a thorough search */
    THOROUGH_SETTLED = 5, /* restarts settled in a thorough search */
};

typedef struct {
    const char *name, *kind; /* kind of distance */
    int neighbours;          /* 0: affinities from all distances */
} graph_way;

static const graph_way ways[] = {
    { "ppk-sc", "ppk", 0 }, /* the only one in a fast search */
    { "kl-sc", "kl", 0 },
    { "knn5-sc", "kl", 5 },
    { "knn10-sc", "kl", 10 },
};
enum { N_WAYS = sizeof ways / sizeof ways[0] };

typedef struct {
    vh_hmm_search *s;
    uint64_t seed;
    bool fast, thorough;
    int n;
    int64_t *pick;  /* [n]  models of the embedding, as indices in the trial set; NULL: all */
    vh_h3m *models; /* NULL: all models of the trial set */
    vh_base *base;  /* that of the trial set if models is NULL */
    double *kl;     /* [n][n]  divergences, or NULL */
    int *near;      /* [n][JUDGE], or NULL */
    vh_group_centres centres;
    vh_restart all[VH_MAX_CANDIDATES];
    int n_all;
} spectral_search;

static void spectral_free(spectral_search *b)
{
    for (int k = 0; k < b->n_all; k++)
        vh_restart_free(&b->all[k]);
    vh_group_centres_free(&b->centres);
    if (b->base != b->s->trial)
        vh_base_free(b->base);
    vh_h3m_free(b->models);
    free(b->pick);
    free(b->kl);
    free(b->near);
}

/* ---- 1. distances -------------------------------------------------------------------------------------- */

static vhem_status choose_placed(vhem_ctx *ctx, spectral_search *b)
{
    const vh_base *trial = b->s->trial;
    int64_t K = trial->Kb, most = (int64_t)b->s->K * PLACED_EACH;

    most = most < PLACED ? PLACED : most > PLACED_MOST ? PLACED_MOST : most;
    b->n = K < most ? K : most;
    b->base = b->s->trial;
    if (b->n == K)
        return VHEM_OK;
    VH_NEW(b->pick, b->n);
    vh_rng rng;
    vh_rng_init(&rng, b->seed, VH_RNG_SPLIT, 1);
    vh_rng_spread(&rng, K, b->n, b->pick);
    VH_TRY(vh_h3m_subset(ctx, trial->h3m, b->pick, b->n, &b->models));
    return vh_base_new(ctx, b->models, &b->base);
}

typedef struct { /* partition from one graph */
    const graph_way *w;
    int *label; /* [n] */
    vhem_status st;
    char error[sizeof((vhem_ctx *)0)->error];
} partition;

typedef struct { /* partitions in progress */
    vhem_ctx *ctx;
    const spectral_search *b;
    double *ppk; /* [n][n]  -log of the kernel, or NULL */
    partition all[N_WAYS];
    int n;
} partitions;

static void partitions_free(partitions *p)
{
    for (int k = 0; k < p->n; k++)
        free(p->all[k].label);
    free(p->ppk);
}

/* D [n][n]: log-affinities of one graph. */
static vhem_status find_affinities(vhem_ctx *ctx, const partitions *p, const graph_way *w, double *D)
{
    int n = p->b->n;
    VH_AUTOFREE int *near = NULL;
    const double *from = strcmp(w->kind, "ppk") == 0 ? p->ppk : p->b->kl;

    if (w->neighbours > 0) {
        VH_NEW(near, vh_cells(n, w->neighbours));
        vh_neighbours(n, from, w->neighbours, near);
        vh_neighbours_affinity(n, w->neighbours, near, D);
    } else {
        memcpy(D, from, sizeof *D * vh_cells(n, n));
        VH_TRY(vh_embedding_affinity(ctx, n, true, D, NULL));
    }
    return VHEM_OK;
}

/* Computes label [n] by spectral clustering. */
static vhem_status find_partition(vhem_ctx *ctx, const partitions *p, const graph_way *w, int *label)
{
    int n = p->b->n, n_run, converged;
    int64_t K = p->b->s->K;
    VH_AUTOFREE double *D = NULL, *place = NULL, *centre = NULL;

    VH_NEW(D, vh_cells(n, n));
    VH_NEW(place, vh_cells(n, K));
    VH_NEW(centre, vh_cells(K, K));
    VH_TRY(find_affinities(ctx, p, w, D));
    VH_TRY(vh_spectral_embed(ctx, n, D, false, K, VH_EIGEN_AUTO, place));
    const vh_embedding places = { n, K, K, place, NULL, KMEANS, KMEANS_ITER, p->b->seed };
    return vh_embedding_cluster(ctx, &places, label, centre, NULL, &n_run, &converged);
}

static void find_one(void *arg, int64_t k, int worker)
{
    partitions *p = arg;
    partition *x = &p->all[k];
    vhem_ctx own; /* silent: k-means runs do not report progress */

    (void)worker;
    if (x->st != VHEM_OK)
        return;
    vh_ctx_child(p->ctx, 1, &own);
    x->st = find_partition(&own, p, x->w, x->label);
    memcpy(x->error, own.error, sizeof x->error);
}

/* ---- 2. one candidate ---------------------------------------------------------------------------------- */

static bool same(int64_t n, const int *a, const int *b)
{
    vhem_agreement g;
    vh_agreement(n, a, b, &g);
    return g.adjusted_rand > 1 - 1e-12;
}

/* Settles the groups of r and continues with VHEM; the result replaces r if its bound is better.  *moved: the
 * groups have changed. */
static vhem_status settle_again(vhem_ctx *ctx, spectral_search *b, int restarts, vh_restart *r, bool *moved)
{
    vh_search *s = &b->s->search;
    VH_CLEANUP(vh_restart_free)
    vh_restart next = { .kind = r->kind, .seed = r->seed, .free = s->free, .modularity = NAN };
    vh_h3m *centers = NULL;

    *moved = false;
    VH_TRY(vh_group_centres_find(ctx, &b->centres, b->s->trial, r->label, r->centers, restarts, &centers));
    next.centers = centers;
    VH_TRY(vh_search_try(ctx, s, true, -1, &next));
    if (next.J > r->J) {
        *moved = !same(b->s->trial->Kb, next.label, r->label);
        vh_restart_free(r);
        *r = next;
        next = (vh_restart){ 0 };
    }
    return VHEM_OK;
}

/* Makes a candidate from a partition, label [n], of the models in the embedding. */
static vhem_status make_candidate(vhem_ctx *ctx, spectral_search *b, const char *name, const int *label)
{
    VH_CLEANUP(vh_restart_free)
    vh_restart r = { .kind = name, .seed = b->seed, .free = b->s->search.free, .modularity = NAN };
    vh_h3m *centers = NULL;
    int rounds = b->thorough ? THOROUGH_ROUNDS : ROUNDS, restarts = b->thorough ? THOROUGH : RESTARTS;

    VH_TRY(vh_group_centres_find(ctx, &b->centres, b->base, label, NULL, restarts, &centers));
    r.centers = centers;
    VH_TRY(vh_search_try(ctx, &b->s->search, true, -1, &r));
    bool moved = b->models || !same(b->n, label, r.label);
    for (int k = 0; k < rounds && moved; k++)
        VH_TRY(settle_again(ctx, b, restarts, &r, &moved));
    b->all[b->n_all++] = r;
    r = (vh_restart){ 0 };
    return VHEM_OK;
}

/* Settles the groups of a restart. */
static vhem_status settle_restart(vhem_ctx *ctx, spectral_search *b, const vh_restart *from)
{
    const vh_h3m *found = from->centers;
    VH_CLEANUP(vh_restart_free)
    vh_restart r = { .kind = "settled", .seed = from->seed, .free = b->s->search.free, .modularity = NAN };
    vh_h3m *centers = NULL;
    int rounds = b->thorough ? THOROUGH_ROUNDS : ROUNDS, restarts = b->thorough ? THOROUGH : RESTARTS;
    bool moved = true;

    VH_TRY(vh_h3m_subset(ctx, found, NULL, found->K, &centers));
    r.centers = centers;
    VH_TRY(vh_search_try(ctx, &b->s->search, true, 0, &r));
    for (int k = 0; k <= rounds && moved; k++)
        VH_TRY(settle_again(ctx, b, restarts, &r, &moved));
    b->all[b->n_all++] = r;
    r = (vh_restart){ 0 };
    return VHEM_OK;
}

/* ---- 3. all candidates --------------------------------------------------------------------------------- */

/* Returns st if memory ran out or the search was stopped; other failures only skip this candidate. */
static vhem_status leave_out(vhem_ctx *ctx, const char *name, vhem_status st)
{
    if (ctx->parted != VHEM_OK)
        return ctx->parted;
    if (st == VHEM_ENOMEM || st == VHEM_ESTOPPED || st == VHEM_OK)
        return st;
    vh_log(ctx, VHEM_LOG_DEBUG, "candidate %s is left out: %s", name, ctx->error);
    return VHEM_OK;
}

/* *D [n][n]: distances of one kind.  If they fail, it stays NULL and the graphs that need it are skipped. */
static vhem_status find_distances(vhem_ctx *ctx, const spectral_search *b, const char *kind, partitions *p,
                                  double **D)
{
    VH_AUTOFREE double *own = NULL;

    VH_NEW(own, vh_cells(b->n, b->n));
    const vhem_distance_options distance = vh_embedding_options(kind, b->s->opt->tau, 0.5, true);
    vhem_status st = vh_embedding_distances(ctx, b->base->h3m, &distance, own);
    for (int k = 0; k < p->n && st != VHEM_OK; k++)
        if (strcmp(p->all[k].w->kind, kind) == 0) {
            p->all[k].st = st;
            memcpy(p->all[k].error, ctx->error, sizeof p->all[k].error);
        }
    if (st == VHEM_OK)
        *D = vh_take(own);
    return leave_out(ctx, kind, st);
}

/* Computes the distances, each kind with all threads; then the partitions, in parallel. */
static vhem_status find_partitions(vhem_ctx *ctx, spectral_search *b, partitions *p)
{
    for (int k = 0; k < (b->fast ? 1 : N_WAYS); k++) {
        if (ways[k].neighbours >= b->n / 2) /* most models are neighbours then */
            continue;
        partition *x = &p->all[p->n];
        x->w = &ways[k];
        VH_NEW(x->label, b->n);
        p->n++;
    }
    VH_TRY(find_distances(ctx, b, "ppk", p, &p->ppk));
    if (!b->fast)
        VH_TRY(find_distances(ctx, b, "kl", p, &b->kl));
    vh_parallel(ctx, p->n, ctx->threads, true, find_one, p);
    return VHEM_OK;
}

static vhem_status try_ways(vhem_ctx *ctx, spectral_search *b)
{
    VH_CLEANUP(partitions_free) partitions p = { .ctx = ctx, .b = b };

    if (b->n < b->s->K) /* fewer models than clusters */
        return VHEM_OK;
    vh_ranks_leave(ctx);
    VH_TRY(vh_ranks_join(ctx, find_partitions(ctx, b, &p)));
    for (int k = 0; k < p.n; k++) {
        vhem_status st = p.all[k].st;
        if (st == VHEM_OK)
            st = make_candidate(ctx, b, p.all[k].w->name, p.all[k].label);
        else
            vh_fail(ctx, st, "%s", p.all[k].error);
        VH_TRY(leave_out(ctx, p.all[k].w->name, st));
    }
    if (b->kl && b->n > JUDGE) {
        VH_NEW(b->near, vh_cells(b->n, JUDGE));
        vh_neighbours(b->n, b->kl, JUDGE, b->near);
    }
    return VHEM_OK;
}

/* Settles the best restart, or the best few with different groups. */
static vhem_status try_restarts(vhem_ctx *ctx, spectral_search *b)
{
    const vh_search *s = &b->s->search;
    const vh_restart *last = NULL;
    int most = b->thorough ? THOROUGH_SETTLED : 1, R = s->R;

    for (int k = 0; k < most; k++) {
        const vh_restart *best = NULL;
        for (int r = 0; r < R; r++) {
            const vh_restart *a = &s->all[r];
            bool open = a->label && a->st == VHEM_OK
                        && (!last || (a->J < last->J && !same(s->Kb, a->label, last->label)));
            best = open && (!best || a->J > best->J) ? a : best;
        }
        if (!best)
            break;
        VH_TRY(leave_out(ctx, "settled", settle_restart(ctx, b, best)));
        last = best;
    }
    return VHEM_OK;
}

/* Modularity of each finished run, in the neighbour graph of the embedded models. */
static vhem_status judge(vhem_ctx *ctx, spectral_search *b)
{
    vh_search *s = &b->s->search;
    VH_AUTOFREE int *label = NULL;

    if (!b->near || s->Kb_trial != s->Kb) /* the sample's indices in the full set are unknown */
        return VHEM_OK;
    VH_NEW(label, b->n);
    for (int r = 0; r < s->n; r++) {
        if (!s->all[r].label)
            continue;
        for (int i = 0; i < b->n; i++)
            label[i] = s->all[r].label[b->pick ? b->pick[i] : i];
        VH_TRY(vh_modularity(ctx, &(vh_near){ b->n, JUDGE, b->near }, label, &s->all[r].modularity));
    }
    return VHEM_OK;
}

static int best_of(const spectral_search *b)
{
    int best = 0;
    for (int k = 1; k < b->n_all; k++)
        best = b->all[k].J > b->all[best].J ? k : best;
    return best;
}

/* Settles the best candidate again with more restarts, and those so close that chance may have decided. */
static vhem_status polish(vhem_ctx *ctx, spectral_search *b)
{
    const vh_search *s = &b->s->search;
    int restarts = b->thorough ? THOROUGH_WINNER : WINNER, rounds = b->thorough ? THOROUGH_ROUNDS : ROUNDS;
    double least = b->all[best_of(b)].J - NEAR * s->slack * s->Kb_trial / s->Kb;

    for (int k = 0; k < b->n_all; k++) {
        bool moved = b->all[k].J >= least;
        for (int r = 0; r < rounds && moved; r++)
            VH_TRY(leave_out(ctx, b->all[k].kind, settle_again(ctx, b, restarts, &b->all[k], &moved)));
    }
    return VHEM_OK;
}

/* Adds all candidates to the restarts; if they ran on a sample, only the best, rerun on all models. */
static vhem_status join_candidates(vhem_ctx *ctx, spectral_search *b)
{
    vhem_status st = VHEM_OK;
    vh_search *s = &b->s->search;
    bool sample = s->Kb_trial != s->Kb;

    if (b->n_all == 0)
        return VHEM_OK;
    if (!b->fast && !vh_stopped(ctx))
        st = polish(ctx, b);
    VH_TRY(st == VHEM_ESTOPPED ? VHEM_OK : st); /* keep the results so far */
    int best = best_of(b);
    if (sample)
        st = vh_search_try(ctx, s, false, -1, &b->all[best]);
    bool good = st == VHEM_OK;
    VH_TRY(leave_out(ctx, b->all[best].kind, st));
    for (int k = 0; k < b->n_all; k++)
        if (!sample || (k == best && good))
            vh_search_join(s, &b->all[k]);
    return VHEM_OK;
}

static vhem_status find_all(vhem_ctx *ctx, spectral_search *b)
{
    VH_TRY(choose_placed(ctx, b));
    if (!b->fast)
        VH_TRY(try_restarts(ctx, b));
    if (strcmp(b->s->opt->search, "restarts") != 0)
        VH_TRY(try_ways(ctx, b));
    return VHEM_OK;
}

vhem_status vh_candidates_run(vhem_ctx *ctx, vh_hmm_search *s, uint64_t seed)
{
    VH_CLEANUP(spectral_free)
    spectral_search b = { .s = s,
                          .seed = seed,
                          .fast = strcmp(s->opt->search, "fast") == 0,
                          .thorough = strcmp(s->opt->search, "thorough") == 0,
                          .centres = { .opt = s->opt, .K = s->K, .floor = s->floor, .seed = seed } };

    vhem_status st = find_all(ctx, &b);
    if (st != VHEM_OK && st != VHEM_ESTOPPED)
        return st;
    vhem_status joined = join_candidates(ctx, &b);
    if (joined == VHEM_OK)
        joined = judge(ctx, &b);
    return st == VHEM_OK ? joined : st;
}
