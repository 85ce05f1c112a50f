/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - the table of commands. */
#include "cli.h"
#include "vhem.h"
#include "os/fd.h"

#include <stdlib.h>
#include <string.h>

static const cli_command commands[] = {
    { "demo", cmd_demo, "write a small data set to try the other commands on" },
    { "fit", cmd_fit, "fit one model to each sequence, or to each group of sequences" },
    { "cluster", cmd_cluster, "group sequences, or models, into clusters, each with a centre" },
    { "tree", cmd_tree, "build a hierarchy of clusters, level by level" },
    { "assign", cmd_assign, "put new sequences or models into clusters" },
    { "choose", cmd_choose, "compare numbers of clusters and states" },
    { "score", cmd_score, "log-likelihood of sequences under models" },
    { "decode", cmd_decode, "most likely state path of each sequence" },
    { "background", cmd_background, "fit Gaussians that all HMMs share" },
    { "sample", cmd_sample, "draw sequences from models" },
    { "compare", cmd_compare, "distances between models: divergences and kernels" },
    { "eval", cmd_eval, "measure how good clusters are, by classes, models and sequences" },
    { "stats", cmd_stats, "scores of persons under the centres, and tests between clusters and groups" },
    { "classify", cmd_classify, "learn models of classes, classify by them, judge them" },
    { "annotate", cmd_annotate, "learn models of tags, tag songs, find songs by tag" },
    { "report", cmd_report, "write an HTML page with pictures, tables and how they were made" },
    { "info", cmd_info, "show what is in a file of models, clusters or data" },
    { "convert", cmd_convert, "write models or data in another format" },
    { 0 },
};

static const char dealt[] = "fit cluster tree compare"; /* those that vhem-mpi shares out */

bool cli_runs_on_ranks(const char *command)
{
    return cli_has_word(dealt, ' ', command);
}

static int overview_of_ranks(FILE *f, int status)
{
    fprintf(f, "Usage: mpirun -n N vhem-mpi COMMAND [OPTION]... ARGUMENT...\n\n"
               "Runs commands of vhem on N ranks of an MPI job; the result is the same to the last bit.\n\n"
               "Commands:\n");
    for (const cli_command *k = commands; k->name; k++)
        if (cli_runs_on_ranks(k->name))
            fprintf(f, "  %-12s%s\n", k->name, k->help);
    fprintf(f, "\nAll other commands run in one process: use vhem COMMAND for them.\n"
               "\n  vhem-mpi COMMAND --help   the options that matter most; they are those of vhem COMMAND\n"
               "\nFor example: mpirun -n 8 vhem-mpi cluster models.h5 -k 10 -o clusters.json\n");
    return status;
}

/* Of several ranks the first prints it. */
static int overview(const cli *c, FILE *f, int status)
{
    if (!cli_is_first(c))
        return status;
    if (c->ranks)
        return overview_of_ranks(f, status);
    fprintf(f, "Usage: vhem COMMAND [OPTION]... ARGUMENT...\n\n"
               "Groups sequences by the way they move, and clusters hidden Markov models.\n\nCommands:\n");
    for (const cli_command *k = commands; k->name; k++)
        fprintf(f, "  %-12s%s\n", k->name, k->help);
    fprintf(f, "\n  vhem COMMAND --help       the options of a command that matter most, and their defaults\n"
               "  vhem COMMAND --help-all   all of them\n"
               "  vhem --version        version and usable backends\n"
               "\nStart with: vhem demo gaze\n"
               "Then:       vhem cluster gaze.csv --group group -o groups.json\n");
    fputs(cli_statuses, f);
    return status;
}

/* The command or part of this name; NULL when there is none, the sentence printed. */
static const cli_command *find_command(cli *c, const cli_command *table, const char *what, const char *name)
{
    const char *names[32];
    int n = 0;
    for (const cli_command *k = table; k->name; k++) {
        if (strcmp(name, k->name) == 0)
            return k;
        names[n++] = k->name;
    }
    const char *near = cli_nearest(name, names, n);
    cli_misuse(c, "there is no %s'%s'%s%s%s", name[0] == '-' && *what ? "option " : what, name,
               near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    return NULL;
}

static int ask_help(cli *c, const cli_command *k)
{
    char *ask[] = { (char[]){ "vhem" }, (char[]){ "--help" }, NULL };
    return k->run(c, 2, ask);
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "--help-all") == 0;
}

/* All parts, for the man page and the completion. */
static int print_parts(cli *c, const char *about, const cli_command *parts)
{
    const char *command = c->command;
    if (c->form == CLI_COMPLETION) {
        printf("parts %s", command);
        for (const cli_command *k = parts; k->name; k++)
            printf(" %s", k->name);
        putchar('\n');
    } else {
        printf(".SS %s\n", command);
        cli_man_text(about);
    }
    for (const cli_command *k = parts; k->name; k++) {
        snprintf(c->part, sizeof c->part, "%s %s", command, k->name);
        c->command = c->part;
        ask_help(c, k);
    }
    return EXIT_DONE;
}

int cli_dispatch(cli *c, int argc, char **argv, const char *about, const cli_command *parts)
{
    if (c->form != CLI_HELP)
        return print_parts(c, about, parts);
    if (argc > 1 && !is_help(argv[1])) {
        const cli_command *part = find_command(c, parts, "", argv[1]);
        if (!part)
            return EXIT_USAGE;
        snprintf(c->part, sizeof c->part, "%s %s", c->command, part->name);
        c->command = c->part;
        return part->run(c, argc - 1, argv + 1);
    }
    FILE *f = argc > 1 ? stdout : stderr;
    fprintf(f, "Usage: vhem %s WHAT [OPTION]... ARGUMENT...\n\n%s\n\nWhat:\n", c->command, about);
    for (const cli_command *k = parts; k->name; k++)
        fprintf(f, "  %-12s%s\n", k->name, k->help);
    fprintf(f, "\n  vhem %s WHAT --help   its options and their defaults\n", c->command);
    fputs(cli_statuses, f);
    return argc > 1 ? EXIT_DONE : EXIT_USAGE;
}

/* vhem help --man, vhem help --completion: what scripts/pages makes the pages from. */
static int print_pages(cli *c, cli_form form)
{
    cli_table data = { 0 };
    vhem_data_options opt;
    c->form = form;
    if (form == CLI_COMPLETION) {
        printf("commands");
        for (const cli_command *k = commands; k->name; k++)
            printf(" %s", k->name);
        putchar('\n');
    }
    for (const cli_command *k = commands; k->name; k++) {
        c->command = k->name;
        ask_help(c, k);
    }
    if (form == CLI_COMPLETION)
        return EXIT_DONE;
    VHEM_INIT(VHEM_DATA_OPTIONS, &opt);
    cli_add_data(&data, &opt, "column with the group of a sequence");
    for (int k = 0; k < data.n; k++)
        data.row[k].heading = NULL;
    puts(".SH HOW DATA ARE READ");
    cli_man_rows(data.row, data.n);
    return EXIT_DONE;
}

static int run_command(cli *c, int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : NULL;
    if (!word)
        return overview(c, stderr, EXIT_USAGE);
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        const char *why = cli_backend_problem("cuda");
        const char *slower = cli_backend_slower();
        char usable[128];
        printf("vhem %s\nbackends: %s\n", vhem_version(), cli_backends(usable, sizeof usable));
        if (why)
            printf("cuda cannot be used here: %s\n", why);
        if (slower)
            printf("slower than possible: %s\n", slower);
#ifdef VHEM_WITHOUT
        printf("built without: %s\n", VHEM_WITHOUT);
#endif
        return EXIT_DONE;
    }
    bool help = strcmp(word, "help") == 0 || is_help(word);
    if (help && argc == 2)
        return overview(c, stdout, EXIT_DONE);
    if (help && strcmp(argv[2], "--man") == 0)
        return print_pages(c, CLI_MAN);
    if (help && strcmp(argv[2], "--completion") == 0)
        return print_pages(c, CLI_COMPLETION);
    const cli_command *command = find_command(c, commands, "command ", help ? argv[2] : word);
    if (!command)
        return EXIT_USAGE;
    c->command = command->name;
    return help ? ask_help(c, command) : command->run(c, argc - 1, argv + 1);
}

int cli_main(cli *c, int argc, char **argv)
{
    if (!vh_fd_take_streams()) /* else warnings land in a file that is opened later */
        return EXIT_FAILED;
    cli_json_watch();
    cli_clean_terminal();
    return cli_close(c, run_command(c, argc, argv));
}
