/* SPDX-License-Identifier: BSD-3-Clause */
/* student.h - the distribution of Student's t, central and noncentral, and its kin. */
#ifndef VH_MATH_STUDENT_H
#define VH_MATH_STUDENT_H

/* I_x(a, b), the regularised incomplete beta function; a, b > 0, 0 <= x <= 1. */
double vh_incomplete_beta(double a, double b, double x);

/* The probability of a value at least as far from 0 as t, with so many degrees of freedom. */
double vh_student_two_sided(double t, double freedom);

/* The probability of a value of at most t of the noncentral distribution, where the mean of the normal
 * variable above is delta; absolute error below 1e-9 for freedom >= 1. */
double vh_student_noncentral(double t, double freedom, double delta);

/* Their inverses: the t >= 0 with this probability p, 0 < p < 1, and the x with I_x(a, b) = p. */
double vh_student_beyond(double p, double freedom);
double vh_beta_quantile(double a, double b, double p);

/* P(a, x), the regularised incomplete gamma function, a > 0, x >= 0, and the x with P(a, x) = p. */
double vh_incomplete_gamma(double a, double x);
double vh_gamma_quantile(double a, double p);

#endif
