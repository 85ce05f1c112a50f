/* SPDX-License-Identifier: BSD-3-Clause */
/* infer.h - what HMMs say about sequences, for other computations. */
#ifndef VH_FIT_INFER_H
#define VH_FIT_INFER_H

#include "data/data.h"
#include "hmm/hmm_set.h"

/* loglik [N][K] = log p(y_n | HMM i), over the columns that all HMMs have (hmm/shared_columns.h); `what`
 * is what progress is reported as, NULL: it is not. On failure, or after a stop, some of loglik is filled
 * in: there is no second table. */
vhem_status vh_score(vhem_ctx *ctx, const vh_h3m *h3m, const vhem_data *data, const char *what,
                     double *loglik);
/* The same, each HMM over the columns it has: rows do not compare where some HMMs lack a column. */
vhem_status vh_score_each(vhem_ctx *ctx, const vh_h3m *h3m, const vhem_data *data, const char *what,
                          double *loglik);
/* As vh_score, all or nothing. */
vhem_status vh_h3m_score(vhem_ctx *ctx, const vh_h3m *h3m, const vhem_data *data, double *loglik);

/* vhem_decode and the others, for HMMs. */
vhem_status vh_h3m_decode(vhem_ctx *ctx, const vh_h3m *h3m, const int64_t *hmm, const vhem_data *data,
                          int64_t first, int64_t n, const vhem_decoding *out);
vhem_status vh_h3m_viterbi(vhem_ctx *ctx, const vh_h3m *h3m, int64_t i, const vhem_data *data, int64_t n,
                           int *path, double *logprob);
vhem_status vh_h3m_posterior(vhem_ctx *ctx, const vh_h3m *h3m, int64_t i, const vhem_data *data, int64_t n,
                             double *gamma, double *xi, double *loglik);
vhem_status vh_h3m_sample(vhem_ctx *ctx, const vh_h3m *h3m, int64_t N, int64_t T, vhem_data **out);

#endif
