/* SPDX-License-Identifier: BSD-3-Clause */
/* partial.h - the sums of a task over some chunks of base HMMs: nodes of the tree that adds them
 * (parallel/tree_sum.h), and the rows of tables that were wanted. */
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
    int64_t task;        /* its fingerprint */
    vh_packed sizes;     /* of an E-step: K, S, M and what follows from them; K is 0 for a survey */
    vh_reduce_step step; /* how its blocks are merged */
    size_t size;         /* doubles of a block */
    vh_tree_sum *sum;
    vh_partial_rows *rows; /* [n_rows] */
    size_t n_rows, cap;
};

typedef struct { /* what makes partial sums alike */
    int64_t task;
    size_t size;      /* of a survey */
    int Kr;           /* 0: it is one */
    const int *S, *M; /* [Kr] */
    int n_stat;
    bool statistics;
} vh_partial_kind;

/* Are these sums of the kind?  Only then do their blocks and rows have the sizes that go with it. */
bool vh_partial_is(const vhem_partial *p, const vh_partial_kind *kind);
vhem_status vh_partial_new(vhem_ctx *ctx, const vh_partial_kind *kind, vhem_partial **out);
/* Room for rows, which the partial then has: tables as `like` wants them. */
vhem_status vh_partial_add_rows(vhem_ctx *ctx, vhem_partial *p, const vh_partial_rows *like,
                                vh_partial_rows **out);
/* The sum of all chunks into total [size], and rows into the tables that are not NULL.  The partial has no
 * sums any more. */
vhem_status vh_partial_close(vhem_ctx *ctx, vhem_partial *p, int64_t chunks, double *total,
                             const vh_partial_rows *tables);

#endif
