/* SPDX-License-Identifier: BSD-3-Clause */
/* eigen.c - subspace iteration with Chebyshev polynomials as filters (Zhou, Saad, Tiago and Chelikowsky
 * 2006).
 *
 * A block X of b > k vectors is multiplied by a polynomial of A that is at most 1 on the unwanted part
 * of the spectrum, [low, cut], and grows fastest above: with centre c and half-width e of that part,
 *
 *   T_0 = X,   T_1 = (A - c) X / e,   T_m+1 = 2 (A - c) T_m / e - T_m-1,
 *
 * and an eigenvector of eigenvalue x > cut grows by cosh(m g(x)), g(x) = arcosh((x - c) / e).  Then
 * follow Rayleigh and Ritz: in an orthonormal basis X, the eigenvectors of X'AX are the best
 * approximations within the block, and the least of their eigenvalues is the next cut.  The b - k
 * vectors beside the wanted ones keep the cut away from the k-th eigenvalue.
 *
 * In a long filter the first eigenvectors drown the others of the block.  Combinations of columns, the
 * same of T_m and T_m-1, commute with the recursion, so the block is made orthonormal in time, column
 * after column.
 *
 * One vector would find one direction of the eigenspace of a repeated eigenvalue; a block finds all that
 * it has room for.  Memory is O(n b).  A sum over rows is taken in chunks that depend on n and b alone.
 *
 *   1. sweeps over the rows
 *   2. start: the spectrum estimated, a first block
 *   3. one pass: filter, Rayleigh and Ritz
 *   4. the whole */
#include "math/eigen.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "core/rng.h"
#include "math/blas.h"
#include "math/linalg.h"
#include "parallel/parallel.h"

#include <math.h>
#include <string.h>

enum {
    SMALL = 50,      /* rows of a matrix that LAPACK solves as fast, */
    DENSE = 5,       /* as it does if the block has more than n / DENSE vectors */
    GUARD = 8,       /* vectors beside the wanted ones, */
    GUARD_SHARE = 4, /* or k / GUARD_SHARE if that is more */
    CHUNK = 64,      /* rows of a chunk, at least */
    MOST_CHUNKS = 64,
    STEPS = 16,        /* of Lanczos, which estimate the spectrum */
    FIRST_DEGREE = 40, /* of the first filter, at most */
    LEAST_DEGREE = 3,  /* of the others */
    SLOW = 100,        /* degree of a filter, at most; one that needs more calls for a lower cut */
    LIMIT = 600,       /* products of A and the block, */
    HOPELESS = 100,    /* or this many if the limit would be reached in vain */
};
#define TOL    1e-9  /* of a residual, relative to the spectrum */
#define SAFETY 4     /* a filter aims below it by this factor */
#define DROWN  1e5   /* times its own length, one vector in another leaves that enough digits */
#define TRACES 1e-5  /* share of one Ritz vector in another, at least */
#define LOST   1e-12 /* squared distance of a unit vector from the span of others that is but rounding */
#define WELL   1e-3  /* the same if orthonormalising the block loses nothing */
#define WIDTH  1e-9  /* of the unwanted part, relative to the spectrum: values as near as that are one */
#define ALIKE  1e-13 /* the same of Ritz values, which are exact to the square of a residual */
#define LOWER  0.05  /* a lower cut is below the k-th eigenvalue by this share of what is below */
#define HELPS  0.5   /* factor of residuals that makes such a cut worth repeating */
#define SHARED 2e5   /* cells of a block that is worth several threads */

typedef struct {
    const vh_operator *A;
    int n, k, b, rows, chunks, threads;
    double *X, *Y;        /* [n][b]  the block, and A X or an earlier filtered block */
    double *part;         /* [chunks][b][b]  terms of a sum */
    double *temp;         /* [threads][rows][b] */
    double *G, *M, *U;    /* [b][b] */
    double *w, *residual; /* [b]  of the vectors in the block */
    double low, cut, top; /* the spectrum: its ends, and the end of the unwanted part */
    double worst;         /* residual before the last filter */
    bool lowered;         /* its cut was lowered */
    int products;         /* of A and the block so far */
    uint64_t drawn;       /* random vectors so far */
} eigen_search;

static void search_free(eigen_search *s)
{
    free(s->X);
    free(s->Y);
    free(s->part);
    free(s->temp);
    free(s->G);
    free(s->M);
    free(s->U);
    free(s->w);
    free(s->residual);
}

static vhem_status search_new(vhem_ctx *ctx, eigen_search *s)
{
    int n = s->n, b = s->b;

    s->rows = (n + MOST_CHUNKS - 1) / MOST_CHUNKS;
    s->rows = s->rows < CHUNK ? CHUNK : s->rows;
    s->rows = s->rows < b ? b : s->rows; /* the terms of a sum take no more memory than X */
    s->chunks = (n + s->rows - 1) / s->rows;
    s->threads = (double)n * b > SHARED ? ctx->threads : 1;
    VH_NEW(s->X, vh_cells(n, b));
    VH_NEW(s->Y, vh_cells(n, b));
    VH_NEW(s->part, vh_cells(s->chunks, (int64_t)b * b));
    VH_NEW(s->temp, vh_cells(s->threads, (int64_t)s->rows * b));
    VH_NEW(s->G, vh_cells(b, b));
    VH_NEW(s->M, vh_cells(b, b));
    VH_NEW(s->U, vh_cells(b, b));
    VH_NEW(s->w, b);
    VH_NEW(s->residual, b);
    return VHEM_OK;
}

/* ---- 1. sweeps over the rows --------------------------------------------------------------------------- */

static void sweep(const vhem_ctx *ctx, eigen_search *s, void (*run)(void *, int64_t, int))
{
    vh_parallel(ctx, s->chunks, s->threads, true, run, s);
}

static int rows_of(const eigen_search *s, int64_t chunk)
{
    int left = s->n - (int)chunk * s->rows;
    return left < s->rows ? left : s->rows;
}

/* Offset of a chunk in X and Y, and in the terms of a sum. */
static size_t chunk_at(const eigen_search *s, int64_t chunk)
{
    return vh_cells(chunk * s->rows, s->b);
}

static double *part_of(const eigen_search *s, int64_t chunk)
{
    return s->part + vh_cells(chunk, (int64_t)s->b * s->b);
}

static double *temp_of(const eigen_search *s, int worker)
{
    return s->temp + vh_cells(worker, (int64_t)s->rows * s->b);
}

/* Y = A X */
static void multiply_rows(void *arg, int64_t chunk, int worker)
{
    const eigen_search *s = arg;
    (void)worker;
    s->A->multiply(s->A->arg, (int)chunk * s->rows, rows_of(s, chunk), s->b, s->X, s->Y + chunk_at(s, chunk));
}

/* Y = A X becomes (A - c) X / e. */
static void first_degree(void *arg, int64_t chunk, int worker)
{
    const eigen_search *s = arg;
    size_t from = chunk_at(s, chunk), cells = vh_cells(rows_of(s, chunk), s->b);
    double c = 0.5 * (s->cut + s->low), scale = 2 / (s->cut - s->low), *y = s->Y + from;
    const double *x = s->X + from;
    (void)worker;
    for (size_t p = 0; p < cells; p++)
        y[p] = (y[p] - c * x[p]) * scale;
}

/* Y = 2 (A - c) X / e - Y */
static void next_degree(void *arg, int64_t chunk, int worker)
{
    const eigen_search *s = arg;
    int rows = rows_of(s, chunk);
    size_t from = chunk_at(s, chunk), cells = vh_cells(rows, s->b);
    double c = 0.5 * (s->cut + s->low), scale = 4 / (s->cut - s->low);
    double *t = temp_of(s, worker), *y = s->Y + from;
    const double *x = s->X + from;
    s->A->multiply(s->A->arg, (int)chunk * s->rows, rows, s->b, s->X, t);
    for (size_t p = 0; p < cells; p++)
        y[p] = (t[p] - c * x[p]) * scale - y[p];
}

/* The terms of X'X. */
static void square_rows(void *arg, int64_t chunk, int worker)
{
    const eigen_search *s = arg;
    int b = s->b;
    const double *x = s->X + chunk_at(s, chunk);
    (void)worker;
    vh_gemm(true, false, b, b, rows_of(s, chunk), 1, x, b, x, b, 0, part_of(s, chunk), b);
}

/* The terms of X'Y. */
static void product_rows(void *arg, int64_t chunk, int worker)
{
    const eigen_search *s = arg;
    int b = s->b;
    const double *x = s->X + chunk_at(s, chunk), *y = s->Y + chunk_at(s, chunk);
    (void)worker;
    vh_gemm(true, false, b, b, rows_of(s, chunk), 1, x, b, y, b, 0, part_of(s, chunk), b);
}

static void rotate(const eigen_search *s, int rows, double *x, double *t)
{
    vh_gemm(false, false, rows, s->b, s->b, 1, x, s->b, s->M, s->b, 0, t, s->b);
    memcpy(x, t, sizeof *x * vh_cells(rows, s->b));
}

/* X = X M */
static void rotate_rows(void *arg, int64_t chunk, int worker)
{
    const eigen_search *s = arg;
    rotate(s, rows_of(s, chunk), s->X + chunk_at(s, chunk), temp_of(s, worker));
}

/* X = X M, Y = Y M, and the terms of |Y - w X|^2. */
static void rotate_both(void *arg, int64_t chunk, int worker)
{
    const eigen_search *s = arg;
    int b = s->b, rows = rows_of(s, chunk);
    double *x = s->X + chunk_at(s, chunk), *y = s->Y + chunk_at(s, chunk), *sum = part_of(s, chunk);
    rotate(s, rows, x, temp_of(s, worker));
    rotate(s, rows, y, temp_of(s, worker));
    memset(sum, 0, sizeof *sum * (size_t)b);
    for (int i = 0; i < rows; i++, x += b, y += b)
        for (int j = 0; j < b; j++)
            sum[j] += (y[j] - s->w[j] * x[j]) * (y[j] - s->w[j] * x[j]);
}

/* out [m] = the sum of the first m terms of each chunk. */
static void add_parts(const eigen_search *s, int m, double *out)
{
    memset(out, 0, sizeof *out * (size_t)m);
    for (int c = 0; c < s->chunks; c++)
        for (int p = 0; p < m; p++)
            out[p] += part_of(s, c)[p];
}

/* ---- 2. start ------------------------------------------------------------------------------------------ */

/* Fills x, n entries at this stride, with random numbers. */
static void draw(eigen_search *s, double *x, int stride)
{
    vh_rng rng;
    vh_rng_init(&rng, 1, VH_RNG_INIT, s->drawn++);
    for (int i = 0; i < s->n; i++)
        x[vh_row(i, stride)] = vh_rng_uniform(&rng) - 0.5;
}

static double dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Makes v orthogonal to the unit rows of Q [m][n], then a unit vector; returns its length before that. */
static double orthogonalise(int n, int m, const double *Q, double *v)
{
    for (int turn = 0; turn < 2; turn++) /* the second removes what rounding left */
        for (int j = 0; j < m; j++) {
            double along = dot(n, Q + vh_row(j, n), v);
            for (int i = 0; i < n; i++)
                v[i] -= along * Q[vh_ij(j, n, i)];
        }
    double length = sqrt(dot(n, v, v));
    for (int i = 0; i < n; i++)
        v[i] = length > 0 ? v[i] / length : 0;
    return length;
}

/* Lanczos steps from a random vector, Q [STEPS + 1][n].  Returns their number m, T [m][m] = Q'AQ,
 * tridiagonal, with a row stride of STEPS, and *beyond, the length of the last vector. */
static int lanczos(eigen_search *s, double *Q, double *T, double *beyond)
{
    int n = s->n;
    draw(s, Q, 1);
    orthogonalise(n, 0, Q, Q);
    for (int j = 0;; j++) {
        double *q = Q + vh_row(j, n), *next = q + n;
        s->A->multiply(s->A->arg, 0, n, 1, q, next);
        T[j * STEPS + j] = dot(n, q, next);
        *beyond = orthogonalise(n, j + 1, Q, next);
        if (j + 1 == STEPS || !(*beyond > 1e-8 * s->A->bound))
            return j + 1;
        T[j * STEPS + j + 1] = T[(j + 1) * STEPS + j] = *beyond;
    }
}

/* Estimates the ends of the spectrum, and the value that b of the n eigenvalues exceed: the squared first
 * entry of an eigenvector of T is about the share of the eigenvalues near its own. */
static vhem_status estimate(vhem_ctx *ctx, eigen_search *s)
{
    double T[STEPS * STEPS] = { 0 }, w[STEPS], beyond, share = 0;
    VH_AUTOFREE double *Q = NULL;

    VH_NEW(Q, vh_cells(STEPS + 1, s->n));
    int m = lanczos(s, Q, T, &beyond), at = m;
    for (int i = 1; i < m; i++)
        memmove(T + vh_row(i, m), T + vh_row(i, STEPS), sizeof *T * (size_t)m);
    VH_CHECK(vh_eigen(m, T, w), VHEM_ENUMERIC, "a matrix of %d items has entries that are not numbers", s->n);
    while (at > 0 && share * s->n <= s->b) {
        at--;
        share += T[at * m] * T[at * m];
    }
    s->top = w[m - 1];
    s->low = fmax(-s->A->bound, w[0] - beyond * fabs(T[m - 1]));
    s->cut = w[at];
    return VHEM_OK;
}

/* The block: the rows of V [k][n] that are not 0, and random vectors. */
static void fill_block(eigen_search *s, const double *V)
{
    for (int j = 0; j < s->b; j++) {
        const double *v = V + vh_row(j, s->n);
        bool given = j < s->k && dot(s->n, v, v) > 0;
        if (!given)
            draw(s, s->X + j, s->b);
        for (int i = 0; given && i < s->n; i++)
            s->X[vh_ij(i, s->b, j)] = v[i];
    }
}

/* ---- 3. one pass --------------------------------------------------------------------------------------- */

static void multiply(const vhem_ctx *ctx, eigen_search *s)
{
    sweep(ctx, s, multiply_rows);
    s->products++;
}

static void swap_blocks(eigen_search *s)
{
    double *t = s->X;
    s->X = s->Y;
    s->Y = t;
}

/* Replaces the lower half of G = X'X by the Cholesky factor of it scaled to a diagonal of 1, and fills
 * scale [b], the lengths of the columns of X.  *least: the least squared distance of a column from the
 * span of those before.  Returns the first column that is in that span, else -1. */
static int factorise(int b, double *G, double *scale, double *least)
{
    *least = 1;
    for (int i = 0; i < b; i++) {
        double *g = G + vh_row(i, b);
        scale[i] = sqrt(g[i]);
        for (int j = 0; j < i; j++) {
            const double *h = G + vh_row(j, b);
            g[j] = (g[j] / (scale[i] * scale[j]) - dot(j, g, h)) / h[j];
        }
        double left = 1 - dot(i, g, g);
        if (!(left > LOST && scale[i] > 0))
            return i;
        g[i] = sqrt(left);
        *least = fmin(*least, left);
    }
    return -1;
}

/* M = the transposed inverse of the factor L, its rows divided by scale: X M is orthonormal. */
static void invert(int b, const double *L, const double *scale, double *M)
{
    memset(M, 0, sizeof *M * vh_cells(b, b));
    for (int j = 0; j < b; j++) { /* column j of the inverse */
        double *m = M + vh_row(j, b);
        m[j] = 1 / L[vh_ij(j, b, j)];
        for (int i = j + 1; i < b; i++)
            m[i] = -dot(i - j, L + vh_ij(i, b, j), m + j) / L[vh_ij(i, b, i)];
        for (int i = j; i < b; i++)
            m[i] /= scale[j];
    }
}

/* Makes the columns of X orthonormal and combines those of Y in the same way.  False if a column is in the
 * span of others. */
static bool stabilise(const vhem_ctx *ctx, eigen_search *s)
{
    double least;
    sweep(ctx, s, square_rows);
    add_parts(s, s->b * s->b, s->G);
    if (factorise(s->b, s->G, s->w, &least) >= 0)
        return false;
    invert(s->b, s->G, s->w, s->M);
    sweep(ctx, s, rotate_both);
    return true;
}

/* X becomes T_m of it, m = degree >= 1, made stable every `span` degrees; on entry Y = A X. */
static vhem_status filter(vhem_ctx *ctx, eigen_search *s, int degree, int span)
{
    sweep(ctx, s, first_degree);
    swap_blocks(s);
    for (int m = 1; m < degree; m++) {
        VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "stopped while looking for eigenvectors");
        if (m % span == 0 && !stabilise(ctx, s))
            break;
        sweep(ctx, s, next_degree);
        swap_blocks(s);
        s->products++;
    }
    return VHEM_OK;
}

/* Makes the columns of X orthonormal, but for what M makes good: X M is.  A column in the span of others is
 * replaced by a random one. */
static void orthonormalise(const vhem_ctx *ctx, eigen_search *s)
{
    double least = 0;
    for (int turn = 0; turn < s->b + GUARD && !(least > WELL); turn++) {
        if (least > 0)
            sweep(ctx, s, rotate_rows);
        sweep(ctx, s, square_rows);
        add_parts(s, s->b * s->b, s->G);
        int lost = factorise(s->b, s->G, s->w, &least);
        if (lost >= 0) {
            draw(s, s->X + lost, s->b);
            least = 0;
        } else {
            invert(s->b, s->G, s->w, s->M);
        }
    }
}

/* M = M times the eigenvectors of U = (X M)'A X M as columns, and w their eigenvalues, descending. */
static bool solve_block(eigen_search *s)
{
    int b = s->b;
    if (!vh_eigen(b, s->U, s->w))
        return false;
    for (int j = 0; j < b; j++)
        for (int i = 0; i < b; i++)
            s->G[vh_ij(i, b, b - 1 - j)] = s->U[vh_ij(j, b, i)];
    for (int j = 0; j < b / 2; j++) {
        double t = s->w[j];
        s->w[j] = s->w[b - 1 - j];
        s->w[b - 1 - j] = t;
    }
    vh_gemm(false, false, b, b, b, 1, s->M, b, s->G, b, 0, s->part, b);
    memcpy(s->M, s->part, sizeof *s->M * vh_cells(b, b));
    return true;
}

/* Replaces X by the Ritz vectors and finds their values w, Y = A X and the residuals. */
static vhem_status rayleigh_ritz(vhem_ctx *ctx, eigen_search *s)
{
    int b = s->b;

    orthonormalise(ctx, s);
    multiply(ctx, s);
    sweep(ctx, s, product_rows);
    add_parts(s, b * b, s->G);
    vh_gemm(false, false, b, b, b, 1, s->G, b, s->M, b, 0, s->part, b);
    vh_gemm(true, false, b, b, b, 1, s->M, b, s->part, b, 0, s->U, b);
    VH_CHECK(solve_block(s), VHEM_ENUMERIC,
             "the eigenvectors of %d items could not be found; perhaps memory is short", s->n);
    sweep(ctx, s, rotate_both);
    add_parts(s, b, s->residual);
    for (int j = 0; j < b; j++)
        s->residual[j] = sqrt(s->residual[j]);
    s->top = fmax(s->top, s->w[0]);
    s->cut = s->w[b - 1];
    return VHEM_OK;
}

/* The largest |eigenvalue|; not 0 for a matrix of zeros. */
static double spectrum(const eigen_search *s)
{
    return fmax(fmax(fabs(s->low), fabs(s->top)), 1e-30 * s->A->bound);
}

/* Keeps the unwanted part at some width: it may be a single value. */
static void widen(eigen_search *s)
{
    s->cut = fmax(s->cut, s->low + WIDTH * spectrum(s));
}

/* Logarithm of the growth of an eigenvector for each degree of a filter. */
static double growth(const eigen_search *s, double w)
{
    double beyond = (w - s->cut) / (s->cut - s->low);
    return beyond > 0 ? acosh(1 + 2 * beyond) : 0;
}

/* The wanted vectors, and those whose eigenvalue is that of the last but for rounding: Rayleigh and Ritz
 * mix them as they please. */
static int count_wanted(const eigen_search *s)
{
    int m = s->k;
    while (m < s->b && s->w[m] > s->w[s->k - 1] - ALIKE * spectrum(s))
        m++;
    return m;
}

static double worst_residual(const eigen_search *s)
{
    double worst = 0;
    for (int j = 0, m = count_wanted(s); j < m; j++)
        worst = fmax(worst, s->residual[j]);
    return worst;
}

/* Degree of a filter that makes the slowest of the wanted vectors converge; 0: all have. */
static double needed(const eigen_search *s)
{
    double tol = TOL * spectrum(s), most = 0;
    for (int j = 0, m = count_wanted(s); j < m; j++)
        if (s->residual[j] > tol)
            most = fmax(most, log(SAFETY * s->residual[j] / tol) / growth(s, s->w[j]));
    return most;
}

/* Degrees after which the first vectors, as far as they have converged, may have drowned others. */
static int stable_span(const eigen_search *s)
{
    double span = SLOW;
    for (int j = 0; j < s->b; j++) {
        double share = fmax(s->residual[j] / spectrum(s), TRACES);
        span = fmin(span, log(DROWN / fmin(share, 1)) / growth(s, s->w[j]));
    }
    return (int)fmax(1, span);
}

/* Degree of the next filter; 0: all have converged, or the limit is reached, or will be in vain.
 *
 * If the cut is nearer to the k-th eigenvalue than residuals are small, both may be one eigenvalue that
 * occurs more often than the block has vectors: then a lower cut is what removes the rest.  It is tried
 * in every other pass, and kept while it helps. */
static int next_filter(eigen_search *s)
{
    double most = needed(s), worst = worst_residual(s), last = s->w[s->k - 1];
    int left = LIMIT - s->products;
    bool lower = most > SLOW && last - s->cut < worst && (!s->lowered || worst < HELPS * s->worst);

    if (most == 0 || left <= 0 || (!lower && most > left && s->products >= HOPELESS))
        return 0;
    s->lowered = lower;
    s->worst = worst;
    if (lower) {
        s->cut = fmin(s->cut, last - LOWER * (last - s->low));
        widen(s);
        most = needed(s);
    }
    return (int)fmax(LEAST_DEGREE, ceil(fmin(most, SLOW)));
}

/* ---- 4. the whole -------------------------------------------------------------------------------------- */

static vhem_status iterate(vhem_ctx *ctx, eigen_search *s)
{
    VH_TRY(estimate(ctx, s));
    widen(s);
    multiply(ctx, s);
    int degree = (int)fmin(FIRST_DEGREE, ceil(log(DROWN) / growth(s, s->top))), span = degree;
    while (degree > 0) {
        VH_TRY(filter(ctx, s, degree, span));
        VH_TRY(rayleigh_ritz(ctx, s));
        widen(s);
        degree = next_filter(s);
        span = stable_span(s);
    }
    return VHEM_OK;
}

/* Vectors in the block for k wanted ones. */
static int block_size(int k)
{
    int guard = k / GUARD_SHARE < GUARD ? GUARD : k / GUARD_SHARE;
    return (k + guard + 3) / 4 * 4;
}

static bool is_small(int n, int k)
{
    return n <= SMALL || block_size(k) > n / DENSE;
}

/* By LAPACK; overwrites A [n][n]. */
static vhem_status solve_small(vhem_ctx *ctx, int n, double *A, int k, double *w, double *V)
{
    VH_CHECK(vh_eigen_leading(n, A, k, w, V), VHEM_ENUMERIC,
             "the eigenvectors of %d items could not be found; perhaps memory is short", n);
    return VHEM_OK;
}

/* Fills all [n][n] with the matrix. */
static vhem_status write_out(vhem_ctx *ctx, const vh_operator *A, double *all)
{
    VH_AUTOFREE double *one = NULL;

    VH_NEW(one, vh_cells(A->n, A->n));
    for (int i = 0; i < A->n; i++)
        one[vh_ij(i, A->n, i)] = 1;
    A->multiply(A->arg, 0, A->n, A->n, one, all);
    return VHEM_OK;
}

vhem_status vh_eigen_find(vhem_ctx *ctx, const vh_operator *A, int k, double *w, double *V)
{
    VH_BLAS_SERIAL;
    int n = A->n, b = block_size(k);
    VH_CLEANUP(search_free) eigen_search s = { .A = A, .n = n, .k = k, .b = b };
    VH_AUTOFREE double *all = NULL;

    if (is_small(n, k)) {
        VH_NEW(all, vh_cells(n, n));
        VH_TRY(write_out(ctx, A, all));
        return solve_small(ctx, n, all, k, w, V);
    }
    VH_TRY(search_new(ctx, &s));
    fill_block(&s, V);
    VH_TRY(iterate(ctx, &s));
    memcpy(w, s.w, sizeof *w * (size_t)k);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < k; j++)
            V[vh_ij(j, n, i)] = s.X[vh_ij(i, b, j)];
    return VHEM_OK;
}

typedef struct {
    int n;
    const double *A; /* [n][n] */
} dense_matrix;

static void multiply_dense(const void *arg, int first, int rows, int m, const double *X, double *Y)
{
    const dense_matrix *d = arg;
    const double *A = d->A + vh_row(first, d->n);
    if (m == 1)
        vh_gemv(rows, d->n, A, X, Y);
    else
        vh_gemm(false, false, rows, m, d->n, 1, A, d->n, X, m, 0, Y, m);
}

vhem_status vh_eigen_find_dense(vhem_ctx *ctx, int n, const double *A, double bound, int k, double *w,
                                double *V)
{
    VH_BLAS_SERIAL;
    const dense_matrix d = { n, A };
    VH_AUTOFREE double *copy = NULL;

    if (is_small(n, k)) {
        VH_NEW(copy, vh_cells(n, n));
        memcpy(copy, A, sizeof *copy * vh_cells(n, n));
        return solve_small(ctx, n, copy, k, w, V);
    }
    memset(V, 0, sizeof *V * vh_cells(k, n));
    return vh_eigen_find(ctx, &(vh_operator){ n, bound, multiply_dense, &d }, k, w, V);
}

void vh_eigen_fix_signs(int n, int k, double *V)
{
    for (int c = 0; c < k; c++) {
        double *v = V + vh_row(c, n);
        int top = 0;
        for (int i = 1; i < n; i++)
            top = fabs(v[i]) > fabs(v[top]) ? i : top;
        bool turn = v[top] < 0;
        for (int i = 0; turn && i < n; i++)
            v[i] = -v[i];
    }
}
