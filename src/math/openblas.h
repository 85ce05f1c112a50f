/* SPDX-License-Identifier: BSD-3-Clause */
/* openblas.h - the functions of BLAS, LAPACKE and OpenBLAS by their own names.  The build of OpenBLAS that
 * wheels carry puts a prefix before all of them, BLAS_SYMBOL_PREFIX, so that it can stand beside another BLAS
 * in one process. */
#ifndef VH_MATH_OPENBLAS_H
#define VH_MATH_OPENBLAS_H

#include <cblas.h>
#include <lapacke.h>

#ifdef BLAS_SYMBOL_PREFIX
#define VH_BLAS_JOIN(prefix, name) prefix##name
#define VH_BLAS_NAME(prefix, name) VH_BLAS_JOIN(prefix, name)
#define VH_BLAS(name)              VH_BLAS_NAME(BLAS_SYMBOL_PREFIX, name)
#define cblas_dgemm                VH_BLAS(cblas_dgemm)
#define cblas_dgemv                VH_BLAS(cblas_dgemv)
#define cblas_dtrsm                VH_BLAS(cblas_dtrsm)
#define LAPACKE_dgeev              VH_BLAS(LAPACKE_dgeev)
#define LAPACKE_dgeev_work         VH_BLAS(LAPACKE_dgeev_work)
#define LAPACKE_dgesv_work         VH_BLAS(LAPACKE_dgesv_work)
#define LAPACKE_dpotrf_work        VH_BLAS(LAPACKE_dpotrf_work)
#define LAPACKE_dpotri_work        VH_BLAS(LAPACKE_dpotri_work)
#define LAPACKE_dsyevd             VH_BLAS(LAPACKE_dsyevd)
#define LAPACKE_dsyevd_work        VH_BLAS(LAPACKE_dsyevd_work)
#define LAPACKE_dsyevr             VH_BLAS(LAPACKE_dsyevr)
#define openblas_get_corename      VH_BLAS(openblas_get_corename)
#define openblas_get_num_threads   VH_BLAS(openblas_get_num_threads)
#define openblas_set_num_threads   VH_BLAS(openblas_set_num_threads)
#endif

#endif
