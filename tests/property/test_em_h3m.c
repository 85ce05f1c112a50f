/* SPDX-License-Identifier: BSD-3-Clause */
/* test_em_h3m.c - what must hold for every mixture of HMMs: the likelihood never falls, one HMM is
 * Baum-Welch, base HMMs without spread make VHEM the same algorithm step by step, threads do not matter. */
#include "cluster_samples.h"
#include "engine.h"
#include "vhem.h"

static const char *const family[] = { "gaussian-diag", "gaussian-full" };

/* N sequences of T [N] frames, in groups of m, each group from one of K HMMs in turn; weights 1, 1 + uneven,
 * 1 + 2 uneven, and again. */
static vhem_data *sample_groups(vhem_ctx *ctx, vh_rng *rng, int N, const int *T, int d, int K, int m,
                                double uneven)
{
    vh_h3m *h3m = random_h3m(ctx, rng, K, 2, 1, d, 0, 3);
    vh_builder *b = NULL;
    assert_ok(ctx, vh_builder_new(ctx, d, &b));
    for (int n = 0; n < N; n++) {
        vhem_hmm_view v = view_of(h3m, n / m % K);
        double *y = malloc(sizeof *y * (size_t)(T[n] * d));
        char name[16], group[16];
        int64_t s = vh_rng_pick(rng, 2, v.pi);
        for (int t = 0; t < T[n]; t++) {
            for (int k = 0; k < d; k++)
                y[t * d + k] = v.mu[s * d + k] + sqrt(v.cov[s * d + k]) * vh_rng_normal(rng);
            s = vh_rng_pick(rng, 2, v.A + s * 2);
        }
        snprintf(name, sizeof name, "s%d", n);
        snprintf(group, sizeof group, "g%d", n / m);
        add_sequence(ctx, b, y, T[n], name, NULL, group, 1 + uneven * (n % 3));
        free(y);
    }
    vh_h3m_free(h3m);
    return finish(ctx, b);
}

static vhem_fit_options exact(const vhem_models *start, int n_iter)
{
    vhem_fit_options opt;
    VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
    opt.start = start;
    opt.max_iter = n_iter;
    opt.tol = opt.cov_floor = 0;
    opt.repair = 0;
    opt.by_group = 1;
    return opt;
}

/* ---- the likelihood ------------------------------------------------------------------------------------ */

/* Random cases of all kinds, iteration by iteration: each from where the last one ended. */
static void never_falls(void **state)
{
    (void)state;
    static const double floor[] = { 1e-4, 0.3 };
    for (int trial = 0; trial < 40; trial++) {
        vhem_ctx *ctx = test_ctx();
        vh_rng rng;
        int T[12], d = 1 + trial % 3;
        vh_rng_init(&rng, 401, VH_RNG_TEST, (uint64_t)trial);
        for (int n = 0; n < 12; n++)
            T[n] = 1 + (int)vh_rng_below(&rng, 25);
        vhem_data *data = sample_groups(ctx, &rng, 12, T, d, 3, 1 + trial % 2, trial % 3 ? 0 : 0.7);
        double last = -INFINITY;
        vh_h3m *model = NULL;
        for (int iter = 0; iter < 15; iter++) {
            vhem_fit_options opt = exact(HMMS(model), iter > 0);
            vh_h3m *next = NULL;
            vhem_fit_report *r = NULL;
            opt.K = model ? 0 : 1 + trial % 4;
            opt.S = 1 + trial % 3;
            opt.M = 1 + trial / 3 % 2;
            opt.emission = family[trial / 2 % 2];
            opt.topology = trial % 5 == 0 ? "left-right" : "free";
            opt.cov_floor = floor[trial / 3 % 2];
            opt.restarts = 1;
            assert_ok(ctx, vh_fit_mixture(ctx, data, &opt, &next, &r));
            double J = r->run[0].loglik, sum = 0;
            if (!(J >= last - 1e-9 * (fabs(last) + 1)))
                fail_msg("seed 401/%d: %.15g after %.15g in iteration %d", trial, J, last, iter);
            last = J;
            for (int64_t j = 0; j < next->K; j++)
                sum += next->omega[j];
            assert_near(sum, 1, 1e-12, 0);
            assert_ok(ctx, vh_h3m_validate(ctx, next));
            vhem_free(r);
            vh_h3m_free(model);
            model = next;
        }
        vh_h3m_free(model);
        vhem_free(data);
        vhem_free(ctx);
    }
}

/* A mixture of one HMM is Baum-Welch on all sequences. */
static void one_is_baum_welch(void **state)
{
    enum { N = 9 };
    (void)state;
    vhem_ctx *ctx = test_ctx();
    for (int trial = 0; trial < 6; trial++) {
        vh_rng rng;
        int T[N];
        vh_rng_init(&rng, 402, VH_RNG_TEST, (uint64_t)trial);
        for (int n = 0; n < N; n++)
            T[n] = 2 + (int)vh_rng_below(&rng, 30);
        vhem_data *data = sample_groups(ctx, &rng, N, T, 2, 2, N, 1); /* all in one group */
        vh_h3m *start = random_h3m(ctx, &rng, 1, 3, 2, 2, trial % 2, 2), *a = NULL, *b = NULL;
        vhem_fit_report *r = NULL, *s = NULL;
        vhem_fit_options opt = exact(HMMS(start), 6);
        opt.K = 1;
        assert_ok(ctx, vh_fit_each(ctx, data, &opt, &a, &r));
        opt.by_group = trial / 2 % 2; /* makes no difference */
        assert_ok(ctx, vh_fit_mixture(ctx, data, &opt, &b, &s));
        assert_near(r->run[0].loglik, s->run[0].loglik, 1e-10, 0);
        assert_true(vh_h3m_compare(a, b) < 1e-8);
        vhem_free(r);
        vhem_free(s);
        vh_h3m_free(a);
        vh_h3m_free(b);
        vh_h3m_free(start);
        vhem_free(data);
    }
    vhem_free(ctx);
}

/* ---- EM is VHEM on delta functions --------------------------------------------------------------------- */

/* A group of m sequences as an HMM of m left-right chains, one frame per state and no spread: a virtual
 * sample is one of the sequences. */
static vh_h3m *delta_models(vhem_ctx *ctx, const vhem_data *data, int m, int T)
{
    vh_h3m *h3m = NULL;
    int64_t G = data->N / m;
    int S = m * T, d = data->d;
    assert_ok(ctx, vh_h3m_new(ctx, &vh_gaussian_diag, (vh_shape){ .d = d }, G, &h3m));
    for (int64_t g = 0; g < G; g++) {
        assert_ok(ctx, vh_h3m_shape(ctx, h3m, g, S, 1));
        vh_hmm *h = &h3m->hmm[g];
        for (int s = 0; s < S; s++) {
            h->pi[s] = s % T == 0 ? 1.0 / m : 0;
            h->A[s * S + (s % T + 1 < T ? s + 1 : s)] = 1;
            vh_hmm_c(h)[s] = 1;
        }
        memcpy(vh_hmm_param(h3m, h, 0), vh_data_frames(data, g * m), sizeof(double) * (size_t)(S * d));
    }
    return h3m;
}

static void is_vhem(void **state)
{
    enum { T = 7, G = 16, D = 2, K = 2 };
    (void)state;
    for (int m = 1; m <= 3; m++) {
        vhem_ctx *ctx = test_ctx();
        vh_rng rng;
        int length[G * 3];
        for (int n = 0; n < G * 3; n++)
            length[n] = T;
        vh_rng_init(&rng, 403, VH_RNG_TEST, (uint64_t)m);
        vhem_data *data = sample_groups(ctx, &rng, G * m, length, D, 2, m, 0);
        vh_h3m *base = delta_models(ctx, data, m, T), *start = random_h3m(ctx, &rng, K, 2, 2, D, 0, 2);
        for (int j = 0; j < K; j++) /* wide: no component falls on a single frame */
            for (int e = 0; e < 4 * D; e++)
                vh_hmm_param(start, &start->hmm[j], 1)[e] *= 20;
        for (int k = 0; k <= 6; k++) {
            vhem_cluster_options opt = cluster_options();
            vh_clustering *v = NULL;
            vh_h3m *em = NULL;
            vhem_fit_report *r = NULL;
            vhem_fit_options fit = exact(HMMS(start), k);
            opt.start = HMMS(start);
            opt.tau = T;
            opt.nv = m;
            opt.tol = opt.cov_floor = 0;
            opt.max_iter = k;
            assert_ok(ctx, call_cluster_hmms(ctx, base, K, &opt, &v));
            assert_ok(ctx, vh_fit_mixture(ctx, data, &fit, &em, &r));
            assert_near(v->bound[k], r->run[0].loglik, 1e-9, 0);
            assert_true(vh_h3m_compare(em, v->centers) < 1e-7);
            for (int j = 0; j < K; j++)
                assert_near(em->omega[j], v->centers->omega[j], 1e-9, 1e-12);
            vhem_free(r);
            vh_h3m_free(em);
            vh_clustering_free(v);
        }
        vh_h3m_free(base);
        vh_h3m_free(start);
        vhem_free(data);
        vhem_free(ctx);
    }
}

/* Every HMM 31 times, with a share of its weight, is the same mixture.  Its tables are so much larger that
 * the groups, which were held whole, are gone through twice. */
static void clones(void **state)
{
    enum { N = 12, K = 2, TIMES = 31 };
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    int T[N];
    vh_rng_init(&rng, 405, VH_RNG_TEST, 0);
    for (int n = 0; n < N; n++)
        T[n] = 300 + n;
    vhem_data *data = sample_groups(ctx, &rng, N, T, 2, 2, 3, 0);
    vh_h3m *start = random_h3m(ctx, &rng, K, 2, 2, 2, 0, 3), *many = NULL, *a = NULL, *b = NULL;
    vhem_fit_report *r = NULL, *s = NULL;
    vhem_hmm_view v[K * TIMES];
    for (int j = 0; j < K; j++) /* wide: no component falls on a single frame */
        for (int e = 0; e < 4 * 2; e++)
            vh_hmm_param(start, &start->hmm[j], 1)[e] *= 20;
    for (int j = 0; j < K * TIMES; j++) {
        v[j] = view_of(start, j % K);
        v[j].omega /= TIMES;
    }
    assert_ok(ctx, vh_h3m_from_views(ctx, "gaussian-diag", 2, K * TIMES, v, &many));
    vhem_fit_options opt = exact(HMMS(start), 4);
    assert_ok(ctx, vh_fit_mixture(ctx, data, &opt, &a, &r));
    opt.start = HMMS(many);
    assert_ok(ctx, vh_fit_mixture(ctx, data, &opt, &b, &s));
    assert_near(r->run[0].loglik, s->run[0].loglik, 1e-10, 0);
    for (int j = 0; j < K * TIMES; j++) {
        const vh_hmm *p = &a->hmm[j % K], *q = &b->hmm[j];
        for (int k = 0; k < 2 + 4 + 4 + 8 + 8; k++)
            assert_near(p->pi[k], q->pi[k], 1e-7, 1e-9);
        assert_near(a->omega[j % K], TIMES * b->omega[j], 1e-9, 0);
    }
    vhem_free(r);
    vhem_free(s);
    vh_h3m_free(start);
    vh_h3m_free(many);
    vh_h3m_free(a);
    vh_h3m_free(b);
    vhem_free(data);
    vhem_free(ctx);
}

/* ---- bits ---------------------------------------------------------------------------------------------- */

static void same_bits_at_any_threads(void **state)
{
    enum { N = 90 };
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    int T[N];
    vh_rng_init(&rng, 404, VH_RNG_TEST, 0);
    for (int n = 0; n < N; n++)
        T[n] = 1 + (int)vh_rng_below(&rng, n % 10 == 0 ? 900 : 60);
    vhem_data *data = sample_groups(ctx, &rng, N, T, 3, 3, 3, 0.3);
    for (int by_group = 0; by_group <= 1; by_group++) {
        vh_h3m *out[3];
        for (int k = 0; k < 3; k++) {
            vhem_ctx *own = test_ctx_with(NULL, 1 + 3 * k, 7);
            vhem_fit_options opt;
            VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
            opt.K = 3;
            opt.by_group = by_group;
            opt.max_iter = 10;
            opt.restarts = 3;
            assert_ok(own, vh_fit_mixture(own, data, &opt, &out[k], NULL));
            vhem_free(own);
        }
        assert_true(same_bits(out[0], out[1]) && same_bits(out[0], out[2]));
        for (int k = 0; k < 3; k++)
            vh_h3m_free(out[k]);
    }
    vhem_free(data);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(never_falls), cmocka_unit_test(one_is_baum_welch),
                                        cmocka_unit_test(is_vhem), cmocka_unit_test(clones),
                                        cmocka_unit_test(same_bits_at_any_threads) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
