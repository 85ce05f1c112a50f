/* SPDX-License-Identifier: BSD-3-Clause */
/* test_read_hdf5.c - HDF5 data: datasets as sequences, and the stacked layout. */
#include "data_files.h"
#include "vhem.h"

#include <hdf5.h>

static hid_t file;

static void begin(const char *path)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST);
    file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    assert_true(file >= 0);
}

static void put(const char *name, hid_t type, int ndim, hsize_t n0, hsize_t n1, hsize_t n2, const void *y)
{
    hsize_t shape[] = { n0, n1, n2 };
    hid_t space = H5Screate_simple(ndim, shape, NULL), links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    hid_t set = H5Dcreate2(file, name, type, space, links, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, y) >= 0);
    H5Dclose(set);
    H5Pclose(links);
    H5Sclose(space);
}

static void put_text_attribute(const char *name, const char *key, const char *text, int variable)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR), set = H5Dopen2(file, name, H5P_DEFAULT);
    H5Tset_size(type, variable ? H5T_VARIABLE : strlen(text));
    hid_t attr = H5Acreate2(set, key, type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attr, type, variable ? (const void *)&text : (const void *)text) >= 0);
    H5Aclose(attr);
    H5Dclose(set);
    H5Sclose(space);
    H5Tclose(type);
}

static void put_number_attribute(const char *name, const char *key, double v)
{
    hid_t space = H5Screate(H5S_SCALAR), set = H5Dopen2(file, name, H5P_DEFAULT);
    hid_t attr = H5Acreate2(set, key, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attr, H5T_NATIVE_DOUBLE, &v) >= 0);
    H5Aclose(attr);
    H5Dclose(set);
    H5Sclose(space);
}

static const double y[] = { 1, 2, 3, 4, 5, 6, 7, 8 };

static void test_each(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    const char *path = test_scratch("each.h5");
    const int whole[] = { -1, 2 };
    begin(path);
    put("b", H5T_NATIVE_DOUBLE, 2, 2, 2, 0, y);
    put("a", H5T_NATIVE_INT, 2, 1, 2, 0, whole);
    put("walk/c", H5T_NATIVE_DOUBLE, 2, 1, 2, 0, y + 4);
    put("walk/slow/d", H5T_NATIVE_DOUBLE, 2, 1, 2, 0, y + 6);
    put_text_attribute("b", "label", "run", 1);
    put_text_attribute("b", "group", "g1", 0);
    put_number_attribute("b", "weight", 2.5);
    put_number_attribute("a", "label", 3);
    H5Fclose(file);
    assert_ok(ctx, vhem_data_load(ctx, path, NULL, &data));
    assert_string_equal(data->format, "hdf5");
    assert_int_equal(vh_data_size(data), 4);
    assert_sequence(data, 0, "a", "3", "", 1);
    assert_sequence(data, 1, "b", "run", "g1", 2);
    assert_sequence(data, 2, "walk/c", "walk", "", 1);
    assert_sequence(data, 3, "walk/slow/d", "walk/slow", "", 1);
    assert_values(data, 0, -1, 2);
    assert_values(data, 1, 1, 2, 3, 4);
    assert_true(view(data, 1).weight == 2.5);
    vhem_free(data);
    data = NULL;
    vhem_data_options opt = { .size = sizeof(vhem_data_options), .where = "label=walk", .columns = "y1" };
    assert_ok(ctx, vhem_data_load(ctx, path, &opt, &data));
    assert_int_equal(vh_data_size(data), 1);
    assert_values(data, 0, 6);
    vhem_free(data);
    remove(path);
    vhem_free(ctx);
}

static void test_stacked(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    const char *path = test_scratch("stacked.h5");
    const int length[] = { 1, 3 };
    begin(path);
    put("X", H5T_NATIVE_DOUBLE, 2, 4, 2, 0, y);
    put("lengths", H5T_NATIVE_INT, 1, 2, 0, 0, length);
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, 3);
    put("labels", type, 1, 2, 0, 0, "abcde\0");
    H5Tclose(type);
    H5Fclose(file);
    assert_ok(ctx, vhem_data_load(ctx, path, NULL, &data));
    assert_sequence(data, 0, "0", "abc", "", 1);
    assert_sequence(data, 1, "1", "de", "", 3);
    assert_values(data, 1, 3, 4, 5, 6, 7, 8);
    vhem_free(data);
    remove(path);
    vhem_free(ctx);
}

#define assert_refused(path, sentence)                                                        \
    do {                                                                                      \
        vhem_ctx *ctx_ = test_ctx();                                                          \
        vhem_data *data_ = NULL;                                                              \
        H5Fclose(file);                                                                       \
        assert_fails(ctx_, vhem_data_load(ctx_, path, NULL, &data_), VHEM_EFORMAT, sentence); \
        assert_non_null(strstr(vhem_ctx_error(ctx_), "bad.h5: "));                            \
        remove(path);                                                                         \
        vhem_free(ctx_);                                                                      \
    } while (0)

static void test_refused(void **state)
{
    (void)state;
    const char *path = test_scratch("bad.h5");
    const double inf[] = { 1, INFINITY };
    begin(path);
    assert_refused(path, "there is no dataset in the file");
    begin(path);
    put("a", H5T_NATIVE_DOUBLE, 2, 2, 2, 0, y);
    put("b", H5T_NATIVE_DOUBLE, 2, 2, 3, 0, y);
    assert_refused(path, "dataset 'b' has 3 columns, expected 2 as in 'a'");
    begin(path);
    put("a", H5T_NATIVE_DOUBLE, 3, 2, 2, 2, y);
    assert_refused(path, "dataset 'a' has 3 dimensions, expected 2: time and channels");
    begin(path);
    put("a", H5T_NATIVE_DOUBLE, 2, 2, 1, 0, inf);
    assert_refused(path, "sequence 'a': frame 1 (counted from 0), column 'y0' is infinite");
    begin(path);
    put("a", H5T_NATIVE_DOUBLE, 2, 2, 1, 0, y);
    put_number_attribute("a", "weight", -1);
    assert_refused(path, "the weight of 'a' is '-1'");
    begin(path);
    hid_t type = H5Tcopy(H5T_C_S1);
    put("a", type, 1, 2, 0, 0, "ab");
    H5Tclose(type);
    assert_refused(path, "array 'a' holds text, expected numbers");
    begin(path);
    hsize_t shape[] = { 1000000000, 1000 }; /* claims a terabyte, holds nothing */
    hid_t space = H5Screate_simple(2, shape, NULL);
    H5Dclose(H5Dcreate2(file, "a", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
    assert_refused(path, "dataset 'a' claims more values than a file of ");
}

/* Model files of every version say what they are, as text of fixed or of variable length. */
static void test_model_files(void **state)
{
    const char *path = test_scratch("bad.h5"), *format = "vhem-h3m";
    (void)state;
    for (int variable = 0; variable < 2; variable++) {
        begin(path);
        hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
        H5Tset_size(type, variable ? H5T_VARIABLE : 8);
        hid_t a = H5Acreate2(file, "format", type, space, H5P_DEFAULT, H5P_DEFAULT);
        assert_true(H5Awrite(a, type, variable ? (const void *)&format : format) >= 0);
        H5Aclose(a);
        H5Sclose(space);
        H5Tclose(type);
        put("omega", H5T_NATIVE_DOUBLE, 1, 1, 0, 0, &(double){ 1 });
        assert_refused(path, "this is a model file, expected sequences");
    }
}

/* Our calls are silent, and leave HDF5's own printing as the program had it. */
/* A dataset X [2][2] that is stored as how says. */
static void put_stored(hid_t how)
{
    const int64_t lengths[] = { 2 };
    hid_t space = H5Screate_simple(2, (hsize_t[]){ 2, 2 }, NULL);
    hid_t set = H5Dcreate2(file, "X", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, how, H5P_DEFAULT);
    assert_true(set >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(how);
    put("lengths", H5T_NATIVE_INT64, 1, 1, 0, 0, lengths);
    H5Fclose(file);
}

/* What a file from somebody else says about other files of the reader's is not followed. */
static void test_elsewhere(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    const char *path = test_scratch("x.h5"), *other = test_scratch("secret");
    const int64_t lengths[] = { 2 };

    test_write(other, y, sizeof y);
    hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    begin(path);
    assert_true(H5Pset_external(how, other, 0, 4 * sizeof *y) >= 0);
    put_stored(how);
    assert_fails(ctx, vhem_data_load(ctx, path, NULL, &data), VHEM_EFORMAT,
                 "dataset 'X' is not read: its values are stored in other files");

    how = H5Pcreate(H5P_DATASET_CREATE);
    hid_t space = H5Screate_simple(2, (hsize_t[]){ 2, 2 }, NULL);
    begin(path);
    assert_true(H5Pset_virtual(how, space, other, "X", space) >= 0);
    put_stored(how);
    H5Sclose(space);
    assert_fails(ctx, vhem_data_load(ctx, path, NULL, &data), VHEM_EFORMAT,
                 "dataset 'X' is not read: its values are stored in other files");

    begin(path);
    assert_true(H5Lcreate_external(other, "X", file, "X", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    put("lengths", H5T_NATIVE_INT64, 1, 1, 0, 0, lengths);
    H5Fclose(file);
    assert_fails(ctx, vhem_data_load(ctx, path, NULL, &data), VHEM_EFORMAT,
                 "dataset 'X' is not read: it is a link, perhaps to another file");
    vhem_free(ctx);
}

/* Text that is claimed and not stored: 20 GB from two kilobytes. */
static void test_claimed_text(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    const char *path = test_scratch("text.h5");
    const int64_t lengths[] = { 2 };
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, (hsize_t[]){ 20000 }, NULL);

    begin(path);
    put("X", H5T_NATIVE_DOUBLE, 2, 2, 2, 0, y);
    put("lengths", H5T_NATIVE_INT64, 1, 1, 0, 0, lengths);
    H5Tset_size(type, 1000000);
    hid_t set = H5Dcreate2(file, "names", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(set >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Tclose(type);
    H5Fclose(file);
    assert_fails(ctx, vhem_data_load(ctx, path, NULL, &data), VHEM_ENOMEM,
                 "20000 texts of 1000000 bytes need more memory than is allowed");
    vhem_free(ctx);
}

static void test_quiet(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    H5E_auto2_t before, after;
    void *arg;
    H5Eget_auto2(H5E_DEFAULT, &before, &arg);
    assert_fails(ctx, load_text(ctx, "x.h5", "\x89HDF\r\n\x1a\n and then nothing", NULL, &data), VHEM_EFORMAT,
                 "cannot be opened as HDF5");
    H5Eget_auto2(H5E_DEFAULT, &after, &arg);
    assert_true(before == after);
    vhem_free(ctx);
}

static void test_mutations(void **state)
{
    (void)state;
    const char *path = test_scratch("fuzz.h5");
    const int length[] = { 1, 3 };
    begin(path);
    put("X", H5T_NATIVE_DOUBLE, 2, 4, 2, 0, y);
    put("lengths", H5T_NATIVE_INT, 1, 2, 0, 0, length);
    H5Fclose(file);
    mutate(path, 1000, 16);
    begin(path);
    put("a", H5T_NATIVE_DOUBLE, 2, 2, 2, 0, y);
    put("w/b", H5T_NATIVE_DOUBLE, 2, 2, 2, 0, y);
    put_text_attribute("a", "label", "run", 0);
    H5Fclose(file);
    mutate(path, 1000, 17);
    remove(path);
    assert_int_equal(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL), 0); /* we close all that we open */
}

/* HDF5 loses memory of its own when it gives up on a damaged file, and complains of that at exit: not ours to
 * find. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5\n";
}

int main(void)
{
    H5dont_atexit();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each),         cmocka_unit_test(test_stacked),
        cmocka_unit_test(test_refused),      cmocka_unit_test(test_quiet),
        cmocka_unit_test(test_mutations),    cmocka_unit_test(test_elsewhere),
        cmocka_unit_test(test_claimed_text), cmocka_unit_test(test_model_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
