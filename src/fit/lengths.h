/* SPDX-License-Identifier: BSD-3-Clause */
/* lengths.h - how long the sequences are that models are fitted to, and by what these are known again. */
#ifndef VH_FIT_LENGTHS_H
#define VH_FIT_LENGTHS_H

#include "data/data.h"
#include "fit/sets.h"
#include "hmm/hmm_set.h"

/* Shortest, median (of two in the middle the shorter) and longest sequence, in frames; N >= 1. */
vhem_status vh_lengths_of(vhem_ctx *ctx, const vhem_data *data, vh_lengths *out);
/* Likewise the frames of a set of sequences, where sets have more than one; else as it was. */
vhem_status vh_lengths_of_sets(vhem_ctx *ctx, const vhem_data *data, const vh_sets *sets, vh_lengths *out);

/* 64 bits that follow from the frames of n sequences, whatever their order and their names; never 0. */
uint64_t vh_fingerprint(const vhem_data *data, const int64_t *seq, int64_t n);

#endif
