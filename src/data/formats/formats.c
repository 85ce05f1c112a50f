/* SPDX-License-Identifier: BSD-3-Clause */
/* formats.c - the table of input formats, and format detection. */
#include "data/formats/formats.h"

#include "os/fd.h"
#include "core/atomic_file.h"
#include "data/formats/encoding.h"
#include "data/values.h"
#include "os/path.h"
#include "os/stream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { HEAD = 4096 };

static bool begins(const char *head, size_t n, const char *magic, size_t m)
{
    return n >= m && memcmp(head, magic, m) == 0;
}

static bool sniff_npy(const char *path, const char *head, size_t n)
{
    (void)path;
    return begins(head, n, "\x93NUMPY", 6);
}

/* True for a zip archive whose first member is one that Excel workbooks have. */
static bool is_workbook(const char *head, size_t n)
{
    static const char *const first[] = { "[Content_Types].xml", "_rels/", "docProps/", "xl/", "customXml/" };
    enum { NAME = 30 }; /* offset of the member name in its header */
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        if (begins(head, n, "PK\x03\x04", 4) && n > NAME
            && begins(head + NAME, n - NAME, first[i], strlen(first[i])))
            return true;
    return false;
}

/* True for a LibreOffice spreadsheet. */
static bool is_ods(const char *head, size_t n)
{
    return begins(head, n, "PK\x03\x04", 4) && n >= 38 && memcmp(head + 30, "mimetype", 8) == 0;
}

static bool sniff_npz(const char *path, const char *head, size_t n)
{
    (void)path;
    return (begins(head, n, "PK\x03\x04", 4) || begins(head, n, "PK\x05\x06", 4)) && !is_workbook(head, n)
           && !is_ods(head, n);
}

static bool sniff_xlsx(const char *path, const char *head, size_t n)
{
    (void)path;
    return is_workbook(head, n);
}

static bool sniff_hdf5(const char *path, const char *head, size_t n)
{
    (void)path;
    return begins(head, n, "\x89HDF\r\n\x1a\n", 8);
}

static bool sniff_dir(const char *path, const char *head, size_t n)
{
    (void)head;
    return n == 0 && vh_path_is_folder(path);
}

/* Text has no bytes 0..31 except white space. */
static bool is_text(const char *head, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)head[i];
        if (c < 32 && c != '\t' && c != '\n' && c != '\r' && c != '\f')
            return false;
    }
    return n > 0;
}

/* Finds the first line that is neither empty nor a '#' comment. */
static const char *first_line(const char *head, size_t n)
{
    const char *p = head;
    if (begins(head, n, "\xEF\xBB\xBF", 3))
        p += 3;
    while (*p == '#' || *p == '\n' || *p == '\r') {
        if (*p == '#')
            p += strcspn(p, "\n\r");
        p += strspn(p, "\n\r");
    }
    return p;
}

/* Common files that vhem cannot read, described for the error message. */
static const struct {
    const char *magic;
    size_t n;
    const char *what;
    bool text; /* text, but not a table */
} foreign[] = {
    { "\x1f\x8b", 2, "a gzip file; unpack it first", false },
    { "\xfd"
      "7zXZ",
      5, "an xz file; unpack it first", false },
    { "BZh", 3, "a bzip2 file; unpack it first", false },
    { "\xd0\xcf\x11\xe0", 4,
      "an Excel file in the old .xls format, or one with a password; save it as plain .xlsx or CSV first",
      false },
    { "MATLAB ", 7,
      "a MATLAB file; write its table as CSV, writetable(T, 'data.csv'), or read it with "
      "vhem.Sequences.load in Python",
      false },
    { "PAR1", 4, "a Parquet file; read it with vhem.Sequences.load in Python, or save it as CSV first",
      false },
    { "ARROW1", 6, "an Arrow or Feather file; save it as CSV first", false },
    { "\x02P", 2, "a C3D file of motion capture; export its points as CSV first, one row for each frame",
      false },
    { "HIERARCHY\n", 10,
      "a BVH file of motion capture; export its channels as CSV first, one row for each frame", true },
    { "HIERARCHY\r", 10,
      "a BVH file of motion capture; export its channels as CSV first, one row for each frame", true },
    { "** CONVERTED FROM", 17, "an EyeLink recording as text; export its fixation report as a table first",
      true },
    { "$FL2", 4, "an SPSS file; save it as CSV first", false },
    { "$FL3", 4, "an SPSS file; save it as CSV first", false },
    { "<stata_dta>", 11, "a Stata file; save it as CSV first", false },
    { "{", 1, "JSON, perhaps a model file", true },
    { "RIFF", 4, "an audio file; compute features first", false },
};

/* Describes an unsupported file; NULL if it may be readable.  In text, magic begins the first line. */
static const char *find_foreign(const char *head, size_t n)
{
    const char *line = first_line(head, n);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        const char *at = foreign[i].text ? line : head;
        size_t left = at <= head + n ? n - (size_t)(at - head) : 0;
        if (foreign[i].text == is_text(head, n) && begins(at, left, foreign[i].magic, foreign[i].n))
            return foreign[i].what;
    }
    return NULL;
}

static bool sniff_ts(const char *path, const char *head, size_t n)
{
    return is_text(head, n) && (vh_ends_with(path, ".ts") || *first_line(head, n) == '@');
}

static bool sniff_tsv(const char *path, const char *head, size_t n)
{
    const char *line = first_line(head, n);
    size_t size = strcspn(line, "\n\r");
    if (!is_text(head, n))
        return false;
    return vh_ends_with(path, ".tsv")
           || (memchr(line, '\t', size) && !memchr(line, ',', size) && !memchr(line, ';', size));
}

static bool sniff_csv(const char *path, const char *head, size_t n)
{
    (void)path;
    return is_text(head, n) && !find_foreign(head, n); /* JSON is text too, perhaps a model file */
}

/* Tried from top to bottom: definite signatures first, any text last. */
static const vh_reader table[] = {
    { "dir", sniff_dir, vh_read_dir, .picks_columns = true, .text = true },
    { "npy", sniff_npy, vh_read_npy, .text = false },
    { "npz", sniff_npz, vh_read_npz, .text = false },
    { "hdf5", sniff_hdf5, vh_read_hdf5, .text = false },
    { "xlsx", sniff_xlsx, vh_read_xlsx, .picks_columns = true, .text = true, .sheets = true },
    { "ts", sniff_ts, vh_read_ts, .text = true },
    { "tsv", sniff_tsv, vh_read_tsv, .picks_columns = true, .text = true },
    { "csv", sniff_csv, vh_read_csv, .picks_columns = true, .text = true },
};
enum { N_READERS = sizeof table / sizeof *table };
static const char known[] = "csv, tsv, xlsx, dir, npy, npz, ts, hdf5";

static vhem_status not_recognised(vhem_ctx *ctx, const char *path, const char *head, size_t n)
{
    if (n == 0)
        return vh_fail(ctx, VHEM_EFORMAT, "%s: the file is empty, expected sequences (%s)", path, known);
    const char *what = find_foreign(head, n);
    if (what)
        return vh_fail(ctx, VHEM_EFORMAT, "%s: this is %s; expected sequences (%s)", path, what, known);
    if (is_ods(head, n))
        return vh_fail(
            ctx, VHEM_EFORMAT,
            "%s: this is an OpenDocument spreadsheet; save it as .xlsx or CSV first; expected sequences (%s)",
            path, known);
    const char *nul = memchr(head, '\0', n);
    if (nul && is_text(head, (size_t)(nul - head))) {
        int line = 1;
        for (const char *p = head; p < nul; p++)
            line += *p == '\n';
        return vh_fail(ctx, VHEM_EFORMAT,
                       "%s: line %d has a NUL byte, which is not text; expected sequences (%s)", path, line,
                       known);
    }
    char hex[3 * 8 + 1] = "";
    for (size_t i = 0; i < n && i < 8; i++)
        snprintf(hex + 3 * i, 4, "%02x ", (unsigned char)head[i]);
    hex[strlen(hex) - 1] = '\0';
    return vh_fail(ctx, VHEM_EFORMAT, "%s: not a kind of file vhem reads (%s); it begins with bytes %s", path,
                   known, hex);
}

static vhem_status read_head(vhem_ctx *ctx, const char *path, char head[HEAD + 1], size_t *n)
{
    vh_entry there;
    VH_OWN(FILE) *f = NULL;

    *n = 0;
    VH_CHECK(vh_path_look(path, &there), VHEM_EIO, "%s: cannot read: %s", path, strerror(errno));
    if (there.kind != VH_IS_FOLDER) {
        f = vh_file_open(path, "rb");
        VH_CHECK(f, VHEM_EIO, "%s: cannot read: %s", path, strerror(errno));
        *n = fread(head, 1, HEAD, f);
        VH_CHECK(!ferror(f), VHEM_EIO, "%s: cannot read: %s", path, strerror(errno));
    }
    head[*n] = '\0';
    return VHEM_OK;
}

/* Converts a UTF-16 head to UTF-8, as its reader will see it. */
static void decode_head(char head[HEAD + 1], size_t *n)
{
    char text[HEAD / 2 * 3 + 1];
    size_t used;
    vh_utf16 kind = vh_utf16_mark(head, *n);
    if (kind == VH_NO_UTF16 || *n == 2)
        return;
    size_t size = vh_utf16_decode(kind, head + 2, *n - 2, text, &used);
    *n = size < HEAD ? size : HEAD;
    memcpy(head, text, *n);
    head[*n] = '\0';
}

vhem_status vh_reader_find(vhem_ctx *ctx, const char *path, const char *name, const vh_reader **out)
{
    char head[HEAD + 1];
    size_t n;

    if (!name && vh_is_stream(path))
        name = "csv"; /* csv detects its delimiter; a stream cannot be inspected beforehand */
    if (name) {
        for (int i = 0; i < N_READERS; i++)
            if (strcmp(table[i].name, name) == 0) {
                *out = &table[i];
                return VHEM_OK;
            }
        return vh_fail(ctx, VHEM_EINVAL, "there is no data format '%s'; the formats are %s",
                       VH_SHOW(name, strlen(name)), known);
    }
    VH_TRY(read_head(ctx, path, head, &n));
    decode_head(head, &n);
    for (int i = 0; i < N_READERS; i++)
        if (table[i].sniff(path, head, n)) {
            *out = &table[i];
            return VHEM_OK;
        }
    return not_recognised(ctx, path, head, n);
}

vhem_status vh_no_columns(vhem_ctx *ctx, const char *path, const char *kind, const vhem_data_options *opt)
{
    const struct {
        const char *option, *value;
    } o[] = { { "id", opt->id },
              { "label", opt->label },
              { "group", opt->group },
              { "weight", opt->weight },
              { "order", opt->order } };
    const char *option = NULL;
    for (int i = 0; i < 5 && !option; i++)
        if (o[i].value && strcmp(o[i].value, o[i].option) != 0)
            option = o[i].option;
    if (!option)
        return VHEM_OK;
    return vh_fail(ctx, VHEM_EINVAL, "%s: " VH_OPT("%s") " names a column, but %s has none of that kind",
                   path, option, kind);
}

void vh_stem(const char *path, char *out, size_t size)
{
    const char *name = vh_path_name(path);
    const char *dot = strrchr(name, '.');
    size_t n = dot && dot > name ? (size_t)(dot - name) : strlen(name);
    snprintf(out, size, "%.*s", (int)(n < size ? n : size - 1), name);
}
