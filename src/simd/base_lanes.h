/* SPDX-License-Identifier: BSD-3-Clause */
/* base_lanes.h - base HMMs in the layout of the vector backends: one per lane, grouped by shape. */
#ifndef VH_SIMD_BASE_LANES_H
#define VH_SIMD_BASE_LANES_H

#include "simd/simd.h"
#include "simd/vec.h"

enum { VH_LOAD = 64 }; /* maximum number of base HMMs per load; they share one matrix product */

typedef struct {        /* consecutive HMMs of the same shape */
    int first, n;       /* range of indices in the chunk */
    int Sb, Mb, groups; /* groups of VH_LANES; unused lanes of the last group repeat its first HMM */
    int cols;           /* Sb Mb lanes */
    const vec *pi, *A;  /* [groups][Sb] [groups][Sb][Sb] */
    const vec *c;       /* [groups][Sb][Mb] */
    const double *T;    /* [groups][Sb Mb][lane][n_stat]  mean statistics of the components */
} vh_base_lanes;

typedef struct {
    int n;
    vh_base_lanes *load; /* [n] */
    double *memory;      /* storage of all loads */
} vh_prepared_base;

#endif
