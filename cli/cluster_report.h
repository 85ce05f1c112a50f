/* SPDX-License-Identifier: BSD-3-Clause */
/* cluster_report.h - what vhem cluster and tree tell about clusters. */
#ifndef VHEM_CLI_CLUSTER_REPORT_H
#define VHEM_CLI_CLUSTER_REPORT_H

#include "cluster_args.h"

typedef struct { /* one level, as the input models see it */
    const vhem_clustering *clustering;
    int n;                 /* input models */
    const int *label;      /* [n] the cluster each of them is in at this level */
    char **name;           /* [n] "" for none */
    const char **class_of; /* [n] of the models, "" for none; NULL when they are not at hand */
} cluster_level;

/* "HMM", "sequence" or "group": what was clustered at the lowest level. */
const char *cluster_thing(const vhem_clustering *cl);
/* How many restarts came to the best bound, as closely as they can be told apart. */
int cluster_reached(const vhem_clustering *cl);
/* "a, b, c, ..." of cluster j, at most few of them; the number of members. */
int cluster_members(const cluster_level *level, int j, int few, char *text, size_t size);
/* Sizes, members, bound, restarts, repairs, agreement with the classes. */
json_t *cluster_level_json(const cluster_level *level);
/* The same in words, on standard error; stopped: the restarts of this level were interrupted. */
void cluster_level_tell(cli *c, const cluster_level *level, const char *title, bool stopped);

#endif
