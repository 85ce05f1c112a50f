/* SPDX-License-Identifier: BSD-3-Clause */
/* hmm_search.h - VHEM from many starts: the callbacks of restarts.h for HMMs. */
#ifndef VH_SEARCH_HMM_SEARCH_H
#define VH_SEARCH_HMM_SEARCH_H

#include "search/restarts.h"

typedef struct { /* shared by all restarts; owns only the search */
    const vhem_cluster_options *opt;
    int64_t K;             /* number of clusters */
    const vh_h3m *start;   /* for restarts without a kind; or NULL */
    vh_base *base, *trial; /* trial == base: restarts are judged on all models */
    const double *floor;   /* [d], or NULL */
    bool lean;             /* runs on all models compute labels, but neither z nor L */
    vh_search search;
} vh_hmm_search;

/* Initialises s->search; all other fields of s must be set. */
vhem_status vh_hmm_search_new(vhem_ctx *ctx, vh_hmm_search *s, uint64_t seed);
void vh_hmm_search_free(vh_hmm_search *s);

#endif
