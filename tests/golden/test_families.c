/* SPDX-License-Identifier: BSD-3-Clause */
/* test_families.c - the golden numbers of emission families and of missing values, to 1e-9, on every backend.
 * Files and cases of families that are not there are passed over. */
#include "golden.h"

#include "distance/distance.h"
#include "fit/infer.h"
#include "emission/layout.h"
#include "vhem/vhem_h3m.h"
#include "vhem.h"

#define FOLDER "families/"

static bool is_known(json_t *model)
{
    const char *emission = json_string_value(json_object_get(model, "emission"));
    return emission && vh_emission_find(emission);
}

static void turn_component(const vh_emission *f, const vh_shape *shape, double *const *par)
{
    for (int p = 0; p < f->n_param; p++) {
        size_t n = strcmp(f->param[p].name, "mean") == 0 ? vh_param_size(f, p, shape) : 0;
        for (size_t k = 0; k < n; k++)
            par[p][k] = remainder(par[p][k], 2 * acos(-1));
        for (int c = 0; vh_param_is_channels(&f->param[p]) && c < shape->layout->n_channel; c++) {
            const vh_channel *ch = &shape->layout->channel[c];
            double *of[VH_MAX_PARAM];
            vh_channel_par(ch, par, of);
            turn_component(ch->family, &ch->shape, of);
        }
    }
}

/* Angles agree up to whole turns. */
static void turn(vh_h3m *h3m)
{
    for (int64_t i = 0; i < h3m->K; i++)
        for (int q = 0; q < h3m->hmm[i].S * h3m->hmm[i].M; q++) {
            double *par[VH_MAX_PARAM];
            vh_hmm_component(h3m, &h3m->hmm[i], q / h3m->hmm[i].M, q % h3m->hmm[i].M, par);
            turn_component(h3m->family, &h3m->shape, par);
        }
}

static void assert_same(const char *what, vh_h3m *got, json_t *model, vhem_ctx *ctx)
{
    vh_h3m *want = golden_model(ctx, model);
    turn(got);
    turn(want);
    double apart = vh_h3m_compare(got, want);
    if (!(apart <= 1e-9))
        fail_msg("%s: the model is off by %.3g", what, apart);
    vh_h3m_free(want);
}

/* The number of a symbol of column k. */
static double code(const vh_h3m *h3m, size_t k, const char *symbol)
{
    const vh_layout *layout = h3m->shape.layout;
    assert_non_null(layout);
    for (int c = 0; c < layout->n_channel; c++)
        for (int v = 0; layout->channel[c].column == (int)k && v < layout->channel[c].shape.V; v++)
            if (strcmp(layout->channel[c].symbol[v], symbol) == 0)
                return v;
    fail_msg("there is no symbol '%s'", symbol);
    return 0;
}

/* A table of numbers and symbols in which null is missing. */
static double *cells(const vh_h3m *h3m, json_t *table, size_t *n)
{
    size_t t, k, at = 0;
    json_t *row, *v;
    double *y = malloc(sizeof *y * (json_array_size(table) * 16 + 1));
    json_array_foreach(table, t, row)
    {
        assert_true(json_array_size(row) <= 16);
        json_array_foreach(row, k, v) y[at++] = json_is_null(v)     ? NAN
                                                : json_is_string(v) ? code(h3m, k, json_string_value(v))
                                                                    : json_number_value(v);
    }
    *n = at;
    return y;
}

/* ---- log-likelihoods ----------------------------------------------------------------------------------- */

static void check_loglik(vhem_ctx *ctx, json_t *c)
{
    vh_h3m *h3m = golden_model(ctx, json_object_get(c, "model"));
    int S = h3m->hmm[0].S;
    size_t n, k;
    double *y = cells(h3m, json_object_get(c, "y"), &n), loglik, logprob, ll;
    int T = (int)n / h3m->d, *path = malloc(sizeof *path * (size_t)T);
    double *gamma = malloc(sizeof *gamma * (size_t)(T * S));
    vhem_data *data = NULL;

    assert_ok(ctx, call_wrap(ctx, 1, &T, h3m->d, y, &data));
    data->layout = h3m->shape.layout;
    assert_ok(ctx, vh_h3m_score(ctx, h3m, data, &loglik));
    assert_near(loglik, json_number_value(json_object_get(c, "loglik")), 1e-9, 1e-9);
    assert_ok(ctx, vh_h3m_decode(ctx, h3m, &(int64_t){ 0 }, data, 0, 1,
                                 &(vhem_decoding){ .path = path, .logprob = &logprob }));
    assert_near(logprob, json_number_value(json_object_get(c, "viterbi_logprob")), 1e-9, 1e-9);
    for (int t = 0; t < T; t++)
        assert_int_equal(path[t], json_integer_value(
                                      json_array_get(json_object_get(c, "viterbi_path_0based"), (size_t)t)));
    assert_ok(ctx, vh_h3m_posterior(ctx, h3m, 0, data, 0, gamma, NULL, &ll));
    assert_near(ll, loglik, 1e-9, 1e-9);
    double *want = golden_numbers(json_object_get(c, "posterior_first5"), &k);
    for (size_t i = 0; i < k; i++)
        assert_near(gamma[i], want[i], 1e-9, 1e-9);
    free(want);
    free(gamma);
    free(path);
    free(y);
    vhem_free(data);
    vh_h3m_free(h3m);
}

/* ---- Baum-Welch ---------------------------------------------------------------------------------------- */

static void check_fit(vhem_ctx *ctx, json_t *c, const vhem_data *data, const vh_h3m *init, int n_iter)
{
    char key[8];
    snprintf(key, sizeof key, "%d", n_iter);
    json_t *want = json_object_get(json_object_get(c, "after"), key),
           *loglik = json_object_get(want, "loglik");
    vhem_fit_options opt;
    vhem_fit_report *report = NULL;
    vh_h3m *out = NULL;

    VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
    opt.start = HMMS(init);
    opt.max_iter = n_iter;
    opt.tol = opt.cov_floor = 0;
    opt.repair = 0;
    opt.by_group = 1;
    assert_ok(ctx, vh_fit_each(ctx, data, &opt, &out, &report));
    assert_near(report->run[0].loglik, json_number_value(json_array_get(loglik, json_array_size(loglik) - 1)),
                1e-9, 1e-9);
    assert_same(json_string_value(json_object_get(c, "name")), out, json_object_get(want, "model"), ctx);
    vh_h3m_free(out);
    vhem_free(report);
}

static void check_baumwelch(vhem_ctx *ctx, json_t *c)
{
    vh_h3m *init = golden_model(ctx, json_object_get(c, "init"));
    vh_builder *b = NULL;
    vhem_data *data = NULL;
    json_t *s;
    size_t i;

    assert_ok(ctx, vh_builder_new(ctx, init->d, &b));
    json_array_foreach(json_object_get(c, "seqs"), i, s)
    {
        size_t n;
        double *y = cells(init, s, &n);
        assert_ok(ctx, vh_builder_frames(b, y, (int64_t)n / init->d));
        assert_ok(ctx, vh_builder_end(b, "s", NULL, "all", 1.0));
        free(y);
    }
    assert_ok(ctx, vh_builder_finish(b, "memory", &data));
    data->layout = init->shape.layout;
    check_fit(ctx, c, data, init, 1);
    check_fit(ctx, c, data, init, 5);
    vh_builder_free(b);
    vhem_free(data);
    vh_h3m_free(init);
}

/* ---- product kernels ----------------------------------------------------------------------------------- */

static void check_kernel(vhem_ctx *ctx, json_t *c)
{
    vh_h3m *a = golden_model(ctx, json_object_get(c, "a")), *b = golden_model(ctx, json_object_get(c, "b"));
    json_t *v;
    size_t i;
    json_array_foreach(json_object_get(c, "values"), i, v)
    {
        vhem_distance_options opt;
        double k;
        VHEM_INIT(VHEM_DISTANCE_OPTIONS, &opt);
        opt.kind = "ppk";
        opt.tau = (int)json_integer_value(json_object_get(v, "tau"));
        opt.lambda = json_number_value(json_object_get(v, "lam"));
        opt.normalised = 0;
        assert_ok(ctx, vh_h3m_distance(ctx, a, b, &opt, &k, NULL));
        assert_near(k, json_number_value(json_object_get(v, "log_k")), 1e-9, 1e-9);
        assert_ok(ctx, vh_h3m_distance(ctx, a, a, &opt, &k, NULL));
        assert_near(k, json_number_value(json_object_get(v, "log_k_aa")), 1e-9, 1e-9);
    }
    vh_h3m_free(a);
    vh_h3m_free(b);
}

/* ---- VHEM ---------------------------------------------------------------------------------------------- */

static void check_reduction(vhem_ctx *ctx, json_t *root, const vh_base *base, int n_iter, json_t *want)
{
    vh_h3m *centers = golden_model(ctx, json_object_get(root, "init"));
    vh_vhem_options opt = { .N = json_number_value(json_object_get(root, "N")),
                            .tau = (int)json_integer_value(json_object_get(root, "tau")),
                            .max_iter = n_iter };
    vh_vhem_run run = { 0 };
    vh_scratch scratch = { { 0 }, { 0 } };
    size_t n;
    double *L = golden_numbers(json_object_get(want, "L_hmm"), &n);

    assert_ok(ctx, vh_vhem(ctx, base, &opt, &(vh_workers){ 1, &scratch }, centers, &run));
    assert_int_equal(run.n_fell, 0);
    for (int k = 0; k <= n_iter; k++)
        assert_near(run.J[k], json_number_value(json_array_get(json_object_get(root, "J"), (size_t)k)), 1e-9,
                    1e-9);
    for (size_t i = 0; i < n; i++)
        assert_near(run.L[i], L[i], 1e-9, 1e-9);
    assert_same("VHEM", centers, json_object_get(want, "model"), ctx);
    free(L);
    vh_vhem_run_free(&run);
    vh_scratch_free(&scratch);
    vh_h3m_free(centers);
}

static int check_vhem(vhem_ctx *ctx, const char *file)
{
    json_t *root = golden_load(file), *want;
    const char *key;
    vh_base *base = NULL;
    bool known = is_known(json_object_get(root, "base"));
    if (known) {
        vh_h3m *h3m = golden_model(ctx, json_object_get(root, "base"));
        assert_ok(ctx, vh_base_new(ctx, h3m, &base));
        json_object_foreach(json_object_get(root, "after"), key, want)
            check_reduction(ctx, root, base, atoi(key), want);
        vh_base_free(base);
        vh_h3m_free(h3m);
    }
    json_decref(root);
    return known;
}

/* ---- all ----------------------------------------------------------------------------------------------- */

/* Cases of a file whose model, under this key, is of a family that is there. */
static int check_cases(vhem_ctx *ctx, const char *file, const char *key, void (*check)(vhem_ctx *, json_t *))
{
    json_t *root = golden_load(file), *c;
    size_t i;
    int n = 0;
    json_array_foreach(json_object_get(root, "cases"), i, c)
    {
        if (!is_known(json_object_get(c, key)))
            continue;
        check(ctx, c);
        n++;
    }
    json_decref(root);
    return n;
}

static void test_families(void **state)
{
    static const char *const files[] = { "poisson", "bernoulli", "gamma",  "von-mises", "categorical",
                                         "track",   "record",    "masked", "tied" };
    const char *name;
    (void)state;
    for (int n = 0; (name = test_backend(n)); n++) {
        vhem_ctx *ctx = test_ctx_with(name, 1, 1);
        assert_true(check_cases(ctx, FOLDER "loglik.json", "model", check_loglik) >= 11);
        assert_true(check_cases(ctx, FOLDER "baumwelch.json", "init", check_baumwelch) >= 11);
        assert_true(check_cases(ctx, FOLDER "ppk.json", "a", check_kernel) >= 7);
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            char file[64];
            snprintf(file, sizeof file, FOLDER "vhem_%s.json", files[i]);
            assert_true(check_vhem(ctx, file));
        }
        vhem_free(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_families) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
