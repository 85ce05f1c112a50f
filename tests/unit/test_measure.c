/* SPDX-License-Identifier: BSD-3-Clause */
/* test_measure.c - measures of clusters by hand: expected log-likelihood, likelihood of sequences,
 * compactness, and the paired t-test against tabulated values; and what statistics begin with: scores of
 * persons, and whether models are those that were clustered. */
#include "cluster_samples.h"

#include "math/student.h"
#include "vhem.h"
#include "vhem/analysis.h"

/* Clusters of one-state Gaussians N(m, 1) in one dimension. */
static vh_h3m *gaussians_of(vhem_ctx *ctx, int K, const double *mean, double cov)
{
    vhem_hmm_view view[8];
    double theta[8][3], one = 1;
    vh_h3m *h3m = NULL;
    for (int i = 0; i < K; i++) {
        theta[i][0] = 1;
        theta[i][1] = mean[i];
        theta[i][2] = cov;
        view[i] = (vhem_hmm_view){ .S = 1,
                                   .M = 1,
                                   .d = 1,
                                   .n_theta = 3,
                                   .omega = 1.0 / K,
                                   .pi = &one,
                                   .A = &one,
                                   .theta = theta[i],
                                   .name = "",
                                   .label = "" };
    }
    assert_ok(ctx, vh_h3m_from_views(ctx, "gaussian-diag", 1, K, view, &h3m));
    return h3m;
}

static vh_h3m *gaussians(vhem_ctx *ctx, int K, const double *mean)
{
    return gaussians_of(ctx, K, mean, 1);
}

/* A tree of one level from a file: 4 models in clusters { 0, 1, 2 } and { 3 } of three, the third empty. */
static vhem_tree *sample(vhem_ctx *ctx)
{
    static const char *const text =
        "{\"format\": \"vhem-clustering\", \"version\": 1, \"method\": \"vhem\","
        "\"options\": {\"tau\": 2, \"lambda\": 0.5, \"kernel\": \"normalised\"},"
        "\"names\": [\"a\", \"b\", \"b\", \"c\"], \"labels\": [0, 0, 0, 1], \"n_iter\": 0,"
        "\"converged\": true,"
        "\"centers\": {\"format\": \"vhem-h3m\", \"version\": 1, \"emission\": \"gaussian-diag\", \"d\": 1,"
        "\"omega\": [0.5, 0.25, 0.25], \"hmms\": ["
        "{\"S\": 1, \"M\": 1, \"pi\": [1], \"A\": [[1]], \"c\": [[1]], \"mu\": [[[0]]], \"cov\": [[[1]]]},"
        "{\"S\": 1, \"M\": 1, \"pi\": [1], \"A\": [[1]], \"c\": [[1]], \"mu\": [[[9]]], \"cov\": [[[1]]]},"
        "{\"S\": 1, \"M\": 1, \"pi\": [1], \"A\": [[1]], \"c\": [[1]], \"mu\": [[[2]]], \"cov\": [[[1]]]}]}}";
    const char *path = test_scratch("measure.json");
    vhem_tree *tree = NULL;
    test_write(path, text, strlen(text));
    assert_ok(ctx, vhem_tree_load(ctx, path, &tree));
    remove(path);
    return tree;
}

static void test_by_hand(void **state)
{
    static const double mean[] = { 0, 1, 2, 10 }, y[] = { 0.5, -0.5, 9 };
    static const int T[] = { 2, 1 };
    vhem_ctx *ctx = test_ctx();
    vh_h3m *models = gaussians(ctx, 4, mean);
    vhem_tree *tree = sample(ctx);
    vhem_data *data = NULL;
    vhem_measures m;
    vhem_cluster_options opt = cluster_options();
    double log_2pi = log(2 * acos(-1.0));
    (void)state;
    assert_ok(ctx, call_wrap(ctx, 2, T, 1, y, &data));
    assert_ok(ctx, call_measure(ctx, tree, 0, models, data, NULL, &m));
    /* tau = 2 frames of E[log N(y; m, 1)] = -(log 2 pi + 1 + (mu - m)^2) / 2, the third centre left out. */
    assert_near(m.expected_loglik, -(log_2pi + 1 + (0 + 1 + 4 + 1) / 4.0), 1e-12, 0);
    /* Affinity of N(a, 1) and N(b, 1): exp(-(a - b)^2 / 8), to the power tau; pairs 01, 02, 12. */
    assert_near(m.compactness, (2 * exp(-2 / 8.0) + exp(-8 / 8.0)) / 3, 1e-12, 0);
    /* Sequences without names count under the centre that fits best: the first N(0), the second N(9). */
    assert_near(m.loglik, -log_2pi - 0.25 - log_2pi / 2, 1e-12, 0);
    /* What was clustered counts under its own centre, however badly that fits: 'c' is in the cluster of N(9),
     * the group 'b' in that of N(0). */
    assert_ok(ctx, call_describe(ctx, data, (const char *[]){ "c", "new" }, NULL, (const char *[]){ "", "b" },
                                 NULL, NULL));
    assert_ok(ctx, call_measure(ctx, tree, 0, models, data, NULL, &m));
    assert_near(m.loglik, -1.5 * log_2pi - (8.5 * 8.5 + 9.5 * 9.5 + 81) / 2, 1e-12, 0);
    opt.tau = 4;
    opt.lambda = 1;
    opt.kernel = "raw";
    assert_ok(ctx, call_measure(ctx, tree, 0, models, NULL, &opt, &m));
    assert_near(m.expected_loglik, -2 * (log_2pi + 1 + (0 + 1 + 4 + 1) / 4.0), 1e-12, 0);
    double k = pow(4 * acos(-1.0), -2); /* N(0; 0, 2) to the power 4 */
    assert_near(m.compactness, k * (2 * exp(-1) + exp(-4)) / 3, 1e-12, 0);
    assert_true(isnan(m.loglik));
    assert_fails(ctx, call_measure(ctx, tree, 1, models, NULL, &opt, &m), VHEM_EINVAL,
                 "level 2 of a tree of 1");
    vh_h3m *few = gaussians(ctx, 3, mean);
    assert_fails(ctx, call_measure(ctx, tree, 0, few, NULL, &opt, &m), VHEM_EINVAL,
                 "there are 3 models, the clusters were made of 4");
    assert_near(m.compactness, k * (2 * exp(-1) + exp(-4)) / 3, 1e-12, 0); /* left as it was */
    vh_h3m_free(few);
    vh_h3m_free(models);
    vhem_free(data);
    vhem_free(tree);
    vhem_free(ctx);
}

/* Points have no product kernel; the rest can be said of them. */
static void test_singular(void **state)
{
    static const double mean[] = { 0, 1, 2, 10 };
    vhem_ctx *ctx = test_ctx();
    vh_h3m *models = gaussians_of(ctx, 4, mean, 0);
    vhem_tree *tree = sample(ctx);
    vhem_measures m;
    (void)state;
    assert_ok(ctx, call_measure(ctx, tree, 0, models, NULL, NULL, &m));
    assert_near(m.expected_loglik, -(log(2 * acos(-1.0)) + (0 + 1 + 4 + 1) / 4.0), 1e-12, 0);
    assert_true(isnan(m.compactness));
    vh_h3m_free(models);
    vhem_free(tree);
    vhem_free(ctx);
}

/* Of clusters that were just made, the expected log-likelihood is the mean of the largest L_hmm. */
static void test_of_a_result(void **state)
{
    vhem_ctx *ctx = test_ctx();
    static const int K[] = { 3, 1 };
    vh_h3m *h3m = clustered_h3m(ctx, 3, 3, 6, 2, 1, 2, 0, 0.3);
    vhem_tree *tree = NULL;
    vhem_cluster_options opt = cluster_options();
    vhem_measures m, top;
    double mean = 0;
    (void)state;
    opt.method = "ppk-ac";
    assert_ok(ctx, call_tree_build(ctx, h3m, 2, K, &opt, &tree));
    assert_ok(ctx, call_measure(ctx, tree, 0, h3m, NULL, NULL, &m));
    assert_ok(ctx, call_measure(ctx, tree, 1, h3m, NULL, NULL, &top));
    for (int i = 0; i < 18; i++)
        mean += vh_tree_level(tree, 0)->L_hmm[i * 3 + vh_tree_level(tree, 0)->label[i]] / 18;
    assert_near(m.expected_loglik, mean, 1e-10, 0);
    assert_true(top.expected_loglik < m.expected_loglik && top.compactness < m.compactness);
    assert_true(m.compactness > 0 && m.compactness <= 3);
    vhem_free(tree);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

static void test_student(void **state)
{
    (void)state;
    /* Two-sided 5 % points of the usual tables. */
    assert_near(vh_student_two_sided(12.7062047361747, 1), 0.05, 1e-10, 0);
    assert_near(vh_student_two_sided(2.77644510519779, 4), 0.05, 1e-10, 0);
    assert_near(vh_student_two_sided(-2.26215716274, 9), 0.05, 1e-9, 0);
    assert_near(vh_student_two_sided(1.98397151845, 100), 0.05, 1e-9, 0);
    assert_near(vh_student_beyond(0.05, 1), 12.7062047361747, 1e-10, 0);
    assert_near(vh_student_beyond(0.05, 9), 2.26215716274, 1e-10, 0);
    assert_near(vh_beta_quantile(1, 1, 0.3), 0.3, 1e-12, 0);
    assert_near(vh_beta_quantile(2, 1, 0.25), 0.5, 1e-12, 0); /* I_x(2, 1) = x^2 */
    assert_near(vh_incomplete_beta(3.5, 60, vh_beta_quantile(3.5, 60, 0.975)), 0.975, 1e-10, 0);
    /* One degree is the Cauchy distribution, two have a closed form. */
    for (double t = 0.01; t < 1e4; t *= 3) {
        assert_near(vh_student_two_sided(t, 1), 1 - 2 / acos(-1.0) * atan(t), 1e-9, 1e-15);
        assert_near(vh_student_two_sided(t, 2), 1 - t / sqrt(2 + t * t), 1e-6, 1e-15);
    }
    assert_near(vh_student_two_sided(0, 5), 1, 0, 1e-14);
    assert_near(vh_incomplete_beta(2, 3, 0.3), 0.3483, 1e-12, 0); /* 6x^2 - 8x^3 + 3x^4 */
    assert_true(vh_student_two_sided(1e200, 5) < 1e-300);
}

static void test_noncentral(void **state)
{
    /* t, degrees of freedom, delta, and the probability by SciPy */
    static const double by_scipy[][4] = {
        { 2, 10, 1, 0.8076115625303752 },
        { -1.5, 3, 0.5, 0.0500973614974971 },
        { 0, 1, 0.3, 0.3820885778110474 },
        { 7.5, 10, 9, 0.19063457703667008 },
        { 60, 4, 40, 0.7762976111486408 },
        { 1.2, 200, 1, 0.5785335364838101 },
        { 3, 1, 2, 0.5248571617336879 },
        /* by mpmath */
        { 1e4, 5, 12000, 0.20618593094130474 },
        { 1e7, 1, 3e5, 0.97606705317177483 },
        { -3e5, 29, -3.1e5, 0.63295006787360132 },
        { 1e12, 10, 9e11, 0.61906960556833799 },
    };
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_noncentral x;
    for (size_t i = 0; i < sizeof by_scipy / sizeof *by_scipy; i++) {
        assert_ok(ctx, vh_noncentral_new(ctx, by_scipy[i][0], by_scipy[i][1], &x));
        assert_near(vh_noncentral_below(&x, by_scipy[i][2]), by_scipy[i][3], 0, 1e-9);
        assert_near(vh_noncentral_delta(&x, by_scipy[i][3]), by_scipy[i][2], 1e-7, 0);
        vh_noncentral_free(&x);
    }
    for (double t = -4; t < 4; t += 0.7) { /* without delta it is the usual one */
        double tail = vh_student_two_sided(t, 6) / 2;
        assert_ok(ctx, vh_noncentral_new(ctx, t, 6, &x));
        assert_near(vh_noncentral_below(&x, 0), t < 0 ? tail : 1 - tail, 0, 1e-9);
        vh_noncentral_free(&x);
    }
    vhem_free(ctx);
}

static void test_paired(void **state)
{
    static const double a[] = { 3, 5, 4, 6 }, b[] = { 1, 2, 3, 4 }; /* differences 2 3 1 2 */
    double t, p;
    (void)state;
    vhem_paired_t(4, a, b, &t, &p);
    assert_near(t, 2 / sqrt(2 / 3.0 / 4), 1e-12, 0);
    assert_near(p, vh_student_two_sided(t, 3), 0, 0);
    assert_near(p, 0.0162766034594, 1e-9, 0);
    vhem_paired_t(4, b, a, &t, &p);
    assert_near(t, -2 / sqrt(2 / 3.0 / 4), 1e-12, 0);
    vhem_paired_t(1, a, b, &t, &p);
    assert_true(isnan(p));
    vhem_paired_t(4, a, a, &t, &p);
    assert_true(isnan(p) && isnan(t));
    const double c[] = { 3 + 1e-15, 5 + 2e-15, 4, 6 + 1e-15 }; /* rounding is no difference */
    vhem_paired_t(4, c, a, &t, &p);
    assert_true(isnan(p) && isnan(t));
}

/* The scores of statistics are the same with tests and without. */
static void test_persons(void **state)
{
    static const double y[] = { 0, 1, 9, 8, 2, 2 };
    vhem_ctx *ctx = test_ctx();
    vhem_tree *tree = sample(ctx);
    vhem_data *data = NULL;
    vhem_statistics *s = NULL, *scores = NULL;
    vhem_stats_input in;
    (void)state;
    VHEM_INIT(VHEM_STATS_INPUT, &in);
    assert_ok(ctx, call_wrap(ctx, 3, (int[]){ 2, 2, 2 }, 1, y, &data));
    in.tree = tree;
    in.data = data;
    assert_ok(ctx, vhem_stats(ctx, &in, &s));
    assert_ok(ctx, vhem_score_persons(ctx, &in, &scores));
    assert_int_equal(scores->n, 3);
    assert_int_equal(scores->K, 3);
    assert_memory_equal(s->loglik, scores->loglik, sizeof *s->loglik * 9);
    assert_memory_equal(s->cluster, scores->cluster, sizeof *s->cluster * 3);
    assert_near(scores->loglik[1], -(81 + 64) / 4.0 - 0.5 * log(2 * acos(-1)), 1e-12, 0);
    assert_true(s->n_test > 0 && s->n_group == 3);
    assert_true(scores->n_test == 0 && scores->n_group == 0 && !scores->test);
    in.level = 1;
    vhem_free(scores);
    assert_fails(ctx, vhem_score_persons(ctx, &in, &scores), VHEM_EINVAL, "level 2 of a tree of 1");
    vhem_free(s);
    vhem_free(data);
    vhem_free(tree);
    vhem_free(ctx);
}

/* The models that were clustered, by their number and their names. */
static void test_models_of_a_tree(void **state)
{
    static const double mean[] = { 0, 1, 2, 9 };
    vhem_ctx *ctx = test_ctx();
    vhem_tree *tree = sample(ctx);
    vh_h3m *same = gaussians(ctx, 4, mean), *fewer = gaussians(ctx, 3, mean);
    (void)state;
    assert_ok(ctx, vhem_tree_check(ctx, tree, HMMS(same)));
    assert_fails(ctx, vhem_tree_check(ctx, tree, HMMS(fewer)), VHEM_EINVAL,
                 "there are 3 models, the clusters were made of 4");
    same->hmm[3].name = strdup("b");
    assert_fails(ctx, vhem_tree_check(ctx, tree, HMMS(same)), VHEM_EINVAL,
                 "HMM 3 is 'b', but 'c' in the clusters");
    vh_h3m_free(same);
    vh_h3m_free(fewer);
    vhem_free(tree);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),     cmocka_unit_test(test_singular),
        cmocka_unit_test(test_of_a_result), cmocka_unit_test(test_student),
        cmocka_unit_test(test_noncentral),  cmocka_unit_test(test_paired),
        cmocka_unit_test(test_persons),     cmocka_unit_test(test_models_of_a_tree)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
