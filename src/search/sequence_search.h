/* SPDX-License-Identifier: BSD-3-Clause */
/* sequence_search.h - groups of sequences: partitions of several graphs of neighbours, and a judge that looks
 * at no label.
 *
 * A partition is good if its graph has many more edges inside groups than chance would put there
 * (modularity), and if samples of the same items have the same groups (stability).  The largest sum of both
 * decides which graph is kept and, if the number of groups is not given, how many there are.  It cannot say
 * that there are no groups: a single kind of sequences has parts, too. */
#ifndef VH_SEARCH_SEQUENCE_SEARCH_H
#define VH_SEARCH_SEQUENCE_SEARCH_H

#include "search/sequence_graphs.h"

typedef struct { /* the judgement of a partition into K groups */
    int K;
    double modularity;
    double stability; /* mean adjusted Rand index with the partitions of samples, where several numbers of
                         groups are tried also of the numbers beside this one; NaN: not computed */
} vh_judged;

typedef struct { /* a graph and the partition found in it: a candidate */
    vh_graph_kind kind;
    vh_near near;
    int n_judged;
    vh_judged *judged; /* [n_judged]  of each number of groups that was tried */
    vh_judged best;    /* of the partition below */
    int *label;        /* [n]  groups are numbered by first appearance; NULL: the graph could not be made */
    double *share;     /* [n]  in how many of the samples the item is in this group; NULL: not known */
} vh_seq_candidate;

typedef struct {
    int64_t n; /* items */
    int n_all, best;
    vh_seq_candidate all[VH_MOST_GRAPHS];
} vh_seq_search; /* zero it before use */

/* Makes all graphs that serve the items, and partitions each into the number of groups that the judge likes
 * best, of K [n_K], ascending; n_K 0: of those that suit so many items, but not the largest, as a larger one
 * might be better still.  best is the graph to keep. */
vhem_status vh_seq_search_run(vhem_ctx *ctx, const vh_graph_source *from, int n_K, const int64_t *K,
                              uint64_t seed, vh_seq_search *out);
/* The number of groups that the judge likes best in the graph that was kept, whatever number was asked
 * for. */
vhem_status vh_seq_search_number(vhem_ctx *ctx, const vh_seq_search *s, uint64_t seed, vh_judged *out);
/* Numbers the groups of label [n], below K, by first appearance; to [K] is scratch. */
void vh_number_groups(int64_t n, int K, int *label, int *to);
void vh_seq_search_free(vh_seq_search *s);

#endif
