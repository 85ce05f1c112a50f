/* SPDX-License-Identifier: BSD-3-Clause */
/* significance.c - see significance.h.
 *
 * 1. Student's t, and intervals of Cohen's d from the noncentral distribution of t.
 * 2. Mann-Whitney U.
 * 3. Corrections for many tests. */
#include "analysis/significance.h"

#include "core/alloc.h"
#include "math/order.h"
#include "math/student.h"
#include "vhem/analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- 1. t ---- */

typedef struct {
    int64_t n;
    double mean, square; /* sum of squared deviations */
} sample_moments;

static sample_moments moments_of(int64_t n, const double *x)
{
    sample_moments m = { 0 };
    for (int64_t i = 0; i < n; i++)
        if (isfinite(x[i])) {
            m.n++;
            m.mean += x[i];
        }
    m.mean = m.n ? m.mean / (double)m.n : NAN;
    for (int64_t i = 0; i < n; i++)
        if (isfinite(x[i]))
            m.square += (x[i] - m.mean) * (x[i] - m.mean);
    return m;
}

/* d = t / root; delta and the population d are related in the same way. */
static vhem_status effect_interval(vhem_ctx *ctx, double t, double freedom, double root, double confidence,
                                   vhem_test *out)
{
    double tail = (1 - confidence) / 2;
    VH_CLEANUP(vh_noncentral_free) vh_noncentral x = { 0 };

    VH_TRY(vh_noncentral_new(ctx, t, freedom, &x));
    out->d = t / root;
    out->d_low = vh_noncentral_delta(&x, 1 - tail) / root;
    out->d_high = vh_noncentral_delta(&x, tail) / root;
    return VHEM_OK;
}

static void set_t(double t, double freedom, vhem_test *out)
{
    out->statistic = t;
    out->freedom = freedom;
    out->p = vh_student_two_sided(t, freedom);
    out->p_greater = t > 0 ? out->p / 2 : 1 - out->p / 2;
}

static void clear(vhem_test *out)
{
    out->statistic = out->freedom = out->p = out->p_greater = out->p_adjusted = NAN;
    out->d = out->d_low = out->d_high = NAN;
}

vhem_status vh_test_paired(vhem_ctx *ctx, int64_t n, const double *a, const double *b, double confidence,
                           vhem_test *out)
{
    int64_t count = 0;
    double mean_a = 0, mean_b = 0, mean, square = 0;
    clear(out);
    for (int64_t i = 0; i < n; i++)
        if (isfinite(a[i]) && isfinite(b[i])) {
            count++;
            mean_a += a[i];
            mean_b += b[i];
        }
    double m = (double)count;
    out->n_a = out->n_b = count;
    out->mean_a = count ? mean_a / m : NAN;
    out->mean_b = count ? mean_b / m : NAN;
    mean = out->mean_a - out->mean_b;
    for (int64_t i = 0; i < n; i++)
        if (isfinite(a[i]) && isfinite(b[i]))
            square += (a[i] - b[i] - mean) * (a[i] - b[i] - mean);
    if (count < 2 || !(square > 0))
        return VHEM_OK;
    set_t(mean / sqrt(square / (m - 1) / m), m - 1, out);
    return effect_interval(ctx, out->statistic, m - 1, sqrt(m), confidence, out);
}

vhem_status vh_test_groups(vhem_ctx *ctx, int64_t n_a, const double *a, int64_t n_b, const double *b,
                           double confidence, vhem_test *out)
{
    sample_moments x = moments_of(n_a, a), y = moments_of(n_b, b);
    double n = (double)x.n, m = (double)y.n;
    clear(out);
    out->n_a = x.n;
    out->n_b = y.n;
    out->mean_a = x.mean;
    out->mean_b = y.mean;
    if (x.n < 2 || y.n < 2 || !(x.square + y.square > 0))
        return VHEM_OK;
    /* Welch: each group has its own variance; degrees of freedom by Satterthwaite. */
    double u = x.square / (n - 1) / n, v = y.square / (m - 1) / m;
    set_t((x.mean - y.mean) / sqrt(u + v), (u + v) * (u + v) / (u * u / (n - 1) + v * v / (m - 1)), out);
    double root = sqrt(n * m / (n + m)), pooled = sqrt((x.square + y.square) / (n + m - 2));
    return effect_interval(ctx, (x.mean - y.mean) / pooled * root, n + m - 2, root, confidence, out);
}

/* ---- 2. U ---- */

/* P(U >= u) under the null hypothesis: U has the generating function
 * prod_{i=1..n} (1 - q^{m+i}) / (1 - q^i), divided by the number of ways to choose n of n + m. */
static vhem_status exact_tail(vhem_ctx *ctx, int n, int m, double u, double *out)
{
    int64_t size = (int64_t)n * m + 1;
    VH_AUTOFREE double *count = NULL;
    double all = 0, above = 0;

    VH_NEW(count, size);
    count[0] = 1;
    for (int i = 1; i <= n; i++) {
        for (int64_t k = size - 1; k >= m + i; k--)
            count[k] -= count[k - m - i];
        for (int64_t k = i; k < size; k++)
            count[k] += count[k - i];
    }
    for (int64_t k = 0; k < size; k++) {
        all += count[k];
        above += (double)k >= u ? count[k] : 0;
    }
    *out = above / all;
    return VHEM_OK;
}

/* Ranks r [n], sorted; ties get their mean rank.  *sum_a: rank sum of those with i < n_a; *ties: sum of
 * t^3 - t over ties. */
static void rank_all(const vh_ranked *r, int64_t n, int64_t n_a, double *sum_a, double *ties)
{
    *sum_a = *ties = 0;
    for (int64_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && r[end].value == r[i].value;)
            end++;
        double t = (double)(end - i), rank = (double)(i + 1 + end) / 2;
        for (int64_t k = i; k < end; k++)
            *sum_a += r[k].i < n_a ? rank : 0;
        *ties += t * t * t - t;
    }
}

static double normal_tail(double z)
{
    return erfc(z / sqrt(2)) / 2;
}

static vhem_status p_of_u(vhem_ctx *ctx, double u, double ties, vhem_test *out)
{
    enum { FEW = 8 };
    double n = (double)out->n_a, m = (double)out->n_b, N = n + m, top = fmax(u, n * m - u), tail;

    if (ties == 0 && (out->n_a <= FEW || out->n_b <= FEW)) {
        int few = (int)(out->n_a < out->n_b ? out->n_a : out->n_b);
        int many = (int)(out->n_a < out->n_b ? out->n_b : out->n_a);
        VH_TRY(exact_tail(ctx, few, many, u, &out->p_greater));
        VH_TRY(exact_tail(ctx, few, many, top, &tail));
    } else {
        double sd = sqrt(n * m / 12 * (N + 1 - ties / (N * (N - 1))));
        if (!(sd > 0))
            return VHEM_OK; /* all values are equal */
        out->p_greater = normal_tail((u - n * m / 2 - 0.5) / sd);
        tail = normal_tail((top - n * m / 2 - 0.5) / sd);
    }
    out->p = fmin(1, 2 * tail);
    return VHEM_OK;
}

vhem_status vh_test_ranks(vhem_ctx *ctx, int64_t n_a, const double *a, int64_t n_b, const double *b,
                          vhem_test *out)
{
    VH_AUTOFREE vh_ranked *r = NULL;
    int64_t n = 0;
    double sum_a, ties;
    sample_moments x = moments_of(n_a, a), y = moments_of(n_b, b);

    clear(out);
    out->n_a = x.n;
    out->n_b = y.n;
    out->mean_a = x.mean;
    out->mean_b = y.mean;
    if (x.n < 1 || y.n < 1)
        return VHEM_OK;
    VH_NEW(r, n_a + n_b);
    for (int64_t i = 0; i < n_a; i++)
        if (isfinite(a[i]))
            r[n++] = (vh_ranked){ a[i], i };
    for (int64_t i = 0; i < n_b; i++)
        if (isfinite(b[i]))
            r[n++] = (vh_ranked){ b[i], n_a + i };
    vh_rank_ascending((size_t)n, r);
    rank_all(r, n, n_a, &sum_a, &ties);
    out->statistic = sum_a - (double)x.n * (double)(x.n + 1) / 2;
    return p_of_u(ctx, out->statistic, ties, out);
}

/* ---- 3. corrections ---- */

static int by_p(const void *a, const void *b)
{
    double x = (*(vhem_test *const *)a)->p, y = (*(vhem_test *const *)b)->p;
    return x < y ? -1 : x > y;
}

/* Adjusts t [n], sorted by p: Holm upward from the smallest, Benjamini-Hochberg downward from the largest. */
static void adjust(vhem_test **t, int n, const char *correction)
{
    bool holm = strcmp(correction, "holm") == 0, bh = strcmp(correction, "bh") == 0;
    double so_far = 0;
    for (int k = 0; k < n && holm; k++)
        t[k]->p_adjusted = so_far = fmax(so_far, fmin(1, (n - k) * t[k]->p));
    so_far = 1;
    for (int k = n - 1; k >= 0 && bh; k--)
        t[k]->p_adjusted = so_far = fmin(so_far, t[k]->p * n / (k + 1));
    for (int k = 0; k < n && !holm && !bh; k++)
        t[k]->p_adjusted = strcmp(correction, "none") == 0 ? t[k]->p : fmin(1, n * t[k]->p);
}

vhem_status vh_tests_adjust(vhem_ctx *ctx, int n, vhem_test *test, const char *correction)
{
    static const char *const kinds[] = { "paired-t", "t", "mann-whitney" };
    VH_AUTOFREE vhem_test **some = NULL;

    VH_NEW(some, n);
    for (int k = 0; k < 3; k++) {
        int m = 0;
        for (int i = 0; i < n; i++)
            if (strcmp(test[i].kind, kinds[k]) == 0 && isfinite(test[i].p))
                some[m++] = &test[i];
        qsort(some, (size_t)m, sizeof *some, by_p);
        adjust(some, m, correction);
    }
    return VHEM_OK;
}
