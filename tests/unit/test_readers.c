/* SPDX-License-Identifier: BSD-3-Clause */
/* test_readers.c - how a file finds its reader. */
#include "core/ctx.h"
#include "data/formats/formats.h"
#include "data_files.h"
#include "vhem.h"

static void assert_reader(const char *name, const char *bytes, size_t n, const char *want)
{
    vhem_ctx *ctx = test_ctx();
    const char *path = test_scratch(name);
    const vh_reader *reader = NULL;
    test_write(path, bytes, n);
    assert_ok(ctx, vh_reader_find(ctx, path, NULL, &reader));
    assert_string_equal(reader->name, want);
    remove(path);
    vhem_free(ctx);
}

static void test_sniff(void **state)
{
    (void)state;
    assert_reader("a.csv", "id,x\n", 5, "csv");
    assert_reader("a", "# c\n\nid;x\n", 10, "csv");
    assert_reader("a.txt", "id\tx\n", 5, "tsv");
    assert_reader("a.csv", "id\tx\n", 5, "tsv");
    assert_reader("a.tsv", "id,y\tx\n", 7, "tsv");
    assert_reader("a.csv", "id,\"a\tb\"\n", 9, "csv");
    assert_reader("a.ts", "#x\n", 3, "ts");
    assert_reader("a.dat", "# x\n@problemName a\n", 19, "ts");
    assert_reader("a.csv", "\x93NUMPY\x01\x00", 8, "npy");
    assert_reader("a.bin", "PK\x03\x04....", 8, "npz");
    assert_reader("a.bin", "PK\x03\x04..........................xl/workbook.xml", 45, "xlsx");
    assert_reader("a", "\x89HDF\r\n\x1a\n", 8, "hdf5");
}

static void assert_unknown(const char *bytes, size_t n, const char *want)
{
    vhem_ctx *ctx = test_ctx();
    const char *path = test_scratch("unknown");
    vhem_data *data = NULL;
    test_write(path, bytes, n);
    assert_fails(ctx, vhem_data_load(ctx, path, NULL, &data), VHEM_EFORMAT, want);
    assert_non_null(strstr(vhem_ctx_error(ctx), path));
    remove(path);
    vhem_free(ctx);
}

static void test_unknown(void **state)
{
    (void)state;
    NEEDS_HDF5();
    assert_unknown("", 0, "the file is empty");
    assert_unknown("\x1f\x8b\x08", 3, "gzip");
    assert_unknown("MATLAB 5.0\0", 11,
                   "a MATLAB file; write its table as CSV, writetable(T, 'data.csv'), or");
    assert_unknown("MATLAB 7.3\0", 11, "a MATLAB file");
    assert_unknown("\x02P\x0c\0", 4, "this is a C3D file of motion capture; export its points as CSV first");
    assert_unknown("HIERARCHY\nROOT Hips\n{\n", 22, "this is a BVH file of motion capture");
    assert_unknown("\n** CONVERTED FROM s1.edf\nMSG\t1\n", 32, "this is an EyeLink recording as text");
    assert_unknown("PAR1\x15\0", 6, "this is a Parquet file; read it with vhem.Sequences.load in Python");
    assert_unknown("$FL2@(#)\0", 9, "this is an SPSS file");
    assert_unknown("{\"format\": \"vhem-h3m\"}", 22, "JSON, perhaps a model file");
    assert_unknown("\x01\x02\x03", 3, "begins with bytes 01 02 03");
    assert_unknown("\xff\xfei\0,\0x\0\n\0a", 11, "the UTF-16 text ends in the middle of a character");
    assert_unknown("\xfe\xff\0i\0d", 6, "no row below it");
    static const char ods[] = "PK\x03\x04..........................mimetype";
    assert_unknown(ods, sizeof ods - 1, "this is an OpenDocument spreadsheet; save it as .xlsx or CSV first");
    assert_unknown("id,x\na,1\nb,\0\n", 14, "line 3 has a NUL byte, which is not text");
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    assert_fails(ctx, vhem_data_load(ctx, "/no/such/file", NULL, &data), VHEM_EIO,
                 "/no/such/file: cannot read: No");
    vhem_data_options opt;
    VHEM_INIT(VHEM_DATA_OPTIONS, &opt);
    opt.format = "xml";
    assert_fails(ctx, vhem_data_load(ctx, "x", &opt, &data), VHEM_EINVAL,
                 "no data format 'xml'; the formats are csv");
    const char *binary[] = { "npy", "npz", "hdf5" };
    for (int i = 0; i < 3; i++) {
        opt.format = binary[i];
        assert_fails(ctx, vhem_data_load(ctx, "-", &opt, &data), VHEM_EINVAL, "standard input");
    }
    vhem_free(ctx);
}

/* A reader that is asked for by name must still refuse a file of another kind. */
static void test_wrong_kind(void **state)
{
    (void)state;
    const char *formats[] = { "npy", "npz", "ts", "hdf5" };
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    vhem_data_options opt;
    VHEM_INIT(VHEM_DATA_OPTIONS, &opt);
    for (int i = 0; i < 4; i++) {
        opt.format = formats[i];
        assert_fails(ctx, load_text(ctx, "wrong.csv", "id,x\na,1\n", &opt, &data), VHEM_EFORMAT,
                     "wrong.csv: ");
    }
    opt.format = "dir";
    assert_fails(ctx, load_text(ctx, "wrong.csv", "id,x\na,1\n", &opt, &data), VHEM_EIO, "wrong.csv: ");
    vhem_free(ctx);
}

static void test_stdin(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    const char *path = file_of("stdin.csv", "id\tx\na\t1\na\t2\n");
    assert_non_null(freopen(path, "r", stdin));
    assert_ok(ctx, vhem_data_load(ctx, "-", NULL, &data));
    assert_values(data, 0, 1, 2);
    assert_string_equal(data->format, "tsv");
    vhem_free(data);
    test_write(path, "id,x\na,b\n", 9);
    assert_non_null(freopen(path, "r", stdin));
    data = NULL;
    assert_fails(ctx, vhem_data_load(ctx, "-", NULL, &data), VHEM_EFORMAT, "standard input: ");
    remove(path);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sniff),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_wrong_kind),
        cmocka_unit_test(test_stdin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
