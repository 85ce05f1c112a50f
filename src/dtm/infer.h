/* SPDX-License-Identifier: BSD-3-Clause */
/* infer.h - inference with dynamic textures: log-likelihoods, states, samples. */
#ifndef VH_DTM_INFER_H
#define VH_DTM_INFER_H

#include "data/data.h"
#include "dtm/dtm.h"

/* loglik [N][K] = log p(y_n | texture i).  Unchanged on failure. */
vhem_status vh_dtm_score(vhem_ctx *ctx, const vh_dtm *dtm, const vhem_data *data, double *loglik);
/* vhem_posterior and vhem_sample for textures. */
vhem_status vh_dtm_smooth(vhem_ctx *ctx, const vh_dtm *dtm, int64_t i, const vhem_data *data, int64_t n,
                          double *x, double *cov, double *loglik);
vhem_status vh_dtm_sample(vhem_ctx *ctx, const vh_dtm *dtm, int64_t N, int64_t T, vhem_data **out);

#endif
