/* SPDX-License-Identifier: BSD-3-Clause */
/* test_values.c - numbers to and from text. */
#include "data/values.h"
#include "data_files.h"

static vh_value parse(const char *s, double *v)
{
    return vh_number_parse(s, strlen(s), v);
}

static void test_parse(void **state)
{
    (void)state;
    static const char *const good[] = {
        "0",
        "-0",
        "1",
        "-1.5",
        "+2",
        ".5",
        "5.",
        "1e3",
        "1E-3",
        "123456789012345678",
        "0.1",
        "1e22",
        "1e23",
        "1e-22",
        "9007199254740993",
        "9007199254740992",
        "9007199254740991e22",
        "0.30000000000000004",
        "1.7976931348623157e308",
        "4.9e-324",
        "2.2250738585072011e-308",
        "0.000000000000000000000000000001",
        "12345678901234567890123",
        "00012",
        "0.1000000000000000055511151231257827021181583404541015625",
        "18446744073709551616",
        "99999999999999999999e-20",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double v = 7;
        assert_int_equal(parse(good[i], &v), VH_NUMBER);
        if (v != strtod(good[i], NULL))
            fail_msg("%s read as %.17g", good[i], v);
    }
    double v;
    parse("-0", &v);
    assert_true(signbit(v));
    assert_int_equal(parse("  3\t", &v), VH_NUMBER);
    assert_true(v == 3);
    static const char *const missing[] = {
        "", " ", "nan", "NaN", "NA", "na", "?", "-nan", ".", "N/A", "NULL"
    };
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
        assert_int_equal(parse(missing[i], &v), VH_MISSING);
        assert_true(isnan(v));
    }
    static const char *const infinite[] = { "inf", "-Inf", "infinity", "1e999", "-1e400" };
    for (size_t i = 0; i < sizeof infinite / sizeof *infinite; i++)
        assert_int_equal(parse(infinite[i], &v), VH_INFINITE);
    static const char *const text[] = { "x",    "1x",  "1e",  "1e+", "..", "-",
                                        "0x10", "1,5", "1 2", "--1", "e5", "nanx" };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        if (parse(text[i], &v) != VH_TEXT)
            fail_msg("'%s' is not text", text[i]);
}

static void test_minus_sign(void **state)
{
    (void)state;
    double v;
    assert_int_equal(parse(" \u22122.5 ", &v), VH_NUMBER);
    assert_true(v == -2.5);
    assert_int_equal(parse("2e\u22123", &v), VH_NUMBER);
    assert_true(v == 2e-3);
    assert_int_equal(parse("\u2212\u22121", &v), VH_TEXT);
}

/* Random doubles of all kinds: what is written reads back to the same bits; what printf writes is read as
 * strtod reads it. */
static void test_round_trip(void **state)
{
    (void)state;
    vh_rng rng;
    vh_rng_init(&rng, 3, VH_RNG_TEST, 1);
    for (int i = 0; i < 200000; i++) {
        char text[64];
        double v, back;
        uint64_t bits = vh_rng_bits(&rng);
        if (i % 3 == 0)
            memcpy(&v, &bits, sizeof v);
        else if (i % 3 == 1)
            v = (double)(int64_t)(bits % 2000001 - 1000000) / pow(10, (double)(bits >> 40 & 7));
        else
            v = (float)vh_rng_normal(&rng);
        if (!isfinite(v))
            continue;
        vh_number_short(v, text);
        assert_int_equal(parse(text, &back), VH_NUMBER);
        if (memcmp(&v, &back, sizeof v) != 0)
            fail_msg("%.17g written as %s reads as %.17g", v, text, back);
        snprintf(text, sizeof text, "%.*g", 1 + i % 19, v);
        if (parse(text, &back) == VH_NUMBER && back != strtod(text, NULL))
            fail_msg("%s read as %.17g", text, back);
    }
}

static void test_short(void **state)
{
    (void)state;
    static const struct {
        double v;
        const char *text;
    } want[] = {
        { 0, "0" },           { 3, "3" },     { -12, "-12" },
        { 0.5, "0.5" },       { 0.1, "0.1" }, { 1234.25, "1234.25" },
        { NAN, "nan" },       { 100, "100" }, { -0.001, "-0.001" },
        { 182.16, "182.16" },
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        char text[VH_NUMBER_SIZE];
        assert_int_equal(vh_number_short(want[i].v, text), strlen(want[i].text));
        assert_string_equal(text, want[i].text);
    }
}

static void test_integer_and_show(void **state)
{
    (void)state;
    int64_t v = 0;
    assert_true(vh_integer_parse("-12", 3, &v) && v == -12);
    assert_false(vh_integer_parse("", 0, &v) || vh_integer_parse("-", 1, &v) || vh_integer_parse("1.0", 3, &v)
                 || vh_integer_parse("99999999999999999999", 20, &v));
    assert_string_equal(VH_SHOW("a\nb", 3), "a?b");
    char *names[] = { (char[]){ "alpha" }, (char[]){ "beta" }, (char[]){ "gamma" } }, list[24];
    vh_show_list(names, 3, ", ", list, sizeof list);
    assert_string_equal(list, "alpha, beta, gamma");
    vh_show_list(names, 3, ", ", list, 22);
    assert_string_equal(list, "alpha and 2 more");
    vh_show_list(names, 3, ", ", list, 8);
    assert_string_equal(list, "3 more");
    char long_name[61] = "", *one = long_name; /* cut, but not inside a letter */
    for (int i = 0; i < 30; i++)
        strcat(long_name, "\u00e9");
    assert_int_equal(strlen(VH_SHOW(one, strlen(one))) % 2, 1); /* pairs of bytes and three points */
    assert_true(vh_join(names, 3, ",", list, sizeof list));
    assert_string_equal(list, "alpha,beta,gamma");
    assert_false(vh_join(names, 3, ",", list, 16));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_minus_sign),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_short),
        cmocka_unit_test(test_integer_and_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
