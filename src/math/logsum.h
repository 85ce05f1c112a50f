/* SPDX-License-Identifier: BSD-3-Clause */
/* logsum.h - sums of probabilities kept as logs, and distributions. */
#ifndef VH_MATH_LOGSUM_H
#define VH_MATH_LOGSUM_H

#include <stdint.h>

#define VH_LOG_2PI 1.8378770664093454836
#define VH_PI      3.14159265358979323846

/* log sum_i exp(x_i) over n numbers `stride` apart; -inf when all are -inf, never NaN from them. */
double vh_logsum(int64_t n, const double *x, int stride);

/* x [n], logs of weights, becomes the log of their distribution; returns the log of their sum. */
double vh_log_softmax(int64_t n, double *x);

/* The index of the largest of n numbers `stride` apart; ties go to the lowest. */
int vh_argmax(int n, const double *x, int stride);

/* p [n] >= 0 divided by its sum; left alone, and false returned, when the sum is zero or not finite. */
int vh_normalise(int64_t n, double *p);

/* p [n], sums of weights, becomes the distribution of highest likelihood sum_q p_q log a_q, with the entries
 * that are numbers in fixed [n] as they are there (NaN: free; NULL: all free).  When the free entries have no
 * weight at all, those of old [n] (may be p itself) are kept. */
void vh_constrain(int n, const double *fixed, const double *old, double *p);

#endif
