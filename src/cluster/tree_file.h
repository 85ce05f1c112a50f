/* SPDX-License-Identifier: BSD-3-Clause */
/* tree_file.h - reads clustering and tree files. */
#ifndef VH_CLUSTER_TREE_FILE_H
#define VH_CLUSTER_TREE_FILE_H

#include "methods/clustering.h"
#include "cluster/tree.h"
#include "models/parsed_file.h"

/* Reads a tree from an open file: one level from a clustering, one without items from models. */
vhem_status vh_tree_from_parsed(vhem_ctx *ctx, vh_parsed_file *doc, vhem_tree **out);

#define VH_CLUSTERING_VERSION 1 /* of both formats; older files are read too */

#endif
