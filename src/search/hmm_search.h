/* SPDX-License-Identifier: BSD-3-Clause */
/* hmm_search.h - VHEM from many starts: what restarts.h asks of a kind of model, for HMMs. */
#ifndef VH_SEARCH_HMM_SEARCH_H
#define VH_SEARCH_HMM_SEARCH_H

#include "search/restarts.h"

typedef struct { /* what all restarts share; none of it is released here but the search */
    const vhem_cluster_options *opt;
    int64_t K;             /* clusters */
    const vh_h3m *start;   /* of restarts without a kind; NULL: there are none */
    vh_base *base, *trial; /* equal: restarts are judged on all models */
    const double *floor;   /* [d], or NULL */
    bool lean;             /* runs on all models have labels, but neither z nor L */
    vh_search search;
} vh_hmm_search;

/* Prepares s->search, all else of s being filled in. */
vhem_status vh_hmm_search_new(vhem_ctx *ctx, vh_hmm_search *s, uint64_t seed);
void vh_hmm_search_free(vh_hmm_search *s);

#endif
