/* SPDX-License-Identifier: BSD-3-Clause */
/* lanczos.c - the implicitly restarted Lanczos method (Lehoucq, Sorensen and Yang 1998) by ARPACK.
 *
 * A single starting vector finds only one direction of the eigenspace of a repeated eigenvalue, and
 * affinities between unrelated groups of models have repeated eigenvalues.  So eigenvectors found are shifted
 * to the lower end of the spectrum, A - 3 bound v v', and the search repeats until it finds nothing
 * larger. */
#include "math/lanczos.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "parallel/parallel.h"
#include "core/rng.h"
#include "math/linalg.h"

#include <arpack.h>
#include <math.h>
#include <string.h>

enum { ROWS = 64, MIN_BASIS = 40, MAX_RESTARTS = 2000 };
#define TOL   1e-13 /* relative, of an eigenvalue */
#define ROUGH 1e-6  /* the same, when only a rough value is needed */

typedef struct {
    int n, k;
    const double *A; /* [n][n] */
    double bound;
    int found, cap;
    double *w, *V; /* [cap] [cap][n]  eigenpairs in the order found */
} eigen_search;

static double *row(double *V, int n, int j)
{
    return V + vh_row(j, n);
}

typedef struct { /* y = A x */
    int n;
    const double *A, *x;
    double *y;
} product;

static void apply_rows(void *arg, int64_t b, int worker)
{
    const product *p = arg;
    int first = (int)b * ROWS, rows = p->n - first < ROWS ? p->n - first : ROWS;
    (void)worker;
    vh_gemv(rows, p->n, p->A + vh_row(first, p->n), p->x, p->y + first);
}

/* y = (A - 3 bound sum_j v_j v_j') x, in blocks of rows that do not depend on the number of threads. */
static void apply(vhem_ctx *ctx, const eigen_search *s, const double *x, double *y)
{
    int n = s->n;
    product p = { n, s->A, x, y };
    vh_parallel(ctx, &(vh_loop){ (n + ROWS - 1) / ROWS, ctx->threads, true, apply_rows, &p });
    for (int j = 0; j < s->found; j++) {
        const double *v = row(s->V, n, j);
        double along = 0;
        for (int i = 0; i < n; i++)
            along += v[i] * x[i];
        for (int i = 0; i < n; i++)
            y[i] -= 3 * s->bound * along * v[i];
    }
}

/* Computes the m largest remaining eigenpairs, w [m] V [m][n], from a fresh start. */
static vhem_status ask(vhem_ctx *ctx, const eigen_search *s, int m, double tol, double *w, double *V)
{
    int n = s->n, basis = 2 * m + 1 > MIN_BASIS ? 2 * m + 1 : MIN_BASIS;
    basis = basis < n ? basis : n;
    int room = basis * (basis + 8), ido = 0, info = 1, param[11] = { 1, 0, MAX_RESTARTS, 1, 0, 0, 1 }, at[11];
    VH_AUTOFREE double *start = NULL, *Q = NULL, *vector = NULL, *work = NULL;
    VH_AUTOFREE int *select = NULL;
    vh_rng rng;

    VH_NEW(start, n);
    VH_NEW(Q, vh_cells(n, basis));
    VH_NEW(vector, 3 * (size_t)n);
    VH_NEW(work, room);
    VH_NEW(select, basis);
    vh_rng_init(&rng, 1, VH_RNG_INIT, (uint64_t)s->found);
    for (int i = 0; i < n; i++)
        start[i] = vh_rng_normal(&rng);
    for (;;) {
        dsaupd_c(&ido, "I", n, "LA", m, tol, start, basis, Q, n, param, at, vector, work, room, &info);
        if (ido != 1 && ido != -1)
            break;
        VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "stopped while looking for eigenvectors");
        apply(ctx, s, vector + at[0] - 1, vector + at[1] - 1);
    }
    VH_CHECK(info == 0, VHEM_ENUMERIC, "eigenvectors of %d models: ARPACK found %d of %d (code %d)", n,
             param[4], m, info);
    dseupd_c(1, "A", select, w, V, n, 0, "I", n, "LA", m, tol, start, basis, Q, n, param, at, vector, work,
             room, &info);
    VH_CHECK(info == 0, VHEM_ENUMERIC, "eigenvectors of %d models: ARPACK gave up (code %d)", n, info);
    return VHEM_OK;
}

/* The k-th largest eigenvalue found. */
static double least(const eigen_search *s)
{
    for (int j = 0; j < s->found; j++) {
        int above = 0;
        for (int i = 0; i < s->found; i++)
            above += s->w[i] > s->w[j] || (s->w[i] == s->w[j] && i < j);
        if (above == s->k - 1)
            return s->w[j];
    }
    return -INFINITY;
}

static vhem_status find_vectors(vhem_ctx *ctx, eigen_search *s)
{
    VH_TRY(ask(ctx, s, s->k, TOL, s->w, s->V));
    s->found = s->k;
    while (s->found < s->cap) {
        double *w = s->w + s->found, *v = row(s->V, s->n, s->found);
        VH_TRY(ask(ctx, s, 1, ROUGH, w, v));
        if (*w <= least(s) + ROUGH * s->bound)
            break;
        VH_TRY(ask(ctx, s, 1, TOL, w, v));
        s->found++;
    }
    return VHEM_OK;
}

/* ARPACK keeps its state in static variables: one search at a time. */
static vhem_status find_alone(vhem_ctx *ctx, eigen_search *s)
{
    vhem_status st;
#pragma omp critical(vh_arpack)
    st = find_vectors(ctx, s);
    return st;
}

vhem_status vh_lanczos(vhem_ctx *ctx, int n, const double *A, double bound, int k, double *w, double *V)
{
    eigen_search s = { .n = n, .k = k, .A = A, .bound = bound, .cap = 2 * k + 1 };
    VH_AUTOFREE double *found_w = NULL, *found_V = NULL;

    VH_NEW(found_w, s.cap);
    VH_NEW(found_V, vh_cells(s.cap, n));
    s.w = found_w;
    s.V = found_V;
    VH_TRY(find_alone(ctx, &s));
    for (int j = 0; j < k; j++) {
        int top = 0;
        for (int i = 1; i < s.found; i++)
            top = s.w[i] > s.w[top] ? i : top;
        w[j] = s.w[top];
        memcpy(row(V, n, j), row(s.V, n, top), sizeof *V * (size_t)n);
        s.w[top] = -INFINITY;
    }
    return VHEM_OK;
}
