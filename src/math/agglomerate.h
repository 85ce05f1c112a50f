/* SPDX-License-Identifier: BSD-3-Clause */
/* agglomerate.h - agglomerative clustering: merges the two nearest clusters at each step. */
#ifndef VH_MATH_AGGLOMERATE_H
#define VH_MATH_AGGLOMERATE_H

#include "core/ctx.h"

typedef enum { VH_LINK_AVERAGE, VH_LINK_COMPLETE, VH_LINK_SINGLE } vh_linkage;

/* Merges n items with weight [n] > 0 and distances D [n][n] (symmetric, may be infinite) into k clusters:
 * label [n], clusters in the order of their first items.  On return the beginning of D holds the distances of
 * the clusters, [k][k]; another call with the summed weights continues the same tree. */
vhem_status vh_agglomerate(vhem_ctx *ctx, int n, const double *weight, vh_linkage linkage, int k, double *D,
                           int *label);

#endif
