/* SPDX-License-Identifier: BSD-3-Clause */
/* test_model_hdf5.c - model files as HDF5: exact round trips, every sentence, other writers, damage. */
#include "hdf5_v1.h"
#include "files/hmm_file.h"
#include "full_disk.h"
#include "model_samples.h"

#include "core/atomic_file.h"
#include "vhem.h"

#include <fcntl.h>
#include <hdf5.h>
#include <pthread.h>
#include <unistd.h>

/* The library itself loses memory over damaged object headers; what we leave open is counted at the end. */
const char *__lsan_default_suppressions(void) __attribute__((visibility("default")));
const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5";
}

static void nothing_left_open(void **state)
{
    (void)state;
    assert_int_equal(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
}

static const char *saved(vhem_ctx *ctx, const vh_h3m *h3m)
{
    const char *path = test_scratch("model.h5");
    assert_ok(ctx, vh_h3m_save(ctx, h3m, path));
    return path;
}

static const char *saved_v1(vhem_ctx *ctx, const vh_h3m *h3m)
{
    const char *path = test_scratch("model.h5");
    assert_ok(ctx, save_v1(ctx, h3m, path));
    return path;
}

static void round_trip(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = hard_h3m(ctx), *back = NULL;
    assert_ok(ctx, vh_model_set_provenance(ctx, &h3m->provenance, "{\"seed\": 18446744073709551615}"));
    h3m->lengths = (vh_lengths){ 3, 40, 5000000000, 90 };
    assert_ok(ctx, vh_h3m_set_text(ctx, &h3m->prior, "{\"nu\": 3.0}"));
    assert_ok(ctx, vh_h3m_set_text(ctx, &h3m->extra, "{\"note\": [1, 2.5, null]}"));
    assert_ok(ctx, vh_h3m_set_text(ctx, &h3m->hmm[0].extra, "{\"tempo\": 120.5}"));
    const char *path = saved(ctx, h3m), *json = test_scratch("model.json"), *other = test_scratch("other");
    assert_ok(ctx, vh_h3m_load(ctx, path, &back));
    assert_same_h3m(h3m, back);
    vh_h3m_free(back);
    back = NULL;
    saved_v1(ctx, h3m); /* the old form holds the same */
    assert_ok(ctx, vh_h3m_load(ctx, path, &back));
    assert_same_h3m(h3m, back);

    vh_h3m *text = NULL; /* the two formats hold the same */
    assert_ok(ctx, vh_model_set_provenance(ctx, &back->provenance, "{\"seed\": 3}"));
    assert_ok(ctx, vh_h3m_save(ctx, back, json));
    assert_ok(ctx, vh_h3m_load(ctx, json, &text));
    assert_same_h3m(back, text);
    vh_h3m_free(text);
    vh_h3m_free(back);

    assert_int_equal(rename(path, other), 0); /* known by its first bytes */
    back = NULL;
    assert_ok(ctx, vh_h3m_load(ctx, other, &back));
    assert_same_h3m(h3m, back);
    vh_h3m_free(back);
    vh_h3m_free(h3m);

    vh_rng rng;
    vh_rng_init(&rng, 7, VH_RNG_TEST, 0);
    for (int full = 0; full < 2; full++) {
        h3m = random_h3m(ctx, &rng, 20, 3, 2, full ? 40 : 4, full, 1e3); /* 40: past an object header */
        path = saved(ctx, h3m);
        back = NULL;
        assert_ok(ctx, vh_h3m_load(ctx, path, &back));
        assert_same_h3m(h3m, back);
        vh_h3m_free(back);
        vh_h3m_free(h3m);
    }
    remove(path);
    remove(json);
    remove(other);
    vhem_free(ctx);
}

/* Changes to a good file, and the sentence they lead to. */
static void no_format(hid_t f)
{
    H5Adelete(f, "format");
}
static void no_version(hid_t f)
{
    H5Adelete(f, "version");
}
static void no_emission(hid_t f)
{
    H5Adelete(f, "emission");
}
static void no_d(hid_t f)
{
    H5Adelete(f, "d");
}
static void no_omega(hid_t f)
{
    H5Ldelete(f, "omega", H5P_DEFAULT);
}
static void no_hmms(hid_t f)
{
    H5Ldelete(f, "hmms", H5P_DEFAULT);
}
static void no_hmm(hid_t f)
{
    H5Ldelete(f, "hmms/0", H5P_DEFAULT);
}
static void no_mu(hid_t f)
{
    H5Ldelete(f, "hmms/1/mu", H5P_DEFAULT);
}
static void no_S(hid_t f)
{
    H5Adelete_by_name(f, "hmms/1", "S", H5P_DEFAULT);
}

static void set_int(hid_t f, const char *object, const char *name, int value)
{
    hid_t at = H5Oopen(f, object, H5P_DEFAULT), a = H5Aopen(at, name, H5P_DEFAULT);
    H5Awrite(a, H5T_NATIVE_INT, &value);
    H5Aclose(a);
    H5Oclose(at);
}
static void version_3(hid_t f)
{
    set_int(f, "/", "version", 3);
}
static void d_0(hid_t f)
{
    set_int(f, "/", "d", 0);
}
static void d_5(hid_t f)
{
    set_int(f, "/", "d", 5);
}
static void S_4(hid_t f)
{
    set_int(f, "hmms/1", "S", 4);
}

static void set_string(hid_t f, const char *name, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, H5T_VARIABLE);
    H5Adelete(f, name);
    hid_t a = H5Acreate2(f, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(a, type, &text);
    H5Aclose(a);
    H5Sclose(space);
    H5Tclose(type);
}
static void other_format(hid_t f)
{
    set_string(f, "format", "vhem-tree");
}
static void other_emission(hid_t f)
{
    set_string(f, "emission", "cauchy");
}

static void set_numbers(hid_t f, const char *name, int rank, const hsize_t *n, hid_t type, const void *x)
{
    hid_t space = H5Screate_simple(rank, n, NULL);
    if (H5Lexists(f, name, H5P_DEFAULT) > 0)
        H5Ldelete(f, name, H5P_DEFAULT);
    hid_t set = H5Dcreate2(f, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (x)
        H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, x);
    H5Dclose(set);
    H5Sclose(space);
}
static void bad_omega(hid_t f)
{
    double x[] = { 0.25, 0.7 };
    set_numbers(f, "omega", 1, (hsize_t[]){ 2 }, H5T_NATIVE_DOUBLE, x);
}
static void bad_A(hid_t f)
{
    double x[] = { 0, 0, 1, 0.5, 0.27, 0.2, 1, 0, 0 };
    set_numbers(f, "hmms/1/A", 2, (hsize_t[]){ 3, 3 }, H5T_NATIVE_DOUBLE, x);
}
static void nan_mu(hid_t f)
{
    double x[12];
    for (int k = 0; k < 12; k++)
        x[k] = NAN;
    set_numbers(f, "hmms/1/mu", 3, (hsize_t[]){ 3, 1, 4 }, H5T_NATIVE_DOUBLE, x);
}
static void flat_mu(hid_t f)
{
    set_numbers(f, "hmms/1/mu", 2, (hsize_t[]){ 3, 4 }, H5T_NATIVE_DOUBLE, NULL);
}
static void huge(hid_t f) /* fill values: nothing of it is in the file */
{
    set_int(f, "hmms/1", "S", 20000);
    set_numbers(f, "hmms/1/pi", 1, (hsize_t[]){ 20000 }, H5T_NATIVE_DOUBLE, NULL);
    set_numbers(f, "hmms/1/A", 2, (hsize_t[]){ 20000, 20000 }, H5T_NATIVE_DOUBLE, NULL);
    set_numbers(f, "hmms/1/c", 2, (hsize_t[]){ 20000, 1 }, H5T_NATIVE_DOUBLE, NULL);
    set_numbers(f, "hmms/1/mu", 3, (hsize_t[]){ 20000, 1, 4 }, H5T_NATIVE_DOUBLE, NULL);
    set_numbers(f, "hmms/1/cov", 3, (hsize_t[]){ 20000, 1, 4 }, H5T_NATIVE_DOUBLE, NULL);
}
static void text_mu(hid_t f)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    set_numbers(f, "hmms/1/mu", 3, (hsize_t[]){ 3, 1, 4 }, type, NULL);
    H5Tclose(type);
}
static void number_name(hid_t f)
{
    hid_t at = H5Gopen2(f, "hmms/1", H5P_DEFAULT), space = H5Screate(H5S_SCALAR);
    H5Adelete(at, "name");
    H5Aclose(H5Acreate2(at, "name", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
    H5Gclose(at);
}

static void sentences(void **state)
{
    (void)state;
    static const struct {
        void (*change)(hid_t);
        const char *sentence;
    } cases[] = {
        { no_format, ": format is missing, must be 'vhem-h3m'" },
        { other_format, ": format is 'vhem-tree', must be 'vhem-h3m'" },
        { no_version, ": version is missing" },
        { version_3, ": version 3 of the format, this program reads up to 2" },
        { no_emission, ": emission is missing" },
        { other_emission, ": emission is 'cauchy', must be one of: gaussian-diag" },
        { no_d, ": d is missing" },
        { d_0, ": d is 0, must be a whole number from 1 to" },
        { d_5, ": HMM 0: mu has shape 2 x 2 x 4, must be S x M x d = 2 x 2 x 5" },
        { no_omega, ": omega is missing" },
        { bad_omega, ": omega sums to 0.95, must be 1" },
        { no_hmms, ": hmms is missing" },
        { no_hmm, ": omega has shape 2, must be K = 1" },
        { no_S, "7\"?'): S is missing" },
        { S_4, "'): pi has shape 3, must be S = 4" },
        { no_mu, "'): mu is missing" },
        { flat_mu, "'): mu has shape 3 x 4, must be S x M x d = 3 x 1 x 4" },
        { text_mu, "'): mu does not hold numbers" },
        { nan_mu, "'): state 0, component 0: cov[0] is 0, but state 0, component 0 has null in that column" },
        { bad_A, "'): row 1 of A sums to 0.97, must be 1" },
        { huge, "'): S = 20000, M = 1, d = 4 is more than the file can hold" },
        { number_name, ": HMM 1: name is not text" },
    };
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = hard_h3m(ctx), *back = NULL;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const char *path = saved_v1(ctx, h3m);
        hid_t f = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        assert_true(f >= 0);
        cases[k].change(f);
        H5Fclose(f);
        assert_fails(ctx, vh_h3m_load(ctx, path, &back), VHEM_EFORMAT, cases[k].sentence);
        assert_memory_equal(vhem_ctx_error(ctx), path, strlen(path));
        assert_null(back);
        remove(path);
    }
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* Strings of variable length, single precision and integers: what other programs like to write. */
static void other_writers(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = hard_h3m(ctx), *back = NULL;
    const char *path = saved_v1(ctx, h3m);
    hid_t f = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    float mu[12] = { 1.5f, -2 };
    int A[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    set_string(f, "format", "vhem-h3m");
    set_numbers(f, "hmms/1/mu", 3, (hsize_t[]){ 3, 1, 4 }, H5T_NATIVE_FLOAT, mu);
    set_numbers(f, "hmms/1/A", 2, (hsize_t[]){ 3, 3 }, H5T_NATIVE_INT, A);
    H5Fclose(f);
    assert_ok(ctx, vh_h3m_load(ctx, path, &back));
    assert_true(vh_hmm_param(back, &back->hmm[1], 0)[0] == 1.5);
    assert_true(back->hmm[1].A[4] == 1);
    vh_h3m_free(back);
    vh_h3m_free(h3m);
    remove(path);
    vhem_free(ctx);
}

static void failed_writes(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_rng_init(&rng, 7, VH_RNG_TEST, 0);
    vh_h3m *h3m = random_h3m(ctx, &rng, 20, 3, 2, 8, 1, 1), *back = NULL;
    const char *path = saved(ctx, h3m), *link = test_scratch("full.h5");
    double before = h3m->hmm[3].A[1];
    h3m->hmm[3].A[1] = NAN;
    assert_fails(ctx, vh_h3m_save(ctx, h3m, path), VHEM_ENUMERIC,
                 "model.h5: HMM 3: a number in A is nan, cannot be");
    h3m->hmm[3].A[1] = 77;
    for (rlim_t limit = 100; limit < 20000; limit = limit * 3 / 2) {
        struct rlimit old = limit_file_size(limit);
        vhem_status st = vh_h3m_save(ctx, h3m, path);
        setrlimit(RLIMIT_FSIZE, &old);
        assert_int_equal(st, VHEM_EIO);
        assert_non_null(strstr(vhem_ctx_error(ctx), "model.h5: writing failed: File too large"));
        assert_int_equal(files_like(path), 1);
    }
    assert_ok(ctx, vh_h3m_load(ctx, path, &back)); /* the old file stands */
    assert_true(back->hmm[3].A[1] == before);
    vh_h3m_free(back);
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(symlink("/dev/full", link), 0);
        assert_fails(ctx, vh_h3m_save(ctx, h3m, link), VHEM_EIO, "full.h5: writing failed: No space");
        remove(link);
    }
    assert_fails(ctx, vh_h3m_save(ctx, h3m, "/no/such/x.h5"), VHEM_EIO,
                 "/no/such/x.h5: cannot write: No such");
    vh_h3m_free(h3m);
    remove(path);
    vhem_free(ctx);
}

enum {
    THREADS = 4, /* as many paths as test_scratch keeps */
    TIMES = 60
};

typedef struct {
    const vh_h3m *h3m;
    const char *path;
    int failed;
} saver;

static void *save_often(void *arg)
{
    saver *s = arg;
    vhem_ctx *ctx = test_ctx();
    for (int k = 0; k < TIMES; k++)
        s->failed += vh_h3m_save(ctx, s->h3m, s->path) != VHEM_OK;
    remove(s->path);
    vhem_free(ctx);
    return NULL;
}

/* Threads that save at once do not stand in each other's way, where the HDF5 library is safe for threads. */
static void threads_save(void **state)
{
    (void)state;
    hbool_t safe = false;
    H5is_library_threadsafe(&safe);
    if (!safe)
        skip();
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = hard_h3m(ctx);
    pthread_t thread[THREADS];
    saver s[THREADS];
    for (int k = 0; k < THREADS; k++) {
        char name[] = "thread0.h5";
        name[6] = (char)('0' + k);
        s[k] = (saver){ .h3m = h3m, .path = test_scratch(name) };
        assert_int_equal(pthread_create(&thread[k], NULL, save_often, &s[k]), 0);
    }
    for (int k = 0; k < THREADS; k++) {
        pthread_join(thread[k], NULL);
        assert_int_equal(s[k].failed, 0);
    }
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

static void not_hdf5(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = NULL;
    const char *path = test_scratch("text.h5");
    assert_fails(ctx, vh_h3m_load(ctx, path, &h3m), VHEM_EIO, "text.h5: cannot read: No such file");
    test_write(path, "{}", 2);
    assert_fails(ctx, vh_h3m_load(ctx, path, &h3m), VHEM_EFORMAT, "text.h5: not an HDF5 file");
    test_write(path, "", 0);
    assert_fails(ctx, vh_h3m_load(ctx, path, &h3m), VHEM_EFORMAT, "text.h5: the file is empty");
    remove(path);
    vhem_free(ctx);
}

/* Loads the file: either a proper model or a sentence that names it. */
static bool loads(vhem_ctx *ctx, const char *path)
{
    vh_h3m *h3m = NULL;
    vhem_status st = vh_h3m_load(ctx, path, &h3m);
    if (st == VHEM_OK) {
        assert_ok(ctx, vh_h3m_validate(ctx, h3m));
    } else {
        assert_int_equal(st, VHEM_EFORMAT);
        assert_memory_equal(vhem_ctx_error(ctx), path, strlen(path));
        assert_null(h3m);
    }
    vh_h3m_free(h3m);
    return st == VHEM_OK;
}

static void damage(int version)
{
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_rng_init(&rng, 13, VH_RNG_TEST, 0);
    vh_h3m *h3m = random_h3m(ctx, &rng, 1, 2, 1, 1, 0, 1);
    assert_ok(ctx, vh_model_set_provenance(ctx, &h3m->provenance, "{\"seed\": 1}"));
    const char *path = version == 1 ? saved_v1(ctx, h3m) : saved(ctx, h3m);
    char *bytes = NULL;
    size_t n;
    assert_ok(ctx, vh_read_all(ctx, path, &bytes, &n));
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    for (int k = 0; k < 1000; k++) {
        size_t at = (size_t)vh_rng_below(&rng, (int64_t)n);
        char byte = (char)vh_rng_bits(&rng);
        assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
        loads(ctx, path);
        assert_int_equal(pwrite(fd, &bytes[at], 1, (off_t)at), 1);
    }
    assert_true(loads(ctx, path));
    for (size_t cut = n - 1; cut > 7; cut -= 5) {
        assert_int_equal(ftruncate(fd, (off_t)cut), 0);
        assert_false(loads(ctx, path));
    }
    close(fd);
    free(bytes);
    vh_h3m_free(h3m);
    remove(path);
    vhem_free(ctx);
}

static void damaged(void **state)
{
    (void)state;
    damage(1);
    damage(2);
}

int main(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),    cmocka_unit_test(sentences),         cmocka_unit_test(other_writers),
        cmocka_unit_test(failed_writes), cmocka_unit_test(not_hdf5),          cmocka_unit_test(damaged),
        cmocka_unit_test(threads_save),  cmocka_unit_test(nothing_left_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
