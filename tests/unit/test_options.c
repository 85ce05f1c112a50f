/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of options: it covers the records, its defaults are values of the right type, and what walks it
 * agrees. */
#include "support.h"

#include "core/options.h"
#include "files/options_json.h"
#include "vhem.h"
#include "vhem/analysis.h"
#include "vhem/classes.h"
#include "os/stream.h"

static const struct {
    vhem_option_set set;
    size_t size;
} sets[] = {
    { VHEM_DATA_OPTIONS, sizeof(vhem_data_options) },
    { VHEM_FIT_OPTIONS, sizeof(vhem_fit_options) },
    { VHEM_CLUSTER_OPTIONS, sizeof(vhem_cluster_options) },
    { VHEM_DISTANCE_OPTIONS, sizeof(vhem_distance_options) },
    { VHEM_TRAIN_OPTIONS, sizeof(vhem_train_options) },
    { VHEM_RANK_OPTIONS, sizeof(vhem_rank_options) },
};
enum { SETS = sizeof sets / sizeof sets[0] };

static bool is_text(const vhem_option *o)
{
    return o->type == VHEM_OPTION_TEXT || o->type == VHEM_OPTION_CHOICE;
}

/* Names are told apart, places lie in the record, and every row says what it is. */
static void rows(void **state)
{
    vhem_option a, b;
    (void)state;
    for (int s = 0; s < SETS; s++) {
        int n = 0;
        for (; vhem_option_info(sets[s].set, n, &a) == VHEM_OK; n++) {
            assert_true(a.name[0] && a.help[0] && a.fallback[0]);
            assert_true(a.offset < sets[s].size);
            assert_true(a.argument || a.type == VHEM_OPTION_FLAG);
            for (int k = 0; k < n; k++) {
                assert_int_equal(vhem_option_info(sets[s].set, k, &b), VHEM_OK);
                assert_true(strcmp(a.name, b.name) != 0 && a.offset != b.offset);
                assert_true(!a.letter || a.letter != b.letter);
            }
        }
        assert_true(n >= 2);
        assert_int_equal(vhem_option_info(sets[s].set, -1, &a), VHEM_EINVAL);
    }
}

/* After an init nothing is set; filled in, everything that has one default is, and passes the check. */
static void defaults(void **state)
{
    union {
        vhem_train_options largest;
        vhem_cluster_options cluster;
        vhem_fit_options fit;
    } record;
    vhem_ctx *ctx = test_ctx();
    (void)state;
    for (int s = 0; s < SETS; s++) {
        vhem_options_init(sets[s].set, &record, sets[s].size);
        for (const vh_option *row = vh_options(sets[s].set); row->shown.name; row++)
            assert_true(vh_option_unset(row, &record));
        assert_ok(ctx, vh_options_check(ctx, sets[s].set, &record));
        vh_options_fill(sets[s].set, &record);
        assert_ok(ctx, vh_options_check(ctx, sets[s].set, &record));
    }
    VHEM_INIT(VHEM_FIT_OPTIONS, &record.fit);
    vh_options_fill(VHEM_FIT_OPTIONS, &record.fit);
    assert_int_equal(record.fit.S, 3);
    assert_near(record.fit.tol, 1e-5, 0, 0);
    assert_string_equal(record.fit.init, "kmeans");
    assert_int_equal(record.fit.max_iter, -1); /* it depends on the model */
    vhem_free(ctx);
}

/* Every byte of a record is set, none behind it; what has no row has its default too. */
static void records(void **state)
{
    struct {
        vhem_train_options train;
        int after;
    } a = { .after = 77 };
    vhem_ctx_options of_ctx;
    vhem_stats_input stats;
    vhem_choose_options choose;
    vhem_report_input report;
    (void)state;
    VHEM_INIT(VHEM_TRAIN_OPTIONS, &a.train);
    assert_true(a.train.K < 0 && !a.train.piece && !a.train.reduce && a.after == 77);
    assert_int_equal(a.train.size, sizeof a.train);
    VHEM_INIT(VHEM_CTX_OPTIONS, &of_ctx);
    assert_true(of_ctx.threads < 0 && of_ctx.seed < 0 && !of_ctx.backend);
    VHEM_INIT(VHEM_STATS_INPUT, &stats);
    assert_true(stats.confidence < 0 && stats.level == 0 && !stats.tree);
    VHEM_INIT(VHEM_CHOOSE_OPTIONS, &choose);
    assert_true(choose.n_splits == 0 && !choose.K);
    VHEM_INIT(VHEM_REPORT_INPUT, &report);
    assert_true(!report.tree && report.n_choice == 0);
    assert_int_equal(vhem_option_info(VHEM_CTX_OPTIONS, 0, &(vhem_option){ 0 }), VHEM_EINVAL);
}

/* A record of an older header, which has fewer fields: nothing behind it is written or read, and what it
 * lacks has its default.  One of a newer header: what this version does not know is left alone.  One that
 * nobody has filled is refused. */
static void versions(void **state)
{
    volatile size_t older = offsetof(vhem_fit_options, store); /* no compiler sees that it is short */
    size_t newer = sizeof(vhem_fit_options) + 24;
    vhem_fit_options full;
    vhem_ctx *ctx = test_ctx();
    (void)state;
    vhem_fit_options *old = malloc(older), *new = malloc(newer); /* sanitizers watch their ends */
    assert_true(old && new);
    vhem_options_init(VHEM_FIT_OPTIONS, old, older);
    assert_int_equal(old->size, older);
    old->S = 5;
    memset(&full, 0x5a, sizeof full);
    assert_ok(ctx, vh_options_take(ctx, VHEM_FIT_OPTIONS, old, &full));
    assert_true(full.S == 5 && !full.store && full.restarts < 0 && full.size == sizeof full);
    vhem_options_init(VHEM_FIT_OPTIONS, new, newer);
    assert_true(new->size == newer && ((unsigned char *)new)[newer - 1] == 0);
    new->M = 2;
    assert_ok(ctx, vh_options_take(ctx, VHEM_FIT_OPTIONS, new, &full));
    assert_true(full.M == 2 && full.size == sizeof full);
    new->size = 0;
    assert_fails(ctx, vh_options_take(ctx, VHEM_FIT_OPTIONS, new, &full), VHEM_EINVAL,
                 "the record of options has size 0: fill it with VHEM_INIT before you set its fields");
    new->size = (size_t)-1;
    assert_fails(ctx, vh_options_take(ctx, VHEM_FIT_OPTIONS, new, &full), VHEM_EINVAL,
                 "fill it with VHEM_INIT");
    assert_ok(ctx, vh_options_take(ctx, VHEM_FIT_OPTIONS, NULL, &full));
    assert_true(full.M < 0);
    free(old);
    free(new);
    vhem_free(ctx);
}

static void refused(void **state)
{
    vhem_fit_options o;
    vhem_ctx *ctx = test_ctx();
    (void)state;
    VHEM_INIT(VHEM_FIT_OPTIONS, &o);
    o.S = 0;
    assert_fails(ctx, vh_options_check(ctx, VHEM_FIT_OPTIONS, &o), VHEM_EINVAL, "S is 0, must be at least 1");
    o.S = -7; /* any negative number is the default */
    assert_ok(ctx, vh_options_check(ctx, VHEM_FIT_OPTIONS, &o));
    o.tol = NAN;
    assert_fails(ctx, vh_options_check(ctx, VHEM_FIT_OPTIONS, &o), VHEM_EINVAL, "tol is nan");
    o.tol = -1;
    o.model = "dt"; /* the beginning of a word is not the word */
    assert_fails(ctx, vh_options_check(ctx, VHEM_FIT_OPTIONS, &o), VHEM_EINVAL,
                 "model 'dt' is unknown; known are hmm, dtm");
    vhem_free(ctx);
}

/* What is printed is read back; a size of 0, as files have it, is the default. */
static void round_trip(void **state)
{
    vhem_cluster_options a, b;
    vh_texts texts = { 0 };
    vhem_ctx *ctx = test_ctx();
    char *text = NULL;
    size_t size;
    const char *lead = "{";
    (void)state;
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &a);
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &b);
    a.tau = 7;
    a.nv = 0.5;
    a.repair = 0;
    a.kernel = "raw";
    FILE *f = vh_memory_open(&text, &size);
    for (const vh_option *row = vh_options(VHEM_CLUSTER_OPTIONS); row->shown.name; row++)
        if (vh_option_in_files(row, &a)) {
            vh_option_print(f, lead, row, &a, false);
            lead = ", ";
        }
    fputs("}", f);
    assert_true(vh_memory_close(f, &text, &size));
    assert_non_null(strstr(text, "\"S\": 0,"));
    assert_null(strstr(text, "emission"));
    json_t *root = json_loads(text, 0, NULL);
    assert_ok(ctx, vh_options_read(ctx, root, VHEM_CLUSTER_OPTIONS, &texts, &b));
    for (const vh_option *row = vh_options(VHEM_CLUSTER_OPTIONS); row->shown.name; row++) {
        if (is_text(&row->shown))
            assert_true(!*vh_option_text(row, &a) == !*vh_option_text(row, &b));
        else
            assert_true(vh_option_number(row, &a) == vh_option_number(row, &b));
    }
    assert_string_equal(b.kernel, "raw");
    json_decref(root);
    vh_texts_free(&texts);
    free(text);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),    cmocka_unit_test(defaults), cmocka_unit_test(records),
        cmocka_unit_test(refused), cmocka_unit_test(versions), cmocka_unit_test(round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
