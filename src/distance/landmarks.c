/* SPDX-License-Identifier: BSD-3-Clause */
/* landmarks.c - see landmarks.h.
 *
 * With L = D^-1/2 A D^-1/2 of the landmarks and L V = V w, landmark i is at w V_i = sum_j L_ij V_j.  Any
 * other model uses the same sum over its own affinities a_j; its degree is a common factor that cancels when
 * the row is scaled to unit length.  A model next to a landmark has an affinity to it, so the landmark needs
 * its self-affinity to land in the same place: scaled affinities keep their diagonal, and without a diagonal,
 * landmarks are still embedded with it.  In the nearest-neighbour graph no item is its own neighbour, and
 * landmarks stay where the eigenvectors put them. */
#include "distance/landmarks.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "core/rng.h"
#include "math/neighbours.h"
#include "math/spectral.h"
#include "hmm/convert.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1024 }; /* models embedded at a time */

typedef struct {
    const vh_landmarks *l;
    int64_t *index; /* [m]  the landmarks, ascending */
    vh_h3m *some;   /* the landmark models */
    double scale;   /* divisor of the distances */
    vh_spectrum spectrum;
    int64_t *others; /* [BLOCK]  models of a block to be embedded */
    double *D;       /* [BLOCK][m] */
    int *near;       /* [neighbours]  the landmarks nearest to a model */
} landmark_set;

static void landmarks_free(landmark_set *b)
{
    free(b->index);
    free(b->others);
    free(b->D);
    free(b->near);
    vh_h3m_free(b->some);
    vh_spectrum_free(&b->spectrum);
}

/* ---- landmarks ----------------------------------------------------------------------------------------- */

typedef struct {
    uint64_t key;
    int64_t i;
} ticket;

static int by_key(const void *a, const void *b)
{
    const ticket *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->i > y->i) - (x->i < y->i);
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Chooses the m models with the smallest keys, which depend only on the seed and the number of a model. */
static vhem_status choose(vhem_ctx *ctx, landmark_set *b)
{
    int64_t n = b->l->models->K;
    VH_AUTOFREE ticket *all = NULL;

    VH_NEW(all, n);
    VH_NEW(b->index, b->l->m);
    for (int64_t i = 0; i < n; i++)
        all[i] = (ticket){ vh_rng_seed(b->l->seed, (uint64_t)i), i };
    qsort(all, (size_t)n, sizeof *all, by_key);
    for (int64_t k = 0; k < b->l->m; k++)
        b->index[k] = all[k].i;
    qsort(b->index, (size_t)b->l->m, sizeof *b->index, by_number);
    return vh_h3m_subset(ctx, b->l->models, b->index, b->l->m, &b->some);
}

/* Computes the eigenvectors of the landmarks and their embedding [m][dim]. */
static vhem_status solve(vhem_ctx *ctx, landmark_set *b, double *place)
{
    const vh_landmarks *l = b->l;
    int k = l->neighbours < l->m - 1 ? l->neighbours : (int)l->m - 1;
    VH_AUTOFREE int *near = NULL;
    VH_AUTOFREE double *D = NULL;

    VH_NEW(D, vh_cells(l->m, l->m));
    VH_TRY(vh_embedding_distances(ctx, b->some, &l->distance, D));
    if (k > 0) {
        VH_NEW(near, vh_cells(l->m, k));
        vh_neighbours((int)l->m, D, k, near);
        vh_neighbours_affinity((int)l->m, k, near, D);
    } else {
        VH_TRY(vh_embedding_affinity(ctx, l->m, l->scaled, D, &b->scale));
    }
    return vh_spectral_solve(ctx, (int)l->m, D, l->keep || (k <= 0 && l->scaled), (int)l->dim, VH_EIGEN_AUTO,
                             &b->spectrum, place);
}

/* ---- the other models ---------------------------------------------------------------------------------- */

/* Converts distances of a model to the landmarks, d [m], to log-affinities. */
static void find_affinities(const landmark_set *b, double *d)
{
    int64_t m = b->l->m, near = b->l->neighbours < m ? b->l->neighbours : m;
    if (near <= 0) {
        for (int64_t j = 0; j < m; j++)
            d[j] /= -b->scale;
        return;
    }
    vh_neighbours_of((int)m, d, -1, (int)near, b->near);
    for (int64_t j = 0; j < m; j++)
        d[j] = -INFINITY;
    for (int64_t e = 0; e < near; e++)
        d[b->near[e]] = 0;
}

static vhem_status fail_stopped(vhem_ctx *ctx, const landmark_set *b, int64_t placed)
{
    return vh_fail(ctx, VHEM_ESTOPPED, "stopped; %lld of %lld HMMs were placed", (long long)placed,
                   (long long)b->l->models->K);
}

/* Embeds models first .. first+n-1; *at is the next landmark from there on. */
static vhem_status place_block(vhem_ctx *ctx, landmark_set *b, int64_t first, int64_t n, int64_t *at,
                               double *place)
{
    vhem_status st = VHEM_OK;
    const vh_landmarks *l = b->l;
    vhem_ctx quiet;
    VH_OWN(vh_h3m) *block = NULL;
    int64_t count = 0;

    for (int64_t i = first; i < first + n; i++) {
        bool landmark = *at < l->m && b->index[*at] == i;
        *at += landmark;
        if (!landmark || l->neighbours <= 0)
            b->others[count++] = i;
    }
    if (count == 0)
        return st;
    VH_TRY(vh_h3m_subset(ctx, l->models, b->others, count, &block));
    vh_ctx_child(ctx, ctx->threads, &quiet); /* progress is reported per block */
    st = vh_embedding_distances_to(&quiet, block, b->some, &l->distance, b->D);
    if (st == VHEM_ESTOPPED)
        VH_TRY(fail_stopped(ctx, b, first));
    VH_CHECK(st == VHEM_OK, st, "models %lld to %lld: %s", (long long)first, (long long)(first + n - 1),
             quiet.error);
    for (int64_t k = 0; k < count; k++) {
        double *d = b->D + vh_row(k, l->m);
        find_affinities(b, d);
        vh_spectral_place(&b->spectrum, d, place + vh_row(b->others[k], l->dim));
    }
    return st;
}

vhem_status vh_landmarks_embedding(vhem_ctx *ctx, const vh_landmarks *l, double *place)
{
    VH_CLEANUP(landmarks_free) landmark_set b = { .l = l, .scale = 1 };
    int64_t K = l->models->K, at = 0;
    VH_AUTOFREE double *own = NULL;

    VH_TRY(vh_stopped(ctx) ? fail_stopped(ctx, &b, 0) : VHEM_OK);
    VH_NEW(own, vh_cells(l->m, l->dim));
    VH_NEW(b.others, BLOCK);
    VH_NEW(b.D, vh_cells(BLOCK, l->m));
    VH_NEW(b.near, l->neighbours > 0 ? l->neighbours : 1);
    VH_TRY(choose(ctx, &b));
    VH_TRY(solve(ctx, &b, own));
    for (int64_t j = 0; l->neighbours > 0 && j < l->m; j++)
        memcpy(place + vh_row(b.index[j], l->dim), own + vh_row(j, l->dim), sizeof *own * (size_t)l->dim);
    for (int64_t i = 0; i < K; i += BLOCK) {
        VH_TRY(vh_stopped(ctx) ? fail_stopped(ctx, &b, i) : VHEM_OK);
        VH_TRY(place_block(ctx, &b, i, K - i < BLOCK ? K - i : BLOCK, &at, place));
        vh_progress(ctx, "place", i + BLOCK < K ? i + BLOCK : K, K);
    }
    return VHEM_OK;
}
