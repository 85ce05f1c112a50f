/* SPDX-License-Identifier: BSD-3-Clause */
/* tree.h - storage of a hierarchy. */
#ifndef VH_CLUSTER_TREE_H
#define VH_CLUSTER_TREE_H

#include "core/ctx.h"

struct vhem_tree {
    int n, cap;            /* levels, and room for them */
    vh_clustering **level; /* [n]  lowest first */
    int **base_labels;     /* [n][Kb of level 0] */
    char *provenance;      /* JSON object as text, or NULL */
};

vhem_status vh_tree_new(vhem_ctx *ctx, int cap, vhem_tree **out);
/* Level n takes over c, whose models are the centres of level n-1, those of weight zero left out, or all of
 * them; where the input models end up follows.  On failure c stays the caller's. */
vhem_status vh_tree_add(vhem_ctx *ctx, vhem_tree *tree, vh_clustering *c);
/* Which model of level l centre j of level l-1 is; -1 when it was left out. */
int vh_tree_row(const vhem_tree *tree, int l, int j);

#endif
