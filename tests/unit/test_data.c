/* SPDX-License-Identifier: BSD-3-Clause */
/* test_data.c - the sequence set: wrapping, views, the builder, completeness. */
#include "data/formats/formats.h"
#include "data_files.h"
#include "vhem.h"

static void test_wrap(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const int T[] = { 2, 1 };
    const double y[] = { 1, 2, 3, NAN, 5, 6 };
    vhem_data *data = NULL;
    assert_ok(ctx, call_wrap(ctx, 2, T, 2, y, &data));
    assert_int_equal(vh_data_size(data), 2);
    assert_int_equal(vh_data_dim(data), 2);
    assert_int_equal(data->n_missing, 1);
    assert_string_equal(data->format, "memory");
    assert_string_equal(vh_data_column(data, 1), "y1");
    assert_string_equal(vh_data_column(data, 2), "");
    assert_sequence(data, 0, "", "", "", 2);
    assert_ptr_equal(view(data, 1).y, y + 4);
    assert_true(view(data, 1).weight == 1);
    vhem_seq_view v;
    assert_int_equal(vhem_data_view(data, 2, &v), VHEM_EINVAL);
    assert_int_equal(vhem_data_view(data, -1, &v), VHEM_EINVAL);
    assert_fails(
        ctx, vh_data_require_complete(ctx, data, NULL, 0), VHEM_EINVAL,
        "sequence 0: frame 1 (counted from 0), column 'y1' is missing, which dynamic textures cannot do "
        "without");
    vhem_free(data);
    vhem_free(ctx);
}

static void test_wrap_refuses(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const int T[] = { 1, 0 };
    const double y[] = { 1, INFINITY };
    vhem_data *data = NULL;
    assert_fails(ctx, call_wrap(ctx, 0, T, 1, y, &data), VHEM_EINVAL, "0 sequences");
    assert_fails(ctx, call_wrap(ctx, 1, T, 0, y, &data), VHEM_EINVAL, "dimension 0");
    assert_fails(ctx, call_wrap(ctx, 2, T, 1, y, &data), VHEM_EINVAL, "sequence 1 has 0 frames");
    assert_fails(ctx, call_wrap(ctx, 1, T, 1, NULL, &data), VHEM_EINVAL, "NULL");
    assert_null(data);
    const int T2[] = { 2 };
    assert_ok(ctx, call_wrap(ctx, 1, T2, 1, y, &data));
    assert_fails(ctx, vh_data_require_complete(ctx, data, NULL, 0), VHEM_EINVAL,
                 "frame 1 (counted from 0), column 'y0' is infinite");
    vhem_free(data);
    vhem_free(NULL);
    vhem_free(ctx);
}

static void test_describe(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const int T[] = { 2, 1 };
    const double y[] = { 1, 2, 3, 4, 5, 6 }, weight[] = { 2, 0.5 }, wrong[] = { 1, -1 };
    const char *const name[] = { "a", "b" }, *const label[] = { "p", NULL }, *const group[] = { "g", "g" };
    const char *const column[] = { "x", "y" };
    vhem_data *data = NULL;
    assert_ok(ctx, call_wrap(ctx, 2, T, 2, y, &data));
    assert_ok(ctx, call_describe(ctx, data, name, label, NULL, NULL, NULL));
    assert_sequence(data, 0, "a", "p", "", 2);
    assert_sequence(data, 1, "b", "", "", 1);
    assert_string_equal(vh_data_column(data, 0), "y0");
    assert_fails(ctx, call_describe(ctx, data, group, NULL, NULL, wrong, NULL), VHEM_EINVAL,
                 "sequence 1: the weight is -1, must be a positive number");
    assert_sequence(data, 0, "a", "p", "", 2);
    assert_ok(ctx, call_describe(ctx, data, NULL, NULL, group, weight, column));
    assert_sequence(data, 0, "a", "p", "g", 2);
    assert_true(view(data, 0).weight == 2 && view(data, 1).weight == 0.5);
    assert_string_equal(vh_data_column(data, 1), "y");
    assert_ok(ctx, call_describe(ctx, data, group, NULL, NULL, weight, NULL));
    assert_sequence(data, 1, "g", "", "g", 1);
    vhem_free(data);
    vhem_free(ctx);
}

static void test_builder(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_builder *b = NULL;
    vhem_data *data = NULL;
    const double y[] = { 1, 2, 3, 4, 5, 6 };
    const char *const column[] = { "x", "y" };
    assert_ok(ctx, vh_builder_new(ctx, 2, &b));
    assert_ok(ctx, vh_builder_columns(b, column));
    assert_fails(ctx, vh_builder_finish(b, "memory", &data), VHEM_EFORMAT, "no sequences");
    assert_fails(ctx, vh_builder_end(b, "s", NULL, NULL, 1), VHEM_EFORMAT, "sequence 's' has no frames");
    assert_ok(ctx, vh_builder_source(b, "file.x"));
    assert_fails(ctx, vh_builder_end(b, NULL, NULL, NULL, 1), VHEM_EFORMAT,
                 "file.x: sequence 0 has no frames");
    assert_ok(ctx, vh_builder_frame(b, y));
    assert_fails(ctx, vh_builder_end(b, "s", NULL, NULL, 0), VHEM_EFORMAT, "the weight is 0");
    assert_ok(ctx, vh_builder_end(b, "s", NULL, NULL, 2.5));
    assert_ok(ctx, vh_builder_frames(b, y + 2, 2));
    assert_ok(ctx, vh_builder_end(b, "t", "L", NULL, 1));
    assert_ok(ctx, vh_builder_finish(b, "memory", &data));
    vh_builder_free(b);
    assert_sequence(data, 0, "s", "", "", 1);
    assert_sequence(data, 1, "t", "L", "", 2);
    assert_values(data, 1, 3, 4, 5, 6);
    assert_true(view(data, 0).weight == 2.5 && view(data, 1).weight == 1);
    assert_string_equal(vh_data_column(data, 0), "x");
    assert_ok(ctx, vh_data_require_complete(ctx, data, NULL, 0));
    vhem_free(data);
    vhem_free(ctx);
}

static void test_keep(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    const char *text = "id,label,x,y,z\na,p,1,2,3\nb,q,4,5,6\nc,p,7,8,9\nc,p,10,11,12\nd,q,1,1,1\n";
    assert_ok(ctx, load_text(ctx, "keep.csv", text, NULL, &data));
    assert_fails(ctx, vh_data_keep_where(ctx, "f", "colour=red", data), VHEM_EINVAL, "expected label=VALUE");
    assert_fails(ctx, vh_data_keep_where(ctx, "f", "label=r", data), VHEM_EINVAL,
                 "no sequence has the label 'r'");
    assert_ok(ctx, vh_data_keep_where(ctx, "f", "label=p", data));
    assert_ok(ctx, vh_data_keep_columns(ctx, "f", "z,0", data));
    assert_int_equal(vh_data_size(data), 2);
    assert_sequence(data, 1, "c", "p", "", 2);
    assert_values(data, 0, 3, 1);
    assert_values(data, 1, 9, 7, 12, 10);
    assert_string_equal(vh_data_column(data, 0), "z");
    assert_fails(ctx, vh_data_keep_columns(ctx, "f", "w", data), VHEM_EINVAL, "the columns are z, x");
    assert_fails(ctx, vh_data_keep_columns(ctx, "f", "z,z", data), VHEM_EINVAL, "twice");
    assert_fails(ctx, vh_data_keep_columns(ctx, "f", "z,", data), VHEM_EINVAL, "not a list");
    vhem_free(data);
    vhem_free(ctx);
}

/* Whatever results follow from, or are named after, counts. */
static void test_print(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const int T[] = { 2, 1 };
    const double y[] = { 0, 1, 1, 0, 1, 1 }, weight[] = { 2, 0.5 };
    const char *const ab[] = { "a", "b" }, *const ac[] = { "a", "c" }, *const joined[] = { "ab", "" };
    char u[] = "u", v[] = "v", w[] = "w", *uv[] = { u, v }, *uw[] = { u, w };
    const vhem_symbols first[] = { { 2, uv }, { 0, NULL } }, second[] = { { 2, uw }, { 0, NULL } };
    const vhem_data_text text[] = { { 0 },
                                    { .name = ab },
                                    { .name = ac },
                                    { .name = joined },
                                    { .label = ab },
                                    { .label = ac },
                                    { .group = ab },
                                    { .group = ac },
                                    { .label = ab, .group = ab },
                                    { .weight = weight },
                                    { .column = ab },
                                    { .column = ac },
                                    { .symbols = first },
                                    { .symbols = second } };
    enum { CASES = sizeof text / sizeof text[0] };
    uint64_t print[CASES];
    for (int i = 0; i < CASES; i++) {
        vhem_data *data = NULL;
        assert_ok(ctx, call_wrap(ctx, 2, T, 2, y, &data));
        assert_ok(ctx, vh_data_describe(ctx, data, &text[i]));
        print[i] = vh_data_fingerprint(data);
        assert_true(print[i] == vh_data_fingerprint(data));
        for (int j = 0; j < i; j++)
            if (print[j] == print[i])
                fail_msg("cases %d and %d have the same fingerprint", j, i);
        vhem_free(data);
    }
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrap),    cmocka_unit_test(test_wrap_refuses), cmocka_unit_test(test_describe),
        cmocka_unit_test(test_builder), cmocka_unit_test(test_keep),         cmocka_unit_test(test_print),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
