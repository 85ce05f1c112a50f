/* SPDX-License-Identifier: BSD-3-Clause */
/* isa.c - finds the best instruction set that this processor supports.  Compiled for the baseline. */
#include "simd/simd.h"

bool vh_usable_simd(void)
{
    return true;
}

#ifdef VH_HAVE_X86_64
#include <cpuid.h>

/* Asked of the processor itself: not every compiler brings the table that __builtin_cpu_supports() reads.
 * x86-64-v3 and -v4, for which the kernels are compiled; of v2, all that has AVX2 has. */
enum {
    OSXSAVE = 1u << 27,                  /* leaf 1, ecx: xgetbv lists the registers the system keeps */
    V3 = 1u << 12 | 1u << 22 | 1u << 29, /* there: fma, movbe, f16c */
    LZCNT = 1u << 5,                     /* leaf 0x80000001, ecx */
    AVX_STATE = 0x06,                    /* xgetbv: registers of 16 and 32 bytes */
    AVX512_STATE = 0xe6                  /* and of 64, with masks */
};
#define AVX2   (1u << 5 | 1u << 3 | 1u << 8)                          /* leaf 7, ebx: avx2, bmi1, bmi2 */
#define AVX512 (1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31) /* there: f, dq, cd, bw, vl */

static bool processor_has(unsigned features, unsigned state)
{
    unsigned a, b, c, d, kept, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & (V3 | OSXSAVE)) != (V3 | OSXSAVE))
        return false;
    if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || !(c & LZCNT))
        return false;
    __asm__ volatile("xgetbv" : "=a"(kept), "=d"(high) : "c"(0));
    return (kept & state) == state && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & features) == features;
}

bool vh_usable_avx2(void)
{
    return processor_has(AVX2, AVX_STATE);
}

/* macOS shows these registers only to a program that has used one: there it is always avx2. */
bool vh_usable_avx512(void)
{
    return processor_has(AVX2 | AVX512, AVX512_STATE);
}
#endif

static const vh_backend *const best_first[] = {
#ifdef VH_HAVE_X86_64
    &vh_backend_avx512,
    &vh_backend_avx2,
#endif
    &vh_backend_simd,
};

const vh_backend *vh_backend_cpu(void)
{
    size_t last = sizeof best_first / sizeof best_first[0] - 1, i = 0;
    while (i < last && !best_first[i]->usable()) /* the last one is always usable */
        i++;
    return best_first[i];
}
