/* SPDX-License-Identifier: BSD-3-Clause */
/* kl.c - Kullback-Leibler divergences between HMMs, for sequences of tau frames, in nats.
 *
 *   kl          KL(a || b) ~ L_hmm(a, a) - L_hmm(a, b), both from the variational bound.  The bound is loose
 *               where states overlap, and looser for a model against itself than against a blurred one, so
 *               the difference is not a bound and may be negative.
 *   kl-sampled  the mean of log p(y | a) - log p(y | b) over sequences y drawn from a (Juang and Rabiner
 *               1985), and the standard error of that mean.
 *
 * Pairs of HMMs that lack columns are compared over the columns that both have.  L_hmm(a, b) already is;
 * L_hmm(a, a) is computed once for each set of columns that HMMs of b lack.
 *
 * symmetric: the mean of both directions. */
#include "distance/distance.h"
#include "distance/row_blocks.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "fit/sample.h"
#include "fit/infer.h"
#include "hmm/shared_columns.h"
#include "hmm/convert.h"
#include "hmm/missing_columns.h"
#include "vhem/bounds.h"

#include <math.h>
#include <string.h>

enum { SELF_BLOCK = 16, ROWS = 512, SAMPLED_ROWS = 16 };
#define CHUNK 4e6 /* numbers in one chunk of samples or scores: 32 MB */

typedef struct { /* divergences D [Ka][Kb] from a to b, in row blocks */
    const vh_h3m *a, *b;
    vh_patterns lacks; /* columns that HMMs of b lack */
    const vhem_distance_options *opt;
    bool back;         /* b to a was first: D becomes the mean of both */
    double *D, *error; /* NULL on processes without a table; error: sampled, and wanted */
    int64_t i;         /* sampled: HMM i of a, */
    vh_h3m *alone;     /* once for each pattern of b; NULL: it is in b */
} direction;

static void direction_free(direction *x)
{
    vh_patterns_free(&x->lacks);
}

/* Both directions between two sets, or a set and itself. */
static vhem_status set_directions(vhem_ctx *ctx, direction *there, direction *back)
{
    VH_TRY(vh_patterns_new(ctx, there->b, &there->lacks));
    VH_TRY(vh_patterns_new(ctx, there->a, &back->lacks));
    VH_TRY(vh_patterns_meet(ctx, &back->lacks, &there->lacks));
    *back = (direction){ .a = there->b,
                         .b = there->a,
                         .lacks = back->lacks,
                         .opt = there->opt,
                         .back = true,
                         .D = there->D,
                         .error = there->error };
    return VHEM_OK;
}

/* ---- kl ------------------------------------------------------------------------------------------------ */

/* Computes L [n_all] = L_hmm(i, i) of HMMs first .. first+n_all-1 without the columns `away` [d], from
 * small blocks of the set against themselves; first is the start of a block. */
static vhem_status self_bounds(vhem_ctx *ctx, const vh_h3m *h3m, int64_t first, int64_t n_all,
                               const bool *away, int tau, double *L)
{
    VH_OWN(vh_h3m) *part = NULL, *copy = NULL;
    const vh_h3m *same;
    double table[SELF_BLOCK * SELF_BLOCK];
    int64_t index[SELF_BLOCK];

    for (int64_t i = 0; i < n_all; i += SELF_BLOCK) {
        int64_t n = n_all - i < SELF_BLOCK ? n_all - i : SELF_BLOCK;
        for (int64_t k = 0; k < n; k++)
            index[k] = first + i + k;
        VH_TRY(vh_h3m_subset(ctx, h3m, index, n, &part));
        VH_TRY(vh_h3m_without(ctx, part, away, &copy, &same));
        VH_TRY(vh_reduce_score_each(ctx, part, same, tau, table));
        for (int64_t k = 0; k < n; k++)
            L[i + k] = table[k * n + k];
        vh_h3m_free(part);
        vh_h3m_free(copy);
        part = copy = NULL;
    }
    return VHEM_OK;
}

/* Computes self [patterns of b][n]: L_hmm(i, i) of HMMs first .. first+n-1 over the columns that HMMs of b
 * have.  Reuses L [n][Kb], against b, where it holds them. */
static vhem_status find_self(vhem_ctx *ctx, const direction *x, int64_t first, int64_t n, const double *L,
                             double *self)
{
    size_t Kb = (size_t)x->b->K;
    for (int p = 0; p < x->lacks.n; p++) {
        const bool *away = x->lacks.set + vh_row(p, x->a->d);
        if (p > 0 || x->a != x->b)
            VH_TRY(self_bounds(ctx, x->a, first, n, away, x->opt->tau, self + vh_row(p, n)));
        for (size_t k = 0; p == 0 && x->a == x->b && k < (size_t)n; k++)
            self[k] = L[k * Kb + (size_t)first + k];
    }
    return VHEM_OK;
}

/* Fills a row block: L_hmm(i, i) less the bounds. */
static vhem_status make_rows(vhem_ctx *ctx, void *arg, int64_t first, int64_t n, double *L, size_t *size)
{
    const direction *x = arg;
    size_t Kb = (size_t)x->b->K;
    VH_OWN(vh_h3m) *part = NULL;
    VH_AUTOFREE double *self = NULL;
    VH_AUTOFREE int64_t *index = NULL;

    VH_NEW(self, vh_cells(x->lacks.n, n));
    VH_NEW(index, n);
    for (int64_t k = 0; k < n; k++)
        index[k] = first + k;
    if (n < x->a->K)
        VH_TRY(vh_h3m_subset(ctx, x->a, index, n, &part));
    VH_TRY(vh_reduce_score_each(ctx, part ? part : x->a, x->b, x->opt->tau, L));
    VH_TRY(find_self(ctx, x, first, n, L, self));
    for (size_t k = 0; k < (size_t)n; k++)
        for (size_t j = 0; j < Kb; j++)
            L[k * Kb + j] = self[vh_row(x->lacks.of[j], n) + k] - vh_or_impossible(L[k * Kb + j]);
    *size = (size_t)n * Kb;
    return VHEM_OK;
}

/* Copies rows into the table; of the other direction, b against a, averages row j into column j. */
static void take_rows(void *arg, int64_t first, int64_t n, const double *row)
{
    const direction *x = arg;
    size_t Kb = (size_t)x->b->K, columns = (size_t)x->a->K;
    if (!x->back)
        memcpy(x->D + vh_row(first, x->b->K), row, sizeof *row * (size_t)n * Kb);
    for (size_t i = 0; x->back && i < Kb; i++)
        for (size_t k = 0; k < (size_t)n; k++) {
            double *to = &x->D[i * columns + (size_t)first + k];
            *to = (*to + row[k * Kb + i]) / 2;
        }
}

static vhem_status all_rows(vhem_ctx *ctx, direction *x)
{
    const vh_row_blocks row_blocks = { .what = "compare",
                                       .n = x->a->K,
                                       .rows = ROWS,
                                       .most = vh_cells(x->a->K < ROWS ? x->a->K : ROWS, x->b->K),
                                       .make = make_rows,
                                       .take = take_rows,
                                       .arg = x };
    return vh_row_blocks_run(ctx, &row_blocks);
}

/* Replaces D [n][n] of a set against itself by the mean of both directions. */
static void mean_of_both(size_t n, double *D)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            D[i * n + j] = D[j * n + i] = (D[i * n + j] + D[j * n + i]) / 2;
}

vhem_status vh_distance_kl(vhem_ctx *ctx, const vh_h3m *a, const vh_h3m *b, const vhem_distance_options *opt,
                           double *D, double *error)
{
    VH_CLEANUP(direction_free) direction there = { .a = a, .b = b, .opt = opt, .D = D }, back = { 0 };

    (void)error;
    VH_TRY(set_directions(ctx, &there, &back));
    VH_TRY(all_rows(ctx, &there));
    if (opt->symmetric && a != b)
        VH_TRY(all_rows(ctx, &back));
    else if (opt->symmetric && D)
        mean_of_both((size_t)a->K, D);
    return VHEM_OK;
}

/* ---- kl-sampled ---------------------------------------------------------------------------------------- */

typedef struct { /* running mean and sum of squared deviations of each column */
    int64_t n;
    double *mean, *square; /* [Kb] */
} running_moments;

/* Adds one sequence.  If it is impossible under b, the divergence is infinite and stays so.  own:
 * log-likelihoods under a over the columns of each pattern of b. */
static void add_row(running_moments *m, const vh_patterns *lacks, int64_t Kb, const double *own,
                    const double *other)
{
    m->n++;
    for (int64_t j = 0; j < Kb; j++) {
        double x = own[lacks->of[j]] - other[j], off = x - m->mean[j];
        if (isinf(x) || isinf(m->mean[j])) {
            m->mean[j] = m->square[j] = INFINITY;
            continue;
        }
        m->mean[j] += off / (double)m->n;
        m->square[j] += off * (x - m->mean[j]);
    }
}

/* Copies HMM i without the columns of each pattern of b. */
static vhem_status set_alone(vhem_ctx *ctx, direction *x)
{
    VH_AUTOFREE int64_t *index = NULL;

    VH_NEW(index, x->lacks.n);
    for (int p = 0; p < x->lacks.n; p++)
        index[p] = x->i;
    VH_TRY(vh_h3m_subset(ctx, x->a, index, x->lacks.n, &x->alone));
    for (int p = 0; p < x->lacks.n; p++)
        for (int k = 0; k < x->a->d; k++)
            if (x->lacks.set[vh_ij(p, x->a->d, k)])
                vh_hmm_forget(x->alone, &x->alone->hmm[p], k);
    vh_h3m_settle_family(x->alone);
    return VHEM_OK;
}

/* Adds n sequences of HMM i, numbers k .. k+n-1 of its sample. */
static vhem_status add_chunk(vhem_ctx *ctx, const direction *x, int k, int n, running_moments *m)
{
    size_t Kb = (size_t)x->b->K, P = (size_t)x->lacks.n;
    VH_OWN(vhem_data) *y = NULL;
    VH_AUTOFREE double *own = NULL, *other = NULL;

    uint64_t item = (uint64_t)x->back << 63 | (uint64_t)x->i << 32 | (uint64_t)k;

    VH_NEW(own, (size_t)n * P);
    VH_NEW(other, (size_t)n * Kb);
    VH_TRY(vh_sample_hmm(ctx, x->a, x->i, item, n, x->opt->tau, &y));
    VH_TRY(vh_score_each(ctx, x->b, y, NULL, other));
    if (x->alone)
        VH_TRY(vh_score_each(ctx, x->alone, y, NULL, own));
    for (int q = 0; q < n; q++) {
        const double *row = other + (size_t)q * Kb;
        add_row(m, &x->lacks, x->b->K, x->alone ? own + (size_t)q * P : row + x->i, row);
    }
    return VHEM_OK;
}

/* The caller frees x->alone. */
static vhem_status take_samples(vhem_ctx *ctx, direction *x, int64_t i, double *mean, double *variance)
{
    const vhem_distance_options *opt = x->opt;
    size_t Kb = (size_t)x->b->K;
    double most = CHUNK / fmax((double)opt->tau * x->a->d, (double)x->b->K);
    int chunk = most < 1 ? 1 : most < opt->samples ? (int)most : opt->samples;
    running_moments m = { 0, mean, variance };

    memset(mean, 0, sizeof *mean * Kb);
    memset(variance, 0, sizeof *variance * Kb);
    x->i = i;
    if (x->a != x->b || x->lacks.n > 1)
        VH_TRY(set_alone(ctx, x));
    for (int k = 0; k < opt->samples; k += chunk) {
        VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "stopped; %lld of %lld HMMs were sampled", (long long)i,
                 (long long)x->a->K);
        VH_TRY(add_chunk(ctx, x, k, opt->samples - k < chunk ? opt->samples - k : chunk, &m));
    }
    for (size_t j = 0; j < Kb; j++)
        m.square[j] /= (double)opt->samples * (opt->samples - 1.0);
    return VHEM_OK;
}

/* Samples row i of a: mean and variance [Kb] each. */
static vhem_status sample_row(vhem_ctx *ctx, direction *x, int64_t i, double *mean, double *variance)
{
    vhem_status st = take_samples(ctx, x, i, mean, variance);
    vh_h3m_free(x->alone);
    x->alone = NULL;
    return st;
}

static vhem_status make_sampled(vhem_ctx *ctx, void *arg, int64_t first, int64_t n, double *table,
                                size_t *size)
{
    direction *x = arg;
    size_t Kb = (size_t)x->b->K;
    for (int64_t k = 0; k < n; k++) {
        double *row = table + 2 * (size_t)k * Kb;
        VH_TRY(sample_row(ctx, x, first + k, row, row + Kb));
    }
    *size = 2 * (size_t)n * Kb;
    return VHEM_OK;
}

/* error: deviations, or variances if they are still to be averaged. */
static void take_sampled(void *arg, int64_t first, int64_t n, const double *table)
{
    const direction *x = arg;
    size_t Kb = (size_t)x->b->K;
    for (size_t k = 0; k < (size_t)n; k++) {
        const double *row = table + 2 * k * Kb;
        size_t at = ((size_t)first + k) * Kb;
        memcpy(x->D + at, row, sizeof *row * Kb);
        for (size_t j = 0; x->error && j < Kb; j++)
            x->error[at + j] = x->opt->symmetric ? row[Kb + j] : sqrt(row[Kb + j]);
    }
}

/* Takes rows of the other direction, b against a: D and error become those of the mean. */
static void take_sampled_back(void *arg, int64_t first, int64_t n, const double *table)
{
    const direction *x = arg;
    size_t rows = (size_t)x->b->K, columns = (size_t)x->a->K;
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < (size_t)n; k++) {
            const double *row = table + 2 * k * rows;
            size_t at = i * columns + (size_t)first + k;
            x->D[at] = (x->D[at] + row[i]) / 2;
            if (x->error)
                x->error[at] = sqrt(x->error[at] + row[rows + i]) / 2;
        }
}

static vhem_status all_sampled(vhem_ctx *ctx, direction *x)
{
    int64_t Ka = x->a->K;
    const vh_row_blocks row_blocks = { .what = "compare",
                                       .n = Ka,
                                       .rows = SAMPLED_ROWS,
                                       .most = 2 * vh_cells(Ka < SAMPLED_ROWS ? Ka : SAMPLED_ROWS, x->b->K),
                                       .make = make_sampled,
                                       .take = x->back ? take_sampled_back : take_sampled,
                                       .arg = x };
    return vh_row_blocks_run(ctx, &row_blocks);
}

/* Converts variances V [n][n] of a set against itself to deviations of the mean of both directions. */
static void deviations_of_both(size_t n, double *V)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            V[i * n + j] = V[j * n + i] = sqrt(V[i * n + j] + V[j * n + i]) / 2;
}

vhem_status vh_distance_kl_sampled(vhem_ctx *ctx, const vh_h3m *a, const vh_h3m *b,
                                   const vhem_distance_options *opt, double *D, double *error)
{
    bool both = opt->symmetric != 0;
    VH_CLEANUP(direction_free)
    direction there = { .a = a, .b = b, .opt = opt, .D = D, .error = error }, back = { 0 };

    VH_TRY(set_directions(ctx, &there, &back));
    VH_TRY(all_sampled(ctx, &there));
    if (both && a != b)
        VH_TRY(all_sampled(ctx, &back));
    if (both && a == b && D)
        mean_of_both((size_t)a->K, D);
    if (both && a == b && error)
        deviations_of_both((size_t)a->K, error);
    return VHEM_OK;
}
