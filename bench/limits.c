/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.c - see limits.h; compiled once per instruction set. */
#include "limits.h"

#include "simd/vec.h"

/* Twelve chains hide the latency of a multiply-add on two units. */
static void multiply_add(int64_t n)
{
    enum { CHAINS = 12 };
    vec a = vec_all(0.999), b = vec_all(1e-3), x[CHAINS];
    for (int c = 0; c < CHAINS; c++)
        x[c] = vec_all(c);
    for (int64_t i = 0; i < n; i += CHAINS * VH_LANES)
#pragma GCC unroll 12
        for (int c = 0; c < CHAINS; c++)
            x[c] = x[c] * a + b;
    for (int c = 1; c < CHAINS; c++)
        x[0] += x[c];
    volatile double keep = x[0][0];
    (void)keep;
}

/* n is a multiple of the lanes, the arrays are aligned. */
static void exps(int64_t n, const double *x, double *y)
{
    for (int64_t i = 0; i < n / VH_LANES; i++)
        ((vec *)y)[i] = vec_exp(((const vec *)x)[i]);
}

static void logs(int64_t n, const double *x, double *y)
{
    for (int64_t i = 0; i < n / VH_LANES; i++)
        ((vec *)y)[i] = vec_log(((const vec *)x)[i]);
}

/* Four components against one after another of `count`, all in the first cache; the sum of fractions is kept
 * as one, six operations a dimension, and one division a pair ends it. */
static void gaussians(int count, int d, const double *a, const double *b, double *y)
{
    enum { ROWS = 4 };
    const vec *x = (const vec *)b;
    for (int q = 0; q < count; q++, x += 2 * d) {
        vec num[ROWS], den[ROWS];
        for (int r = 0; r < ROWS; r++) {
            num[r] = vec_all(0);
            den[r] = vec_all(1);
        }
        for (int k = 0; k < d; k++)
#pragma GCC unroll 4
            for (int r = 0; r < ROWS; r++) {
                vec u = x[2 * k] - a[2 * (r * d + k)], v = x[2 * k + 1] + a[2 * (r * d + k) + 1];
                num[r] = num[r] * v + (u * den[r]) * u;
                den[r] *= v;
            }
        for (int r = 0; r < ROWS; r++)
            ((vec *)y)[q * ROWS + r] = num[r] / den[r];
    }
}

const bench_isa VH_NAME(bench_isa) = {
    VH_TEXT(VH_ISA),           VH_LANES, multiply_add, exps, logs, gaussians, VH_NAME(vh_lanes_forward),
    VH_NAME(vh_lanes_backward)
};
