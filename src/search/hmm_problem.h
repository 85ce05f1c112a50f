/* SPDX-License-Identifier: BSD-3-Clause */
/* hmm_problem.h - a complete VHEM search: model conversion, restarts and candidates.  Also the first stage of
 * methods that continue from VHEM. */
#ifndef VH_SEARCH_HMM_PROBLEM_H
#define VH_SEARCH_HMM_PROBLEM_H

#include "search/hmm_search.h"

/* Above this many models, restarts are judged on a sample of this size, and processes share the sums. */
enum { VH_FEW_MODELS = 4096 };

typedef struct vh_hmm_problem {
    /* The caller fills in models, shards, Kb and remote, and opt, K, start and lean of s. */
    vh_hmm_search s;
    const vh_h3m *models;    /* the input; after opening, in the family of the centres */
    const vh_shards *shards; /* if on disk: the whole set, of which models are the first; else NULL */
    int64_t Kb;              /* number of input models */
    vh_remote remote;        /* callbacks for sums over all models */
    vh_h3m *trial_models;    /* sample for judging restarts; NULL: all models */
    vh_journal *journal;     /* NULL without a checkpoint */
    double *floor;           /* [d], or NULL */
    vh_h3m *full, *full_start, *fine; /* converted copies: full covariances, refined; or NULL */
} vh_hmm_problem;                     /* zero it before use */

/* All inputs must outlive the problem. */
vhem_status vh_hmm_problem_open(vhem_ctx *ctx, uint64_t seed, vh_hmm_problem *t);
/* Runs restarts and candidates; t->s.search has them and the best one. */
vhem_status vh_hmm_problem_search(vhem_ctx *ctx, vh_hmm_problem *t, uint64_t seed);
void vh_hmm_problem_free(vh_hmm_problem *t);

#endif
