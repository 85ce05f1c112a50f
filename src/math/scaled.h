/* SPDX-License-Identifier: BSD-3-Clause */
/* scaled.h - sums of weights of any magnitude.  A cluster whose best member has a share of e^-5000 still has
 * a mean: its weight is stored as a number of ordinary size and a scale.
 *
 * At scale s the number m means m 2^(256 s).  A sum begins at VH_NO_SCALE and is raised to the scale of its
 * largest term.  Scales are integers, so rescaling is exact and it does not matter when or where it happens;
 * ordinary weights, all at scale 0, are added as if there were no scales. */
#ifndef VH_MATH_SCALED_H
#define VH_MATH_SCALED_H

#define VH_NO_SCALE (-1e300) /* scale of an empty sum */
#define VH_NOTHING  (-1e15)  /* a smaller logarithm is less precise than one nat: counts as no weight */
#define VH_NO_SHARE 1e-100   /* smaller weights, at the scale of their sum, are negligible */

/* The scale at which exp(log_x) is between 2^-128 and 2^128; VH_NO_SCALE below VH_NOTHING. */
double vh_scale_of(double log_x);
/* exp(log_x) at a scale; 0 if that is at most VH_NO_SHARE, or log_x is below VH_NOTHING. */
double vh_at_scale(double log_x, double scale);
/* Factor that converts numbers from scale `from` to scale `to`, which is not lower. */
double vh_scale_change(double from, double to);

/* Adds exp(log_x), or x at its own scale, to *sum at *scale. */
void vh_scaled_add(double *sum, double *scale, double log_x);
void vh_scaled_merge(double *sum, double *scale, double x, double x_scale);
/* The logarithm of a sum, and its value if a double can hold it, else 0. */
double vh_scaled_log(double sum, double scale);
double vh_scaled_value(double sum, double scale);

#endif
