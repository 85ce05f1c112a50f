/* SPDX-License-Identifier: BSD-3-Clause */
/* test_spill.c - frames in memory and in a file are the same numbers, whatever reader they come from. */
#include "data/data.h"
#include "data/spill.h"
#include "data_files.h"
#include "vhem.h"

#include <dirent.h>
#ifdef VH_HAVE_HDF5
#include <hdf5.h>
#endif
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* TMPDIR is set to this while f runs. */
static void with_tmpdir(const char *folder, void (*f)(const char *folder))
{
    const char *old = getenv("TMPDIR");
    char *copy = old ? strdup(old) : NULL;
    setenv("TMPDIR", folder, 1);
    f(folder);
    if (copy)
        setenv("TMPDIR", copy, 1);
    else
        unsetenv("TMPDIR");
    free(copy);
}

/* ---- the spill ----------------------------------------------------------------------------------------- */

enum { MANY = 300000 };

static void fill(double *y, int n)
{
    vh_rng rng;
    vh_rng_init(&rng, 3, VH_RNG_TEST, 0);
    for (int i = 0; i < n; i++)
        y[i] = i % 1000 == 7 ? NAN : i % 5000 == 9 ? INFINITY : vh_rng_uniform(&rng);
}

/* Puts y in parts of unequal size. */
static void put_parts(vhem_ctx *ctx, const double *y, int n, vh_spill *s)
{
    for (int i = 0, part = 1; i < n; i += part, part = part * 3 % 200003 + 1) {
        part = part < n - i ? part : n - i;
        assert_ok(ctx, vh_spill_put(ctx, s, y + i, part));
    }
}

static void test_grows(void **state)
{
    (void)state;
    static const int64_t limit[] = { 0, 1, 8, 4096, 1 << 20, 8 * MANY - 1, 8 * MANY };
    vhem_ctx *ctx = test_ctx();
    double *y = malloc(MANY * sizeof *y);
    fill(y, MANY);
    for (size_t k = 0; k < sizeof limit / sizeof *limit; k++) {
        vh_spill s = { .limit = limit[k] };
        const double *back;
        put_parts(ctx, y, MANY, &s);
        assert_ok(ctx, vh_spill_values(ctx, &s, &back));
        assert_int_equal(s.n, MANY);
        assert_int_equal(s.in_file, limit[k] > 0 && limit[k] < 8 * MANY);
        assert_memory_equal(back, y, MANY * sizeof *y);
        assert_int_equal(s.n_missing, MANY / 1000);
        assert_int_equal(s.n_infinite, MANY / 5000);
        vh_spill_free(&s);
    }
    vh_spill empty = { .limit = 8 };
    const double *back = NULL;
    assert_ok(ctx, vh_spill_values(ctx, &empty, &back));
    assert_non_null(back);
    assert_int_equal(empty.n, 0);
    vh_spill_free(&empty);
    free(y);
    vhem_free(ctx);
}

static void test_copy_and_pick(void **state)
{
    (void)state;
    enum { D = 3, ROWS = MANY / D };
    static const int place[] = { 2, 0 };
    vhem_ctx *ctx = test_ctx();
    double *y = malloc(MANY * sizeof *y);
    const double *back;
    fill(y, MANY);
    for (int64_t limit = 0; limit <= 8; limit += 8) {
        vh_spill s = { .limit = limit }, part = { .limit = limit };
        put_parts(ctx, y, MANY, &s);
        assert_ok(ctx, vh_spill_copy(ctx, &part, &s, 1000, MANY - 2000));
        assert_ok(ctx, vh_spill_values(ctx, &part, &back));
        assert_memory_equal(back, y + 1000, (MANY - 2000) * sizeof *y);
        assert_ok(ctx, vh_spill_pick(ctx, &s, D, place, 2));
        assert_ok(ctx, vh_spill_values(ctx, &s, &back));
        assert_int_equal(s.n, 2 * ROWS);
        int n_missing = 0;
        for (int t = 0; t < ROWS; t++)
            for (int k = 0; k < 2; k++) {
                assert_memory_equal(&back[2 * t + k], &y[D * t + place[k]], sizeof *y);
                n_missing += isnan(back[2 * t + k]) != 0;
            }
        assert_int_equal(s.n_missing, n_missing);
        assert_ok(ctx, vh_spill_pick(ctx, &s, 2, place, 0));
        assert_int_equal(s.n, 0);
        vh_spill_free(&s);
        vh_spill_free(&part);
    }
    free(y);
    vhem_free(ctx);
}

/* Bytes of files that are in the memory of this process. */
static long mapped_bytes(void)
{
    long size, resident, shared = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%ld %ld %ld", &size, &resident, &shared), 3);
    fclose(f);
    return shared * sysconf(_SC_PAGESIZE);
}

static double sum_of(const double *y, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += y[i];
    return sum;
}

static void test_release(void **state)
{
    (void)state;
    enum { N = 4 << 20, BYTES = 8 * N };
    vhem_ctx *ctx = test_ctx();
    vh_spill s = { .limit = 1 };
    double *y = malloc(BYTES);
    const double *back;
    for (int i = 0; i < N; i++)
        y[i] = i;
    assert_ok(ctx, vh_spill_put(ctx, &s, y, N));
    free(y);
    assert_ok(ctx, vh_spill_values(ctx, &s, &back));
    long before = mapped_bytes();
    double sum = sum_of(back, N);
    assert_true(mapped_bytes() - before > BYTES * 3L / 4);
    vh_spill_release(&s, back + 5, N - 9);
    assert_true(mapped_bytes() - before < BYTES / 8);
    assert_true(sum_of(back, N) == sum); /* it comes back by itself */
    vh_spill_release(&s, back, N);
    for (int64_t i = 0, at; i < 3000; i++) { /* parts that are no whole pages, anywhere */
        at = i * 7919 % (N / 100) * 100;
        sum += sum_of(back + at, 100);
        vh_spill_release(&s, back + at, 100);
    }
    assert_true(mapped_bytes() - before < BYTES / 8);
    vh_spill_free(&s);
    vhem_free(ctx);
}

/* ---- the folder ---------------------------------------------------------------------------------------- */

static void in_no_folder(const char *folder)
{
    vhem_ctx *ctx = test_ctx();
    vh_spill s = { .name = "x.npy", .limit = 8 };
    const double y[] = { 1, 2 };
    assert_fails(ctx, vh_spill_put(ctx, &s, y, 2), VHEM_EIO, "x.npy: the frames need more memory than is");
    assert_non_null(strstr(vhem_ctx_error(ctx), folder));
    assert_non_null(strstr(vhem_ctx_error(ctx), "No such file"));
    vh_spill_free(&s);
    vhem_free(ctx);
}

static void in_own_folder(const char *folder)
{
    vhem_ctx *ctx = test_ctx();
    vh_spill s = { .limit = 8 };
    const double y[] = { 1, 2 };
    assert_ok(ctx, vh_spill_put(ctx, &s, y, 2));
    assert_int_equal(rmdir(folder), 0); /* it is empty, although the file is open */
    const double *back;
    assert_ok(ctx, vh_spill_values(ctx, &s, &back));
    assert_true(back[0] == 1 && back[1] == 2);
    vh_spill_free(&s);
    vhem_free(ctx);
}

static void test_folder(void **state)
{
    (void)state;
    const char *own = test_scratch("folder");
    with_tmpdir("/no/such/folder", in_no_folder);
    assert_int_equal(mkdir(own, 0700), 0);
    with_tmpdir(own, in_own_folder);
}

/* A limit on the size of files stands for a full disk: a sentence, and nothing is lost but the load. */
static void test_full_disk(void **state)
{
    (void)state;
    enum { N = 20000 };
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL, *back = NULL;
    vhem_data_options opt = { .size = sizeof(vhem_data_options), .memory = 64 << 10 };
    int T = N;
    double *y = calloc(N, sizeof *y);
    const char *path = test_scratch("long.npy");
    struct rlimit old, low;

    assert_ok(ctx, call_wrap(ctx, 1, &T, 1, y, &data));
    assert_ok(ctx, vhem_data_save(ctx, data, path));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    low = (struct rlimit){ .rlim_cur = 100000, .rlim_max = old.rlim_max };
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    vhem_status st = vhem_data_load(ctx, path, &opt, &back);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(st, VHEM_EIO);
    assert_null(back);
    assert_non_null(strstr(vhem_ctx_error(ctx), path));
    assert_non_null(strstr(vhem_ctx_error(ctx), "cannot hold them: File too large; name another folder"));
    assert_ok(ctx, vhem_data_load(ctx, path, &opt, &back));
    assert_same(data, back, 0);
    vhem_free(back);
    vhem_free(data);
    free(y);
    remove(path);
    char index[4200];
    snprintf(index, sizeof index, "%.*s_index.csv", (int)strlen(path) - 4, path);
    remove(index);
    vhem_free(ctx);
}

/* ---- readers ------------------------------------------------------------------------------------------- */

/* The file with all frames in memory, and with none. */
static void both_ways(vhem_ctx *ctx, const char *path, const vhem_data_options *opt)
{
    vhem_data_options all = *opt, none = *opt;
    vhem_data *a = NULL, *b = NULL;
    all.memory = 0;
    none.memory = 8;
    assert_ok(ctx, vhem_data_load(ctx, path, &all, &a));
    assert_ok(ctx, vhem_data_load(ctx, path, &none, &b));
    assert_null(a->hold.map);
    assert_non_null(b->hold.map);
    assert_same(a, b, ALL);
    assert_int_equal(vh_data_require_complete(ctx, a, NULL, 0), vh_data_require_complete(ctx, b, NULL, 0));
    vh_data_release(b, NULL, b->N);
    assert_same(a, b, ALL);
    vhem_free(a);
    vhem_free(b);
}

/* 40 sequences of 3 columns with labels, groups and weights, a few values missing. */
static vhem_data *make_data(vhem_ctx *ctx)
{
    enum { N = 40, D = 3 };
    static double y[N * 60 * D];
    int T[N], n_frames = 0;
    char text[N][16];
    const char *name[N], *label[N], *group[N], *column[] = { "a", "b", "c" };
    double weight[N];
    vhem_data *data = NULL;
    vh_rng rng;

    vh_rng_init(&rng, 5, VH_RNG_TEST, 0);
    for (int n = 0; n < N; n++) {
        T[n] = 1 + (int)vh_rng_below(&rng, 60);
        n_frames += T[n];
        snprintf(text[n], sizeof text[n], "s%d", n);
        name[n] = text[n];
        label[n] = n % 3 ? "walk" : "run";
        group[n] = n % 2 ? "p" : "q";
        weight[n] = 1 + n % 4;
    }
    for (int i = 0; i < n_frames * D; i++)
        y[i] = i % 301 == 100 ? NAN : vh_rng_normal(&rng);
    assert_ok(ctx, call_wrap(ctx, N, T, D, y, &data));
    assert_ok(ctx, call_describe(ctx, data, name, label, group, weight, column));
    return data;
}

static void test_readers(void **state)
{
    (void)state;
    NEEDS_HDF5();
    static const struct {
        const char *name, *columns;
        bool table;
    } way[] = { { "s.csv", "c,a", true },  { "s.tsv", "c,a", true }, { "s.npy", "2,0", true },
                { "s.npz", "c,a", false }, { "s.h5", "c,a", false }, { "s.ts", "2,0", false } };
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = make_data(ctx);
    for (size_t i = 0; i < sizeof way / sizeof *way; i++) {
        const char *path = test_scratch(way[i].name);
        vhem_data_options opt = { .size = sizeof(vhem_data_options),
                                  .group = way[i].table ? "group" : NULL,
                                  .weight = way[i].table ? "weight" : NULL };
        assert_ok(ctx, vhem_data_save(ctx, data, path));
        both_ways(ctx, path, &opt);
        opt.columns = way[i].columns;
        both_ways(ctx, path, &opt);
        opt.where = "label=run";
        both_ways(ctx, path, &opt);
        opt.columns = NULL;
        both_ways(ctx, path, &opt);
        remove(path);
    }
    remove(test_scratch("s_index.csv"));
    vhem_free(data);
    vhem_free(ctx);
}

/* Rows all over the file, a column that turns out to be text late, records longer than the window. */
static void test_awkward_csv(void **state)
{
    (void)state;
    enum { ROWS = 4000, LONG = 3 << 20 };
    vhem_ctx *ctx = test_ctx();
    const char *path = test_scratch("awkward.csv");
    char *note = malloc(LONG + 1);
    memset(note, 'x', LONG);
    note[LONG] = '\0';
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "# first\nid,note,x,odd,y\r\n");
    for (int i = 0; i < ROWS; i++) {
        fprintf(f, "s%d,\"%s, \"\"%d\"\"\n", i * 7 % 13, i == 20 ? note : "n", i);
        fprintf(f, "\",%.17g,%s,%d\r\n", i / 7.0, i < 100 ? "" : "text", i);
    }
    fclose(f);
    free(note);
    vhem_data_options opt = { .size = sizeof(vhem_data_options) };
    both_ways(ctx, path, &opt);
    opt.where = "id=s3";
    both_ways(ctx, path, &opt);
    vhem_data *data = NULL;
    opt.memory = 8;
    assert_ok(ctx, vhem_data_load(ctx, path, &opt, &data));
    assert_int_equal(vh_data_dim(data), 2);
    assert_int_equal(vh_data_size(data), 1);
    for (int64_t t = 0; t < view(data, 0).T; t++) {
        int i = (int)view(data, 0).y[2 * t + 1];
        assert_int_equal(i * 7 % 13, 3);
        assert_true(view(data, 0).y[2 * t] == i / 7.0);
    }
    vhem_free(data);
    remove(path);
    vhem_free(ctx);
}

/* A .npy file with doubles 0, 1, 2, ... of this shape. */
static const char *npy_file(const char *name, const char *shape, bool fortran, int n)
{
    char head[128];
    const char *path = test_scratch(name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    int len = snprintf(head, sizeof head, "{'descr': '<f8', 'fortran_order': %s, 'shape': %s, }\n",
                       fortran ? "True" : "False", shape);
    fwrite("\x93NUMPY\x01\x00", 1, 8, f);
    fputc(len, f);
    fputc(0, f);
    fwrite(head, 1, (size_t)len, f);
    for (int i = 0; i < n; i++) {
        double v = i;
        fwrite(&v, sizeof v, 1, f);
    }
    fclose(f);
    return path;
}

static void test_awkward_arrays(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const vhem_data_options opt = { .size = sizeof(vhem_data_options), .memory = 8 };
    const char *path = npy_file("f.npy", "(40000, 3)", true, 120000);
    vhem_data *data = NULL;
    both_ways(ctx, path, &opt);
    assert_ok(ctx, vhem_data_load(ctx, path, &opt, &data));
    for (int t = 0; t < 40000; t += 777)
        assert_true(view(data, 0).y[3 * t] == t && view(data, 0).y[3 * t + 2] == 80000 + t);
    vhem_free(data);
    remove(path);
    path = npy_file("g.npy", "(5, 4, 2)", true, 40);
    both_ways(ctx, path, &opt);
    assert_ok(ctx, vhem_data_load(ctx, path, &opt, &data));
    assert_true(view(data, 3).y[5] == 3 + 5 * 2 + 20); /* n + 5 t + 20 k at t = 2, k = 1 */
    vhem_free(data);
    remove(path);
    path = npy_file("h.npy", "(100, 2)", false, 200); /* not in the order of the array, not all */
    const char *index = file_of("h_index.csv", "seq,start,length\na,50,30\nb,0,10\nc,5,70\n");
    both_ways(ctx, path, &opt);
    assert_ok(ctx, vhem_data_load(ctx, path, &opt, &data));
    assert_true(view(data, 2).y[1] == 11 && view(data, 2).T == 70);
    vhem_free(data);
    remove(path);
    remove(index);
    vhem_free(ctx);
}

#ifdef VH_HAVE_HDF5
/* A dataset for each sequence: one in chunks that do not divide it, packed; one of 32-bit floats. */
static void test_hdf5_sets(void **state)
{
    (void)state;
    enum { T = 100003, D = 3 };
    vhem_ctx *ctx = test_ctx();
    const char *path = test_scratch("sets.h5");
    double *y = malloc(T * D * sizeof *y);
    hsize_t shape[] = { T, D }, chunk[] = { 1000, 2 };
    for (int i = 0; i < T * D; i++)
        y[i] = i / 3.0;
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(2, shape, NULL), plist = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(plist, 2, chunk);
    H5Pset_deflate(plist, 1);
    hid_t set = H5Dcreate2(file, "b", H5T_IEEE_F64LE, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, y) >= 0);
    H5Dclose(set);
    set = H5Dcreate2(file, "a", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, y) >= 0);
    H5Dclose(set);
    H5Pclose(plist);
    H5Sclose(space);
    H5Fclose(file);
    const vhem_data_options opt = { .size = sizeof(vhem_data_options), .memory = 8 };
    vhem_data *data = NULL;
    both_ways(ctx, path, &opt);
    assert_ok(ctx, vhem_data_load(ctx, path, &opt, &data));
    assert_int_equal(view(data, 1).T, T);
    assert_memory_equal(view(data, 1).y, y, T * D * sizeof *y);
    assert_true(view(data, 0).y[T * D - 1] == (float)y[T * D - 1]);
    vhem_free(data);
    free(y);
    remove(path);
    vhem_free(ctx);
}
#else
static void test_hdf5_sets(void **state)
{
    (void)state;
    skip();
}
#endif

static void test_folder_of_files(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const char *folder = test_scratch("files");
    char path[4][4200];
    assert_int_equal(mkdir(folder, 0700), 0);
    for (int k = 0; k < 4; k++) {
        snprintf(path[k], sizeof path[k], "%s/f%d.csv", folder, k);
        FILE *f = fopen(path[k], "w");
        assert_non_null(f);
        fputs("x,y\n", f);
        for (int t = 0; t < 100 * (k + 1); t++)
            fprintf(f, "%d,%.17g\n", t, k / 7.0);
        fclose(f);
    }
    vhem_data_options opt = { .size = sizeof(vhem_data_options) };
    both_ways(ctx, folder, &opt);
    opt.columns = "y";
    opt.where = "name=f2";
    both_ways(ctx, folder, &opt);
    for (int k = 0; k < 4; k++)
        remove(path[k]);
    rmdir(folder);
    vhem_free(ctx);
}

/* An infinite value is refused by its place, also when only the file has it. */
static void test_infinite(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    const vhem_data_options opt = { .size = sizeof(vhem_data_options), .memory = 8 };
    const double y[] = { 1, 2, 3, INFINITY };
    const char *path = npy_file("inf.npy", "(4,)", false, 0);
    FILE *f = fopen(path, "ab");
    fwrite(y, sizeof *y, 4, f);
    fclose(f);
    assert_fails(ctx, vhem_data_load(ctx, path, &opt, &data), VHEM_EFORMAT, "frame 3 (counted from 0)");
    assert_null(data);
    remove(path);
    vhem_free(ctx);
}

/* A subset shows the same frames, in its own order, and is fitted as they are. */
static void test_subset(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const char *path = test_scratch("subset.npz");
    const vhem_data_options opt = { .size = sizeof(vhem_data_options), .memory = 8 };
    static const int64_t seq[] = { 30, 2, 2, 17 }, again[] = { 3, 0 };
    vhem_data *whole = make_data(ctx), *data = NULL, *some = NULL, *few = NULL;
    assert_ok(ctx, vhem_data_save(ctx, whole, path));
    assert_ok(ctx, vhem_data_load(ctx, path, &opt, &data));
    assert_ok(ctx, vh_data_subset(ctx, data, seq, 4, &some));
    assert_ok(ctx, vh_data_subset(ctx, some, again, 2, &few));
    for (int k = 0; k < 4; k++) {
        vhem_seq_view want = view(whole, seq[k]);
        assert_sequence(some, k, want.name, want.label, want.group, want.T);
        assert_memory_equal(view(some, k).y, want.y, (size_t)(want.T * 3) * sizeof *want.y);
        assert_true(view(some, k).weight == want.weight);
        vh_data_passed(some, k);
    }
    assert_string_equal(view(few, 0).name, "s17");
    assert_ptr_equal(view(few, 1).y, view(data, 30).y);
    vhem_free(few);
    vhem_free(some);
    vhem_free(data);
    vhem_free(whole);
    remove(path);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grows),       cmocka_unit_test(test_copy_and_pick),
        cmocka_unit_test(test_release),     cmocka_unit_test(test_folder),
        cmocka_unit_test(test_full_disk),   cmocka_unit_test(test_readers),
        cmocka_unit_test(test_awkward_csv), cmocka_unit_test(test_awkward_arrays),
        cmocka_unit_test(test_hdf5_sets),   cmocka_unit_test(test_folder_of_files),
        cmocka_unit_test(test_infinite),    cmocka_unit_test(test_subset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
