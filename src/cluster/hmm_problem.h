/* SPDX-License-Identifier: BSD-3-Clause */
/* hmm_problem.h - a search by VHEM as a whole: the models in the form they are clustered in, restarts and
 * candidates.  Methods that go on from where VHEM ends begin here too. */
#ifndef VH_CLUSTER_HMM_PROBLEM_H
#define VH_CLUSTER_HMM_PROBLEM_H

#include "cluster/hmm_search.h"

typedef struct {
    vh_hmm_search s;
    vh_h3m *trial_models;             /* NULL: restarts are judged on all models */
    vh_journal *journal;              /* NULL: there is no checkpoint */
    double *floor;                    /* [d], or NULL */
    const vh_h3m *models;             /* the input, in the family of the centres */
    vh_h3m *full, *full_start, *fine; /* copies: with full covariances, and cut finer; or NULL */
} vh_hmm_problem;                     /* zero it before use */

/* opt must outlive the task. */
vhem_status vh_hmm_problem_new(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *opt,
                               uint64_t seed, vh_hmm_problem *t);
/* Restarts and candidates; t->s.search has them and the winner. */
vhem_status vh_hmm_problem_search(vhem_ctx *ctx, vh_hmm_problem *t, uint64_t seed);
void vh_hmm_problem_free(vh_hmm_problem *t);

#endif
