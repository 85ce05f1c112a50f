/* SPDX-License-Identifier: BSD-3-Clause */
/* scaled.c - see scaled.h. */
#include "math/scaled.h"

#include <math.h>

enum { BITS = 256 };
#define LN_2 0.69314718055994530942

double vh_scale_of(double log_x)
{
    return log_x < VH_NOTHING ? VH_NO_SCALE : floor(log_x / (BITS * LN_2) + 0.5);
}

double vh_at_scale(double log_x, double scale)
{
    double at = log_x - scale * (BITS * LN_2);
    double x = at < -231 || log_x < VH_NOTHING ? 0 : exp(at); /* most underflow: skip exp */
    return x > VH_NO_SHARE ? x : 0;
}

double vh_scale_change(double from, double to)
{
    double steps = from - to; /* -4: 2^-1024 is below every normal number */
    return steps >= 0 ? 1 : steps > -4 ? ldexp(1, BITS * (int)steps) : 0;
}

void vh_scaled_merge(double *sum, double *scale, double x, double x_scale)
{
    double to = fmax(*scale, x_scale);
    *sum = *sum * vh_scale_change(*scale, to) + x * vh_scale_change(x_scale, to);
    *scale = to;
}

void vh_scaled_add(double *sum, double *scale, double log_x)
{
    double own = vh_scale_of(log_x);
    if (own > *scale) {
        *sum *= vh_scale_change(*scale, own);
        *scale = own;
    }
    *sum += vh_at_scale(log_x, *scale);
}

double vh_scaled_log(double sum, double scale)
{
    return scale > VH_NO_SCALE ? log(sum) + scale * (BITS * LN_2) : log(sum);
}

double vh_scaled_value(double sum, double scale)
{
    return scale < -8 ? 0 : ldexp(sum, BITS * (int)fmin(scale, 8)); /* beyond either end no double holds it */
}
