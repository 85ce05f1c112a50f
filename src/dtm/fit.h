/* SPDX-License-Identifier: BSD-3-Clause */
/* fit.h - fits dynamic textures to sequences. */
#ifndef VH_DTM_FIT_H
#define VH_DTM_FIT_H

#include "fit/fit.h"
#include "dtm/dtm.h"

/* Fits a dynamic texture to each sequence or group, or, with opt->K, one mixture to all. */
vhem_status vh_dtm_fit(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, vh_dtm **out,
                       vhem_fit_report **report);
/* Like vh_fit_each_stored. */
vhem_status vh_dtm_fit_stored(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt,
                              const vh_fitted *fitted, vh_dtm **out, vhem_fit_report **report);
#endif
