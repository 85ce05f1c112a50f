/* SPDX-License-Identifier: BSD-3-Clause */
/* xlsx.c - see xlsx.h.  Office Open XML, ISO/IEC 29500, part 1, chapter 18: a zip archive of XML documents,
 * four of which matter here.
 *
 * 1. A part of the archive, unpacked and parsed incrementally by expat.
 * 2. xl/workbook.xml: the names of the sheets, and its relations, which locate them.
 * 3. The shared strings: texts of cells, which sheets refer to by index.
 * 4. The sheet: rows of cells, written out as they are parsed.
 *
 * A small file may unpack into a large one, so memory is bounded: texts by MOST_TEXT bytes, the output by a
 * multiple of the sheet's size, the parser by MOST_DEPTH nested elements and MOST_CELL bytes per tag or
 * comment, which it rescans with every chunk until it ends. */
#include "data/formats/xlsx.h"

#include "core/alloc.h"
#include "data/spill.h"
#include "data/values.h"
#include "data/formats/zip.h"

#include <errno.h>
#include <expat.h>
#include <string.h>
#include <strings.h>

enum {
    CHUNK = 1 << 16,
    MOST_CELL = 1 << 20,
    MOST_TEXT = 1 << 28,
    MOST_SHEETS = 4096,
    MOST_ROWS = 1 << 20,
    MOST_COLUMNS = 1 << 14,
    MOST_DEPTH = 64,
    GROWTH = 64 /* most bytes written per byte of a sheet */
};

typedef struct {
    char *text;
    size_t n, cap;
} buffer;

static void free_buffer(buffer *b)
{
    free(b->text);
}

typedef struct {
    char *name, *id;
    bool hidden;
} sheet_entry;

typedef struct {
    vhem_ctx *ctx;
    const char *path;
    vh_zip zip;
    sheet_entry *sheet; /* [n_sheets] in workbook order */
    int n_sheets, wanted;
    char *sheet_part, *strings_part; /* member names */
    buffer text;                     /* the shared strings, concatenated */
    size_t *end, n_strings;          /* [n_strings] end of each in text */
    size_t cap_sheets, cap_strings;
} workbook;

/* ---- 1. a part ----------------------------------------------------------------------------------------- */

typedef struct part part;
typedef void on_tag(part *p, const char *tag, const char **attribute);
struct part {
    workbook *w;
    vhem_ctx *ctx;
    char name[400]; /* begins error messages */
    on_tag *open, *close;
    XML_Parser parser;
    vhem_status st;
    int depth;    /* open elements */
    bool collect; /* append characters to text */
    bool phonetic;
    buffer text;
    /* of a sheet: */
    FILE *out;
    int64_t row, column, width; /* 1-based, of the current cell; cells in the first non-empty row */
    int64_t written, at_column, at_row, most;
    int64_t no_value;       /* formulas without a stored value */
    bool formula, numbered; /* the row states its number */
    char type;
};

static const char *local(const char *name)
{
    const char *colon = strrchr(name, ':');
    return colon ? colon + 1 : name;
}

static const char *attribute_of(const char **attribute, const char *name)
{
    for (; *attribute; attribute += 2)
        if (strcmp(local(*attribute), name) == 0)
            return attribute[1];
    return NULL;
}

static vhem_status append(vhem_ctx *ctx, buffer *b, const char *s, size_t n)
{
    VH_TRY(vh_grow(ctx, &b->text, &b->cap, b->n + n + 1, 1));
    if (n > 0)
        memcpy(b->text + b->n, s, n);
    b->n += n;
    b->text[b->n] = '\0';
    return VHEM_OK;
}

/* Stops the parse at the first failure in a handler. */
static void fail(part *p, vhem_status st)
{
    if (p->st == VHEM_OK && st != VHEM_OK) {
        p->st = st;
        XML_StopParser(p->parser, XML_FALSE);
    }
}

static void on_open(void *data, const char *tag, const char **attribute)
{
    part *p = data;
    if (++p->depth > MOST_DEPTH)
        fail(p, vh_fail(p->ctx, VHEM_EFORMAT, "%s: more than %d elements lie within each other", p->name,
                        MOST_DEPTH));
    if (p->st == VHEM_OK)
        p->open(p, local(tag), attribute);
}

static void on_close(void *data, const char *tag)
{
    part *p = data;
    p->depth--;
    if (p->st == VHEM_OK && p->close)
        p->close(p, local(tag), NULL);
}

static void on_text(void *data, const char *s, int n)
{
    part *p = data;
    if (!p->collect || p->st != VHEM_OK)
        return;
    if (p->text.n + (size_t)n > MOST_CELL)
        fail(p, vh_fail(p->ctx, VHEM_EFORMAT, "%s: a cell has more than %d bytes", p->name, MOST_CELL));
    else
        fail(p, append(p->ctx, &p->text, s, (size_t)n));
}

/* Spreadsheets declare no entities; a file that does may be an entity-expansion attack. */
static void on_doctype(void *data, const char *name, const char *system, const char *public, int internal)
{
    part *p = data;
    (void)name, (void)system, (void)public, (void)internal;
    fail(p, vh_fail(p->ctx, VHEM_EFORMAT, "%s: has a DOCTYPE, which spreadsheets do not have", p->name));
}

static int find_member(const vh_zip *z, const char *name)
{
    for (int i = 0; i < z->n; i++)
        if (strcasecmp(z->member[i].name, name) == 0)
            return i;
    return -1;
}

static vhem_status feed(part *p, vh_stream *s)
{
    vhem_ctx *ctx = p->ctx;
    size_t got = 1;
    int64_t fed = 0;

    while (got > 0) {
        void *chunk = XML_GetBuffer(p->parser, CHUNK);
        VH_CHECK(chunk, VHEM_ENOMEM, "out of memory");
        VH_TRY(s->pull(ctx, s, chunk, CHUNK, &got));
        bool good = XML_ParseBuffer(p->parser, (int)got, got == 0) == XML_STATUS_OK;
        fed += (int64_t)got;
        VH_TRY(p->st);
        VH_CHECK(good || XML_GetErrorCode(p->parser) != XML_ERROR_NO_MEMORY, VHEM_ENOMEM, "out of memory");
        VH_CHECK(good, VHEM_EFORMAT, "%s: line %lld of its XML: %s", p->name,
                 (long long)XML_GetCurrentLineNumber(p->parser),
                 XML_ErrorString(XML_GetErrorCode(p->parser)));
        VH_CHECK(fed - (int64_t)XML_GetCurrentByteIndex(p->parser) <= MOST_CELL, VHEM_EFORMAT,
                 "%s: a tag or a comment has more than %d bytes", p->name, MOST_CELL);
        VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "%s: stopped while reading", p->w->path);
    }
    return VHEM_OK;
}

static vhem_status parse_member(part *p, const char *member)
{
    workbook *w = p->w;
    vhem_ctx *ctx = p->ctx = w->ctx;
    VH_OWN(vh_unzip) *u = NULL;
    vh_stream s;
    int i = find_member(&w->zip, member);

    VH_CHECK(i >= 0, VHEM_EFORMAT, "%s: the archive has no '%s': this is not an Excel workbook", w->path,
             VH_SHOW(member, strlen(member)));
    snprintf(p->name, sizeof p->name, "%.300s: part '%s'", w->path, VH_SHOW(member, strlen(member)));
    p->most = GROWTH * (w->zip.member[i].size + CHUNK);
    VH_TRY(vh_unzip_open(ctx, &w->zip, i, p->name, &s, &u));
    p->parser = XML_ParserCreate(NULL);
    VH_CHECK(p->parser, VHEM_ENOMEM, "out of memory");
    XML_SetUserData(p->parser, p);
    XML_SetElementHandler(p->parser, on_open, on_close);
    XML_SetCharacterDataHandler(p->parser, on_text);
    XML_SetStartDoctypeDeclHandler(p->parser, on_doctype);
    return feed(p, &s);
}

/* Parses a member; the caller sets w, open, close and what they need. */
static vhem_status parse(part *p, const char *member)
{
    vhem_status st = parse_member(p, member);
    if (p->parser)
        XML_ParserFree(p->parser);
    free(p->text.text);
    return st;
}

/* ---- 2. the workbook ----------------------------------------------------------------------------------- */

static vhem_status add_sheet(workbook *w, const char *name, const char *id, const char *state)
{
    vhem_ctx *ctx = w->ctx;

    VH_CHECK(name && id, VHEM_EFORMAT, "%s: sheet %d of the workbook has no name or no id", w->path,
             w->n_sheets + 1);
    VH_CHECK(w->n_sheets < MOST_SHEETS, VHEM_EFORMAT, "%s: the workbook has more than %d sheets", w->path,
             MOST_SHEETS);
    VH_TRY(vh_grow(ctx, &w->sheet, &w->cap_sheets, (size_t)w->n_sheets + 1, sizeof *w->sheet));
    sheet_entry *s = &w->sheet[w->n_sheets++];
    *s = (sheet_entry){ .hidden = state && strcmp(state, "visible") != 0 };
    VH_DUP(s->name, name);
    VH_DUP(s->id, id);
    return VHEM_OK;
}

static void workbook_tag(part *p, const char *tag, const char **attribute)
{
    if (strcmp(tag, "sheet") == 0)
        fail(p, add_sheet(p->w, attribute_of(attribute, "name"), attribute_of(attribute, "id"),
                          attribute_of(attribute, "state")));
}

/* Sets w->wanted. */
static vhem_status choose_sheet(workbook *w, const char *sheet)
{
    vhem_ctx *ctx = w->ctx;
    char list[256], *names[MOST_SHEETS];
    int64_t number;

    VH_CHECK(w->n_sheets > 0, VHEM_EFORMAT, "%s: the workbook has no sheets", w->path);
    for (int i = 0; i < w->n_sheets; i++)
        names[i] = w->sheet[i].name;
    vh_show_list(names, w->n_sheets, ", ", list, sizeof list);
    w->wanted = 0;
    if (!sheet) {
        while (w->wanted < w->n_sheets - 1 && w->sheet[w->wanted].hidden)
            w->wanted++;
        if (w->n_sheets > 1)
            vh_log(ctx, VHEM_LOG_WARN, "%s: reading sheet '%s' of %s; " VH_OPT("sheet") " chooses another",
                   w->path, VH_SHOW(names[w->wanted], strlen(names[w->wanted])), list);
        return VHEM_OK;
    }
    while (w->wanted < w->n_sheets && strcmp(names[w->wanted], sheet) != 0)
        w->wanted++;
    if (w->wanted == w->n_sheets && vh_integer_parse(sheet, strlen(sheet), &number) && number >= 1
        && number <= w->n_sheets)
        w->wanted = (int)number - 1;
    VH_CHECK(w->wanted < w->n_sheets, VHEM_EINVAL, "%s: " VH_OPT("sheet") " asks for '%s'; the sheets are %s",
             w->path, VH_SHOW(sheet, strlen(sheet)), list);
    return VHEM_OK;
}

/* Name of the member that a relation of the workbook points to. */
static vhem_status target_name(vhem_ctx *ctx, const char *target, char **out)
{
    VH_CLEANUP(free_buffer) buffer b = { 0 };
    const char *folder = target[0] == '/' ? "" : "xl/";

    VH_TRY(append(ctx, &b, folder, strlen(folder)));
    VH_TRY(append(ctx, &b, target + (target[0] == '/'), strlen(target + (target[0] == '/'))));
    free(*out);
    *out = vh_take(b.text);
    return VHEM_OK;
}

static void relation_tag(part *p, const char *tag, const char **attribute)
{
    const char *id = attribute_of(attribute, "Id"), *type = attribute_of(attribute, "Type");
    const char *target = attribute_of(attribute, "Target");
    if (strcmp(tag, "Relationship") != 0 || !id || !target)
        return;
    if (strcmp(id, p->w->sheet[p->w->wanted].id) == 0)
        fail(p, target_name(p->ctx, target, &p->w->sheet_part));
    else if (type && strlen(type) >= 14 && strcmp(type + strlen(type) - 14, "/sharedStrings") == 0)
        fail(p, target_name(p->ctx, target, &p->w->strings_part));
}

/* ---- 3. texts ------------------------------------------------------------------------------------------ */

/* Collects <t> outside <rPh>, the phonetic text. */
static void text_tag(part *p, const char *tag, bool opens)
{
    if (strcmp(tag, "rPh") == 0)
        p->phonetic = opens;
    else if (strcmp(tag, "t") == 0)
        p->collect = opens && !p->phonetic;
}

static void string_opens(part *p, const char *tag, const char **attribute)
{
    (void)attribute;
    if (strcmp(tag, "si") == 0)
        p->text.n = 0;
    text_tag(p, tag, true);
}

static vhem_status add_string(workbook *w, const buffer *text)
{
    vhem_ctx *ctx = w->ctx;

    VH_CHECK(w->text.n + text->n + sizeof(size_t) * w->n_strings < MOST_TEXT, VHEM_EFORMAT,
             "%s: the texts of the cells need more than %d MiB; save the sheet as CSV", w->path,
             MOST_TEXT >> 20);
    VH_TRY(append(ctx, &w->text, text->text, text->n));
    VH_TRY(vh_grow(ctx, &w->end, &w->cap_strings, w->n_strings + 1, sizeof *w->end));
    w->end[w->n_strings++] = w->text.n;
    return VHEM_OK;
}

static void string_closes(part *p, const char *tag, const char **attribute)
{
    (void)attribute;
    text_tag(p, tag, false);
    if (strcmp(tag, "si") == 0)
        fail(p, add_string(p->w, &p->text));
}

/* ---- 4. the sheet -------------------------------------------------------------------------------------- */

static void put(part *p, char c)
{
    putc(c, p->out);
    p->written++;
}

vhem_status vh_xlsx_no_room(vhem_ctx *ctx, const char *path)
{
    return vh_fail(ctx, VHEM_EIO, "%s: %s cannot hold the table: %s; name another folder in TMPDIR", path,
                   vh_spill_folder(), strerror(errno));
}

/* Writes a CSV field on one line: numbers bare, other text quoted. */
static void put_field(part *p, const char *s, size_t n, bool quoted)
{
    if (quoted)
        put(p, '"');
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '"')
            put(p, '"');
        put(p, s[i] == '\n' || s[i] == '\r' ? ' ' : s[i]);
    }
    if (quoted)
        put(p, '"');
}

/* Text of the current cell; for type s the cell holds the index of a shared string. */
static vhem_status cell_text(part *p, const char **s, size_t *n)
{
    vhem_ctx *ctx = p->ctx;
    int64_t i;
    const workbook *w = p->w;

    *s = p->text.text;
    *n = p->text.n;
    vh_trim(s, n);
    if (p->type != 's' || *n == 0)
        return VHEM_OK;
    VH_CHECK(vh_integer_parse(*s, *n, &i) && i >= 0 && (size_t)i < w->n_strings, VHEM_EFORMAT,
             "%s: row %lld: a cell has the text number '%s', must be below %lld, their count", p->name,
             (long long)p->row, VH_SHOW(*s, *n), (long long)w->n_strings);
    size_t from = i > 0 ? w->end[i - 1] : 0;
    *s = w->text.text + from;
    *n = w->end[i] - from;
    return VHEM_OK;
}

static vhem_status put_cell(part *p)
{
    vhem_ctx *ctx = p->ctx;
    const char *s = NULL;
    size_t n = 0;

    p->no_value += p->formula && p->text.n == 0;
    if (p->text.n == 0)
        return VHEM_OK;
    VH_TRY(cell_text(p, &s, &n));
    if (n == 0 || (p->type == 'e' && n == 4 && memcmp(s, "#N/A", 4) == 0))
        return VHEM_OK;
    VH_CHECK(p->column > p->at_column, VHEM_EFORMAT, "%s: row %lld: column %lld comes after column %lld",
             p->name, (long long)p->row, (long long)p->column, (long long)p->at_column);
    for (; p->at_row < p->row; p->at_row++) /* empty rows are not in the file */
        put(p, '\n');
    for (; p->at_column < p->column; p->at_column++)
        if (p->at_column > 0)
            put(p, ',');
    put_field(p, s, n, p->type != 'n' || strspn(s, "0123456789+-.eE") < n);
    VH_CHECK(p->written <= p->most, VHEM_EFORMAT,
             "%s: the table would be more than %d times as large as this part; save the sheet as CSV",
             p->name, GROWTH);
    if (ferror(p->out))
        VH_TRY(vh_xlsx_no_room(ctx, p->w->path));
    return VHEM_OK;
}

/* Parses "AB12": column 28, row 12; false if it is not a cell name. */
static bool cell_place(const char *cell, int64_t *column, int64_t *row)
{
    *column = 0;
    for (; *cell >= 'A' && *cell <= 'Z' && *column <= MOST_COLUMNS; cell++)
        *column = 26 * *column + (*cell - 'A' + 1);
    return *column > 0 && *column <= MOST_COLUMNS && vh_integer_parse(cell, strlen(cell), row);
}

static vhem_status begin_row(part *p, const char *number)
{
    vhem_ctx *ctx = p->ctx;
    int64_t row = p->row + 1;

    VH_CHECK((!number || vh_integer_parse(number, strlen(number), &row)) && row > p->row && row <= MOST_ROWS,
             VHEM_EFORMAT, "%s: a row has the number '%s', must be from %lld to %d", p->name,
             number ? VH_SHOW(number, strlen(number)) : "", (long long)p->row + 1, MOST_ROWS);
    p->row = row;
    p->numbered = number != NULL;
    p->column = p->at_column = 0;
    return VHEM_OK;
}

static vhem_status begin_cell(part *p, const char *name, const char *type)
{
    vhem_ctx *ctx = p->ctx;

    /* Spreadsheets disagree about a cell that names another row, or repair the file; do not guess. */
    int64_t row = p->row;
    bool found = name ? cell_place(name, &p->column, &row) : ++p->column <= MOST_COLUMNS;
    if (found && p->row > 0 && !p->numbered && row > p->row && row <= MOST_ROWS)
        p->row = row; /* the first cell gives the row number instead */
    p->numbered = true;
    VH_CHECK(p->row > 0 && found && row == p->row, VHEM_EFORMAT, "%s: row %lld: there is no cell '%s' in it",
             p->name, (long long)p->row, name ? VH_SHOW(name, strlen(name)) : "");
    p->text.n = 0;
    p->formula = false;
    p->type = !type || strcmp(type, "b") == 0 ? 'n' : type[0] && !type[1] ? type[0] : 't'; /* inline text */
    return VHEM_OK;
}

static void sheet_opens(part *p, const char *tag, const char **attribute)
{
    if (strcmp(tag, "row") == 0)
        fail(p, begin_row(p, attribute_of(attribute, "r")));
    else if (strcmp(tag, "c") == 0)
        fail(p, begin_cell(p, attribute_of(attribute, "r"), attribute_of(attribute, "t")));
    else if (strcmp(tag, "v") == 0)
        p->collect = true;
    else if (strcmp(tag, "f") == 0)
        p->formula = true;
    else
        text_tag(p, tag, true);
}

static void sheet_closes(part *p, const char *tag, const char **attribute)
{
    (void)attribute;
    if (strcmp(tag, "c") == 0) {
        fail(p, put_cell(p));
    } else if (strcmp(tag, "row") == 0 && p->at_column > 0) {
        p->width = p->width > 0 ? p->width : p->at_column;
        for (; p->at_column < p->width; p->at_column++)
            put(p, ','); /* trailing empty cells are not in the file */
    } else if (strcmp(tag, "v") == 0) {
        p->collect = false;
    } else {
        text_tag(p, tag, false);
    }
}

static void free_workbook(workbook *w)
{
    for (int i = 0; i < w->n_sheets; i++) {
        free(w->sheet[i].name);
        free(w->sheet[i].id);
    }
    free(w->sheet);
    free(w->sheet_part);
    free(w->strings_part);
    free(w->text.text);
    free(w->end);
    vh_zip_close(&w->zip);
}

vhem_status vh_xlsx_to_csv(vhem_ctx *ctx, const char *path, const char *sheet, FILE *f)
{
    VH_CLEANUP(free_workbook) workbook w = { .ctx = ctx, .path = path };
    part sheet_part = { .w = &w, .open = sheet_opens, .close = sheet_closes, .out = f, .at_row = 1 };

    VH_TRY(vh_zip_open(ctx, path, &w.zip));
    VH_TRY(parse(&(part){ .w = &w, .open = workbook_tag }, "xl/workbook.xml"));
    VH_TRY(choose_sheet(&w, sheet));
    VH_TRY(parse(&(part){ .w = &w, .open = relation_tag }, "xl/_rels/workbook.xml.rels"));
    VH_CHECK(w.sheet_part, VHEM_EFORMAT, "%s: the workbook does not say where sheet '%s' is", path,
             VH_SHOW(w.sheet[w.wanted].name, strlen(w.sheet[w.wanted].name)));
    if (w.strings_part)
        VH_TRY(parse(&(part){ .w = &w, .open = string_opens, .close = string_closes }, w.strings_part));
    VH_TRY(parse(&sheet_part, w.sheet_part));
    putc('\n', f);
    if (sheet_part.no_value > 0)
        vh_log(
            ctx, VHEM_LOG_WARN,
            "%s: formulas without a stored value, which count as missing: %lld; open and save the file in a "
            "spreadsheet program to compute them",
            path, (long long)sheet_part.no_value);
    return VHEM_OK;
}
