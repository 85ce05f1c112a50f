/* SPDX-License-Identifier: BSD-3-Clause */
/* distance.c - clustering by distances between models only: spectral (Ng, Jordan and Weiss 2002; on the
 * probability product kernel as Jebara, Song and Thadani 2007; paper, Section 4.2; on divergences; on the
 * graph of nearest neighbours) and agglomerative.
 *
 *   1. distances and coordinates of the models
 *   2. k-means of the coordinates, or merging of the nearest
 *   3. representatives of the clusters
 *
 * Coordinates are rows of a table: points in the space of the leading eigenvectors for the spectral methods,
 * distances to all other models for the agglomerative ones.  A clustering keeps the coordinates of its
 * clusters, and the next level of a tree starts from them: hierarchical k-means in the same embedding,
 * weighted by cluster sizes; or further cuts of the same merge tree. */
#include "methods/centers.h"
#include "distance/landmarks.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "math/agglomerate.h"
#include "math/neighbours.h"
#include "math/spectral.h"
#include "hmm/missing_columns.h"

#include <math.h>
#include <string.h>

enum {
    MAX_MODELS = 20000, /* a table of this many rows and columns takes 3 GB */
    LANDMARKS = 2000,   /* for larger sets; or, if larger, */
    LANDMARKS_EACH = 10 /* this many per cluster */
};

typedef struct {
    const char *method, *kind; /* kind of distance */
    bool spectral, learn;      /* learn: centres by VHEM */
    bool graph;                /* graph of nearest neighbours instead of distances */
} distance_method;

static const distance_method ways[] = {
    { "ppk-sc", "ppk", true, false, false },
    { "ppk-sc-hybrid", "ppk", true, true, false },
    { "kl-sc", "kl", true, false, false },
    { "knn-sc", "kl", true, false, true },
    { "kl-sampled-sc", "kl-sampled", true, false, false },
    { "ppk-ac", "ppk", false, false, false },
    { "kl-ac", "kl", false, false, false },
    { "kl-sampled-ac", "kl-sampled", false, false, false },
};
enum { N_WAYS = sizeof ways / sizeof ways[0] };

typedef struct {
    const distance_method *way;
    const vh_input *in;
    const vhem_cluster_options *opt;
    uint64_t seed;
    int64_t n, K, dim;
    double *weight; /* [n]  input models in each model of this level */
    double *D;      /* [n][n]  distances, -log kernel or divergence; or NULL */
    double *place;  /* [n][dim]; agglomerative: dim = n, finally [K][K] */
    double *centre; /* [K][dim]  spectral: cluster centres */
    int *label;
    int64_t *pick; /* [n]  [K] */
} distance_run;

static void distance_free(distance_run *b)
{
    free(b->weight);
    free(b->D);
    free(b->place);
    free(b->centre);
    free(b->label);
    free(b->pick);
}

/* ---- 1. distances and coordinates ---------------------------------------------------------------------- */

static vhem_distance_options options_of(const distance_run *b)
{
    bool normalised = !b->way->spectral || strcmp(b->opt->kernel, "raw") != 0;
    return vh_embedding_options(b->way->kind, b->opt->tau, b->opt->lambda, normalised);
}

/* Computes D [n][n], symmetric. */
static vhem_status find_distances(vhem_ctx *ctx, distance_run *b)
{
    const vhem_distance_options o = options_of(b);

    VH_NEW(b->D, vh_cells(b->n, b->n));
    return vh_embedding_distances(ctx, b->in->models, &o, b->D);
}

/* Replaces the distances by the graph of nearest neighbours. */
static vhem_status join_neighbours(vhem_ctx *ctx, distance_run *b)
{
    int k = b->opt->neighbours < b->n - 1 ? b->opt->neighbours : b->n - 1;
    VH_AUTOFREE int *near = NULL;

    if (k < 1) /* a single model */
        return VHEM_OK;
    VH_NEW(near, vh_cells(b->n, k));
    vh_neighbours(b->n, b->D, k, near);
    vh_neighbours_affinity(b->n, k, near, b->D);
    return VHEM_OK;
}

/* True if affinities are exp(-D / median), as for divergences, rather than the kernels themselves.  In many
 * dimensions kernels differ by hundreds of nats, so a model has an affinity to its nearest neighbour only;
 * "scaled" avoids that. */
static bool is_scaled(const distance_run *b)
{
    return strcmp(b->way->kind, "ppk") != 0 || strcmp(b->opt->kernel, "scaled") == 0;
}

static vhem_status embed(vhem_ctx *ctx, distance_run *b)
{
    b->dim = b->K;
    VH_NEW(b->place, vh_cells(b->n, b->dim));
    VH_TRY(find_distances(ctx, b));
    VH_TRY(b->way->graph ? join_neighbours(ctx, b)
                         : vh_embedding_affinity(ctx, b->n, is_scaled(b), b->D, NULL));
    VH_TRY(vh_spectral_embed(ctx, (int)b->n, b->D, strcmp(b->opt->diagonal, "keep") == 0, (int)b->dim,
                             VH_EIGEN_AUTO, b->place));
    free(b->D); /* no longer needed */
    b->D = NULL;
    return VHEM_OK;
}

/* Number of landmarks, the models from which the eigenvectors are computed. */
static int64_t count_landmarks(const distance_run *b)
{
    int64_t each = LANDMARKS_EACH * b->K, usual = each > LANDMARKS ? each : LANDMARKS;
    usual = usual < MAX_MODELS ? usual : MAX_MODELS;
    int64_t m = b->opt->landmarks > 0 ? b->opt->landmarks : b->n > MAX_MODELS ? usual : b->n;
    return m < b->n ? m : b->n;
}

/* The same embedding from landmarks. */
static vhem_status embed_by_landmarks(vhem_ctx *ctx, distance_run *b, int64_t m)
{
    int64_t others = m / (2 * b->K) > 2 ? m / (2 * b->K) : 2; /* clusters have fewer landmarks than models */
    int near = b->opt->neighbours < others ? b->opt->neighbours : (int)others;
    const vh_landmarks l = { .models = b->in->models,
                             .distance = options_of(b),
                             .scaled = is_scaled(b),
                             .neighbours = b->way->graph ? near : 0,
                             .keep = strcmp(b->opt->diagonal, "keep") == 0,
                             .m = m,
                             .dim = b->K,
                             .seed = b->seed };

    VH_CHECK(m >= b->K, VHEM_EINVAL, "landmarks is %lld, must be at least the number of clusters, %lld",
             (long long)m, (long long)b->K);
    vh_log(ctx, b->opt->landmarks > 0 ? VHEM_LOG_INFO : VHEM_LOG_WARN,
           "%lld of %lld models are landmarks; the others are placed by their distances to them",
           (long long)m, (long long)b->n);
    b->dim = b->K;
    VH_NEW(b->place, vh_cells(b->n, b->dim));
    return vh_landmarks_embedding(ctx, &l, b->place);
}

/* used [n]: the centres of the level below that became models; centres of weight zero are skipped. */
static void used_centers(const vh_clustering *below, int64_t n, int *used)
{
    int m = 0;
    for (int j = 0; j < below->Kr; j++)
        if (below->Kr == n || below->centers->omega[j] > 0)
            used[m++] = j;
}

/* Copies the coordinates of the centres of the level below. */
static vhem_status take_places(vhem_ctx *ctx, distance_run *b, int64_t dim, const double *below)
{
    VH_AUTOFREE int *used = NULL;

    b->dim = b->way->spectral ? dim : b->n;
    VH_NEW(used, b->in->below->Kr);
    VH_NEW(b->place, vh_cells(b->n, b->dim));
    used_centers(b->in->below, b->n, used);
    for (int64_t i = 0; i < b->n; i++)
        for (int64_t k = 0; k < b->dim; k++)
            b->place[vh_ij(i, b->dim, k)] = below[vh_ij(used[i], dim, b->way->spectral ? k : used[k])];
    return VHEM_OK;
}

static vhem_status check_sizes(vhem_ctx *ctx, const distance_run *b, bool placed)
{
    int64_t m = count_landmarks(b);
    VH_CHECK(b->n <= MAX_MODELS || b->way->spectral, VHEM_EINVAL,
             "%lld models, method %s takes at most %d; vhem and the spectral methods take more",
             (long long)b->n, b->way->method, MAX_MODELS);
    if (!b->way->spectral || placed)
        return VHEM_OK;
    VH_CHECK(b->K <= MAX_MODELS, VHEM_EINVAL, "%lld clusters are too many, method %s makes at most %d",
             (long long)b->K, b->way->method, MAX_MODELS);
    VH_CHECK(m <= MAX_MODELS, VHEM_EINVAL, "%lld landmarks are too many, method %s takes at most %d",
             (long long)m, b->way->method, MAX_MODELS);
    return VHEM_OK;
}

static vhem_status find_places(vhem_ctx *ctx, distance_run *b)
{
    int64_t dim = 0;
    const double *below = b->in->below ? vh_clustering_place(b->in->below, &dim) : NULL;
    size_t pairs = vh_cells(b->n, b->n);
    int64_t m = count_landmarks(b);

    VH_TRY(check_sizes(ctx, b, below != NULL));
    if (!b->way->spectral)
        VH_TRY(find_distances(ctx, b));
    if (below) {
        VH_TRY(take_places(ctx, b, dim, below));
    } else if (b->way->spectral) {
        VH_TRY(m < b->n ? embed_by_landmarks(ctx, b, m) : embed(ctx, b));
    } else {
        b->dim = b->n;
        VH_NEW(b->place, pairs);
        memcpy(b->place, b->D, sizeof *b->D * pairs);
    }
    return VHEM_OK;
}

/* ---- 2. clusters --------------------------------------------------------------------------------------- */

static vhem_status cluster_places(vhem_ctx *ctx, distance_run *b, vh_clustering *out)
{
    const vh_embedding places = {
        b->n, b->dim, b->K, b->place, b->weight, b->opt->restarts, b->opt->max_iter + 1, b->seed
    };

    VH_NEW(b->centre, vh_cells(b->K, b->dim));
    VH_NEW(out->run, b->opt->restarts);
    return vh_embedding_cluster(ctx, &places, b->label, b->centre, out->run, &out->n_run, &out->converged);
}

static vhem_status merge_nearest(vhem_ctx *ctx, distance_run *b)
{
    static const char *const names[] = { "average", "complete", "single" };
    int how = 0;
    while (how < 2 && strcmp(names[how], b->opt->linkage) != 0)
        how++;
    return vh_agglomerate(ctx, b->n, b->weight, (vh_linkage)how, b->K, b->place, b->label);
}

/* ---- 3. representatives -------------------------------------------------------------------------------- */

/* Distance of model i from cluster j: from its centre in the embedding, or summed over its members. */
static double away(const distance_run *b, int64_t i, int64_t j)
{
    double sum = 0;
    for (int k = 0; b->way->spectral && k < b->dim; k++) {
        double step = b->place[vh_ij(i, b->dim, k)] - b->centre[vh_ij(j, b->dim, k)];
        sum += step * step;
    }
    for (int k = 0; !b->way->spectral && k < b->n; k++)
        if (b->label[k] == j && k != i)
            sum += b->weight[k] * b->D[vh_ij(i, b->n, k)];
    return sum;
}

static bool lacks_any(const vh_h3m *h3m, int64_t i)
{
    for (int k = 0; k < h3m->d; k++)
        if (vh_hmm_lacks(h3m, &h3m->hmm[i], k))
            return true;
    return false;
}

/* Picks the member nearest to the cluster, the first in case of ties; for an empty cluster, the nearest of
 * all models.  Prefers members that lack no column. */
static void pick_models(distance_run *b)
{
    for (int64_t j = 0; j < b->K; j++) {
        double least = INFINITY;
        bool empty = true;
        for (int64_t i = 0; i < b->n && empty; i++)
            empty = b->label[i] != j;
        b->pick[j] = -1;
        for (int64_t i = 0; i < b->n; i++) {
            if (!empty && b->label[i] != j)
                continue;
            double d = away(b, i, j);
            bool worse = lacks_any(b->in->models, i),
                 lacking = b->pick[j] >= 0 && lacks_any(b->in->models, b->pick[j]);
            if (b->pick[j] < 0 || (worse == lacking && d < least) || (!worse && lacking)) {
                b->pick[j] = i;
                least = d;
            }
        }
    }
}

static vhem_status run(vhem_ctx *ctx, distance_run *b, vh_clustering *out)
{
    vhem_status st = VHEM_OK;
    VH_AUTOFREE double *share = NULL; /* contribution of each model to the weight of its cluster */

    VH_NEW(b->weight, b->n);
    VH_NEW(b->label, b->n);
    VH_NEW(b->pick, b->K);
    VH_NEW(share, b->n);
    for (int64_t i = 0; i < b->n; i++) {
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
    return st;
}

vhem_status vh_method_distance(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *opt,
                               uint64_t seed, vh_clustering *out)
{
    VH_CLEANUP(distance_free)
    distance_run b = { .in = in, .opt = opt, .seed = seed, .n = in->Kb, .K = in->K };

    for (int k = 0; k < N_WAYS; k++)
        if (strcmp(ways[k].method, opt->method) == 0)
            b.way = &ways[k];
    VH_CHECK(!opt->start, VHEM_EINVAL, "method %s takes no start: its clusters follow from distances",
             opt->method);
    return run(ctx, &b, out);
}
