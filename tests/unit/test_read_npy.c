/* SPDX-License-Identifier: BSD-3-Clause */
/* test_read_npy.c - NumPy arrays and their index. */
#include "data_files.h"
#include "vhem.h"

/* A .npy file of version 1, 2 or 3 with this dictionary and these bytes. */
static const char *npy(const char *name, int version, const char *dict, const void *bytes, size_t n)
{
    char file[4096];
    size_t m = strlen(dict), at = 0;
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (char)version;
    file[7] = 0;
    file[8] = (char)m;
    file[9] = (char)(m >> 8);
    file[10] = file[11] = 0;
    at = version == 1 ? 10 : 12;
    memcpy(file + at, dict, m);
    memcpy(file + at + m, bytes, n);
    const char *path = test_scratch(name);
    test_write(path, file, at + m + n);
    return path;
}

#define assert_type(descr, order, ...)                                                                 \
    do {                                                                                               \
        const unsigned char raw_[] = { __VA_ARGS__ };                                                  \
        vhem_ctx *ctx_ = test_ctx();                                                                   \
        vhem_data *data_ = NULL;                                                                       \
        const char *path_ =                                                                            \
            npy("t.npy", 1, "{'descr': '" descr "', 'fortran_order': False, 'shape': (2,), }\n", raw_, \
                sizeof raw_);                                                                          \
        assert_ok(ctx_, vhem_data_load(ctx_, path_, NULL, &data_));                                    \
        assert_values(data_, 0, 1, order);                                                             \
        vhem_free(data_);                                                                              \
        vhem_free(ctx_);                                                                               \
        remove(path_);                                                                                 \
    } while (0)

static void test_types(void **state)
{
    (void)state;
    assert_type("|b1", 1, 1, 1);
    assert_type("|i1", -1, 1, 0xff);
    assert_type("|u1", 255, 1, 0xff);
    assert_type("<i2", -2, 1, 0, 0xfe, 0xff);
    assert_type(">i2", -2, 0, 1, 0xff, 0xfe);
    assert_type("<u2", 65534, 1, 0, 0xfe, 0xff);
    assert_type(">i4", -1, 0, 0, 0, 1, 255, 255, 255, 255);
    assert_type("<u4", 4294967295.0, 1, 0, 0, 0, 255, 255, 255, 255);
    assert_type("<i8", -1, 1, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255);
    assert_type(">u8", 256, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0);
    assert_type("<f4", -2.5, 0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0);
    assert_type(">f4", -2.5, 0x3f, 0x80, 0, 0, 0xc0, 0x20, 0, 0);
    assert_type("<f8", -2.5, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 4, 0xc0);
    assert_type(">f8", -2.5, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0xc0, 4, 0, 0, 0, 0, 0, 0);
}

static void test_shapes(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    const char raw[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
    const char *path =
        npy("shape.npy", 2, "{'descr': '|i1', 'fortran_order': True, 'shape': (3, 2), }", raw, 6);
    assert_ok(ctx, vhem_data_load(ctx, path, NULL, &data));
    assert_values(data, 0, 1, 4, 2, 5, 3, 6);
    assert_non_null(strstr(view(data, 0).name, "shape"));
    vhem_free(data);
    data = NULL;
    path = npy("shape.npy", 3, "{\"shape\": (2,3,2), \"descr\": \"|i1\", \"fortran_order\": False}", raw, 12);
    vhem_data_options opt = { .size = sizeof(vhem_data_options), .columns = "y1" };
    assert_ok(ctx, vhem_data_load(ctx, path, &opt, &data));
    assert_int_equal(vh_data_size(data), 2);
    assert_values(data, 1, 8, 10, 12);
    assert_sequence(data, 1, "1", "", "", 3);
    vhem_free(data);
    data = NULL;
    path = npy("shape.npy", 1, "{'descr': '|i1', 'fortran_order': True, 'shape': (2L, 3L, 2L), }", raw, 12);
    assert_ok(ctx, vhem_data_load(ctx, path, NULL, &data));
    assert_values(data, 1, 2, 8, 4, 10, 6, 12);
    vhem_free(data);
    remove(path);
    vhem_free(ctx);
}

static const char two_columns[] = "{'descr': '|i1', 'fortran_order': False, 'shape': (3, 2), }\n";
static const char six[] = { 1, 2, 3, 4, 5, 6 };

static void test_index(void **state)
{
    (void)state;
    log_book book;
    vhem_ctx *ctx = logging_ctx(&book);
    vhem_data *data = NULL;
    const char *path = npy("set_local.npy", 1, two_columns, six, 6);
    const char *index =
        file_of("set_index.csv", "seq,start,length,label,who,w\n0,0,1,A,p,1\n1,1,2,B,q,2\n2,0,3,A,q,4\n");
    assert_ok(ctx, vhem_data_load(ctx, path, NULL, &data));
    assert_non_null(strstr(book.text[VHEM_LOG_INFO], "set_index.csv"));
    assert_int_equal(vh_data_size(data), 3);
    assert_sequence(data, 2, "2", "A", "", 3);
    assert_values(data, 1, 3, 4, 5, 6);
    vhem_free(data);
    data = NULL;
    vhem_data_options opt = { .size = sizeof(vhem_data_options),
                              .id = "who,seq",
                              .label = "who",
                              .group = "label",
                              .weight = "w",
                              .where = "who=q" };
    assert_ok(ctx, vhem_data_load(ctx, path, &opt, &data));
    assert_sequence(data, 0, "q/1", "q", "B", 2);
    assert_true(view(data, 1).weight == 4);
    vhem_free(data);
    data = NULL;
    opt = (vhem_data_options){ .size = sizeof(vhem_data_options), .id = "who" };
    assert_ok(ctx, vhem_data_load(ctx, path, &opt, &data));
    assert_non_null(strstr(book.text[VHEM_LOG_WARN], "more than one sequence is named 'q'"));
    vhem_free(data);
    data = NULL;
    static const struct {
        const char *text, *sentence;
    } bad[] = {
        { "seq,start,length\n0,0,4\n", "index.csv: line 2: rows 0 to 3 are asked for, but " },
        { "seq,start,length\n0,3,1\n", "line 2: rows 3 to 3 are asked for" },
        { "seq,start,length\n0,9223372036854775807,1\n", "line 2: start is '9223372036854775807'" },
        { "seq,start,length\n0,-1,1\n", "line 2: start is '-1'" },
        { "seq,start,length\n0,0,0\n", "line 2: length is '0', expected a whole number from 1" },
        { "seq,start,length\n0,0,1.5\n", "line 2: length is '1.5'" },
        { "seq,begin,length\n0,0,1\n", "needs the columns start and length, found seq, begin, length" },
        { "seq,start,length\n", "no row below it" },
        { "seq,start,length\n0,0\n", "line 2 has 2 fields" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        test_write(index, bad[i].text, strlen(bad[i].text));
        assert_fails(ctx, vhem_data_load(ctx, path, NULL, &data), VHEM_EFORMAT, bad[i].sentence);
    }
    remove(index);
    opt = (vhem_data_options){ .size = sizeof(vhem_data_options), .id = "who" };
    assert_fails(ctx, vhem_data_load(ctx, path, &opt, &data), VHEM_EINVAL, "id names a column");
    remove(path);
    vhem_free(ctx);
}

static void test_refused(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    static const struct {
        const char *dict, *sentence;
        size_t n;
    } bad[] = {
        { two_columns, "5 bytes follow the header, the shape in it needs 6 values", 5 },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 1000), }",
          "6 bytes follow the header", 6 },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (99000000000000000000, 1000), }", "not a list",
          6 },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (900000000000000000, 1000), }",
          "larger than any", 6 },
        { "{'descr': '|i1', 'fortran_order': False, 'shape': (1,1,1,6), }", "has 4 dimensions, expected 2",
          6 },
        { "{'descr': '|i1', 'fortran_order': False, 'shape': (), }", "has 0 dimensions", 1 },
        { "{'descr': '|i1', 'fortran_order': False, 'shape': (0, 2), }", "is empty", 0 },
        { "{'descr': '|i1', 'fortran_order': False, 'shape': (a,), }", "not a list of whole numbers", 6 },
        { "{'descr': '<c16', 'fortran_order': False, 'shape': (6,), }",
          "the type is '<c16', expected real numbers", 6 },
        { "{'descr': '|O', 'fortran_order': False, 'shape': (6,), }", "the type is '|O'", 6 },
        { "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (6,), }", "the type is [('a'", 6 },
        { "{'descr': '|S1', 'fortran_order': False, 'shape': (6,), }", "holds text, expected numbers", 6 },
        { "{'descr': '|i1', 'shape': (6,), }", "fortran_order", 6 },
        { "{'descr': '|i1', 'fortran_order': False}", "gives no shape", 6 },
        { "{'fortran_order': False, 'shape': (6,), }", "gives no type", 6 },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *path = npy("bad.npy", 1, bad[i].dict, six, bad[i].n);
        assert_fails(ctx, vhem_data_load(ctx, path, NULL, &data), VHEM_EFORMAT, bad[i].sentence);
        assert_non_null(strstr(vhem_ctx_error(ctx), "bad.npy: "));
        remove(path);
    }
    const char *path = npy("bad.npy", 9, two_columns, six, 6);
    assert_fails(ctx, vhem_data_load(ctx, path, NULL, &data), VHEM_EFORMAT, "version 9");
    test_write(path, "\x93NUMPY\x01", 7);
    assert_fails(ctx, vhem_data_load(ctx, path, NULL, &data), VHEM_EFORMAT, "ends inside its header");
    test_write(path, "\x93NUMPY\x02\x00\xff\xff\xff\xff{}", 14);
    assert_fails(ctx, vhem_data_load(ctx, path, NULL, &data), VHEM_EFORMAT,
                 "the header claims to be 4294967295 bytes");
    const unsigned char inf[] = { 0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x7f };
    path = npy("bad.npy", 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }", inf, 8);
    assert_fails(ctx, vhem_data_load(ctx, path, NULL, &data), VHEM_EFORMAT,
                 "bad': frame 1 (counted from 0), column 'y0' is infinite");
    remove(path);
    vhem_free(ctx);
}

static void test_mutations(void **state)
{
    (void)state;
    char path[4096];
    snprintf(path, sizeof path, "%s", npy("fuzz.npy", 1, two_columns, six, 6));
    mutate(path, 2500, 12);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),   cmocka_unit_test(test_shapes),    cmocka_unit_test(test_index),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_mutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
