/* SPDX-License-Identifier: BSD-3-Clause */
/* hints.c - see hints.h. */
#include "data/formats/hints.h"

#include "data/formats/symbols.h"
#include "data/values.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char digits[] = "0123456789";

/* True for a number with a decimal comma: "1,5", "-0,25". */
static bool decimal_comma(const char *text)
{
    text += *text == '-' || *text == '+';
    size_t n = strspn(text, digits);
    if (n == 0 || text[n] != ',')
        return false;
    text += n + 1;
    n = strspn(text, digits);
    return n > 0 && text[n] == '\0';
}

/* Length of the first of these texts that s begins with; 0 for none. */
static size_t begins(const char *s, const char *const *text)
{
    for (; *text; text++)
        if (strncmp(s, *text, strlen(*text)) == 0)
            return strlen(*text);
    return 0;
}

/* True for numbers in everyday notation, "3,5%", "1.100,5", "1 234", "$5": sign, currency, digits, perhaps in
 * groups of three, a fraction after a point or comma, a percent sign. */
static bool written_otherwise(const char *s)
{
    static const char *const sign[] = { "-", "+", VH_MINUS, NULL };
    static const char *const currency[] = { "$", "\u20AC", "\u00A3", NULL };
    static const char *const group[] = { ".", ",", "'", " ", "\u00A0", "\u202F", NULL };
    static const char *const unit[] = { "%", "\u2030", "$", "\u20AC", "\u00A3", NULL };
    static const char *const space[] = { " ", "\u00A0", "\u202F", NULL };
    size_t n;

    s += begins(s, sign);
    s += begins(s, currency);
    s += begins(s, space);
    n = strspn(s, digits);
    s += n;
    while (n > 0 && n <= 3 && begins(s, group) && strspn(s + begins(s, group), digits) == 3)
        s += begins(s, group) + 3;
    if (n > 0 && (*s == '.' || *s == ','))
        s += 1 + strspn(s + 1, digits);
    s += begins(s, space);
    s += begins(s, unit);
    return n > 0 && *s == '\0';
}

/* True for a yes/no answer: "yes", "False". */
static bool is_answer(const char *s)
{
    static const char *const word[] = { "yes", "no", "y", "n", "true", "false", "t", "f", "on", "off" };
    for (size_t k = 0; k < sizeof word / sizeof *word; k++)
        if (strcasecmp(s, word[k]) == 0)
            return true;
    return false;
}

const char *vh_number_hint(const char *example)
{
    if (is_answer(example))
        return "; write bits as 1 and 0, or take them as symbols with " VH_OPT("emission=categorical");
    if (decimal_comma(example))
        return "; decimal commas? write 1.5";
    return written_otherwise(example) ? "; write numbers as 1234.5, without thousands separators or units"
                                      : NULL;
}

/* True if the text of a cell may be a symbol, not a number in another notation or a failed formula. */
static bool may_be_symbol(const char *cell)
{
    size_t n = strlen(cell);
    bool failed = n > 1 && cell[0] == '#' && (cell[n - 1] == '!' || cell[n - 1] == '?'); /* "#DIV/0!" */
    return !failed && !decimal_comma(cell) && !written_otherwise(cell);
}

void vh_count_number(vh_cell_counts *c, const vh_field *cell)
{
    c->n_number++;
    if (!cell)
        return;
    const char *s = cell->at;
    size_t n = cell->n;
    vh_trim(&s, &n);
    c->n_code += vh_is_code(s, n);
}

void vh_count_text(vh_cell_counts *c, const vh_table *t, const vh_field *cell)
{
    if (c->n_text++ > 0)
        return;
    c->path = t->path;
    c->line = t->line;
    snprintf(c->example, sizeof c->example, "%s", VH_SHOW(cell->at, cell->n));
}

bool vh_are_symbols(const vh_cell_counts *c)
{
    return (c->n_text >= c->n_number || c->n_code > 0) && may_be_symbol(c->example);
}

vhem_status vh_refuse_text(vhem_ctx *ctx, const vh_cell_counts *c, const char *where, const char *column,
                           bool choice)
{
    const char *hint = vh_number_hint(c->example), *name = strpbrk(column, ",:+'") ? "COL" : column;
    char ways[320] = "", named[100];
    snprintf(named, sizeof named, "column '%.80s'", column);
    if (!hint)
        snprintf(ways, sizeof ways,
                 "; if it stands for a missing value, add " VH_OPT(
                     "missing='%s'") "; if the column holds symbols, fit it "
                                     "with " VH_OPT("emission='%s:categorical'") "%s",
                 c->example, VH_SHOW(name, strlen(name)),
                 choice ? "; to leave it out, name the others with " VH_OPT("columns") : "");
    return vh_fail(ctx, VHEM_EFORMAT, "%s: line %lld, %s: found '%s', expected a number%s%s", c->path,
                   (long long)c->line, where ? where : named, c->example,
                   c->n_text < c->n_number ? " as in other rows" : "", hint ? hint : ways);
}
