/* SPDX-License-Identifier: BSD-3-Clause */
/* data_files.h - what the tests of readers and writers share: files from strings, mutated files. */
#ifndef VH_TESTS_DATA_FILES_H
#define VH_TESTS_DATA_FILES_H

#include "support.h"
#include "vhem.h"

/* The last log line of each level, for tests of warnings. */
typedef struct {
    char text[3][1024];
    int count[3];
} log_book;

static inline void keep_log(void *arg, int level, const char *text)
{
    log_book *book = arg;
    snprintf(book->text[level], sizeof book->text[level], "%s", text);
    book->count[level]++;
}

static inline vhem_ctx *logging_ctx(log_book *book)
{
    vhem_ctx_options opt;
    vhem_ctx *ctx = NULL;
    memset(book, 0, sizeof *book);
    VHEM_INIT(VHEM_CTX_OPTIONS, &opt);
    opt.threads = 1;
    opt.log = keep_log;
    opt.log_arg = book;
    assert_int_equal(vhem_ctx_new(&opt, &ctx), VHEM_OK);
    return ctx;
}

/* A scratch file with this text. */
static inline const char *file_of(const char *name, const char *text)
{
    const char *path = test_scratch(name);
    test_write(path, text, strlen(text));
    return path;
}

/* Loads text as a file of this name; the file is removed again. */
static inline vhem_status load_text(vhem_ctx *ctx, const char *name, const char *text,
                                    const vhem_data_options *opt, vhem_data **out)
{
    const char *path = file_of(name, text);
    vhem_status st = vhem_data_load(ctx, path, opt, out);
    remove(path);
    return st;
}

static inline vhem_seq_view view(const vhem_data *data, int64_t n)
{
    vhem_seq_view v;
    assert_int_equal(vhem_data_view(data, n, &v), VHEM_OK);
    return v;
}

#define assert_sequence(data, n, name_, label_, group_, T_) \
    do {                                                    \
        vhem_seq_view v_ = view(data, n);                   \
        assert_string_equal(v_.name, name_);                \
        assert_string_equal(v_.label, label_);              \
        assert_string_equal(v_.group, group_);              \
        assert_int_equal(v_.T, T_);                         \
    } while (0)

/* y of sequence n is these numbers, exactly; NaN equals NaN. */
#define assert_values(data, n, ...)                                                    \
    do {                                                                               \
        const double want_[] = { __VA_ARGS__ };                                        \
        vhem_seq_view v_ = view(data, n);                                              \
        assert_int_equal(v_.T *vh_data_dim(data), sizeof want_ / sizeof *want_);       \
        for (size_t i_ = 0; i_ < sizeof want_ / sizeof *want_; i_++)                   \
            if (!(v_.y[i_] == want_[i_] || (isnan(v_.y[i_]) && isnan(want_[i_]))))     \
                fail_msg("value %zu is %.17g, wanted %.17g", i_, v_.y[i_], want_[i_]); \
    } while (0)

/* What assert_same compares beside the frames, which are the same to the last bit. */
enum { NAMES = 1, LABELS = 2, GROUPS = 4, COLUMNS = 8, ALL = 15 };

static inline void assert_same(const vhem_data *a, const vhem_data *b, int what)
{
    assert_int_equal(vh_data_size(a), vh_data_size(b));
    assert_int_equal(vh_data_dim(a), vh_data_dim(b));
    assert_int_equal(a->n_missing, b->n_missing);
    for (int k = 0; k < vh_data_dim(a) && what & COLUMNS; k++)
        assert_string_equal(vh_data_column(a, k), vh_data_column(b, k));
    for (int64_t n = 0; n < vh_data_size(a); n++) {
        vhem_seq_view x = view(a, n), y = view(b, n);
        assert_int_equal(x.T, y.T);
        if (what & NAMES)
            assert_string_equal(x.name, y.name);
        if (what & LABELS)
            assert_string_equal(x.label, y.label);
        if (what & GROUPS) {
            assert_string_equal(x.group, y.group);
            assert_true(x.weight == y.weight);
        }
        for (int64_t i = 0; i < x.T * vh_data_dim(a); i++)
            if (!isnan(x.y[i]) || !isnan(y.y[i]))
                assert_memory_equal(&x.y[i], &y.y[i], sizeof(double));
    }
}

static inline char *read_bytes(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *bytes = malloc(1 << 20);
    *n = fread(bytes, 1, 1 << 20, f);
    fclose(f);
    return bytes;
}

/* Loads a good file with bytes flipped, cut or repeated: every load ends in success or in a sentence that
 * names the file (or its index, or a log line). */
static inline void mutate(const char *path, int n_times, uint64_t seed)
{
    size_t n;
    char *good = read_bytes(path, &n), *bad = malloc(2 * n + 1);
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    int failed = 0;

    vh_rng_init(&rng, seed, VH_RNG_TEST, 0);
    for (int i = 0; i < n_times; i++) {
        size_t size = n;
        memcpy(bad, good, n);
        int n_flips = 1 + (int)vh_rng_below(&rng, 4);
        for (int k = 0; k < n_flips; k++)
            bad[vh_rng_below(&rng, (int64_t)n)] = (char)vh_rng_below(&rng, 256);
        if (i % 4 == 0)
            size = (size_t)vh_rng_below(&rng, (int64_t)n);
        if (i % 16 == 1) {
            memcpy(bad + n, good, n);
            size = n + (size_t)vh_rng_below(&rng, (int64_t)n);
        }
        remove(path); /* rewriting in place would wait for the disk each time */
        test_write(path, bad, size);
        vhem_data *data = NULL;
        vhem_status st = vhem_data_load(ctx, path, NULL, &data);
        if (st == VHEM_OK) {
            assert_non_null(data);
            assert_true(vh_data_size(data) > 0 && vh_data_dim(data) > 0);
        } else {
            failed++;
            assert_null(data);
            assert_true(st == VHEM_EFORMAT || st == VHEM_EIO || st == VHEM_EINVAL || st == VHEM_ENOMEM);
            assert_non_null(strstr(vhem_ctx_error(ctx), "vhem-test-"));
            assert_null(strchr(vhem_ctx_error(ctx), '\n'));
        }
        vhem_free(data);
    }
    assert_true(failed > 0);
    test_write(path, good, n);
    free(good);
    free(bad);
    vhem_free(ctx);
}

#endif
