/* SPDX-License-Identifier: BSD-3-Clause */
/* reductions.h - what the tests of the variational E-step share: one E-step by one backend, and answers
 * compared. */
#ifndef VH_TESTS_REDUCTIONS_H
#define VH_TESTS_REDUCTIONS_H

#include "support.h"

#include "math/blas.h"
#include "math/scaled.h"
#include "vhem/base.h"
#include "vhem.h"

/* Kb HMMs of several shapes, in several chunks when there are 1200; some weigh twice as much as others. */
static inline vh_h3m *ragged_h3m(vhem_ctx *ctx, vh_rng *rng, int Kb)
{
    vh_h3m *h3m = NULL;
    double sum = 0;
    assert_ok(ctx, vh_h3m_new(ctx, vh_emission_find("gaussian-diag"), (vh_shape){ .d = 2 }, Kb, &h3m));
    for (int i = 0; i < Kb; i++) {
        int S = 1 + (int)vh_rng_below(rng, 3), M = 1 + (int)vh_rng_below(rng, 2);
        vh_h3m *one = random_h3m(ctx, rng, 1, S, M, 2, 0, 2);
        assert_ok(ctx, vh_h3m_shape(ctx, h3m, i, S, M));
        vh_hmm_copy(&h3m->hmm[i], &one->hmm[0]);
        h3m->omega[i] = 1 + (i % 5 == 3);
        sum += h3m->omega[i];
        vh_h3m_free(one);
    }
    for (int i = 0; i < Kb; i++)
        h3m->omega[i] /= sum;
    return h3m;
}

typedef struct {
    int64_t Kb;
    int Kr;
    double *L, *z; /* [Kb][Kr] */
    vh_reduce_sums sums;
} answer;

static inline void answer_free(answer *a)
{
    free(a->L);
    free(a->z);
    vh_reduce_sums_free(&a->sums);
}

typedef struct { /* what is asked; the weights of the reduced set are those of the centres */
    double N;
    int tau, threads;
    bool soft, weighted;
} question;

/* label [Kb]: the largest z of each row, ties to the lowest. */
static inline void assert_labels(const answer *a, const int *label)
{
    for (int64_t i = 0; i < a->Kb; i++) {
        const double *z = a->z + i * a->Kr;
        int best = 0;
        for (int j = 1; j < a->Kr; j++)
            best = z[j] > z[best] ? j : best;
        assert_int_equal(label[i], best);
    }
}

static inline answer ask(vhem_ctx *ctx, const vh_h3m *base_h3m, const vh_h3m *centers, const question *q)
{
    answer a = { .Kb = base_h3m->K, .Kr = centers->K };
    vh_base *base = NULL;
    vh_packed *pk = NULL;
    int threads = q->threads > 0 ? q->threads : 1;
    vh_scratch *scratch = calloc((size_t)threads, sizeof *scratch);
    double *log_omega = calloc((size_t)a.Kr, sizeof *log_omega);
    int *label = calloc((size_t)a.Kb, sizeof *label);
    vh_blas_enter();
    a.L = calloc((size_t)a.Kb * (size_t)a.Kr, sizeof *a.L);
    a.z = calloc((size_t)a.Kb * (size_t)a.Kr, sizeof *a.z);
    for (int j = 0; j < a.Kr; j++)
        log_omega[j] = log(centers->omega[j]);
    assert_ok(ctx, vh_base_new(ctx, base_h3m, &base));
    assert_ok(ctx, vh_pack_new(ctx, centers, NULL, a.Kr, base->origin, base->scale, &pk));
    assert_ok(ctx, vh_pack_update(ctx, centers, NULL, pk));
    assert_ok(ctx, vh_reduce_sums_new(ctx, pk, &a.sums));
    const vh_reduce_step step = { .reduced = pk,
                                  .tau = q->tau,
                                  .log_omega = log_omega,
                                  .N = q->N,
                                  .statistics = true,
                                  .weighted = q->weighted,
                                  .soft = q->soft,
                                  .L = a.L,
                                  .z = a.z,
                                  .label = label };
    assert_ok(ctx,
              vh_reduce_run(ctx, base->opened, &step, &(vh_workers){ threads, scratch }, false, &a.sums));
    assert_labels(&a, label);
    for (int t = 0; t < threads; t++)
        vh_scratch_free(&scratch[t]);
    free(scratch);
    free(log_omega);
    free(label);
    vh_pack_free(pk);
    vh_base_free(base);
    vh_blas_leave();
    return a;
}

static inline answer ask_backend(const char *backend, const vh_h3m *base, const vh_h3m *centers,
                                 const question *q)
{
    vhem_ctx *ctx = test_ctx_with(backend, 1, 1);
    answer a = ask(ctx, base, centers, q);
    vhem_free(ctx);
    return a;
}

static inline double largest(size_t n, const double *x)
{
    double top = 0;
    for (size_t i = 0; i < n; i++)
        top = isfinite(x[i]) ? fmax(top, fabs(x[i])) : top;
    return top;
}

/* Says on stderr where two answers differ: bounds by more than 1e-9, the rest by more than tol, statistics in
 * comparison with the largest of their kind in their cluster. */
static inline bool answers_differ(const char *what, const answer *want, const answer *got, double tol,
                                  const vh_h3m *centers, int n_stat)
{
    const vh_stats *a = &want->sums.stats, *b = &got->sums.stats;
    size_t pairs = (size_t)want->Kb * (size_t)want->Kr, at[3] = { 0 };
    for (size_t k = 0; k < pairs; k++)
        if (!is_near(got->L[k], want->L[k], 1e-9, 1e-9) || !is_near(got->z[k], want->z[k], 0, tol))
            return fprintf(stderr, "%s: L[%zu] is %.17g, ref has %.17g; z %.17g, ref %.17g\n", what, k,
                           got->L[k], want->L[k], got->z[k], want->z[k]);
    if (!is_near(*got->sums.J, *want->sums.J, 1e-9, tol * want->Kb))
        return fprintf(stderr, "%s: J is %.17g, ref has %.17g\n", what, *got->sums.J, *want->sums.J);
    for (int j = 0; j < want->Kr; j++) {
        const vh_hmm *h = &centers->hmm[j];
        size_t n[3] = { (size_t)h->S, (size_t)(h->S * h->S), (size_t)(h->S * h->M * n_stat) };
        const double *x[3] = { a->nu1 + at[0], a->xi + at[1], a->T + at[2] },
                     *y[3] = { b->nu1 + at[0], b->xi + at[1], b->T + at[2] };
        double change = ldexp(1, 256 * (int)fmax(-3, fmin(3, b->scale[j] - a->scale[j])));
        double s = vh_scaled_log(want->sums.sum_z[j], want->sums.scale_z[j]),
               t = vh_scaled_log(got->sums.sum_z[j], got->sums.scale_z[j]);
        if (!is_near(s, t, 1e-9, tol))
            return fprintf(stderr, "%s: log sum_z[%d] is %.17g, ref has %.17g\n", what, j, t, s);
        for (int q = 0; q < 3; q++)
            for (size_t k = 0; k < n[q]; at[q]++, k++)
                if (!is_near(y[q][k] * change, x[q][k], tol, tol * largest(n[q], x[q])))
                    return fprintf(stderr, "%s: cluster %d, %s[%zu] is %.17g, ref has %.17g, largest is %g\n",
                                   what, j,
                                   q == 0   ? "nu1"
                                   : q == 1 ? "xi"
                                            : "T",
                                   k, y[q][k] * change, x[q][k], largest(n[q], x[q]));
    }
    return false;
}

#endif
