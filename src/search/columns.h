/* SPDX-License-Identifier: BSD-3-Clause */
/* columns.h - columns of sequences that are nothing but noise: what they add to a distance blurs it. */
#ifndef VH_SEARCH_COLUMNS_H
#define VH_SEARCH_COLUMNS_H

#include "data/data.h"

/* noise [d]: true for a column whose values could as well be drawn one by one from one distribution: they do
 * not depend on the value before, on the sequence, or on the place in it, by tests that few real columns
 * pass. All false if there are too few frames to tell, or if all would be true.  Columns must be numbers, of
 * this mean [d] and deviation [d] (vh_spread); one that never varies is no noise. */
vhem_status vh_columns_noise(vhem_ctx *ctx, const vhem_data *data, const double *mean,
                             const double *deviation, bool *noise);

#endif
