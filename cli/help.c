/* SPDX-License-Identifier: BSD-3-Clause */
/* help.c - prints the table of options of a command: as help, and as JSON for the record. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

enum { HELP_COLUMN = 24, HELP_WIDTH = 79 };

/* Words of the text from column `from` on, where the line already has `at` characters. */
static void wrap(FILE *f, const char *text, int from, int at)
{
    while (*text) {
        int n = (int)strcspn(text, " ");
        if (at > from && at + 1 + n > HELP_WIDTH) {
            fputc('\n', f);
            at = 0;
        }
        if (at < from) {
            fprintf(f, "%*s", from - at, "");
            at = from;
        } else if (at > from) {
            fputc(' ', f);
            at++;
        }
        fprintf(f, "%.*s", n, text);
        at += n;
        text += n;
        text += *text == ' ';
    }
    fputc('\n', f);
}

/* The default in words, "" for a flag. */
static const char *default_text(const cli_option *o, char *buf, size_t size)
{
    if (o->shown)
        return o->shown;
    switch (o->kind) {
    case OPT_FLAG: return "";
    case OPT_LIST: return "none";
    case OPT_INT: snprintf(buf, size, "%d", *(const int *)o->value); break;
    case OPT_SEED: snprintf(buf, size, "%llu", (unsigned long long)*(const uint64_t *)o->value); break;
    case OPT_REAL: snprintf(buf, size, "%g", *(const double *)o->value); break;
    case OPT_SIZE: return cli_put_size(*(const int64_t *)o->value, buf, size);
    case OPT_TEXT:
    case OPT_CHOICE: return *(const char *const *)o->value ? *(const char *const *)o->value : "none";
    }
    return buf;
}

static void help_row(FILE *f, const cli_option *o)
{
    char left[128], right[512], buf[64];
    const char *dflt = default_text(o, buf, sizeof buf);
    int at = snprintf(left, sizeof left, "  %c%c%s --%s%s%s", o->letter ? '-' : ' ',
                      o->letter ? o->letter : ' ', o->letter ? "," : " ", o->name,
                      o->kind == OPT_FLAG ? "" : " ", o->kind == OPT_FLAG ? "" : o->arg);
    fputs(left, f);
    if (at >= HELP_COLUMN - 1) {
        fputc('\n', f);
        at = 0;
    }
    snprintf(right, sizeof right, *dflt ? "%s (default: %s)" : "%s", o->help, dflt);
    wrap(f, right, HELP_COLUMN, at);
}

void cli_help(FILE *f, const char *command, const cli_usage *usage, const cli_option *common)
{
    fprintf(f, "Usage: vhem %s %s [OPTION]...\n\n", command, usage->args);
    wrap(f, usage->about, 0, 0);
    fprintf(f, "\nOptions:\n");
    for (const cli_option *o = usage->options; o->name; o++)
        help_row(f, o);
    fprintf(f, "\nCommon options:\n");
    for (const cli_option *o = common; o->name; o++)
        help_row(f, o);
    fprintf(f, "\nExamples:\n%s", usage->examples);
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
    case OPT_FLAG: return json_boolean(*(const bool *)o->value);
    case OPT_INT: return json_integer(*(const int *)o->value);
    case OPT_SEED: return json_integer((json_int_t) * (const uint64_t *)o->value);
    case OPT_REAL: return cli_json_real(*(const double *)o->value);
    case OPT_SIZE: return json_integer((json_int_t) * (const int64_t *)o->value);
    case OPT_TEXT:
    case OPT_CHOICE: break;
    }
    return cli_json_text(*(const char *const *)o->value);
}

json_t *cli_options_json(const cli_usage *usage)
{
    static const char *const without[] = { "output", "memory", NULL };
    json_t *all = json_object();
    for (const cli_option *o = usage->options; o->name; o++)
        if (!cli_one_of(o->name, without))
            json_object_set_new(all, o->name, value_json(o));
    return all;
}
