/* SPDX-License-Identifier: BSD-3-Clause */
/* pages.c - the table of options of a command as part of the man page and of the shell completion, which
 * scripts/pages puts together. */
#include "cli.h"
#include "vhem.h"

#include <ctype.h>
#include <string.h>

/* ---- man page ------------------------------------------------------------------------------------------ */

/* The text as troff takes it. */
static void put_troff(const char *text)
{
    for (; *text; text++)
        if (*text == '-')
            fputs("\\-", stdout);
        else if (*text == '\\')
            fputs("\\e", stdout);
        else
            putchar(*text);
}

/* A paragraph, one line of the source for each sentence. */
void cli_man_text(const char *text)
{
    while (*text) {
        const char *end = strstr(text, ". ");
        int n = end ? (int)(end - text) + 1 : (int)strlen(text);
        char line[2048];
        snprintf(line, sizeof line, "%.*s", n, text);
        if (line[0] == '.' || line[0] == '\'')
            fputs("\\&", stdout);
        put_troff(line);
        putchar('\n');
        text += n;
        text += *text == ' ';
    }
}

static void man_row(const cli_option *o)
{
    char text[800];
    bool flag = o->kind == OPT_FLAG;
    fputs(".TP\n", stdout);
    if (o->letter)
        printf("\\fB\\-%c\\fR, ", o->letter);
    fputs("\\fB", stdout);
    put_troff("--");
    put_troff(o->name);
    fputs(flag ? "\\fR" : "\\fR \\fI", stdout);
    if (!flag)
        put_troff(o->arg);
    fputs(flag ? "\n" : "\\fR\n", stdout);
    char buf[64];
    const char *value = o->shown ? o->shown : cli_is_default(o) ? "none" : cli_value_text(o, buf, sizeof buf);
    snprintf(text, sizeof text, flag ? "%s." : "%s (default: %s).", o->help, value);
    if (text[strcspn(text, " :")] != ':') /* a choice is explained as it is typed */
        text[0] = (char)toupper((unsigned char)text[0]);
    cli_man_text(text);
}

void cli_man_rows(const cli_option *rows, int n)
{
    char heading[160], last[160] = "Options";
    int order[CLI_MAX_OPTIONS] = { 0 };
    cli_by_heading(rows, n, order);
    for (int k = 0; k < n; k++) {
        cli_heading(&rows[order[k]], heading, sizeof heading);
        if (strcmp(heading, last) != 0 && strcmp(heading, "Options") != 0) {
            fputs(".PP\n", stdout);
            put_troff(heading);
            fputs(":\n", stdout);
        }
        snprintf(last, sizeof last, "%s", heading);
        man_row(&rows[order[k]]);
    }
}

static void man_methods(void)
{
    vhem_method_facts m;
    char text[256];
    fputs(".PP\nMethods:\n", stdout);
    for (int i = 0; vhem_method_info(i, &m) == VHEM_OK; i++) {
        fputs(".TP\n.B ", stdout);
        put_troff(m.name);
        putchar('\n');
        cli_man_text(cli_method_about(&m, text, sizeof text));
    }
}

/* How data is read is told once, but for what a group means here. */
void cli_man(const char *command, const cli_usage *usage)
{
    cli_option rows[CLI_MAX_OPTIONS];
    bool reads = false;
    int n = 0;
    for (int k = 0; k < usage->table->n; k++) {
        const cli_option *o = &usage->table->row[k];
        bool data = o->heading == cli_data_heading;
        reads |= data;
        if (data && strcmp(o->name, "group") != 0)
            continue;
        rows[n] = *o;
        rows[n++].heading = NULL;
    }
    printf(".SS %s\n.B vhem ", command);
    put_troff(command);
    fputs("\n.I ", stdout);
    put_troff(usage->args);
    fputs("\n.RI [ OPTION ]...\n.PP\n", stdout);
    cli_man_text(usage->about);
    if (usage->more) {
        fputs(".PP\n", stdout);
        cli_man_text(usage->more);
    }
    if (reads)
        fputs("Options that say how to read data are described under\n.BR \"HOW DATA ARE READ\" .\n", stdout);
    cli_man_rows(rows, n);
    if (usage->methods && strcmp(command, "cluster") == 0)
        man_methods();
    fputs(".PP\nExamples:\n.PP\n.EX\n", stdout);
    put_troff(usage->examples);
    fputs(".EE\n", stdout);
}

/* ---- completion ---------------------------------------------------------------------------------------- */

static void put_words(const char *command, const cli_option *o)
{
    const char *words = o->words ? o->words : o->arg;
    if (o->kind != OPT_CHOICE)
        return;
    printf("words %s --%s ", command, o->name);
    const char *pattern = strstr(words, "|COL:"); /* a form, not a word */
    for (; *words && words != pattern; words++)
        putchar(*words == '|' ? ' ' : *words);
    puts(o->file ? " FILE" : "");
}

/* Lines "options COMMAND --a --b" and "words COMMAND --a x y", with _ in the name of a part. */
void cli_completion(const char *command, const cli_usage *usage, const cli_option *common)
{
    char name[64];
    snprintf(name, sizeof name, "%s", command);
    for (char *p = name; *p; p++)
        *p = *p == ' ' ? '_' : *p;
    printf("options %s", name);
    for (int k = 0; k < usage->table->n; k++)
        printf(" --%s", usage->table->row[k].name);
    for (const cli_option *o = common; o->name; o++)
        printf(" --%s", o->name);
    putchar('\n');
    for (int k = 0; k < usage->table->n; k++)
        put_words(name, &usage->table->row[k]);
}
