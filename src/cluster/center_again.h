/* SPDX-License-Identifier: BSD-3-Clause */
/* center_again.h - the centre of a group of sequences, fitted to some of them. */
#ifndef VH_CLUSTER_CENTER_AGAIN_H
#define VH_CLUSTER_CENTER_AGAIN_H

#include "data/data.h"
#include "methods/clustering.h"

/* Fits centre j of c, which was fitted to sequences, to the sequences seq [n] of the data: the same shape and
 * prior, and a start from what it is. */
vhem_status vh_center_again(vhem_ctx *ctx, const vh_clustering *c, int j, const vhem_data *data,
                            const int64_t *seq, int64_t n, vhem_models **out);

#endif
