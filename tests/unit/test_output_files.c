/* SPDX-License-Identifier: BSD-3-Clause */
/* test_output_files.c - output files that are complete or absent: permissions, links, devices, full disks. */
#include "files/hmm_file.h"
#include "full_disk.h"
#include "model_samples.h"

#include "core/alloc.h"
#include "core/atomic_file.h"
#include "vhem.h"

#include <sys/stat.h>
#include <unistd.h>

static void check_file(vhem_ctx *ctx, const char *path, const char *text)
{
    char *got = NULL;
    size_t n;
    assert_ok(ctx, vh_read_all(ctx, path, &got, &n));
    assert_int_equal(n, strlen(text));
    assert_string_equal(got, text);
    free(got);
}

static void write_text(vhem_ctx *ctx, const char *path, const char *text)
{
    vh_atomic_file out = { 0 };
    assert_ok(ctx, vh_atomic_file_open(ctx, path, &out));
    fputs(text, out.f);
    assert_ok(ctx, vh_atomic_file_commit(ctx, &out));
    vh_atomic_file_close(&out);
}

static void out_replaces(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const char *path = test_scratch("out");
    struct stat sb;
    vh_atomic_file out = { 0 };
    mode_t mask = umask(022);

    write_text(ctx, path, "one");
    assert_int_equal(stat(path, &sb), 0);
    assert_int_equal(sb.st_mode & 0777, 0644);
    umask(mask);
    check_file(ctx, path, "one");

    assert_ok(ctx, vh_atomic_file_open(ctx, path, &out)); /* the old file stands until the commit */
    fputs("half", out.f);
    fflush(out.f);
    check_file(ctx, path, "one");
    char *tmp = strdup(out.tmp);
    assert_int_equal(access(tmp, F_OK), 0);
    vh_atomic_file_close(&out); /* given up: nothing is left */
    assert_int_not_equal(access(tmp, F_OK), 0);
    free(tmp);
    check_file(ctx, path, "one");

    assert_int_equal(chmod(path, 0640), 0);
    write_text(ctx, path, "two");
    check_file(ctx, path, "two");
    assert_int_equal(stat(path, &sb), 0);
    assert_int_equal(sb.st_mode & 0777, 0640);

    assert_ok(ctx, vh_atomic_file_path(ctx, path, &out)); /* for libraries that write themselves */
    assert_null(out.f);
    test_write(out.tmp, "three", 5);
    check_file(ctx, path, "two");
    assert_ok(ctx, vh_atomic_file_commit(ctx, &out));
    vh_atomic_file_close(&out);
    check_file(ctx, path, "three");
    remove(path);
    vhem_free(ctx);
}

static void out_keeps_links(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const char *path = test_scratch("target"), *link = test_scratch("link");
    struct stat sb;
    write_text(ctx, path, "one");
    assert_int_equal(symlink(path, link), 0);
    write_text(ctx, link, "two");
    assert_int_equal(lstat(link, &sb), 0);
    assert_true(S_ISLNK(sb.st_mode));
    check_file(ctx, path, "two");
    remove(link);
    remove(path);
    vhem_free(ctx);
}

static void out_fails(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_atomic_file out = { 0 };
    assert_fails(ctx, vh_atomic_file_open(ctx, "/no/such/folder/x", &out), VHEM_EIO,
                 "/no/such/folder/x: cannot write: No such");
    assert_fails(ctx, vh_atomic_file_open(ctx, "/tmp", &out), VHEM_EIO,
                 "/tmp: cannot write: it is a directory");
    assert_null(out.path);
    if (access("/dev/full", W_OK) == 0) {
        assert_ok(ctx, vh_atomic_file_open(ctx, "/dev/full", &out));
        assert_null(out.tmp); /* a device is written in place */
        fputs("text", out.f);
        assert_fails(ctx, vh_atomic_file_commit(ctx, &out), VHEM_EIO,
                     "/dev/full: writing failed: No space left");
        vh_atomic_file_close(&out);
        assert_ok(ctx, vh_atomic_file_open(ctx, "/dev/full", &out));
        for (int k = 0; k < 100000; k++)
            fputs("more than the buffer holds", out.f);
        assert_fails(ctx, vh_atomic_file_commit(ctx, &out), VHEM_EIO, "/dev/full: writing failed");
        vh_atomic_file_close(&out);
    }
    vhem_free(ctx);
}

static void out_stdout(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_atomic_file out = { 0 };
    const char *path = test_scratch("stdout");
    fflush(stdout);
    int keep = dup(1);
    assert_non_null(freopen(path, "w", stdout));
    vhem_status st = vh_atomic_file_open(ctx, "-", &out);
    fputs("to stdout", out.f);
    vhem_status committed = vh_atomic_file_commit(ctx, &out);
    vh_atomic_file_close(&out);
    int still_open = fputs(", still open", stdout);
    fflush(stdout);
    dup2(keep, 1);
    close(keep);
    assert_int_equal(st, VHEM_OK);
    assert_int_equal(committed, VHEM_OK);
    assert_true(still_open >= 0);
    check_file(ctx, path, "to stdout, still open");
    remove(path);
    vhem_free(ctx);
}

/* The disk is full while models are saved. */
static void out_of_room(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const char *path = test_scratch("kept.json");
    vh_h3m *h3m = hard_h3m(ctx), *back = NULL;
    if (access("/dev/full", W_OK) == 0)
        assert_fails(ctx, vh_h3m_save(ctx, h3m, "/dev/full"), VHEM_EIO,
                     "/dev/full: writing failed: No space left");
    assert_ok(ctx, vh_h3m_save(ctx, h3m, path));
    vh_hmm_param(h3m, &h3m->hmm[0], 1)[3] = 77;
    struct rlimit old = limit_file_size(512);
    vhem_status st = vh_h3m_save(ctx, h3m, path);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(st, VHEM_EIO);
    assert_non_null(strstr(vhem_ctx_error(ctx), "kept.json: writing failed: File too large"));
    assert_int_equal(files_like(path), 1);         /* no temporary file is left */
    assert_ok(ctx, vh_h3m_load(ctx, path, &back)); /* and the old one stands */
    assert_false(vh_hmm_param(back, &back->hmm[0], 1)[3] == 77);
    vh_h3m_free(back);
    vh_h3m_free(h3m);
    remove(path);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(out_replaces), cmocka_unit_test(out_keeps_links), cmocka_unit_test(out_fails),
        cmocka_unit_test(out_stdout),   cmocka_unit_test(out_of_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
