/* SPDX-License-Identifier: BSD-3-Clause */
/* partial.h - the sums of a task over some chunks of base HMMs: nodes of the summation tree
 * (parallel/tree_sum.h), and the requested rows of tables. */
#ifndef VH_DISTRIBUTED_PARTIAL_H
#define VH_DISTRIBUTED_PARTIAL_H

#include "vhem/estep.h"
#include "parallel/tree_sum.h"

typedef struct { /* HMMs first .. first+n-1 */
    int64_t first, n;
    double *L, *z; /* [n][Kr], or NULL */
    int *label;    /* [n], or NULL */
} vh_partial_rows;

struct vhem_partial {
    int64_t task;        /* fingerprint of the task */
    vh_packed sizes;     /* of an E-step: K, S, M and offsets; K is 0 for a survey */
    vh_reduce_step step; /* how its blocks are merged */
    size_t size;         /* number of doubles in a block */
    vh_tree_sum *sum;
    vh_partial_rows *rows; /* [n_rows] */
    size_t n_rows, cap;
};

/* A partial of a task: of a survey (pk NULL or without HMMs), with blocks of `size` numbers, or of an E-step
 * for the centres pk, of which only the sizes are used. */
vhem_status vh_partial_new(vhem_ctx *ctx, int64_t task, size_t size, const vh_packed *pk, bool statistics,
                           vhem_partial **out);
/* True if the partial is such a one; only then do its blocks and rows have the matching sizes. */
bool vh_partial_is(const vhem_partial *p, int64_t task, size_t size, const vh_packed *pk, bool statistics);
/* Adds zeroed rows to the partial, with the tables that are not NULL in `like`. */
vhem_status vh_partial_add_rows(vhem_ctx *ctx, vhem_partial *p, const vh_partial_rows *like,
                                vh_partial_rows **out);
/* Computes the sum of all chunks into total [size], and copies rows into the tables that are not NULL.
 * Empties the sums of the partial. */
vhem_status vh_partial_close(vhem_ctx *ctx, vhem_partial *p, int64_t chunks, double *total,
                             const vh_partial_rows *tables);

#endif
