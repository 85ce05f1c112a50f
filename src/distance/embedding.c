/* SPDX-License-Identifier: BSD-3-Clause */
/* embedding.c - see embedding.h. */
#include "distance/embedding.h"

#include "distance/distance.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "core/options.h"
#include "core/rng.h"
#include "math/kmeans.h"
#include "math/order.h"
#include "vhem.h"

#include <math.h>
#include <string.h>

vhem_distance_options vh_embedding_options(const char *kind, int tau, double lambda, bool normalised)
{
    vhem_distance_options o;
    VHEM_INIT(VHEM_DISTANCE_OPTIONS, &o);
    vh_options_fill(VHEM_DISTANCE_OPTIONS, &o);
    o.kind = kind;
    o.tau = tau;
    o.symmetric = 1;
    o.lambda = lambda;
    o.normalised = normalised;
    return o;
}

vhem_status vh_embedding_distances(vhem_ctx *ctx, const vh_h3m *models, const vhem_distance_options *opt,
                                   double *D)
{
    size_t n = (size_t)models->K;
    bool kernel = strcmp(opt->kind, "ppk") == 0;

    VH_TRY(vh_distance(ctx, models, models, opt, D, NULL));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double *d = &D[i * n + j];
            VH_CHECK(!isnan(*d), VHEM_ENUMERIC, "the distance between models %zu and %zu is not a number", i,
                     j);
            *d = kernel ? -*d : *d;
        }
    return VHEM_OK;
}

vhem_status vh_embedding_distances_to(vhem_ctx *ctx, const vh_h3m *a, const vh_h3m *b,
                                      const vhem_distance_options *opt, double *D)
{
    bool kernel = strcmp(opt->kind, "ppk") == 0;

    VH_TRY(vh_distance(ctx, a, b, opt, D, NULL));
    for (size_t p = 0; p < vh_cells(a->K, b->K); p++) {
        VH_CHECK(!isnan(D[p]), VHEM_ENUMERIC, "a distance between two models is not a number");
        D[p] = kernel ? -D[p] : D[p];
    }
    return VHEM_OK;
}

/* Median of the positive, finite distances; 1 if there are none. */
static vhem_status median(vhem_ctx *ctx, size_t n, const double *D, double *out)
{
    VH_AUTOFREE double *all = NULL;
    size_t m = 0;

    VH_NEW(all, n * n / 2 + 1);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (D[i * n + j] > 0 && isfinite(D[i * n + j]))
                all[m++] = D[i * n + j];
    *out = m > 0 ? vh_median(m, all) : 1;
    return VHEM_OK;
}

vhem_status vh_embedding_affinity(vhem_ctx *ctx, int64_t n, bool scaled, double *D, double *scale)
{
    double by = 1;
    if (scaled)
        VH_TRY(median(ctx, (size_t)n, D, &by));
    for (size_t p = 0; p < vh_cells(n, n); p++)
        D[p] /= -by;
    if (scale)
        *scale = by;
    return VHEM_OK;
}

vhem_status vh_embedding_cluster(vhem_ctx *ctx, const vh_embedding *p, int *label, double *centre,
                                 vhem_cluster_run *run, int *n_run, int *converged)
{
    size_t size = vh_cells(p->K, p->dim);
    double best = INFINITY;
    const vh_points points = { p->n, p->dim, p->place, p->weight };
    VH_AUTOFREE double *own_centre = NULL;
    VH_AUTOFREE int *own_label = NULL;
    vh_rng rng;

    *n_run = 0;
    VH_NEW(own_centre, size);
    VH_NEW(own_label, p->n);
    vh_kmeans_result own = { .centre = own_centre, .label = own_label };
    for (int r = 0; r < p->restarts && (r == 0 || !vh_stopped(ctx)); *n_run = ++r) {
        uint64_t seed = vh_rng_seed(p->seed, (uint64_t)r);
        vh_rng_init(&rng, seed, VH_RNG_INIT, 0);
        VH_TRY(vh_kmeans(ctx, &rng, &points, p->K, p->max_iter, &own));
        if (run)
            run[r] = (vhem_cluster_run){ .seed = seed,
                                         .init = "kmeans++",
                                         .bound = -own.spread,
                                         .converged = own.converged,
                                         .finished = own.converged || !vh_stopped(ctx),
                                         .modularity = NAN,
                                         .stability = NAN,
                                         .agreement = NAN };
        vh_progress(ctx, "cluster", r + 1, p->restarts);
        if (own.spread >= best)
            continue;
        best = own.spread;
        *converged = own.converged;
        memcpy(centre, own.centre, sizeof *centre * size);
        memcpy(label, own.label, sizeof *label * (size_t)p->n);
    }
    return VHEM_OK;
}
