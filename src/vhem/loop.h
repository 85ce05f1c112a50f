/* SPDX-License-Identifier: BSD-3-Clause */
/* loop.h - hierarchical EM for models of any kind: E-step and M-step alternate until the bound converges.
 * Paper, Section 3.  VHEM-H3M, its variational Bayes and HEM-DTM each bring four functions. */
#ifndef VH_VHEM_LOOP_H
#define VH_VHEM_LOOP_H

#include "core/ctx.h"

typedef struct {
    double N; /* virtual samples in all */
    int tau, max_iter;
    double tol;          /* relative change of J that ends it; 0: never */
    double constant;     /* a part of J that never changes, for each virtual sample: not counted in it */
    int min_iter;        /* M-steps before it may end */
    const double *floor; /* [d]  smallest variances; NULL: none */
    double cov_add;      /* added to the diagonal of every covariance after an M-step */
    bool repair, weighted;
    bool lean; /* labels are wanted, z and L are not */
    uint64_t seed;
} vh_vhem_options;

typedef struct {
    int n_iter, converged, n_empty, n_revived, n_fell;
    double *J;     /* [n_iter+1]; free() */
    double *z, *L; /* [Kb][Kr] of the final model, NULL when lean; free() */
    int *label;    /* [Kb]  when lean, else NULL; free() */
    double best;   /* J of the best iteration so far */
    int idle;      /* iterations in a row that were repaired and gained less than tol over it */
} vh_vhem_run;

void vh_vhem_run_free(vh_vhem_run *run);

typedef struct { /* what the loop alternates; k counts M-steps from 0 */
    /* The E-step of the present model, and its bound J.  last: no M-step will follow. */
    vhem_status (*expect)(vhem_ctx *ctx, void *model, bool last, double *J);
    /* Is J[k] the end?  As vh_vhem_converged; repaired: by the repairs before this E-step. */
    bool (*converged)(vhem_ctx *ctx, void *model, int k, bool repaired, vh_vhem_run *run);
    vhem_status (*maximise)(vhem_ctx *ctx, void *model);
    /* *repaired: the model was changed by other means than the M-step, and J may fall once. */
    vhem_status (*repair)(vhem_ctx *ctx, void *model, int k, vh_vhem_run *run, bool *repaired);
} vh_em;

/* Fills in J, n_iter, converged and the counts of run.  A stop ends it after the E-step at hand; where an
 * E-step fails, n_iter is that of the last one that did not, -1 for none. */
vhem_status vh_em_run(vhem_ctx *ctx, const vh_em *em, void *model, int max_iter, vh_vhem_run *run);

enum { VH_MOST_IDLE = 3 }; /* so many, and there are no more repairs: the run may end */
/* True if the relative change of J is below the tolerance.  Also counts decreases of J, which theory rules
 * out.  repaired: J may fall once, and whether the repairs were any use, run->idle tells. */
bool vh_vhem_converged(vhem_ctx *ctx, const vh_vhem_options *opt, int k, bool repaired, vh_vhem_run *run);

#endif
