/* SPDX-License-Identifier: BSD-3-Clause */
/* gamma.c - see gamma.h. */
#include "math/gamma.h"

#include "os/system.h"

#include <math.h>

#define HALF_LOG_2PI 0.91893853320467274178

/* For x >= 10 Stirling's series: six terms give full precision, faster than the C library.  Variational Bayes
 * needs one per entry of A. */
double vh_lgamma(double x)
{
    if (!(x >= 10 && x < 1e15))
        return vh_log_gamma(x);
    double y = 1 / (x * x);
    double series =
        (1.0 / 12
         - y * (1.0 / 360 - y * (1.0 / 1260 - y * (1.0 / 1680 - y * (1.0 / 1188 - y * 691.0 / 360360)))))
        / x;
    return (x - 0.5) * log(x) - x + HALF_LOG_2PI + series;
}

/* psi(x) = psi(x + 1) - 1/x raises x to 10, where six terms of the asymptotic series log x - 1/2x - sum B_2n
 * / 2n x^2n give full precision. */
double vh_digamma(double x)
{
    double sum = 0;
    while (x < 10) {
        sum -= 1 / x;
        x += 1;
    }
    double y = 1 / (x * x);
    double series =
        y
        * (1.0 / 12
           - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y * (1.0 / 132 - y * 691.0 / 32760)))));
    return sum + log(x) - 0.5 / x - series;
}

/* psi'(x) = psi'(x + 1) + 1/x^2, and the derivative of the series above. */
double vh_trigamma(double x)
{
    double sum = 0;
    while (x < 10) {
        sum += 1 / (x * x);
        x += 1;
    }
    double y = 1 / (x * x);
    double series =
        y * (1.0 / 6 - y * (1.0 / 30 - y * (1.0 / 42 - y * (1.0 / 30 - y * (5.0 / 66 - y * 691.0 / 2730)))));
    return sum + (1 + 0.5 / x + series) / x;
}

double vh_lgamma_wishart(int d, double nu)
{
    double sum = 0;
    for (int k = 1; k <= d; k++)
        sum += vh_lgamma((nu + 1 - k) / 2);
    return sum;
}

double vh_digamma_wishart(int d, double nu)
{
    double sum = 0;
    for (int k = 1; k <= d; k++)
        sum += vh_digamma((nu + 1 - k) / 2);
    return sum;
}

double vh_kl_dirichlet(int n, const double *a, const double *a0)
{
    double sum = 0, sum0 = 0, kl = 0;
    for (int k = 0; k < n; k++) {
        sum += a[k];
        sum0 += a0[k];
    }
    double psi = vh_digamma(sum);
    for (int k = 0; k < n; k++)
        kl += (a[k] - a0[k]) * (vh_digamma(a[k]) - psi) - vh_lgamma(a[k]) + vh_lgamma(a0[k]);
    return n > 1 ? kl + vh_lgamma(sum) - vh_lgamma(sum0) : 0;
}

double vh_kl_gamma(double a, double b, double a0, double b0)
{
    return (a - a0) * vh_digamma(a) - vh_lgamma(a) + vh_lgamma(a0) + a0 * log(b / b0) + a * (b0 - b) / b;
}
