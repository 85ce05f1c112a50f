/* SPDX-License-Identifier: BSD-3-Clause */
/* numbers.cuh - exp and log for the recursions, and arrays in registers or in memory.
 *
 * exp on [-700, 0] and log of normal numbers only, with the polynomials of simd/vec.h: no special cases, so
 * no warp divergence.  Both are within 2 ulp. */
#ifndef VH_CUDA_NUMBERS_CUH
#define VH_CUDA_NUMBERS_CUH

#include <cuda_runtime.h>
#include <math.h>

/* 2^52 + 2^51: adding it rounds to an integer and leaves that integer in the low bits. */
#define ROUND 6755399441055744.0

/* Upper half of a double: grows with x > 0, and with |x| for x < 0, so comparisons need no FP64 unit. */
static __device__ __forceinline__ unsigned upper_half(double x)
{
    return (unsigned)__double2hiint(x);
}

#define MINUS_700 0xc085e000u /* upper half of -700 */

/* exp(x) for x <= 700; x < -700 counts as -700. */
static __device__ __forceinline__ double fast_exp(double x)
{
    x = __hiloint2double((int)min(upper_half(x), MINUS_700), __double2loint(x));
    double t = fma(x, 1.4426950408889634, ROUND), n = t - ROUND;
    double r = fma(n, -6.93147180369123816490e-01, x);
    r = fma(n, -1.90821492927058770002e-10, r);
    double p = fma(2.5110049204818658e-08, r, 2.763265472252779e-07);
    p = fma(p, r, 2.755724088722987e-06);
    p = fma(p, r, 2.4801485441561313e-05);
    p = fma(p, r, 1.9841269890076403e-04);
    p = fma(p, r, 1.3888888952352863e-03);
    p = fma(p, r, 8.333333333319589e-03);
    p = fma(p, r, 4.166666666648795e-02);
    p = fma(p, r, 0.1666666666666668);
    p = fma(p, r, 0.5000000000000019);
    p = fma(p, r, 1.0);
    p = fma(p, r, 1.0);
    return __hiloint2double(__double2hiint(p) + (int)((unsigned)__double2loint(t) << 20), __double2loint(p));
}

/* The same, but 0 for x < -700: zero weights stay zero. */
static __device__ __forceinline__ double fast_exp_or_0(double x)
{
    return x > -700.0 ? fast_exp(x) : 0;
}

#ifdef __CUDA_ARCH__
/* 1 / x for normal x: 20 bits from the special-function unit, then two Newton steps. */
static __device__ __forceinline__ double fast_reciprocal(double x)
{
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    y = fma(y, fma(-x, y, 1.0), y);
    return fma(y, fma(-x, y, 1.0), y);
}
#else
static __device__ __forceinline__ double fast_reciprocal(double x)
{
    return 1 / x;
}
#endif

/* log(x) for normal x > 0; about -709 for 0. */
static __device__ __forceinline__ double fast_log(double x)
{
    unsigned high = (unsigned)__double2hiint(x), e = (high - 0x3fe6a09eu + 0x3ff00000u) >> 20;
    double m = __hiloint2double((int)(high - (e << 20) + 0x3ff00000u), __double2loint(x));
    double k = __hiloint2double(0x43380000, (int)e) - (ROUND + 1023);
    double f = m - 1, s = f * fast_reciprocal(f + 2), z = s * s;
    double p = fma(0.14616585424934123, z, 0.1533171061820642);
    p = fma(p, z, 0.18182889455675105);
    p = fma(p, z, 0.22222211130259875);
    p = fma(p, z, 0.2857142862600327);
    p = fma(p, z, 0.39999999999899444);
    p = fma(p, z, 0.666666666666667);
    double low = fma(k, 1.90821492927058770002e-10, s * z * p);
    return fma(k, 6.93147180369123816490e-01, fma(2.0, s, low));
}

/* Numbers of a thread in registers, provided every index is a compile-time constant. */
template <int N> struct held {
    double x[N];
    __device__ __forceinline__ double &operator[](int k)
    {
        return x[k];
    }
    __device__ __forceinline__ double operator[](int k) const
    {
        return x[k];
    }
};

/* Numbers of a thread in memory, interleaved with those of neighbouring threads. */
struct strided {
    double *x;
    size_t by;
    __device__ __forceinline__ double &operator[](int k) const
    {
        return x[(size_t)k * by];
    }
    __device__ __forceinline__ strided from(size_t k) const
    {
        return strided{ x + k * by, by };
    }
};

#endif
