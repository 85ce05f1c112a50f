/* SPDX-License-Identifier: BSD-3-Clause */
/* clustering.h - storage of a clustering: the public record, and the texts its names point to. */
#ifndef VH_CLUSTER_CLUSTERING_H
#define VH_CLUSTER_CLUSTERING_H

#include "core/ctx.h"

#include <stddef.h>

/* An empty clustering of Kb models: labels and names are there, all else is NULL or 0. */
vhem_status vh_clustering_new(vhem_ctx *ctx, int Kb, vh_clustering **out);
/* Text that lives as long as the clustering; *slot points to it. */
vhem_status vh_clustering_keep(vhem_ctx *ctx, vh_clustering *c, const char *text, const char **slot);
/* Weights of the centres, whatever they are, [Kr]; NULL when there are none. */
const double *vh_clustering_omega(const vh_clustering *c);
/* label_i = argmax_j z_ij; ties to the lowest index. */
void vh_label_by_z(vh_clustering *c);
/* Where the centres lie, for methods whose trees go on from there: a table [Kr][dim] that belongs to the
 * clustering and goes into no file.  Takes over the table (free()); place is NULL when there is none. */
void vh_clustering_set_place(vh_clustering *c, int dim, double *place);
const double *vh_clustering_place(const vh_clustering *c, int *dim);
vhem_status vh_clustering_set_name(vhem_ctx *ctx, vh_clustering *c, int i, const char *name);

#endif
