/* SPDX-License-Identifier: BSD-3-Clause */
/* sample.h - sequences drawn from specified HMMs. */
#ifndef VH_FIT_SAMPLE_H
#define VH_FIT_SAMPLE_H

#include "core/rng.h"
#include "hmm/hmm_set.h"

/* Draws N sequences of T frames from HMM i, to compare it with others.  Sequence n depends only on the
 * seed of the context and item + n, so a sample may be drawn in parts. */
vhem_status vh_sample_hmm(vhem_ctx *ctx, const vh_h3m *h3m, int64_t i, uint64_t item, int64_t N, int64_t T,
                          vhem_data **out);
/* Draws count [K] sequences of T frames from each HMM, grouped by HMM; sequence n of HMM i depends on (seed,
 * i, n) only. */
vhem_status vh_sample_each(vhem_ctx *ctx, const vh_h3m *h3m, const int64_t *count, int64_t T, uint64_t seed,
                           vhem_data **out);

/* Frees square roots of the covariances of each model, [K+1], and those of the models up to the first
 * NULL. */
void vh_roots_free(double ***roots);

#endif
