/* SPDX-License-Identifier: BSD-3-Clause */
/* test_data_save.c - saving data: every format reads back to the same numbers and, where it can, the same
 * texts. */
#include "data_files.h"
#include "vhem.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

static const double tricky[] = {
    0.1, -0.0, 1.0 / 3, NAN, 5e-324, -1.7976931348623157e308, 123456789.125, 1e22
};

/* Three sequences with all there is; the names are as awkward as names get. */
static vhem_data *sample(vhem_ctx *ctx)
{
    const char *text =
        "id,label,grp,w,the x,y\n"
        "\"a, \"\"b\"\"\nc\",L1,g,0.5,0.1,-0\n\"a, \"\"b\"\"\nc\",L1,g,0.5,0.33333333333333331,nan\n"
        " #2 ,,g2,1,5e-324,-1.7976931348623157e308\n\" x\",L\xc3\xa9,,2,123456789.125,1e22\n";
    vhem_data_options opt = { .size = sizeof(vhem_data_options), .group = "grp", .weight = "w" };
    vhem_data *data = NULL;
    assert_ok(ctx, load_text(ctx, "sample.csv", text, &opt, &data));
    for (int n = 0, i = 0; n < 3; n++)
        for (int64_t k = 0; k < 2 * view(data, n).T; k++, i++)
            assert_memory_equal(isnan(tricky[i]) ? &tricky[3] : &view(data, n).y[k],
                                isnan(tricky[i]) ? &tricky[3] : &tricky[i], sizeof(double));
    return data;
}

#define SIZE .size = sizeof(vhem_data_options)

static void test_round_trips(void **state)
{
    (void)state;
    NEEDS_HDF5();
    static const struct {
        const char *name, *format;
        int keeps;
        vhem_data_options opt;
    } way[] = {
        { "s.csv", "csv", ALL, { SIZE, .group = "group", .weight = "weight" } },
        { "s.TSV", "tsv", ALL, { SIZE, .group = "group", .weight = "weight" } },
        { "s.npy", "npy", NAMES | LABELS | GROUPS, { SIZE, .group = "group", .weight = "weight" } },
        { "s.npz", "npz", ALL, { SIZE } },
        { "s.h5", "hdf5", ALL, { SIZE } },
        { "s.hdf5", "hdf5", ALL, { SIZE } },
        { "s.ts", "ts", LABELS, { SIZE } },
    };
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = sample(ctx);
    for (size_t i = 0; i < sizeof way / sizeof *way; i++) {
        vhem_data *back = NULL;
        const char *path = test_scratch(way[i].name);
        assert_ok(ctx, vhem_data_save(ctx, data, path));
        assert_ok(ctx, vhem_data_load(ctx, path, &way[i].opt, &back));
        assert_string_equal(back->format, way[i].format);
        assert_same(data, back, way[i].keeps);
        vhem_free(back);
        remove(path);
    }
    remove(test_scratch("s_index.csv"));
    vhem_free(data);
    vhem_free(ctx);
}

/* Names that are no UTF-8 are kept by all formats that keep names. */
static void test_any_bytes(void **state)
{
    (void)state;
    NEEDS_HDF5();
    static const char *const file[] = { "b.csv", "b.npy", "b.npz", "b.h5" };
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    assert_ok(ctx, load_text(ctx, "b.csv", "id,x\n\xff\xfe,1\n\xe9t\xe9,2\n", NULL, &data));
    for (int i = 0; i < 4; i++) {
        vhem_data *back = NULL;
        const char *path = test_scratch(file[i]);
        assert_ok(ctx, vhem_data_save(ctx, data, path));
        assert_ok(ctx, vhem_data_load(ctx, path, NULL, &back));
        assert_same(data, back, NAMES);
        vhem_free(back);
        remove(path);
    }
    remove(test_scratch("b_index.csv"));
    vhem_free(data);
    vhem_free(ctx);
}

/* Wrapped memory has no names: sequences are numbered; two of one name are too. */
static void test_without_names(void **state)
{
    (void)state;
    NEEDS_HDF5();
    static const char *const file[] = { "w.csv", "w.npy", "w.npz", "w.h5", "w.ts" };
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    const int T[] = { 2, 1 };
    const double y[] = { 1, 2, 3 };
    assert_ok(ctx, call_wrap(ctx, 2, T, 1, y, &data));
    for (int i = 0; i < 5; i++) {
        vhem_data *back = NULL;
        const char *path = test_scratch(file[i]);
        assert_ok(ctx, vhem_data_save(ctx, data, path));
        assert_ok(ctx, vhem_data_load(ctx, path, NULL, &back));
        assert_same(data, back, COLUMNS);
        assert_string_equal(view(back, 1).name, i == 4 ? "case1" : "1");
        vhem_free(back);
        remove(path);
    }
    remove(test_scratch("w_index.csv"));
    vhem_free(data);
    vhem_free(ctx);
}

static void test_renamed(void **state)
{
    (void)state;
    log_book book;
    vhem_ctx *ctx = logging_ctx(&book);
    vhem_data *data = NULL, *back = NULL;
    char array[4096], csv[4096], index[4096];
    snprintf(array, sizeof array, "%s", test_scratch("twice.npy"));
    snprintf(csv, sizeof csv, "%s", test_scratch("twice.csv"));
    vhem_data_options opt = { .size = sizeof(vhem_data_options), .id = "who" };
    assert_ok(ctx, load_text(ctx, "t.csv", "id,x\na,1\nb,2\n", NULL, &data));
    assert_ok(ctx, vhem_data_save(ctx, data, array));
    vhem_free(data);
    snprintf(index, sizeof index, "%s", file_of("twice_index.csv", "who,start,length\np,0,1\np,1,1\n"));
    data = NULL;
    assert_ok(ctx, vhem_data_load(ctx, array, &opt, &data));
    assert_ok(ctx, vhem_data_save(ctx, data, csv));
    assert_non_null(
        strstr(book.text[VHEM_LOG_WARN], "more than one sequence is named 'p'; column id numbers them"));
    assert_ok(ctx, vhem_data_load(ctx, csv, NULL, &back));
    assert_sequence(back, 1, "1", "", "", 1);
    vhem_free(back);
    vhem_free(data);
    data = back = NULL;
    opt = (vhem_data_options){ .size = sizeof(vhem_data_options), .id = "k", .columns = "seq,x" };
    assert_ok(ctx, load_text(ctx, "t.csv", "k,seq,x\na,1,5\na,2,5\n", &opt, &data));
    assert_ok(ctx, vhem_data_save(ctx, data, csv));
    assert_ok(ctx, vhem_data_load(ctx, csv, NULL, &back));
    assert_string_equal(vh_data_column(back, 0), "seq_");
    assert_values(back, 0, 1, 5, 2, 5);
    vhem_free(back);
    vhem_free(data);
    remove(array);
    remove(csv);
    remove(index);
    vhem_free(ctx);
}

static void test_refused(void **state)
{
    (void)state;
    NEEDS_HDF5();
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    const int T[] = { 1 };
    double y[] = { INFINITY };
    assert_ok(ctx, call_wrap(ctx, 1, T, 1, y, &data));
    assert_fails(ctx, vhem_data_save(ctx, data, "x.csv"), VHEM_EINVAL,
                 "sequence 0: frame 0 (counted from 0), column 'y0' is infinite");
    y[0] = 1;
    if (access("/dev/full", W_OK) == 0)
        assert_fails(ctx, vhem_data_save(ctx, data, "/dev/full"), VHEM_EIO,
                     "/dev/full: writing failed: No space");
    assert_fails(ctx, vhem_data_save(ctx, data, "x.xls"), VHEM_EINVAL, "x.xls: the ending says how");
    static const char *const ending[] = { "csv", "npy", "npz", "ts", "h5" };
    for (int i = 0; i < 5; i++) {
        char path[64];
        snprintf(path, sizeof path, "/no/such/folder/x.%s", ending[i]);
        assert_fails(ctx, vhem_data_save(ctx, data, path), VHEM_EIO, "cannot write");
    }
    vhem_free(data);
    data = NULL;
    assert_ok(ctx, load_text(ctx, "t.csv", "id,label,x\na,two words,1\n", NULL, &data));
    assert_fails(ctx, vhem_data_save(ctx, data, "x.ts"), VHEM_EINVAL,
                 "the label 'two words' cannot be written as .ts");
    vhem_free(data);
    vhem_free(ctx);
}

/* The file still says "old"; it is removed. */
static void assert_old(const char *path)
{
    size_t n;
    char *bytes = read_bytes(path, &n);
    assert_int_equal(n, 3);
    assert_memory_equal(bytes, "old", 3);
    free(bytes);
    remove(path);
}

/* A disk that is full, here a limit on the size of files: the old file still stands, and nothing lies beside
 * it. */
static void test_full_disk(void **state)
{
    (void)state;
    NEEDS_HDF5();
    static const char *const file[] = { "full.csv", "full.npy", "full.npz", "full.ts", "full.h5" };
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    static double y[100000];
    const int T[] = { 100000 };
    struct rlimit old, small;
    assert_ok(ctx, call_wrap(ctx, 1, T, 1, y, &data));
    getrlimit(RLIMIT_FSIZE, &old);
    small = (struct rlimit){ .rlim_cur = 65536, .rlim_max = old.rlim_max };
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < 5; i++) {
        const char *path = file_of(file[i], "old");
        setrlimit(RLIMIT_FSIZE, &small);
        vhem_status st = vhem_data_save(ctx, data, path);
        setrlimit(RLIMIT_FSIZE, &old);
        assert_int_equal(st, VHEM_EIO);
        assert_non_null(strstr(vhem_ctx_error(ctx), file[i]));
        assert_old(path);
    }
    vhem_free(data);
    vhem_free(ctx);
}

/* Ctrl-C while a file is written: it stays as it was. */
static void test_stopped(void **state)
{
    (void)state;
    NEEDS_HDF5();
    static const char *const file[] = { "p.csv", "p.tsv", "p.npy", "p.npz", "p.h5", "p.ts" };
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = sample(ctx);
    vhem_ctx_stop(ctx);
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        const char *path = file_of(file[i], "old");
        assert_fails(ctx, vhem_data_save(ctx, data, path), VHEM_ESTOPPED, "stopped while writing");
        assert_old(path);
    }
    vhem_free(data);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),   cmocka_unit_test(test_any_bytes),
        cmocka_unit_test(test_without_names), cmocka_unit_test(test_renamed),
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
