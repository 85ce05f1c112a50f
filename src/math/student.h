/* SPDX-License-Identifier: BSD-3-Clause */
/* student.h - the central and noncentral Student t distributions and related functions. */
#ifndef VH_MATH_STUDENT_H
#define VH_MATH_STUDENT_H

#include "core/ctx.h"

/* I_x(a, b), the regularised incomplete beta function; a, b > 0, 0 <= x <= 1. */
double vh_incomplete_beta(double a, double b, double x);

/* P(|T| >= |t|) with this many degrees of freedom. */
double vh_student_two_sided(double t, double freedom);

typedef struct { /* noncentral t distributions with this many degrees of freedom, at t */
    double t, freedom;
    int n; /* nodes s = lo + i step, i = 0 .. n */
    double lo, step;
    double *weight; /* [n+1]  NULL: t is so large that another rule is better */
} vh_noncentral;
vhem_status vh_noncentral_new(vhem_ctx *ctx, double t, double freedom, vh_noncentral *out);
void vh_noncentral_free(vh_noncentral *x);
/* P(T <= t) with noncentrality delta; absolute error below 1e-9 for freedom >= 1. */
double vh_noncentral_below(const vh_noncentral *x, double delta);
/* The delta for which that is p, 0 < p < 1. */
double vh_noncentral_delta(const vh_noncentral *x, double p);

/* Inverses: the t >= 0 with two-sided probability p, 0 < p < 1, and the x with I_x(a, b) = p. */
double vh_student_beyond(double p, double freedom);
double vh_beta_quantile(double a, double b, double p);

/* P(a, x), the regularised incomplete gamma function, a > 0, x >= 0, and the x with P(a, x) = p. */
double vh_incomplete_gamma(double a, double x);
double vh_gamma_quantile(double a, double p);

#endif
