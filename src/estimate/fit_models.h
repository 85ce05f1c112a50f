/* SPDX-License-Identifier: BSD-3-Clause */
/* fit_models.h - models of either kind from sequences. */
#ifndef VH_ESTIMATE_FIT_MODELS_H
#define VH_ESTIMATE_FIT_MODELS_H

#include "data/data.h"
#include "model/models.h"

/* HMMs or textures, for each item or as a mixture, as the options say; without a store. */
vhem_status vh_fit(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, vhem_models **out,
                   vhem_fit_report **report);

#endif
