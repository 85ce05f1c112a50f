/* limits.c - see limits.h; compiled once per instruction set. */
#include "limits.h"

#include "backend/simd/vmath.h"

typedef double lanes __attribute__((vector_size(8 * VH_LANES)));

/* Twelve chains hide the latency of a multiply-add on two units. */
static void multiply_add(int64_t n)
{
    enum { CHAINS = 12 };
    lanes a = (lanes){ 0 } + 0.999, b = (lanes){ 0 } + 1e-3, x[CHAINS];
    for (int c = 0; c < CHAINS; c++)
        x[c] = (lanes){ 0 } + c;
    for (int64_t i = 0; i < n; i += CHAINS * VH_LANES)
#pragma GCC unroll 12
        for (int c = 0; c < CHAINS; c++)
            x[c] = x[c] * a + b;
    for (int c = 1; c < CHAINS; c++)
        x[0] += x[c];
    volatile double keep = x[0][0];
    (void)keep;
}

static void exps(int64_t n, const double *restrict x, double *restrict y)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = exp(x[i]);
}

static void logs(int64_t n, const double *restrict x, double *restrict y)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = log(x[i]);
}

const bench_isa VH_NAME(bench_isa) = { VH_TEXT(VH_ISA), VH_LANES, multiply_add, exps, logs, VH_NAME(vh_lanes_forward),
                                       VH_NAME(vh_lanes_backward) };
