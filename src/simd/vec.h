/* SPDX-License-Identifier: BSD-3-Clause */
/* vec.h - a register of doubles with fast exp and log.  VH_LANES, the number of doubles it holds, depends on
 * the instruction set (src/CMakeLists.txt).
 *
 * The C library's vector functions handle every double; the recursions only need exp on [-700, 0] and log of
 * normal numbers.  Inlining also avoids calls and memory traffic: about twice as fast, both within 2 ulp. */
#ifndef VH_SIMD_VEC_H
#define VH_SIMD_VEC_H

#include <stdbool.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

typedef double vec __attribute__((vector_size(8 * VH_LANES), may_alias));
typedef unsigned long long vec_bits __attribute__((vector_size(8 * VH_LANES), may_alias));

/* Number of exps or logs evaluated together: as many as registers allow. */
#if VH_LANES == 8 || defined(__aarch64__)
enum { VEC_TOGETHER = 4 };
#else
enum { VEC_TOGETHER = 2 };
#endif
#define VEC_UNROLL _Pragma("GCC unroll 16")

#define VEC_INLINE static inline __attribute__((always_inline))

VEC_INLINE
vec vec_all(double x)
{
    return (vec){ 0 } + x;
}
/* One instruction where the register is native; the compiler needs three for the portable form. */
#if defined(__AVX512F__) && VH_LANES == 8
#define vec_max(a, b) ((vec)_mm512_max_pd((__m512d)(a), (__m512d)(b)))
#define vec_min(a, b) ((vec)_mm512_min_pd((__m512d)(a), (__m512d)(b)))
#elif defined(__AVX__) && VH_LANES == 4
#define vec_max(a, b) ((vec)_mm256_max_pd((__m256d)(a), (__m256d)(b)))
#define vec_min(a, b) ((vec)_mm256_min_pd((__m256d)(a), (__m256d)(b)))
#elif defined(__SSE2__) && VH_LANES == 2
#define vec_max(a, b) ((vec)_mm_max_pd((__m128d)(a), (__m128d)(b)))
#define vec_min(a, b) ((vec)_mm_min_pd((__m128d)(a), (__m128d)(b)))
#else
VEC_INLINE
vec vec_max(vec a, vec b)
{
    vec_bits m = (vec_bits)(a > b);
    return (vec)((m & (vec_bits)a) | (~m & (vec_bits)b));
}
VEC_INLINE
vec vec_min(vec a, vec b)
{
    vec_bits m = (vec_bits)(a < b);
    return (vec)((m & (vec_bits)a) | (~m & (vec_bits)b));
}
#endif

/* Transposes x, as many registers as a register has numbers. */
VEC_INLINE
void vec_transpose(vec *x)
{
#if defined(__AVX512F__) && VH_LANES == 8
    __m512d a[8], b[8];
    VEC_UNROLL
    for (int i = 0; i < 8; i += 2) {
        a[i] = _mm512_unpacklo_pd((__m512d)x[i], (__m512d)x[i + 1]);
        a[i + 1] = _mm512_unpackhi_pd((__m512d)x[i], (__m512d)x[i + 1]);
    }
    VEC_UNROLL
    for (int i = 0; i < 4; i++) { /* columns i and i + 4 of rows 0 to 3 and 4 to 7 */
        int from = i % 2;
        b[i] = i < 2 ? _mm512_shuffle_f64x2(a[from], a[from + 2], 0x88)
                     : _mm512_shuffle_f64x2(a[from], a[from + 2], 0xdd);
        b[i + 4] = i < 2 ? _mm512_shuffle_f64x2(a[from + 4], a[from + 6], 0x88)
                         : _mm512_shuffle_f64x2(a[from + 4], a[from + 6], 0xdd);
    }
    VEC_UNROLL
    for (int i = 0; i < 4; i++) {
        x[i] = (vec)_mm512_shuffle_f64x2(b[i], b[i + 4], 0x88);
        x[i + 4] = (vec)_mm512_shuffle_f64x2(b[i], b[i + 4], 0xdd);
    }
#elif defined(__AVX__) && VH_LANES == 4
    __m256d a[4];
    VEC_UNROLL
    for (int i = 0; i < 4; i += 2) {
        a[i] = _mm256_unpacklo_pd((__m256d)x[i], (__m256d)x[i + 1]);
        a[i + 1] = _mm256_unpackhi_pd((__m256d)x[i], (__m256d)x[i + 1]);
    }
    VEC_UNROLL
    for (int i = 0; i < 2; i++) {
        x[i] = (vec)_mm256_permute2f128_pd(a[i], a[i + 2], 0x20);
        x[i + 2] = (vec)_mm256_permute2f128_pd(a[i], a[i + 2], 0x31);
    }
#else
    for (int i = 0; i < VH_LANES; i++)
        for (int l = 0; l < i; l++) {
            double swap = x[i][l];
            x[i][l] = x[l][i];
            x[l][i] = swap;
        }
#endif
}

/* Set how this thread treats subnormal results: flush them to 0, or keep them.  Both return the previous
 * mode, for vec_mode_back.  No effect except on x86: ARM would also flush subnormal operands, which the
 * recursions do not allow for. */
#ifdef __SSE2__
VEC_INLINE
unsigned vec_flush_to_0(void)
{
    unsigned mode = _mm_getcsr();
    _mm_setcsr(mode | _MM_FLUSH_ZERO_ON);
    return mode;
}
VEC_INLINE
unsigned vec_keep_small(void)
{
    unsigned mode = _mm_getcsr();
    _mm_setcsr(mode & ~(unsigned)_MM_FLUSH_ZERO_ON);
    return mode;
}
VEC_INLINE
void vec_mode_back(unsigned mode)
{
    _mm_setcsr(mode);
}
#else
VEC_INLINE
unsigned vec_flush_to_0(void)
{
    return 0;
}
VEC_INLINE
unsigned vec_keep_small(void)
{
    return 0;
}
VEC_INLINE
void vec_mode_back(unsigned mode)
{
    (void)mode;
}
#endif

static inline void vec_mode_end(const unsigned *mode) /* for VH_CLEANUP */
{
    vec_mode_back(*mode);
}

/* 2^52 + 2^51: adding it rounds to an integer and leaves that integer in the low bits. */
#define VEC_ROUND 6755399441055744.0

/* For n of x [n], exp(x) = 2^k p: t := k + VEC_ROUND, and p := exp(x - k ln 2) with k the nearest to
 * x / ln 2, a polynomial of degree 11 (error 1e-17).  wide: any x; NaN gives NaN, and p is near 1 even where
 * x has no digits left for it.  Evaluating several polynomials together hides the latency of each.  n is a
 * compile-time constant, at most VEC_TOGETHER. */
VEC_INLINE
void vec_exp_parts(const int n, const bool wide, const vec *x, vec *t, vec *p)
{
    static const double c[] = { 2.763265472252779e-07,
                                2.755724088722987e-06,
                                2.4801485441561313e-05,
                                1.9841269890076403e-04,
                                1.3888888952352863e-03,
                                8.333333333319589e-03,
                                4.166666666648795e-02,
                                0.1666666666666668,
                                0.5000000000000019,
                                1,
                                1 };
    vec r[VEC_TOGETHER];
    VEC_UNROLL
    for (int i = 0; i < n; i++) {
        t[i] = x[i] * 1.4426950408889634 + VEC_ROUND;
        vec k = t[i] - VEC_ROUND;
        r[i] = x[i] - k * 6.93147180369123816490e-01; /* ln 2 in two parts; k times the first is exact */
        r[i] = r[i] - k * 1.90821492927058770002e-10;
        if (wide) /* in this order NaN stays */
            r[i] = vec_min(vec_all(0.5), vec_max(vec_all(-0.5), r[i]));
        p[i] = vec_all(2.5110049204818658e-08);
    }
    VEC_UNROLL
    for (int k = 0; k < 11; k++) {
        VEC_UNROLL
        for (int i = 0; i < n; i++)
            p[i] = p[i] * r[i] + c[k];
    }
}

/* x [n] := exp(x) for x <= 700.  x < -700 counts as -700; with or_0, it and NaN give 0. */
VEC_INLINE
void vec_exp_some(const int n, const bool or_0, vec *x)
{
    vec y[VEC_TOGETHER], t[VEC_TOGETHER], p[VEC_TOGETHER];
    VEC_UNROLL
    for (int i = 0; i < n; i++)
        y[i] = or_0 ? x[i] : vec_max(x[i], vec_all(-700.0)); /* results for smaller x are discarded */
    vec_exp_parts(n, false, y, t, p);
    VEC_UNROLL
    for (int i = 0; i < n; i++) {
        vec_bits e = (vec_bits)p[i] + ((vec_bits)t[i] << 52);
        if (or_0)
            e &= (vec_bits)(x[i] > -700.0);
        x[i] = (vec)e;
    }
}

VEC_INLINE
void vec_exp_each(const int n, vec *x)
{
    vec_exp_some(n, false, x);
}

VEC_INLINE
vec vec_exp(vec x)
{
    vec_exp_each(1, &x);
    return x;
}

/* exp(x), but 0 for x < -700: zero weights stay zero. */
VEC_INLINE
vec vec_exp_or_0(vec x)
{
    vec_exp_some(1, true, &x);
    return x;
}

/* The same for any n. */
VEC_INLINE
void vec_exp_or_0_all(const int n, vec *x)
{
    int i = 0;
    VEC_UNROLL
    for (; i + VEC_TOGETHER <= n; i += VEC_TOGETHER)
        vec_exp_some(VEC_TOGETHER, true, x + i);
    VEC_UNROLL
    for (; i < n; i++)
        vec_exp_some(1, true, x + i);
}

/* x [n] := log(x) for normal x > 0, several together as above.  x = 2^e m with m in [sqrt 1/2, sqrt 2); with
 * s = (m - 1) / (m + 1), log m = 2 s + s^3 P(s^2), P of degree 6 (error 1e-17). */
VEC_INLINE
void vec_log_each(const int n, vec *x)
{
    static const double c[] = { 0.1533171061820642, 0.18182889455675105, 0.22222211130259875,
                                0.2857142862600327, 0.39999999999899444, 0.666666666666667 };
    /* bits of sqrt 1/2 and of 1 */
    const unsigned long long half_root = 0x3fe6a09e667f3bcd, one = 0x3ff0000000000000;
    vec k[VEC_TOGETHER], s[VEC_TOGETHER], z[VEC_TOGETHER], p[VEC_TOGETHER];
    VEC_UNROLL
    for (int i = 0; i < n; i++) {
        vec_bits bits = (vec_bits)x[i], e = (bits - half_root + one) >> 52; /* e + 1023 */
        vec f = (vec)(bits - (e << 52) + one) - 1;
        /* e as a double; the constant holds the bits of VEC_ROUND */
        k[i] = (vec)(e + 0x4338000000000000) - (VEC_ROUND + 1023);
        s[i] = f / (f + 2);
        p[i] = vec_all(0.14616585424934123);
    }
    VEC_UNROLL
    for (int i = 0; i < n; i++)
        z[i] = s[i] * s[i];
    VEC_UNROLL
    for (int j = 0; j < 6; j++) {
        VEC_UNROLL
        for (int i = 0; i < n; i++)
            p[i] = p[i] * z[i] + c[j];
    }
    VEC_UNROLL
    for (int i = 0; i < n; i++) {
        vec low = k[i] * 1.90821492927058770002e-10 + s[i] * z[i] * p[i];
        x[i] = k[i] * 6.93147180369123816490e-01 + (2 * s[i] + low);
    }
}

VEC_INLINE
vec vec_log(vec x)
{
    vec_log_each(1, &x);
    return x;
}

/* The same for any n. */
VEC_INLINE
void vec_log_all(const int n, vec *x)
{
    int i = 0;
    VEC_UNROLL
    for (; i + VEC_TOGETHER <= n; i += VEC_TOGETHER)
        vec_log_each(VEC_TOGETHER, x + i);
    VEC_UNROLL
    for (; i < n; i++)
        vec_log_each(1, x + i);
}

#endif
