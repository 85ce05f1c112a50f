/* SPDX-License-Identifier: BSD-3-Clause */
/* test_read_xlsx.c - Excel workbooks, built here part by part: cells of every kind, rows that are left out,
 * what is refused, frames that do not stay in memory, and a folder for temporary files that does not
 * exist. */
#include "data/data.h"
#include "zip_files.h"
#include "vhem.h"

#define MAIN      "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
#define RELATIONS "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
#define HEAD \
    "<row r='1'><c t='s'><v>0</v></c><c t='inlineStr'><is><t>x</t></is></c><c t='str'><v>y</v></c></row>"

/* A workbook of one sheet with these rows and the shared strings id, a, b. */
static const char *workbook(const char *rows)
{
    static const char *const part[][2] = {
        { "xl/workbook.xml", "<workbook xmlns='" MAIN "' xmlns:r='" RELATIONS "'><sheets>"
                             "<sheet name='Data' sheetId='1' r:id='r1'/></sheets></workbook>" },
        { "xl/_rels/workbook.xml.rels",
          "<Relationships><Relationship Id='r1' Type='" RELATIONS "/worksheet' Target='worksheets/s.xml'/>"
          "<Relationship Id='r2' Type='" RELATIONS
          "/sharedStrings' Target='sharedStrings.xml'/></Relationships>" },
        { "xl/sharedStrings.xml",
          "<sst xmlns='" MAIN "'><si><t>id</t></si><si><r><t>a</t></r></si><si><t>b</t></si></sst>" },
    };
    zip z = { .n = 0 };
    char sheet[8000];
    for (size_t k = 0; k < sizeof part / sizeof *part; k++)
        add_raw(&z, part[k][0], STORED, part[k][1], strlen(part[k][1]));
    int n = snprintf(sheet, sizeof sheet, "<worksheet xmlns='%s'><sheetData>%s</sheetData></worksheet>", MAIN,
                     rows);
    assert_in_range(n, 0, sizeof sheet - 1);
    add_raw(&z, "xl/worksheets/s.xml", DEFLATED, sheet, (size_t)n);
    return finish(&z, "d.xlsx", 0);
}

/* Loads these rows; skips the test where workbooks cannot be read at all. */
static vhem_status load(vhem_ctx *ctx, const char *rows, const vhem_data_options *opt, vhem_data **out)
{
    const char *path = workbook(rows);
    vhem_status st = vhem_data_load(ctx, path, opt, out);
    remove(path);
    if (st != VHEM_OK && strstr(vhem_ctx_error(ctx), "without expat"))
        skip();
    return st;
}

static const char two[] =
    HEAD "<row r='2'><c r='A2' t='s'><v>1</v></c><c r='B2'><v>0.5</v></c><c r='C2'><v>-2e-3</v></c></row>"
         "<row><c r='A4' t='s'><v>1</v></c><c r='C4'><v> 4 </v></c></row>"
         "<row r='5'><c r='A5' t='s'><v>2</v></c><c r='B5' t='e'><v>#N/A</v></c><c r='C5' "
         "t='b'><v>1</v></c></row>";

static void test_cells(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    assert_ok(ctx, load(ctx, two, NULL, &data));
    assert_string_equal(data->format, "xlsx");
    assert_string_equal(vh_data_column(data, 1), "y");
    assert_sequence(data, 0, "a", "", "", 2);
    assert_values(data, 0, 0.5, -2e-3, NAN, 4);
    assert_values(data, 1, NAN, 1);
    vhem_free(data);
    vhem_free(ctx);
}

/* With room for one frame in memory the others go to a file, and are the same. */
static void test_spills(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *whole = NULL, *spilled = NULL;
    vhem_data_options opt;
    char rows[7000] = HEAD;
    for (int t = 0; t < 60; t++)
        snprintf(rows + strlen(rows), sizeof rows - strlen(rows),
                 "<row r='%d'><c t='s'><v>%d</v></c><c><v>%d.25</v></c><c><v>%d</v></c></row>", t + 2,
                 1 + t / 30, t, -t);
    VHEM_INIT(VHEM_DATA_OPTIONS, &opt);
    assert_ok(ctx, load(ctx, rows, &opt, &whole));
    opt.memory = 16;
    assert_ok(ctx, load(ctx, rows, &opt, &spilled));
    assert_int_equal(vh_data_size(whole), 2);
    assert_false(whole->hold.in_file);
    assert_true(spilled->hold.in_file);
    assert_same(whole, spilled, ALL);
    vhem_free(whole);
    vhem_free(spilled);
    vhem_free(ctx);
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        { "<row r='2'><c r='A7'><v>1</v></c></row>", "row 2: there is no cell 'A7' in it" },
        { "<row r='2'><c r='A'><v>1</v></c></row>", "row 2: there is no cell 'A' in it" },
        { "<row r='2'><c r='7'><v>1</v></c></row>", "row 2: there is no cell '7' in it" },
        { "<row r='2'><c r='XFE2'><v>1</v></c></row>", "row 2: there is no cell 'XFE2' in it" },
        { "<row r='2'><c r='B2'><v>1</v></c><c r='A2'><v>1</v></c></row>", "column 1 comes after column 2" },
        { "<row><c r='A5'/><c r='B7'><v>1</v></c></row>", "row 5: there is no cell 'B7' in it" },
        { "<row r='0'/>", "a row has the number '0', must be from 1 to 1048576" },
        { "<c r='A1'><v>1</v></c>", "row 0: there is no cell 'A1' in it" },
        { "<row r='1'><c t='s'><v>3</v></c></row>", "the text number '3', must be below 3" },
        { "<row r='1'>", "mismatched tag" },
    };
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        assert_fails(ctx, load(ctx, wrong[k][0], NULL, &data), VHEM_EFORMAT, wrong[k][1]);
        assert_null(data);
    }
    vhem_free(ctx);
}

static void test_no_folder_for_the_table(void **state)
{
    (void)state;
    const char *old = getenv("TMPDIR");
    char *copy = old ? strdup(old) : NULL;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    const char *path = workbook(two);
    test_environment("TMPDIR", "/there/is/no/such/folder");
    vhem_status st = vhem_data_load(ctx, path, NULL, &data);
    test_environment("TMPDIR", copy);
    free(copy);
    remove(path);
    assert_null(data);
    if (!strstr(vhem_ctx_error(ctx), "without expat"))
        assert_fails(ctx, st, VHEM_EIO,
                     "cannot hold the table: No such file or directory; name another folder in TMPDIR");
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_spills),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_no_folder_for_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
