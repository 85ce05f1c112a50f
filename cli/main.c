/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - the table of commands. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    cli_run *run;
    const char *help;
} commands[] = {
    { "fit", cmd_fit, "one HMM per sequence, or per group of sequences, by Baum-Welch" },
    { "cluster", cmd_cluster, "clusters of models, and a centre for each" },
    { "tree", cmd_tree, "a hierarchy of clusters, level by level" },
    { "assign", cmd_assign, "clusters of new sequences or models" },
    { "choose", cmd_choose, "how many clusters and states: a table to choose by" },
    { "score", cmd_score, "log-likelihood of sequences under models" },
    { "decode", cmd_decode, "most likely state path of each sequence" },
    { "sample", cmd_sample, "sequences drawn from models" },
    { "compare", cmd_compare, "distances between models: divergences and kernels" },
    { "eval", cmd_eval, "how good clusters are, by classes, models and sequences" },
    { "classify", cmd_classify, "models of classes: learn them, classify by them, judge them" },
    { "annotate", cmd_annotate, "models of tags: learn them, tag songs, find songs by tag" },
    { "report", cmd_report, "an HTML page with the pictures, the tables and how they were made" },
    { "info", cmd_info, "what is in a file of models, clusters or data" },
    { "convert", cmd_convert, "a model or data file in another format" },
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static int overview(FILE *f, int status)
{
    fprintf(f, "Usage: vhem COMMAND [OPTION]... ARGUMENT...\n\n"
               "Fits hidden Markov models to sequences and clusters the models.\n\nCommands:\n");
    for (int k = 0; k < N_COMMANDS; k++)
        fprintf(f, "  %-10s%s\n", commands[k].name, commands[k].help);
    fprintf(f, "\n  vhem COMMAND --help   the options of a command and their defaults\n"
               "  vhem --version        version and usable backends\n"
               "\nStart with: vhem fit DATA.csv -o models.json\n"
               "Go on with: vhem cluster models.json -k 4 -o clusters.json\n");
    return status;
}

static int find(cli *c, const char *name)
{
    const char *names[N_COMMANDS];
    for (int k = 0; k < N_COMMANDS; k++) {
        names[k] = commands[k].name;
        if (strcmp(name, names[k]) == 0)
            return k;
    }
    const char *near = cli_nearest(name, names, N_COMMANDS);
    cli_misuse(c, "there is no %s '%s'%s%s%s", name[0] == '-' ? "option" : "command", name,
               near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    return -1;
}

static int run(cli *c, int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : NULL;
    bool help = word && (strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0);

    if (!word)
        return overview(stderr, EXIT_USAGE);
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        printf("vhem %s\nbackends: %s\n", vhem_version(), vhem_backends());
        return EXIT_DONE;
    }
    if (help && argc == 2)
        return overview(stdout, EXIT_DONE);
    int k = find(c, help ? argv[2] : word);
    if (k < 0)
        return EXIT_USAGE;
    c->command = commands[k].name;
    char *ask[] = { argv[0], (char[]){ "--help" }, NULL };
    return help ? commands[k].run(c, 2, ask) : commands[k].run(c, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    cli c = { 0 };
    return cli_close(&c, run(&c, argc, argv));
}
