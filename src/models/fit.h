/* SPDX-License-Identifier: BSD-3-Clause */
/* fit.h - fits models of either kind to sequences. */
#ifndef VH_MODELS_FIT_H
#define VH_MODELS_FIT_H

#include "data/data.h"
#include "models/models.h"

/* Fits HMMs or textures, one per item or as a mixture, as the options say; ignores the store. */
vhem_status vh_fit(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, vhem_models **out,
                   vhem_fit_report **report);

#endif
