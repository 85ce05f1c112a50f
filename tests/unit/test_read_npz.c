/* SPDX-License-Identifier: BSD-3-Clause */
/* test_read_npz.c - NumPy archives: built here member by member, stored or deflated, with and without
 * zip64. */
#include "zip_files.h"
#include "vhem.h"

static void add(zip *z, const char *key, int how, const char *descr, const char *shape, const void *data,
                size_t size)
{
    char npy[4096], name[64];
    int m = snprintf(npy + 10, sizeof npy - 10, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n",
                     descr, shape);
    memcpy(npy, "\x93NUMPY\x01\x00", 8);
    npy[8] = (char)m;
    npy[9] = 0;
    memcpy(npy + 10 + m, data, size);
    snprintf(name, sizeof name, "%s.npy", key);
    add_raw(z, name, how, npy, 10 + (size_t)m + size);
}

static const char eight[] = { 1, 2, 3, 4, 5, 6, 7, 8 };

static void test_stacked(void **state)
{
    (void)state;
    for (int how = STORED; how <= WIDE; how++) {
        vhem_ctx *ctx = test_ctx();
        vhem_data *data = NULL;
        zip z = { .n = 0 };
        add(&z, "X", how, "|i1", "(4, 2)", eight, 8);
        add(&z, "lengths", how, "<i2", "(2,)", "\3\0\1\0", 4);
        add(&z, "labels", how, "|i1", "(2,)", "\7\x9", 2);
        add(&z, "names", how, "<U2", "(2,)", "a\0\0\0\xe9\0\0\0b\0\0\0\0\0\0\0", 16);
        add(&z, "groups", how, "|S3", "(2,)", "abcd\0\0", 6);
        const char *path = finish(&z, "s.npz", how == WIDE);
        assert_ok(ctx, vhem_data_load(ctx, path, NULL, &data));
        assert_string_equal(data->format, "npz");
        assert_sequence(data, 0, "a\xc3\xa9", "7", "abc", 3);
        assert_sequence(data, 1, "b", "9", "d", 1);
        assert_values(data, 0, 1, 2, 3, 4, 5, 6);
        assert_values(data, 1, 7, 8);
        vhem_free(data);
        remove(path);
        vhem_free(ctx);
    }
}

static void test_other_layouts(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    zip z = { .n = 0 };
    add(&z, "walk", DEFLATED, "|i1", "(3, 2)", eight, 6);
    add(&z, "run", STORED, "|i1", "(1, 2)", eight + 6, 2);
    const char *path = finish(&z, "each.npz", 0);
    assert_ok(ctx, vhem_data_load(ctx, path, NULL, &data));
    assert_sequence(data, 0, "walk", "", "", 3);
    assert_sequence(data, 1, "run", "", "", 1);
    assert_values(data, 1, 7, 8);
    vhem_free(data);
    data = NULL;
    vhem_data_options opt = { .size = sizeof(vhem_data_options), .where = "name=run" };
    assert_ok(ctx, vhem_data_load(ctx, path, &opt, &data));
    assert_int_equal(vh_data_size(data), 1);
    vhem_free(data);
    remove(path);

    z = (zip){ .n = 0 };
    add(&z, "X", DEFLATED, "|i1", "(4, 2)", eight, 8);
    path = finish(&z, "lone.npz", 0);
    data = NULL;
    assert_ok(ctx, vhem_data_load(ctx, path, NULL, &data));
    assert_int_equal(vh_data_size(data), 1);
    vhem_free(data);
    data = NULL;
    const char *index = file_of("lone_index.csv", "seq,start,length,label\nu,2,2,L\n");
    assert_ok(ctx, vhem_data_load(ctx, path, NULL, &data));
    assert_sequence(data, 0, "u", "L", "", 2);
    assert_values(data, 0, 5, 6, 7, 8);
    vhem_free(data);
    remove(index);
    remove(path);
    vhem_free(ctx);
}

static void assert_refused(zip *z, const char *sentence)
{
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    const char *path = finish(z, "bad.npz", 0);
    assert_fails(ctx, vhem_data_load(ctx, path, NULL, &data), VHEM_EFORMAT, sentence);
    assert_non_null(strstr(vhem_ctx_error(ctx), "bad.npz: "));
    remove(path);
    vhem_free(ctx);
}

static void test_refused(void **state)
{
    (void)state;
    zip z = { .n = 0 };
    assert_refused(&z, "the archive is empty");
    z = (zip){ .n = 0 };
    add(&z, "X", STORED, "|i1", "(4, 2)", eight, 8);
    add(&z, "lengths", STORED, "|i1", "(2,)", "\3\2", 2);
    assert_refused(&z, "lengths[1] is 2, expected a whole number from 1 to the 1 rows of X that are left");
    z = (zip){ .n = 0 };
    add(&z, "X", STORED, "|i1", "(4, 2)", eight, 8);
    add(&z, "lengths", STORED, "|i1", "(2,)", "\1\1", 2);
    assert_refused(&z, "the lengths add up to 2, but X has 4 rows");
    z = (zip){ .n = 0 };
    add(&z, "X", STORED, "|i1", "(4, 2)", eight, 8);
    add(&z, "lengths", STORED, "|i1", "(1,)", "\4", 1);
    add(&z, "labels", STORED, "|i1", "(2,)", "\4\4", 2);
    assert_refused(&z, "'labels' has 2 values in 1 dimensions, expected 1 in one");
    z = (zip){ .n = 0 };
    add(&z, "a", STORED, "|i1", "(4, 2)", eight, 8);
    add(&z, "b", STORED, "|i1", "(2, 4)", eight, 8);
    assert_refused(&z, "array 'b' has 4 columns, expected 2 as in 'a'");
    z = (zip){ .n = 0 };
    add(&z, "a", STORED, "|i1", "(4, 2)", eight, 8);
    z.bytes[z.n - 1] ^= 1;
    assert_refused(&z, "array 'a': the checksum is ");
    z = (zip){ .n = 0 };
    add(&z, "a", DEFLATED, "|i1", "(4, 2)", eight, 8);
    z.bytes[40] ^= 0xff;
    z.bytes[41] ^= 0xff;
    assert_refused(&z, "array 'a': ");
    z = (zip){ .n = 0 };
    add_raw(&z, "readme.txt", STORED, "hello there", 11);
    assert_refused(&z, "array 'readme.txt': does not begin as a NumPy array does");
    z = (zip){ .n = 0 };
    add(&z, "a", STORED, "|i1", "(4, 2)", eight, 8);
    memset(z.list + 20, 0x7f, 8);
    assert_refused(&z, "member 'a.npy' claims ");
    z = (zip){ .n = 0 };
    add(&z, "a", STORED, "|i1", "(4, 2)", eight, 8);
    z.list[10] = 12;
    assert_refused(&z, "array 'a': is packed by method 12");
    z = (zip){ .n = 0 };
    add(&z, "a", STORED, "|i1", "(4, 2)", eight, 8);
    z.list[8] = 1;
    assert_refused(&z, "array 'a': is encrypted");
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    assert_fails(ctx, load_text(ctx, "bad.npz", "PK\3\4 and no more", NULL, &data), VHEM_EFORMAT,
                 "the list of members at the end is not there");
    vhem_free(ctx);
}

static void test_mutations(void **state)
{
    (void)state;
    char path[4096];
    for (int wide = 0; wide < 2; wide++) {
        zip z = { .n = 0 };
        add(&z, "X", DEFLATED, "|i1", "(4, 2)", eight, 8);
        add(&z, "lengths", wide ? WIDE : STORED, "<i2", "(2,)", "\3\0\1\0", 4);
        add(&z, "names", STORED, "<U1", "(2,)", "a\0\0\0b\0\0\0", 8);
        snprintf(path, sizeof path, "%s", finish(&z, "fuzz.npz", wide));
        mutate(path, 1500, 14 + (uint64_t)wide);
        remove(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stacked),
        cmocka_unit_test(test_other_layouts),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_mutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
