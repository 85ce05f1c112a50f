/* SPDX-License-Identifier: BSD-3-Clause */
/* hmm_problem.h - a search by VHEM as a whole: the models in the form they are clustered in, restarts and
 * candidates.  Methods that go on from where VHEM ends begin here too. */
#ifndef VH_SEARCH_HMM_PROBLEM_H
#define VH_SEARCH_HMM_PROBLEM_H

#include "search/hmm_search.h"

/* Of more models than this, restarts are judged on so many, and processes share the sums. */
enum { VH_FEW_MODELS = 4096 };

typedef struct vh_hmm_problem {
    /* The caller fills in models, shards, Kb and remote, and of s opt, K, start and lean. */
    vh_hmm_search s;
    const vh_h3m *models;    /* what is clustered; once open, in the family of the centres */
    const vh_shards *shards; /* where they are; models are the first of them then.  NULL: in memory */
    int64_t Kb;              /* of them */
    vh_remote remote;        /* who makes sums over all models */
    vh_h3m *trial_models;    /* NULL: restarts are judged on all models */
    vh_journal *journal;     /* NULL: there is no checkpoint */
    double *floor;           /* [d], or NULL */
    vh_h3m *full, *full_start, *fine; /* copies: with full covariances, and cut finer; or NULL */
} vh_hmm_problem;                     /* zero it before use */

/* What the caller has filled in must outlive the problem. */
vhem_status vh_hmm_problem_open(vhem_ctx *ctx, uint64_t seed, vh_hmm_problem *t);
/* Restarts and candidates; t->s.search has them and the winner. */
vhem_status vh_hmm_problem_search(vhem_ctx *ctx, vh_hmm_problem *t, uint64_t seed);
void vh_hmm_problem_free(vh_hmm_problem *t);

#endif
