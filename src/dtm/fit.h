/* SPDX-License-Identifier: BSD-3-Clause */
/* fit.h - dynamic textures from sequences. */
#ifndef VH_DTM_FIT_H
#define VH_DTM_FIT_H

#include "fit/fit.h"
#include "dtm/dtm.h"

/* A dynamic texture for each sequence or group, or with opt->K a mixture of them for all. */
vhem_status vh_dtm_fit(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, vh_dtm **out,
                       vhem_fit_report **report);
/* As vh_fit_each_stored. */
vhem_status vh_dtm_fit_stored(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt,
                              const vh_fitted *fitted, vh_dtm **out, vhem_fit_report **report);
#endif
