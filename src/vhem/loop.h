/* SPDX-License-Identifier: BSD-3-Clause */
/* loop.h - hierarchical EM for any kind of model: E-step and M-step alternate until the bound converges.
 * Paper, Section 3.  VHEM-H3M, VBHEM and HEM-DTM each provide four functions. */
#ifndef VH_VHEM_LOOP_H
#define VH_VHEM_LOOP_H

#include "core/ctx.h"

typedef struct {
    double N; /* total number of virtual samples */
    int tau, max_iter;
    double tol;          /* stop when the relative change of J is below this; 0: never */
    double constant;     /* constant part of J per virtual sample, excluded from the relative change */
    int min_iter;        /* M-steps before it may converge */
    const double *floor; /* [d]  smallest variances; NULL: none */
    double cov_add;      /* added to the diagonal of every covariance after an M-step */
    bool repair, weighted;
    bool lean; /* output labels instead of z and L */
    uint64_t seed;
} vh_vhem_options;

typedef struct {
    int n_iter, converged, n_empty, n_revived, n_fell;
    double *J;     /* [n_iter+1]; free() */
    double *z, *L; /* [Kb][Kr] of the final model, NULL when lean; free() */
    int *label;    /* [Kb]  when lean, else NULL; free() */
    double best;   /* best J so far */
    int idle;      /* consecutive repaired iterations that raised best by less than tol */
} vh_vhem_run;

void vh_vhem_run_free(vh_vhem_run *run);

typedef struct { /* the steps of the loop; k counts M-steps from 0 */
    /* E-step of the current model; computes the bound J.  last: no M-step will follow. */
    vhem_status (*expect)(vhem_ctx *ctx, void *model, bool last, double *J);
    /* True if converged at iteration k, as vh_vhem_converged; repaired: the model was repaired before this
     * E-step. */
    bool (*converged)(vhem_ctx *ctx, void *model, int k, bool repaired, vh_vhem_run *run);
    vhem_status (*maximise)(vhem_ctx *ctx, void *model);
    /* *repaired: the model was changed other than by the M-step, so J may fall once. */
    vhem_status (*repair)(vhem_ctx *ctx, void *model, int k, vh_vhem_run *run, bool *repaired);
} vh_hem;

/* Fills J, n_iter, converged and the counts of run.  A stop takes effect after the current E-step.  If an
 * E-step fails, n_iter is that of the last complete one, -1 for none. */
vhem_status vh_hem_run(vhem_ctx *ctx, const vh_hem *em, void *model, int max_iter, vh_vhem_run *run);

enum { VH_MOST_IDLE = 3 }; /* value of idle at which repairs end, so that the run can converge */
/* True if the relative change of J is below the tolerance.  Also counts decreases of J, which theory rules
 * out, and updates run->idle.  repaired: a decrease of J is expected and not counted. */
bool vh_vhem_converged(vhem_ctx *ctx, const vh_vhem_options *opt, int k, bool repaired, vh_vhem_run *run);

#endif
