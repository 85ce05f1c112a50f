/* SPDX-License-Identifier: BSD-3-Clause */
/* classes.h - vhem classify and vhem annotate: one command, about classes or about tags.  cmd_classify.c has
 * its parts and their options, classes_train.c what learns, classes_report.c what predicts and judges. */
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
    bool are_tags; /* is it vhem annotate? */
    const char *output, *cov, *tags, *at;
    int no_store, all, check, folds, fast;
    double holdout;
    vhem_data *sequences;
    vhem_tags *tag_list;
    vhem_classes *classes;
    const cli_usage *usage;
} classes_args;

/* What a part does once its arguments are read; returns the exit status. */
typedef int classes_do(cli *c, classes_args *a);
classes_do classes_train, classes_update, classes_cross, classes_predict, classes_eval;

/* Where examples are learned from or judged by, annotate needs their --tags. */
int classes_need_tags(cli *c, const classes_args *a);
/* MODEL and DATA of the command line, and --tags. */
int classes_load(cli *c, classes_args *a);
/* Judges p, and fast (or NULL) besides, and writes the tables or the JSON to a->output. */
int classes_judge(cli *c, const classes_args *a, const vhem_prediction *p, const vhem_prediction *fast);

#endif
