/* SPDX-License-Identifier: BSD-3-Clause */
/* tree.h - storage of a hierarchy. */
#ifndef VH_CLUSTER_TREE_H
#define VH_CLUSTER_TREE_H

#include "methods/clustering.h"
#include "core/ctx.h"

struct vhem_tree {
    int n, cap;            /* number of levels, capacity */
    vh_clustering **level; /* [n]  lowest first */
    int **base_labels;     /* [n][Kb of level 0] */
    int **parent;          /* [n]  [Kr]  cluster of the level above; NULL at the top */
    char *provenance;      /* JSON object as text, or NULL */
    int stopped_level;     /* 1-based level interrupted by a stop; 0: none */
};

vhem_status vh_tree_new(vhem_ctx *ctx, int cap, vhem_tree **out);
/* Adds c as the next level and takes ownership.  Its models must be the centres of the level below, with or
 * without those of weight zero; base_labels are updated.  On failure c stays the caller's. */
vhem_status vh_tree_add(vhem_ctx *ctx, vhem_tree *tree, vh_clustering *c);
/* Makes a tree of one level without items, whose clusters are the models; takes ownership of them. */
vhem_status vh_tree_of_models(vhem_ctx *ctx, vhem_models *models, vhem_tree **out);

static inline const vh_clustering *vh_tree_level(const vhem_tree *tree, int l) /* NULL: no such level */
{
    return l >= 0 && l < tree->n ? tree->level[l] : NULL;
}
static inline const int *vh_tree_base_labels(const vhem_tree *tree, int l)
{
    return l >= 0 && l < tree->n ? tree->base_labels[l] : NULL;
}

#endif
