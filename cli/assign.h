/* SPDX-License-Identifier: BSD-3-Clause */
/* assign.h - what vhem assign found, and how it is written. */
#ifndef VHEM_CLI_ASSIGN_H
#define VHEM_CLI_ASSIGN_H

#include "cli.h"

typedef struct { /* what is assigned, and where it went */
    vhem_tree *tree;
    cli_input input;
    vhem_items *items;
    int levels;
    int64_t n, Kr;             /* items, clusters of the lowest level */
    int *label;                /* [n][levels] */
    int *above;                /* [levels][Kr]  where a cluster of the lowest level is at each level */
    double *posterior, *score; /* [n][Kr]  [n] */
    int64_t *frames;           /* [n]  of sequences and groups; NULL for models */
} assignment;

/* A row for each item, with its cluster at every level. */
void assign_write_table(FILE *f, const assignment *s);
/* Agreement of level l with the labels of what is assigned. */
json_t *assign_level_json(cli *c, const assignment *s, int l);
void assign_write_json(FILE *f, cli *c, const assignment *s, json_t *levels);
void assign_tell(cli *c, const assignment *s, const json_t *levels);

#endif
