/* SPDX-License-Identifier: BSD-3-Clause */
/* agreement.c - the agreement of two partitions: Rand index (Rand 1971), adjusted for
 * chance (Hubert and Arabie 1985), mutual information normalised by the mean of the two
 * entropies, purity of a with respect to b.
 *
 * Sorted pairs of labels make the cells of the contingency table runs of equal pairs, so that the table,
 * which could have n^2 cells, is never laid out: O(n log n). */
#include "math/agreement.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    int a, b;
} pair;

typedef struct {           /* sums over the parts of one partition, or over the cells of two */
    double pairs, entropy; /* pairs of things in one part; -sum p log p, in nats */
} parts;

static int by_a_then_b(const void *x, const void *y)
{
    const pair *p = x, *q = y;
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    return (p->b > q->b) - (p->b < q->b);
}

static void add_part(parts *s, double size, double n)
{
    s->pairs += size * (size - 1) / 2;
    s->entropy -= size / n * log(size / n);
}

/* Runs of equal a, and inside them of equal b, of the sorted pairs; *pure
 * counts the largest cell of each row. */
static void sum_runs(int64_t n, const pair *p, parts *rows, parts *cells, double *pure)
{
    for (int64_t i = 0; i < n;) {
        int64_t row = i, top = 0;
        while (i < n && p[i].a == p[row].a) {
            int64_t cell = i;
            while (i < n && p[i].a == p[row].a && p[i].b == p[cell].b)
                i++;
            add_part(cells, i - cell, n);
            top = i - cell > top ? i - cell : top;
        }
        add_part(rows, i - row, n);
        *pure += top;
    }
}

enum {
    FEW = 2048
}; /* things for which no memory is asked: whether candidates are the same must not depend on it */

void vh_agreement(int64_t n, const int *a, const int *b, vhem_agreement *out)
{
    parts rows = { 0, 0 }, columns = { 0, 0 }, cells = { 0, 0 }, again = { 0, 0 };
    double pure = 0, unused = 0, all = (double)n * (n - 1) / 2;
    pair few[FEW], *p = n <= FEW ? few : malloc(sizeof *p * (size_t)n);

    *out = (vhem_agreement){ NAN, NAN, NAN, NAN };
    if (!p)
        return;
    for (int64_t i = 0; i < n; i++)
        p[i] = (pair){ a[i], b[i] };
    qsort(p, (size_t)n, sizeof *p, by_a_then_b);
    sum_runs(n, p, &rows, &cells, &pure);
    for (int64_t i = 0; i < n; i++)
        p[i] = (pair){ b[i], a[i] };
    qsort(p, (size_t)n, sizeof *p, by_a_then_b);
    sum_runs(n, p, &columns, &again, &unused);
    if (p != few)
        free(p);

    double expected = all > 0 ? rows.pairs * columns.pairs / all : 0, top = (rows.pairs + columns.pairs) / 2;
    double information = rows.entropy + columns.entropy - cells.entropy,
           mean = (rows.entropy + columns.entropy) / 2;
    out->rand = all > 0 ? (all + 2 * cells.pairs - rows.pairs - columns.pairs) / all : 1;
    /* No room between chance and perfect: both are one part, or both all
     * single things, and then they are equal. */
    out->adjusted_rand = top - expected > 0 ? (cells.pairs - expected) / (top - expected) : 1;
    out->nmi = mean > 0 ? fmax(information / mean, 0) : 1;
    out->purity = n > 0 ? pure / n : 1;
}
