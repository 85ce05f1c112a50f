/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c - reads the arguments of a command by its table of options, on getopt_long. */
#include "cli.h"
#include "os/path.h"
#include "os/stream.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_LONG = 256 }; /* long option k is FIRST_LONG + k: no letter is that large */

typedef struct { /* the command's rows, then the common ones, as getopt_long wants them */
    cli_option row[CLI_MAX_OPTIONS];
    struct option longs[CLI_MAX_OPTIONS];
    char letters[2 * CLI_MAX_OPTIONS + 3];
    int n, n_own;
} parser;

static void common_rows(cli *c, const cli_usage *usage, cli_option *row)
{
    const cli_option rows[] = {
        { "force", 0, OPT_FLAG, NULL, &c->force, .help = "allow the output to overwrite an input file" },
        { "seed", 0, OPT_INT64, "N", &c->seed, .help = "seed of the random numbers; same seed, same result" },
        { "threads", 't', OPT_INT, "N", &c->threads, .help = "threads to use; 0 is one for each core" },
        { "backend", 0, OPT_TEXT, "NAME", &c->backend, .shown = "the best usable here",
          .help = "which kernels compute; vhem --version lists them" },
        { "max-memory", 0, OPT_SIZE, "SIZE", &c->max_memory, .shown = "no limit",
          .help = "memory limit of the whole process, such as 4G; beyond it the command fails" },
        { "quiet", 'q', OPT_FLAG, NULL, &c->quiet, .help = "no progress and no summary on standard error" },
        { "verbose", 0, OPT_FLAG, NULL, &c->verbose,
          .help = "also log which device runs each step, for example the GPU" },
        { "json", 'j', OPT_FLAG, NULL, &c->json, .help = "print the result as JSON on standard output" },
        { "help", 'h', OPT_FLAG, NULL, &c->help,
          .help = usage->first ? "print the options that matter most" : "print this text" },
        { "help-all", 0, OPT_FLAG, NULL, &c->help_all,
          .help = usage->first ? "print all options" : "the same: there are no more" },
        { 0 },
    };
    int first = cli_writes(usage) ? 0 : 1; /* --force is for outputs */
    memcpy(row, rows + first, sizeof rows - (size_t)first * sizeof *rows);
}

static void build_parser(cli *c, const cli_usage *usage, parser *t)
{
    memset(t, 0, sizeof *t);
    t->n_own = usage->table->n;
    memcpy(t->row, usage->table->row, (size_t)t->n_own * sizeof *t->row);
    common_rows(c, usage, t->row + t->n_own);

    /* '-' hands over plain arguments in order, whatever POSIXLY_CORRECT says; ':' reports a missing
     * argument. */
    char *p = t->letters;
    *p++ = '-';
    *p++ = ':';
    for (t->n = 0; t->row[t->n].name; t->n++) {
        const cli_option *o = &t->row[t->n];
        int arg = o->kind == OPT_FLAG ? no_argument : required_argument;
        t->longs[t->n] = (struct option){ o->name, arg, NULL, FIRST_LONG + t->n };
        if (o->letter) {
            *p++ = o->letter;
            if (arg == required_argument)
                *p++ = ':';
        }
    }
}

static const cli_option *row_of(const parser *t, int code)
{
    for (int k = 0; k < t->n; k++)
        if (code == FIRST_LONG + k || (t->row[k].letter && code == t->row[k].letter))
            return &t->row[k];
    return NULL;
}

static int edit_distance(const char *a, const char *b)
{
    enum { MAX = 32 };
    int row[MAX + 1], n = (int)strlen(b);
    if (n > MAX || strlen(a) > MAX)
        return MAX;
    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (int i = 0; a[i]; i++) {
        int diagonal = row[0];
        row[0] = i + 1;
        for (int j = 0; j < n; j++) {
            int best = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            best = best < diagonal + 1 ? best : diagonal + 1;
            row[j + 1] = best < row[j] + 1 ? best : row[j] + 1;
        }
    }
    return row[n];
}

const char *cli_nearest(const char *word, const char *const *names, int n)
{
    const char *found = NULL;
    int least = 3;
    for (int k = 0; k < n; k++) {
        int away = edit_distance(word, names[k]);
        if (away < least && away < (int)strlen(names[k])) {
            least = away;
            found = names[k];
        }
    }
    return found;
}

static int unknown_option(cli *c, const parser *t, const char *word)
{
    char name[64];
    const char *names[CLI_MAX_OPTIONS], *near = NULL;
    if (strncmp(word, "--", 2) == 0) {
        int matches = 0;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
        for (int k = 0; k < t->n; k++) {
            names[k] = t->row[k].name;
            matches += strncmp(name, names[k], strlen(name)) == 0;
        }
        if (matches > 1)
            return cli_misuse(c, "--%s could be several options; write it out", name);
        near = cli_nearest(name, names, t->n);
    }
    return cli_misuse(c, "there is no option '%s'%s%s%s", word, near ? "; did you mean --" : "",
                      near ? near : "", near ? "?" : "");
}

/* ---- values -------------------------------------------------------------------------------------------- */

/* "2..6": the value, and where it ends.  NULL, or what is wrong with it. */
static const char *read_range(const cli_option *o, const char *text)
{
    int from, to, n = 0;
    if (strspn(text, ".0123456789") != strlen(text) || sscanf(text, "%9d..%9d%n", &from, &to, &n) != 2
        || text[n] || from < o->least || to < from)
        return "";
    *(int *)o->value = from;
    *o->upto = to;
    return NULL;
}

/* The number and nothing but the number: strtod and its like skip blanks and take "inf" and hexadecimals.
 * NULL, or what is wrong with it. */
static const char small[] = "", large[] = " that fits";

static const char *read_real(const cli_option *o, const char *text)
{
    char *end = NULL;
    double x = strtod(text, &end);
    if (*end || x < o->least || !isfinite(x))
        return isinf(x) ? large : small;
    *(double *)o->value = x;
    return NULL;
}

static const char *read_number(const cli_option *o, const char *text)
{
    char *end = NULL;
    bool automatic = o->kind == OPT_INT && cli_has_word(o->arg, '|', "auto");
    if (automatic && strcmp(text, "auto") == 0) {
        *(int *)o->value = VHEM_AUTO;
        return NULL;
    }
    if (o->upto && strstr(text, ".."))
        return read_range(o, text);
    if (!text[0] || strspn(text, "+-.0123456789eE") != strlen(text))
        return small;
    if (o->kind == OPT_REAL)
        return read_real(o, text);
    errno = 0;
    long long x = strtoll(text, &end, 10), most = o->kind == OPT_INT ? INT_MAX : LLONG_MAX;
    if (*end || (double)x < o->least)
        return small;
    if (errno || x > most || (automatic && x == VHEM_AUTO)) /* which stands for the word */
        return large;
    if (o->kind == OPT_INT)
        *(int *)o->value = (int)x;
    else
        *(int64_t *)o->value = x;
    return NULL;
}

static int take_number(cli *c, const cli_option *o, const char *text)
{
    const char *wrong = read_number(o, text), *whole = o->kind == OPT_REAL ? "" : "whole ";
    const char *more = o->upto ? ", a range like 2..6, or auto" : "";
    if (!wrong)
        return CLI_GO;
    if (o->least > 0 && o->least < 1e-200)
        return cli_misuse(c, "--%s needs a number above 0%s, not '%s'", o->name, wrong, text);
    return cli_misuse(c, "--%s needs a %snumber of at least %g%s%s, not '%s'", o->name, whole, o->least,
                      wrong, more, text);
}

static int take_choice(cli *c, const cli_option *o, const char *text)
{
    const char *words = o->words ? o->words : o->arg;
    char list[512];
    size_t n = 0;
    if (cli_has_word(words, '|', text) || (strchr(text, ':') && strstr(words, "COL:"))) {
        *(const char **)o->value = text;
        return CLI_GO;
    }
    if (o->file && cli_is_path(text)) {
        *o->file = text;
        return CLI_GO;
    }
    for (; *words && n + 3 < sizeof list; words++) {
        list[n++] = *words == '|' ? ',' : *words;
        if (*words == '|')
            list[n++] = ' ';
    }
    list[n] = '\0';
    if (o->file)
        return cli_misuse(c, "--%s is %s or a file; '%s' is none of them", o->name, list, text);
    return cli_misuse(c, "--%s is one of %s, not '%s'", o->name, list, text);
}

static int take_item(cli *c, const cli_option *o, const char *text)
{
    cli_texts *list = o->value;
    if (list->n == CLI_MAX_ARGS)
        return cli_misuse(c, "--%s takes at most %d of %s", o->name, CLI_MAX_ARGS, o->arg);
    list->text[list->n++] = text;
    return CLI_GO;
}

static int take_value(cli *c, const cli_option *o, const char *text)
{
    switch (o->kind) {
    case OPT_FLAG: *(int *)o->value = !o->off; return CLI_GO;
    case OPT_CHOICE: return take_choice(c, o, text);
    case OPT_LIST: return take_item(c, o, text);
    case OPT_INT:
    case OPT_INT64:
    case OPT_REAL: return take_number(c, o, text);
    case OPT_TEXT:
        if (!text[0])
            return cli_misuse(c, "--%s needs a %s, not an empty text", o->name, o->arg);
        *(const char **)o->value = text;
        return CLI_GO;
    case OPT_SIZE: break;
    }
    if (!cli_read_size(text, o->value))
        return cli_misuse(c, "--%s needs bytes or a size such as 64K, 512M or 2G, not '%s'", o->name, text);
    return CLI_GO;
}

/* Of two values one would be lost without a word; flags and lists may be repeated. */
static int take_once(cli *c, const parser *t, const cli_option *o, const char *text)
{
    bool *given = &c->given[o - t->row];
    if (*given && o->kind != OPT_FLAG && o->kind != OPT_LIST)
        return cli_misuse(c, "--%s is given twice", o->name);
    *given = true;
    return take_value(c, o, text);
}

/* ---- the command line ---------------------------------------------------------------------------------- */

static int add_argument(cli *c, const cli_usage *usage, const char *text)
{
    if (c->n_arg >= usage->n_max && usage->merges && vh_path_exists(text))
        return cli_misuse(
            c, "one file at a time; to take several together, merge them: vhem convert %s %s -o all.h5",
            c->arg[0], text);
    if (c->n_arg >= usage->n_max)
        return cli_misuse(c, "unexpected argument '%s'; the command is: vhem %s %s", text, c->command,
                          usage->args);
    c->arg[c->n_arg++] = text;
    return CLI_GO;
}

static int parse_arguments(cli *c, int argc, char **argv, const cli_usage *usage, const parser *t)
{
    int code;
    const cli_option *list = NULL; /* what follows it goes there */
    while ((code = getopt_long(argc, argv, t->letters, t->longs, NULL)) != -1) {
        const cli_option *o = row_of(t, code == '?' || code == ':' ? optopt : code);
        char letter[] = { '-', (char)optopt, '\0' };
        if (code == ':')
            return cli_misuse(c, "--%s needs its argument, %s", o->name, o->arg);
        if (code == '?' && o)
            return cli_misuse(c, "--%s takes no argument", o->name);
        if (code == '?')
            return unknown_option(c, t, optopt && optopt < FIRST_LONG ? letter : argv[optind - 1]);
        if (code == 1)
            CLI_TRY(list ? take_item(c, list, optarg) : add_argument(c, usage, optarg));
        else
            CLI_TRY(take_once(c, t, o, optarg));
        list = code == 1 ? list : o->kind == OPT_LIST ? o : NULL;
    }
    while (optind < argc)
        CLI_TRY(add_argument(c, usage, argv[optind++]));
    return CLI_GO;
}

/* Help is asked for before any value is taken: what it shows are the defaults. */
static bool wants_help(cli *c, int argc, char **argv, const parser *t)
{
    int code;
    opterr = 0;
    optind = 0; /* 0, not 1, makes getopt of the GNU C library start again */
    while (!c->help && !c->help_all && (code = getopt_long(argc, argv, t->letters, t->longs, NULL)) != -1) {
        const cli_option *o = row_of(t, code);
        c->help = o && o->value == &c->help;
        c->help_all = o && o->value == &c->help_all;
    }
    optind = 0;
    return c->help || c->help_all;
}

int cli_parse(cli *c, int argc, char **argv, const cli_usage *usage)
{
    parser t;
    build_parser(c, usage, &t);
    if (wants_help(c, argc, argv, &t)) {
        cli_help(c, usage, t.row + t.n_own);
        return EXIT_DONE;
    }
    CLI_TRY(parse_arguments(c, argc, argv, usage, &t));
    if (c->n_arg < usage->n_min)
        return cli_misuse(c, "too few arguments; the command is: vhem %s %s", c->command, usage->args);
    return cli_check_overwrite(c, usage);
}

int cli_begin(cli *c, int argc, char **argv, const cli_usage *usage)
{
    CLI_TRY(cli_parse(c, argc, argv, usage));
    return cli_open(c, usage);
}

enum { MOST_NAMED = 5 }; /* of what does use an option */

int cli_check_uses(cli *c, const cli_usage *usage, const char *user, const char *name)
{
    for (int k = 0; k < usage->table->n; k++) {
        const cli_option *o = &usage->table->row[k];
        if (!c->given[k] || !cli_is_useless(o, user, name))
            continue;
        int others = 1;
        for (const char *p = o->methods; (p = strchr(p, ' ')); p++)
            others++;
        if (others > MOST_NAMED)
            return cli_misuse(c, "%s %s does not use --%s", user, name, o->name);
        return cli_misuse(c, "%s %s does not use --%s; %s%s %s %s", user, name, o->name, user,
                          cli_plural(others), o->methods, others == 1 ? "does" : "do");
    }
    return CLI_GO;
}

/* As it would be typed. */
static void repeat_one(const cli_option *o, FILE *f)
{
    char buf[64];
    const char *text = cli_value_text(o, buf, sizeof buf);
    fprintf(f, " --%s", o->name);
    if (text && *text) {
        fputc(*text == '-' ? '=' : ' ', f);
        cli_put_word(f, text);
    }
    for (int k = 0; o->kind == OPT_LIST && k < ((const cli_texts *)o->value)->n; k++) {
        fputc(' ', f);
        cli_put_word(f, ((const cli_texts *)o->value)->text[k]);
    }
}

const char *cli_repeat(const cli *c, const cli_usage *usage, const char *skip, char *text, size_t size)
{
    cli_option common[CLI_MAX_OPTIONS];
    cli copy = *c;
    int k;
    char *line = NULL;
    size_t n;
    FILE *f = vh_memory_open(&line, &n);
    if (!f)
        return cli_text_close(f, &line, &n, text, size);
    for (k = 0; k < usage->table->n; k++)
        if (c->given[k] && !cli_has_word(skip, ' ', usage->table->row[k].name))
            repeat_one(&usage->table->row[k], f);
    common_rows(&copy, usage, common);
    for (const cli_option *o = common; o->name; o++, k++)
        if (c->given[k] && cli_has_word("seed backend", ' ', o->name) && !cli_has_word(skip, ' ', o->name))
            repeat_one(o, f);
    return cli_text_close(f, &line, &n, text, size);
}

const char *cli_repeat_reading(const cli *c, const cli_usage *usage, const char *skip, char *text,
                               size_t size)
{
    char *line = NULL;
    size_t n;
    FILE *f = vh_memory_open(&line, &n);
    if (!f)
        return cli_text_close(f, &line, &n, text, size);
    for (int k = 0; k < usage->table->n; k++) {
        const cli_option *o = &usage->table->row[k];
        if (c->given[k] && o->heading == cli_data_heading && !cli_has_word(skip, ' ', o->name))
            repeat_one(o, f);
    }
    return cli_text_close(f, &line, &n, text, size);
}
