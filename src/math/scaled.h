/* SPDX-License-Identifier: BSD-3-Clause */
/* scaled.h - sums of weights of any size.  A cluster whose best member has a share of e^-5000 still has a
 * mean: what it weighs is kept as a number of ordinary size and a scale of its own.
 *
 * At scale s the number m means m 2^(256 s).  A sum begins at VH_NO_SCALE and is raised to the scale of its
 * largest term; since scales are whole numbers this is exact, so that it does not matter when or in which
 * part of a sum it happens, and weights of ordinary size, all at scale 0, are added as if there were no
 * scales. */
#ifndef VH_MATH_SCALED_H
#define VH_MATH_SCALED_H

#define VH_NO_SCALE (-1e300) /* of a sum without terms */
#define VH_NOTHING  (-1e15)  /* a smaller logarithm is not known to one nat: it stands for no weight at all */
#define VH_NO_SHARE 1e-100   /* at the scale of its sum, a smaller weight leaves no trace */

/* The scale at which exp(log_x) is between 2^-128 and 2^128; VH_NO_SCALE below VH_NOTHING. */
double vh_scale_of(double log_x);
/* exp(log_x) at a scale; 0 when it is VH_NO_SHARE or less there, or below VH_NOTHING. */
double vh_at_scale(double log_x, double scale);
/* What numbers at scale `from` are multiplied with to be at scale `to`, which is not lower. */
double vh_scale_change(double from, double to);

/* *sum, at *scale, takes one more term: exp(log_x), or x at its own scale. */
void vh_scaled_add(double *sum, double *scale, double log_x);
void vh_scaled_merge(double *sum, double *scale, double x, double x_scale);
/* The logarithm of a sum, and the number itself if a double can hold it, else 0. */
double vh_scaled_log(double sum, double scale);
double vh_scaled_value(double sum, double scale);

#endif
