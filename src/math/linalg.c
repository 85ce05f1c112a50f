/* SPDX-License-Identifier: BSD-3-Clause */
/* linalg.c - see linalg.h.  LAPACK is column-major: the lower triangle of a row-major matrix is the upper
 * triangle in column-major order, so nothing is transposed. */
#include "math/linalg.h"

#include "core/array2.h"
#include "math/openblas.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <stdlib.h>

void vh_gemm_nt(int m, int n, int k, const double *A, const double *B, double *C, size_t ldc)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1.0, A, k, B, k, 0.0, C, (int)ldc);
}

void vh_gemm_nn_add(int m, int n, int k, const double *A, size_t lda, const double *B, double *C)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0, A, (int)lda, B, n, 1.0, C, n);
}

/* Gathers the nonzeros of a row of B once; a zero row costs only a scan. */
enum { PLACES = 64 }; /* nonzeros gathered at a time */

/* Tests eight at a time: the OR of their bits runs at memory speed. */
static bool all_zero(const double *x)
{
    uint64_t bits[8], any = 0;
    memcpy(bits, x, sizeof bits);
    for (int e = 0; e < 8; e++)
        any |= bits[e];
    return any == 0;
}

static int gather_nonzeros(int k, int from, const double *row, int *place)
{
    int n = 0;
    for (int e = from; e < k && n < PLACES;) {
        if (e + 8 <= k && all_zero(row + e)) {
            e += 8;
            continue;
        }
        for (int end = e + 8 < k ? e + 8 : k; e < end && n < PLACES; e++)
            if (row[e] != 0)
                place[n++] = e;
    }
    return n;
}

void vh_gemm_nt_sparse(int m, int n, int k, const double *A, const double *B, double *C, size_t ldc)
{
    for (int i = 0; i < m; i++)
        memset(C + (size_t)i * ldc, 0, sizeof *C * (size_t)n);
    for (int j = 0; j < n; j++, B += k)
        for (int from = 0, place[PLACES]; from < k;) {
            int found = gather_nonzeros(k, from, B, place);
            for (int i = 0; i < m; i++) {
                const double *a = A + vh_row(i, k);
                double sum = 0;
                for (int e = 0; e < found; e++)
                    sum += a[place[e]] * B[place[e]];
                C[(size_t)i * ldc + (size_t)j] += sum;
            }
            from = found < PLACES ? k : place[found - 1] + 1;
        }
}

void vh_gemm_nn_add_sparse(int m, int n, int k, const double *A, size_t lda, const double *B, double *C)
{
    for (int j = 0; j < k; j++, B += n)
        for (int from = 0, place[PLACES]; from < n;) {
            int found = gather_nonzeros(n, from, B, place);
            for (int i = 0; i < m; i++) {
                double a = A[(size_t)i * lda + (size_t)j], *c = C + vh_row(i, n);
                for (int e = 0; a != 0 && e < found; e++)
                    c[place[e]] += a * B[place[e]];
            }
            from = found < PLACES ? n : place[found - 1] + 1;
        }
}

void vh_gemm(bool ta, bool tb, int m, int n, int k, double alpha, const double *A, int lda, const double *B,
             int ldb, double beta, double *C, int ldc)
{
    cblas_dgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, m, n, k, alpha,
                A, lda, B, ldb, beta, C, ldc);
}

_Static_assert(sizeof(lapack_int) == sizeof(int), "pivots are handed over as int");

/* LAPACK sees A and its inverse transposed, and the inverse of A' is the transposed inverse of A. */
bool vh_inverse(int n, double *A, int *pivot, double *inverse, double *logdet)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            inverse[i * n + j] = i == j;
    if (LAPACKE_dgesv_work(LAPACK_COL_MAJOR, n, n, A, n, pivot, inverse, n) != 0)
        return false;
    for (int i = 0; i < n; i++)
        sum += log(fabs(A[i * n + i]));
    if (logdet)
        *logdet = sum;
    return isfinite(sum);
}

bool vh_cholesky(int n, double *A)
{
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', n, A, n) != 0)
        return false;
    for (int i = 0; i < n; i++) {
        if (!(A[i * n + i] > 0) || !isfinite(A[i * n + i]))
            return false;
        for (int j = i + 1; j < n; j++)
            A[i * n + j] = 0;
    }
    return true;
}

double vh_cholesky_logdet(int n, const double *L)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += log(L[i * n + i]);
    return 2 * sum;
}

bool vh_cholesky_inverse(int n, double *L)
{
    if (LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'U', n, L, n) != 0)
        return false;
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            L[i * n + j] = L[j * n + i];
    return true;
}

void vh_cholesky_solve_rows(int n, const double *L, int m, double *Z)
{
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, m, n, 1.0, L, n, Z, n);
}

/* Small matrices, nearly all of them, allocate nothing: out of memory must not look like a LAPACK failure. */
enum { SMALL = 16 };

bool vh_eigen(int n, double *A, double *w)
{
    double work[1 + 6 * SMALL + 2 * SMALL * SMALL];
    int places[3 + 5 * SMALL];
    for (int k = 0; n <= SMALL && k < n * n; k++)
        if (isnan(A[k]))
            return false;
    if (n <= SMALL)
        return LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'U', n, A, n, w, work, 1 + 6 * n + 2 * n * n,
                                   places, 3 + 5 * n)
               == 0;
    return LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'U', n, A, n, w) == 0;
}

static void swap(double *a, double *b)
{
    double t = *a;
    *a = *b;
    *b = t;
}

/* By a slower way that finds them all; LAPACK has used up one triangle of A, with the diagonal. */
static bool lead_again(int n, double *A, const double *diagonal, int k, double *w, double *V, double *all)
{
    for (int i = 0; i < n; i++) {
        A[vh_ij(i, n, i)] = diagonal[i];
        for (int j = 0; j < i; j++)
            A[vh_ij(i, n, j)] = A[vh_ij(j, n, i)]; /* its upper triangle is our lower one */
    }
    if (!vh_eigen(n, A, all))
        return false;
    for (int j = 0; j < k; j++) {
        w[j] = all[n - 1 - j];
        memcpy(V + vh_row(j, n), A + vh_row(n - 1 - j, n), sizeof *V * (size_t)n);
    }
    return true;
}

bool vh_eigen_leading(int n, double *A, int k, double *w, double *V)
{
    double *all = malloc(2 * sizeof *all * (size_t)n); /* LAPACK needs room for n of them; the diagonal */
    int found = 0, info = LAPACK_WORK_MEMORY_ERROR, *support = malloc(2 * sizeof *support * (size_t)n);
    for (int i = 0; all && i < n; i++)
        all[n + i] = A[vh_ij(i, n, i)];
    if (all && support)
        info = LAPACKE_dsyevr(LAPACK_COL_MAJOR, 'V', 'I', 'U', n, A, n, 0, 0, n - k + 1, n, 0, &found, all, V,
                              n, support);
    bool good = info == 0 && found == k; /* of eigenvalues that are equal it may miss some, and not say so */
    for (int j = 0; good && j < k; j++)
        w[j] = all[k - 1 - j];
    for (int j = 0; good && j < k / 2; j++) /* LAPACK sorts in ascending order */
        for (int i = 0; i < n; i++)
            swap(&V[vh_ij(j, n, i)], &V[vh_ij(k - 1 - j, n, i)]);
    if (!good && info != LAPACK_WORK_MEMORY_ERROR)
        good = lead_again(n, A, all + n, k, w, V, all);
    free(all);
    free(support);
    return good;
}

void vh_gemv(int m, int n, const double *A, const double *x, double *y)
{
    cblas_dgemv(CblasRowMajor, CblasNoTrans, m, n, 1.0, A, n, x, 1, 0.0, y, 1);
}

bool vh_eigenvalues(int n, double *A, double *w)
{
    double work[4 * SMALL];
    for (int k = 0; n <= SMALL && k < n * n; k++)
        if (isnan(A[k]))
            return false;
    if (n <= SMALL)
        return LAPACKE_dgeev_work(LAPACK_COL_MAJOR, 'N', 'N', n, A, n, w, w + n, NULL, n, NULL, n, work,
                                  4 * n)
               == 0;
    return LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', 'N', n, A, n, w, w + n, NULL, n, NULL, n) == 0;
}

double vh_spectral_radius(int n, double *A, double *work)
{
    double largest = 0;
    if (!vh_eigenvalues(n, A, work))
        return INFINITY;
    for (int k = 0; k < n; k++)
        largest = fmax(largest, hypot(work[k], work[n + k]));
    return largest;
}
