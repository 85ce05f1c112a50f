/* SPDX-License-Identifier: BSD-3-Clause */
/* cli.h - what the commands share: a table of options from which arguments are read and help, man page and
 * provenance are written; a context with signals and progress; inputs; output that is whole or not there. */
#ifndef VHEM_CLI_H
#define VHEM_CLI_H

#include "vhem/classes.h"
#include "vhem/analysis.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_STOPPED = 130 };
enum { CLI_GO = -1 }; /* from functions that return an exit status: none yet, carry on */
enum { CLI_MAX_OPTIONS = 64, CLI_MAX_ARGS = 1000 };

typedef struct cli cli;

/* ---- ways out ------------------------------------------------------------------------------------------ */

/* In functions that return an exit status, with c in reach: leaves with that of the call unless it is CLI_GO;
 * says why and fails unless the condition holds. */
#define CLI_TRY(call)         \
    do {                      \
        int tried_ = (call);  \
        if (tried_ != CLI_GO) \
            return tried_;    \
    } while (0)
#define CLI_CHECK(cond, ...)                 \
    do {                                     \
        if (!(cond))                         \
            return cli_fail(c, __VA_ARGS__); \
    } while (0)

/* Of a local variable, which is released however its block is left: release(&variable); vhem_free of it; free
 * of it.  It has a value from the line it is declared on. */
#define CLI_CLEANUP(release) __attribute__((cleanup(release)))
#define CLI_OWN              CLI_CLEANUP(cli_own_release)
#define CLI_AUTOFREE         CLI_CLEANUP(cli_autofree)
void cli_own_release(void *variable);
void cli_autofree(void *variable);

/* ---- options ------------------------------------------------------------------------------------------- */

typedef enum { OPT_FLAG, OPT_INT, OPT_INT64, OPT_REAL, OPT_SIZE, OPT_TEXT, OPT_CHOICE, OPT_LIST } cli_kind;

typedef struct { /* of an OPT_LIST: all arguments up to the next option */
    int n;
    const char *text[CLI_MAX_ARGS];
} cli_texts;

typedef struct {
    const char *name;
    char letter; /* 0: long form only */
    cli_kind kind;
    const char *arg;     /* name of its argument in the help; the choices, "diag|full" */
    void *value;         /* int 0 or 1, int, int64_t, double, int64_t of bytes, const char *, const char *,
                            cli_texts; holds the default, a negative number or NULL: the library's */
    double least;        /* of a number; below 1e-200 it means "above 0" */
    const char *shown;   /* the default in words, where the value does not say it */
    const char *help;    /* half a sentence */
    const char *words;   /* the choices, when arg does not list them */
    const char **file;   /* a choice that may be a file instead, whose path goes here */
    const char *heading; /* in the help; NULL: the first one */
    const char *methods; /* "ppk-sc ppk-ac": those that use it; NULL: all */
    const char *user;    /* what they are: "method", "model" or "kind" */
    bool off;            /* a flag that sets its value to 0, not to 1 */
    int *upto;           /* of a number that may be a range, 2..6: where its end goes; NULL: it may not */
} cli_option;

typedef struct {
    int n;
    cli_option row[CLI_MAX_OPTIONS];
    char text[4096]; /* names and words made for the rows */
    size_t used;
} cli_table;

typedef struct { /* how a field of an options record differs on the command line; NULL, 0: it does not */
    const char *field, *name;
    char letter; /* of the new name */
    double least;
    const char *shown, *help;
    const char **file;
    int *upto;
} cli_change;

typedef struct { /* the fields of an options record, as rows */
    vhem_option_set set;
    void *record;
    const char *only, *without, *heading; /* names separated by spaces; NULL: all, none; the first heading */
    const cli_change *change;             /* ends with a NULL field */
} cli_fields;

typedef struct {
    const char *args, *about, *examples;
    const char *more; /* what --help-all and the man page go on to say; NULL: nothing */
    int n_min, n_max; /* arguments that are not options */
    const cli_table *table;
    const char *first; /* names of the options that matter most, which --help shows; NULL: all */
    bool methods;      /* the help lists the clustering methods */
    bool merges;       /* a second file of models is meant to be merged with the first */
    bool writes_last;  /* the last argument is the output, unless there is an option for it that is given */
    bool updates;      /* the first argument may be the output: it is brought up to date */
    const char *second_output; /* the option of another file that is written; NULL: none */
} cli_usage;

/* table.c.  Rows end with a NULL name. */
void cli_add(cli_table *t, const cli_option *rows);
void cli_add_fields(cli_table *t, const cli_fields *fields);
/* Where the result goes, standard output unless it is asked for. */
void cli_add_output(cli_table *t, const char **output, const char *help);
/* How to read sequences; group_help NULL: groups are not asked for. */
void cli_add_data(cli_table *t, vhem_data_options *opt, const char *group_help);
extern const char cli_data_heading[];
/* What --cov, "diag", "full" or NULL, makes of the emission that --emission has set or left NULL. */
int cli_emission(cli *c, const char *cov, const char **emission);
/* The row of this name; NULL: there is none. */
cli_option *cli_row_named(const cli_table *t, const char *name);
/* A field of an options record, by its name, which it has. */
vhem_option cli_field(vhem_option_set set, const char *name);
/* --cov, for this method or model. */
void cli_add_cov(cli_table *t, const char **cov, const char *user, const char *name);
/* Refuses a prior that is neither settings, nor a file, nor one of the words that a fit knows. */
int cli_check_prior(cli *c, const char *option, bool of_fit, const char *prior);
bool cli_has_word(const char *list, char separator, const char *word);
/* Is the value neither the user's nor the command's? */
bool cli_is_default(const cli_option *o);
/* As it would be typed; "" for a flag, NULL for a list and for nothing. */
const char *cli_value_text(const cli_option *o, char *buf, size_t size);
/* Is the option of no use to the method, model or kind of this name? */
bool cli_is_useless(const cli_option *o, const char *user, const char *name);
/* A new object: every option of the command by name with its value, but those that change no result and those
 * that the method or model of this name does not use; user: "method", "model". */
json_t *cli_options_json(const cli_usage *usage, const char *user, const char *name);

/* options.c.  Reads the arguments and opens the context; CLI_GO, or the exit status to leave with. */
int cli_begin(cli *c, int argc, char **argv, const cli_usage *usage);
/* The first half of it: c has the arguments, and no context yet. */
int cli_parse(cli *c, int argc, char **argv, const cli_usage *usage);
/* Refuses options that the method, model or kind of this name does not use. */
int cli_check_uses(cli *c, const cli_usage *usage, const char *user, const char *name);
/* " --tau 3 --seed 1": what was given, with --seed and --backend, to be typed again; not what skip names. */
const char *cli_repeat(const cli *c, const cli_usage *usage, const char *skip, char *text, size_t size);
/* " --missing=-999 --columns x,y": of what was given, how to read DATA; not what skip names. */
const char *cli_repeat_reading(const cli *c, const cli_usage *usage, const char *skip, char *text,
                               size_t size);
/* The nearest of n names spelled at most two letters away from the word; NULL when none is. */
const char *cli_nearest(const char *word, const char *const *names, int n);

/* overwrite.c.  Refuses, without --force, an output that is one of the inputs. */
int cli_check_overwrite(cli *c, const cli_usage *usage);
bool cli_writes(const cli_usage *usage); /* has the command an output? */

/* help.c, pages.c: the options of a command as help, as part of the man page, as words to complete. */
typedef enum { CLI_HELP, CLI_MAN, CLI_COMPLETION } cli_form;
extern const char cli_statuses[]; /* what the exit status means, at the end of every help */
void cli_help(const cli *c, const cli_usage *usage, const cli_option *common);
void cli_man(const char *command, const cli_usage *usage);
void cli_man_rows(const cli_option *rows, int n);
void cli_man_text(const char *text);
void cli_completion(const char *command, const cli_usage *usage, const cli_option *common);
void cli_heading(const cli_option *o, char *text, size_t size); /* of its part of the help */
/* Each heading once, in the order of the first row below it, with all its rows; order [n]. */
void cli_by_heading(const cli_option *rows, int n, int *order);
const char *cli_method_about(const vhem_method_facts *m, char *text, size_t size);

/* ---- one run of the command ---------------------------------------------------------------------------- */

typedef struct {
    const char *what;    /* of the last call; a new one starts the clock again */
    double began, drawn; /* seconds */
    bool on, visible;    /* wanted at all; a bar stands on the terminal */
} cli_progress;

struct cli {
    const char *command; /* "fit" */
    char part[64];       /* "classify train": room for the name of a part */
    cli_form form;
    int64_t seed, max_memory;
    int threads, quiet, verbose, json, help, help_all, force;
    const char *backend;
    const char *arg[CLI_MAX_ARGS];
    int n_arg;
    bool given[CLI_MAX_OPTIONS]; /* by row: the command's own, then the common */
    vhem_ctx *ctx;
    cli_progress progress;
    char *columns, *symbols;   /* of the data, as the models or the emission want them */
    const vhem_ranks *ranks;   /* of vhem-mpi: those that run the same command; NULL: none */
    char backend_of_first[32]; /* room for the name of that of rank 0 */
    char why[VHEM_WHY];        /* of a rank other than 0, which prints nothing: its last sentence */
};

typedef int cli_run(cli *c, int argc, char **argv);
cli_run cmd_fit, cmd_cluster, cmd_tree, cmd_assign, cmd_choose, cmd_score, cmd_decode, cmd_sample,
    cmd_background, cmd_compare, cmd_eval, cmd_stats, cmd_classify, cmd_annotate, cmd_report, cmd_info,
    cmd_convert, cmd_demo;

typedef struct {
    const char *name;
    cli_run *run;
    const char *help;
} cli_command;

/* main.c.  The whole of a command, from its arguments to its exit status; c is empty but for the ranks and
 * the default of threads. */
int cli_main(cli *c, int argc, char **argv);
bool cli_runs_on_ranks(const char *command); /* is it one that vhem-mpi shares out? */
/* Runs the part of a command that argv[1] names; its help when none is. */
int cli_dispatch(cli *c, int argc, char **argv, const char *about, const cli_command *parts);

/* session.c.  The first three print "vhem COMMAND: sentence" and return the exit status. */
int cli_fail(cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int cli_misuse(cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int cli_status(cli *c, vhem_status st); /* of the library; CLI_GO for VHEM_OK */
void cli_say(cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* not with --quiet */
int cli_open(cli *c, const cli_usage *usage);
bool cli_is_first(const cli *c); /* does it print and write?  The one process there is, or rank 0 */
const char *cli_backend_problem(const char *name); /* why it cannot be used here; NULL: it can */
const char *cli_backend_slower(void); /* why the best one is slower here than it could be; NULL: unknown */
/* The names of those that can be used, the best first, in list: "avx2 simd ref". */
const char *cli_backends(char *list, size_t size);
bool cli_interrupted(void);
/* Of a rank other than 0, at its start: a signal that comes early stops what is begun later. */
void cli_hear_signals(void);
/* Frees the context and makes sure that standard output arrived; the status to leave with. */
int cli_close(cli *c, int status);
/* Refuses standard output for the result when --json needs it, and two inputs from standard input. */
/* The checkpoint has served; a symbolic link stays one, and the file it leads to goes. */
void cli_remove_checkpoint(const char *path);
int cli_check_streams(cli *c, const char *output);

/* ranks.c.  Called by all ranks: those that were not started as rank 0 was fail.  Rank 0 has its context, the
 * others take its backend for theirs. */
int cli_agree(cli *c, const cli_usage *usage);

/* matrix.c */
enum { CLI_MATRIX_IN_MEMORY = 1 << 25 }; /* bytes; what is larger is mapped from a file */
typedef struct {
    int64_t rows, columns;
    double *x;     /* [rows][columns]; NULL: there is none */
    size_t mapped; /* bytes of the file; 0: it is in memory */
} cli_matrix;
int cli_matrix_new(cli *c, int64_t rows, int64_t columns, cli_matrix *out); /* all zero */
void cli_matrix_free(cli_matrix *m);
void cli_matrix_write_npy(FILE *f, const cli_matrix *m); /* an array of NumPy; errors stay in f */

/* progress.c */
void cli_progress_init(cli *c);
void cli_progress_draw(void *arg, const char *what, int64_t done, int64_t total);
void cli_progress_clear(cli *c);

/* ---- text ---------------------------------------------------------------------------------------------- */

/* "512M", "2G": bytes with K, M, G or T after them, powers of 1024; false when it is none. */
bool cli_read_size(const char *text, int64_t *size);
const char *cli_put_size(int64_t size, char *buf, size_t room); /* as it would be typed */

/* words.c */
bool cli_is_path(const char *text); /* is it a file, or spelled like one? */
/* Makes text fit for a terminal, in place: control characters, line ends among them, and bytes that are not
 * UTF-8 become '?'.  A file may have any of them in a name, commands for the terminal among them. */
void cli_clean(char *text);
bool cli_is_utf8(const char *text);
void cli_clean_terminal(void); /* the same, but for line ends and tabs, for all that stdout prints on one */
/* A word of a command line as the shell takes it, with backslashes where there is need, so that it can stand
 * between quotes in a sentence. */
void cli_put_word(FILE *f, const char *text);
enum { CLI_WORD = 4096 };
const char *cli_word(const char *text, char *buf, size_t size); /* the same in buf */
char *cli_text(const char *fmt, ...)
    __attribute__((format(printf, 1, 2))); /* from malloc; NULL when there is none */
/* Closes a stream of vh_memory_open, which may be NULL, and copies its text to buf as far as it fits. */
const char *cli_text_close(FILE *f, char **text, size_t *n, char *buf, size_t size);
typedef struct { /* name and number of a thing that is looked up by its name */
    const char *name;
    int64_t i;
} cli_entry;
void cli_sort_names(cli_entry *list, size_t n);
int64_t cli_find_name(const cli_entry *list, size_t n, const char *name); /* its number; -1: none */
enum { CLI_MAX_LIST = 1000 };
typedef struct {
    int n;
    int64_t value[CLI_MAX_LIST];
} cli_list;
/* "2..6,8": numbers and ranges of at least 1. */
int cli_read_list(cli *c, const char *option, const char *text, cli_list *list);

/* session.c: notice when JSON values lack memory; one could not be made for want of it; did any? */
void cli_json_watch(void);
void cli_json_lacks(void);
/* json_load_file, with paths in UTF-8 everywhere. */
json_t *cli_json_load(const char *path, size_t flags, json_error_t *error);
bool cli_json_short(void);
/* tables.c: JSON, names, endings */
json_t *cli_json_real(double x); /* null when x is not finite */
json_t *cli_json_reals(const double *x, int64_t n);
json_t *cli_json_matrix(const double *x, int64_t rows, int64_t columns);
json_t *cli_json_text(const char *text);   /* null when there is none or it is not UTF-8 */
void cli_json_put(FILE *f, json_t *value); /* writes and releases it, with a line end */
/* names[i], or "i" when it has none; buf serves for that. */
const char *cli_name(const char *const *names, int64_t i, char *buf, size_t size);
bool cli_ends_with(const char *path, const char *const *endings); /* NULL ends the list */
const char *cli_plural(int64_t n);                                /* "" for one, else "s" */
const char *cli_where(const char *output);                        /* "standard output" for "-" */
extern const char *const cli_model_endings[], *const cli_data_endings[], *const cli_json_endings[];
extern const char *const cli_table_endings[];

/* ---- output -------------------------------------------------------------------------------------------- */

typedef struct {
    FILE *f;
    const char *path;  /* as a sentence names it */
    vhem_output *file; /* NULL: standard output */
    char separator;    /* of the cells of a table: a tab, or a comma where the path ends in .csv */
} cli_out;

/* output.c.  "-" is stdout.  CLI_GO or an exit status, the sentence printed. */
int cli_out_open(cli *c, const char *path, cli_out *out);
int cli_out_commit(cli *c, cli_out *out);
void cli_out_close(cli_out *out); /* removes what was not committed */
/* Can this path be written?  Asked before hours of work, not after. */
int cli_out_check(cli *c, const char *path);
/* The same of a table, which must not stand under a name that programs open as something else. */
int cli_out_check_table(cli *c, const char *path);
/* Of a file that the library writes, of things that have these endings, and the streams. */
int cli_out_check_ending(cli *c, const char *path, const char *things, const char *const *endings);
void cli_put_number(FILE *f, double x);                         /* the shortest text that reads back to x */
const char *cli_number_text(double x, char *text, size_t size); /* the same, as a text */

/* rows.c.  A table is described once, by a function that puts the cells of row i in their order.  It becomes
 * a line of names and a line for each row, or JSON, an object for each row; where the two differ the function
 * asks for r->json.  A row without any cell is left out.  For the names it is called with row 0, which must
 * be there. */
typedef struct {
    const cli_out *out;  /* of a table */
    json_t *json;        /* the row as an object; NULL: of a table */
    bool head;           /* the names are written, not the values */
    bool begun;          /* the line has a cell */
    bool exact;          /* in CSV, line ends in texts stay: they are names to be found again */
    const char *unknown; /* in a table, for a number that is not finite; NULL: as it is */
} cli_row;
typedef void cli_put_row(cli_row *r, const void *of, int64_t i);
typedef struct { /* a table; unknown, exact: as in a row */
    int64_t n;
    cli_put_row *put;
    const void *of;
    const char *unknown;
    bool exact;
} cli_rows;
/* A file of the table or, where there is some, of this JSON, which it releases. */
int cli_write_table(cli *c, const char *path, json_t *json, const cli_rows *t);
void cli_write_rows(const cli_out *out, const cli_rows *t);
json_t *cli_rows_json(const cli_rows *t);
void cli_put_rows(cli_row *r, int64_t n, cli_put_row *put, const void *of); /* a part of a table: r goes on */
/* Tabs and line ends in texts become spaces; in JSON an empty text is null, and a number that is not
 * finite. */
void cli_cell_text(cli_row *r, const char *name, const char *text);
void cli_cell_int(cli_row *r, const char *name, int64_t x);
void cli_cell_real(cli_row *r, const char *name, double x);
void cli_cell_fixed(cli_row *r, const char *name, double x, int digits); /* digits behind the point */
/* A column that in JSON is one more number of a list. */
void cli_cell_int_of(cli_row *r, const char *list, const char *name, int64_t x);
void cli_cell_real_of(cli_row *r, const char *list, const char *name, double x);
const char *cli_numbered(const char *stem, int64_t k, char buf[32]); /* "loglik_3" */

/* ids.c: where several columns name the sequences of data, these columns follow the others of a row, that of
 * the sequence called name; in JSON as an object "id".  Puts nothing for one column, nor without data.  A
 * column name that the table has already, of its own or as a column for each of models (NULL: for none), gets
 * "id_" before it. */
void cli_cell_ids(cli_row *r, const vhem_data *data, const vhem_models *models, const char *name);
/* Is one of these names [n] an identifier of sequences, in *column, or the beginning of their names, and then
 * *column is NULL? */
bool cli_ids_have(const vhem_data *data, int64_t n, const char *const *name, const char **column);
/* The data that items of this source are sequences of; NULL for models and groups. */
const vhem_data *cli_sequences(const vhem_source *from);

/* tables.c: JSON text from malloc for the file that is made; takes the options over.  Neither threads,
 * output, time nor host is in it: the same seed gives the same bytes wherever and as whatever they are
 * written.  NULL when memory is short. */
char *cli_provenance(const cli *c, json_t *options, bool stopped);

/* ---- inputs -------------------------------------------------------------------------------------------- */

typedef struct { /* a file of models or of sequences, as a source; opened and parsed once */
    vhem_contents file;
    vhem_source from;
} cli_input;

/* load.c: models, also the centres of clusters; clusters; models or sequences.  When the file is something
 * else, the sentence says what it is and which command makes what is wanted. */
int cli_load_models(cli *c, const char *path, vhem_models **out);
int cli_load_hmms(cli *c, const char *path, vhem_models **out); /* what has states, and pairs to compare */
int cli_load_clusters(cli *c, const char *path, vhem_tree **out);
int cli_load_input(cli *c, const char *path, const vhem_data_options *opt, cli_input *in);
void cli_input_free(cli_input *in);

/* common.c.  Says over which columns the HMMs of n sets are compared when some of them lack columns: those
 * that all have, or for each pair those that both have. */
void cli_tell_common(cli *c, int n, const vhem_models *const *sets, bool pairs);
typedef struct {
    int64_t all, missing;
} cli_values;
/* How many values the data has in the columns that the models look at; shared: that all of them have. */
cli_values cli_count_values(const vhem_models *models, const vhem_data *data, bool shared);
/* [items]: of those that all models have, the values that are there; free() it, NULL without memory. */
int64_t *cli_observed(const vhem_models *models, const vhem_data *data, const vhem_items *items);

/* symbols.c.  Does a file of sequences keep texts?  And, where it does not: says which number it has for
 * which symbol. */
bool cli_holds_text(const char *path);
void cli_tell_symbols(cli *c, const vhem_data *data, const char *output);

/* columns.c.  Sequences, for models (or NULL) or else for an emission (or NULL): columns of symbols may hold
 * text, and of a table only the columns that the emission or the models name are read.  cli_read_for sets
 * options for this, whose texts live as long as c or until the next call. */
int cli_load_data(cli *c, const char *path, const vhem_data_options *opt, const vhem_models *models,
                  const char *emission, vhem_data **out);
int cli_read_for(cli *c, const char *path, const vhem_models *models, const char *emission,
                 vhem_data_options *opt);
/* Are models of this emission?  By column: the channels of a product, in any order. */
bool cli_emission_is(const vhem_models *models, const char *emission);

typedef struct { /* what models of all kinds have */
    const char *name, *label;
    double omega;
    int S, M; /* of a texture S is the dimension of its state, M is 0 */
} cli_model;
cli_model cli_model_at(const vhem_models *models, int64_t i);
/* All 0 for NULL. */
vhem_models_facts cli_models_facts(const vhem_models *models);
vhem_data_facts cli_data_facts(const vhem_data *data);
vhem_tree_facts cli_tree_facts(const vhem_tree *tree);
vhem_classes_facts cli_classes_facts(const vhem_classes *classes);
/* Sequence n and class k, which are there. */
vhem_seq_view cli_sequence_at(const vhem_data *data, int64_t n);
vhem_class_view cli_class_at(const vhem_classes *classes, int k);
/* The method of clustering by name, or, for NULL, the default for textures or HMMs. */
vhem_method_facts cli_method_facts(const char *name, bool textures);
/* Reads the first n models (all, when there are fewer) of a set on disk, or says what is damaged: to be
 * called before they are looked at. */
int cli_models_read(cli *c, const vhem_models *models, int64_t n);
/* Its name, or "i" when it has none; buf serves for that. */
const char *cli_model_name(const vhem_models *models, int64_t i, char *buf, size_t size);
json_t *cli_json_names(const vhem_models *models);     /* of all of them */
const char *cli_model_word(const vhem_models *models); /* "HMM", "texture" */
const char *cli_item_word(const vhem_source *from);    /* or "sequence", "group" */
/* Are these the models, of a file called what, that were clustered in a file called where: as many, with the
 * same names? */
int cli_check_models(cli *c, const vhem_models *models, const char *what, const vhem_clustering *cl,
                     const char *where);
/* [items]  frames of each; from malloc. */
int64_t *cli_frames(const vhem_data *data, const vhem_items *items);

/* agreement.c.  Classes are texts, "" for none, which is left out of every comparison.  When fewer than two
 * items have a class everything is NaN, and null in JSON. */
int cli_agreement(cli *c, int64_t n, const char *const *class_of, const int *cluster, vhem_agreement *out);
json_t *cli_agreement_json(cli *c, int64_t n, const char *const *class_of, const int *cluster);

typedef struct {       /* where the classes of clustered items may come from; each may be NULL */
    const char *truth; /* --truth: a column of the data, or a table of names and classes */
    const vhem_models *models;
    const vhem_data *data;
} cli_truth;
/* truth.c.  *class_of [Kb] and its texts, "" for none, are one block: free() it; NULL when there are none. */
int cli_truth_find(cli *c, const cli_truth *from, const vhem_clustering *cl, const char ***class_of);
/* Is --truth a table?  Else it is the column of --data to be read as the label. */
bool cli_truth_is_file(const char *truth);

/* families.c.  Says which emissions suit the columns better than Gaussians, if any; text: and that text may
 * be symbols. */
void cli_tell_families(cli *c, const vhem_data *data, bool text);
/* cmd_stats.c.  Without a group each sequence is a person: warns where persons, or other groups, were
 * clustered. */
void cli_check_persons(cli *c, const vhem_statistics *s, const vhem_tree *tree, const vhem_data *data,
                       const char *group);

/* topology.c: a file with fixed entries of pi and A; null is free.  *pi and *A come from malloc, either may
 * stay NULL, *S is their size. */
int cli_topology_load(cli *c, const char *path, int *S, double **pi, double **A);

#endif
