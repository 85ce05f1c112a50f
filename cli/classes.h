/* SPDX-License-Identifier: BSD-3-Clause */
/* classes.h - what vhem classify and vhem annotate share: options, training, and judging of predictions. */
#ifndef VHEM_CLI_CLASSES_H
#define VHEM_CLI_CLASSES_H

#include "cli.h"
#include "vhem/classes.h"

typedef struct {
    vhem_data_options data;
    vhem_train_options train; /* with pointers to these two */
    vhem_fit_options piece;
    vhem_cluster_options reduce;
    vhem_rank_options rank;
    const char *output, *cov, *tags, *at;
    int no_store, all, check, folds, fast;
    double holdout;
    vhem_data *sequences;
    vhem_tags *tag_list;
    vhem_classes *classes;
    const cli_usage *usage;
} classes_args;

/* classes.c */
bool classes_are_tags(const cli *c); /* is it vhem annotate? */
void classes_args_init(classes_args *a, bool annotate);
/* Rows that several parts have; tags: of vhem annotate. */
void classes_add_output(cli_table *t, classes_args *a, const char *help);
void classes_add_training(cli_table *t, classes_args *a, bool tags);
void classes_add_judging(cli_table *t, classes_args *a);
void classes_add_fast(cli_table *t, classes_args *a);
void classes_add_data(cli_table *t, classes_args *a, bool tags); /* with --tags where it is wanted */

/* Reads the command line, does it, and frees what the arguments hold; returns the exit status. */
typedef int classes_do(cli *c, classes_args *a);
int classes_run(cli *c, int argc, char **argv, const cli_usage *usage, classes_args *a, classes_do *work);
/* Where examples are learned from or judged by, annotate needs their --tags. */
int classes_need_tags(cli *c, const classes_args *a);
/* DATA, and --tags where given. */
int classes_load_examples(cli *c, const char *path, classes_args *a);
/* MODEL and DATA of the command line, and --tags. */
int classes_load(cli *c, classes_args *a);
/* The prediction of a->sequences; with --check it also says what a fast search cost. */
int classes_predict(cli *c, const classes_args *a, vhem_prediction **p);
/* CLI_GO for VHEM_OK; after an interruption says where the store is. */
int classes_stopped(cli *c, vhem_status st, const char *store);

typedef struct { /* in a ranking */
    double score;
    int64_t at; /* which class, or song */
} classes_place;
int classes_best_first(const void *a, const void *b);                         /* for qsort */
int classes_best(const vhem_prediction *p, int64_t i);                        /* the class of item i */
void classes_rank(const vhem_prediction *p, int64_t i, classes_place *place); /* all of them, [C] */

/* classes_report.c: judges p, and fast (or NULL) besides, and writes the tables or the JSON to a->output. */
int classes_judge(cli *c, const classes_args *a, const vhem_prediction *p, const vhem_prediction *fast);

cli_run classes_train, classes_update, classes_eval, classes_cross; /* for both commands */

#endif
