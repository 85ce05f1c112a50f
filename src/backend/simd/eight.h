/* eight.h - eight doubles that are added and multiplied together; the compiler splits them to fit its registers. */
#ifndef VH_BACKEND_SIMD_EIGHT_H
#define VH_BACKEND_SIMD_EIGHT_H

enum { VH_LANES = 8 };

typedef double    eight __attribute__((vector_size(8 * VH_LANES), may_alias));
typedef long long eight_mask __attribute__((vector_size(8 * VH_LANES), may_alias));

static inline eight eight_max(eight a, eight b)
{
    eight_mask m = a > b;
    return (eight)((m & (eight_mask)a) | (~m & (eight_mask)b));
}
static inline eight eight_min(eight a, eight b)
{
    eight_mask m = a < b;
    return (eight)((m & (eight_mask)a) | (~m & (eight_mask)b));
}
static inline eight eight_all(double x)
{
    return (eight){ 0 } + x;
}

#endif
