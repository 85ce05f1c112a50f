/* SPDX-License-Identifier: BSD-3-Clause */
/* strange.h - what is strange about sequences that are clustered. */
#ifndef VH_METHODS_STRANGE_H
#define VH_METHODS_STRANGE_H

#include "methods/clustering.h"
#include "search/sequence_graphs.h"

/* Refuses items that no model can be fitted to, and warns about columns that some items lack. */
vhem_status vh_check_items(vhem_ctx *ctx, const vh_graph_source *from);

/* Warns about items that are exact copies of others, and about items that no cluster explains: under the
 * centre of its own cluster, a frame is far less likely than in other members.  c: labels and L_hmm. */
vhem_status vh_tell_strange(vhem_ctx *ctx, const vhem_data *data, const vh_sets *sets,
                            const vh_clustering *c);

#endif
