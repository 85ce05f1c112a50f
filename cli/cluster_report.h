/* SPDX-License-Identifier: BSD-3-Clause */
/* cluster_report.h - what vhem cluster, tree and info say about clusters. */
#ifndef VHEM_CLI_CLUSTER_REPORT_H
#define VHEM_CLI_CLUSTER_REPORT_H

#include "cli.h"

typedef struct { /* one level, as the items of the lowest one see it */
    const vhem_clustering *clustering;
    int64_t n;                   /* items of the lowest level */
    const int *label;            /* [n] the cluster each of them is in at this level */
    const char *const *name;     /* [n] "" for none */
    const char *const *class_of; /* [n] "" for none; NULL when they are not at hand */
    const double *share;         /* [n] of the lowest level, where it is known; else NULL */
} cluster_level;

cluster_level cluster_level_of(const vhem_tree *tree, int l, const char *const *class_of);
/* "HMM", "texture", "sequence" or "group": what was clustered at the lowest level. */
const char *cluster_item_word(const vhem_tree *tree);
/* And at level l: "centre", or "cluster" where sequences were clustered. */
const char *cluster_level_word(const vhem_tree *tree, int l);
/* Sizes, members, bound, restarts, repairs, agreement with the classes. */
json_t *cluster_level_json(cli *c, const cluster_level *level);
/* Did the search add the run that began so to the restarts: a partition from distances, or the best restart,
 * settled? */
bool cli_is_candidate(const char *init);
/* The same in words, on standard error; stopped: the restarts of this level were interrupted. */
void cluster_level_tell(cli *c, const cluster_level *level, const char *word, const char *title,
                        bool stopped);

#endif
