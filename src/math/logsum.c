/* SPDX-License-Identifier: BSD-3-Clause */
/* logsum.c - see logsum.h. */
#include "math/logsum.h"

#include "core/array2.h"

#include <math.h>
#include <stddef.h>

double vh_logsum(int64_t n, const double *x, int stride)
{
    double top = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++)
        top = fmax(top, x[i * stride]);
    if (isinf(top)) /* all -inf; or one is +inf, and so is the sum */
        return top;
    for (int64_t i = 0; i < n; i++)
        sum += exp(x[i * stride] - top);
    return top + log(sum);
}

/* Subtracts the largest first: the differences keep their digits when all are large. */
double vh_log_softmax(int64_t n, double *x)
{
    double top = -INFINITY, sum = 0;
    for (int64_t j = 0; j < n; j++)
        top = fmax(top, x[j]);
    for (int64_t j = 0; j < n; j++)
        sum += (x[j] -= top) < -746 ? 0 : exp(x[j]); /* NaN propagates */
    sum = log(sum);
    for (int64_t j = 0; j < n; j++)
        x[j] -= sum;
    return top + sum;
}

int vh_argmax(int n, const double *x, int stride)
{
    int best = 0;
    for (int i = 1; i < n; i++)
        if (x[vh_row(i, stride)] > x[vh_row(best, stride)])
            best = i;
    return best;
}

int vh_normalise(int64_t n, double *p)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += p[i];
    if (!(sum > 0) || isinf(sum))
        return 0;
    for (int64_t i = 0; i < n; i++)
        p[i] /= sum;
    return 1;
}

/* The free entries share the probability that the fixed entries leave, in proportion to their weight: the
 * stationary point of the likelihood with a Lagrange multiplier for the sum. */
void vh_constrain(int n, const double *fixed, const double *old, double *p)
{
    double share = 1, sum = 0;
    for (int q = 0; q < n; q++)
        if (!fixed || isnan(fixed[q]))
            sum += p[q];
        else
            share -= fixed[q];
    int usable = sum > 1e-300 && isfinite(sum);
    for (int q = 0; q < n; q++)
        if (fixed && !isnan(fixed[q]))
            p[q] = fixed[q];
        else
            p[q] = usable ? share * (p[q] / sum) : old[q];
}
