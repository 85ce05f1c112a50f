/* SPDX-License-Identifier: BSD-3-Clause */
/* infer.h - inference with HMMs, for other computations. */
#ifndef VH_FIT_INFER_H
#define VH_FIT_INFER_H

#include "data/data.h"
#include "hmm/hmm_set.h"

/* Computes loglik [N][K] = log p(y_n | HMM i), over the columns that all HMMs have (hmm/shared_columns.h);
 * `what` labels progress, NULL: no progress.  On failure or a stop, loglik is partly filled in. */
vhem_status vh_score(vhem_ctx *ctx, const vh_h3m *h3m, const vhem_data *data, const char *what,
                     double *loglik);
/* The same, each HMM over the columns it has: if some lack a column, values in a row are not comparable. */
vhem_status vh_score_each(vhem_ctx *ctx, const vh_h3m *h3m, const vhem_data *data, const char *what,
                          double *loglik);
/* Like vh_score, but on failure loglik is unchanged. */
vhem_status vh_h3m_score(vhem_ctx *ctx, const vh_h3m *h3m, const vhem_data *data, double *loglik);

/* vhem_decode and related functions, for HMMs. */
vhem_status vh_h3m_decode(vhem_ctx *ctx, const vh_h3m *h3m, const int64_t *hmm, const vhem_data *data,
                          int64_t first, int64_t n, const vhem_decoding *out);
vhem_status vh_h3m_posterior(vhem_ctx *ctx, const vh_h3m *h3m, int64_t i, const vhem_data *data, int64_t n,
                             double *gamma, double *xi, double *loglik);
vhem_status vh_h3m_sample(vhem_ctx *ctx, const vh_h3m *h3m, int64_t N, int64_t T, vhem_data **out);

#endif
