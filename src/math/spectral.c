/* SPDX-License-Identifier: BSD-3-Clause */
/* spectral.c - the embedding of Ng, Jordan and Weiss 2002: rows of the k leading eigenvectors of D^-1/2 A
 * D^-1/2, scaled to unit length.
 *
 * Affinities are products of probabilities and exceed the range of a double.  A common factor, or any factor
 * of a row and its column, cancels in the normalised matrix, so it is computed from logarithms,
 *
 *   log d_i = log sum_j exp(log A_ij),   L_ij = exp(log A_ij - (log d_i + log d_j) / 2),
 *
 * and items close to each other stay close however far they are from all others. */
#include "math/spectral.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "math/eigen.h"
#include "math/linalg.h"
#include "math/logsum.h"

#include <math.h>
#include <string.h>

#define TINY 1e-6 /* shorter rows of eigenvectors have lost their digits */

/* Computes L [n][n] from log_A [n][n], the diagonal of which counts only if `keep`; rows and columns of items
 * without affinities are zero. */
static vhem_status normalise(vhem_ctx *ctx, const double *log_A, bool keep, vh_spectrum *e, double *L)
{
    size_t n = (size_t)e->n;
    for (int i = 0; i < e->n; i++) {
        double *row = L + (size_t)i * n; /* temporary row, without its diagonal */
        for (int j = 0; j < e->n; j++)
            row[j] = i == j && !keep ? -INFINITY : log_A[vh_ij(i, e->n, j)];
        e->log_d[i] = vh_logsum(e->n, row, 1);
        VH_CHECK(e->log_d[i] < INFINITY, VHEM_ENUMERIC, "the affinities of model %d sum to %g", i,
                 exp(e->log_d[i]));
    }
    for (int i = 0; i < e->n; i++)
        for (int j = 0; j < e->n; j++) {
            double log_a = i == j && !keep ? -INFINITY : log_A[vh_ij(i, e->n, j)];
            L[(size_t)i * n + (size_t)j] = isinf(log_a) ? 0 : exp(log_a - 0.5 * (e->log_d[i] + e->log_d[j]));
        }
    return VHEM_OK;
}

static vhem_status solve(vhem_ctx *ctx, vh_spectrum *e, vh_eigen_solver solver, double *L)
{
    bool many = e->n > VH_SPECTRAL_DENSE && e->k <= e->n / 8;
    if (solver == VH_EIGEN_ITERATED || (solver == VH_EIGEN_AUTO && many)) {
        VH_TRY(vh_eigen_find_dense(ctx, e->n, L, 1, e->k, e->w, e->V));
    } else {
        VH_CHECK(
            vh_eigen_leading(e->n, L, e->k, e->w, e->V), VHEM_ENUMERIC,
            "the eigenvectors of the affinities of %d models could not be found; perhaps memory is short",
            e->n);
    }
    vh_eigen_fix_signs(e->n, e->k, e->V);
    return VHEM_OK;
}

static double length(int k, const double *x)
{
    double sum = 0;
    for (int c = 0; c < k; c++)
        sum += x[c] * x[c];
    return sqrt(sum);
}

/* True if item j contributes to the position of item i: not i itself, and not isolated. */
static bool counts(const vh_spectrum *s, const double *log_a, int i, int j)
{
    return j != i && !isinf(log_a[j]) && !isinf(s->log_d[j]);
}

/* Position of an item from the eigenvector equation, w V_i = sum_j L_ij V_j, with the row of L divided by its
 * largest entry.  Item i itself is left out; -1: a new item. */
static void place_by_neighbours(const vh_spectrum *s, const double *log_a, int i, double *x)
{
    double top = -INFINITY;
    for (int j = 0; j < s->n; j++)
        if (counts(s, log_a, i, j))
            top = fmax(top, log_a[j] - 0.5 * s->log_d[j]);
    memset(x, 0, sizeof *x * (size_t)s->k);
    for (int j = 0; j < s->n; j++) {
        if (!counts(s, log_a, i, j))
            continue;
        double weight = exp(log_a[j] - 0.5 * s->log_d[j] - top);
        for (int c = 0; c < s->k; c++)
            if (s->w[c] > TINY)
                x[c] += weight * s->V[vh_ij(c, s->n, j)] / s->w[c];
    }
}

/* Scales x to unit length; to 0 if it is too short. */
static void scale_to_one(int k, double *x)
{
    double l = length(k, x);
    for (int c = 0; c < k; c++)
        x[c] = l > TINY * TINY ? x[c] / l : 0;
}

void vh_spectral_place(const vh_spectrum *s, const double *log_a, double *x)
{
    place_by_neighbours(s, log_a, -1, x);
    scale_to_one(s->k, x);
}

static void make_points(const vh_spectrum *e, const double *log_A, double *X)
{
    for (int i = 0; i < e->n; i++) {
        double *x = X + vh_row(i, e->k);
        for (int c = 0; c < e->k; c++)
            x[c] = isinf(e->log_d[i]) ? 0 : e->V[vh_ij(c, e->n, i)];
        if (length(e->k, x) < TINY && !isinf(e->log_d[i]))
            place_by_neighbours(e, log_A + vh_row(i, e->n), i, x);
        scale_to_one(e->k, x);
    }
}

void vh_spectrum_free(vh_spectrum *s)
{
    free(s->log_d);
    free(s->w);
    free(s->V);
    *s = (vh_spectrum){ 0 };
}

vhem_status vh_spectral_solve(vhem_ctx *ctx, int n, const double *log_A, bool keep_diagonal, int k,
                              vh_eigen_solver solver, vh_spectrum *out, double *X)
{
    VH_CLEANUP(vh_spectrum_free) vh_spectrum e = { .n = n, .k = k };
    VH_AUTOFREE double *L = NULL;

    VH_NEW(e.log_d, n);
    VH_NEW(e.w, k);
    VH_NEW(e.V, vh_cells(k, n));
    VH_NEW(L, vh_cells(n, n));
    VH_TRY(normalise(ctx, log_A, keep_diagonal, &e, L));
    VH_TRY(solve(ctx, &e, solver, L));
    make_points(&e, log_A, X);
    *out = e;
    e = (vh_spectrum){ 0 };
    return VHEM_OK;
}

vhem_status vh_spectral_embed(vhem_ctx *ctx, int n, const double *log_A, bool keep_diagonal, int k,
                              vh_eigen_solver solver, double *X)
{
    vh_spectrum s = { 0 };
    vhem_status st = vh_spectral_solve(ctx, n, log_A, keep_diagonal, k, solver, &s, X);
    vh_spectrum_free(&s);
    return st;
}
