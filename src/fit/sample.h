/* SPDX-License-Identifier: BSD-3-Clause */
/* sample.h - sequences drawn from specified HMMs. */
#ifndef VH_FIT_SAMPLE_H
#define VH_FIT_SAMPLE_H

#include "core/rng.h"
#include "hmm/hmm_set.h"

typedef struct { /* N sequences of T frames, part of a sample */
    uint32_t purpose;
    uint64_t item; /* of the first sequence */
    int64_t N, T;
} vh_draw;

/* Draws from HMM i.  Sequence n depends only on the seed of the context and (purpose, item + n), so a sample
 * may be drawn in parts. */
vhem_status vh_sample_hmm(vhem_ctx *ctx, const vh_h3m *h3m, int64_t i, const vh_draw *draw, vhem_data **out);
/* Draws count [K] sequences of T frames from each HMM, grouped by HMM; sequence n of HMM i depends on (seed,
 * i, n) only. */
vhem_status vh_sample_each(vhem_ctx *ctx, const vh_h3m *h3m, const int64_t *count, int64_t T, uint64_t seed,
                           vhem_data **out);

typedef struct { /* square roots of the covariances of each model, for drawing */
    int64_t K;
    double **of; /* [K]  entries may be NULL; NULL: none */
} vh_roots;

void vh_roots_free(vh_roots *roots);

#endif
