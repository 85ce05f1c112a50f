/* SPDX-License-Identifier: BSD-3-Clause */
/* logsum.h - sums of probabilities in the log domain, and distributions. */
#ifndef VH_MATH_LOGSUM_H
#define VH_MATH_LOGSUM_H

#include <stdint.h>

#define VH_LOG_2PI 1.8378770664093454836
#define VH_PI      3.14159265358979323846

/* log sum_i exp(x_i) of n numbers with this stride; -inf, not NaN, if all are -inf. */
double vh_logsum(int64_t n, const double *x, int stride);

/* Normalises x [n], log weights, to a log distribution; returns the log of their sum. */
double vh_log_softmax(int64_t n, double *x);

/* Index of the largest of n numbers with this stride; ties go to the lowest. */
int vh_argmax(int n, const double *x, int stride);

/* Divides p [n] >= 0 by its sum; if the sum is zero or not finite, returns false and leaves p unchanged. */
int vh_normalise(int64_t n, double *p);

/* Replaces p [n], sums of weights, by the distribution that maximises sum_q p_q log a_q, with entries fixed
 * at the numbers in fixed [n] (NaN: free; NULL: all free).  If the free entries have no weight, keeps those
 * of old [n] (may be p itself). */
void vh_constrain(int n, const double *fixed, const double *old, double *p);

#endif
