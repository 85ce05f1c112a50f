/* SPDX-License-Identifier: BSD-3-Clause */
/* forward_backward.h - the reference for one HMM and one sequence; the fallback of faster kernels where their
 * shortcuts fail. */
#ifndef VH_FIT_FORWARD_BACKWARD_H
#define VH_FIT_FORWARD_BACKWARD_H

#include "fit/estep.h"
#include "core/ctx.h"
#include <stdint.h>

typedef struct { /* one HMM and one sequence */
    const vh_packed *pk;
    int k;           /* index of the HMM in the set */
    const double *y; /* [T][d] */
    int64_t T;
    double w; /* weight of the pair in the statistics */
} vh_seq_pair;

/* Computes *loglik and adds to stats (may be NULL).  Uses scratch slots 0 to 5. */
vhem_status vh_ref_pair(vhem_ctx *ctx, const vh_seq_pair *pair, vh_scratch *scratch, double *loglik,
                        vh_stats *stats);
/* Computes log_b [T][S] = log p(y_t | s), and log c + log p of each component, comp [T][S*M].  Uses scratch
 * slots 0 and 1. */
vhem_status vh_ref_emissions(vhem_ctx *ctx, const vh_seq_pair *pair, vh_scratch *scratch, double *comp,
                             double *log_b);

/* Replaces all that a backend lacks. */
extern const vh_seq_kernels vh_seq_ref;

/* ---- the chain of one HMM and one sequence, in logs ---------------------------------------------------- */

/* The Markov chain of one HMM and one sequence, in logs: exact for any magnitude. */

/* The recursions return early if a stop is overdue (vh_overdue); the caller must check. */
typedef struct { /* a chain and the emission probabilities of the frames */
    int S;
    int64_t T;
    const double *pi, *A; /* [S] [S][S] */
    const double *log_b;  /* [T][S]  log p(y_t | s) */
    vhem_ctx *ctx;        /* NULL: cannot be stopped */
} vh_chain;

/* Fills alpha [T][S] = log p(y_1:t, s_t = s); returns log p(y). */
double vh_log_forward(const vh_chain *c, double *alpha);
/* Computes beta [T][S] = log p(y_t+1:T | s_t = s). */
void vh_log_backward(const vh_chain *c, double *beta);
/* Computes gamma [T][S] from both; gamma may be alpha itself, and is 0 if the sequence is impossible.  Adds
 * weight times the expected transitions to xi [S][S] (NULL: skip). */
void vh_log_posterior(const vh_chain *c, const double *alpha, const double *beta, double weight,
                      double *gamma, double *xi);

#endif
