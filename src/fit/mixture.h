/* SPDX-License-Identifier: BSD-3-Clause */
/* mixture.h - fits a mixture of HMMs to sets of sequences, from several starts; shared by vh_fit_mixture and
 * the clustering methods that run EM-H3M. */
#ifndef VH_FIT_MIXTURE_H
#define VH_FIT_MIXTURE_H

#include "fit/em_h3m.h"

typedef struct {
    const vhem_data *data;
    const vh_sets *sets;
    const vhem_fit_options *opt; /* resolved; K, S, M, emission and restarts are final */
    const char *kind;            /* of the starts, one of vh_em_starts; NULL: all in turn */
    bool relative;               /* tol is a share of J, not nats per frame */
    uint64_t seed;
    const char *what; /* label for progress */
} vh_mixture_task;

typedef struct {
    vh_h3m *h3m; /* the best mixture; its HMMs have names */
    int R, best;
    vh_em_run *run;  /* [R]  without failed restarts; without J: not begun */
    double *z, *L;   /* [sets][K]  of the best: assignments and log-likelihoods */
} vh_mixture_result; /* zero it before use */

/* On VHEM_ESTOPPED, `out` is the best so far. */
vhem_status vh_mixture_fit(vhem_ctx *ctx, const vh_mixture_task *task, vh_mixture_result *out);
void vh_mixture_result_free(vh_mixture_result *result);

#endif
