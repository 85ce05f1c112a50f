/* SPDX-License-Identifier: BSD-3-Clause */
/* test_os.c - os: files by descriptor, folders, slots, streams in memory, the clock.  The same everywhere. */
#include "support.h"

#include "core/text.h"
#include "os/fd.h"
#include "os/slot.h"
#include "os/stream.h"

#include <errno.h>

/* A folder with a name that is not ASCII. */
static const char *folder(void)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s", test_scratch("h\xC3\xA4user \xE2\x82\xAC"));
    assert_true(vh_folder_make(path));
    return path;
}

static void bytes_at_places(void **state)
{
    char path[4200], got[8] = "";
    vh_entry is, named;
    (void)state;
    snprintf(path, sizeof path, "%s/a\xCC\x88.bin", folder());
    int fd = vh_fd_open(path, VH_FD_UPDATE);
    assert_true(fd > 2);
    assert_true(vh_fd_write(fd, "0123456789", 10, 0));
    assert_true(vh_fd_write(fd, "\r\n\x1A", 3, 4)); /* nothing is translated */
    assert_int_equal(vh_fd_read(fd, got, 7, 3), 7);
    assert_memory_equal(got,
                        "3\r\n\x1A"
                        "789",
                        7);
    assert_int_equal(vh_fd_read(fd, got, 7, 8), 2);
    assert_int_equal(vh_fd_read(fd, got, 7, 100), 0);
    assert_true(vh_fd_cut(fd, 5));
    assert_true(vh_fd_look(fd, &is) && vh_path_look(path, &named));
    assert_int_equal(is.kind, VH_IS_FILE);
    assert_int_equal(is.size, 5);
    assert_true(vh_same_entry(&is, &named));
    assert_true(vh_fd_sync(fd));
    assert_true(vh_fd_finish(fd));
    assert_true(vh_path_exists(path) && vh_path_readable(path) && vh_path_writable(path));
    assert_false(vh_path_is_folder(path));
    assert_true(vh_path_remove(path));
    assert_false(vh_path_exists(path));
    assert_int_equal(vh_fd_open(path, VH_FD_READ), -1);
    assert_int_equal(errno, ENOENT);
}

static void locks(void **state)
{
    char path[4200];
    (void)state;
    snprintf(path, sizeof path, "%s/lock", folder());
    int a = vh_fd_open(path, VH_FD_UPDATE), b = vh_fd_open(path, VH_FD_UPDATE);
    assert_int_equal(vh_fd_lock(a), VH_LOCKED);
    assert_int_equal(vh_fd_lock(b), VH_LOCK_TAKEN);
    assert_true(vh_fd_write(b, "x", 1, 0)); /* a lock holds locks off, nothing else */
    vh_fd_close(&a);
    assert_int_equal(vh_fd_lock(b), VH_LOCKED);
    vh_fd_close(&b);
    assert_true(vh_path_remove(path));
}

static void scratch_and_map(void **state)
{
    enum { N = 100000 };
    double y[2] = { 1.5, -2 };
    (void)state;
    int fd = vh_fd_scratch(folder());
    assert_true(fd > 2);
    assert_true(vh_fd_reserve(fd, N * (int64_t)sizeof *y));
    double *map = vh_fd_map(fd, N * sizeof *y, true);
    assert_non_null(map);
    map[0] = 1.5;
    map[N - 1] = -2;
    vh_map_release(map, N * sizeof *y);
    assert_true(map[0] == y[0] && map[N - 1] == y[1] && map[1] == 0);
    vh_unmap(map, N * sizeof *y);
    FILE *f = vh_fd_stream(fd, "r+");
    assert_true(vh_file_seek(f, (N - 1) * (int64_t)sizeof *y, SEEK_SET));
    assert_int_equal(fread(y, sizeof *y, 1, f), 1);
    assert_true(y[0] == -2);
    assert_int_equal(vh_file_tell(f), N * (int64_t)sizeof *y);
    fclose(f);
    assert_true(vh_fd_finish(fd));
    vh_folder *d = vh_folder_open(folder());
    assert_null(vh_folder_next(d)); /* nothing is left */
    vh_folder_close(d);
}

static bool owns(const char *name)
{
    return name[0] == 'm';
}

static void slots(void **state)
{
    char path[4200], target[4200], inside[4300];
    (void)state;
    snprintf(path, sizeof path, "%s/slot", folder());
    snprintf(target, sizeof target, "%s/target", folder());
    int fd = vh_slot_file(path);
    assert_true(fd > 2);
    assert_int_equal(vh_slot_file(path), -1);
    assert_int_equal(errno, EEXIST);
    vh_slot_sweep(path); /* somebody writes it */
    assert_true(vh_path_exists(path));
    test_write(target, "old", 3);
    assert_true(vh_fd_write(fd, "new!", 4, VH_FD_HERE));
    assert_true(vh_path_rename(path, target)); /* while it is open */
    vh_fd_close(&fd);
    vh_entry is;
    assert_true(vh_path_look(target, &is) && is.size == 4);
    test_write(path, "left", 4);
    vh_slot_sweep(path); /* nobody does */
    assert_false(vh_path_exists(path));
    assert_true(vh_path_remove(target));

    fd = vh_slot_folder(path);
    assert_true(fd > 2);
    assert_int_equal(vh_slot_folder(path), -1);
    assert_int_equal(errno, EEXIST);
    vh_slot_sweep_folder(path, owns);
    assert_true(vh_path_is_folder(path));
    vh_fd_close(&fd);
    snprintf(inside, sizeof inside, "%s/other", path);
    test_write(inside, "x", 1);
    vh_slot_sweep_folder(path, owns); /* it holds what is not ours */
    assert_true(vh_path_exists(inside));
    assert_true(vh_path_remove(inside));
    snprintf(inside, sizeof inside, "%s/mine", path);
    test_write(inside, "x", 1);
    vh_slot_sweep_folder(path, owns);
    assert_false(vh_path_exists(path));
}

static void names_and_folders(void **state)
{
    char path[4200];
    vh_entry a, b;
    (void)state;
    assert_string_equal(vh_path_name("a/b/c.csv"), "c.csv");
    assert_string_equal(vh_path_name("c.csv"), "c.csv");
    assert_string_equal(vh_path_name("a/"), "");
    snprintf(path, sizeof path, "%s/\xD0\xB6.csv", folder());
    FILE *f = vh_file_open(path, "w");
    assert_non_null(f);
    assert_true(fputs("a\nb\n\nlast", f) >= 0);
    fclose(f);
    vh_folder *d = vh_folder_open(folder());
    assert_non_null(d);
    assert_string_equal(vh_folder_next(d), "\xD0\xB6.csv");
    assert_null(vh_folder_next(d));
    vh_folder_close(d);
    char *real = vh_path_real(path), *target = vh_path_target(path);
    assert_true(vh_path_look(real, &a) && vh_path_look(target, &b) && vh_same_entry(&a, &b));
    free(real);
    free(target);

    static const char *const lines[] = { "a\n", "b\n", "\n", "last" };
    char *line = NULL;
    size_t cap = 0;
    f = vh_file_open(path, "r");
    for (int k = 0; k < 4; k++) {
        assert_int_equal(vh_file_line(f, &line, &cap), strlen(lines[k]));
        assert_string_equal(line, lines[k]);
    }
    assert_int_equal(vh_file_line(f, &line, &cap), -1);
    fclose(f);
    free(line);
    assert_true(vh_path_remove(path));
    assert_null(vh_path_real(path));
    assert_null(vh_folder_open(path));
}

static void texts_in_memory(void **state)
{
    char *text = NULL;
    size_t n = 0;
    (void)state;
    FILE *f = vh_memory_open(&text, &n);
    for (int k = 0; k < 10000; k++)
        fprintf(f, "%d\n", k);
    assert_true(vh_memory_close(f, &text, &n));
    assert_int_equal(n, 48890);
    assert_int_equal(strlen(text), n);
    assert_string_equal(text + n - 5, "9999\n");
    free(text);
    f = vh_memory_open(&text, &n);
    assert_true(vh_memory_close(f, &text, &n));
    assert_string_equal(text, "");
    free(text);
}

static void machine(void **state)
{
    (void)state;
    assert_in_range(vh_cores(), 1, 100000);
    assert_in_range(vh_cores_usable(), 1, 100000);
    int64_t before = vh_nanoseconds();
    vh_sleep(2000000);
    assert_true(vh_nanoseconds() - before >= 1000000);
    for (size_t n = 1; n < 10000; n = 3 * n + 1) {
        char *p = vh_memory_aligned(n);
        assert_int_equal((uintptr_t)p % 64, 0);
        memset(p, 1, n);
        free(p);
    }
    assert_near(vh_log_gamma(0.5), 0.57236494292470008707, 1e-15, 0);
}

/* In the order of the manual of strverscmp, and some more. */
static void versions(void **state)
{
    static const char *const order[] = { "000", "00", "01", "010", "09", "0", "1", "9", "10" };
    static const char *const names[] = { "", "a", "a1", "a1b", "a2", "a10", "a10b", "ab", "b0", "b00" };
    (void)state;
    for (size_t i = 0; i < 9; i++)
        for (size_t k = 0; k < 9; k++)
            assert_int_equal((vh_compare_versions(order[i], order[k]) > 0)
                                 - (vh_compare_versions(order[i], order[k]) < 0),
                             (i > k) - (i < k));
    for (size_t i = 0; i < 8; i++)
        assert_true(vh_compare_versions(names[i], names[i + 1]) < 0);
    assert_true(vh_compare_versions(names[8], names[9]) > 0); /* 00 begins a fraction */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_at_places),   cmocka_unit_test(locks),
        cmocka_unit_test(scratch_and_map),   cmocka_unit_test(slots),
        cmocka_unit_test(names_and_folders), cmocka_unit_test(texts_in_memory),
        cmocka_unit_test(machine),           cmocka_unit_test(versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
