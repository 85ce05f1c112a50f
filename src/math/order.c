/* SPDX-License-Identifier: BSD-3-Clause */
/* order.c - see order.h. */
#include "math/order.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void vh_sort(size_t n, double *x)
{
    qsort(x, n, sizeof *x, by_value);
}

/* Partitions x [lo .. hi], lo < hi, by Hoare's method: returns j < hi such that no x [lo .. j] is larger than
 * any x [j+1 .. hi].  The pivot is the median of three. */
static size_t partition(double *x, size_t lo, size_t hi)
{
    double a = x[lo], b = x[lo + (hi - lo) / 2], c = x[hi];
    double pivot = fmax(fmin(a, b), fmin(fmax(a, b), c));
    for (size_t i = lo, j = hi;; i++, j--) {
        while (x[i] < pivot)
            i++;
        while (x[j] > pivot)
            j--;
        if (i >= j)
            return j;
        double t = x[i];
        x[i] = x[j];
        x[j] = t;
    }
}

/* The k-th smallest of x [n], from 0 on; moved to x[k]. */
static double pick(size_t n, double *x, size_t k)
{
    size_t lo = 0, hi = n - 1;
    while (lo < hi) {
        size_t j = partition(x, lo, hi);
        if (k <= j)
            hi = j;
        else
            lo = j + 1;
    }
    return x[k];
}

double vh_median(size_t n, double *x)
{
    return 0.5 * (pick(n, x, (n - 1) / 2) + pick(n, x, n / 2));
}

static int by_rank(const void *a, const void *b)
{
    const vh_ranked *p = a, *q = b;
    if (p->value != q->value)
        return p->value < q->value ? -1 : 1;
    return (p->i > q->i) - (p->i < q->i);
}

static int by_rank_down(const void *a, const void *b)
{
    const vh_ranked *p = a, *q = b;
    return p->value != q->value ? by_rank(b, a) : by_rank(a, b);
}

void vh_rank_ascending(size_t n, vh_ranked *x)
{
    qsort(x, n, sizeof *x, by_rank);
}

void vh_rank_descending(size_t n, vh_ranked *x)
{
    qsort(x, n, sizeof *x, by_rank_down);
}
