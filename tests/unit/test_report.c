/* SPDX-License-Identifier: BSD-3-Clause */
/* test_report.c - text on its way into a page, scales, and what a report refuses. */
#include "support.h"

#include "report/figures.h"
#include "report/svg.h"
#include "report/text.h"
#include "vhem.h"
#include "vhem/analysis.h"
#include "os/stream.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void put(FILE *f, const char *text, int max);

static void assert_put(put *how, const char *text, int max, const char *want)
{
    char *got = NULL;
    size_t n;
    FILE *f = vh_memory_open(&got, &n);
    how(f, text, max);
    assert_true(vh_memory_close(f, &got, &n));
    assert_string_equal(got, want);
    free(got);
}

static void test_html(void **state)
{
    (void)state;
    assert_put(vh_html_text, "a<b>&\"'", 99, "a&lt;b&gt;&amp;&quot;&#39;");
    assert_put(vh_html_text, "abcdef", 6, "abcdef");
    assert_put(vh_html_text, "abcdefg", 6, "abcdef\xE2\x80\xA6");
    assert_put(vh_html_text, "\xF0\x9F\x98\x80\xF0\x9F\x98\x80", 1, "\xF0\x9F\x98\x80\xE2\x80\xA6");
    assert_put(vh_html_text, "x\xFFy\xC3", 9, "x\xEF\xBF\xBDy\xEF\xBF\xBD");
    assert_put(vh_html_text,
               "a\x01"
               "b\xE2\x80\xAE"
               "c\x7F",
               9, "abc"); /* control, right-to-left */
    assert_put(vh_html_text, "", 9, "");
}

static void test_json(void **state)
{
    (void)state;
    assert_put(vh_script_text, "</script>", 99, "\"\\u003c/script\\u003e\"");
    assert_put(vh_script_text, "a\"\\\n'", 99, "\"a\\u0022\\u005c\\u000a\\u0027\"");
}

static void test_short_numbers(void **state)
{
    (void)state;
    const struct {
        double x;
        const char *want;
    } cases[] = {
        { 0, "0" }, { -2465226, "-2.465e6" }, { 1234, "1234" }, { 1.5e-7, "1.5e-7" }, { 2e10, "2e10" }
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char text[32];
        vh_short_number(cases[k].x, text, sizeof text);
        assert_string_equal(text, cases[k].want);
    }
}

static void test_ticks(void **state)
{
    (void)state;
    char text[48];
    assert_near(vh_tick_step(0, 10, 5), 2, 1e-12, 0);
    assert_near(vh_tick_step(0, 1, 4), 0.25, 1e-12, 0);
    assert_near(vh_tick_step(-3e6, 2e6, 5), 1e6, 1e-12, 0);
    vh_tick_text(0.25, 0.25, text, sizeof text);
    assert_string_equal(text, "0.25");
    vh_tick_text(-1e-17, 0.5, text, sizeof text);
    assert_string_equal(text, "0.0");
    vh_scale flat = { 5, 5, 0, 100 };
    vh_scale_widen(&flat, 0.1);
    assert_true(flat.lo < 5 && flat.hi > 5);
    assert_near(vh_at(&flat, 5), 50, 1e-12, 0);
}

/* Axes of the ellipse are the roots of the eigenvalues. */
static void test_ellipse(void **state)
{
    (void)state;
    double rx, ry, degrees;
    vh_ellipse((double[]){ 4, 0, 0, 1 }, &rx, &ry, &degrees);
    assert_near(rx, 2, 1e-12, 0);
    assert_near(ry, 1, 1e-12, 0);
    assert_near(degrees, 0, 0, 1e-12);
    vh_ellipse((double[]){ 2, 1, 1, 2 }, &rx, &ry, &degrees);
    assert_near(rx * rx, 3, 1e-12, 0);
    assert_near(ry * ry, 1, 1e-12, 0);
    assert_near(degrees, 45, 1e-12, 0);
}

/* A chain that leaves state 0 for ever after one frame. */
static void test_share_of_time(void **state)
{
    (void)state;
    const double pi[] = { 1, 0 }, A[] = { 0, 1, 0, 1 };
    vhem_hmm_view h = { .S = 2, .pi = pi, .A = A };
    double share[3 * 300];
    vh_hmm_share(&h, 4, share);
    assert_near(share[0], 0.25, 1e-12, 0);
    assert_near(share[1], 0.75, 1e-12, 0);

    double *first = calloc(300, sizeof *first), *ring = calloc(300 * 300, sizeof *ring); /* many states */
    first[299] = 1;
    for (int s = 0; s < 300; s++)
        ring[s * 300 + (s + 1) % 300] = 1;
    vh_hmm_share(&(vhem_hmm_view){ .S = 300, .M = 1, .pi = first, .A = ring }, 2, share);
    assert_near(share[299], 0.5, 1e-12, 0);
    assert_near(share[0], 0.5, 1e-12, 0);
    free(first);
    free(ring);
}

/* A turn by a quarter that fades by a tenth, and a direction that lasts. */
static void test_modes(void **state)
{
    (void)state;
    const double A[] = { 0, 0.9, 0, -0.9, 0, 0, 0, 0, 1 };
    const vhem_dt_view t = { .n = 3, .d = 1, .A = A };
    vhem_ctx *ctx = test_ctx();
    bool lacks = false;
    int n;
    const vh_facts facts = { .ctx = ctx, .lacks_memory = &lacks };
    double complex *mode = vh_texture_modes(&facts, &t, &n);
    assert_int_equal(n, 3);
    assert_near(creal(mode[0]), 1, 1e-12, 0);
    assert_true(isinf(vh_mode_decay(&mode[0])) && isinf(vh_mode_period(&mode[0])));
    assert_near(cimag(mode[1]), 0.9, 1e-12, 0);
    assert_near(cimag(mode[2]), -0.9, 1e-12, 0);
    for (int k = 1; k < 3; k++) {
        assert_near(vh_mode_decay(&mode[k]), -1 / log(0.9), 1e-12, 0);
        assert_near(vh_mode_period(&mode[k]), 4, 1e-12, 0);
    }
    free(mode);
    vhem_free(ctx);
}

/* A figure that gets no memory is left out, but not forgotten. */
static void test_no_memory(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    bool lacks = false;
    const vh_facts facts = { .ctx = ctx, .lacks_memory = &lacks };
    void *room = vh_facts_room(&facts, 3, sizeof(double));
    assert_true(room && !lacks);
    free(room);
    assert_null(vh_facts_room(&facts, SIZE_MAX / 2, sizeof(double)));
    room = vh_facts_room(&facts, 3, sizeof(double));
    assert_true(room && lacks);
    free(room);
    vhem_free(ctx);
}

static void test_refused(void **state)
{
    (void)state;
    vhem_ctx *ctx = NULL;
    vhem_report_input in;
    assert_int_equal(vhem_ctx_new(NULL, &ctx), VHEM_OK);
    VHEM_INIT(VHEM_REPORT_INPUT, &in);
    assert_int_equal(vhem_report_write(ctx, &in, "nowhere.html"), VHEM_EINVAL);
    assert_string_equal(vhem_ctx_error(ctx), "a report needs a tree or a clustering, there is none");
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_html),  cmocka_unit_test(test_json),      cmocka_unit_test(test_short_numbers),
        cmocka_unit_test(test_ticks), cmocka_unit_test(test_ellipse),   cmocka_unit_test(test_share_of_time),
        cmocka_unit_test(test_modes), cmocka_unit_test(test_no_memory), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
