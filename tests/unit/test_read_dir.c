/* SPDX-License-Identifier: BSD-3-Clause */
/* test_read_dir.c - a directory of CSV files. */
#include "data_files.h"
#include "os/slot.h"
#include "vhem.h"

static char root[4096];

static void put(const char *name, const char *text)
{
    char path[8192];
    snprintf(path, sizeof path, "%s/%s", root, name);
    char *slash = strrchr(path + strlen(root) + 1, '/');
    if (slash) {
        *slash = '\0';
        vh_folder_make(path);
        *slash = '/';
    }
    test_write(path, text, strlen(text));
}

static int begin(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "%s", test_scratch("dir"));
    return vh_folder_make(root) ? 0 : 1;
}

static bool any(const char *name)
{
    return *name != '\0';
}

static int end(void **state)
{
    (void)state;
    char path[8192];
    vh_folder *folder = vh_folder_open(root);
    for (const char *name; folder && (name = vh_folder_next(folder));) {
        snprintf(path, sizeof path, "%s/%s", root, name);
        vh_slot_remove_folder(path, any);
    }
    vh_folder_close(folder);
    vh_slot_remove_folder(root, any);
    return 0;
}

static void test_plain(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    put("b.csv", "x,y\n1,2\n3,\n");
    put("a-c.csv", "x,y\n5,6\n");
    put("a.csv", "x,y\n7,8\n");
    put("notes.md", "not a table");
    put(".hidden.csv", "zzz");
    assert_ok(ctx, vhem_data_load(ctx, root, NULL, &data));
    assert_string_equal(data->format, "dir");
    assert_int_equal(vh_data_size(data), 3);
    assert_sequence(data, 0, "a", "", "", 1);
    assert_sequence(data, 1, "a-c", "", "", 1);
    assert_sequence(data, 2, "b", "", "", 2);
    assert_values(data, 2, 1, 2, 3, NAN);
    assert_string_equal(vh_data_column(data, 1), "y");
    vhem_free(data);
    data = NULL;
    vhem_data_options opt = { .size = sizeof(vhem_data_options), .columns = "y" };
    assert_ok(ctx, vhem_data_load(ctx, root, &opt, &data));
    assert_values(data, 2, 2, NAN);
    vhem_free(data);
    vhem_free(ctx);
}

static void test_counters(void **state)
{
    (void)state;
    log_book book;
    vhem_ctx *ctx = logging_ctx(&book);
    vhem_data *data = NULL;
    put("a.csv", "Frame,Time,LKNE X\n1,.1,5\n2,.3,5\n3,.6,4\n");
    put("b.csv", "Frame,Time,LKNE X\n1,.1,7\n2,.2,6\n3,.3,5\n");
    assert_ok(ctx, vhem_data_load(ctx, root, NULL, &data));
    assert_int_equal(book.count[VHEM_LOG_WARN], 2); /* the last is kept */
    assert_non_null(strstr(book.text[VHEM_LOG_WARN], "column 'Time' is a time, which rises in each sequence; "
                                                     "leave it out with columns = 'LKNE X'"));
    vhem_free(data);
    vhem_free(ctx);
}

static void test_subfolders(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    put("walk/2.txt", "1\t2\n");
    put("walk/1.tsv", "3\t4\n");
    put("run/7.csv", "5,6\n");
    assert_ok(ctx, vhem_data_load(ctx, root, NULL, &data));
    assert_sequence(data, 0, "7", "run", "", 1);
    assert_sequence(data, 1, "1", "walk", "", 1);
    assert_sequence(data, 2, "2", "walk", "", 1);
    assert_string_equal(vh_data_column(data, 1), "y1");
    vhem_free(data);
    put("run/1.csv", "7,8\n"); /* the same name twice: names are made longer */
    data = NULL;
    vhem_data_options opt = { .size = sizeof(vhem_data_options), .where = "label=run" };
    assert_ok(ctx, vhem_data_load(ctx, root, &opt, &data));
    assert_int_equal(vh_data_size(data), 2);
    assert_sequence(data, 0, "run/1", "run", "", 1);
    assert_values(data, 1, 5, 6);
    vhem_free(data);
    vhem_free(ctx);
}

static void test_refused(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    assert_fails(ctx, vhem_data_load(ctx, root, NULL, &data), VHEM_EFORMAT, "no .csv, .tsv or .txt file");
    put("z.npz", "PK\x03\x04....");
    assert_fails(ctx, vhem_data_load(ctx, root, NULL, &data), VHEM_EFORMAT,
                 "no .csv, .tsv or .txt file; it has others, such as ");
    put("walk_2.c3d", "\x02P\x0c");
    put("walk_1.c3d", "\x02P\x0c");
    assert_fails(ctx, vhem_data_load(ctx, root, NULL, &data), VHEM_EFORMAT,
                 "walk_1.c3d: this is a C3D file of motion capture; export its points as CSV first");
    put("a.csv", "x,y\n1,2\n");
    put("b.csv", "x,z\n1,2\n");
    assert_fails(ctx, vhem_data_load(ctx, root, NULL, &data), VHEM_EFORMAT,
                 "b.csv: column 2 is named 'z', expected 'y'");
    put("b.csv", "x,y,z\n1,2,3\n");
    assert_fails(ctx, vhem_data_load(ctx, root, NULL, &data), VHEM_EFORMAT,
                 "b.csv: line 1 has 3 fields, expected 2");
    put("b.csv", "1,2\n");
    assert_fails(ctx, vhem_data_load(ctx, root, NULL, &data), VHEM_EFORMAT,
                 "b.csv: the file has no header, but ");
    put("b.csv", "x,y\n1,2\n3,oops\n");
    assert_fails(ctx, vhem_data_load(ctx, root, NULL, &data), VHEM_EFORMAT,
                 "b.csv: line 3, column 'y': found 'oops', expected a number");
    put("b.csv", "x,y\n1,2\n3,inf\n");
    assert_fails(ctx, vhem_data_load(ctx, root, NULL, &data), VHEM_EFORMAT,
                 "line 3, column 'y': found an infinite value");
    put("b.csv", "x,y\n1,2\n3\n");
    assert_fails(ctx, vhem_data_load(ctx, root, NULL, &data), VHEM_EFORMAT, "b.csv: line 3 has 1 field");
    put("b.csv", "x,y\n");
    assert_fails(ctx, vhem_data_load(ctx, root, NULL, &data), VHEM_EFORMAT,
                 "b.csv: sequence 'b' has no frames");
    put("b.csv", "");
    assert_fails(ctx, vhem_data_load(ctx, root, NULL, &data), VHEM_EFORMAT, "b.csv: the file is empty");
    vhem_data_options opt = { .size = sizeof(vhem_data_options), .group = "subject" };
    assert_fails(ctx, vhem_data_load(ctx, root, &opt, &data), VHEM_EINVAL, "group names a column");
    vhem_free(ctx);
}

/* The mutated file is one of a folder. */
static void test_mutations(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const char good[] = "x,y\n1,2\n3,\n-1e5,\"2\"\n";
    vh_rng rng;
    int failed = 0;
    vh_rng_init(&rng, 5, VH_RNG_TEST, 0);
    put("a.csv", good);
    for (int i = 0; i < 2000; i++) {
        char bad[sizeof good], path[8192];
        memcpy(bad, good, sizeof good);
        for (int k = 0; k <= i % 3; k++)
            bad[vh_rng_below(&rng, sizeof good - 1)] = (char)vh_rng_below(&rng, 256);
        snprintf(path, sizeof path, "%s/b.csv", root);
        remove(path);
        test_write(path, bad, i % 5 ? sizeof good - 1 : (size_t)vh_rng_below(&rng, sizeof good));
        vhem_data *data = NULL;
        if (vhem_data_load(ctx, root, NULL, &data) != VHEM_OK) {
            failed++;
            assert_null(data);
            assert_non_null(strstr(vhem_ctx_error(ctx), root));
        }
        vhem_free(data);
    }
    assert_true(failed > 100);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_plain, begin, end),
        cmocka_unit_test_setup_teardown(test_counters, begin, end),
        cmocka_unit_test_setup_teardown(test_subfolders, begin, end),
        cmocka_unit_test_setup_teardown(test_refused, begin, end),
        cmocka_unit_test_setup_teardown(test_mutations, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
