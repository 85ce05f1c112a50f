/* SPDX-License-Identifier: BSD-3-Clause */
/* fit.h - HMMs from sequences, by kind of fit; vhem_fit calls all of these. */
#ifndef VH_FIT_FIT_H
#define VH_FIT_FIT_H

#include "core/hash.h"
#include "data/data.h"
#include "hmm/models_record.h"

struct vh_store;
typedef struct { /* stored models (store.h), by key */
    struct vh_store *store;
    /* *out stays NULL if there is none.  Thread-safe. */
    vhem_status (*get)(vhem_ctx *ctx, struct vh_store *store, const vh_key *key, vhem_models **out);
    vhem_status (*put)(vhem_ctx *ctx, struct vh_store *store, const vh_key *key, const vhem_models *models);
} vh_fitted;

/* Fits an HMM to each sequence or group by Baum-Welch.  report may be NULL.  VHEM_ESTOPPED returns the models
 * begun. */
vhem_status vh_fit_each(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, vh_h3m **out,
                        vhem_fit_report **report);
/* The same, bit for bit, but takes stored models from the store and stores new ones as soon as they are
 * fitted.  The report has no rows, since a store does not keep them.  fitted NULL: no store. */
vhem_status vh_fit_each_stored(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt,
                               const vh_fitted *fitted, vh_h3m **out, vhem_fit_report **report);
/* The same, choosing the number of states of each HMM from opt->S to opt->S_max, or from 1 to 6 if S is
 * VHEM_AUTO, by variational Bayes. */
vhem_status vh_fit_states(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, vh_h3m **out,
                          vhem_fit_report **report);
/* Fits a mixture of opt->K HMMs to all sequences by EM.  The report has one row.  VHEM_ESTOPPED returns the
 * best mixture so far. */
vhem_status vh_fit_mixture(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, vh_h3m **out,
                           vhem_fit_report **report);
/* Allocates an empty report with K rows and R restarts. */
vhem_status vh_fit_report_new(vhem_ctx *ctx, int64_t K, int R, vhem_fit_report **out);

/* ---- the key of a fit ---------------------------------------------------------------------------------- */

/* Parts of the key of a stored model: what it depends on. */

/* Version since which the same data and options give the same numbers.  Raise it when results change: stored
 * models are then refitted. */
#define VH_PIECE_RECIPE "0.4.0"

/* Add columns and symbols, n sequences, and the options of a fit to the hash. */
void vh_hash_columns(vh_hash *hash, const vhem_data *data);
void vh_hash_sequences(vh_hash *hash, const vhem_data *data, const int64_t *seq, int64_t n);
void vh_fit_options_hash(vh_hash *hash, const vhem_fit_options *opt);

#endif
