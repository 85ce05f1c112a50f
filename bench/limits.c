/* limits.c - see limits.h; compiled once per instruction set. */
#include "limits.h"

#include "backend/simd/vec.h"

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

const bench_isa VH_NAME(bench_isa) = { VH_TEXT(VH_ISA), VH_LANES, multiply_add, exps, logs,
                                       VH_NAME(vh_lanes_forward), VH_NAME(vh_lanes_backward) };
