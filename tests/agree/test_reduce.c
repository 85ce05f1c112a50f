/* SPDX-License-Identifier: BSD-3-Clause */
/* test_reduce.c - every usable backend against ref: L_hmm and the summary statistics of random base and
 * reduced HMMs of many shapes. */
#include "reductions.h"
#include "vhem.h"

typedef struct {
    int Kb, Sb, Mb, Kr, Sr, Mr, d, tau, full;
    double spread;
    int zeros, hard;
    double far; /* how far all means are moved, in deviations */
} shape;

/* Makes some transitions impossible: left-right chains. */
static void cut_transitions(vh_h3m *h3m)
{
    for (int64_t i = 0; i < h3m->K; i++)
        make_left_right(&h3m->hmm[i]);
}

static void move_means(vh_h3m *h3m, double far)
{
    for (int64_t i = 0; i < h3m->K; i++) {
        vh_hmm *h = &h3m->hmm[i];
        double *mu = vh_hmm_param(h3m, h, 0);
        for (int k = 0; k < h->S * h->M * h3m->d; k++)
            mu[k] += far * (1 + k / h3m->d % 2);
    }
}

static void check(const shape *c, uint64_t seed)
{
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    const char *name;
    vh_rng_init(&rng, seed, VH_RNG_TEST, 0);
    vh_h3m *base = random_h3m(ctx, &rng, c->Kb, c->Sb, c->Mb, c->d, c->full, c->spread);
    vh_h3m *centers = random_h3m(ctx, &rng, c->Kr, c->Sr, c->Mr, c->d, c->full, c->spread);
    if (c->zeros) {
        cut_transitions(base);
        cut_transitions(centers);
    }
    move_means(base, c->far);
    move_means(centers, c->far);
    question q = { .N = c->Kb * (c->hard ? 3 : 0.3 / c->tau), .tau = c->tau };
    answer want = ask_backend("ref", base, centers, &q);
    for (int n = 0; (name = test_backend(n / 2)); n++) { /* each backend in both ways */
        char what[80];
        q.soft = n % 2;
        snprintf(what, sizeof what, "seed %d, %s, way %d", (int)seed, name, n % 2);
        answer got = ask_backend(name, base, centers, &q);
        if (answers_differ(what, &want, &got, 2e-9, centers, base->family->n_stat(&base->shape)))
            fail_msg("%s differs from ref", what);
        answer_free(&got);
    }
    answer_free(&want);
    vh_h3m_free(base);
    vh_h3m_free(centers);
    vhem_free(ctx);
}

static void test_shapes(void **state)
{
    static const shape cases[] = {
        { 1, 1, 1, 1, 1, 1, 1, 1, 0, 2, 0, 0, 0 },     { 9, 3, 1, 2, 2, 1, 2, 10, 0, 2, 0, 0, 0 },
        { 17, 4, 2, 3, 4, 2, 3, 10, 0, 2, 0, 1, 0 },   { 70, 2, 3, 2, 5, 2, 4, 7, 0, 1, 0, 0, 0 },
        { 11, 3, 2, 3, 2, 3, 3, 5, 1, 2, 0, 0, 0 },    { 8, 5, 1, 2, 5, 1, 2, 40, 0, 20, 1, 0, 0 },
        { 8, 4, 1, 2, 4, 1, 2, 125, 0, 2, 0, 0, 0 },   { 5, 3, 2, 2, 3, 2, 2, 500, 1, 1, 0, 1, 0 },
        { 13, 6, 1, 1, 7, 1, 1, 2, 0, 3, 0, 0, 0 },    { 8, 4, 1, 2, 4, 1, 2, 60, 0, 60, 1, 0, 0 },
        { 9, 2, 2, 2, 3, 2, 2, 10, 0, 1, 0, 0, 1e6 },  { 9, 2, 1, 2, 3, 1, 2, 10, 1, 1, 0, 0, 1e6 },
        { 6, 12, 1, 2, 10, 2, 5, 20, 0, 2, 0, 1, 0 },  { 40, 4, 1, 3, 4, 1, 2, 1000, 0, 1, 0, 1, 0 },
        { 24, 3, 1, 2, 2, 1, 2, 90, 0, 0.3, 0, 0, 0 }, { 24, 5, 1, 2, 5, 1, 1, 200, 0, 5, 1, 1, 0 },
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        for (uint64_t seed = 1; seed <= 4; seed++)
            check(&cases[k], 100 * (uint64_t)k + seed);
}

/* Base HMMs of many shapes in one set. */
static void test_mixed_shapes(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_rng_init(&rng, 5, VH_RNG_TEST, 1);
    vhem_hmm_view view[30];
    vh_h3m *part[30], *all = NULL;
    for (int i = 0; i < 30; i++) {
        part[i] =
            random_h3m(ctx, &rng, 1, 1 + (int)vh_rng_below(&rng, 4), 1 + (int)vh_rng_below(&rng, 3), 2, 0, 2);
        assert_ok(ctx, vh_h3m_view(part[i], 0, &view[i]));
        view[i].omega = 1.0 / 30;
    }
    assert_ok(ctx, vh_h3m_from_views(ctx, "gaussian-diag", 2, 30, view, &all));
    vh_h3m *centers = random_h3m(ctx, &rng, 3, 3, 2, 2, 0, 2);
    const question q = { .N = 3, .tau = 10, .soft = true };
    answer want = ask_backend("ref", all, centers, &q);
    const char *name;
    for (int n = 0; (name = test_backend(n)); n++) {
        answer got = ask_backend(name, all, centers, &q);
        assert_false(answers_differ("mixed shapes", &want, &got, 1e-10, centers, 5));
        answer_free(&got);
    }
    answer_free(&want);
    for (int i = 0; i < 30; i++)
        vh_h3m_free(part[i]);
    vh_h3m_free(all);
    vh_h3m_free(centers);
    vhem_free(ctx);
}

/* A base HMM without weight that is out of reach, so that it has no bound, leaves no trace. */
static void test_out_of_reach(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    const char *name;
    vh_rng_init(&rng, 8, VH_RNG_TEST, 1);
    vh_h3m *base = random_h3m(ctx, &rng, 9, 3, 1, 2, 0, 2);
    vh_h3m *centers = random_h3m(ctx, &rng, 2, 3, 1, 2, 0, 2);
    question q = { .N = 0.01, .tau = 500 };
    vh_hmm_param(base, &base->hmm[4], 0)[0] = 1.3e154;
    for (int i = 0; i < 9; i++)
        base->omega[i] = i == 4 ? 0 : 1.0 / 8;
    answer want = ask_backend("ref", base, centers, &q);
    assert_true(isinf(want.L[8]));
    for (int n = 0; (name = test_backend(n / 2)); n++) {
        q.soft = n % 2;
        answer got = ask_backend(name, base, centers, &q);
        assert_false(
            answers_differ(n % 2 ? "out of reach, soft" : "out of reach", &want, &got, 1e-9, centers, 5));
        answer_free(&got);
    }
    answer_free(&want);
    vh_h3m_free(base);
    vh_h3m_free(centers);
    vhem_free(ctx);
}

/* A chain that takes its time against a centre of one state, for a little longer than recursions are walked
 * through: only so many steps are left as are left. */
static void test_few_steps_left(void **state)
{
    (void)state;
    const double pi[] = { 1, 0 }, A[] = { .85, .15, .15, .85 }, base_theta[] = { 1, 1, 0, 3, 1, 1 };
    const double one[] = { 1 }, theta[] = { 1, 1.5, 3 };
    const vhem_hmm_view b = {
        .S = 2, .M = 1, .d = 1, .omega = 1, .n_theta = 6, .pi = pi, .A = A, .theta = base_theta
    };
    const vhem_hmm_view r = {
        .S = 1, .M = 1, .d = 1, .omega = 1, .n_theta = 3, .pi = one, .A = one, .theta = theta
    };
    vhem_ctx *ctx = test_ctx();
    vh_h3m *base = NULL, *center = NULL;
    const char *name;
    assert_ok(ctx, vh_h3m_from_views(ctx, "gaussian-diag", 1, 1, &b, &base));
    assert_ok(ctx, vh_h3m_from_views(ctx, "gaussian-diag", 1, 1, &r, &center));
    for (int tau = 17; tau < 60; tau++)
        for (int n = 0; (name = test_backend(n)); n++) {
            /* E[log p] of each state, and how long the chain is in the second: sum_t (1 - .7^(t-1)) / 2 */
            double second = tau / 2.0 - (1 - pow(.7, tau)) / .6, want = 0;
            const question q = { .N = 1, .tau = tau };
            for (int s = 0; s < 2; s++)
                want += (s ? second : tau - second) * -.5
                        * (log(2 * 3.14159265358979323846 * 3) + (1 + (3 * s - 1.5) * (3 * s - 1.5)) / 3);
            answer a = ask_backend(name, base, center, &q);
            assert_near(a.L[0], want, 1e-12, 0);
            answer_free(&a);
        }
    vh_h3m_free(base);
    vh_h3m_free(center);
    vhem_free(ctx);
}

/* What a state cannot emit is none of its business: no trace of it is left in its statistics, from which the
 * next p would be small instead of 0, and the bound of the iteration after that another one. */
static void test_impossible(void **state)
{
    static const char *const family[] = { "bernoulli", "poisson" };
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const char *name;
    for (int f = 0; f < 2; f++) {
        vh_h3m *base = NULL, *center = NULL;
        const vh_shape one = { .d = 1 };
        assert_ok(ctx, vh_h3m_new(ctx, vh_emission_find(family[f]), one, 2, &base));
        assert_ok(ctx, vh_h3m_new(ctx, vh_emission_find(family[f]), one, 1, &center));
        for (int i = 0; i < 2; i++) {
            assert_ok(ctx, vh_h3m_shape(ctx, base, i, 1, 1));
            vh_hmm *h = &base->hmm[i];
            h->pi[0] = h->A[0] = vh_hmm_c(h)[0] = 1;
            vh_hmm_param(base, h, 0)[0] = i == 0 ? 0 : 0.001;
            base->omega[i] = 0.5;
        }
        assert_ok(ctx, vh_h3m_shape(ctx, center, 0, 2, 1));
        vh_hmm *r = &center->hmm[0];
        for (int e = 0; e < 4; e++)
            r->A[e] = r->pi[e % 2] = 0.5;
        vh_hmm_c(r)[0] = vh_hmm_c(r)[1] = center->omega[0] = 1;
        vh_hmm_param(center, r, 0)[0] = 0;
        vh_hmm_param(center, r, 0)[1] = 0.5;
        for (int tau = 1; tau < 40; tau += 3)
            for (int n = 0; (name = test_backend(n)); n++) {
                const question q = { .N = 2, .tau = tau };
                answer a = ask_backend(name, base, center, &q);
                assert_true(a.sums.stats.T[0] > 0.1); /* the first base HMM is often in the first state */
                if (a.sums.stats.T[1] != 0)
                    fail_msg("%s, %s, tau %d: the state that cannot emit 1 has %g of it", family[f], name,
                             tau, a.sums.stats.T[1]);
                if (f == 0)
                    assert_near(*a.sums.J, tau * (log(0.75) + log(0.25)), 1e-13, 0);
                answer_free(&a);
            }
        vh_h3m_free(base);
        vh_h3m_free(center);
    }
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_shapes), cmocka_unit_test(test_mixed_shapes),
                                        cmocka_unit_test(test_out_of_reach),
                                        cmocka_unit_test(test_few_steps_left),
                                        cmocka_unit_test(test_impossible) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
