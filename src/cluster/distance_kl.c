/* SPDX-License-Identifier: BSD-3-Clause */
/* distance_kl.c - Kullback-Leibler divergences between HMMs, for sequences of tau frames, in nats.
 *
 *   kl          KL(a || b) ~ L_hmm(a, a) - L_hmm(a, b), both from the variational bound.  The bound is loose
 *               where states overlap, and looser for a model against itself than against a blurred one, so
 *               that the difference is no bound and may be negative.
 *   kl-sampled  the mean of log p(y | a) - log p(y | b) over sequences y drawn from a (Juang and Rabiner
 *               1985), and the standard error of that mean.
 *
 * symmetric: the mean of both directions. */
#include "cluster/distance.h"

#include "core/alloc.h"
#include "core/index.h"
#include "estimate/sample.h"
#include "estimate/score.h"
#include "model/convert.h"
#include "reduce/score.h"

#include <math.h>

enum { SELF_BLOCK = 16, ROWS = 512 };
#define CHUNK 4e6 /* numbers of one chunk of samples or of their scores: 32 MB */

/* ---- kl ------------------------------------------------------------------------------------------------ */

/* L [K] = L_hmm(i, i), from small blocks of the set against themselves. */
static vhem_status self_bounds(vhem_ctx *ctx, const vh_h3m *h3m, int tau, double *L)
{
    vhem_status st = VHEM_OK;
    vh_h3m *part = NULL;
    double table[SELF_BLOCK * SELF_BLOCK];
    int64_t index[SELF_BLOCK];

    for (int64_t i = 0; i < h3m->K; i += SELF_BLOCK) {
        int64_t n = h3m->K - i < SELF_BLOCK ? h3m->K - i : SELF_BLOCK;
        for (int64_t k = 0; k < n; k++)
            index[k] = i + k;
        VH_TRY(vh_h3m_subset(ctx, h3m, index, n, &part));
        VH_TRY(vh_reduce_score(ctx, part, part, tau, table));
        for (int64_t k = 0; k < n; k++)
            L[i + k] = table[k * n + k];
        vh_h3m_free(part);
        part = NULL;
    }
done:
    vh_h3m_free(part);
    return st;
}

/* L [Ka][Kb] = L_hmm(a, b), some rows at a time so that it can be stopped. */
static vhem_status bounds(vhem_ctx *ctx, const vh_h3m *a, const vh_h3m *b, int tau, double *L)
{
    vhem_status st = VHEM_OK;
    vh_h3m *part = NULL;
    int64_t index[ROWS];

    for (int64_t i = 0; i < a->K; i += ROWS) {
        int64_t n = a->K - i < ROWS ? a->K - i : ROWS;
        VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "stopped; %lld of %lld HMMs were compared", (long long)i,
                 (long long)a->K);
        for (int64_t k = 0; k < n; k++)
            index[k] = i + k;
        if (n < a->K)
            VH_TRY(vh_h3m_subset(ctx, a, index, n, &part));
        VH_TRY(vh_reduce_score(ctx, part ? part : a, b, tau, L + vh_row(i, b->K)));
        vh_h3m_free(part);
        part = NULL;
        vh_progress(ctx, "compare", i + n, a->K);
    }
done:
    vh_h3m_free(part);
    return st;
}

/* D [Ka][Kb] = L_hmm(a, a) - L_hmm(a, b). */
static vhem_status bound_differences(vhem_ctx *ctx, const vh_h3m *a, const vh_h3m *b, int tau, double *D)
{
    vhem_status st = VHEM_OK;
    size_t Ka = (size_t)a->K, Kb = (size_t)b->K;
    double *self = NULL;

    VH_NEW(self, Ka);
    VH_TRY(bounds(ctx, a, b, tau, D));
    if (a == b)
        for (size_t i = 0; i < Ka; i++)
            self[i] = D[i * Kb + i];
    else
        VH_TRY(self_bounds(ctx, a, tau, self));
    for (size_t i = 0; i < Ka; i++)
        for (size_t j = 0; j < Kb; j++)
            D[i * Kb + j] = self[i] - D[i * Kb + j];
done:
    free(self);
    return st;
}

vhem_status vh_distance_kl(vhem_ctx *ctx, const vh_h3m *a, const vh_h3m *b, const vhem_distance_options *opt,
                           double *D, double *error)
{
    vhem_status st = VHEM_OK;
    size_t Ka = (size_t)a->K, Kb = (size_t)b->K;
    double *back = NULL;

    (void)error;
    VH_TRY(bound_differences(ctx, a, b, opt->tau, D));
    if (!opt->symmetric)
        goto done;
    VH_NEW(back, Ka * Kb);
    VH_TRY(bound_differences(ctx, b, a, opt->tau, back));
    for (size_t i = 0; i < Ka; i++)
        for (size_t j = 0; j < Kb; j++)
            D[i * Kb + j] = (D[i * Kb + j] + back[j * Ka + i]) / 2;
done:
    free(back);
    return st;
}

/* ---- kl-sampled ---------------------------------------------------------------------------------------- */

typedef struct { /* running mean and sum of squared deviations of each column */
    int64_t n;
    double *mean, *square; /* [Kb] */
} moments;

/* A sequence that is impossible under b makes the divergence infinite, and then it stays so. */
static void add_row(moments *m, int64_t Kb, double own, const double *other)
{
    m->n++;
    for (int64_t j = 0; j < Kb; j++) {
        double x = own - other[j], off = x - m->mean[j];
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
    int64_t i;
    vh_h3m *alone; /* HMM i by itself; NULL: a is b */
} one_to_all;

static vhem_status add_chunk(vhem_ctx *ctx, const one_to_all *x, const vh_draw *draw, moments *m)
{
    vhem_status st = VHEM_OK;
    size_t Kb = (size_t)x->b->K;
    vhem_data *y = NULL;
    double *own = NULL, *other = NULL;

    VH_NEW(own, draw->N);
    VH_NEW(other, (size_t)draw->N * Kb);
    VH_TRY(vh_sample_hmm(ctx, x->a, x->i, draw, &y));
    VH_TRY(vh_score(ctx, x->b, y, NULL, other));
    if (x->alone)
        VH_TRY(vh_score(ctx, x->alone, y, NULL, own));
    for (int k = 0; k < draw->N; k++) {
        const double *row = other + (size_t)k * Kb;
        add_row(m, x->b->K, x->alone ? own[k] : row[x->i], row);
    }
done:
    vhem_free(y);
    free(own);
    free(other);
    return st;
}

/* One direction: D [Ka][Kb] and the variance V [Ka][Kb] of its entries.  side keeps the samples of the second
 * set apart from those of the first. */
static vhem_status sampled(vhem_ctx *ctx, const vh_h3m *a, const vh_h3m *b, const vhem_distance_options *opt,
                           uint64_t side, double *D, double *V)
{
    vhem_status st = VHEM_OK;
    size_t Kb = (size_t)b->K;
    double most = CHUNK / fmax((double)opt->tau * a->d, b->K);
    int chunk = most < 1 ? 1 : most < opt->samples ? (int)most : opt->samples;
    one_to_all x = { .a = a, .b = b };

    for (int64_t i = 0; i < a->K; i++) {
        moments m = { 0, D + (size_t)i * Kb, V + (size_t)i * Kb };
        x.i = i;
        if (a != b)
            VH_TRY(vh_h3m_subset(ctx, a, &i, 1, &x.alone));
        for (int k = 0; k < opt->samples; k += chunk) {
            const vh_draw draw = { .purpose = VH_RNG_COMPARE,
                                   .item = side << 63 | (uint64_t)i << 32 | (uint64_t)k,
                                   .N = opt->samples - k < chunk ? opt->samples - k : chunk,
                                   .T = opt->tau };
            VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "stopped; %lld of %lld HMMs were sampled", (long long)i,
                     (long long)a->K);
            VH_TRY(add_chunk(ctx, &x, &draw, &m));
        }
        for (size_t j = 0; j < Kb; j++)
            m.square[j] /= (double)opt->samples * (opt->samples - 1.0);
        vh_h3m_free(x.alone);
        x.alone = NULL;
        vh_progress(ctx, "compare", i + 1, a->K);
    }
done:
    vh_h3m_free(x.alone);
    return st;
}

vhem_status vh_distance_kl_sampled(vhem_ctx *ctx, const vh_h3m *a, const vh_h3m *b,
                                   const vhem_distance_options *opt, double *D, double *error)
{
    vhem_status st = VHEM_OK;
    size_t Ka = (size_t)a->K, Kb = (size_t)b->K, n = Ka * Kb;
    double *there = NULL, *back = NULL; /* both: values, then variances */

    VH_NEW(there, 2 * n);
    VH_TRY(sampled(ctx, a, b, opt, 0, there, there + n));
    if (opt->symmetric && a != b) {
        VH_NEW(back, 2 * n);
        VH_TRY(sampled(ctx, b, a, opt, 1, back, back + n));
    }
    const double *other = back ? back : there;
    for (size_t i = 0; i < Ka; i++)
        for (size_t j = 0; j < Kb; j++) {
            size_t to = i * Kb + j, from = j * Ka + i;
            D[to] = opt->symmetric ? (there[to] + other[from]) / 2 : there[to];
            error[to] = opt->symmetric ? sqrt(there[n + to] + other[n + from]) / 2 : sqrt(there[n + to]);
        }
done:
    free(there);
    free(back);
    return st;
}
