/* SPDX-License-Identifier: BSD-3-Clause */
/* Rankings worked out by hand. */
#include "support.h"
#include "vhem.h"
#include "vhem/classes.h"

/* The measures of the tags, m [C] and p_at [C][n_k]; either may be NULL. */
static vhem_status rank_tags(vhem_ctx *ctx, int n, int C, const double *x, const unsigned char *truth,
                             const vhem_rank_options *opt, vhem_tag_measure *m, double *p_at)
{
    vhem_judgement *j = NULL;
    vhem_status st = vhem_rank(ctx, n, C, x, truth, opt, &j);
    if (st == VHEM_OK) {
        memcpy(m, j->tag, sizeof *m * (size_t)C);
        if (p_at)
            memcpy(p_at, j->tag_p_at, sizeof *p_at * (size_t)C * (size_t)j->n_k);
    }
    vhem_free(j);
    return st;
}

/* Four items, two tags; tag 0 ranks them 2 0 3 1, tag 1 ranks them 1 3 0 2. */
static const double score[] = { 0.8, 0.2, 0.1, 0.9, 0.9, 0.1, 0.4, 0.6 };

static void by_hand(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const unsigned char truth[] = { 1, 1, 1, 0, 0, 0, 0, 1 };
    const int64_t k[] = { 1, 2, 5 };
    vhem_tag_measure m[2];
    double p_at[6];
    const vhem_rank_options opt = { .size = sizeof(vhem_rank_options), 1, 3, k, "zero" };
    assert_ok(ctx, rank_tags(ctx, 4, 2, score, truth, &opt, m, p_at));
    /* tag 0: items 0 and 1 have it; given to 0 and 2; found at ranks 2 and 4 */
    assert_int_equal(m[0].n, 2);
    assert_int_equal(m[0].given, 2);
    assert_int_equal(m[0].right, 1);
    assert_near(m[0].precision, 0.5, 0, 0);
    assert_near(m[0].recall, 0.5, 0, 0);
    assert_near(m[0].F, 0.5, 1e-15, 0);
    assert_near(m[0].average_precision, (1.0 / 2 + 2.0 / 4) / 2, 1e-15, 0);
    assert_near(p_at[0], 0, 0, 0);
    assert_near(p_at[1], 0.5, 0, 0);
    assert_near(p_at[2], 2.0 / 5, 1e-15, 0); /* five from four: those that are not there count */
    /* tag 1: items 0 and 3 have it; given to 1 and 3; found at ranks 2 and 3 */
    assert_int_equal(m[1].right, 1);
    assert_near(m[1].average_precision, (1.0 / 2 + 2.0 / 3) / 2, 1e-15, 0);
    vhem_free(ctx);
}

static void never_given_and_never_there(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const double x[] = { 1, 0, 1, 0 };
    const unsigned char truth[] = { 1, 0, 1, 0 };
    vhem_tag_measure m[2];
    vhem_rank_options opt;
    VHEM_INIT(VHEM_RANK_OPTIONS, &opt);
    assert_int_equal(opt.top, -1); /* 10 */
    opt.top = 1;
    assert_ok(ctx, rank_tags(ctx, 2, 2, x, truth, &opt, m, NULL));
    assert_near(m[0].F, 1, 0, 0);
    assert_near(m[0].average_precision, 1, 0, 0);
    assert_int_equal(m[1].given, 0);
    assert_near(m[1].precision, 0, 0, 0);
    assert_near(m[1].recall, 0, 0, 0);
    assert_near(m[1].F, 0, 0, 0);
    assert_near(m[1].average_precision, 0, 0, 0);
    vhem_free(ctx);
}

/* Five items, three tags: the best of all items is tag 0; two have tag 1, none has tag 2. */
static void never_given_by_base_rate(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const double x[] = { 2, 1, 0, 2, 1, 0, 2, 1, 0, 2, 1, 0, 2, 1, 0 };
    const unsigned char truth[] = { 1, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0 };
    const vhem_rank_options opt = { .size = sizeof(vhem_rank_options), 1, 0, NULL, "base-rate" };
    vhem_tag_measure m[3];
    assert_ok(ctx, rank_tags(ctx, 5, 3, x, truth, &opt, m, NULL));
    assert_near(m[0].precision, 4.0 / 5, 1e-15, 0); /* given to all: what it is by counting */
    assert_near(m[0].F, 2 * 0.8 / 1.8, 1e-15, 0);
    assert_int_equal(m[1].given, 0);
    assert_near(m[1].precision, 2.0 / 5, 1e-15, 0);
    assert_near(m[1].recall, 0, 0, 0);
    assert_near(m[1].F, 0, 0, 0);
    assert_near(m[2].precision, 0, 0, 0);
    vhem_free(ctx);
}

static void ties_and_what_was_not_scored(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const double x[] = { NAN, -INFINITY, 2, 2 }; /* one tag: ranking 2 3 0 1 */
    const unsigned char truth[] = { 1, 0, 0, 1 };
    const int64_t k[] = { 2 };
    vhem_tag_measure m;
    double p_at;
    const vhem_rank_options opt = { .size = sizeof(vhem_rank_options), 1, 1, k, "zero" };
    assert_ok(ctx, rank_tags(ctx, 4, 1, x, truth, &opt, &m, &p_at));
    assert_near(p_at, 0.5, 0, 0);
    assert_near(m.average_precision, (1.0 / 2 + 2.0 / 3) / 2, 1e-15, 0);
    vhem_free(ctx);
}

static void refused(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const unsigned char truth[] = { 1, 1, 1, 0, 0, 0, 0, 1 };
    const int64_t k[] = { 0 };
    vhem_tag_measure m[2];
    double p_at[2];
    vhem_rank_options opt = { .size = sizeof(vhem_rank_options), 1, 1, k, "zero" };
    assert_fails(ctx, rank_tags(ctx, 4, 2, score, truth, &opt, m, p_at), VHEM_EINVAL, "among the first 0");
    opt.n_k = 0;
    assert_fails(ctx, rank_tags(ctx, 4, 0, score, truth, &opt, m, NULL), VHEM_EINVAL, "0 tags");
    opt.never_given = "one";
    assert_fails(ctx, rank_tags(ctx, 4, 2, score, truth, &opt, m, NULL), VHEM_EINVAL,
                 "never_given 'one' is unknown; known are zero, base-rate");
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(never_given_and_never_there),
        cmocka_unit_test(never_given_by_base_rate),
        cmocka_unit_test(ties_and_what_was_not_scored),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
