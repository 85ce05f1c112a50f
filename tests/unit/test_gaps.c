/* SPDX-License-Identifier: BSD-3-Clause */
/* test_gaps.c - missing cells: densities against sums over what is missing, variational Bayes column by
 * column, and what never falls. */
#include "engine.h"

#include "emission/gaussian.h"
#include "emission/layout.h"
#include "vhem.h"

/* The density of what a frame has is the integral over what it lacks. */
static void density_by_integration(void **state)
{
    (void)state;
    const vh_shape shape = { .d = 2 };
    const double mu[] = { 0.5, -1 }, cov[] = { 1.5, 0.7, 0.7, 0.8 }, *par[VH_MAX_PARAM] = { mu, cov },
                 frame[] = { 1.2, NAN };
    double work[200], marginal, sum = 0;
    assert_true(vh_gaussian_full_gaps.log_density(&shape, par, frame, 1, &marginal, work));
    for (int i = -4000; i <= 4000; i++) {
        double whole[] = { 1.2, mu[1] + i * 0.002 }, log_p;
        assert_true(vh_gaussian_full.log_density(&shape, par, whole, 1, &log_p, work));
        sum += 0.002 * exp(log_p);
    }
    assert_near(marginal, log(sum), 1e-10, 1e-10);
}

/* Expected statistics given the cell that is there, against the same sum. */
static void statistics_by_integration(void **state)
{
    (void)state;
    const double mu[] = { 0.5, -1 }, cov[] = { 1.5, 0.7, 0.7, 0.8 }, *par[VH_MAX_PARAM] = { mu, cov },
                 frames[] = { 1.2, NAN, NAN, NAN, NAN, 0.3 }, w[] = { 1, 1, 0 }, origin[] = { 1, 2 },
                 scale[] = { 2, 3 };
    const vh_coords x = { { .d = 2 }, origin, scale };
    double work[200], got[7] = { 0 }, want[7] = { 0 }, all = 0;
    vh_gaussian_full_gaps.gather(&x, par, frames, w, 3, got, work);
    for (int i = -4000; i <= 4000; i++) {
        double whole[] = { 1.2, mu[1] + i * 0.002 }, log_p, T[7];
        assert_true(vh_gaussian_full.log_density(&x.shape, par, whole, 1, &log_p, work));
        vh_gaussian_full.stats_of_obs(&x, whole, 1, T);
        for (int e = 1; e < 6; e++)
            want[e] += exp(log_p) * T[e];
        all += exp(log_p);
    }
    assert_near(got[0], 2, 1e-15, 0); /* the frame that has nothing counts here alone */
    for (int e = 1; e < 6; e++)
        assert_near(got[e], want[e] / all, 1e-9, 1e-9);
    assert_near(got[6], 1, 1e-15, 0);
}

static double *frames_with_gaps(int n, int d, double missing, uint64_t seed)
{
    double *y = malloc(sizeof *y * (size_t)(n * d));
    vh_rng rng;
    vh_rng_init(&rng, seed, VH_RNG_TEST, 0);
    for (int t = 0; t < n; t++) {
        double s = t / 7 % 2 ? 3 : -1, common = vh_rng_normal(&rng);
        for (int k = 0; k < d; k++) {
            y[t * d + k] = s + common + (1 + k) * vh_rng_normal(&rng);
            if (vh_rng_uniform(&rng) < missing)
                y[t * d + k] = NAN;
        }
    }
    return y;
}

static vh_h3m *fitted(vhem_ctx *ctx, const vhem_data *data, vhem_fit_options opt, double *bound)
{
    vh_h3m *h3m = NULL;
    vhem_fit_report *report = NULL;
    assert_ok(ctx, vh_fit_each(ctx, data, &opt, &h3m, &report));
    if (bound)
        *bound = report->run[report->best[0]].bound;
    assert_ok(ctx, vh_h3m_validate(ctx, h3m));
    vhem_free(report);
    return h3m;
}

/* With one state each column has its normal-gamma posterior from the frames that have it. */
static void columns_by_hand(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const char *prior =
        "{\"format\": \"vhem-prior\", \"version\": 1, \"emission\": \"gaussian-diag\", \"d\": 2, "
        "\"eta\": 1, \"eps\": 1, \"kappa\": 1, \"lambda\": 0.5, \"nu\": 3, \"m\": [1, 2], "
        "\"W\": [0.25, 0.125]}";
    double y[] = { 1, NAN, 4, 7, NAN, NAN, 2, 9, 6, NAN, 3, 5 }, m0[] = { 1, 2 }, B0[] = { 4, 8 };
    int T = 6;
    vhem_data *data = wrap(ctx, 1, &T, 2, y);
    vhem_fit_options opt;
    VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
    opt.S = 1;
    opt.prior = prior;
    opt.cov_floor = 0;
    vh_h3m *h3m = fitted(ctx, data, opt, NULL);
    for (int k = 0; k < 2; k++) {
        double n = 0, mean = 0, C = 0;
        for (int t = 0; t < T; t++)
            if (!isnan(y[2 * t + k])) {
                n++;
                mean += y[2 * t + k];
            }
        mean /= n;
        for (int t = 0; t < T; t++)
            C += isnan(y[2 * t + k]) ? 0 : pow(y[2 * t + k] - mean, 2);
        double nu = 3 + n, B = B0[k] + C + 0.5 * n / (0.5 + n) * pow(mean - m0[k], 2);
        assert_near(vh_hmm_param(h3m, &h3m->hmm[0], 0)[k], (0.5 * m0[k] + n * mean) / (0.5 + n), 1e-12, 0);
        assert_near(vh_hmm_param(h3m, &h3m->hmm[0], 1)[k], B / fmax(nu - 2, nu / 2), 1e-12, 0);
    }
    vh_h3m_free(h3m);
    vhem_free(data);
    vhem_free(ctx);
}

/* Neither the bound of the evidence nor the likelihood falls, for either covariance and on every backend, and
 * all backends climb to the same place. */
static void never_falls(void **state)
{
    (void)state;
    const char *emission[] = { "gaussian-diag", "gaussian-full" }, *prior[] = { "vb", "none" }, *name;
    double *y = frames_with_gaps(80, 3, 0.3, 5), first = 0;
    int T = 80;
    for (int c = 0; c < 4; c++)
        for (int b = 0; (name = test_backend(b)); b++) {
            vhem_ctx *ctx = test_ctx_with(name, 1, 1);
            vhem_data *data = wrap(ctx, 1, &T, 3, y);
            vhem_fit_options opt;
            double last = -INFINITY;
            char *text = NULL;
            VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
            opt.S = 2;
            opt.restarts = 1;
            opt.emission = emission[c % 2];
            opt.prior = prior[c / 2];
            opt.max_iter = 1;
            vh_h3m *start = fitted(ctx, data, opt, NULL);
            if (start->prior)
                text = strdup(start->prior);
            opt.prior = text ? text : "none";
            opt.start = HMMS(start);
            opt.tol = opt.repair = 0;
            for (opt.max_iter = 1; opt.max_iter < 15; opt.max_iter++) {
                double bound;
                vh_h3m_free(fitted(ctx, data, opt, &bound));
                if (!(bound >= last - 1e-10 * fabs(bound)))
                    fail_msg("%s, %s, prior %s: fell from %.12g to %.12g", name, opt.emission, prior[c / 2],
                             last, bound);
                last = bound;
            }
            if (b == 0)
                first = last;
            assert_near(last, first, 1e-8, 1e-8);
            vh_h3m_free(start);
            free(text);
            vhem_free(data);
            vhem_free(ctx);
        }
    free(y);
}

static void count_falls(void *arg, int level, const char *text)
{
    *(int *)arg += level == VHEM_LOG_WARN && strstr(text, "fell");
}

/* Two channels whose columns go together, with columns of other families between and after them. */
static vh_layout *mixed_layout(vhem_ctx *ctx)
{
    static const char *const of[] = { "gaussian-full", "categorical", "gaussian-diag", "gaussian-full",
                                      "poisson" },
                             *const symbol[] = { "0", "1", "2" }, *const column[] = { "a", "b", "s", "g",
                                                                                      "e", "f", "h", "n" };
    const int width[] = { 2, 1, 1, 3, 1 };
    vh_layout *layout = NULL;
    assert_ok(ctx, vh_layout_new(ctx, 5, &layout));
    layout->family = vh_emission_find("product");
    for (int c = 0; c < 5; c++) {
        layout->channel[c].family = vh_emission_find(of[c]);
        layout->channel[c].shape.d = width[c];
    }
    assert_ok(ctx, vh_layout_symbols(ctx, layout, 1, symbol, 3));
    assert_ok(ctx, vh_layout_columns(ctx, layout, column));
    vh_layout_close(layout);
    return layout;
}

/* The bound of a product, whatever cells of a channel are missing. */
static void products_never_fall(void **state)
{
    (void)state;
    enum { T = 60, D = 8 };
    int length = T;
    for (int trial = 0; trial < 24; trial++) {
        int falls = 0;
        vhem_ctx_options copt;
        vhem_ctx *ctx = NULL;
        vhem_data *data = NULL;
        vh_h3m *fit = NULL;
        vhem_fit_options opt;
        vh_rng rng;
        VHEM_INIT(VHEM_CTX_OPTIONS, &copt);
        copt.log = count_falls;
        copt.log_arg = &falls;
        copt.threads = 1;
        assert_int_equal(vhem_ctx_new(&copt, &ctx), VHEM_OK);
        double *y = frames_with_gaps(T, D, 0.1 + 0.2 * (trial % 4), 900 + (uint64_t)trial);
        vh_rng_init(&rng, 901, VH_RNG_TEST, (uint64_t)trial);
        for (int t = 0; t < T; t++) /* symbols and counts */
            for (int k = 2; k < D; k += D - 3)
                if (!isnan(y[t * D + k]))
                    y[t * D + k] = (double)vh_rng_below(&rng, t / 7 % 2 ? 3 : 2);
        assert_ok(ctx, call_wrap(ctx, 1, &length, D, y, &data));
        VH_OWN(vh_layout) *layout = mixed_layout(ctx); /* the data borrow it */
        data->layout = layout;
        VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
        opt.S = 1 + trial % 3;
        opt.M = 1 + trial / 3 % 2;
        opt.restarts = 2;
        opt.tol = 0;
        opt.max_iter = 40;
        assert_ok(ctx, vh_fit_each(ctx, data, &opt, &fit, NULL));
        if (falls > 0)
            fail_msg("trial %d: the bound fell %d times", trial, falls);
        vh_h3m_free(fit);
        vhem_free(data);
        vhem_free(ctx);
        free(y);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(density_by_integration), cmocka_unit_test(statistics_by_integration),
        cmocka_unit_test(columns_by_hand),        cmocka_unit_test(never_falls),
        cmocka_unit_test(products_never_fall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
