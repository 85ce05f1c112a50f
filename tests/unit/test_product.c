/* SPDX-License-Identifier: BSD-3-Clause */
/* test_product.c - symbols and products of channels: densities, kernels, maximisers and draws against sums
 * and against their channels; files; sequences as models see them. */
#include "files/hmm_file.h"
#include "support.h"

#include "data/data.h"
#include "fit/frames.h"
#include "fit/sample.h"
#include "fit/infer.h"
#include "files/layout_json.h"
#include "vhem.h"

#include <math.h>

#define MODEL                                                                                                \
    "{\"format\": \"vhem-h3m\", \"version\": 1, \"emission\": \"product\", \"d\": 4, "                       \
    "\"channels\": [{\"emission\": \"gamma\", \"columns\": [\"step\"]}, "                                    \
    "{\"emission\": \"categorical\", \"columns\": [\"place\"], \"symbols\": [\"1\", \"den\", \"nest\"]}, "   \
    "{\"emission\": \"gaussian-full\", \"columns\": [\"x\", \"y\"]}], \"omega\": [1.0], "                    \
    "\"hmms\": [{\"S\": 1, \"M\": 2, \"pi\": [1.0], \"A\": [[1.0]], \"c\": [[0.25, 0.75]], "                 \
    "\"channels\": [{\"shape\": [[[2.0], [3.0]]], \"rate\": [[[0.5], [2.0]]], \"zero\": [[[0.0], [0.1]]]}, " \
    "{\"p\": [[[0.5, 0.25, 0.25], [0.1, 0.2, 0.7]]]}, "                                                      \
    "{\"mu\": [[[0.0, 1.0], [2.0, -1.0]]], \"cov\": [[[[1.0, 0.5], [0.5, 2.0]], [[1.0, 0.0], [0.0, "         \
    "1.0]]]]}]}]}"

static vh_h3m *load(vhem_ctx *ctx, const char *text)
{
    vh_h3m *h3m = NULL;
    assert_ok(ctx, vh_model_read_json(ctx, text, strlen(text), "test", &h3m));
    return h3m;
}

/* A product is the sum of what its channels say, of frames, components and kernels. */
static void channels_add_up(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = load(ctx, MODEL);
    const vh_shape *shape = &h3m->shape;
    double *a[VH_MAX_PARAM], *b[VH_MAX_PARAM], *work = calloc(vh_emission_work(shape), sizeof *work);
    const double y[4] = { 1.5, 2, 0.3, -0.2 };
    double all, sum = 0, e_all, e_sum = 0, k_all, k_sum = 0, one, free_sum = 0;

    vh_hmm_component(h3m, &h3m->hmm[0], 0, 0, a);
    vh_hmm_component(h3m, &h3m->hmm[0], 0, 1, b);
    assert_true(h3m->family->log_density(shape, (const double *const *)a, y, 1, &all, work));
    assert_true(h3m->family->expected_density(shape, (const double *const *)a, (const double *const *)b, 1,
                                              &e_all, 1, work));
    assert_true(h3m->family->log_product(shape, (const double *const *)a, (const double *const *)b, 0.5,
                                         &k_all, work));
    for (int c = 0; c < 3; c++) {
        const vh_channel *ch = &shape->layout->channel[c];
        double *p[VH_MAX_PARAM], *q[VH_MAX_PARAM];
        vh_channel_par(ch, a, p);
        vh_channel_par(ch, b, q);
        const double *const *r = (const double *const *)p, *const *s = (const double *const *)q;
        assert_true(ch->family->log_density(&ch->shape, r, y + ch->column, 1, &one, work));
        sum += one;
        assert_true(ch->family->expected_density(&ch->shape, r, s, 1, &one, 1, work));
        e_sum += one;
        assert_true(ch->family->log_product(&ch->shape, r, s, 0.5, &one, work));
        k_sum += one;
        free_sum += ch->family->n_free(&ch->shape);
    }
    assert_near(all, sum, 1e-14, 1e-14);
    assert_near(e_all, e_sum, 1e-14, 1e-14);
    assert_near(k_all, k_sum, 1e-14, 1e-14);
    assert_near(h3m->family->n_free(shape), free_sum, 0, 0);
    assert_near(free_sum, 3 + 2 + 5, 0, 0);
    free(work);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* <theta, T> is the density and its expectation, and the maximiser gives the component back. */
static void one_product(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = load(ctx, MODEL);
    const vh_emission *f = h3m->family;
    double origin[4] = { 0, 0, 0.5, 3 }, scale[4] = { 1, 1, 2, 0.5 };
    const vh_coords x = { h3m->shape, origin, scale };
    int n = f->n_stat(&h3m->shape);
    double *work = calloc(vh_emission_work(&h3m->shape), sizeof *work), theta[32], T[32], want, dot = 0,
           mean = 0;
    double *par[VH_MAX_PARAM], *other[VH_MAX_PARAM], *size = NULL;
    const double y[4] = { 0, 1, 0.3, -0.2 };

    assert_true(n <= 32);
    vh_hmm_component(h3m, &h3m->hmm[0], 0, 1, par);
    vh_hmm_component(h3m, &h3m->hmm[0], 0, 0, other);
    assert_true(f->natural(&x, (const double *const *)par, theta, work) >= 0);
    f->stats_of_obs(&x, y, 1, T);
    for (int e = 0; e < n; e++)
        dot += theta[e] * T[e];
    assert_true(f->log_density(&h3m->shape, (const double *const *)par, y, 1, &want, work));
    assert_near(dot, want, 1e-12, 1e-12);
    f->stats_of_component(&x, (const double *const *)par, T);
    for (int e = 0; e < n; e++)
        mean += theta[e] * T[e];
    assert_true(f->expected_density(&h3m->shape, (const double *const *)par, (const double *const *)par, 1,
                                    &want, 1, work));
    assert_near(mean, want, 1e-12, 1e-12);
    assert_int_equal(f->maximise(&x, T, NULL, other, work), 0);
    for (size_t k = 0; k < vh_param_size(f, 0, &h3m->shape); k++)
        assert_near(other[0][k], par[0][k], 1e-9, 1e-9);
    free(size);
    free(work);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* Symbols: sums over all of them, and zeros that stay finite. */
static void symbols(void **state)
{
    (void)state;
    const vh_emission *f = vh_emission_find("categorical");
    const vh_shape shape = { .d = 1, .V = 4 };
    const double zero = 0, scale = 1, p[4] = { 0.5, 0, 0.3, 0.2 }, q[4] = { 0.1, 0.4, 0.25, 0.25 };
    const vh_coords x = { shape, &zero, &scale };
    const double *a[VH_MAX_PARAM] = { p }, *b[VH_MAX_PARAM] = { q };
    double sum = 0, expected = 0, kernel = 0, one, got, T[5], out[4], *to[VH_MAX_PARAM] = { out };

    for (int v = 0; v < 4; v++) {
        double y = v, other;
        assert_true(f->log_density(&shape, a, &y, 1, &one, NULL));
        assert_true(f->log_density(&shape, b, &y, 1, &other, NULL));
        sum += exp(one);
        expected += p[v] * other;
        kernel += pow(p[v] * q[v], 0.75);
    }
    assert_near(sum, 1, 1e-15, 0);
    assert_true(f->expected_density(&shape, b, a, 1, &got, 1, NULL));
    assert_near(got, expected, 1e-14, 0);
    assert_true(f->log_product(&shape, a, b, 0.75, &got, NULL));
    assert_near(got, log(kernel), 1e-14, 0);
    f->stats_of_component(&x, a, T);
    assert_int_equal(f->maximise(&x, T, NULL, to, NULL), 0);
    for (int v = 0; v < 4; v++)
        assert_near(out[v], p[v], 1e-15, 0);
    assert_int_equal(f->maximise(&x, T, &scale, to, NULL), 1); /* under a floor nothing is impossible */
    assert_true(out[1] > 0);
    double y = 1;
    assert_true(f->log_density(&shape, a, &y, 1, &one, NULL));
    assert_true(isfinite(one) && one < -1e200);
}

/* Frequencies and means of samples are within 5 standard errors. */
static void draws(void **state)
{
    enum { T = 40000 };
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = load(ctx, MODEL);
    vhem_data *data = NULL;
    double den = 0.25 * 0.25 + 0.75 * 0.2, seen = 0, x = 0;

    assert_ok(ctx, vh_h3m_sample(ctx, h3m, 1, T, &data));
    for (int t = 0; t < T; t++) {
        seen += data->y[4 * t + 1] == 1;
        x += data->y[4 * t + 2];
    }
    assert_near(seen / T, den, 0, 5 * sqrt(den * (1 - den) / T));
    assert_near(x / T, 1.5, 0, 5 * sqrt(1.75 / T));
    assert_ok(ctx, vh_frames_detach(ctx, data));
    assert_string_equal(data->symbols[1].name[1], "den");
    assert_string_equal(data->column[0], "step");
    vhem_free(data);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

static void files(void **state)
{
    (void)state;
    NEEDS_HDF5();
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = load(ctx, MODEL), *back = NULL;
    char path[2][64];

    snprintf(path[0], sizeof path[0], "product_%d.json", (int)vh_process_id());
    snprintf(path[1], sizeof path[1], "product_%d.h5", (int)vh_process_id());
    for (int k = 0; k < 2; k++) {
        assert_ok(ctx, vh_h3m_save(ctx, h3m, path[k]));
        assert_ok(ctx, vh_h3m_load(ctx, path[k], &back));
        assert_near(vh_h3m_compare(h3m, back), 0, 0, 0);
        assert_string_equal(back->shape.layout->column[3], "y");
        assert_string_equal(back->shape.layout->channel[1].symbol[2], "nest");
        vh_h3m_free(back);
        remove(path[k]);
    }
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

static void refused(vhem_ctx *ctx, const char *from, const char *to, const char *why)
{
    char text[2048], *at;
    vh_h3m *h3m = NULL;
    snprintf(text, sizeof text, "%s", MODEL);
    at = strstr(text, from);
    assert_non_null(at);
    char rest[2048];
    snprintf(rest, sizeof rest, "%s", at + strlen(from));
    snprintf(at, sizeof text - (size_t)(at - text), "%s%s", to, rest);
    assert_int_equal(vh_model_read_json(ctx, text, strlen(text), "test", &h3m), VHEM_EFORMAT);
    if (!strstr(vhem_ctx_error(ctx), why))
        fail_msg("%s", vhem_ctx_error(ctx));
}

static void broken_files(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    refused(ctx, "\"gamma\"", "\"gama\"", "channels[0]: emission is 'gama', which cannot be a channel");
    refused(ctx, "\"gamma\"", "\"product\"", "channels[0]: emission is 'product', which cannot be a channel");
    refused(ctx, "\"d\": 4", "\"d\": 5", "d is 5, but the channels have 4 columns");
    refused(ctx, "\"den\"", "\"nest\"", "two symbols are called 'nest'");
    refused(ctx, "\"step\"", "\"x\"", "two columns are called 'x'");
    refused(ctx, "[0.5, 0.25, 0.25]", "[0.5, 0.25]", "channels[1]: p[0][0] has 2 numbers, must have V = 3");
    refused(ctx, "[0.5, 0.25, 0.25]", "[0.5, 0.25, 0.5]", "channel 1: p sums to 1.25, must be 1");
    refused(ctx, "{\"p\"", "{\"q\"", "channels[1]: p is missing");
    vhem_free(ctx);
}

/* Columns are found by their names, and symbols by theirs: 1.0 is 1. */
static void frames(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = load(ctx, MODEL);
    static const char *const columns[] = { "y", "other", "place", "x", "step" };
    const double y[10] = { 7, 0, 0, 5, 1, 8, 0, 1, 6, 2 };
    char **names = calloc(2, sizeof *names);
    vh_builder *b = NULL;
    vhem_data *data = NULL;
    vh_frames f = { 0 };
    double loglik;

    names[0] = strdup("nest");
    names[1] = strdup("1.0");
    assert_ok(ctx, vh_builder_new(ctx, 5, &b));
    assert_ok(ctx, vh_builder_frames(b, y, 2));
    assert_ok(ctx, vh_builder_end(b, "s", NULL, NULL, 1));
    assert_ok(ctx, vh_builder_columns(b, columns));
    assert_ok(ctx, vh_builder_symbols(b, 2, names, 2));
    assert_ok(ctx, vh_builder_finish(b, "memory", &data));
    free(data->symbols[2].name[1]);
    data->symbols[2].name[1] = strdup("1"); /* as readers write numbers */
    assert_ok(ctx, vh_frames_for(ctx, data, NULL, 1, h3m, &f));
    const double want[8] = { 1, 2, 5, 7, 2, 0, 6, 8 };
    for (int i = 0; i < 8; i++)
        assert_near(f.data->y[i], want[i], 0, 0);
    vh_frames_free(&f);
    assert_ok(ctx, vh_h3m_score(ctx, h3m, data, &loglik));
    free(data->symbols[2].name[0]);
    data->symbols[2].name[0] = strdup("tree");
    assert_int_equal(vh_h3m_score(ctx, h3m, data, &loglik), VHEM_EINVAL);
    assert_non_null(strstr(vhem_ctx_error(ctx),
                           "sequence 's': frame 0 (counted from 0), column 'place' is 'tree', "
                           "which the models have no symbol for; theirs are 1|den|nest"));
    free(data->column[0]);
    data->column[0] = strdup("z");
    assert_int_equal(vh_h3m_score(ctx, h3m, data, &loglik), VHEM_EINVAL);
    assert_non_null(
        strstr(vhem_ctx_error(ctx), "the data has no column 'y'; its columns are z, other, place, x, step"));
    vh_builder_free(b);
    vhem_free(data);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(channels_add_up), cmocka_unit_test(one_product), cmocka_unit_test(symbols),
        cmocka_unit_test(draws),           cmocka_unit_test(files),       cmocka_unit_test(broken_files),
        cmocka_unit_test(frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
