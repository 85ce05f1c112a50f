/* SPDX-License-Identifier: BSD-3-Clause */
/* test_read_ts.c - the text format of aeon and sktime. */
#include "data_files.h"
#include "vhem.h"

static void test_plain(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    const char *text = "# about\n@problemName p\n@timestamps false\n\n@univariate false\n@dimensions 2\n"
                       "@equalLength false\n@classLabel true Run Sit\n@data\r\n"
                       "1,2,3:4,?,6:Run\n7:8: Sit \n\n# more\n1,1:NaN,-2.5e1:?\n";
    assert_ok(ctx, load_text(ctx, "a.ts", text, NULL, &data));
    assert_string_equal(data->format, "ts");
    assert_int_equal(vh_data_size(data), 3);
    assert_sequence(data, 0, "case0", "Run", "", 3);
    assert_sequence(data, 1, "case1", "Sit", "", 1);
    assert_sequence(data, 2, "case2", "", "", 2);
    assert_values(data, 0, 1, 4, 2, NAN, 3, 6);
    assert_values(data, 2, 1, NAN, 1, -25);
    vhem_free(data);
    data = NULL;
    vhem_data_options opt = { .size = sizeof(vhem_data_options), .where = "label=Sit", .columns = "y1" };
    assert_ok(ctx, load_text(ctx, "a.ts", text, &opt, &data));
    assert_int_equal(vh_data_size(data), 1);
    assert_values(data, 0, 8);
    vhem_free(data);
    data = NULL;
    assert_ok(ctx, load_text(ctx, "a.ts", "@univariate true\n@classLabel false\n@data\n1,2\n3", NULL, &data));
    assert_values(data, 0, 1, 2);
    assert_sequence(data, 1, "case1", "", "", 1);
    vhem_free(data);
    vhem_free(ctx);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *sentence;
    } bad[] = {
        { "@timeStamps true\n@data\n(0,1)\n", "line 1: @timeStamps is true" },
        { "@univariate maybe\n@data\n1\n", "line 1: @univariate is 'maybe', expected true or false" },
        { "@dimensions two\n@data\n1\n", "@dimensions is 'two'" },
        { "@univariate true\n@data\n1:2\n", "line 3 has 2 channels, but @univariate is true" },
        { "@dimensions 3\n@data\n1:2\n", "line 3 has 2 channels, expected 3 as @dimensions says" },
        { "@seriesLength 3\n@data\n1,2\n", "line 3 has 2 values per channel, expected 3" },
        { "@data\n1,2:3\n", "line 2: channel 1 has 1 values, but channel 0 has 2" },
        { "@data\n1:2\n3\n", "line 3 has 1 channels, expected 2" },
        { "@data\n1,x:2,3\n", "line 2, channel 0, value 1: found 'x'" },
        { "@data\n1,inf\n", "line 2, channel 0, value 1: found 'inf'" },
        { "@classLabel true a b\n@data\n1:c\n",
          "line 3: the class is 'c', which is not among those of line 1" },
        { "@classLabel true a b\n@data\n1\n", "line 3: found no ':', expected a class" },
        { "1,2,3\n", "line 1: found '1,2,3', expected a line that begins with @" },
        { "@univariate true\n", "there is no @data line" },
        { "@data\n", "there is no case after @data" },
    };
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_fails(ctx, load_text(ctx, "bad.ts", bad[i].text, NULL, &data), VHEM_EFORMAT, bad[i].sentence);
        assert_non_null(strstr(vhem_ctx_error(ctx), "bad.ts: "));
    }
    vhem_data_options opt = { .size = sizeof(vhem_data_options), .id = "x" };
    assert_fails(ctx, load_text(ctx, "bad.ts", "@data\n1\n", &opt, &data), VHEM_EINVAL, "id names a column");
    vhem_free(ctx);
}

static void test_mutations(void **state)
{
    (void)state;
    const char *path =
        file_of("fuzz.ts", "#a\n@univariate false\n@classLabel true a b\n@data\n1,2,?:4,5e1,6:a\n7:8:b\n");
    mutate(path, 2500, 13);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_mutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
