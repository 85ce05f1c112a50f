/* SPDX-License-Identifier: BSD-3-Clause */
/* base_lanes.h - base HMMs in the layout of the vector backends: one in each lane, HMMs of one shape
 * together. */
#ifndef VH_SIMD_BASE_LANES_H
#define VH_SIMD_BASE_LANES_H

#include "simd/simd.h"
#include "simd/vec.h"

enum { VH_LOAD = 64 }; /* base HMMs of a load, at most: they share one product */

typedef struct {        /* neighbours of one shape */
    int first, n;       /* their places in the chunk */
    int Sb, Mb, groups; /* groups of VH_LANES; unused lanes of the last repeat its first */
    int cols;           /* Sb Mb lanes */
    const vec *pi, *A;  /* [groups][Sb] [groups][Sb][Sb] */
    const vec *c;       /* [groups][Sb][Mb] */
    const double *T;    /* [groups][Sb Mb][lane][n_stat]  mean statistics of the components */
} vh_base_lanes;

typedef struct {
    int n;
    vh_base_lanes *load; /* [n] */
    double *memory;      /* of all of them */
} vh_prepared_base;

#endif
