/* SPDX-License-Identifier: BSD-3-Clause */
/* agreement.c - agreement of two partitions: Rand index (Rand 1971), adjusted Rand index (Hubert and Arabie
 * 1985), mutual information normalised by the mean of the two entropies, purity of a with respect to b.
 *
 * After sorting the pairs of labels, a cell of the contingency table is a run of equal pairs.  The table,
 * which could have n^2 cells, is never stored: O(n log n). */
#include "math/agreement.h"

#include "core/alloc.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    int a, b;
} label_pair;

typedef struct {           /* sums over the parts of a partition, or over the cells of two */
    double pairs, entropy; /* pairs of items in one part; -sum p log p, in nats */
} parts;

static int by_a_then_b(const void *x, const void *y)
{
    const label_pair *p = x, *q = y;
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    return (p->b > q->b) - (p->b < q->b);
}

static void add_part(parts *s, double size, double n)
{
    s->pairs += size * (size - 1) / 2;
    s->entropy -= size / n * log(size / n);
}

/* Walks the runs of equal a, and inside them of equal b, of the sorted pairs; *pure sums the largest cells of
 * the rows. */
static void sum_runs(int64_t n, const label_pair *p, parts *rows, parts *cells, double *pure)
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
}; /* up to here nothing is allocated: comparing candidates must not fail for lack of memory */

void vh_agreement(int64_t n, const int *a, const int *b, vhem_agreement *out)
{
    parts rows = { 0, 0 }, columns = { 0, 0 }, cells = { 0, 0 }, again = { 0, 0 };
    double pure = 0, unused = 0, all = (double)n * (n - 1) / 2;
    label_pair few[FEW], *p = n <= FEW ? few : malloc(sizeof *p * (size_t)n);

    *out = (vhem_agreement){ NAN, NAN, NAN, NAN };
    if (!p)
        return;
    for (int64_t i = 0; i < n; i++)
        p[i] = (label_pair){ a[i], b[i] };
    qsort(p, (size_t)n, sizeof *p, by_a_then_b);
    sum_runs(n, p, &rows, &cells, &pure);
    for (int64_t i = 0; i < n; i++)
        p[i] = (label_pair){ b[i], a[i] };
    qsort(p, (size_t)n, sizeof *p, by_a_then_b);
    sum_runs(n, p, &columns, &again, &unused);
    if (p != few)
        free(p);

    double expected = all > 0 ? rows.pairs * columns.pairs / all : 0, top = (rows.pairs + columns.pairs) / 2;
    double information = rows.entropy + columns.entropy - cells.entropy,
           mean = (rows.entropy + columns.entropy) / 2;
    out->rand = all > 0 ? (all + 2 * cells.pairs - rows.pairs - columns.pairs) / all : 1;
    /* top = expected: both partitions are one part, or both all singletons, so they are equal. */
    out->adjusted_rand = top - expected > 0 ? (cells.pairs - expected) / (top - expected) : 1;
    out->nmi = mean > 0 ? fmax(information / mean, 0) : 1;
    out->purity = n > 0 ? pure / n : 1;
}

/* ---- matching the groups of two partitions ------------------------------------------------------------- */

typedef struct { /* rows are groups of a, columns groups of b, both from 1 on; 0: none */
    int K;
    const int64_t *count;     /* [K][K] items in both */
    int64_t *u, *v, *reduced; /* [K+1] potentials of rows and columns; least cost to reach a column */
    int *row, *before;        /* [K+1] row matched to a column; previous column on the path */
    char *seen;               /* [K+1] */
} matching;

/* Extends the path from column j, already matched, to the column of least cost. */
static int step(matching *m, int j)
{
    int i = m->row[j], next = 0;
    int64_t least = INT64_MAX;

    m->seen[j] = 1;
    for (int k = 1; k <= m->K; k++) {
        if (m->seen[k])
            continue;
        int64_t cost = -m->count[(size_t)(i - 1) * (size_t)m->K + (size_t)(k - 1)] - m->u[i] - m->v[k];
        if (cost < m->reduced[k]) {
            m->reduced[k] = cost;
            m->before[k] = j;
        }
        if (m->reduced[k] < least) {
            least = m->reduced[k];
            next = k;
        }
    }
    for (int k = 0; k <= m->K; k++)
        if (m->seen[k]) {
            m->u[m->row[k]] += least;
            m->v[k] -= least;
        } else {
            m->reduced[k] -= least;
        }
    return next;
}

/* Assignment problem by shortest augmenting paths (Kuhn 1955, Munkres 1957), one row at a time. */
static void match(matching *m)
{
    for (int i = 1; i <= m->K; i++) {
        int j = 0;
        for (int k = 0; k <= m->K; k++) {
            m->reduced[k] = INT64_MAX;
            m->seen[k] = 0;
        }
        m->row[0] = i;
        do
            j = step(m, j);
        while (m->row[j] != 0);
        for (; j != 0; j = m->before[j])
            m->row[j] = m->row[m->before[j]];
    }
}

vhem_status vh_match_groups(vhem_ctx *ctx, int64_t n, int K, const int *a, const int *b, int *to)
{
    VH_AUTOFREE int64_t *count = NULL, *of_columns = NULL;
    VH_AUTOFREE int *rows = NULL;
    VH_AUTOFREE char *seen = NULL;
    size_t wide = (size_t)K + 1;

    VH_NEW(count, (size_t)K * (size_t)K);
    VH_NEW(of_columns, 3 * wide);
    VH_NEW(rows, 2 * wide);
    VH_NEW(seen, wide);
    matching m = { .K = K,
                   .count = count,
                   .u = of_columns,
                   .v = of_columns + wide,
                   .reduced = of_columns + 2 * wide,
                   .row = rows,
                   .before = rows + wide,
                   .seen = seen };
    for (int64_t i = 0; i < n; i++)
        count[(size_t)a[i] * (size_t)K + (size_t)b[i]]++;
    match(&m);
    for (int k = 1; k <= K; k++)
        to[k - 1] = m.row[k] - 1;
    return VHEM_OK;
}
