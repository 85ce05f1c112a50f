/* SPDX-License-Identifier: BSD-3-Clause */
/* test_vhem.c - what must hold for any models: the bound never falls, assignments are distributions, L_hmm
 * is a bound and equals its definition by enumeration, and the special cases the paper names. */
#include "cluster_samples.h"

#include "vhem/pair_bound.h"
#include "parallel/scratch.h"
#include "data/data.h"
#include "vhem/vhem_h3m.h"
#include "vhem.h"

static vh_vhem_run run_vhem(vhem_ctx *ctx, const vh_h3m *h3m, const vh_vhem_options *o, vh_h3m *centers)
{
    vh_base *base = NULL;
    vh_vhem_run run = { 0 };
    vh_scratch scratch = { { 0 }, { 0 } };
    assert_ok(ctx, vh_base_new(ctx, h3m, &base));
    assert_ok(ctx, vh_vhem(ctx, base, o, &(vh_workers){ 1, &scratch }, centers, &run));
    vh_base_free(base);
    vh_scratch_free(&scratch);
    return run;
}

/* Unequal weights, every fifth of them zero. */
static void uneven(vh_rng *rng, vh_h3m *h3m)
{
    double sum = 0;
    for (int64_t i = 0; i < h3m->K; i++)
        sum += h3m->omega[i] = i % 5 == 4 ? 0 : vh_rng_exponential(rng) + 0.01;
    for (int64_t i = 0; i < h3m->K; i++)
        h3m->omega[i] /= sum;
}

static void test_bound_never_falls(void **state)
{
    vhem_ctx *ctx = test_ctx();
    (void)state;
    for (uint64_t seed = 0; seed < 120; seed++) {
        vh_rng rng;
        vh_rng_init(&rng, seed, VH_RNG_TEST, 1);
        int Kb = 2 + (int)vh_rng_below(&rng, 12), Kr = 1 + (int)vh_rng_below(&rng, 3),
            d = 1 + (int)vh_rng_below(&rng, 3);
        int full = (int)(seed % 2);
        vh_h3m *h3m = random_h3m(ctx, &rng, Kb, 1 + (int)vh_rng_below(&rng, 4),
                                 1 + (int)vh_rng_below(&rng, 3), d, full, 2);
        vh_h3m *centers = random_h3m(ctx, &rng, Kr, 1 + (int)vh_rng_below(&rng, 4),
                                     1 + (int)vh_rng_below(&rng, 3), d, full, 2);
        if (seed % 3 == 0)
            uneven(&rng, h3m);
        double nv = pow(10, 4 * vh_rng_uniform(&rng));
        vh_vhem_options o = { .N = seed % 5 == 0 ? 1 : nv * Kb,
                              .tau = 1 + (int)vh_rng_below(&rng, 12),
                              .max_iter = 10 };
        vh_vhem_run run = run_vhem(ctx, h3m, &o, centers);
        for (int k = 1; k <= 10; k++)
            if (run.J[k] < run.J[k - 1] - 1e-11 * fabs(run.J[k - 1]))
                fail_msg("seed %d: the bound fell from %.17g to %.17g", (int)seed, run.J[k - 1], run.J[k]);
        for (int i = 0; i < Kb; i++) {
            double sum = 0;
            for (int j = 0; j < Kr; j++)
                sum += run.z[i * Kr + j];
            assert_near(sum, 1, 1e-12, 0);
        }
        assert_ok(ctx, vh_h3m_validate(ctx, centers));
        vh_vhem_run_free(&run);
        vh_h3m_free(h3m);
        vh_h3m_free(centers);
    }
    vhem_free(ctx);
}

/* L_hmm <= E[log p(y)] under the base model, which sampling estimates with a known error. */
static void test_is_a_bound(void **state)
{
    enum { N = 2000, TAU = 6 };
    (void)state;
    for (uint64_t seed = 0; seed < 12; seed++) {
        vhem_ctx *ctx = test_ctx_with(NULL, 1, seed);
        vh_rng rng;
        vh_rng_init(&rng, seed, VH_RNG_TEST, 2);
        vh_h3m *h3m = random_h3m(ctx, &rng, 1, 3, 2, 2, (int)(seed % 2), 2);
        vh_h3m *centers = random_h3m(ctx, &rng, 1, 2, 2, 2, (int)(seed % 2), 2);
        vhem_data *data = NULL;
        double *ll = malloc(sizeof *ll * N), mean = 0, var = 0;
        vh_vhem_options o = { .N = 1, .tau = TAU };
        vh_vhem_run run = run_vhem(ctx, h3m, &o, centers);
        assert_ok(ctx, vh_h3m_sample(ctx, h3m, N, TAU, &data));
        assert_ok(ctx, vh_h3m_score(ctx, centers, data, ll));
        for (int n = 0; n < N; n++)
            mean += ll[n] / N;
        for (int n = 0; n < N; n++)
            var += (ll[n] - mean) * (ll[n] - mean) / N;
        assert_true(run.L[0] <= mean + 4 * sqrt(var / N));
        free(ll);
        vh_vhem_run_free(&run);
        vhem_free(data);
        vh_h3m_free(h3m);
        vh_h3m_free(centers);
        vhem_free(ctx);
    }
}

/* A centre that can follow its base model only by a transition of 1e-318: the best phi takes it all the same,
 * and one M-step gives the centre the chain of the base model. */
static void test_tiny_transitions(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_rng_init(&rng, 1, VH_RNG_TEST, 9);
    vh_h3m *h3m = random_h3m(ctx, &rng, 1, 2, 1, 1, 0, 0);
    double *mu = vh_hmm_param(h3m, &h3m->hmm[0], 0), *cov = vh_hmm_param(h3m, &h3m->hmm[0], 1);
    mu[1] = mu[0] + 100;
    cov[0] = cov[1] = 1;
    vh_h3m *centers = NULL;
    vhem_hmm_view view;
    assert_ok(ctx, vh_h3m_view(h3m, 0, &view));
    assert_ok(ctx, vh_h3m_from_views(ctx, "gaussian-diag", 1, 1, &view, &centers));
    vh_hmm *c = &centers->hmm[0];
    c->A[0] = c->A[3] = c->pi[0] = 1;
    c->A[1] = c->A[2] = c->pi[1] = 1e-318;
    const vh_vhem_options o = { .N = 1, .tau = 5, .max_iter = 1 };
    vh_vhem_run run = run_vhem(ctx, h3m, &o, centers);
    assert_true(run.J[0] < run.J[1]);
    for (int e = 0; e < 2; e++) {
        assert_near(c->pi[e], h3m->hmm[0].pi[e], 1e-9, 0);
        assert_near(vh_hmm_param(centers, c, 0)[e], mu[e], 1e-9, 1e-9);
    }
    vh_vhem_run_free(&run);
    vh_h3m_free(h3m);
    vh_h3m_free(centers);
    vhem_free(ctx);
}

/* nu-hat sums to tau, xi-hat to tau - 1, and sum_rho nu(rho, beta) is the time the base spends in beta. */
static void test_statistics_add_up(void **state)
{
    vhem_ctx *ctx = test_ctx();
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        vh_rng rng;
        vh_rng_init(&rng, seed, VH_RNG_TEST, 3);
        int Sb = 1 + (int)(seed % 3), Sr = 1 + (int)(seed / 3 % 3), tau = 1 + (int)(seed % 7);
        vh_h3m *h3m = random_h3m(ctx, &rng, 1, Sb, 2, 2, 0, 2), *r = random_h3m(ctx, &rng, 1, Sr, 1, 2, 0, 2);
        vh_base *base = NULL;
        vh_packed *pk = NULL;
        vh_stats stats;
        vh_scratch scratch = { { 0 }, { 0 } };
        double nu[9], L, sum_nu = 0, sum_xi = 0, p[3], next[3], time[3] = { 0 };
        assert_ok(ctx, vh_base_new(ctx, h3m, &base));
        assert_ok(ctx, vh_pack_new(ctx, r, NULL, 1, base->origin, base->scale, &pk));
        assert_ok(ctx, vh_pack_update(ctx, r, NULL, pk));
        assert_ok(ctx, vh_stats_new(ctx, pk, &stats));
        const vh_reduce_pair pair = { base->packed, pk, tau, 0, 0, 1 };
        assert_ok(ctx, vh_ref_reduce_pair(ctx, &pair, &scratch, &L, &stats, nu));
        for (int k = 0; k < Sb * Sr; k++)
            sum_nu += nu[k];
        for (int k = 0; k < Sr * Sr; k++)
            sum_xi += stats.xi[k];
        assert_near(sum_nu, tau, 1e-12, 0);
        assert_near(sum_xi, tau - 1, 1e-12, 1e-12);
        memcpy(p, h3m->hmm[0].pi, sizeof *p * (size_t)Sb);
        for (int t = 0; t < tau; t++) {
            memset(next, 0, sizeof next);
            for (int b = 0; b < Sb; b++) {
                time[b] += p[b];
                for (int q = 0; q < Sb; q++)
                    next[q] += p[b] * h3m->hmm[0].A[b * Sb + q];
            }
            memcpy(p, next, sizeof p);
        }
        for (int b = 0; b < Sb; b++) {
            double in_b = 0;
            for (int rho = 0; rho < Sr; rho++)
                in_b += nu[rho * Sb + b];
            assert_near(in_b, time[b], 1e-12, 1e-14);
        }
        vh_stats_free(&stats);
        vh_scratch_free(&scratch);
        vh_pack_free(pk);
        vh_base_free(base);
        vh_h3m_free(h3m);
        vh_h3m_free(r);
    }
    vhem_free(ctx);
}

/* A sequence as a left-right HMM with one frame per state and no spread. */
static vh_h3m *delta_models(vhem_ctx *ctx, int N, int T, int d, const double *y)
{
    vh_h3m *h3m = NULL;
    assert_ok(ctx, vh_h3m_new(ctx, &vh_gaussian_diag, (vh_shape){ .d = d }, N, &h3m));
    for (int n = 0; n < N; n++) {
        assert_ok(ctx, vh_h3m_shape(ctx, h3m, n, T, 1));
        vh_hmm *h = &h3m->hmm[n];
        h->pi[0] = 1;
        for (int t = 0; t < T; t++) {
            h->A[t * T + (t + 1 < T ? t + 1 : t)] = 1;
            vh_hmm_c(h)[t] = 1;
        }
        memcpy(vh_hmm_param(h3m, h, 0), y + (size_t)(n * T * d), sizeof *y * (size_t)(T * d));
    }
    return h3m;
}

/* k iterations of Baum-Welch on all sequences as one group. */
static vh_h3m *fit_all(vhem_ctx *ctx, const vhem_data *data, const vh_h3m *start, int k)
{
    vhem_fit_options opt;
    vh_h3m *out = NULL;
    vh_builder *b = NULL;
    vhem_data *group = NULL;
    VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
    opt.start = HMMS(start);
    opt.max_iter = k;
    opt.tol = opt.cov_floor = 0;
    opt.repair = 0;
    opt.by_group = 1;
    assert_ok(ctx, vh_builder_new(ctx, vh_data_dim(data), &b));
    for (int64_t n = 0; n < vh_data_size(data); n++) {
        vhem_seq_view v;
        assert_ok(ctx, vhem_data_view(data, n, &v));
        assert_ok(ctx, vh_builder_frames(b, v.y, v.T));
        assert_ok(ctx, vh_builder_end(b, "s", NULL, "all", 1.0));
    }
    assert_ok(ctx, vh_builder_finish(b, "memory", &group));
    assert_ok(ctx, vh_fit_each(ctx, group, &opt, &out, NULL));
    vh_builder_free(b);
    vhem_free(group);
    return out;
}

/* On delta functions VHEM is EM: Baum-Welch on all sequences together, step by step. */
static void test_is_baum_welch(void **state)
{
    enum { N = 6, T = 9, D = 2 };
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    double *y = malloc(sizeof *y * N * T * D), *ll = malloc(sizeof *ll * N);
    int length[N];
    vhem_data *data = NULL;
    (void)state;
    vh_rng_init(&rng, 9, VH_RNG_TEST, 4);
    for (int k = 0; k < N * T * D; k++)
        y[k] = 2 * vh_rng_normal(&rng);
    for (int n = 0; n < N; n++)
        length[n] = T;
    assert_ok(ctx, call_wrap(ctx, N, length, D, y, &data));
    vh_h3m *base = delta_models(ctx, N, T, D, y), *start = random_h3m(ctx, &rng, 1, 3, 2, D, 0, 2);
    for (int k = 1; k <= 5; k++) {
        vhem_cluster_options opt = cluster_options();
        vh_clustering *a = NULL;
        opt.start = HMMS(start);
        opt.tau = T;
        opt.nv = 1;
        opt.tol = opt.cov_floor = 0;
        opt.max_iter = k;
        assert_ok(ctx, call_cluster_hmms(ctx, base, 1, &opt, &a));
        assert_ok(ctx, vh_h3m_score(ctx, a->centers, data, ll)); /* L_hmm is the log-likelihood itself */
        double sum = 0;
        for (int n = 0; n < N; n++) {
            assert_near(a->L_hmm[n], ll[n], 1e-9, 0);
            sum += ll[n];
        }
        assert_near(a->bound[k], sum, 1e-9, 0);
        vh_h3m *fitted = fit_all(ctx, data, start, k);
        assert_true(vh_h3m_compare(fitted, a->centers) < 1e-7);
        vh_h3m_free(fitted);
        vh_clustering_free(a);
    }
    free(y);
    free(ll);
    vhem_free(data);
    vh_h3m_free(base);
    vh_h3m_free(start);
    vhem_free(ctx);
}

/* States far apart are found again: a base HMM is then a fixed point. */
static void test_recovers_separated_states(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_clustering *c = NULL;
    vhem_cluster_options opt = cluster_options();
    (void)state;
    vh_rng_init(&rng, 2, VH_RNG_TEST, 5);
    vh_h3m *h3m = random_h3m(ctx, &rng, 1, 3, 1, 2, 0, 300);
    assert_ok(ctx, call_cluster_hmms(ctx, h3m, 1, &opt, &c));
    opt.start = HMMS(h3m);
    vh_clustering *fixed = NULL;
    assert_ok(ctx, call_cluster_hmms(ctx, h3m, 1, &opt, &fixed));
    assert_true(vh_h3m_compare(fixed->centers, h3m) < 1e-9);
    assert_near(c->bound[c->n_iter], fixed->bound[fixed->n_iter], 1e-6, 0);
    for (int s = 0; s < 3; s++) {
        int r = c->state_map[s];
        assert_near(vh_hmm_param(c->centers, &c->centers->hmm[0], 0)[2 * r],
                    vh_hmm_param(h3m, &h3m->hmm[0], 0)[2 * s], 1e-6, 0);
    }
    vh_clustering_free(fixed);
    vh_clustering_free(c);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* Base HMMs of no spread at all, from any kind of start: a floor keeps the centres alive. */
static void test_singular_bases(void **state)
{
    static const char *const init[] = { "base", "far", "emissions", "pooled", "dealt", "auto" };
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    double y[8 * 5 * 2];
    (void)state;
    vh_rng_init(&rng, 7, VH_RNG_TEST, 6);
    for (int k = 0; k < 80; k++)
        y[k] = vh_rng_normal(&rng) + (k / 10 % 2 ? 20 : 0);
    vh_h3m *h3m = delta_models(ctx, 8, 5, 2, y);
    for (int k = 0; k < 6; k++) {
        vhem_cluster_options opt = cluster_options();
        vh_clustering *c = NULL;
        opt.S = 2;
        opt.tau = 5;
        opt.init = init[k];
        opt.restarts = 10;
        opt.cov_floor = 0.01; /* without spread a state gains by shrinking onto a frame */
        assert_ok(ctx, call_cluster_hmms(ctx, h3m, 2, &opt, &c));
        assert_true(found_clusters(c, 2));
        vh_clustering_free(c);
    }
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound_never_falls), cmocka_unit_test(test_is_a_bound),
        cmocka_unit_test(test_statistics_add_up), cmocka_unit_test(test_tiny_transitions),
        cmocka_unit_test(test_is_baum_welch),     cmocka_unit_test(test_recovers_separated_states),
        cmocka_unit_test(test_singular_bases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
