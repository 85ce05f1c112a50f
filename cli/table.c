/* SPDX-License-Identifier: BSD-3-Clause */
/* table.c - the table of options of a command: its own rows, and rows for the fields of options records, of
 * which the library knows names, ranges, choices, defaults and help. */
#include "cli.h"
#include "vhem.h"
#include "os/path.h"
#include "os/stream.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { LONG_LIST = 60 }; /* letters of choices that are too many to stand in the help */

const char cli_data_heading[] = "How to read DATA";

/* Names that the command line spells out. */
static const struct {
    const char *field, *name;
} spelled[] = { { "S", "states" }, { "M", "mix" }, { "min_items", "min-examples" } };

/* Options that change no result. */
static const char not_kept[] = "output models memory store no-store checkpoint";

bool cli_has_word(const char *list, char separator, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; p && n; p = strchr(p, separator), p = p ? p + 1 : NULL)
        if (strncmp(p, word, n) == 0 && (p[n] == separator || p[n] == '\0'))
            return true;
    return false;
}

int cli_emission(cli *c, const char *cov, const char **emission)
{
    const char *wanted = !cov ? NULL : strcmp(cov, "full") == 0 ? "gaussian-full" : "gaussian-diag";
    if (wanted && *emission && strcmp(wanted, *emission) != 0)
        return cli_misuse(c, "--cov %s asks for %s, but --emission for %s", cov, wanted, *emission);
    *emission = wanted ? wanted : *emission;
    return CLI_GO;
}

cli_option *cli_row_named(const cli_table *t, const char *name)
{
    for (int k = 0; k < t->n; k++)
        if (strcmp(t->row[k].name, name) == 0)
            return (cli_option *)&t->row[k];
    return NULL;
}

vhem_option cli_field(vhem_option_set set, const char *name)
{
    vhem_option o = { 0 };
    for (int i = 0; vhem_option_info(set, i, &o) == VHEM_OK && strcmp(o.name, name) != 0;)
        i++;
    return o;
}

int cli_check_prior(cli *c, const char *option, bool of_fit, const char *prior)
{
    bool word = prior && prior[0] && !prior[strcspn(prior, "=:{./")]; /* else settings, or clearly a file */
    if (!word || (of_fit && cli_has_word("none vb eb", ' ', prior)) || vh_path_exists(prior))
        return CLI_GO;
    return cli_misuse(
        c, "%s takes %s, or a file with a prior, and '%s' is not a file", option,
        of_fit ? "none, vb or eb, settings such as nu0=2,count=1" : "settings such as nu=5,scale=2", prior);
}

/* A text that lives as long as the table. */
__attribute__((format(printf, 2, 3))) static const char *keep(cli_table *t, const char *fmt, ...)
{
    char *text = t->text + t->used;
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof t->text - t->used, fmt, ap);
    va_end(ap);
    t->used += n >= 0 && t->used + (size_t)n + 1 < sizeof t->text ? (size_t)n + 1 : 0;
    return text;
}

/* A letter belongs to the row that has it first. */
static bool is_taken(const cli_table *t, char letter)
{
    for (int k = 0; k < t->n; k++)
        if (letter && t->row[k].letter == letter)
            return true;
    return false;
}

void cli_add(cli_table *t, const cli_option *rows)
{
    for (; rows->name && t->n < CLI_MAX_OPTIONS - 10; rows++) { /* the common options come after them */
        bool taken = is_taken(t, rows->letter);
        t->row[t->n] = *rows;
        t->row[t->n++].letter = taken ? 0 : rows->letter;
    }
}

void cli_add_output(cli_table *t, const char **output, const char *help)
{
    cli_add(t, (const cli_option[]){
                   { "output", 'o', OPT_TEXT, "FILE", output, .shown = "-, standard output", .help = help },
                   { 0 } });
}

void cli_add_cov(cli_table *t, const char **cov, const char *user, const char *name)
{
    cli_add(t, (const cli_option[]){ { "cov", 0, OPT_CHOICE, "diag|full", cov, .shown = "diag",
                                       .help = "short for --emission gaussian-diag or gaussian-full",
                                       .methods = name, .user = user },
                                     { 0 } });
}

static cli_kind kind_of(const vhem_option *o)
{
    static const cli_kind kinds[] = {
        [VHEM_OPTION_INT] = OPT_INT,   [VHEM_OPTION_INT64] = OPT_INT64,   [VHEM_OPTION_REAL] = OPT_REAL,
        [VHEM_OPTION_TEXT] = OPT_TEXT, [VHEM_OPTION_CHOICE] = OPT_CHOICE, [VHEM_OPTION_FLAG] = OPT_FLAG
    };
    return strcmp(o->name, "memory") == 0 ? OPT_SIZE : kinds[o->type];
}

static const char *long_name(cli_table *t, const vhem_option *o, bool off)
{
    for (size_t k = 0; k < sizeof spelled / sizeof *spelled; k++)
        if (strcmp(o->name, spelled[k].field) == 0)
            return spelled[k].name;
    char *name = (char *)keep(t, "%s%s", off ? "no-" : "", o->name);
    for (char *p = name; *p; p++)
        *p = *p == '_' ? '-' : *p;
    return name;
}

/* Whose names stand in the rows of a record, as those that use an option. */
static const char *user_of(vhem_option_set set)
{
    return set == VHEM_FIT_OPTIONS ? "model" : set == VHEM_DISTANCE_OPTIONS ? "kind" : "method";
}

/* The row of one field, before the command has changed anything. */
static cli_option row_of_field(cli_table *t, const vhem_option *o, const char *user, void *record)
{
    bool off = o->type == VHEM_OPTION_FLAG && strcmp(o->fallback, "1") == 0;
    cli_option row = { .letter = o->letter, .kind = kind_of(o), .arg = o->argument, .off = off };
    row.name = long_name(t, o, off);
    row.value = (char *)record + o->offset;
    row.least = o->least;
    row.shown = o->fallback;
    row.help = off ? keep(t, "do not %s", o->help) : o->help;
    row.methods = o->methods;
    row.user = user;
    row.words = o->type == VHEM_OPTION_CHOICE ? o->argument : NULL;
    if (row.words && strlen(row.words) > LONG_LIST)
        row.arg = "NAME"; /* of a method; the help lists them below */
    return row;
}

static void change_row(cli_table *t, const cli_change *change, const char *field, cli_option *row)
{
    for (; change && change->field; change++) {
        if (strcmp(change->field, field) != 0)
            continue;
        if (change->name) {
            row->name = change->name;
            row->letter = change->letter;
        }
        row->least = change->least > 0 ? change->least : row->least;
        row->shown = change->shown ? change->shown : row->shown;
        row->help = change->help ? change->help : row->help;
        row->file = change->file;
        row->upto = change->upto;
        if (change->file)
            row->arg = keep(t, "%s|FILE", row->arg);
    }
}

void cli_add_fields(cli_table *t, const cli_fields *f)
{
    vhem_option o;
    for (int i = 0; vhem_option_info(f->set, i, &o) == VHEM_OK; i++) {
        if ((f->only && !cli_has_word(f->only, ' ', o.name)) || cli_has_word(f->without, ' ', o.name))
            continue;
        cli_option rows[] = { row_of_field(t, &o, user_of(f->set), f->record), { 0 } };
        rows[0].heading = f->heading;
        change_row(t, f->change, o.name, &rows[0]);
        cli_add(t, rows);
    }
}

void cli_add_data(cli_table *t, vhem_data_options *opt, const char *group_help)
{
    const cli_change change[] = { { .field = "group", .help = group_help }, { 0 } };
    cli_add_fields(t, &(cli_fields){ VHEM_DATA_OPTIONS, opt, .without = group_help ? NULL : "group",
                                     .heading = cli_data_heading, .change = change });
}

/* ---- values -------------------------------------------------------------------------------------------- */

bool cli_is_default(const cli_option *o)
{
    switch (o->kind) {
    case OPT_FLAG:
    case OPT_INT: return *(const int *)o->value < 0;
    case OPT_INT64:
    case OPT_SIZE: return *(const int64_t *)o->value < 0;
    case OPT_REAL: return *(const double *)o->value < 0;
    case OPT_LIST: return ((const cli_texts *)o->value)->n == 0;
    case OPT_TEXT:
    case OPT_CHOICE: break;
    }
    return !*(const char *const *)o->value && !(o->file && *o->file);
}

const char *cli_value_text(const cli_option *o, char *buf, size_t size)
{
    switch (o->kind) {
    case OPT_FLAG: return "";
    case OPT_LIST: return NULL;
    case OPT_INT:
        if (*(const int *)o->value == VHEM_AUTO)
            return "auto";
        snprintf(buf, size, "%d", *(const int *)o->value);
        break;
    case OPT_INT64: snprintf(buf, size, "%lld", (long long)*(const int64_t *)o->value); break;
    case OPT_SIZE: return cli_put_size(*(const int64_t *)o->value, buf, size);
    case OPT_TEXT:
    case OPT_CHOICE: return o->file && *o->file ? *o->file : *(const char *const *)o->value;
    case OPT_REAL: cli_number_text(*(const double *)o->value, buf, size); break;
    }
    return buf;
}

/* "200; dtm: 100" is 100 for dtm, else 200. */
static void default_word(const char *shown, const char *method, char *word, size_t size)
{
    const char *part = shown ? shown : "", *colon;
    snprintf(word, size, "%.*s", (int)strcspn(part, ";"), part);
    while (method && (part = strchr(part, ';')) != NULL) {
        size_t n = strcspn(++part, ";");
        char names[128];
        part += *part == ' ';
        snprintf(names, sizeof names, "%.*s", (int)strcspn(part, ":;"), part);
        colon = memchr(part, ':', n);
        for (char *p = names; colon && *p; p++)
            if (*p == ',' && p[1] == ' ')
                memmove(p, p + 1, strlen(p)); /* "a, b" becomes "a b" */
        if (colon && cli_has_word(names, ' ', method))
            snprintf(word, size, "%.*s", (int)strcspn(colon + 2, ";"), colon + 2);
    }
}

/* What the words of a default come to; "as the input" is not known. */
static json_t *default_json(const cli_option *o, const char *method)
{
    char word[64], *end;
    default_word(o->shown, method, word, sizeof word);
    if (o->kind == OPT_CHOICE)
        return cli_has_word(o->words ? o->words : o->arg, '|', word) ? json_string(word) : json_null();
    double x = strtod(word, &end);
    if (!word[0] || *end || o->kind == OPT_TEXT || o->kind == OPT_SIZE)
        return json_null();
    return o->kind == OPT_REAL ? cli_json_real(x) : json_integer((json_int_t)x);
}

static json_t *value_json(const cli_option *o)
{
    json_t *all;
    switch (o->kind) {
    case OPT_LIST:
        all = json_array();
        for (int k = 0; k < ((const cli_texts *)o->value)->n; k++)
            json_array_append_new(all, cli_json_text(((const cli_texts *)o->value)->text[k]));
        return all;
    case OPT_FLAG: return json_boolean(o->off ? *(const int *)o->value == 0 : *(const int *)o->value > 0);
    case OPT_INT:
        return *(const int *)o->value == VHEM_AUTO ? json_string("auto")
               : o->upto && *o->upto > 0           ? json_sprintf("%d..%d", *(const int *)o->value, *o->upto)
                                                   : json_integer(*(const int *)o->value);
    case OPT_INT64:
    case OPT_SIZE: return json_integer((json_int_t) * (const int64_t *)o->value);
    case OPT_REAL: return cli_json_real(*(const double *)o->value);
    case OPT_TEXT:
    case OPT_CHOICE: break;
    }
    return cli_json_text(o->file && *o->file ? *o->file : *(const char *const *)o->value);
}

/* Is --cov left to --emission, which is given? */
static bool has_emission(const cli_usage *usage, const cli_option *cov)
{
    const cli_option *emission = cli_row_named(usage->table, "emission");
    return emission && cli_is_default(cov) && !cli_is_default(emission);
}

bool cli_is_useless(const cli_option *o, const char *user, const char *name)
{
    return o->methods && strcmp(o->user, user) == 0 && !cli_has_word(o->methods, ' ', name);
}

json_t *cli_options_json(const cli_usage *usage, const char *user, const char *name)
{
    json_t *all = json_object();
    for (int k = 0; k < usage->table->n; k++) {
        const cli_option *o = &usage->table->row[k];
        bool left = strcmp(o->name, "cov") == 0 && has_emission(usage, o);
        if (cli_has_word(not_kept, ' ', o->name) || left || cli_is_useless(o, user, name))
            continue;
        bool unknown = o->kind != OPT_FLAG && o->kind != OPT_LIST && cli_is_default(o);
        json_object_set_new(all, o->name, unknown ? default_json(o, name) : value_json(o));
    }
    return all;
}
