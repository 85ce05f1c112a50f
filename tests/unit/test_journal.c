/* SPDX-License-Identifier: BSD-3-Clause */
/* test_journal.c - records are found again, also after the file was cut at any byte, and damaged ones are
 * not. */
#include "support.h"

#include "core/journal.h"
#include "os/fd.h"
#include "vhem.h"

enum { N = 5, RECORDS = 3 };

static vh_key key_of(int k)
{
    vh_key key;
    snprintf(key.text, sizeof key.text, "%032d", k);
    return key;
}

static void numbers(int k, double *x)
{
    for (int e = 0; e < N; e++)
        x[e] = 10.0 * k + e;
}

static void add_all(vhem_ctx *ctx, const char *path)
{
    vh_journal *j = NULL;
    double x[N];
    assert_ok(ctx, vh_journal_open(ctx, path, &j));
    for (int k = 0; k < RECORDS; k++) {
        vh_key key = key_of(k);
        numbers(k, x);
        vh_journal_add(ctx, j, &key, N, x);
    }
    vh_journal_free(j);
}

/* How many of the records are there; those that are have their numbers. */
static int count(vhem_ctx *ctx, const char *path)
{
    vh_journal *j = NULL;
    double x[N], y[N];
    int n = 0;
    assert_ok(ctx, vh_journal_open(ctx, path, &j));
    for (int k = 0; k < RECORDS; k++) {
        vh_key key = key_of(k);
        numbers(k, y);
        assert_false(vh_journal_find(j, &key, N - 1, x)); /* another size is another thing */
        if (vh_journal_find(j, &key, N, x)) {
            assert_memory_equal(x, y, sizeof x);
            n++;
        }
    }
    vh_journal_free(j);
    return n;
}

static void cut(void **state)
{
    vhem_ctx *ctx = test_ctx();
    char path[512];
    vh_entry is;
    (void)state;
    snprintf(path, sizeof path, "%s", test_scratch("journal"));
    remove(path);
    add_all(ctx, path);
    assert_int_equal(count(ctx, path), RECORDS);
    assert_true(vh_path_look(path, &is));
    for (int64_t size = is.size; size >= 0; size--) {
        VH_CLEANUP(vh_fd_close) int fd = vh_fd_open(path, VH_FD_UPDATE);
        assert_true(vh_fd_cut(fd, size));
        int n = count(ctx, path);
        assert_true(n == (size == is.size ? RECORDS : n) && n <= RECORDS);
        assert_true(size > 0 || n == 0);
    }
    add_all(ctx, path); /* and it goes on */
    assert_int_equal(count(ctx, path), RECORDS);
    remove(path);
    vhem_free(ctx);
}

static void damaged(void **state)
{
    vhem_ctx *ctx = test_ctx();
    char path[512];
    vh_journal *j = NULL, *other = NULL;
    (void)state;
    snprintf(path, sizeof path, "%s", test_scratch("journal"));
    remove(path);
    add_all(ctx, path);
    FILE *f = fopen(path, "r+");
    assert_int_equal(fseek(f, -1, SEEK_END), 0); /* a bit of the last number */
    fputc(1, f);
    fclose(f);
    assert_int_equal(count(ctx, path), RECORDS - 1);
    assert_ok(ctx, vh_journal_open(ctx, path, &j));
    assert_int_equal(vh_journal_open(ctx, path, &other), VHEM_EIO);
    assert_non_null(strstr(vhem_ctx_error(ctx), "another run is using it"));
    vh_journal_free(j);
    f = fopen(path, "w");
    fputs("{\"format\": \"vhem-clustering\"}\n", f);
    fclose(f);
    assert_int_equal(vh_journal_open(ctx, path, &j), VHEM_EFORMAT);
    assert_non_null(strstr(vhem_ctx_error(ctx), "not a checkpoint"));
    remove(path);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(cut), cmocka_unit_test(damaged) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
