/* SPDX-License-Identifier: BSD-3-Clause */
/* infer.h - scores sequences with models of either kind. */
#ifndef VH_MODELS_INFER_H
#define VH_MODELS_INFER_H

#include "data/data.h"
#include "models/models.h"

/* loglik [N][K] = log p(y_n | model i). */
vhem_status vh_models_score(vhem_ctx *ctx, const vhem_models *models, const vhem_data *data, double *loglik);

#endif
