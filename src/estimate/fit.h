/* SPDX-License-Identifier: BSD-3-Clause */
/* fit.h - models from sequences, by kind and by shape; vhem_fit is the way to all of them. */
#ifndef VH_ESTIMATE_FIT_H
#define VH_ESTIMATE_FIT_H

#include "data/data.h"
#include "estimate/store.h"
#include "model/models.h"

/* An HMM for each sequence or group, by Baum-Welch.  report may be NULL.  VHEM_ESTOPPED hands over the models
 * that were begun. */
vhem_status vh_fit_each(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, vh_h3m **out,
                        vhem_fit_report **report);
/* The same, to the bit: what the store has is taken from there, the rest is put there as soon as it is
 * fitted.  The report has no rows, since a store does not keep them.  store NULL: none. */
vhem_status vh_fit_each_stored(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt,
                               vh_store *store, vh_h3m **out, vhem_fit_report **report);
/* The same with the number of states of each chosen from opt->S to opt->S_max, or from 1 to 6 where S is
 * VHEM_AUTO, by variational Bayes. */
vhem_status vh_fit_states(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, vh_h3m **out,
                          vhem_fit_report **report);
/* A mixture of opt->K HMMs of all sequences, by EM.  The report has one row.  VHEM_ESTOPPED hands over the
 * best so far. */
vhem_status vh_fit_mixture(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, vh_h3m **out,
                           vhem_fit_report **report);
/* A dynamic texture for each, or with opt->K a mixture of them for all. */
vhem_status vh_dtm_fit(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, vh_dtm **out,
                       vhem_fit_report **report);
vhem_status vh_dtm_fit_stored(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt,
                              vh_store *store, vh_dtm **out, vhem_fit_report **report);
/* One of these, as the options say. */
vhem_status vh_fit(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, vhem_models **out,
                   vhem_fit_report **report);

/* An empty report of so many rows and restarts. */
vhem_status vh_fit_report_new(vhem_ctx *ctx, int64_t K, int R, vhem_fit_report **out);

#endif
