/* SPDX-License-Identifier: BSD-3-Clause */
/* eval.h - what vhem eval measures, and how it is printed. */
#ifndef VHEM_CLI_EVAL_H
#define VHEM_CLI_EVAL_H

#include "cli.h"

enum {
    EVAL_RAND,
    EVAL_ADJUSTED,
    EVAL_NMI,
    EVAL_PURITY,
    EVAL_EXPECTED,
    EVAL_LOGLIK,
    EVAL_COMPACTNESS,
    EVAL_MODULARITY,
    EVAL_MEASURES
};

typedef struct { /* one file, one run */
    vhem_tree *tree;
    double (*value)[EVAL_MEASURES]; /* [levels]  NaN: not known */
} eval_run;

typedef struct { /* runs of one method, repeated */
    int n;
    const char *const *path; /* [n] */
    eval_run *run;           /* [n] */
} eval_runs;

typedef struct {
    int levels;
    int64_t Kb;
    eval_runs a, b;        /* b: what a is compared with, or n = 0 */
    const char **class_of; /* [Kb]  or NULL */
} eval_result;

/* The table of measures, one row for each level and measure, for people or with tabs. */
bool eval_put_text(cli *c, FILE *f, const eval_result *r); /* false: no memory */
void eval_put_tsv(FILE *f, const eval_result *r);
json_t *eval_json(const cli *c, const eval_result *r);

#endif
