/* SPDX-License-Identifier: BSD-3-Clause */
/* tree_file.h - clustering and tree files. */
#ifndef VH_CLUSTER_TREE_FILE_H
#define VH_CLUSTER_TREE_FILE_H

#include "methods/clustering.h"
#include "cluster/tree.h"
#include "models/parsed_file.h"

/* A tree from a file that is open: of one level from a clustering, without items from models. */
vhem_status vh_tree_from_parsed(vhem_ctx *ctx, vh_parsed_file *doc, vhem_tree **out);

#define VH_CLUSTERING_VERSION 1 /* of both formats; files up to this one are read */

#endif
