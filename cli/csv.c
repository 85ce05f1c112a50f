/* SPDX-License-Identifier: BSD-3-Clause */
/* csv.c - see csv.h. */
#include "csv.h"
#include "os/stream.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static char *read_all(FILE *f)
{
    size_t n = 0, cap = 1 << 16;
    char *text = malloc(cap);
    while (text) {
        n += fread(text + n, 1, cap - n - 1, f);
        if (n < cap - 1)
            break;
        char *more = realloc(text, cap *= 2);
        if (!more)
            free(text);
        text = more;
    }
    if (text)
        text[n] = '\0';
    return text;
}

/* Text that is not UTF-8 is taken for Windows-1252, as it is in tables of sequences.  Releases the text; NULL
 * without memory. */
static char *as_utf8(char *text)
{
    static const char *const high[32] = {
        /* 80 to 9f; those that are not defined are what they are in Latin-1 */
        "\u20AC",   "\xC2\x81", "\u201A", "\u0192", "\u201E", "\u2026",   "\u2020", "\u2021",
        "\u02C6",   "\u2030",   "\u0160", "\u2039", "\u0152", "\xC2\x8D", "\u017D", "\xC2\x8F",
        "\xC2\x90", "\u2018",   "\u2019", "\u201C", "\u201D", "\u2022",   "\u2013", "\u2014",
        "\u02DC",   "\u2122",   "\u0161", "\u203A", "\u0153", "\xC2\x9D", "\u017E", "\u0178"
    };
    char *copy = malloc(3 * strlen(text) + 1), *to = copy;
    for (const char *s = text; copy && *s; s++) {
        unsigned char a = (unsigned char)*s;
        if (a < 0x80)
            *to++ = *s;
        else if (a < 0xA0)
            to += sprintf(to, "%s", high[a - 0x80]);
        else
            to += sprintf(to, "%c%c", 0xC0 | a >> 6, 0x80 | (a & 0x3F));
    }
    if (copy)
        *to = '\0';
    free(text);
    return copy;
}

static char delimiter(const char *text)
{
    size_t n = strcspn(text, "\r\n");
    return memchr(text, '\t', n) ? '\t' : memchr(text, ';', n) && !memchr(text, ',', n) ? ';' : ',';
}

/* Ends the cell at *p in place, quotes undone; *p moves behind it.  Returns what ended it: the delimiter, a
 * line end or NUL; *line counts the ends of lines. */
static char next_cell(char **p, char delim, char **cell, int *line)
{
    char *from = *p, *to = *p;
    *cell = to;
    if (*from == '"') {
        for (from++; *from && !(from[0] == '"' && from[1] != '"'); from++) {
            from += *from == '"';
            *line += *from == '\n';
            *to++ = *from;
        }
        from += *from == '"';
    }
    while (*from && *from != delim && *from != '\n' && *from != '\r')
        *to++ = *from++;
    char end = *from;
    if (end == '\r' && from[1] == '\n')
        from++;
    *line += end == '\r' || end == '\n';
    *p = end ? from + 1 : from;
    *to = '\0';
    return end == '\r' ? '\n' : end;
}

/* The array with room for one more than n; NULL: there is none, and it is as it was. */
static void *grown(void *array, size_t each, size_t n, size_t *cap)
{
    if (n < *cap)
        return array;
    size_t more = *cap ? 2 * *cap : 1024;
    void *bigger = realloc(array, more * each);
    if (bigger)
        *cap = more;
    return bigger;
}

static bool append(csv *t, size_t *n, size_t *cap, char *cell)
{
    char **all = grown(t->cell, sizeof *all, *n, cap);
    if (!all)
        return false;
    t->cell = all;
    t->cell[(*n)++] = cell;
    return true;
}

static bool begin_row(csv *t, size_t *cap, int line)
{
    int *all = grown(t->line, sizeof *all, (size_t)t->rows, cap);
    if (!all)
        return false;
    t->line = all;
    t->line[t->rows++] = line;
    return true;
}

/* Line by line; empty lines are passed over. */
static int cut(cli *c, const char *path, csv *t)
{
    char *p = t->text + (strncmp(t->text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0), delim = delimiter(p), end, *cell;
    size_t n = 0, cap = 0, line_cap = 0;
    int line = 1;
    while (*p) {
        int columns = 0;
        if (*p == '\n' || *p == '\r') {
            p += p[0] == '\r' && p[1] == '\n' ? 2 : 1;
            line++;
            continue;
        }
        if (!begin_row(t, &line_cap, line))
            return cli_fail(c, "out of memory");
        do {
            end = next_cell(&p, delim, &cell, &line);
            columns++;
            if (!append(t, &n, &cap, cell))
                return cli_fail(c, "out of memory");
        } while (end == delim);
        if (t->rows == 1)
            t->columns = columns;
        if (columns != t->columns)
            return cli_fail(c, "%s: line %d has %d column%s, must have %d like the first", path,
                            t->line[t->rows - 1], columns, cli_plural(columns), t->columns);
    }
    return CLI_GO;
}

int csv_load(cli *c, const char *path, int least, csv *t)
{
    FILE *f = strcmp(path, "-") == 0 ? stdin : vh_file_open(path, "rb");
    *t = (csv){ 0 };
    if (!f)
        return cli_fail(c, "%s: cannot read: %s", path, strerror(errno));
    t->text = read_all(f);
    int broken = ferror(f) ? errno : 0;
    if (f != stdin)
        fclose(f);
    if (t->text && !broken && !cli_is_utf8(t->text)) {
        cli_say(c,
                "warning: %s: the text is not UTF-8 and was read as Windows-1252; if letters are wrong, save "
                "it as UTF-8",
                path);
        t->text = as_utf8(t->text);
    }
    int status = broken    ? cli_fail(c, "%s: cannot read: %s", path, strerror(broken))
                 : t->text ? cut(c, path, t)
                           : cli_fail(c, "out of memory");
    if (status == CLI_GO && t->rows < least)
        status = cli_fail(c, "%s: not a table: it has no row%s", path, least > 1 ? " below a header" : "");
    if (status != CLI_GO)
        csv_free(t);
    return status;
}

void csv_free(csv *t)
{
    free(t->text);
    free(t->cell);
    free(t->line);
    *t = (csv){ 0 };
}

char *csv_cell(const csv *t, int row, int column)
{
    return t->cell[(size_t)row * (size_t)t->columns + (size_t)column];
}

int csv_column(const csv *t, const char *const *names)
{
    for (; *names; names++)
        for (int k = 0; k < t->columns; k++)
            if (strcasecmp(csv_cell(t, 0, k), *names) == 0)
                return k;
    return -1;
}

bool csv_number(const csv *t, int row, int column, double *x)
{
    const char *text = csv_cell(t, row, column);
    char *end;
    if (!*text || strcmp(text, "-") == 0) {
        *x = NAN;
        return true;
    }
    *x = strtod(text, &end);
    return end != text && !*end;
}
