/* SPDX-License-Identifier: BSD-3-Clause */
/* method_distance.c - clustering by nothing but the distances between models: spectral (Ng, Jordan and Weiss
 * 2002, on the probability product kernel as Jebara, Song and Thadani 2007; paper, Section 4.2) and
 * agglomerative.
 *
 *   1. distances, and the places of the models that follow from them
 *   2. k-means of places, or merging of the nearest
 *   3. the models that stand for the clusters
 *
 * Places are rows of a table: for the spectral methods points in the space of the leading eigenvectors, for
 * the agglomerative ones distances to all the others.  A clustering keeps the places of its clusters, and
 * the next level of a tree starts from those: hierarchical k-means in one and the same embedding, weighted by
 * the sizes of clusters; further cuts of one and the same tree of merges. */
#include "cluster/centers.h"
#include "cluster/distance.h"
#include "core/alloc.h"
#include "core/rng.h"
#include "math/agglomerate.h"
#include "math/kmeans.h"
#include "math/spectral.h"

#include <math.h>
#include <string.h>

enum { MAX_MODELS = 20000 }; /* a table of so many rows and columns takes 3 GB */

typedef struct {
    const char *method, *kind; /* of distance */
    bool spectral, learn;      /* learn: centres by VHEM */
} way;

static const way ways[] = {
    { "ppk-sc", "ppk", true, false },
    { "ppk-sc-hybrid", "ppk", true, true },
    { "kl-sc", "kl", true, false },
    { "kl-sampled-sc", "kl-sampled", true, false },
    { "ppk-ac", "ppk", false, false },
    { "kl-ac", "kl", false, false },
    { "kl-sampled-ac", "kl-sampled", false, false },
};
enum { N_WAYS = sizeof ways / sizeof ways[0] };

typedef struct {
    const way *way;
    const vh_input *in;
    const vhem_cluster_options *opt;
    uint64_t seed;
    int n, K, dim;
    double *weight;    /* [n]  input models in each of the models of this level */
    double *D;         /* [n][n]  of the models, -log kernel or divergence; NULL: unknown */
    double *place;     /* [n][dim]; agglomerative: dim = n, and [K][K] in the end */
    double *centre;    /* [K][dim]  spectral: of the clusters */
    int *label, *pick; /* [n]  [K] */
} job;

/* ---- 1. distances and places --------------------------------------------------------------------------- */

static bool is_ppk(const job *b)
{
    return strcmp(b->way->kind, "ppk") == 0;
}

/* D [n][n], symmetric. */
static vhem_status find_distances(vhem_ctx *ctx, job *b)
{
    vhem_status st = VHEM_OK;
    vhem_distance_options o;
    size_t n = (size_t)b->n;

    vhem_distance_options_init(&o);
    o.kind = b->way->kind;
    o.tau = b->opt->tau;
    o.symmetric = 1;
    o.lambda = b->opt->lambda;
    o.normalised = !b->way->spectral || strcmp(b->opt->kernel, "raw") != 0;
    VH_NEW(b->D, n * n);
    VH_TRY(vh_distance(ctx, b->in->models, b->in->models, &o, b->D, NULL));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double d = b->D[i * n + j] == b->D[j * n + i] ? b->D[i * n + j]
                                                          : 0.5 * (b->D[i * n + j] + b->D[j * n + i]);
            VH_CHECK(!isnan(d), VHEM_ENUMERIC, "the distance between models %zu and %zu is not a number", i,
                     j);
            b->D[i * n + j] = b->D[j * n + i] = is_ppk(b) ? -d : d;
        }
done:
    return st;
}

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* The median of the distances between different models, of those that are positive and finite; 1 when there
 * are none. */
static vhem_status median(vhem_ctx *ctx, const job *b, double *out)
{
    vhem_status st = VHEM_OK;
    double *all = NULL;
    size_t n = (size_t)b->n, m = 0;

    VH_NEW(all, n * n / 2 + 1);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (b->D[i * n + j] > 0 && isfinite(b->D[i * n + j]))
                all[m++] = b->D[i * n + j];
    qsort(all, m, sizeof *all, by_value);
    *out = m > 0 ? 0.5 * (all[(m - 1) / 2] + all[m / 2]) : 1;
done:
    free(all);
    return st;
}

/* Kernels are affinities as they are, divergences become exp(-D / median).  In many dimensions kernels differ
 * by hundreds of nats, and a model has an affinity to its nearest neighbour and to no other; "scaled" treats
 * them as divergences. */
static vhem_status embed(vhem_ctx *ctx, job *b)
{
    vhem_status st = VHEM_OK;
    double scale = 1, *log_A = b->D;
    size_t pairs = (size_t)b->n * (size_t)b->n;

    b->dim = b->K;
    VH_NEW(b->place, (size_t)b->n * (size_t)b->dim);
    if (!is_ppk(b) || strcmp(b->opt->kernel, "scaled") == 0)
        VH_TRY(median(ctx, b, &scale));
    for (size_t k = 0; k < pairs; k++) /* the distances themselves have done their work */
        log_A[k] /= -scale;
    VH_TRY(vh_spectral_embed(ctx, b->n, log_A, strcmp(b->opt->diagonal, "keep") == 0, b->dim, VH_EIGEN_AUTO,
                             b->place));
done:
    free(b->D);
    b->D = NULL;
    return st;
}

/* Row j of a table is of centre j of the level below, those of weight zero left out: used [n] says which. */
static void used_centers(const vh_clustering *below, int n, int *used)
{
    int m = 0;
    for (int j = 0; j < below->Kr; j++)
        if (below->Kr == n || below->centers->omega[j] > 0)
            used[m++] = j;
}

/* The places that the level below has found for its centres. */
static vhem_status take_places(vhem_ctx *ctx, job *b, int dim, const double *below)
{
    vhem_status st = VHEM_OK;
    int *used = NULL;

    b->dim = b->way->spectral ? dim : b->n;
    VH_NEW(used, b->in->below->Kr);
    VH_NEW(b->place, (size_t)b->n * (size_t)b->dim);
    used_centers(b->in->below, b->n, used);
    for (int i = 0; i < b->n; i++)
        for (int k = 0; k < b->dim; k++)
            b->place[(size_t)i * (size_t)b->dim + (size_t)k] =
                below[(size_t)used[i] * (size_t)dim + (size_t)(b->way->spectral ? k : used[k])];
done:
    free(used);
    return st;
}

static vhem_status find_places(vhem_ctx *ctx, job *b)
{
    vhem_status st = VHEM_OK;
    int dim = 0;
    const double *below = b->in->below ? vh_clustering_place(b->in->below, &dim) : NULL;
    size_t pairs = (size_t)b->n * (size_t)b->n;

    VH_CHECK(b->n <= MAX_MODELS, VHEM_EINVAL, "%d models, method %s takes at most %d", b->n, b->way->method,
             MAX_MODELS);
    if (!below || !b->way->spectral)
        VH_TRY(find_distances(ctx, b));
    if (below) {
        VH_TRY(take_places(ctx, b, dim, below));
    } else if (b->way->spectral) {
        VH_TRY(embed(ctx, b));
    } else {
        b->dim = b->n;
        VH_NEW(b->place, pairs);
        memcpy(b->place, b->D, sizeof *b->D * pairs);
    }
done:
    return st;
}

/* ---- 2. clusters --------------------------------------------------------------------------------------- */

/* The best of several runs of k-means; their bound is the spread about the centres, negative. */
static vhem_status cluster_places(vhem_ctx *ctx, job *b, vh_clustering *out)
{
    vhem_status st = VHEM_OK;
    size_t size = (size_t)b->K * (size_t)b->dim;
    double *centre = NULL, best = INFINITY, spread;
    int *label = NULL;
    bool converged;
    vh_rng rng;

    VH_NEW(centre, size);
    VH_NEW(label, b->n);
    VH_NEW(b->centre, size);
    VH_NEW(out->run, b->opt->restarts);
    for (int r = 0; r < b->opt->restarts && (r == 0 || !vh_stopped(ctx)); r++) {
        uint64_t seed = vh_rng_seed(b->seed, (uint64_t)r);
        vh_rng_init(&rng, seed, VH_RNG_INIT, 0);
        VH_TRY(vh_kmeans_weighted(ctx, &rng, b->n, b->dim, b->place, b->weight, b->K, b->opt->max_iter + 1,
                                  centre, label, &spread, &converged));
        out->run[out->n_run++] = (vhem_cluster_run){ .seed = seed,
                                                     .init = "kmeans++",
                                                     .bound = -spread,
                                                     .converged = converged,
                                                     .finished = converged || !vh_stopped(ctx) };
        vh_progress(ctx, "cluster", r + 1, b->opt->restarts);
        if (spread >= best)
            continue;
        best = spread;
        out->converged = converged;
        memcpy(b->centre, centre, sizeof *centre * size);
        memcpy(b->label, label, sizeof *label * (size_t)b->n);
    }
done:
    free(centre);
    free(label);
    return st;
}

static vhem_status merge_nearest(vhem_ctx *ctx, job *b)
{
    static const char *const names[] = { "average", "complete", "single" };
    int how = 0;
    while (how < 2 && strcmp(names[how], b->opt->linkage) != 0)
        how++;
    return vh_agglomerate(ctx, b->n, b->weight, (vh_linkage)how, b->K, b->place, b->label);
}

/* ---- 3. who stands for a cluster ----------------------------------------------------------------------- */

/* How far model i is from the middle of cluster j: its distance from the spectral centre, or the sum of its
 * distances to the members. */
static double away(const job *b, int i, int j)
{
    double sum = 0;
    for (int k = 0; b->way->spectral && k < b->dim; k++) {
        double step = b->place[(size_t)i * (size_t)b->dim + (size_t)k]
                      - b->centre[(size_t)j * (size_t)b->dim + (size_t)k];
        sum += step * step;
    }
    for (int k = 0; !b->way->spectral && k < b->n; k++)
        if (b->label[k] == j && k != i)
            sum += b->weight[k] * b->D[(size_t)i * (size_t)b->n + (size_t)k];
    return sum;
}

/* The member nearest the middle, the first of equals; of an empty cluster the nearest model of all. */
static void pick_models(job *b)
{
    for (int j = 0; j < b->K; j++) {
        double least = INFINITY;
        bool empty = true;
        for (int i = 0; i < b->n && empty; i++)
            empty = b->label[i] != j;
        b->pick[j] = -1;
        for (int i = 0; i < b->n; i++) {
            if (!empty && b->label[i] != j)
                continue;
            double d = away(b, i, j);
            if (b->pick[j] < 0 || d < least) {
                b->pick[j] = i;
                least = d;
            }
        }
    }
}

static vhem_status run(vhem_ctx *ctx, job *b, vh_clustering *out)
{
    vhem_status st = VHEM_OK;
    double *share = NULL; /* of each model in the weight of its cluster */

    VH_NEW(b->weight, b->n);
    VH_NEW(b->label, b->n);
    VH_NEW(b->pick, b->K);
    VH_NEW(share, b->n);
    for (int i = 0; i < b->n; i++) {
        b->weight[i] = b->in->below ? b->in->models->omega[i] : 1;
        share[i] = b->opt->weighted_omega ? b->in->models->omega[i] : b->weight[i];
    }
    VH_TRY(find_places(ctx, b));
    out->converged = 1;
    VH_TRY(b->way->spectral ? cluster_places(ctx, b, out) : merge_nearest(ctx, b));
    pick_models(b);
    const vh_partition part = { b->label, share, b->pick, b->way->learn };
    st = vh_centers_make(ctx, b->in, b->opt, &part, b->seed, out);
    if (b->way->spectral && (st == VHEM_OK || st == VHEM_ESTOPPED) && vh_stopped(ctx))
        st = vh_fail(ctx, VHEM_ESTOPPED, "stopped; the best of %d restarts is kept", out->n_run);
    if (b->way->spectral) {
        vh_clustering_set_place(out, b->dim, b->centre);
        b->centre = NULL;
    } else {
        vh_clustering_set_place(out, b->K, b->place);
        b->place = NULL;
    }
done:
    free(share);
    return st;
}

vhem_status vh_method_distance(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *opt,
                               uint64_t seed, vh_clustering *out)
{
    vhem_status st = VHEM_OK;
    job b = { .in = in, .opt = opt, .seed = seed, .n = in->Kb, .K = opt->K };

    for (int k = 0; k < N_WAYS; k++)
        if (strcmp(ways[k].method, opt->method) == 0)
            b.way = &ways[k];
    VH_CHECK(!opt->start, VHEM_EINVAL, "method %s takes no start: its clusters follow from distances",
             opt->method);
    VH_TRY(run(ctx, &b, out));
done:
    free(b.weight);
    free(b.D);
    free(b.place);
    free(b.centre);
    free(b.label);
    free(b.pick);
    return st;
}
