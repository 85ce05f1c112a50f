/* SPDX-License-Identifier: BSD-3-Clause */
/* linalg.h - every BLAS and LAPACK call of the library.  Matrices are row-major. */
#ifndef VH_MATH_LINALG_H
#define VH_MATH_LINALG_H

#include <stdbool.h>
#include <stddef.h>

/* C [m][n] = A [m][k] . B' with B [n][k]; ldc is the distance of rows of C. */
void vh_gemm_nt(int m, int n, int k, const double *A, const double *B, double *C, size_t ldc);
/* C [m][n] += A . B with A [m][k], rows lda apart, and B [k][n]. */
void vh_gemm_nn_add(int m, int n, int k, const double *A, size_t lda, const double *B, double *C);
/* The same two where most entries of B are 0: its rows are gone through once, and only what is not 0 is
 * multiplied. */
void vh_gemm_nt_sparse(int m, int n, int k, const double *A, const double *B, double *C, size_t ldc);
void vh_gemm_nn_add_sparse(int m, int n, int k, const double *A, size_t lda, const double *B, double *C);
/* C [m][n] = alpha op(A) . op(B) + beta C; op is the transpose where ta or tb says so, and rows of the arrays
 * as they lie in memory are lda, ldb and ldc apart. */
void vh_gemm(bool ta, bool tb, int m, int n, int k, double alpha, const double *A, int lda, const double *B,
             int ldb, double beta, double *C, int ldc);

/* inverse [n][n] = A^-1 of any square A, which is overwritten; pivot [n] is working memory.  logdet, log |det
 * A|, may be NULL.  False when A is singular. */
bool vh_inverse(int n, double *A, int *pivot, double *inverse, double *logdet);

/* A [n][n] symmetric -> lower Cholesky factor L with A = L L', zeros above;
 * false when A is not positive definite. */
bool vh_cholesky(int n, double *A);
/* sum of the logs of the squared diagonal: log det A of the factored A. */
double vh_cholesky_logdet(int n, const double *L);
/* L -> the whole inverse of L L', symmetric. */
bool vh_cholesky_inverse(int n, double *L);
/* Each of m rows z of Z [m][n] -> L^-1 z. */
void vh_cholesky_solve_rows(int n, const double *L, int m, double *Z);

/* A [n][n] symmetric -> rows are eigenvectors, w [n] eigenvalues ascending; false when LAPACK gives up. */
bool vh_eigen(int n, double *A, double *w);
/* The k largest eigenvalues w [k] of A [n][n], descending, and their eigenvectors, the rows of V [k][n]; A is
 * lost.  False when LAPACK gives up or finds no memory. */
bool vh_eigen_leading(int n, double *A, int k, double *w, double *V);
/* y [m] = A [m][n] . x */
void vh_gemv(int m, int n, const double *A, const double *x, double *y);

/* The eigenvalues of any square A [n][n], which is overwritten: w [2 n], real parts and then imaginary ones;
 * false when LAPACK gives up. */
bool vh_eigenvalues(int n, double *A, double *w);
/* The largest |eigenvalue| of any square A [n][n], which is overwritten; infinity when LAPACK gives up.  work
 * [2 n]. */
double vh_spectral_radius(int n, double *A, double *work);

#endif
