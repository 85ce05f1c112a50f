/* SPDX-License-Identifier: BSD-3-Clause */
/* isa.c - finds the best instruction set that this processor supports.  Compiled for the baseline. */
#include "simd/simd.h"

bool vh_usable_simd(void)
{
    return true;
}

#ifdef VH_HAVE_X86_64
bool vh_usable_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}

bool vh_usable_avx512(void)
{
    return vh_usable_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")
           && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")
           && __builtin_cpu_supports("avx512cd");
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
