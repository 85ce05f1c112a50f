/* SPDX-License-Identifier: BSD-3-Clause */
/* help.c - prints the table of options of a command as help: what matters first, then the options of
 * particular methods and of reading data under headings of their own.  A command with many options shows
 * those that matter most, and all of them with --help-all. */
#include "cli.h"
#include "vhem.h"

#include <string.h>

enum { HELP_COLUMN = 24, HELP_WIDTH = 79 };

/* Words of the text from column `from` on, where the line already has `at` characters. */
static void put_wrapped(FILE *f, const char *text, int from, int at)
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
    if (o->kind == OPT_FLAG || o->shown)
        return o->kind == OPT_FLAG ? "" : o->shown;
    const char *text = cli_is_default(o) ? NULL : cli_value_text(o, buf, size);
    return text ? text : "none";
}

static void help_row(FILE *f, const cli_option *o)
{
    char left[128], right[600], buf[64];
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
    put_wrapped(f, right, HELP_COLUMN, at);
}

/* Options that the default method or model uses stand with those that all use. */
void cli_heading(const cli_option *o, char *text, size_t size)
{
    bool common =
        !o->methods || cli_has_word(o->methods, ' ', "vhem") || cli_has_word(o->methods, ' ', "hmm");
    size_t n = (size_t)snprintf(text, size, "%s",
                                o->heading ? o->heading
                                : common   ? "Options"
                                           : "Options of ");
    for (const char *p = o->heading || common ? "" : o->methods; *p && n + 3 < size; p++) {
        if (*p == ' ')
            text[n++] = ',';
        text[n++] = *p;
        text[n] = '\0';
    }
}

void cli_by_heading(const cli_option *rows, int n, int *order)
{
    char heading[160], other[160];
    bool done[CLI_MAX_OPTIONS] = { false };
    int at = 0;
    for (int k = 0; k < n; k++) {
        cli_heading(&rows[k], heading, sizeof heading);
        for (int e = k; e < n; e++) {
            cli_heading(&rows[e], other, sizeof other);
            if (!done[e] && strcmp(heading, other) == 0) {
                order[at++] = e;
                done[e] = true;
            }
        }
    }
}

/* Those that first names, in its order under one heading; returns how many are left out. */
static int help_first(FILE *f, const cli_table *t, const char *first)
{
    int shown = 0;
    fputs("\nOptions:\n", f);
    for (const char *word = first; word; word = strchr(word, ' '), word = word ? word + 1 : NULL)
        for (int k = 0; k < t->n; k++) {
            size_t n = strlen(t->row[k].name);
            if (strncmp(word, t->row[k].name, n) == 0 && (word[n] == ' ' || word[n] == '\0')) {
                help_row(f, &t->row[k]);
                shown++;
            }
        }
    return t->n - shown;
}

static void help_all(FILE *f, const cli_table *t)
{
    char heading[160], last[160] = "";
    int order[CLI_MAX_OPTIONS] = { 0 };
    cli_by_heading(t->row, t->n, order);
    for (int k = 0; k < t->n; k++) {
        cli_heading(&t->row[order[k]], heading, sizeof heading);
        if (strcmp(heading, last) != 0)
            fprintf(f, "\n%s:\n", heading);
        strcpy(last, heading);
        help_row(f, &t->row[order[k]]);
    }
}

/* The common options that matter most. */
static const char common_first[] = "seed threads quiet json help help-all";

const char *cli_method_about(const vhem_method_facts *m, char *text, size_t size)
{
    const char *takes = m->takes_data       ? " (sequences, not models)"
                        : !m->takes_hmms    ? " (dynamic textures)"
                        : m->takes_textures ? " (HMMs and dynamic textures)"
                                            : "";
    snprintf(text, size, "%s%s", m->about, takes);
    return text;
}

static void help_methods(FILE *f)
{
    vhem_method_facts m;
    fputs("\nMethods:\n", f);
    for (int i = 0; vhem_method_info(i, &m) == VHEM_OK; i++) {
        char left[64], right[256];
        int at = snprintf(left, sizeof left, "  %s", m.name);
        fputs(left, f);
        put_wrapped(f, cli_method_about(&m, right, sizeof right), HELP_COLUMN, at);
    }
}

/* Their names alone, for one screen. */
static void name_methods(FILE *f)
{
    vhem_method_facts m;
    char names[256] = "";
    int at = 0;
    for (int i = 0; at < (int)sizeof names && vhem_method_info(i, &m) == VHEM_OK; i++)
        at += snprintf(names + at, sizeof names - (size_t)at, i > 0 ? ", %s" : "%s", m.name);
    fputs("\nMethods:\n", f);
    put_wrapped(f, names, 2, 0);
}

const char cli_statuses[] = "\nExit status: 0 done, 1 failed, 2 wrong usage, 130 stopped by Ctrl-C.\n";

void cli_help(const cli *c, const cli_usage *usage, const cli_option *common)
{
    FILE *f = stdout;
    if (c->form == CLI_MAN) {
        cli_man(c->command, usage);
        return;
    }
    if (c->form == CLI_COMPLETION) {
        cli_completion(c->command, usage, common);
        return;
    }
    bool brief = usage->first && !c->help_all;
    fprintf(f, "Usage: vhem %s %s [OPTION]...\n\n", c->command, usage->args);
    put_wrapped(f, usage->about, 0, 0);
    if (usage->more && !brief) {
        fputc('\n', f);
        put_wrapped(f, usage->more, 0, 0);
    }
    int more = 0;
    if (brief)
        more = help_first(f, usage->table, usage->first);
    else
        help_all(f, usage->table);
    fprintf(f, "\nCommon options:\n");
    for (const cli_option *o = common; o->name; o++)
        if (!brief || cli_has_word(common_first, ' ', o->name))
            help_row(f, o);
        else
            more++;
    if (brief)
        fprintf(f, "\n'vhem %s --help-all' shows %d more options.\n", c->command, more);
    if (usage->methods)
        (brief ? name_methods : help_methods)(f);
    fprintf(f, "\nExamples:\n%s", usage->examples);
    fputs(cli_statuses, f);
}
