/* SPDX-License-Identifier: BSD-3-Clause */
/* checkpoint_results.h - results of whole clusterings in a checkpoint (core/journal.h), so that a choice
 * among many of them that was killed does not make those again which it has finished. */
#ifndef VH_CLUSTER_CHECKPOINT_RESULTS_H
#define VH_CLUSTER_CHECKPOINT_RESULTS_H

#include "core/hash.h"
#include "hmm/hmm_set.h"

typedef struct {
    const char *path; /* of the checkpoint; NULL: nothing is kept */
    vh_key models;    /* fingerprint of the models */
} vh_checkpoint;

typedef struct {      /* what numbers are asked for: the same, and only the same, give the same */
    const char *what; /* which result it is */
    const vhem_cluster_options *opt; /* as they were asked for */
    int K;
    int64_t number; /* one of several alike; 0 */
} vh_checkpoint_entry;

/* path may be NULL, and must outlive it. */
vhem_status vh_checkpoint_init(vhem_ctx *ctx, const vh_h3m *models, const char *path, vh_checkpoint *out);
/* The n numbers that were kept under this into x; *known: were there any?  The file is open only meanwhile,
 * since clusterings use it too. */
vhem_status vh_checkpoint_find(vhem_ctx *ctx, const vh_checkpoint *kept, const vh_checkpoint_entry *of,
                               size_t n, double *x, bool *known);
vhem_status vh_checkpoint_add(vhem_ctx *ctx, const vh_checkpoint *kept, const vh_checkpoint_entry *of,
                              size_t n, const double *x);

#endif
