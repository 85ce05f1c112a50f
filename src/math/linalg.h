/* SPDX-License-Identifier: BSD-3-Clause */
/* linalg.h - every BLAS and LAPACK call of the library.  Matrices are row-major. */
#ifndef VH_MATH_LINALG_H
#define VH_MATH_LINALG_H

#include <stdbool.h>
#include <stddef.h>

/* C [m][n] = A [m][k] . B' with B [n][k]; ldc is the row stride of C. */
void vh_gemm_nt(int m, int n, int k, const double *A, const double *B, double *C, size_t ldc);
/* C [m][n] += A . B with A [m][k], row stride lda, and B [k][n]. */
void vh_gemm_nn_add(int m, int n, int k, const double *A, size_t lda, const double *B, double *C);
/* The same two for B with mostly zero entries: only nonzeros are multiplied. */
void vh_gemm_nt_sparse(int m, int n, int k, const double *A, const double *B, double *C, size_t ldc);
void vh_gemm_nn_add_sparse(int m, int n, int k, const double *A, size_t lda, const double *B, double *C);
/* C [m][n] = alpha op(A) . op(B) + beta C; op is the transpose if ta or tb; lda, ldb and ldc are row strides
 * of the stored arrays. */
void vh_gemm(bool ta, bool tb, int m, int n, int k, double alpha, const double *A, int lda, const double *B,
             int ldb, double beta, double *C, int ldc);

/* Computes inverse [n][n] = A^-1 of a square A, which is overwritten; pivot [n] is working memory.  logdet,
 * log |det A|, may be NULL.  False if A is singular. */
bool vh_inverse(int n, double *A, int *pivot, double *inverse, double *logdet);

/* Overwrites the symmetric A [n][n] with its lower Cholesky factor L, A = L L', zeros above; false if A is
 * not positive definite. */
bool vh_cholesky(int n, double *A);
/* log det A from its Cholesky factor: the sum of the logs of the squared diagonal. */
double vh_cholesky_logdet(int n, const double *L);
/* Overwrites L with the full symmetric inverse of L L'. */
bool vh_cholesky_inverse(int n, double *L);
/* Replaces each of m rows z of Z [m][n] by L^-1 z. */
void vh_cholesky_solve_rows(int n, const double *L, int m, double *Z);

/* Eigenvectors of the symmetric A [n][n] into its rows, eigenvalues, ascending, into w [n]; false on
 * failure. */
bool vh_eigen(int n, double *A, double *w);
/* Computes the k largest eigenvalues w [k] of A [n][n], descending, and their eigenvectors, the rows of V
 * [k][n]; overwrites A.  False if LAPACK fails or memory runs out. */
bool vh_eigen_leading(int n, double *A, int k, double *w, double *V);
/* y [m] = A [m][n] . x */
void vh_gemv(int m, int n, const double *A, const double *x, double *y);

/* Computes the eigenvalues of a square A [n][n], which is overwritten: w [2 n], real parts, then imaginary
 * parts; false if LAPACK fails. */
bool vh_eigenvalues(int n, double *A, double *w);
/* The largest |eigenvalue| of a square A [n][n], which is overwritten; infinity on failure.  work [2 n]. */
double vh_spectral_radius(int n, double *A, double *work);

#endif
