/* SPDX-License-Identifier: BSD-3-Clause */
/* sequence_search.h - groups of sequences: partitions of several graphs of neighbours, and a judge that looks at no
 * label.
 *
 * A partition is good if its graph has many more edges inside groups than chance would put there
 * (modularity), and if other samples of the same sequences have the same groups (stability).  Both are
 * between 0 and 1 in practice; the largest sum is kept. */
#ifndef VH_SEARCH_SEQUENCE_SEARCH_H
#define VH_SEARCH_SEQUENCE_SEARCH_H

#include "search/sequence_graphs.h"

typedef struct { /* a graph and the partition found in it: a candidate */
    vh_graph_kind kind;
    vh_near *near; /* NULL: the graph could not be made */
    int *label;    /* [n]  groups are numbered by first appearance */
    double *share; /* [n]  in how many of the samples the item is in this group */
    int K;
    double modularity, stability;
} vh_seq_candidate;

typedef struct {
    int64_t n;      /* items */
    int n_all, best;
    vh_seq_candidate all[VH_MOST_GRAPHS];
} vh_seq_search; /* zero it before use */

/* Makes all graphs that serve the items, partitions each into K groups and judges them; best is the one to keep. */
vhem_status vh_seq_search_run(vhem_ctx *ctx, const vh_graph_source *from, int K, uint64_t seed,
                              vh_seq_search *out);
void vh_seq_search_free(vh_seq_search *s);

#endif
