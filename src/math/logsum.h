/* logsum.h - sums of probabilities kept as logs. */
#ifndef VH_MATH_LOGSUM_H
#define VH_MATH_LOGSUM_H

/* log sum_i exp(x_i) over n numbers `stride` apart; -inf when all are -inf, never NaN from them. */
double vh_logsum(int n, const double *x, int stride);

/* p [n] >= 0 divided by its sum; left alone, and false returned, when the sum is zero or not finite. */
int vh_normalise(int n, double *p);

#endif
