/* SPDX-License-Identifier: BSD-3-Clause */
/* copy_backend.h - a backend as a device would be one: it copies what it is given into memory of its own,
 * works on whole jobs in the plainest way, and hands back sums and tables.  It shares the mathematics of
 * one pair with `ref`, and neither chunks, batches, threads nor the rule for mixtures with the driver for
 * CPUs. */
#ifndef VH_TESTS_COPY_BACKEND_H
#define VH_TESTS_COPY_BACKEND_H

#include "engine.h"

#include "core/backend.h"
#include "fit/forward_backward.h"
#include "math/scaled.h"

static void *copy_of(const void *from, size_t n, size_t size)
{
    void *to = malloc(n * size + 1);
    assert_non_null(to);
    if (n > 0)
        memcpy(to, from, n * size);
    return to;
}

/* ---- packed HMMs --------------------------------------------------------------------------------------- */

/* One with parameters, coordinates and all in memory of its own; base: made by vh_pack_base. */
static vh_packed *copy_packed(const vh_packed *pk, bool base)
{
    vh_packed *c = copy_of(pk, 1, sizeof *pk);
    size_t K = (size_t)pk->K, n_comp = (size_t)pk->n_comp, d = (size_t)pk->d;
    double *xs = copy_of(pk->x.origin, 2 * d, sizeof *xs); /* origin and scale lie side by side */
    c->S = copy_of(pk->S, K, sizeof *c->S);
    c->M = copy_of(pk->M, K, sizeof *c->M);
    c->state0 = copy_of(pk->state0, K + 1, sizeof *c->state0);
    c->comp0 = copy_of(pk->comp0, K + 1, sizeof *c->comp0);
    c->trans0 = copy_of(pk->trans0, K + 1, sizeof *c->trans0);
    c->pi = copy_of(pk->pi, (size_t)pk->n_state, sizeof *c->pi);
    c->A = copy_of(pk->A, pk->n_trans, sizeof *c->A);
    c->x = (vh_coords){ pk->shape, xs, xs + d };
    c->par = copy_of(pk->par, n_comp * VH_MAX_PARAM, sizeof *c->par);
    for (size_t r = 0; r < n_comp; r++)
        for (int p = 0; p < pk->family->n_param; p++)
            c->par[r * VH_MAX_PARAM + (size_t)p] =
                copy_of(pk->par[r * VH_MAX_PARAM + (size_t)p], vh_param_size(pk->family, p, &pk->shape),
                        sizeof(double));
    if (base) {
        c->c = copy_of(pk->c, n_comp, sizeof *c->c);
        c->mean = copy_of(pk->mean, n_comp * (size_t)pk->n_stat, sizeof *c->mean);
        return c;
    }
    c->theta = copy_of(pk->theta, n_comp * (size_t)pk->n_stat, sizeof *c->theta);
    c->log_c = copy_of(pk->log_c, n_comp, sizeof *c->log_c);
    c->direct = copy_of(pk->direct, n_comp, sizeof *c->direct);
    c->about = copy_of(pk->about, n_comp, sizeof *c->about);
    for (size_t r = 0; r < n_comp; r++)
        c->about[r] = (vh_coords){ pk->shape, c->direct[r] ? c->par[r * VH_MAX_PARAM] : xs, xs + d };
    return c;
}

static void free_copy(vh_packed *c)
{
    for (int r = 0; c && r < c->n_comp; r++)
        for (int p = 0; p < c->family->n_param; p++)
            free((void *)(uintptr_t)c->par[(size_t)r * VH_MAX_PARAM + (size_t)p]);
    vh_pack_free(c);
}

/* ---- sequences ----------------------------------------------------------------------------------------- */

typedef struct {
    int64_t n, n_set;
    int d;
    int64_t *first;      /* [n_set+1] */
    int64_t *T;          /* [n] */
    double **y, *weight; /* [n] of [T][d], [n] */
    vh_scratch scratch;
} copy_sequences;

static inline vhem_status copy_open(vhem_ctx *ctx, const vh_sequences *in, void **state)
{
    copy_sequences *s = calloc(1, sizeof *s);
    size_t n = (size_t)in->n;
    (void)ctx;
    s->n = in->n;
    s->n_set = in->first ? in->n_set : in->n;
    s->d = in->data->d;
    s->first = calloc((size_t)s->n_set + 1, sizeof *s->first);
    s->T = calloc(n + 1, sizeof *s->T);
    s->y = calloc(n + 1, sizeof *s->y);
    s->weight = calloc(n + 1, sizeof *s->weight);
    for (int64_t g = 0; g <= s->n_set; g++)
        s->first[g] = in->first ? in->first[g] : g;
    for (int64_t i = 0; i < in->n; i++) {
        s->T[i] = vh_data_length(in->data, in->seq[i]);
        s->weight[i] = vh_data_weight(in->data, in->seq[i]);
        s->y[i] = copy_of(vh_data_frames(in->data, in->seq[i]), (size_t)(s->T[i] * s->d), sizeof(double));
    }
    *state = s;
    return VHEM_OK;
}

/* log (e^a + e^b) */
static double copy_log_add(double a, double b)
{
    double high = fmax(a, b);
    return high > -INFINITY ? high + log(exp(a - high) + exp(b - high)) : high;
}

/* log sum_k exp x_k, and x becomes the log of what each has of it. */
static double copy_shares(int K, double *x)
{
    double sum = -INFINITY;
    for (int k = 0; k < K; k++)
        sum = copy_log_add(sum, x[k]);
    for (int k = 0; k < K; k++)
        x[k] -= sum;
    return sum;
}

/* Set g of mixtures: log z [K]; its parts of the sums. */
static inline void copy_assign(const copy_sequences *s, const vh_seq_step *step, int64_t g,
                               const double *loglik, vh_seq_sums *sums, double *z)
{
    int K = step->pk->K, own = K / step->mixtures;
    for (int k = 0; k < K; k++) {
        z[k] = step->log_omega[k];
        for (int64_t i = s->first[g]; i < s->first[g + 1]; i++)
            z[k] += s->weight[i] > 0 ? s->weight[i] * loglik[i * K + k] : 0;
    }
    for (int a = 0; a < step->mixtures; a++) {
        double J = copy_shares(own, z + a * own);
        sums->J[a] += s->first[g] < s->first[g + 1] ? J : 0;
    }
    for (int k = 0; k < K && s->first[g] < s->first[g + 1]; k++) {
        sums->sum_z[k] += exp(z[k]);
        sums->log_sum_z[k] = copy_log_add(sums->log_sum_z[k], z[k]);
    }
}

/* log of what sequence i of set g counts under HMM k; log_z [n_set][K] of mixtures. */
static double copy_log_weight(const copy_sequences *s, const vh_seq_step *step, const double *log_z,
                              int64_t g, int64_t i, int k)
{
    return log(s->weight[i]) + (step->mixtures > 0 ? log_z[g * step->pk->K + k] : 0);
}

/* The statistics of HMM k, at the scale of the largest weight. */
static inline vhem_status copy_statistics(vhem_ctx *ctx, copy_sequences *s, const vh_seq_step *step,
                                          const vh_packed *pk, const double *log_z, int k, vh_stats *stats)
{
    vhem_status st = VHEM_OK;
    double top = -INFINITY, unused;
    for (int64_t g = 0; g < s->n_set; g++)
        for (int64_t i = s->first[g]; i < s->first[g + 1]; i++)
            top = fmax(top, copy_log_weight(s, step, log_z, g, i, k));
    stats->scale[k] = step->mixtures > 0 ? vh_scale_of(top) : 0;
    for (int64_t g = 0; g < s->n_set; g++)
        for (int64_t i = s->first[g]; i < s->first[g + 1] && st == VHEM_OK; i++) {
            double w = vh_at_scale(copy_log_weight(s, step, log_z, g, i, k), stats->scale[k]);
            const vh_seq_pair pair = { pk, k, s->y[i], s->T[i], w };
            if (w > 0)
                st = vh_ref_pair(ctx, &pair, &s->scratch, &unused, stats);
        }
    return st;
}

static inline vhem_status copy_expect(vhem_ctx *ctx, void *state, const vh_seq_step *step, vh_seq_sums *out)
{
    copy_sequences *s = state;
    int K = step->pk->K, mixtures = step->mixtures;
    vh_packed *pk = copy_packed(step->pk, false);
    vh_seq_sums sums = { 0 };
    double *loglik = calloc((size_t)(s->n * K) + 1, sizeof *loglik),
           *log_z = calloc((size_t)(s->n_set * K), sizeof *log_z);
    vhem_status st = vh_seq_sums_new(ctx, pk, mixtures, &sums);

    for (int k = 0; k < K; k++)
        sums.log_sum_z[k] = mixtures > 0 ? -INFINITY : 0;
    for (int64_t i = 0; i < s->n * K && st == VHEM_OK; i++) {
        const vh_seq_pair pair = { pk, i % K, s->y[i / K], s->T[i / K], 1 };
        st = vh_ref_pair(ctx, &pair, &s->scratch, &loglik[i], NULL);
        sums.total[i % K] += s->weight[i / K] > 0 ? s->weight[i / K] * loglik[i] : 0;
    }
    for (int64_t g = 0; g < s->n_set && mixtures > 0; g++)
        copy_assign(s, step, g, loglik, &sums, log_z + g * K);
    for (int k = 0; k < K && step->statistics && st == VHEM_OK; k++)
        st = copy_statistics(ctx, s, step, pk, log_z, k, &sums.stats);
    if (st == VHEM_OK) {
        memcpy(out->block, sums.block, sizeof *out->block * (step->statistics ? out->size : out->head));
        for (int64_t i = 0; out->loglik && i < s->n * K; i++)
            out->loglik[i] = loglik[i];
        for (int64_t i = 0; out->z && mixtures > 0 && i < s->n_set * K; i++)
            out->z[i] = exp(log_z[i]);
    }
    vh_seq_sums_free(&sums);
    free_copy(pk);
    free(loglik);
    free(log_z);
    return st;
}

static inline void copy_close(void *state)
{
    copy_sequences *s = state;
    for (int64_t i = 0; i < s->n; i++)
        free(s->y[i]);
    free(s->first);
    free(s->T);
    free(s->y);
    free(s->weight);
    vh_scratch_free(&s->scratch);
    free(s);
}

/* ---- the backend --------------------------------------------------------------------------------------- */

static inline bool copy_usable(void)
{
    return true;
}

/* What it does not do goes to `ref`. */
static inline vh_backend copy_backend(void)
{
    static const vh_seq_kernels sequences = { .open = copy_open, .run = copy_expect, .close = copy_close };
    return (vh_backend){ .name = "copying", .usable = copy_usable, .sequences = &sequences };
}

#endif
