/* SPDX-License-Identifier: BSD-3-Clause */
/* cli.h - what the commands share: one table per command from which options are read and help is printed, a
 * context with signals and progress around it, output that is whole or not there. */
#ifndef VHEM_CLI_H
#define VHEM_CLI_H

#include "vhem/vhem.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_STOPPED = 130 };
enum { CLI_GO = -1 }; /* from functions that return an exit status: none yet, carry on */
enum { CLI_MAX_OPTIONS = 48, CLI_MAX_ARGS = 1000 };

/* ---- options ------------------------------------------------------------------------------------------- */

enum { CLI_AUTO = -1 }; /* what "auto" means to an OPT_INT that takes it, with T|auto as its argument */
typedef enum { OPT_FLAG, OPT_INT, OPT_SEED, OPT_REAL, OPT_SIZE, OPT_TEXT, OPT_CHOICE, OPT_LIST } cli_kind;

typedef struct { /* of an OPT_LIST: all arguments up to the next option */
    int n;
    const char *text[CLI_MAX_ARGS];
} cli_texts;

typedef struct {
    const char *name;
    char letter; /* 0: long form only */
    cli_kind kind;
    const char *arg;   /* name of its argument in the help; the choices, "diag|full" */
    void *value;       /* bool, int, uint64_t, double, int64_t of bytes, const char *, cli_texts; holds the
                          default */
    double min;        /* of a number */
    const char *shown; /* the default in words, where the value does not say it */
    const char *help;
} cli_option;

typedef struct {
    const char *args, *about, *examples;
    int n_min, n_max;          /* arguments that are not options */
    const cli_option *options; /* ends with a NULL name; the common options follow by themselves */
} cli_usage;

/* The rows that say how to read sequences; o is a vhem_data_options *.  Groups mean nothing to some. */
/* clang-format off */
#define CLI_DATA_OPTIONS(o, group_help)                                                                     \
    CLI_UNGROUPED_OPTIONS(o),                                                                               \
    { "group", 'g', OPT_TEXT, "COL", &(o)->group, 0, "none", group_help }
#define CLI_UNGROUPED_OPTIONS(o)                                                                            \
    { "format", 'f', OPT_CHOICE, "csv|tsv|dir|npy|npz|ts|hdf5", &(o)->format, 0, "found out from the file", \
      "format of DATA" },                                                                                   \
    { "id", 'i', OPT_TEXT, "COL[,COL]", &(o)->id, 0, "id or seq", "columns that name a sequence" },         \
    { "label", 'l', OPT_TEXT, "COL", &(o)->label, 0, "label, if there", "column with the class" },          \
    { "weight", 0, OPT_TEXT, "COL", &(o)->weight, 0, "all 1", "column with the weight of a sequence" },     \
    { "columns", 'c', OPT_TEXT, "COL[,COL]", &(o)->columns, 0, "every other numeric column",                \
      "columns that are the dimensions" },                                                                  \
    { "where", 'w', OPT_TEXT, "COL=VALUE", &(o)->where, 0, "everything", "read only what has this value" },  \
    { "memory", 0, OPT_SIZE, "SIZE", &(o)->memory, 0, NULL,                                                 \
      "frames kept in memory, as 512M or 2G, 0 for all; with more they are in a file in TMPDIR" }
/* clang-format on */

/* ---- one run of the command ---------------------------------------------------------------------------- */

typedef struct {
    const char *what;    /* of the last call; a new one starts the clock again */
    double began, drawn; /* seconds */
    bool on, visible;    /* wanted at all; a bar stands on the terminal */
} cli_progress;

typedef struct {
    const char *command; /* "fit" */
    uint64_t seed;
    int threads;
    const char *backend;
    bool quiet, json, help;
    const char *arg[CLI_MAX_ARGS];
    int n_arg;
    bool given[CLI_MAX_OPTIONS]; /* by row: the command's own, then the common */
    vhem_ctx *ctx;
    cli_progress progress;
} cli;

typedef int cli_run(cli *c, int argc, char **argv);
cli_run cmd_fit, cmd_cluster, cmd_tree, cmd_assign, cmd_choose, cmd_score, cmd_decode, cmd_sample,
    cmd_compare, cmd_eval, cmd_classify, cmd_annotate, cmd_report, cmd_info, cmd_convert;

/* options.c.  Reads the arguments and opens the context; CLI_GO, or the exit status to leave with. */
int cli_begin(cli *c, int argc, char **argv, const cli_usage *usage);
bool cli_given(const cli *c, const cli_usage *usage, const char *name);
/* " --tau 3 --seed 1": what was given, with --seed and --backend, to be typed again; not what skip names. */
const char *cli_repeat(const cli *c, const cli_usage *usage, const char *const *skip, char *text,
                       size_t size);
/* The nearest of n names spelled at most two letters away from the word; NULL when none is. */
const char *cli_nearest(const char *word, const char *const *names, int n);
/* help.c */
void cli_help(FILE *f, const char *command, const cli_usage *usage, const cli_option *common);
/* A new object: every option of the command by name with its value, but those that change no result, --output
 * and --memory. */
json_t *cli_options_json(const cli_usage *usage);

/* size.c.  "512M", "2G": bytes with K, M, G or T after them, powers of 1024; false when it is none. */
bool cli_read_size(const char *text, int64_t *size);
const char *cli_put_size(int64_t size, char *buf, size_t room); /* as it would be typed */

/* words.c.  Is the text one of the names?  NULL ends them. */
bool cli_one_of(const char *text, const char *const *names);
/* A word that is neither known nor a file is a slip of the pen, not a file that cannot be read. */
int cli_check_word(cli *c, const char *option, const char *words, const char *text);
/* A word of a command line as the shell takes it, quoted where there is need. */
void cli_put_word(FILE *f, const char *text);
enum { CLI_MAX_LIST = 1000 };
typedef struct {
    int n, value[CLI_MAX_LIST];
} cli_list;
/* "2..6,8": numbers and ranges of at least 1. */
int cli_read_list(cli *c, const char *option, const char *text, cli_list *list);

/* session.c.  The first three print "vhem COMMAND: sentence" and return the exit status. */
int cli_fail(cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int cli_misuse(cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int cli_status(cli *c, vhem_status st); /* of the library; CLI_GO for VHEM_OK */
void cli_say(cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* not with --quiet */
int cli_open(cli *c);
bool cli_interrupted(void);
/* Frees the context and makes sure that standard output arrived; the status to leave with. */
int cli_close(cli *c, int status);
/* Refuses standard output for the result when --json needs it, and two inputs from standard input. */
int cli_check_streams(cli *c, const char *output);

/* progress.c */
void cli_progress_init(cli *c);
void cli_progress_draw(void *arg, const char *what, int64_t done, int64_t total);
void cli_progress_clear(cli *c);

/* ---- output -------------------------------------------------------------------------------------------- */

typedef struct {
    FILE *f;
    char *path, *tmp; /* tmp is NULL when writing in place: stdout, a pipe, a device */
} cli_out;

/* output.c.  "-" is stdout.  CLI_GO or an exit status, the sentence printed. */
int cli_out_open(cli *c, const char *path, cli_out *out);
int cli_out_commit(cli *c, cli_out *out);
void cli_out_close(cli_out *out); /* removes what was not committed */
/* Can this path be written?  Asked before hours of work, not after. */
int cli_out_check(cli *c, const char *path);
void cli_put_number(FILE *f, double x);       /* the shortest text that reads back to x */
void cli_put_cell(FILE *f, const char *text); /* tabs and line ends become spaces */

/* tables.c: JSON and names */
json_t *cli_json_real(double x);           /* null when x is not finite */
json_t *cli_json_text(const char *text);   /* null when there is none or it is not UTF-8 */
void cli_json_put(FILE *f, json_t *value); /* writes and releases it, with a line end */
/* The name of HMM i, or "i" when it has none; buf serves for that. */
const char *cli_hmm_name(const vhem_h3m *h3m, int i, char *buf, size_t size);
bool cli_ends_with(const char *path, const char *const *endings); /* NULL ends the list */
const char *cli_plural(int64_t n);                                /* "" for one, else "s" */
extern const char *const cli_model_endings[], *const cli_data_endings[];

/* provenance.c: JSON text from malloc for the file that is made; takes the options over.  Neither threads,
 * output, time nor host is in it: the same seed gives the same bytes wherever and as whatever they are
 * written. */
char *cli_provenance(const cli *c, json_t *options, bool stopped);

/* agreement.c.  Classes are texts, "" for none, which is left out of every comparison.
 * A number for each class, -1 for none; returns how many have one. */
int cli_class_numbers(int n, const char *const *class_of, int *number);
/* How the clusters match the classes; false when fewer than two things have a class. */
bool cli_agreement(int n, const char *const *class_of, const int *cluster, vhem_agreement *out);
json_t *cli_agreement_json(int n, const char *const *class_of, const int *cluster); /* null when none */
/* The labels of HMMs and of sequences; free() the array, the texts stay theirs.  NULL without memory. */
const char **cli_classes_of_models(const vhem_h3m *h3m);
const char **cli_classes_of_textures(const vhem_dtm *dtm);
const char **cli_classes_of_data(const vhem_data *data);
/* Those of n groups of sequences, by name; a group whose sequences differ has none. */
const char **cli_classes_of_groups(const vhem_data *data, int n, char **name);

/* ---- pieces of single commands that others need or that deserve their own file --------------------------
 */

typedef enum {
    CLI_IS_DATA,
    CLI_IS_MODEL,
    CLI_IS_TEXTURES,
    CLI_IS_HDF5,
    CLI_IS_CLUSTERING,
    CLI_IS_TREE,
    CLI_IS_CLASSES
} cli_content;

/* load.c: what a file holds, from its first bytes; HDF5 may be models or data. */
cli_content cli_recognise(const char *path);
/* MODELS, and the OUT of cluster or tree, with a hint when the file is something else. */
int cli_load_models(cli *c, const char *path, vhem_h3m **h3m);
int cli_load_clusters(cli *c, const char *path, vhem_tree **tree);
/* Loads either; exactly one of the outputs is set on CLI_GO. */
int cli_load_any(cli *c, const char *path, const vhem_data_options *opt, vhem_h3m **h3m, vhem_data **data);
/* MODELS and DATA of the command line, after a look at where the output is to go. */
int cli_load_both(cli *c, const char *output, const vhem_data_options *opt, vhem_h3m **h3m, vhem_data **data);

/* truth.c: the class of each of n names.  From a table of names and classes; *class_of [n] and the texts, ""
 * for none, are one block: free() it. */
int cli_truth_load(cli *c, const char *path, int n, char *const *name, const char ***class_of);
/* From sequences, by their names or groups; one block likewise. */
int cli_truth_of_data(cli *c, const vhem_data *data, int n, char *const *name, const char ***class_of);

/* models.c.  A set of models of either kind; one of the two is there. */
typedef struct {
    vhem_h3m *h3m;
    vhem_dtm *dtm;
} cli_models;
int cli_models_load(cli *c, const char *path, cli_models *m);
void cli_models_free(cli_models *m);
int cli_models_size(const cli_models *m);
const char *cli_models_kind(const cli_models *m); /* "HMM", "texture" */
double cli_models_omega(const cli_models *m, int i);
/* The name of model i, or "i" when it has none; buf serves for that. */
const char *cli_models_name(const cli_models *m, int i, char *buf, size_t size);
/* The labels of the models; free() the array. */
const char **cli_models_classes(const cli_models *m);
/* Are these the models, of a file called what, that were clustered in a file called where: as many, with the
 * same names? */
int cli_models_check(cli *c, const cli_models *m, const char *what, const vhem_clustering *cl,
                     const char *where);
/* Dynamic textures, also those of a clustering; CLI_GO and NULL when the file holds something else. */
int cli_load_textures(cli *c, const char *path, vhem_dtm **dtm);

/* topology.c: a file with fixed entries of pi and A; null is free.  *pi and *A come from malloc, either may
 * stay NULL, *S is their size. */
int cli_topology_load(cli *c, const char *path, int *S, double **pi, double **A);

#endif
