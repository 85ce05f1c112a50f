/* SPDX-License-Identifier: BSD-3-Clause */
/* fit.h - models of either kind from sequences. */
#ifndef VH_MODELS_FIT_H
#define VH_MODELS_FIT_H

#include "data/data.h"
#include "models/models.h"

/* HMMs or textures, for each item or as a mixture, as the options say; without a store. */
vhem_status vh_fit(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, vhem_models **out,
                   vhem_fit_report **report);

#endif
