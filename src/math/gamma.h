/* SPDX-License-Identifier: BSD-3-Clause */
/* gamma.h - the gamma function and relatives, for conjugate priors and counts. */
#ifndef VH_MATH_GAMMA_H
#define VH_MATH_GAMMA_H

/* log Gamma(x), x > 0; thread-safe, unlike lgamma. */
double vh_lgamma(double x);
/* psi(x) = d log Gamma(x) / dx, x > 0. */
double vh_digamma(double x);
/* psi'(x), x > 0. */
double vh_trigamma(double x);

/* sum_{k = 1..d} of the above at (nu + 1 - k) / 2, nu > d - 1: for Wishart distributions of dimension d. */
double vh_lgamma_wishart(int d, double nu);
double vh_digamma_wishart(int d, double nu);

/* KL divergence, in nats, of Dir(a) from Dir(a0), and of the gamma distribution with shape a and rate b from
 * that with a0 and b0; all parameters > 0. */
double vh_kl_dirichlet(int n, const double *a, const double *a0);
double vh_kl_gamma(double a, double b, double a0, double b0);

#endif
