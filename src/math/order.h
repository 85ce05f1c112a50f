/* SPDX-License-Identifier: BSD-3-Clause */
/* order.h - sorting, ranking and the median; no input may be NaN. */
#ifndef VH_MATH_ORDER_H
#define VH_MATH_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* Sorts x [n] in ascending order. */
void vh_sort(size_t n, double *x);

/* The median of x [n], n >= 1; for even n the mean of the middle two.  Reorders x.  O(n) on average. */
double vh_median(size_t n, double *x);

typedef struct {
    double value;
    int64_t i;
} vh_ranked;

/* Sorts x [n] by value, ascending or descending; ties by i, ascending. */
void vh_rank_ascending(size_t n, vh_ranked *x);
void vh_rank_descending(size_t n, vh_ranked *x);

/* order [n]: the indices of x [n] by ascending value, ties by index, in O(n).  key [2][n] and order + n
 * [n] are scratch. */
void vh_order(size_t n, const double *x, uint64_t *key, int *order);

#endif
