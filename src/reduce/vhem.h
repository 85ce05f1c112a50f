/* SPDX-License-Identifier: BSD-3-Clause */
/* vhem.h - the VHEM-H3M algorithm: from base HMMs and a start to a reduced H3M.  Paper, Section 3. */
#ifndef VH_REDUCE_VHEM_H
#define VH_REDUCE_VHEM_H

#include "model/mstep.h"
#include "reduce/base.h"

enum { VH_MOST_TAU = 10000000 }; /* frames of a virtual sample */

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

/* centers is the start, and becomes the reduced model.  VHEM_ESTOPPED leaves it at the last full iteration,
 * with J, z and L that belong to it.  A stop that is overdue ends an E-step before it is complete: centers
 * are then one M-step ahead of J, and rows of z and L may be ahead, too; n_iter is -1, and there is no
 * result, when it was the first one. */
vhem_status vh_vhem(vhem_ctx *ctx, const vh_base *base, const vh_vhem_options *opt, const vh_workers *workers,
                    vh_h3m *centers, vh_vhem_run *run);
void vh_vhem_run_free(vh_vhem_run *run);

enum { VH_MOST_IDLE = 3 }; /* so many, and there are no more repairs: the run may end */
/* Is J[k] the end?  Also keeps an eye on what theory says cannot happen: counts when J falls.  repaired: the
 * last M-step was followed by repairs, after which J may fall: whether it was any use, run->idle tells. */
bool vh_vhem_converged(vhem_ctx *ctx, const vh_vhem_options *opt, int k, bool repaired, vh_vhem_run *run);

/* Adds a number to the diagonal of every covariance, where there are covariances. */
vhem_status vh_add_to_covariances(vhem_ctx *ctx, vh_h3m *h3m, double add);

#endif
