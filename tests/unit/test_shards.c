/* SPDX-License-Identifier: BSD-3-Clause */
/* test_shards.c - model files as arrays, and folders of them: the same HMMs however they are cut, and a
 * sentence with file and chunk for whatever is wrong. */
#include "model_samples.h"

#include "core/atomic_file.h"
#include "models/models.h"
#include "vhem.h"

#include <fcntl.h>
#include <hdf5.h>
#include <sys/stat.h>
#include <unistd.h>

/* K HMMs of two shapes in turn, or of one, with names, two labels, weights that differ. */
static vhem_models *sample(vhem_ctx *ctx, int K, bool mixed)
{
    vhem_models *m = NULL;
    vh_h3m *all = NULL;
    vh_rng rng;
    double sum = 0;
    vh_rng_init(&rng, 3, VH_RNG_TEST, 0);
    assert_ok(ctx, vh_h3m_new(ctx, &vh_gaussian_diag, (vh_shape){ .d = 2 }, K, &all));
    for (int i = 0; i < K; i++) {
        vh_h3m *one =
            random_h3m(ctx, &rng, 1, mixed && i % 3 == 0 ? 2 : 3, mixed && i % 3 == 0 ? 2 : 1, 2, 0, 2);
        char name[32];
        all->hmm[i] = one->hmm[0];
        one->hmm[0] = (vh_hmm){ 0 };
        vh_h3m_free(one);
        snprintf(name, sizeof name, "model_%d", i);
        assert_ok(ctx, vh_h3m_set_text(ctx, &all->hmm[i].name, i == 7 ? NULL : name));
        assert_ok(ctx, vh_h3m_set_text(ctx, &all->hmm[i].label, i % 4 == 0 ? NULL : i % 2 ? "walk" : "run"));
        sum += all->omega[i] = 1 + i % 5;
    }
    for (int i = 0; i < K; i++)
        all->omega[i] /= sum;
    assert_ok(ctx, vh_h3m_set_text(ctx, &all->hmm[K / 2].extra, "{\"tempo\": 120.5}"));
    assert_ok(ctx, vh_models_take_hmms(ctx, all, &m));
    return m;
}

static const char *folder_of(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s", test_scratch(name));
    return path;
}

static void clear(const char *folder)
{
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

static void write_folder(vhem_ctx *ctx, const vhem_models *m, int shards, const char *path)
{
    clear(path);
    assert_ok(ctx, vhem_models_merge(ctx, 1, &m, shards, NULL, path));
}

static void change_byte(const char *path, int64_t at)
{
    int fd = open(path, O_RDWR);
    char byte;
    assert_true(fd >= 0 && pread(fd, &byte, 1, (off_t)at) == 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
    close(fd);
}

/* Where an array of the file begins. */
static int64_t place_of(const char *path, const char *name)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), set = H5Dopen2(file, name, H5P_DEFAULT);
    int64_t at = (int64_t)H5Dget_offset(set);
    H5Dclose(set);
    H5Fclose(file);
    return at;
}

static void same_models_however_cut(void **state)
{
    static const int shards[] = { 1, 2, 7, 40 };
    vhem_ctx *ctx = test_ctx();
    (void)state;
    for (int mixed = 0; mixed < 2; mixed++) {
        vhem_models *m = sample(ctx, 1300, mixed);
        const char *path = folder_of("set");
        for (int k = 0; k < 4; k++) {
            vhem_models *back = NULL;
            vh_shards *set = NULL;
            vh_h3m *part = NULL;
            write_folder(ctx, m, shards[k], path);
            assert_ok(ctx, vhem_models_load(ctx, path, &back));
            assert_same_h3m(m->h3m, back->h3m);
            vhem_free(back);
            assert_ok(ctx, vh_shards_open(ctx, path, &set));
            assert_ok(ctx, vh_shards_read(ctx, set, 500, 530, false, &part)); /* across two chunks */
            for (int i = 0; i < 530; i++) {
                assert_memory_equal(part->hmm[i].pi, m->h3m->hmm[500 + i].pi, sizeof(double));
                assert_true(part->omega[i] == m->h3m->omega[500 + i]);
                assert_null(part->hmm[i].name);
            }
            vh_h3m_free(part);
            vh_shards_free(set);
        }
        clear(path);
        vhem_free(m);
    }
    vhem_free(ctx);
}

/* A set that stays on disk is looked at chunk by chunk, and gathered when somebody wants all of it. */
static void on_disk(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vhem_models *m = sample(ctx, 1300, true), *back = NULL;
    const char *path = folder_of("set");
    vh_shards *set = NULL;
    vhem_models_facts facts;
    vhem_hmm_view a, b;
    (void)state;
    write_folder(ctx, m, 3, path);
    assert_ok(ctx, vh_shards_open(ctx, path, &set));
    set->bytes = 1 << 30; /* as if it were large */
    assert_ok(ctx, vh_models_take_shards(ctx, set, &back));
    assert_null(back->h3m);
    vhem_models_info(back, &facts);
    assert_true(facts.on_disk && facts.files == 3 && facts.K == 1300 && facts.S == 3 && facts.M == 2);
    for (int i = 0; i < 1300; i += 99) {
        assert_int_equal(vhem_models_hmm(back, i, &a), VHEM_OK);
        assert_int_equal(vhem_models_hmm(m, i, &b), VHEM_OK);
        assert_string_equal(a.name, b.name);
        assert_string_equal(a.label, b.label);
        assert_true(a.S == b.S && a.omega == b.omega);
        assert_memory_equal(a.theta, b.theta, (size_t)a.n_theta * sizeof(double));
    }
    assert_int_equal(vhem_models_hmm(back, 1300, &a), VHEM_EINVAL);
    assert_true(vhem_models_compare(m, back) == 0);
    assert_same_h3m(m->h3m, back->h3m);
    vhem_free(back);
    vhem_free(m);
    clear(path);
    vhem_free(ctx);
}

/* A chunk that is damaged is no HMM without a name: looking fails, and there is a sentence. */
static void damaged_on_disk(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vhem_models *m = sample(ctx, 1300, false), *back = NULL;
    const char *path = folder_of("set");
    char file[600];
    vh_shards *set = NULL;
    vhem_hmm_view a;
    (void)state;
    write_folder(ctx, m, 1, path);
    snprintf(file, sizeof file, "%s/00000.h5", path);
    change_byte(file, place_of(file, "S3M1/mu") + 600 * 48);
    assert_ok(ctx, vh_shards_open(ctx, path, &set));
    set->bytes = 1 << 30;
    assert_ok(ctx, vh_models_take_shards(ctx, set, &back));
    assert_int_equal(vhem_models_hmm(back, 511, &a), VHEM_OK);
    assert_int_equal(vhem_models_hmm(back, 512, &a), VHEM_EFORMAT);
    assert_ok(ctx, vhem_models_read(ctx, back, 0, 512));
    assert_fails(ctx, vhem_models_read(ctx, back, 0, 1300), VHEM_EFORMAT,
                 "set/00000.h5: chunk 1 (HMMs 512 to 1023): the checksum of its numbers is");
    assert_fails(ctx, vhem_models_read(ctx, back, 1299, 2), VHEM_EINVAL,
                 "2 HMMs from number 1299 on were requested, but there are 1300");
    assert_true(isinf(vhem_models_compare(m, back)));
    vhem_free(back);
    vhem_free(m);
    clear(path);
    vhem_free(ctx);
}

/* Reading many HMMs ends when a stop is overdue, and the next attempt reads them. */
static void stopped_while_reading(void **state)
{
    vhem_ctx *ctx = test_ctx(), *stopped = test_ctx();
    vhem_models *m = sample(ctx, 600, false), *back = NULL;
    const char *path = folder_of("set");
    vh_shards *set = NULL;
    (void)state;
    write_folder(ctx, m, 1, path);
    assert_ok(ctx, vh_shards_open(ctx, path, &set));
    set->bytes = 1 << 30;
    assert_ok(ctx, vh_models_take_shards(ctx, set, &back));
    vhem_ctx_stop(stopped);
    assert_false(vh_overdue(stopped));
    stopped->stop_at -= 5000; /* as if that had been five seconds ago */
    assert_true(vh_overdue(stopped));
    assert_fails(stopped, vh_models_gather(stopped, back), VHEM_ESTOPPED, "stopped while HMMs were read");
    assert_ok(ctx, vh_models_gather(ctx, back));
    assert_same_h3m(m->h3m, back->h3m);
    vhem_free(back);
    vhem_free(m);
    clear(path);
    vhem_free(stopped);
    vhem_free(ctx);
}

/* Threads that look at a set on disk while one of them gathers it. */
static void looked_at_by_many(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vhem_models *m = sample(ctx, 1300, true), *back = NULL;
    const char *path = folder_of("set");
    vh_shards *set = NULL;
    int wrong = 0;
    (void)state;
    write_folder(ctx, m, 3, path);
    assert_ok(ctx, vh_shards_open(ctx, path, &set));
    set->bytes = 1 << 30;
    assert_ok(ctx, vh_models_take_shards(ctx, set, &back));
#pragma omp parallel for num_threads(4) reduction(+ : wrong)
    for (int i = 0; i < 1300; i++) {
        vhem_hmm_view a, b;
        vhem_models_facts facts;
        vhem_models_info(back, &facts);
        wrong += i == 700 ? vh_models_gather(ctx, back) != VHEM_OK : 0;
        wrong += facts.K != 1300 || vhem_models_hmm(back, i, &a) != VHEM_OK
                 || vhem_models_hmm(m, i, &b) != VHEM_OK || a.omega != b.omega || strcmp(a.name, b.name) != 0;
    }
    assert_int_equal(wrong, 0);
    vhem_free(back);
    vhem_free(m);
    clear(path);
    vhem_free(ctx);
}

/* So many HMMs that threads share them: the same ones, and of two damaged files the sentence of the first. */
static void read_by_many(void **state)
{
    enum { K = 20000, SHARDS = 3 };
    static const int threads[] = { 1, 2, 4 };
    vhem_ctx *ctx = test_ctx();
    vhem_models *m = sample(ctx, K, true);
    const char *path = folder_of("set");
    char file[600], sentence[3][2048];
    (void)state;
    write_folder(ctx, m, SHARDS, path);
    for (int damaged = 0; damaged < 2; damaged++) {
        for (int f = 1; damaged && f < SHARDS; f++) {
            snprintf(file, sizeof file, "%s/0000%d.h5", path, f);
            change_byte(file, place_of(file, "S3M1/mu") + (f == 1 ? 4000 : 10) * 48);
        }
        for (int k = 0; k < 3; k++) {
            vhem_ctx *own = test_ctx();
            vh_shards *set = NULL;
            vh_h3m *all = NULL;
            own->threads = threads[k];
            assert_ok(own, vh_shards_open(own, path, &set));
            vhem_status st = vh_shards_read(own, set, 0, K, true, &all);
            assert_int_equal(st, damaged ? VHEM_EFORMAT : VHEM_OK);
            if (!damaged)
                assert_same_h3m(m->h3m, all);
            snprintf(sentence[k], sizeof sentence[k], "%s", vhem_ctx_error(own));
            assert_true(!damaged || strstr(sentence[k], "set/00001.h5: chunk "));
            assert_string_equal(sentence[k], sentence[0]);
            vh_h3m_free(all);
            vh_shards_free(set);
            vhem_free(own);
        }
    }
    clear(path);
    vhem_free(m);
    vhem_free(ctx);
}

/* The lengths of the sequences of a merged set follow from those of its parts, where all of them know. */
static void merged_lengths(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vhem_models *a = sample(ctx, 30, false), *b = sample(ctx, 10, false), *all = NULL;
    const vhem_models *both[] = { a, b };
    const char *path = test_scratch("all.h5");
    (void)state;
    for (int known = 0; known < 2; known++) {
        a->h3m->lengths = (vh_lengths){ 40, 100, 300, 250 };
        b->h3m->lengths = known ? (vh_lengths){ 8, 500, 900, 0 } : (vh_lengths){ 0, 0, 0, 0 };
        assert_ok(ctx, vhem_models_merge(ctx, 2, both, 0, NULL, path));
        assert_ok(ctx, vhem_models_load(ctx, path, &all));
        vh_lengths is = all->h3m->lengths,
                   must = known ? (vh_lengths){ 8, 100, 900, 250 } : (vh_lengths){ 0, 0, 0, 0 };
        assert_true(is.min == must.min && is.median == must.median && is.max == must.max);
        vhem_free(all);
    }
    vhem_free(a);
    vhem_free(b);
    unlink(path);
    vhem_free(ctx);
}

static void merging(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vhem_models *a = sample(ctx, 30, true), *b = sample(ctx, 10, false), *all = NULL;
    const vhem_models *both[] = { a, b };
    const char *path = test_scratch("all.h5");
    (void)state;
    assert_ok(ctx, vhem_models_merge(ctx, 2, both, 0, NULL, path));
    assert_ok(ctx, vhem_models_load(ctx, path, &all));
    assert_int_equal(all->h3m->K, 40);
    assert_string_equal(all->h3m->hmm[31].name, "model_1");
    assert_string_equal(all->h3m->hmm[15].extra, "{\"tempo\": 120.5}");
    assert_true(fabs(all->h3m->omega[3] - a->h3m->omega[3] * 0.75) < 1e-17);
    assert_true(fabs(all->h3m->omega[33] - b->h3m->omega[3] * 0.25) < 1e-17);
    vhem_free(all);
    vhem_free(a);
    vhem_free(b);
    unlink(path);
    vhem_free(ctx);
}

/* One of several files by itself is a set whose weights sum to 1; and the same set gives the same bytes. */
static void alone(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vhem_models *m = sample(ctx, 1300, false), *one = NULL;
    const char *path = folder_of("set");
    char file[600], *bytes[2];
    size_t size[2];
    double sum = 0;
    (void)state;
    for (int k = 0; k < 2; k++) {
        write_folder(ctx, m, 2, path);
        snprintf(file, sizeof file, "%s/00001.h5", path);
        assert_ok(ctx, vh_read_all(ctx, file, &bytes[k], &size[k]));
    }
    assert_true(size[0] == size[1] && memcmp(bytes[0], bytes[1], size[0]) == 0);
    assert_ok(ctx, vhem_models_load(ctx, file, &one));
    for (int64_t i = 0; i < one->h3m->K; i++)
        sum += one->h3m->omega[i];
    assert_true(fabs(sum - 1) < 1e-12);
    assert_string_equal(one->h3m->hmm[0].name, "model_512");
    vhem_free(one);
    vhem_free(m);
    free(bytes[0]);
    free(bytes[1]);
    clear(path);
    vhem_free(ctx);
}

/* ---- what is wrong ------------------------------------------------------------------------------------- */

static void edit(const char *path, const char *from, const char *to)
{
    char command[800];
    snprintf(command, sizeof command, "sed -i '0,/%s/s//%s/' '%s'", from, to, path);
    assert_int_equal(system(command), 0);
}

static void sentences(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vhem_models *m = sample(ctx, 1600, false), *back = NULL;
    const char *path = folder_of("set");
    char file[600], other[600], manifest[600];
    (void)state;
    snprintf(file, sizeof file, "%s/00001.h5", path);
    snprintf(other, sizeof other, "%s/00000.h5", path);
    snprintf(manifest, sizeof manifest, "%s/manifest.json", path);

    write_folder(ctx, m, 2, path);
    assert_fails(ctx, vhem_models_merge(ctx, 1, (const vhem_models *const *)&m, 2, NULL, path), VHEM_EIO,
                 "set: cannot write: it already exists");
    change_byte(file, place_of(file, "S3M1/mu") + 520 * 48);
    assert_fails(ctx, vhem_models_load(ctx, path, &back), VHEM_EFORMAT,
                 "set/00001.h5: chunk 1 (HMMs 1536 to 1599): the checksum of its numbers is");
    write_folder(ctx, m, 2, path);
    change_byte(file, place_of(file, "name/bytes") + 3);
    assert_fails(ctx, vhem_models_load(ctx, path, &back), VHEM_EFORMAT,
                 "set/00001.h5: chunk 0 (HMMs 1024 to 1535): the checksum of its names and labels is");
    write_folder(ctx, m, 2, path);
    assert_int_equal(truncate(file, 60000), 0);
    assert_fails(ctx, vhem_models_load(ctx, path, &back), VHEM_EFORMAT,
                 "set/00001.h5: the file is cut short: it has 60000 bytes of");
    write_folder(ctx, m, 2, path);
    edit(manifest, "\"n\": 1024", "\"n\": 1023");
    assert_fails(ctx, vhem_models_load(ctx, path, &back), VHEM_EFORMAT,
                 "set/00000.h5: it holds HMMs 0 to 1023, the manifest says 0 to 1022");
    write_folder(ctx, m, 2, path);
    edit(manifest, "\"K\": 1600", "\"K\": 1601");
    assert_fails(ctx, vhem_models_load(ctx, path, &back), VHEM_EFORMAT,
                 "set/manifest.json: K is 1601, but the files hold 1600 HMMs");
    write_folder(ctx, m, 2, path);
    edit(manifest, "\"check\": \".....", "\"check\": \"00000");
    assert_fails(ctx, vhem_models_load(ctx, path, &back), VHEM_EFORMAT, "set/00000.h5: its checksum is");
    write_folder(ctx, m, 2, path);
    unlink(other);
    assert_fails(ctx, vhem_models_load(ctx, path, &back), VHEM_EIO, "set/00000.h5: cannot read: No such");
    write_folder(ctx, m, 2, path);
    edit(manifest, "vhem-shards", "vhem-tree");
    assert_fails(ctx, vhem_models_load(ctx, path, &back), VHEM_EFORMAT,
                 "set/manifest.json: format is 'vhem-tree', must be 'vhem-shards'");
    vhem_free(m);
    clear(path);
    vhem_free(ctx);
}

/* What other programs write: single precision, in pieces, without checksums. */
static void other_writers(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vhem_models *m = sample(ctx, 600, false), *back = NULL;
    const char *path = test_scratch("other.h5");
    static float mu[600][3][1][2];
    (void)state;
    assert_ok(ctx, vhem_models_save(ctx, m, NULL, path));
    for (int i = 0; i < 600; i++)
        mu[i][2][0][1] = (float)i;
    hid_t f = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), how = H5Pcreate(H5P_DATASET_CREATE);
    H5Ldelete(f, "check", H5P_DEFAULT);
    H5Ldelete(f, "S3M1/mu", H5P_DEFAULT);
    H5Pset_chunk(how, 4, (hsize_t[]){ 100, 3, 1, 2 });
    hid_t space = H5Screate_simple(4, (hsize_t[]){ 600, 3, 1, 2 }, NULL);
    hid_t set = H5Dcreate2(f, "S3M1/mu", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, how, H5P_DEFAULT);
    assert_true(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, mu) >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(how);
    H5Fclose(f);
    assert_ok(ctx, vhem_models_load(ctx, path, &back));
    assert_true(vh_hmm_param(back->h3m, &back->h3m->hmm[599], 0)[5] == 599);
    vhem_free(back);
    vhem_free(m);
    unlink(path);
    vhem_free(ctx);
}

/* What may be left out of a file is 0. */
static void optional_arrays(void **state)
{
    static const char text[] =
        "{\"format\": \"vhem-h3m\", \"version\": 1, \"emission\": \"gamma\", \"d\": 1, \"omega\": [1],"
        " \"hmms\": [{\"S\": 1, \"M\": 1, \"pi\": [1], \"A\": [[1]], \"c\": [[1]], \"shape\": [[[2]]],"
        " \"rate\": [[[3]]], \"zero\": [[[0.25]]]}]}";
    vhem_ctx *ctx = test_ctx();
    vhem_models *m = NULL, *back = NULL;
    const char *json = test_scratch("m.json"), *path = test_scratch("m.h5");
    vhem_hmm_view view;
    (void)state;
    FILE *f = fopen(json, "w");
    assert_true(f && fputs(text, f) >= 0 && fclose(f) == 0);
    assert_ok(ctx, vhem_models_load(ctx, json, &m));
    for (int left_out = 0; left_out < 2; left_out++) {
        assert_ok(ctx, vhem_models_save(ctx, m, NULL, path));
        if (left_out) {
            hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
            assert_true(H5Ldelete(file, "check", H5P_DEFAULT) >= 0);
            assert_true(H5Ldelete(file, "S1M1/zero", H5P_DEFAULT) >= 0);
            H5Fclose(file);
        }
        assert_ok(ctx, vhem_models_load(ctx, path, &back));
        assert_int_equal(vhem_models_hmm(back, 0, &view), VHEM_OK);
        double sum = 0;
        for (int k = 0; k < view.n_theta; k++)
            sum += view.theta[k];
        assert_true(sum == (left_out ? 6 : 6.25));
        vhem_free(back);
    }
    vhem_free(m);
    unlink(json);
    unlink(path);
    vhem_free(ctx);
}

static void put_empty(hid_t f, const char *name, int rank, const hsize_t *n)
{
    hid_t space = H5Screate_simple(rank, n, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Ldelete(f, name, H5P_DEFAULT) >= 0);
    H5Pset_chunk(how, rank, (hsize_t[]){ 1, 1, 1, 1, 1 });
    hid_t set = H5Dcreate2(f, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, how, H5P_DEFAULT);
    assert_true(set >= 0);
    H5Dclose(set);
    H5Pclose(how);
    H5Sclose(space);
}

/* A few kilobytes that claim covariances of hundreds of gigabytes. */
static void claims(void **state)
{
    enum { d = 9000 }; /* means alone would pass */
    vhem_ctx *ctx = test_ctx();
    vhem_models *m = NULL, *back = NULL;
    const char *path = test_scratch("huge.h5");
    vh_rng rng;
    (void)state;
    vh_rng_init(&rng, 3, VH_RNG_TEST, 0);
    assert_ok(ctx, vh_models_take_hmms(ctx, random_h3m(ctx, &rng, 20, 1, 1, 2, 1, 2), &m));
    assert_ok(ctx, vhem_models_save(ctx, m, NULL, path));
    hid_t f = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), a = H5Aopen(f, "d", H5P_DEFAULT);
    assert_true(H5Awrite(a, H5T_NATIVE_INT, &(int){ d }) >= 0);
    H5Aclose(a);
    put_empty(f, "S1M1/mu", 4, (hsize_t[]){ 20, 1, 1, d });
    put_empty(f, "S1M1/cov", 5, (hsize_t[]){ 20, 1, 1, d, d });
    H5Fclose(f);
    assert_fails(ctx, vhem_models_load(ctx, path, &back), VHEM_EFORMAT,
                 "S1M1/cov is 20 x 1 x 1 x 9000 x 9000 numbers, more than the file can hold: it is damaged");
    vhem_free(m);
    unlink(path);
    vhem_free(ctx);
}

/* ---- what would bring in other files ------------------------------------------------------------------- */

static void refuse_link(vhem_ctx *ctx, const vhem_models *m, const char *name, const char *sentence)
{
    vhem_models *back = NULL;
    const char *path = test_scratch("linked.h5");
    for (int soft = 0; soft < 2; soft++) {
        assert_ok(ctx, vhem_models_save(ctx, m, NULL, path));
        hid_t f = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        assert_true(H5Lmove(f, name, f, "moved", H5P_DEFAULT, H5P_DEFAULT) >= 0);
        if (soft)
            assert_true(H5Lcreate_soft("/moved", f, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
        else
            assert_true(H5Lcreate_external(path, "/moved", f, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
        H5Fclose(f);
        assert_fails(ctx, vhem_models_load(ctx, path, &back), VHEM_EFORMAT, sentence);
        assert_null(back);
    }
    unlink(path);
}

static void refuse_storage(vhem_ctx *ctx, const vhem_models *m, bool virtual)
{
    vhem_models *back = NULL;
    const char *path = test_scratch("stored.h5");
    assert_ok(ctx, vhem_models_save(ctx, m, NULL, path));
    hid_t f = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), how = H5Pcreate(H5P_DATASET_CREATE);
    hid_t space = H5Screate_simple(4, (hsize_t[]){ 20, 3, 1, 2 }, NULL);
    assert_true(H5Ldelete(f, "S3M1/mu", H5P_DEFAULT) >= 0);
    if (virtual)
        assert_true(H5Pset_virtual(how, space, "/nowhere.h5", "mu", space) >= 0);
    else
        assert_true(H5Pset_external(how, "/nowhere", 0, 20 * 6 * sizeof(double)) >= 0);
    hid_t set = H5Dcreate2(f, "S3M1/mu", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, how, H5P_DEFAULT);
    assert_true(set >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(how);
    H5Fclose(f);
    assert_fails(ctx, vhem_models_load(ctx, path, &back), VHEM_EFORMAT,
                 "S3M1/mu is not read: its values are stored in other files");
    unlink(path);
}

static void inside_alone(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vhem_models *m = sample(ctx, 20, false);
    (void)state;
    refuse_link(ctx, m, "omega", "omega is not read: it is a link");
    refuse_link(ctx, m, "check", "check is not read: it is a link");
    refuse_link(ctx, m, "S3M1", "S3M1 is not read: it is a link");
    refuse_link(ctx, m, "S3M1/A", "S3M1/A is not read: it is a link");
    refuse_link(ctx, m, "name", "name is not read: it is a link");
    refuse_link(ctx, m, "label", "label is not read: it is a link");
    refuse_link(ctx, m, "label/dictionary", "label/dictionary is not read: it is a link");
    refuse_storage(ctx, m, false);
    refuse_storage(ctx, m, true);
    vhem_free(m);
    vhem_free(ctx);
}

int main(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_models_however_cut),
        cmocka_unit_test(on_disk),
        cmocka_unit_test(damaged_on_disk),
        cmocka_unit_test(stopped_while_reading),
        cmocka_unit_test(looked_at_by_many),
        cmocka_unit_test(read_by_many),
        cmocka_unit_test(merged_lengths),
        cmocka_unit_test(merging),
        cmocka_unit_test(alone),
        cmocka_unit_test(sentences),
        cmocka_unit_test(other_writers),
        cmocka_unit_test(optional_arrays),
        cmocka_unit_test(claims),
        cmocka_unit_test(inside_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
