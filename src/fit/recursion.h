/* SPDX-License-Identifier: BSD-3-Clause */
/* recursion.h - the Markov chain of one HMM and one sequence, in logs: exact whatever the numbers. */
#ifndef VH_FIT_RECURSION_H
#define VH_FIT_RECURSION_H

#include "core/ctx.h"

#include <stdint.h>

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
