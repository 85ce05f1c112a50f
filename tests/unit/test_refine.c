/* SPDX-License-Identifier: BSD-3-Clause */
/* test_refine.c - slabs keep the distribution of a base HMM and tighten the bound. */
#include "math/linalg.h"
#include "emission/layout.h"
#include "vhem/bounds.h"
#include "vhem/refine.h"
#include "support.h"
#include "vhem.h"

/* Probabilities, means and variances of all slabs together are those of the standard normal variable. */
static void slabs_add_up(void **state)
{
    (void)state;
    for (int Q = 1; Q <= VH_MAX_SPLITS; Q++) {
        double mean = 0, square = 0;
        for (int q = 0; q < Q; q++) {
            double m, v;
            vh_split_moments(Q, q, &m, &v);
            assert_true(v > 0 && v <= 1);
            mean += m / Q;
            square += (v + m * m) / Q;
        }
        assert_near(mean, 0, 0, 1e-12);
        assert_near(square, 1, 1e-12, 0);
    }
    double m, v;
    vh_split_moments(2, 1, &m, &v); /* the half-normal distribution */
    assert_near(m, sqrt(2 / acos(-1)), 1e-12, 0);
    assert_near(v, 1 - 2 / acos(-1), 1e-12, 0);
}

/* Mean [d] and covariance [d][d] of the frames that a state with uniform use of its HMM's pi makes. */
static void frame_moments(const vh_h3m *h3m, const vh_hmm *h, double *mean, double *cov)
{
    int d = h3m->d;
    memset(mean, 0, sizeof *mean * (size_t)d);
    memset(cov, 0, sizeof *cov * (size_t)(d * d));
    for (int pass = 0; pass < 2; pass++)
        for (int q = 0; q < h->S * h->M; q++) {
            double *par[VH_MAX_PARAM], w = h->pi[q / h->M] * vh_hmm_c(h)[q];
            vh_hmm_component(h3m, h, q / h->M, q % h->M, par);
            for (int i = 0; pass == 0 && i < d; i++)
                mean[i] += w * par[0][i];
            for (int i = 0; pass == 1 && i < d; i++)
                for (int j = 0; j < d; j++) {
                    double c = h3m->family == &vh_gaussian_full ? par[1][i * d + j] : i == j ? par[1][i] : 0;
                    cov[i * d + j] += w * (c + (par[0][i] - mean[i]) * (par[0][j] - mean[j]));
                }
        }
}

static void first_frame_is_the_same(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_rng_init(&rng, 5, VH_RNG_INIT, 0);
    for (int n = 0; n < 40; n++) {
        int d = 1 + n % 3, full = n / 3 % 2, M = 1 + n % 2;
        double mean[2][3], cov[2][9];
        vh_h3m *h = random_h3m(ctx, &rng, 2, 3, M, d, full, 1.0), *fine = NULL;
        assert_ok(ctx, vh_refine(ctx, h, 2 + n % 4, &fine));
        assert_ok(ctx, vh_h3m_validate(ctx, fine));
        for (int i = 0; i < 2; i++) {
            assert_true(fine->hmm[i].S > 3 * M);
            frame_moments(h, &h->hmm[i], mean[0], cov[0]);
            frame_moments(fine, &fine->hmm[i], mean[1], cov[1]);
            for (int k = 0; k < d; k++)
                assert_near(mean[0][k], mean[1][k], 1e-12, 1e-12);
            for (int k = 0; k < d * d; k++)
                assert_near(cov[0][k], cov[1][k], 1e-12, 1e-12);
        }
        vh_h3m_free(h);
        vh_h3m_free(fine);
    }
    vhem_free(ctx);
}

enum { SAMPLES = 4000 };

/* Mean over samples of log p(y_1:tau | r), y from b, and its standard error. */
static double sampled(vhem_ctx *ctx, const vh_h3m *b, const vh_h3m *r, int tau, double *error)
{
    static double loglik[SAMPLES];
    double mean = 0, square = 0;
    vhem_data *data = NULL;
    assert_ok(ctx, vh_h3m_sample(ctx, b, SAMPLES, tau, &data));
    assert_ok(ctx, vh_h3m_score(ctx, r, data, loglik));
    for (int n = 0; n < SAMPLES; n++)
        mean += loglik[n] / SAMPLES;
    for (int n = 0; n < SAMPLES; n++)
        square += (loglik[n] - mean) * (loglik[n] - mean) / (SAMPLES - 1);
    *error = sqrt(square / SAMPLES);
    vhem_free(data);
    return mean;
}

static double bound(vhem_ctx *ctx, const vh_h3m *b, const vh_h3m *r, int tau, int Q)
{
    double L;
    vh_h3m *fine = NULL;
    if (Q > 1) {
        assert_ok(ctx, vh_refine(ctx, b, Q, &fine));
        b = fine;
    }
    assert_ok(ctx, vh_reduce_score(ctx, b, r, tau, &L));
    vh_h3m_free(fine);
    return L;
}

/* Halving the slabs never loosens the bound, and it stays below what samples say. */
static void bound_rises_and_stays_a_bound(void **state)
{
    (void)state;
    enum { TAU = 5 };
    vhem_ctx *ctx = test_ctx();
    double gap[3] = { 0 };
    vh_rng rng;
    vh_rng_init(&rng, 7, VH_RNG_INIT, 0);
    for (int n = 0; n < 24; n++) {
        int d = 1 + n % 3, full = n / 3 % 2, M = 1 + n / 6 % 2;
        vh_h3m *b = random_h3m(ctx, &rng, 1, 3, M, d, full, 1.2);
        vh_h3m *r = random_h3m(ctx, &rng, 1, 3, 1 + n % 2, d, full, 1.2);
        double error, truth = sampled(ctx, b, r, TAU, &error), last = -INFINITY;
        for (int step = 0; step < 4; step++) {
            double L = bound(ctx, b, r, TAU, 1 << step);
            assert_true(L >= last - 1e-9);
            assert_true(L <= truth + 5 * error);
            if (step < 3)
                gap[step] += truth - L;
            last = L;
        }
        vh_h3m_free(b);
        vh_h3m_free(r);
    }
    assert_true(gap[1] < 0.75 * gap[0]);
    assert_true(gap[2] < gap[1]);
    vhem_free(ctx);
}

/* ---- symbols ---- */

enum { SYMBOLS = 4, LENGTH = 4 };

static void random_row(vh_rng *rng, int n, double *row)
{
    double sum = 0;
    for (int k = 0; k < n; k++)
        sum += row[k] = vh_rng_exponential(rng);
    for (int k = 0; k < n; k++)
        row[k] /= sum;
}

/* An HMM with two states that give symbols. */
static vh_h3m *random_symbols(vhem_ctx *ctx, vh_rng *rng)
{
    static const char *const symbol[] = { "a", "b", "c", "d" };
    vh_layout *layout = NULL;
    vh_h3m *h3m = NULL;
    assert_ok(ctx, vh_layout_new(ctx, 1, &layout));
    layout->family = layout->channel[0].family = vh_emission_find("categorical");
    layout->channel[0].shape.d = 1;
    assert_ok(ctx, vh_layout_symbols(ctx, layout, 0, symbol, SYMBOLS));
    vh_layout_close(layout);
    assert_ok(ctx, vh_h3m_new(ctx, layout->family, vh_layout_shape(layout), 1, &h3m));
    vh_layout_drop(layout);
    assert_ok(ctx, vh_h3m_shape(ctx, h3m, 0, 2, 1));
    vh_hmm *h = &h3m->hmm[0];
    random_row(rng, 2, h->pi);
    for (int s = 0; s < 2; s++) {
        double *par[VH_MAX_PARAM];
        random_row(rng, 2, h->A + 2 * s);
        vh_hmm_c(h)[s] = 1;
        vh_hmm_component(h3m, h, s, 0, par);
        random_row(rng, SYMBOLS, par[0]);
    }
    return h3m;
}

static double probability(const vh_h3m *h3m, int sequence)
{
    const vh_hmm *h = &h3m->hmm[0];
    double alpha[2] = { 0 }, next[2];
    for (int t = 0; t < LENGTH; t++, sequence /= SYMBOLS) {
        for (int q = 0; q < 2; q++) {
            double *par[VH_MAX_PARAM], from = t == 0 ? h->pi[q] : alpha[0] * h->A[q] + alpha[1] * h->A[2 + q];
            vh_hmm_component(h3m, h, q, 0, par);
            next[q] = from * par[0][sequence % SYMBOLS];
        }
        memcpy(alpha, next, sizeof alpha);
    }
    return alpha[0] + alpha[1];
}

/* Against all sequences: the bound stays below the expectation, rises with every cut, and most of the gap
 * goes. */
static void symbols(void **state)
{
    (void)state;
    enum { PAIRS = 30 };
    vhem_ctx *ctx = test_ctx();
    double gap[SYMBOLS + 1] = { 0 };
    vh_rng rng;
    vh_rng_init(&rng, 3, VH_RNG_INIT, 0);
    for (int n = 0; n < PAIRS; n++) {
        vh_h3m *b = random_symbols(ctx, &rng), *r = random_symbols(ctx, &rng);
        double truth = 0, last = -INFINITY;
        for (int y = 0; y < 256; y++)
            truth += probability(b, y) * log(probability(r, y));
        for (int Q = 1; Q <= SYMBOLS; Q++) {
            double L = bound(ctx, b, r, LENGTH, Q);
            assert_true(L >= last - 1e-9 && L <= truth + 1e-9);
            gap[Q] += (truth - L) / PAIRS;
            last = L;
        }
        vh_h3m_free(b);
        vh_h3m_free(r);
    }
    print_message("the bound is %.3f nats below the true value, %.3f with all symbols apart\n", gap[1],
                  gap[SYMBOLS]);
    assert_true(gap[SYMBOLS] < 0.2 * gap[1]);
    vhem_free(ctx);
}

/* Components far apart, alone or without spread are left whole. */
static void nothing_to_cut(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_rng_init(&rng, 9, VH_RNG_INIT, 0);
    vh_h3m *far = random_h3m(ctx, &rng, 1, 3, 1, 2, 0, 1e6), *fine = NULL;
    vh_h3m *alone = random_h3m(ctx, &rng, 1, 1, 1, 2, 1, 1);
    assert_ok(ctx, vh_refine(ctx, far, 4, &fine));
    assert_int_equal(fine->hmm[0].S, 3);
    assert_true(vh_h3m_compare(far, fine) == 0);
    vh_h3m_free(fine);
    assert_ok(ctx, vh_refine(ctx, alone, 4, &fine));
    assert_int_equal(fine->hmm[0].S, 1);
    assert_fails(ctx, vh_refine(ctx, far, 33, &fine), VHEM_EINVAL, "refine is 33, must be from 1 to 32");
    vh_h3m_free(far);
    vh_h3m_free(alone);
    vh_h3m_free(fine);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slabs_add_up),
        cmocka_unit_test(first_frame_is_the_same),
        cmocka_unit_test(bound_rises_and_stays_a_bound),
        cmocka_unit_test(symbols),
        cmocka_unit_test(nothing_to_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
