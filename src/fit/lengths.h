/* SPDX-License-Identifier: BSD-3-Clause */
/* lengths.h - how long the sequences are that models are fitted to, and by what these are known again. */
#ifndef VH_FIT_LENGTHS_H
#define VH_FIT_LENGTHS_H

#include "data/data.h"
#include "fit/sets.h"
#include "hmm/hmm_set.h"
#include "emission/emission.h"

/* Shortest, median (of two in the middle the shorter) and longest sequence, in frames; N >= 1. */
vhem_status vh_lengths_of(vhem_ctx *ctx, const vhem_data *data, vh_lengths *out);
/* Likewise the frames of a set of sequences, where sets have more than one; else as it was. */
vhem_status vh_lengths_of_sets(vhem_ctx *ctx, const vhem_data *data, const vh_sets *sets, vh_lengths *out);

/* 64 bits that follow from the frames of n sequences, whatever their order and their names; never 0. */
uint64_t vh_fingerprint(const vhem_data *data, const int64_t *seq, int64_t n);

/* ---- where sequences lie ------------------------------------------------------------------------------- */

/* Where sequences lie: mean and standard deviation of their frames. */

/* mean [d] and deviation [d] over the frames of n sequences (seq NULL: the first n); a dimension
 * that does not vary has deviation 0. */
void vh_spread(const vhem_data *data, const int64_t *seq, int64_t n, double *mean, double *deviation);
/* within [d]: the deviation of frames that are in one state, as far as it shows before there are states; at
 * most deviation [d], that of all frames, which it is where nothing shows.  n_state: components of an HMM,
 * S times M. */
vhem_status vh_spread_within(vhem_ctx *ctx, const vhem_data *data, const vh_sets *sets, int n_state,
                             const double *deviation, double *within);
/* Mean and deviation, ready to divide by: where a dimension does not vary, or by more than a number can
 * hold, the deviation of the whole (NULL: 1), or far less than 1 where the
 * whole does not vary either. */
void vh_spread_scale(const vhem_data *data, const int64_t *seq, int64_t n, const double *whole,
                     double *origin, double *scale);
/* Origin and scale, xs [2][d], in which components of the family meet these frames: mean and deviation; 0 for
 * columns without a location, 1 for those without a unit. */
void vh_data_coords(const vh_emission *family, const vh_shape *shape, const vhem_data *data,
                    const int64_t *seq, int64_t n, const double *whole, double *xs);

#endif
