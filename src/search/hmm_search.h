/* SPDX-License-Identifier: BSD-3-Clause */
/* hmm_search.h - a search by VHEM for the centres of HMMs: models in the form in which they are clustered,
 * restarts (restarts.h) and candidates (spectral_starts.h).  Also the first stage of methods that continue
 * from VHEM, and, with K = 1, the search for the centre of one group (group_centres.h). */
#ifndef VH_SEARCH_HMM_SEARCH_H
#define VH_SEARCH_HMM_SEARCH_H

#include "search/restarts.h"

/* Above this many models, restarts are judged on a sample of this size, and processes share the sums. */
enum { VH_FEW_MODELS = 4096 };

typedef struct vh_hmm_search {
    /* asked for; must outlive the search */
    const vhem_cluster_options *opt;
    const vh_h3m *models;    /* after opening, in the family of the centres */
    const vh_shards *shards; /* if on disk: the whole set, of which models are the first; else NULL */
    int64_t Kb;              /* number of models */
    vh_remote remote;        /* callbacks for sums over all models */
    int64_t K;               /* number of clusters */
    const vh_h3m *start;     /* for restarts without a kind; or NULL */
    bool lean;               /* runs on all models compute labels, but neither z nor L */
    /* made of it */
    vh_base *base, *trial;            /* trial == base: restarts are judged on all models */
    const double *floor;              /* [d]  smallest variances, or NULL */
    vh_search search;                 /* all runs */
    vh_h3m *trial_models;             /* sample for judging restarts; NULL: all models */
    vh_journal *journal;              /* NULL without a checkpoint */
    double *own_floor;                /* [d], or NULL */
    vh_h3m *full, *full_start, *fine; /* converted copies: full covariances, refined; or NULL */
    bool opened;                      /* it owns base and trial */
} vh_hmm_search;                      /* zero it before use */

/* Makes base, trial and floor from what is asked for, and prepares the restarts. */
vhem_status vh_hmm_search_open(vhem_ctx *ctx, uint64_t seed, vh_hmm_search *s);
/* Prepares only the restarts: base, trial, floor, opt and K are set. */
vhem_status vh_hmm_search_new(vhem_ctx *ctx, vh_hmm_search *s, uint64_t seed);
/* Runs restarts and candidates; s->search has them and the best one. */
vhem_status vh_hmm_search_run(vhem_ctx *ctx, vh_hmm_search *s, uint64_t seed);
void vh_hmm_search_free(vh_hmm_search *s);

#endif
