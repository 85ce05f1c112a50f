/* SPDX-License-Identifier: BSD-3-Clause */
/* infer_models.h - what models of either kind say about sequences. */
#ifndef VH_ESTIMATE_INFER_MODELS_H
#define VH_ESTIMATE_INFER_MODELS_H

#include "data/data.h"
#include "model/models.h"

/* loglik [N][K] = log p(y_n | model i), all or nothing. */
vhem_status vh_models_score(vhem_ctx *ctx, const vhem_models *models, const vhem_data *data, double *loglik);

#endif
