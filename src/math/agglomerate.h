/* SPDX-License-Identifier: BSD-3-Clause */
/* agglomerate.h - from single things to clusters, the two nearest of which are merged at each step. */
#ifndef VH_MATH_AGGLOMERATE_H
#define VH_MATH_AGGLOMERATE_H

#include "core/ctx.h"

typedef enum { VH_LINK_AVERAGE, VH_LINK_COMPLETE, VH_LINK_SINGLE } vh_linkage;

/* n things, weight [n] > 0, at distances D [n][n], symmetric, infinity allowed, into k clusters: label [n],
 * clusters in the order of their first things.  What is left of D are the distances of the clusters, [k][k]
 * at its beginning, from which to go on: a further call with the summed weights continues the same tree. */
vhem_status vh_agglomerate(vhem_ctx *ctx, int n, const double *weight, vh_linkage linkage, int k, double *D,
                           int *label);

#endif
