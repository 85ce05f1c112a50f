/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h - what one core can do at best, in seconds: measured with code compiled as the backends are.  Each
 * function exists once per instruction set, with its name behind it. */
#ifndef BENCH_LIMITS_H
#define BENCH_LIMITS_H

#include "simd/lanes.h"

typedef struct {
    const char *isa;
    int lanes;
    void (*multiply_add)(int64_t n); /* n multiply-adds of doubles, nothing else */
    void (*exps)(int64_t n, const double *x, double *y);
    void (*logs)(int64_t n, const double *x, double *y);
    /* Products of Gaussians with diagonal covariances: four, a [4][d][2] (mean, variance), against count
     * vectors of others, b [count][d][2][lanes]; y [count][4][lanes]. */
    void (*gaussians)(int count, int d, const double *a, const double *b, double *y);
    void (*forward)(int L, vh_lanes *g);
    void (*backward)(int L, vh_lanes *g);
} bench_isa;

extern const bench_isa bench_isa_simd, bench_isa_avx2, bench_isa_avx512;

#endif
