/* SPDX-License-Identifier: BSD-3-Clause */
/* checkpoint_results.h - caches results of whole clusterings in a checkpoint (core/journal.h), so that a
 * killed run of vhem_choose does not repeat those it finished. */
#ifndef VH_CLUSTER_CHECKPOINT_RESULTS_H
#define VH_CLUSTER_CHECKPOINT_RESULTS_H

#include "core/hash.h"
#include "hmm/hmm_set.h"

typedef struct {      /* a result in a checkpoint: the same fields give the same numbers, and only they */
    const char *path; /* checkpoint file; NULL: disabled */
    vh_key models;    /* fingerprint of the models */
    const char *what; /* kind of result */
    const vhem_cluster_options *opt; /* as given by the caller */
    int K;
    int64_t number; /* index among results of this kind, else 0 */
} vh_checkpoint;

/* Sets path, which may be NULL and must outlive it, and models; the caller sets the rest for each result. */
vhem_status vh_checkpoint_init(vhem_ctx *ctx, const vh_h3m *models, const char *path, vh_checkpoint *out);
/* Reads the n numbers of the result into x; *known is false if there are none.  The file is open only
 * during the call, since clusterings use it too. */
vhem_status vh_checkpoint_find(vhem_ctx *ctx, const vh_checkpoint *of, size_t n, double *x, bool *known);
vhem_status vh_checkpoint_add(vhem_ctx *ctx, const vh_checkpoint *of, size_t n, const double *x);

#endif
