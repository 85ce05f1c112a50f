/* SPDX-License-Identifier: BSD-3-Clause */
/* compare.h - distances between the models of two sets, and how vhem compare writes them. */
#ifndef VHEM_CLI_COMPARE_H
#define VHEM_CLI_COMPARE_H

#include "cli.h"

typedef struct {
    const char *output, *kernel; /* "normalised", "raw" */
    vhem_distance_options opt;   /* kind NULL: all, as a table of pairs */
    int raw;
} compare_args;

typedef struct {
    vhem_models *a, *b; /* the same object for a set against itself */
    int64_t Ka, Kb;
    cli_matrix kl, sampled, error, ppk; /* [Ka][Kb] each, without numbers: not asked for */
} comparison;

bool compare_is_npy(const char *path); /* is the output an array for NumPy? */
/* Matrix, table of pairs or JSON to a->output, and a summary; the exit status. */
int compare_write(cli *c, const compare_args *a, const comparison *s);

#endif
