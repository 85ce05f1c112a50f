/* SPDX-License-Identifier: BSD-3-Clause */
/* order.h - numbers in order; none of them is NaN. */
#ifndef VH_MATH_ORDER_H
#define VH_MATH_ORDER_H

#include <stddef.h>

/* x [n], the smallest first. */
void vh_sort(size_t n, double *x);

/* The median of x [n], n >= 1: of an even number the mean of the middle two.  Moves the numbers.  O(n) as a
 * rule. */
double vh_median(size_t n, double *x);

#endif
