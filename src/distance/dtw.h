/* SPDX-License-Identifier: BSD-3-Clause */
/* dtw.h - dynamic time warping: distances between sequences without models. */
#ifndef VH_DISTANCE_DTW_H
#define VH_DISTANCE_DTW_H

#include "data/data.h"

#define VH_DTW_WINDOW 0.2
#define VH_DTW_FRAMES 150

/* D [N][N]: the least sum of squared differences along a path that warps time, from the first frames of
 * both sequences to their last; symmetric, 0 on the diagonal.
 *
 * window, 0 .. 1: how far a path may leave the diagonal, as a share of the length.  Sequences are thinned
 * to `frames` frames, on average, or up to twice as many.  circular [d]: columns that are angles, in
 * radians; NULL: none is.
 *
 * Columns count equally: each is standardised over all frames, or if it holds angles, replaced by its
 * cosine and sine; one that does not vary does not count.  Frames with missing values are compared over
 * what both have.  Infinite values are rejected; symbols are taken for numbers, so the caller refuses
 * them.
 *
 * Memory is O(N^2 + frames d).  Every process computes the whole table.  On failure, and on VHEM_ESTOPPED,
 * D is unchanged.  If the order of the sequences changes, so does that of rows and columns of D, and not a
 * bit else. */
vhem_status vh_dtw(vhem_ctx *ctx, const vhem_data *data, double window, int frames, const bool *circular,
                   double *D);

#endif
