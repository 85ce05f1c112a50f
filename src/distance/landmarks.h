/* SPDX-License-Identifier: BSD-3-Clause */
/* landmarks.h - embeds very many models in the leading eigenvectors of their affinities without a table of
 * all pairs (Nystrom; Fowlkes, Belongie, Chung and Malik 2004): the eigenvectors are those of a subset, the
 * landmarks, and the other models are embedded by their affinities to these. */
#ifndef VH_DISTANCE_LANDMARKS_H
#define VH_DISTANCE_LANDMARKS_H

#include "distance/embedding.h"

typedef struct {
    const vh_h3m *models;
    vhem_distance_options distance;
    bool scaled;    /* affinities are exp(-D / median), else exp(-D) */
    int neighbours; /* > 0: affinities are 1 between near neighbours instead */
    bool keep;      /* keep self-affinities */
    int64_t m, dim; /* number of landmarks, of eigenvectors */
    uint64_t seed;  /* determines which models are landmarks */
} vh_landmarks;

/* Computes place [K][dim] of all models.  Time and memory are O(K m). */
vhem_status vh_landmarks_embedding(vhem_ctx *ctx, const vh_landmarks *l, double *place);

#endif
