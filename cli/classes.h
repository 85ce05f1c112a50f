/* SPDX-License-Identifier: BSD-3-Clause */
/* classes.h - what vhem classify and vhem annotate share: training, and how predictions are judged. */
#ifndef VHEM_CLI_CLASSES_H
#define VHEM_CLI_CLASSES_H

#include "cli.h"

typedef struct {
    const char *name;
    cli_run *run;
    const char *help;
} cli_subcommand;

/* Runs the one that argv[1] names; its help when none is. */
int cli_dispatch(cli *c, int argc, char **argv, const char *about, const cli_subcommand *table);

typedef struct {
    vhem_data_options data;
    vhem_train_options train;
    const char *output, *store, *cov, *tags, *at, *never_given;
    bool no_store, all, check;
    int folds, fast, top;
    double holdout;
    vhem_data *sequences;
    vhem_tags *tag_list;
    vhem_classes *classes;
    const cli_usage *usage;
} classes_args;

bool classes_are_tags(const cli *c); /* is it vhem annotate? */
void classes_args_init(classes_args *a, bool annotate);
void classes_args_free(classes_args *a);

/* clang-format off */
#define CLASSES_TAGS_OPTION(a)                                                                              \
    { "tags", 0, OPT_TEXT, "FILE", &(a)->tags, 0, "none",                                                   \
      "who has which tags: a table with a column for each tag, 0 and 1 below, or columns name,tag" }
#define CLASSES_STORE_OPTION(a, shown)                                                                      \
    { "store", 0, OPT_TEXT, "FILE", &(a)->store, 0, shown,                                                  \
      "keeps every model as soon as it is fitted: a run that was ended goes on from there" }
#define CLASSES_JUDGE_OPTIONS(a)                                                                            \
    { "top", 0, OPT_INT, "N", &(a)->top, 1, NULL, "classes or tags that each is given" },                   \
    { "at", 0, OPT_TEXT, "N[,N]", &(a)->at, 0, NULL, "how many of the first count in P@k" },                     \
    { "never-given", 0, OPT_CHOICE, "zero|base-rate", &(a)->never_given, 0, NULL,                           \
      "precision of a class or tag that none is given: 0, or the share that have it" }
#define CLASSES_FAST_OPTIONS(a)                                                                             \
    { "fast", 0, OPT_INT, "B", &(a)->fast, 1, "none, score every HMM",                                      \
      "look the HMMs up in a tree and score only those in its B best branches" },                           \
    { "check", 0, OPT_FLAG, NULL, &(a)->check, 0, NULL, "say how many --fast answers a full search shares" }
#define CLASSES_DATA_OPTIONS(a)                                                                             \
    CLI_DATA_OPTIONS(&(a)->data, "column with the song or other thing that several sequences are "          \
                                 "fragments of")
/* How models of classes are learned; a is a classes_args *. */
#define CLASSES_TRAIN_OPTIONS(a)                                                                            \
    { "estimator", 0, OPT_TEXT, "NAME", &(a)->train.estimator, 0, NULL,                                     \
      "how the model of a class is made: a method of vhem cluster" },                                       \
    { "hmms", 'k', OPT_INT, "K", &(a)->train.reduce.K, 1, NULL, "HMMs in the model of a class" },           \
    { "states", 'S', OPT_INT, "S", &(a)->train.piece.S, 1, NULL, "states of each HMM" },                    \
    { "mix", 'M', OPT_INT, "M", &(a)->train.piece.M, 1, NULL, "Gaussians in each state" },                  \
    { "cov", 0, OPT_CHOICE, "diag|full", &(a)->cov, 0, NULL, "covariances of the Gaussians" },              \
    { "mixture", 0, OPT_INT, "Ks", &(a)->train.piece.K, 1, NULL, "HMMs fitted to each piece of the data" }, \
    { "chunk", 0, OPT_INT, "N", &(a)->train.chunk, 1, NULL, "examples of a class that make a piece" },      \
    { "bootstrap", 0, OPT_INT, "B", &(a)->train.bootstrap, 0, "0, none",                                    \
      "instead: so many subsamples of the examples of each class" },                                        \
    { "sample", 0, OPT_INT, "b", &(a)->train.sample, 0, "none", "examples in each of the subsamples" },     \
    { "min-examples", 0, OPT_INT, "N", &(a)->train.min_things, 1, NULL,                                     \
      "leave out classes or tags with fewer examples" },                                                    \
    { "prior", 0, OPT_CHOICE, "uniform|counts", &(a)->train.prior, 0, NULL, "of the classes" },             \
    { "fit-restarts", 0, OPT_INT, "R", &(a)->train.piece.restarts, 1, "4", "starts of the fit of a piece" },\
    { "fit-tol", 0, OPT_REAL, "T", &(a)->train.piece.tol, 0, NULL,                                          \
      "such a fit ends when an iteration gains less, in nats per frame" },                                  \
    { "fit-max-iter", 0, OPT_INT, "N", &(a)->train.piece.max_iter, 0, NULL, "most iterations of it" },      \
    { "fit-prior", 0, OPT_TEXT, "PRIOR", &(a)->train.piece.prior, 0, "vb",                                  \
      "prior of such a fit, as --prior of vhem fit" },                                                      \
    { "cov-floor", 0, OPT_REAL, "F", &(a)->train.piece.cov_floor, 0, NULL,                                  \
      "smallest variance of it, as a share of the variance of the data; 0: none" },                         \
    { "fit-init", 0, OPT_CHOICE, "kmeans|random|segment", &(a)->train.piece.init, 0, NULL,                  \
      "how it starts" },                                                                                    \
    { "topology", 0, OPT_CHOICE, "free|left-right|linear", &(a)->train.piece.topology, 0, NULL,             \
      "transitions of the HMMs" },                                                                          \
    { "tau", 0, OPT_INT, "T", &(a)->train.reduce.tau, 1, "10", "length of the virtual samples, in frames" },\
    { "nv", 0, OPT_REAL, "V", &(a)->train.reduce.nv, 0, "as the estimator has it",                          \
      "virtual samples for each HMM of a piece" },                                                          \
    { "restarts", 'r', OPT_INT, "R", &(a)->train.reduce.restarts, 1, NULL,                                  \
      "starts of the model of a class" },                                                                   \
    { "max-iter", 0, OPT_INT, "N", &(a)->train.reduce.max_iter, 0, "200", "most iterations of a run" },     \
    { "tol", 0, OPT_REAL, "T", &(a)->train.reduce.tol, 0, "1e-05",                                          \
      "a run ends when its objective changes by less than this share" }
/* clang-format on */

/* The classes or tags of every thing of the prediction, [n][C]; NULL without memory. */
unsigned char *classes_truth(const vhem_prediction *p, const vhem_tags *tags);
/* Judges p, with fast (or NULL) beside it, and writes the tables or the JSON to a->output. */
int classes_judge(cli *c, const classes_args *a, const vhem_prediction *p, const vhem_prediction *fast);
/* Reads the command line, does it, and frees what the arguments hold; returns the exit status. */
typedef int classes_do(cli *c, classes_args *a);
int classes_run(cli *c, int argc, char **argv, const cli_usage *usage, classes_args *a, classes_do *run);
/* Where examples are learned from or judged by, annotate needs their --tags. */
int classes_need_tags(cli *c, const classes_args *a);
/* DATA, and --tags where given. */
int classes_load_examples(cli *c, const char *path, classes_args *a);
/* MODEL and DATA of the command line, and --tags. */
int classes_load(cli *c, classes_args *a);
/* What the options mean for the training, with its store. */
void classes_settle(classes_args *a, const char *store);
/* The prediction of a->sequences, or EXIT status; says what a fast search cost. */
int classes_predict(cli *c, const classes_args *a, vhem_prediction **p);
/* CLI_GO for VHEM_OK; after an interruption says where the store is. */
int classes_stopped(cli *c, vhem_status st, const char *store);
int classes_best(const vhem_prediction *p, int i, int rank); /* class at a place of the ranking of thing i */

cli_run classes_train, classes_update, classes_eval, classes_cross; /* for both commands */

#endif
