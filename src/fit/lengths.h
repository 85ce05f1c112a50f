/* SPDX-License-Identifier: BSD-3-Clause */
/* lengths.h - lengths, fingerprints and spread of the sequences that models are fitted to. */
#ifndef VH_FIT_LENGTHS_H
#define VH_FIT_LENGTHS_H

#include "data/data.h"
#include "fit/sets.h"
#include "hmm/hmm_set.h"
#include "emission/emission.h"

/* Shortest, median (the lower one for even N) and longest sequence, in frames; N >= 1. */
vhem_status vh_lengths_of(vhem_ctx *ctx, const vhem_data *data, vh_lengths *out);
/* The same for the frames of sets, if sets have more than one sequence; else leaves `out` unchanged. */
vhem_status vh_lengths_of_sets(vhem_ctx *ctx, const vhem_data *data, const vh_sets *sets, vh_lengths *out);

/* 64-bit hash of the frames of n sequences, independent of their order and names; never 0. */
uint64_t vh_fingerprint(const vhem_data *data, const int64_t *seq, int64_t n);

/* ---- mean and deviation of sequences ------------------------------------------------------------------- */

/* Computes mean [d] and deviation [d] over the frames of n sequences (seq NULL: the first n); a constant
 * dimension has deviation 0. */
void vh_spread(const vhem_data *data, const int64_t *seq, int64_t n, double *mean, double *deviation);
/* Computes within [d]: the deviation of frames in the same state, estimated before any fit; at most deviation
 * [d], that of all frames, which it equals if nothing is visible.  n_state: S times M of an HMM. */
vhem_status vh_spread_within(vhem_ctx *ctx, const vhem_data *data, const vh_sets *sets, int n_state,
                             const double *deviation, double *within);
/* Mean and deviation, ready to divide by: if a dimension is constant, or its deviation overflows, the
 * deviation of the whole (NULL: 1), or far less than 1 if the whole is constant too. */
void vh_spread_scale(const vhem_data *data, const int64_t *seq, int64_t n, const double *whole,
                     double *origin, double *scale);
/* Computes origin and scale, xs [2][d], the coordinates of components of the family for these frames: mean
 * and deviation; 0 for columns without a location, 1 for columns without a unit. */
void vh_data_coords(const vh_emission *family, const vh_shape *shape, const vhem_data *data,
                    const int64_t *seq, int64_t n, const double *whole, double *xs);

#endif
