/* SPDX-License-Identifier: BSD-3-Clause */
/* test_distance.c - distances between HMMs against sums over all state sequences, numerical integration,
 * closed forms and sampling. */
#include "engine.h"

#include "distance/distance.h"
#include "hmm/convert.h"
#include "vhem.h"

static vhem_distance_options options(const char *kind)
{
    vhem_distance_options o;
    VHEM_INIT(VHEM_DISTANCE_OPTIONS, &o);
    o.kind = kind;
    return o;
}

/* ---- the product of two densities ---------------------------------------------------------------------- */

/* log int (N_p N_q)^lambda over a box of 10 widened deviations about both means, by the midpoint rule, whose
 * error for such bells is far below the tolerance. */
static double integral(int d, int full, const double *mp, const double *cp, const double *mq,
                       const double *cq, double lambda)
{
    enum { N = 400 };
    double low[2], step[2], sum = 0, wide = 1 / sqrt(2 * lambda);
    for (int k = 0; k < d; k++) {
        double sp = sqrt(full ? cp[k * d + k] : cp[k]), sq = sqrt(full ? cq[k * d + k] : cq[k]);
        double reach = 10 * fmax(1, wide) * fmax(sp, sq);
        low[k] = fmin(mp[k], mq[k]) - reach;
        step[k] = (fmax(mp[k], mq[k]) + reach - low[k]) / N;
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < (d == 2 ? N : 1); j++) {
            double y[2] = { low[0] + (i + 0.5) * step[0], d == 2 ? low[1] + (j + 0.5) * step[1] : 0 };
            sum +=
                exp(lambda * (double)(slow_gaussian(d, full, mp, cp, y) + slow_gaussian(d, full, mq, cq, y)));
        }
    return log(sum * step[0] * (d == 2 ? step[1] : 1));
}

static void test_log_product(void **state)
{
    static const double lambdas[] = { 0.1, 0.5, 1, 1.7, 3 };
    double work[4096];
    vh_rng rng;
    (void)state;
    vh_rng_init(&rng, 3, VH_RNG_TEST, 0);
    for (int n = 0; n < 8; n++) {
        int d = 1 + n / 2 % 2, full = n % 2, dd = full ? d * d : d;
        const vh_emission *f = full ? &vh_gaussian_full : &vh_gaussian_diag;
        double mp[2], mq[2], cp[4] = { 0 }, cq[4] = { 0 };
        for (int k = 0; k < d; k++) {
            mp[k] = vh_rng_normal(&rng);
            mq[k] = vh_rng_normal(&rng);
        }
        random_covariance(&rng, d, 5, cp);
        random_covariance(&rng, d, 3, cq);
        for (int k = 0; k < dd; k++) {
            cp[k] = full ? 0.7 * cp[k] : 0.3 + vh_rng_uniform(&rng);
            cq[k] = full ? 1.6 * cq[k] : 0.3 + vh_rng_uniform(&rng);
        }
        for (size_t l = 0; l < sizeof lambdas / sizeof *lambdas; l++) {
            const double *p[] = { mp, cp }, *q[] = { mq, cq };
            double got, back;
            assert_true(f->log_product(&(vh_shape){ .d = d }, p, q, lambdas[l], &got, work));
            assert_true(f->log_product(&(vh_shape){ .d = d }, q, p, lambdas[l], &back, work));
            assert_near(got, integral(d, full, mp, cp, mq, cq, lambdas[l]), 1e-9, 1e-9);
            assert_near(got, back, 1e-15, 1e-15);
        }
    }
}

static void test_log_product_edges(void **state)
{
    double m[] = { 0, 1 }, v[] = { 1, 2 }, zero[] = { 1, 0 }, cov[] = { 1, 2, 2, 4 }, work[256], out = 7;
    double huge[] = { 1.7e308, 1e300 }, far[] = { -1.7e308, 1e300 };
    const double *p[] = { m, v }, *q[] = { m, zero }, *r[] = { m, cov }, *s[] = { huge, huge };
    const double *t[] = { far, huge };
    (void)state;
    assert_false(vh_gaussian_diag.log_product(&(vh_shape){ .d = 2 }, p, q, 0.5, &out, work));
    assert_false(vh_gaussian_full.log_product(&(vh_shape){ .d = 2 }, r, r, 0.5, &out, work));
    assert_true(out == 7);
    assert_true(vh_gaussian_diag.log_product(&(vh_shape){ .d = 2 }, s, t, 0.5, &out, work));
    assert_true(isfinite(out));
    assert_true(vh_gaussian_diag.log_product(&(vh_shape){ .d = 2 }, p, p, 0.5, &out, work));
    assert_near(out, 0, 0, 1e-15); /* the Bhattacharyya coefficient of p with itself */
}

/* ---- the kernel of two HMMs ---------------------------------------------------------------------------- */

/* log k~ over all pairs of state sequences and components. */
static double enumerate_kernel(const vhem_hmm_view *a, const vhem_hmm_view *b, int tau, double lambda)
{
    int Ca = a->S * a->M, Cb = b->S * b->M, full = is_full(a), dd = full ? a->d * a->d : a->d;
    const vh_emission *f = full ? &vh_gaussian_full : &vh_gaussian_diag;
    long double sum = 0, kernel[256];
    double work[4096], log_k;
    int64_t all = 1;
    for (int t = 0; t < tau; t++)
        all *= Ca * Cb;
    for (int e = 0; e < Ca * Cb; e++) {
        int m = e / Cb, l = e % Cb;
        const double *p[] = { a->mu + m * a->d, a->cov + m * dd };
        const double *q[] = { b->mu + l * a->d, b->cov + l * dd };
        assert_true(f->log_product(&(vh_shape){ .d = a->d }, p, q, lambda, &log_k, work));
        kernel[e] = expl(log_k) * powl(a->c[m], lambda) * powl(b->c[l], lambda);
    }
    for (int64_t path = 0; path < all; path++) {
        long double term = 1;
        int was_s = 0, was_r = 0;
        int64_t rest = path;
        for (int t = 0; t < tau; t++, rest /= Ca * Cb) {
            int e = (int)(rest % (Ca * Cb)), s = e / Cb / a->M, r = e % Cb / b->M;
            double step = t == 0 ? a->pi[s] * b->pi[r] : a->A[was_s * a->S + s] * b->A[was_r * b->S + r];
            term *= powl(step, lambda) * kernel[e];
            was_s = s;
            was_r = r;
        }
        sum += term;
    }
    return (double)logl(sum);
}

static void test_kernel_enumerated(void **state)
{
    static const double lambdas[] = { 0.3, 0.5, 1, 2 };
    vh_rng rng;
    (void)state;
    vh_rng_init(&rng, 4, VH_RNG_TEST, 0);
    for (int n = 0; n < 24; n++) {
        vhem_ctx *ctx = test_ctx_with(n % 3 ? NULL : "ref", 1, 1);
        int S = 1 + n % 2, M = 1 + n / 2 % 2, full = n / 4 % 2;
        vh_h3m *a = random_h3m(ctx, &rng, 2, S, M, 2, full, 1);
        vh_h3m *b = random_h3m(ctx, &rng, 3, 2, 1, 2, full, 1);
        vhem_distance_options o = options("ppk");
        double D[6];
        o.normalised = 0;
        o.tau = 1 + n % 4;
        o.lambda = lambdas[n % 4];
        assert_ok(ctx, vh_h3m_distance(ctx, a, b, &o, D, NULL));
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 3; j++) {
                vhem_hmm_view p = view_of(a, i), q = view_of(b, j);
                assert_near(D[i * 3 + j], enumerate_kernel(&p, &q, o.tau, o.lambda), 1e-12, 1e-12);
            }
        vh_h3m_free(a);
        vh_h3m_free(b);
        vhem_free(ctx);
    }
}

/* At lambda = 1 the kernel is E_a[p(y | b)]. */
static void test_kernel_sampled(void **state)
{
    enum { N = 20000, TAU = 3 };
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    (void)state;
    vh_rng_init(&rng, 5, VH_RNG_TEST, 0);
    vh_h3m *a = random_h3m(ctx, &rng, 1, 3, 2, 1, 0, 0.7), *b = random_h3m(ctx, &rng, 1, 2, 2, 1, 0, 0.7);
    vhem_data *y = NULL;
    double *loglik = malloc(sizeof *loglik * N), mean = 0, square = 0, D;
    assert_ok(ctx, vh_h3m_sample(ctx, a, N, TAU, &y));
    assert_ok(ctx, vh_h3m_score(ctx, b, y, loglik));
    for (int n = 0; n < N; n++) {
        mean += exp(loglik[n]) / N;
        square += exp(2 * loglik[n]) / N;
    }
    double error = sqrt((square - mean * mean) / N);
    vhem_distance_options o = options("ppk");
    o.normalised = 0;
    o.tau = TAU;
    o.lambda = 1;
    assert_ok(ctx, vh_h3m_distance(ctx, a, b, &o, &D, NULL));
    assert_true(error < 0.03 * mean);
    assert_near(exp(D), mean, 0, 4 * error);
    vhem_free(y);
    free(loglik);
    vh_h3m_free(a);
    vh_h3m_free(b);
    vhem_free(ctx);
}

/* A normalised kernel of a set with itself: ones on the diagonal, symmetric, below one; a copy says the
 * same. */
static void test_kernel_normalised(void **state)
{
    enum { K = 70 };
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    (void)state;
    vh_rng_init(&rng, 6, VH_RNG_TEST, 0);
    vh_h3m *a = random_h3m(ctx, &rng, K, 3, 2, 4, 0, 1), *copy = NULL;
    double *D = malloc(sizeof *D * K * K), *E = malloc(sizeof *E * K * K);
    vhem_distance_options o = options("ppk");
    assert_ok(ctx, vh_h3m_subset(ctx, a, NULL, K, &copy));
    assert_ok(ctx, vh_h3m_distance(ctx, a, a, &o, D, NULL));
    assert_ok(ctx, vh_h3m_distance(ctx, a, copy, &o, E, NULL));
    for (int i = 0; i < K; i++)
        for (int j = 0; j < K; j++) {
            assert_true(D[i * K + j] == D[j * K + i]);
            assert_true(i == j ? D[i * K + j] == 0 : D[i * K + j] < 0);
            assert_near(D[i * K + j], E[i * K + j], 1e-12, 1e-12);
        }
    free(D);
    free(E);
    vh_h3m_free(a);
    vh_h3m_free(copy);
    vhem_free(ctx);
}

/* A chain with one possible state sequence: the kernel is one product. */
static void test_kernel_zeros(void **state)
{
    vhem_ctx *ctx = test_ctx();
    const double pi[] = { 1, 0 }, A[] = { 0, 1, 1, 0 }, mu[] = { 0, 3 }, cov[] = { 1, 1 };
    vh_h3m *a = simple_hmm(ctx, 2, 1, pi, A, mu, cov);
    vhem_distance_options o = options("ppk");
    double D, product[2];
    const double *p0[] = { mu, cov }, *p1[] = { mu + 1, cov + 1 };
    (void)state;
    o.normalised = 0;
    o.tau = 3;
    assert_true(vh_gaussian_diag.log_product(&(vh_shape){ .d = 1 }, p0, p0, 0.5, &product[0], NULL));
    assert_true(vh_gaussian_diag.log_product(&(vh_shape){ .d = 1 }, p1, p1, 0.5, &product[1], NULL));
    assert_ok(ctx, vh_h3m_distance(ctx, a, a, &o, &D, NULL));
    assert_near(D, 2 * product[0] + product[1], 1e-14, 1e-14);
    vh_h3m_free(a);
    vhem_free(ctx);
}

/* ---- divergences --------------------------------------------------------------------------------------- */

/* KL of two Gaussians with diagonal covariances. */
static double gaussian_kl(int d, const double *m0, const double *v0, const double *m1, const double *v1)
{
    double sum = 0;
    for (int k = 0; k < d; k++)
        sum += v0[k] / v1[k] - 1 + log(v1[k] / v0[k]) + (m0[k] - m1[k]) * (m0[k] - m1[k]) / v1[k];
    return sum / 2;
}

/* HMMs of one state: tau independent Gaussians. */
static void test_kl_of_gaussians(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    double D[6], error[6];
    (void)state;
    vh_rng_init(&rng, 7, VH_RNG_TEST, 0);
    vh_h3m *a = random_h3m(ctx, &rng, 2, 1, 1, 3, 0, 0.5), *b = random_h3m(ctx, &rng, 3, 1, 1, 3, 0, 0.5);
    for (int sampled = 0; sampled < 2; sampled++)
        for (int symmetric = 0; symmetric < 2; symmetric++) {
            vhem_distance_options o = options(sampled ? "kl-sampled" : "kl");
            o.tau = 7;
            o.symmetric = symmetric;
            o.samples = 4000;
            assert_ok(ctx, vh_h3m_distance(ctx, a, b, &o, D, error));
            for (int k = 0; k < 6; k++) {
                vhem_hmm_view p = view_of(a, k / 3), q = view_of(b, k % 3);
                double want = 7 * gaussian_kl(3, p.mu, p.cov, q.mu, q.cov);
                if (symmetric)
                    want = (want + 7 * gaussian_kl(3, q.mu, q.cov, p.mu, p.cov)) / 2;
                assert_true(sampled ? error[k] > 0 && error[k] < 0.1 * want : error[k] == 0);
                assert_near(D[k], want, 1e-12, 1e-12 + 4 * error[k]);
            }
        }
    vh_h3m_free(a);
    vh_h3m_free(b);
    vhem_free(ctx);
}

/* The error says how far repeated estimates scatter. */
static void test_error_of_sampling(void **state)
{
    enum { REPEAT = 60 };
    vh_rng rng;
    double mean = 0, square = 0, said = 0;
    vhem_ctx *first = test_ctx();
    (void)state;
    vh_rng_init(&rng, 8, VH_RNG_TEST, 0);
    vh_h3m *a = random_h3m(first, &rng, 1, 2, 2, 2, 0, 1), *b = random_h3m(first, &rng, 1, 2, 1, 2, 0, 1);
    for (int n = 0; n < REPEAT; n++) {
        vhem_ctx *ctx = test_ctx_with(NULL, 1, (uint64_t)(1000 + n));
        vhem_distance_options o = options("kl-sampled");
        double D, error;
        o.samples = 200;
        o.symmetric = 1;
        assert_ok(ctx, vh_h3m_distance(ctx, a, b, &o, &D, &error));
        mean += D / REPEAT;
        square += D * D / REPEAT;
        said += error / REPEAT;
        vhem_free(ctx);
    }
    double scatter = sqrt((square - mean * mean) * REPEAT / (REPEAT - 1.0));
    assert_true(scatter < 1.4 * said && scatter > 0.7 * said); /* 4 deviations of 60 draws */
    vh_h3m_free(a);
    vh_h3m_free(b);
    vhem_free(first);
}

/* A set against itself: no distance to itself, symmetric when asked for, and the same as against a copy. */
static void test_same_set(void **state)
{
    enum { K = 20 };
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    double D[K * K], E[K * K], error[K * K], copy_error[K * K];
    (void)state;
    vh_rng_init(&rng, 9, VH_RNG_TEST, 0);
    vh_h3m *a = random_h3m(ctx, &rng, K, 2, 2, 2, 0, 3), *copy = NULL;
    assert_ok(ctx, vh_h3m_subset(ctx, a, NULL, K, &copy));
    for (int sampled = 0; sampled < 2; sampled++) {
        vhem_distance_options o = options(sampled ? "kl-sampled" : "kl");
        o.samples = 50;
        for (o.symmetric = 0; o.symmetric < 2; o.symmetric++) {
            assert_ok(ctx, vh_h3m_distance(ctx, a, a, &o, D, error));
            assert_ok(ctx, vh_h3m_distance(ctx, a, copy, &o, E, copy_error));
            for (int i = 0; i < K; i++)
                for (int j = 0; j < K; j++) {
                    double off = D[i * K + j] - E[i * K + j];
                    assert_true(i != j || (D[i * K + j] == 0 && error[i * K + j] == 0));
                    assert_true(!o.symmetric || D[i * K + j] == D[j * K + i]);
                    assert_true(fabs(off) < 1e-8 + 5 * (error[i * K + j] + copy_error[i * K + j]));
                }
        }
    }
    vh_h3m_free(a);
    vh_h3m_free(copy);
    vhem_free(ctx);
}

/* ---- input --------------------------------------------------------------------------------------------- */

/* Diagonal against full covariances: the diagonal ones are taken as full. */
static void test_mixed_families(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    static const char *const kinds[] = { "kl", "kl-sampled", "ppk" };
    (void)state;
    vh_rng_init(&rng, 10, VH_RNG_TEST, 0);
    vh_h3m *a = random_h3m(ctx, &rng, 2, 2, 2, 3, 0, 1), *b = random_h3m(ctx, &rng, 2, 2, 1, 3, 1, 1);
    vh_h3m *full = NULL;
    assert_ok(ctx, vh_h3m_widest(ctx, a, &full));
    for (int k = 0; k < 3; k++) {
        vhem_distance_options o = options(kinds[k]);
        double D[4], E[4], back[4];
        o.samples = 20;
        assert_ok(ctx, vh_h3m_distance(ctx, a, b, &o, D, NULL));
        assert_ok(ctx, vh_h3m_distance(ctx, full, b, &o, E, NULL));
        assert_ok(ctx, vh_h3m_distance(ctx, b, a, &o, back, NULL));
        for (int e = 0; e < 4; e++) {
            assert_true(D[e] == E[e]);
            assert_true(k < 2 || is_near(D[e], back[e % 2 * 2 + e / 2], 1e-12, 1e-12));
        }
    }
    vh_h3m_free(a);
    vh_h3m_free(b);
    vh_h3m_free(full);
    vhem_free(ctx);
}

static void test_refused(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    double D[4] = { 1, 2, 3, 4 };
    (void)state;
    vh_rng_init(&rng, 11, VH_RNG_TEST, 0);
    vh_h3m *a = random_h3m(ctx, &rng, 2, 2, 1, 2, 0, 1), *b = random_h3m(ctx, &rng, 2, 2, 1, 3, 0, 1);
    vhem_distance_options o = options("ppk");
    assert_fails(ctx, vh_h3m_distance(ctx, a, b, &o, D, NULL), VHEM_EINVAL,
                 "dimension 2, but the second have 3");
    o.kind = "cosine";
    assert_fails(ctx, vh_h3m_distance(ctx, a, a, &o, D, NULL), VHEM_EINVAL,
                 "kind 'cosine' is unknown; known are kl, kl-sampled, ppk");
    o = options("ppk");
    o.tau = 0;
    assert_fails(ctx, vh_h3m_distance(ctx, a, a, &o, D, NULL), VHEM_EINVAL, "tau is 0");
    o = options("ppk");
    o.lambda = 0;
    assert_fails(ctx, vh_h3m_distance(ctx, a, a, &o, D, NULL), VHEM_EINVAL, "lambda is 0");
    o.lambda = INFINITY;
    assert_fails(ctx, vh_h3m_distance(ctx, a, a, &o, D, NULL), VHEM_EINVAL, "lambda is inf");
    o = options("kl-sampled");
    o.samples = 1;
    assert_fails(ctx, vh_h3m_distance(ctx, a, a, &o, D, NULL), VHEM_EINVAL, "samples is 1");
    vh_hmm_param(a, &a->hmm[1], 1)[2] = 0;
    for (int k = 0; k < 3; k++) {
        o = options((const char *[]){ "kl", "kl-sampled", "ppk" }[k]);
        assert_fails(ctx, vh_h3m_distance(ctx, a, a, &o, D, NULL), VHEM_ENUMERIC,
                     "HMM 1: the covariance of state 1, component 0 is singular");
    }
    vhem_ctx_stop(ctx);
    o = options("ppk");
    assert_fails(ctx, vh_h3m_distance(ctx, b, b, &o, D, NULL), VHEM_ESTOPPED, "stopped");
    assert_true(D[0] == 1 && D[1] == 2 && D[2] == 3 && D[3] == 4);
    vh_h3m_free(a);
    vh_h3m_free(b);
    vhem_free(ctx);
}

/* The same bytes at any number of threads. */
static void test_threads(void **state)
{
    enum { K = 150 };
    static const char *const kinds[] = { "kl", "kl-sampled", "ppk" };
    vh_rng rng;
    vhem_ctx *one = test_ctx_with(NULL, 1, 3), *two = test_ctx_with(NULL, 2, 3);
    double *D = malloc(sizeof *D * K * K), *E = malloc(sizeof *E * K * K);
    (void)state;
    vh_rng_init(&rng, 12, VH_RNG_TEST, 0);
    vh_h3m *a = random_h3m(one, &rng, K, 2, 1, 2, 0, 1);
    for (int k = 0; k < 3; k++) {
        vhem_distance_options o = options(kinds[k]);
        o.samples = 20;
        assert_ok(one, vh_h3m_distance(one, a, a, &o, D, NULL));
        assert_ok(two, vh_h3m_distance(two, a, a, &o, E, NULL));
        assert_memory_equal(D, E, sizeof *D * K * K);
    }
    free(D);
    free(E);
    vh_h3m_free(a);
    vhem_free(one);
    vhem_free(two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_product),       cmocka_unit_test(test_log_product_edges),
        cmocka_unit_test(test_kernel_enumerated), cmocka_unit_test(test_kernel_sampled),
        cmocka_unit_test(test_kernel_normalised), cmocka_unit_test(test_kernel_zeros),
        cmocka_unit_test(test_kl_of_gaussians),   cmocka_unit_test(test_error_of_sampling),
        cmocka_unit_test(test_same_set),          cmocka_unit_test(test_mixed_families),
        cmocka_unit_test(test_refused),           cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
