/* SPDX-License-Identifier: BSD-3-Clause */
/* bessel.c - see bessel.h.  Up to SERIES the power series, whose terms are all positive; above it the
 * asymptotic series, whose terms become negligible before they grow. */
#include "math/bessel.h"

#include "math/logsum.h"

#include <math.h>

#define SERIES 50.0

/* I_nu(x) as a power series, without the factor (x/2)^nu. */
static double power_series(double x, int nu)
{
    double q = x * x / 4, term = 1, sum = 1;
    for (int k = 1; term > 1e-18 * sum; k++)
        sum += term *= q / ((double)k * (k + nu));
    return sum;
}

/* I_nu(x) exp(-x) sqrt(2 pi x). */
static double asymptotic_series(double x, int nu)
{
    double term = 1, sum = 1;
    for (int k = 1; k < 30 && fabs(term) > 1e-18; k++)
        sum += term *= ((2.0 * k - 1) * (2.0 * k - 1) - 4.0 * nu * nu) / (8.0 * k * x);
    return sum;
}

double vh_log_bessel0(double x)
{
    if (x <= SERIES)
        return log(power_series(x, 0)) - x;
    return log(asymptotic_series(x, 0)) - 0.5 * log(2 * VH_PI * x);
}

double vh_bessel_ratio(double x)
{
    if (x <= SERIES)
        return x / 2 * power_series(x, 1) / power_series(x, 0);
    return asymptotic_series(x, 1) / asymptotic_series(x, 0);
}
