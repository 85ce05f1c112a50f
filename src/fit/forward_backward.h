/* SPDX-License-Identifier: BSD-3-Clause */
/* forward_backward.h - the reference for one HMM and one sequence; faster kernels fall back
 * on it where their short cuts end. */
#ifndef VH_FIT_FORWARD_BACKWARD_H
#define VH_FIT_FORWARD_BACKWARD_H

#include "fit/estep.h"
#include "core/ctx.h"
#include <stdint.h>

typedef struct { /* one HMM and one sequence */
    const vh_packed *pk;
    int k;           /* the HMM, by its place in the set */
    const double *y; /* [T][d] */
    int64_t T;
    double w; /* what the pair counts in the statistics */
} vh_seq_pair;

/* stats may be NULL; it is added to.  Uses scratch slots 0 to 5. */
vhem_status vh_ref_pair(vhem_ctx *ctx, const vh_seq_pair *pair, vh_scratch *scratch, double *loglik,
                        vh_stats *stats);
/* log_b [T][S] = log p(y_t | s), and log c + log p of each component, comp
 * [T][S*M].  Uses scratch slots 0 and 1. */
vhem_status vh_ref_emissions(vhem_ctx *ctx, const vh_seq_pair *pair, vh_scratch *scratch, double *comp,
                             double *log_b);

/* For all that a backend leaves out. */
extern const vh_seq_kernels vh_seq_ref;

/* ---- the chain of one HMM and one sequence, in logs ---------------------------------------------------- */

/* The Markov chain of one HMM and one sequence, in logs: exact whatever the numbers. */

/* The recursions give up when a stop is overdue (vh_overdue), which their caller finds out by itself. */
typedef struct { /* a chain and what its states say of the frames */
    int S;
    int64_t T;
    const double *pi, *A; /* [S] [S][S] */
    const double *log_b;  /* [T][S]  log p(y_t | s) */
    vhem_ctx *ctx;        /* NULL: it cannot be stopped */
} vh_chain;

/* Fills alpha [T][S] = log p(y_1:t, s_t = s); returns log p(y). */
double vh_log_forward(const vh_chain *c, double *alpha);
/* beta [T][S] = log p(y_t+1:T | s_t = s). */
void vh_log_backward(const vh_chain *c, double *beta);
/* From both: gamma [T][S] may be alpha itself, and is 0 where the sequence is impossible; xi [S][S] expected
 * transitions are added times weight (NULL: none). */
void vh_log_posterior(const vh_chain *c, const double *alpha, const double *beta, double weight,
                      double *gamma, double *xi);

#endif
