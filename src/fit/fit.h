/* SPDX-License-Identifier: BSD-3-Clause */
/* fit.h - HMMs from sequences, by shape; vhem_fit is the way to all of them. */
#ifndef VH_FIT_FIT_H
#define VH_FIT_FIT_H

#include "core/hash.h"
#include "data/data.h"
#include "hmm/models_record.h"

struct vh_store;
typedef struct { /* models that are fitted already (store.h), each under its key */
    struct vh_store *store;
    /* *out stays NULL when there is none.  All threads may call these at once. */
    vhem_status (*get)(vhem_ctx *ctx, struct vh_store *store, const vh_key *key, vhem_models **out);
    vhem_status (*put)(vhem_ctx *ctx, struct vh_store *store, const vh_key *key, const vhem_models *models);
} vh_fitted;

/* An HMM for each sequence or group, by Baum-Welch.  report may be NULL.  VHEM_ESTOPPED hands over the models
 * that were begun. */
vhem_status vh_fit_each(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, vh_h3m **out,
                        vhem_fit_report **report);
/* The same, to the bit: what is fitted already is taken from there, the rest is put there as soon as
 * it is fitted.  The report has no rows, since a store does not keep them.  fitted NULL: nothing is. */
vhem_status vh_fit_each_stored(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt,
                               const vh_fitted *fitted, vh_h3m **out, vhem_fit_report **report);
/* The same with the number of states of each chosen from opt->S to opt->S_max, or from 1 to 6 where S is
 * VHEM_AUTO, by variational Bayes. */
vhem_status vh_fit_states(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, vh_h3m **out,
                          vhem_fit_report **report);
/* A mixture of opt->K HMMs of all sequences, by EM.  The report has one row.  VHEM_ESTOPPED hands over the
 * best so far. */
vhem_status vh_fit_mixture(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, vh_h3m **out,
                           vhem_fit_report **report);
/* An empty report of so many rows and restarts. */
vhem_status vh_fit_report_new(vhem_ctx *ctx, int64_t K, int R, vhem_fit_report **out);

/* ---- the key of a fit ---------------------------------------------------------------------------------- */

/* What a fitted model follows from, as parts of the key under which it is kept. */

/* The version since which the same data and options come to the same numbers.  Raise it when they no longer
 * do: what stores hold is then fitted anew. */
#define VH_PIECE_RECIPE "0.4.0"

/* Columns and symbols, n sequences, and the options of a fit go into the hash. */
void vh_hash_columns(vh_hash *hash, const vhem_data *data);
void vh_hash_sequences(vh_hash *hash, const vhem_data *data, const int64_t *seq, int64_t n);
void vh_fit_options_hash(vh_hash *hash, const vhem_fit_options *opt);

#endif
