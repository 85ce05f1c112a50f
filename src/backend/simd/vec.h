/* vec.h - a register of doubles.  VH_LANES, how many it holds, comes with the instruction set (src/CMakeLists.txt). */
#ifndef VH_BACKEND_SIMD_VEC_H
#define VH_BACKEND_SIMD_VEC_H

typedef double    vec __attribute__((vector_size(8 * VH_LANES), may_alias));
typedef long long vec_mask __attribute__((vector_size(8 * VH_LANES), may_alias));

static inline vec vec_max(vec a, vec b)
{
    vec_mask m = a > b;
    return (vec)((m & (vec_mask)a) | (~m & (vec_mask)b));
}
static inline vec vec_min(vec a, vec b)
{
    vec_mask m = a < b;
    return (vec)((m & (vec_mask)a) | (~m & (vec_mask)b));
}
static inline vec vec_all(double x)
{
    return (vec){ 0 } + x;
}

#endif
