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

/* ---- kl ------------------------------------------------------------------------------------------------ */

/* Computes L [n] = L_hmm(i, i) of HMMs first .. first+n-1 without the columns `away` [d], from small blocks
 * of the set against themselves; first is the start of a block. */
static vhem_status self_bounds(vhem_ctx *ctx, const vh_h3m *h3m, const vh_row_block *s, const bool *away,
                               int tau, double *L)
{
    VH_OWN(vh_h3m) *part = NULL, *copy = NULL;
    const vh_h3m *same;
    double table[SELF_BLOCK * SELF_BLOCK];
    int64_t index[SELF_BLOCK];

    for (int64_t i = 0; i < s->n; i += SELF_BLOCK) {
        int64_t n = s->n - i < SELF_BLOCK ? s->n - i : SELF_BLOCK;
        for (int64_t k = 0; k < n; k++)
            index[k] = s->first + i + k;
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

typedef struct { /* D [Ka][Kb] = L_hmm(a, a) - L_hmm(a, b), in row blocks */
    const vh_h3m *a, *b;
    vh_patterns lacks; /* columns that HMMs of b lack */
    int tau;
    double *D; /* NULL on processes without a table */
} bounds;

static void bounds_free(bounds *x)
{
    vh_patterns_free(&x->lacks);
}

/* Computes self [patterns of b][n of the row block]: L_hmm(i, i) over the columns that HMMs of b have.
 * Reuses s->x [n][Kb] where it holds them. */
static vhem_status find_self(vhem_ctx *ctx, const bounds *x, const vh_row_block *s, double *self)
{
    size_t Kb = (size_t)x->b->K;
    for (int p = 0; p < x->lacks.n; p++) {
        const bool *away = x->lacks.set + vh_row(p, x->a->d);
        if (p > 0 || x->a != x->b)
            VH_TRY(self_bounds(ctx, x->a, s, away, x->tau, self + vh_row(p, s->n)));
        for (size_t k = 0; p == 0 && x->a == x->b && k < (size_t)s->n; k++)
            self[k] = s->x[k * Kb + (size_t)s->first + k];
    }
    return VHEM_OK;
}

/* Fills a row block: L_hmm(i, i) less the bounds. */
static vhem_status make_rows(vhem_ctx *ctx, void *arg, vh_row_block *s)
{
    const bounds *x = arg;
    size_t Kb = (size_t)x->b->K;
    VH_OWN(vh_h3m) *part = NULL;
    VH_AUTOFREE double *self = NULL;
    VH_AUTOFREE int64_t *index = NULL;

    VH_NEW(self, vh_cells(x->lacks.n, s->n));
    VH_NEW(index, s->n);
    for (int64_t k = 0; k < s->n; k++)
        index[k] = s->first + k;
    if (s->n < x->a->K)
        VH_TRY(vh_h3m_subset(ctx, x->a, index, s->n, &part));
    VH_TRY(vh_reduce_score_each(ctx, part ? part : x->a, x->b, x->tau, s->x));
    VH_TRY(find_self(ctx, x, s, self));
    for (size_t k = 0; k < (size_t)s->n; k++)
        for (size_t j = 0; j < Kb; j++)
            s->x[k * Kb + j] = self[vh_row(x->lacks.of[j], s->n) + k] - vh_or_impossible(s->x[k * Kb + j]);
    s->size = (size_t)s->n * Kb;
    return VHEM_OK;
}

static void take_rows(void *arg, const vh_row_block *s)
{
    const bounds *x = arg;
    memcpy(x->D + vh_row(s->first, x->b->K), s->x, sizeof *s->x * s->size);
}

/* Takes rows of the other direction, b against a: averages row j into column j of the table. */
static void take_back(void *arg, const vh_row_block *s)
{
    const bounds *x = arg;
    size_t rows = (size_t)x->b->K, columns = (size_t)x->a->K;
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < (size_t)s->n; k++) {
            double *to = &x->D[i * columns + (size_t)s->first + k];
            *to = (*to + s->x[k * rows + i]) / 2;
        }
}

static vhem_status all_rows(vhem_ctx *ctx, bounds *x, bool back)
{
    const vh_row_blocks row_blocks = { .what = "compare",
                                       .n = x->a->K,
                                       .rows = ROWS,
                                       .most = vh_cells(x->a->K < ROWS ? x->a->K : ROWS, x->b->K),
                                       .make = make_rows,
                                       .take = back ? take_back : take_rows,
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
    VH_CLEANUP(bounds_free)
    bounds there = { .a = a, .b = b, .tau = opt->tau, .D = D },
           back = { .a = b, .b = a, .tau = opt->tau, .D = D };

    (void)error;
    VH_TRY(vh_patterns_new(ctx, b, &there.lacks));
    VH_TRY(vh_patterns_new(ctx, a, &back.lacks));
    VH_TRY(vh_patterns_meet(ctx, &back.lacks, &there.lacks));
    VH_TRY(all_rows(ctx, &there, false));
    if (opt->symmetric && a != b)
        VH_TRY(all_rows(ctx, &back, true));
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

typedef struct { /* HMM i of a, which is sampled, against all of b */
    const vh_h3m *a, *b;
    vh_patterns lacks; /* columns that HMMs of b lack */
    int64_t i;
    vh_h3m *alone; /* HMM i, once for each pattern of b */
} one_to_all;

/* Copies HMM i without the columns of each pattern of b. */
static vhem_status set_alone(vhem_ctx *ctx, one_to_all *x)
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

static vhem_status add_chunk(vhem_ctx *ctx, const one_to_all *x, const vh_draw *draw, running_moments *m)
{
    size_t Kb = (size_t)x->b->K, P = (size_t)x->lacks.n;
    VH_OWN(vhem_data) *y = NULL;
    VH_AUTOFREE double *own = NULL, *other = NULL;

    VH_NEW(own, (size_t)draw->N * P);
    VH_NEW(other, (size_t)draw->N * Kb);
    VH_TRY(vh_sample_hmm(ctx, x->a, x->i, draw, &y));
    VH_TRY(vh_score_each(ctx, x->b, y, NULL, other));
    if (x->alone)
        VH_TRY(vh_score_each(ctx, x->alone, y, NULL, own));
    for (int k = 0; k < draw->N; k++) {
        const double *row = other + (size_t)k * Kb;
        add_row(m, &x->lacks, x->b->K, x->alone ? own + (size_t)k * P : row + x->i, row);
    }
    return VHEM_OK;
}

typedef struct { /* divergences D [Ka][Kb] from a to b and their variances, in row blocks of both */
    one_to_all x;
    const vhem_distance_options *opt;
    uint64_t side;     /* separates the samples of the second set from those of the first */
    bool root;         /* error gets standard deviations, else variances */
    double *D, *error; /* error may be NULL; both are NULL on processes without a table */
} sampling;

static void sampling_free(sampling *s)
{
    vh_patterns_free(&s->x.lacks);
}

/* The caller frees x.alone. */
static vhem_status take_samples(vhem_ctx *ctx, sampling *s, int64_t i, double *mean, double *variance)
{
    one_to_all *x = &s->x;
    const vhem_distance_options *opt = s->opt;
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
        const vh_draw draw = { .purpose = VH_RNG_COMPARE,
                               .item = s->side << 63 | (uint64_t)i << 32 | (uint64_t)k,
                               .N = opt->samples - k < chunk ? opt->samples - k : chunk,
                               .T = opt->tau };
        VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "stopped; %lld of %lld HMMs were sampled", (long long)i,
                 (long long)x->a->K);
        VH_TRY(add_chunk(ctx, x, &draw, &m));
    }
    for (size_t j = 0; j < Kb; j++)
        m.square[j] /= (double)opt->samples * (opt->samples - 1.0);
    return VHEM_OK;
}

/* Samples row i of a: mean and variance [Kb] each. */
static vhem_status sample_row(vhem_ctx *ctx, sampling *s, int64_t i, double *mean, double *variance)
{
    vhem_status st = take_samples(ctx, s, i, mean, variance);
    vh_h3m_free(s->x.alone);
    s->x.alone = NULL;
    return st;
}

static vhem_status make_sampled(vhem_ctx *ctx, void *arg, vh_row_block *row_block)
{
    sampling *s = arg;
    size_t Kb = (size_t)s->x.b->K;
    for (int64_t k = 0; k < row_block->n; k++) {
        double *row = row_block->x + 2 * (size_t)k * Kb;
        VH_TRY(sample_row(ctx, s, row_block->first + k, row, row + Kb));
    }
    row_block->size = 2 * (size_t)row_block->n * Kb;
    return VHEM_OK;
}

static void take_sampled(void *arg, const vh_row_block *row_block)
{
    const sampling *s = arg;
    size_t Kb = (size_t)s->x.b->K;
    for (size_t k = 0; k < (size_t)row_block->n; k++) {
        const double *row = row_block->x + 2 * k * Kb;
        size_t at = ((size_t)row_block->first + k) * Kb;
        memcpy(s->D + at, row, sizeof *row * Kb);
        for (size_t j = 0; s->error && j < Kb; j++)
            s->error[at + j] = s->root ? sqrt(row[Kb + j]) : row[Kb + j];
    }
}

/* Takes rows of the other direction, b against a: D and error become those of the mean. */
static void take_sampled_back(void *arg, const vh_row_block *row_block)
{
    const sampling *s = arg;
    size_t rows = (size_t)s->x.b->K, columns = (size_t)s->x.a->K;
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < (size_t)row_block->n; k++) {
            const double *row = row_block->x + 2 * k * rows;
            size_t at = i * columns + (size_t)row_block->first + k;
            s->D[at] = (s->D[at] + row[i]) / 2;
            if (s->error)
                s->error[at] = sqrt(s->error[at] + row[rows + i]) / 2;
        }
}

static vhem_status all_sampled(vhem_ctx *ctx, sampling *s, bool back)
{
    int64_t Ka = s->x.a->K;
    const vh_row_blocks row_blocks = { .what = "compare",
                                       .n = Ka,
                                       .rows = SAMPLED_ROWS,
                                       .most = 2 * vh_cells(Ka < SAMPLED_ROWS ? Ka : SAMPLED_ROWS, s->x.b->K),
                                       .make = make_sampled,
                                       .take = back ? take_sampled_back : take_sampled,
                                       .arg = s };
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
    VH_CLEANUP(sampling_free)
    sampling there = { .x = { .a = a, .b = b }, .opt = opt, .root = !both, .D = D, .error = error };
    VH_CLEANUP(sampling_free)
    sampling back = { .x = { .a = b, .b = a }, .opt = opt, .side = 1, .D = D, .error = error };

    VH_TRY(vh_patterns_new(ctx, b, &there.x.lacks));
    VH_TRY(vh_patterns_new(ctx, a, &back.x.lacks));
    VH_TRY(vh_patterns_meet(ctx, &back.x.lacks, &there.x.lacks));
    VH_TRY(all_sampled(ctx, &there, false));
    if (both && a != b)
        VH_TRY(all_sampled(ctx, &back, true));
    if (both && a == b && D)
        mean_of_both((size_t)a->K, D);
    if (both && a == b && error)
        deviations_of_both((size_t)a->K, error);
    return VHEM_OK;
}
