/* SPDX-License-Identifier: BSD-3-Clause */
/* test_hem_gmm.c - hierarchical EM for Gaussian mixtures: by a direct loop over the mixtures that the frames
 * of HMMs come from, and as VHEM with centres of one state. */
#include "cluster_samples.h"
#include "vhem.h"

enum { KB = 10, S = 3, MB = 2, B = S * MB, KR = 2, MR = 3, D = 2, TAU = 6, ITER = 4 };

typedef struct {
    double omega[KR], c[KR][MR], mu[KR][MR][D], v[KR][MR][D];
} mixture;

static mixture mixture_of(const vh_h3m *h)
{
    mixture x;
    for (int j = 0; j < KR; j++) {
        x.omega[j] = h->omega[j];
        memcpy(x.c[j], vh_hmm_c(&h->hmm[j]), sizeof x.c[j]);
        memcpy(x.mu[j], vh_hmm_param(h, &h->hmm[j], 0), sizeof x.mu[j]);
        memcpy(x.v[j], vh_hmm_param(h, &h->hmm[j], 1), sizeof x.v[j]);
    }
    return x;
}

/* c [B]: weights of all components of an HMM in a frame drawn from its first TAU. */
static void flat_weights(const vh_hmm *h, double *c)
{
    double p[S], next[S], time[S] = { 0 };
    memcpy(p, h->pi, sizeof p);
    for (int t = 0; t < TAU; t++) {
        memset(next, 0, sizeof next);
        for (int s = 0; s < S; s++) {
            time[s] += p[s] / TAU;
            for (int q = 0; q < S; q++)
                next[q] += p[s] * h->A[s * S + q];
        }
        memcpy(p, next, sizeof p);
    }
    for (int b = 0; b < B; b++)
        c[b] = time[b / MB] * vh_hmm_c(h)[b];
}

/* eta [B][MR] of base i under centre j, and L = sum_b c_b log sum_l c_l exp(E_b[log p_l]). */
static double expect(const vh_h3m *base, int i, const double *c, const mixture *x, int j, double eta[B][MR])
{
    const double *mu = vh_hmm_param(base, &base->hmm[i], 0), *v = vh_hmm_param(base, &base->hmm[i], 1);
    double L = 0;
    for (int b = 0; b < B; b++) {
        double sum = 0;
        for (int l = 0; l < MR; l++) {
            double E = 0;
            for (int k = 0; k < D; k++)
                E -= 0.5
                     * (log(2 * acos(-1.0) * x->v[j][l][k])
                        + (pow(mu[b * D + k] - x->mu[j][l][k], 2) + v[b * D + k]) / x->v[j][l][k]);
            sum += eta[b][l] = x->c[j][l] * exp(E);
        }
        for (int l = 0; l < MR; l++)
            eta[b][l] /= sum;
        L += c[b] * log(sum);
    }
    return L;
}

/* One iteration with N virtual frames in all; the objective before it. */
static double iterate(const vh_h3m *base, double N, mixture *x)
{
    static double c[KB][B], eta[KB][KR][B][MR], z[KB][KR];
    double J = 0;
    for (int i = 0; i < KB; i++) {
        double sum = 0, L[KR], top = -INFINITY;
        flat_weights(&base->hmm[i], c[i]);
        for (int j = 0; j < KR; j++)
            top = fmax(top, L[j] = expect(base, i, c[i], x, j, eta[i][j]));
        for (int j = 0; j < KR; j++)
            sum += z[i][j] = x->omega[j] * exp(N / KB * (L[j] - top));
        for (int j = 0; j < KR; j++)
            z[i][j] /= sum;
        J += log(sum) + N / KB * top;
    }
    for (int j = 0; j < KR; j++) {
        double all = 0, w[MR] = { 0 }, mu[MR][D] = { { 0 } }, v[MR][D] = { { 0 } };
        for (int i = 0; i < KB; i++)
            for (int b = 0; b < B; b++)
                for (int l = 0; l < MR; l++) {
                    double n = z[i][j] * c[i][b] * eta[i][j][b][l];
                    w[l] += n;
                    for (int k = 0; k < D; k++)
                        mu[l][k] += n * vh_hmm_param(base, &base->hmm[i], 0)[b * D + k];
                }
        for (int l = 0; l < MR; l++) {
            all += w[l];
            for (int k = 0; k < D; k++)
                x->mu[j][l][k] = mu[l][k] / w[l];
        }
        for (int i = 0; i < KB; i++)
            for (int b = 0; b < B; b++)
                for (int l = 0; l < MR; l++)
                    for (int k = 0; k < D; k++)
                        v[l][k] +=
                            z[i][j] * c[i][b] * eta[i][j][b][l] / w[l]
                            * (vh_hmm_param(base, &base->hmm[i], 1)[b * D + k]
                               + pow(vh_hmm_param(base, &base->hmm[i], 0)[b * D + k] - x->mu[j][l][k], 2));
        memcpy(x->v[j], v, sizeof v);
        for (int l = 0; l < MR; l++)
            x->c[j][l] = w[l] / all;
        x->omega[j] = 0;
        for (int i = 0; i < KB; i++)
            x->omega[j] += z[i][j] / KB;
    }
    return J;
}

static vh_clustering *run(vhem_ctx *ctx, const char *method, const vh_h3m *base, const vh_h3m *start)
{
    vhem_cluster_options opt = cluster_options();
    vh_clustering *out = NULL;
    opt.method = method;
    opt.start = HMMS(start);
    opt.tau = TAU;
    opt.nv = 0.5;
    opt.tol = opt.cov_floor = 0;
    opt.max_iter = ITER;
    assert_ok(ctx, call_cluster_hmms(ctx, base, KR, &opt, &out));
    return out;
}

static void test_direct_loop(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    (void)state;
    vh_rng_init(&rng, 4, VH_RNG_TEST, 30);
    vh_h3m *base = random_h3m(ctx, &rng, KB, S, MB, D, 0, 3),
           *start = random_h3m(ctx, &rng, KR, 1, MR, D, 0, 3);
    vh_clustering *gmm = run(ctx, "hem-gmm", base, start), *hmm = run(ctx, "vhem", base, start);
    mixture x = mixture_of(start);
    for (int k = 0; k < ITER; k++)
        assert_near(iterate(base, 0.5 * TAU * KB, &x), gmm->bound[k], 1e-10, 0);
    mixture got = mixture_of(gmm->centers);
    for (size_t k = 0; k < sizeof x / sizeof(double); k++)
        assert_near(((const double *)&got)[k], ((const double *)&x)[k], 1e-8, 1e-10);
    /* The same by VHEM on the HMMs themselves, with centres of one state. */
    assert_true(vh_h3m_compare(gmm->centers, hmm->centers) < 1e-8);
    for (int k = 0; k <= ITER; k++)
        assert_near(gmm->bound[k], hmm->bound[k], 1e-10, 0);
    for (int k = 0; k < KB * KR; k++)
        assert_near(gmm->L_hmm[k], hmm->L_hmm[k], 1e-9, 0);
    assert_memory_equal(gmm->state_map_at, hmm->state_map_at, sizeof *gmm->state_map_at * (KB + 1));
    assert_memory_equal(gmm->state_map, hmm->state_map, sizeof *gmm->state_map * KB * S);
    vh_clustering_free(gmm);
    vh_clustering_free(hmm);
    vh_h3m_free(base);
    vh_h3m_free(start);
    vhem_free(ctx);
}

static void test_use(void **state)
{
    static const int K[] = { 3, 2 };
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = clustered_h3m(ctx, 3, 3, 6, 2, 2, 2, 0, 0.3);
    vhem_cluster_options opt = cluster_options();
    vh_clustering *c = NULL;
    vhem_tree *tree = NULL;
    (void)state;
    opt.method = "hem-gmm";
    assert_ok(ctx, call_cluster_hmms(ctx, h3m, 3, &opt, &c));
    assert_true(found_clusters(c, 3));
    assert_int_equal(c->options.tau, 10);
    assert_int_equal(c->centers->hmm[0].S, 1);
    assert_int_equal(c->centers->hmm[0].M, 4); /* room for the components of both states */
    assert_ok(ctx, call_tree_build(ctx, h3m, 2, K, &opt, &tree));
    assert_int_equal(vh_tree_level(tree, 1)->centers->hmm[1].M, 4);
    vh_clustering_free(c);
    c = NULL;
    opt.S = 2;
    assert_fails(ctx, call_cluster_hmms(ctx, h3m, 3, &opt, &c), VHEM_EINVAL, "method hem-gmm does not use S");
    assert_null(c);
    vhem_free(tree);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_direct_loop), cmocka_unit_test(test_use) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
