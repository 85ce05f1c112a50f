/* SPDX-License-Identifier: BSD-3-Clause */
/* fit_key.h - what a fitted model follows from, as parts of the key under which it is kept. */
#ifndef VH_FIT_FIT_KEY_H
#define VH_FIT_FIT_KEY_H

#include "core/hash.h"
#include "data/data.h"

/* The version since which the same data and options come to the same numbers.  Raise it when they no longer
 * do: what stores hold is then fitted anew. */
#define VH_PIECE_RECIPE "0.4.0"

/* Columns and symbols, n sequences, and the options of a fit go into the hash. */
void vh_hash_columns(vh_hash *hash, const vhem_data *data);
void vh_hash_sequences(vh_hash *hash, const vhem_data *data, const int64_t *seq, int64_t n);
void vh_fit_options_hash(vh_hash *hash, const vhem_fit_options *opt);

#endif
