/* SPDX-License-Identifier: BSD-3-Clause */
/* order.c - see order.h. */
#include "math/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void vh_sort(size_t n, double *x)
{
    qsort(x, n, sizeof *x, by_value);
}

/* Partitions x [lo .. hi], lo < hi, by Hoare's method: returns j < hi such that no x [lo .. j] is larger
 * than any x [j+1 .. hi].  The pivot is the median of three. */
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

/* A number whose order among unsigned integers is that of x among doubles. */
static uint64_t key_of(double x)
{
    uint64_t bits;
    x += 0.0; /* -0 is 0 */
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

enum { DIGITS = 8, VALUES = 256 };

/* How many keys have each value of each digit. */
static void count_digits(size_t n, const uint64_t *key, size_t count[DIGITS][VALUES])
{
    memset(count, 0, sizeof(size_t) * DIGITS * VALUES);
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < DIGITS; d++)
            count[d][key[i] >> (8 * d) & (VALUES - 1)]++;
}

/* By radix: stable passes from the last digit to the first; one where all digits are equal is left out. */
void vh_order(size_t n, const double *x, uint64_t *key, int *order)
{
    size_t count[DIGITS][VALUES];
    uint64_t *from = key, *to = key + n;
    int *first = order, *then = order + n;

    for (size_t i = 0; i < n; i++) {
        from[i] = key_of(x[i]);
        first[i] = (int)i;
    }
    count_digits(n, from, count);
    for (int d = 0; d < DIGITS && n > 0; d++) {
        size_t *at = count[d], sum = 0;
        if (at[from[0] >> (8 * d) & (VALUES - 1)] == n)
            continue;
        for (int v = 0; v < VALUES; v++) {
            size_t here = at[v];
            at[v] = sum;
            sum += here;
        }
        for (size_t i = 0; i < n; i++) {
            size_t place = at[from[i] >> (8 * d) & (VALUES - 1)]++;
            to[place] = from[i];
            then[place] = first[i];
        }
        uint64_t *k = from;
        from = to;
        to = k;
        int *o = first;
        first = then;
        then = o;
    }
    if (first != order)
        memcpy(order, first, sizeof *order * n);
}
