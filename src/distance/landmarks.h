/* SPDX-License-Identifier: BSD-3-Clause */
/* landmarks.h - places of very many models in the leading eigenvectors of their affinities, without a table
 * of all pairs (Nystrom; Fowlkes, Belongie, Chung and Malik 2004): the eigenvectors are those of some models,
 * the landmarks, and every other model is where its affinities to them put it. */
#ifndef VH_DISTANCE_LANDMARKS_H
#define VH_DISTANCE_LANDMARKS_H

#include "distance/embedding.h"

typedef struct {
    const vh_h3m *models;
    vh_embedding_kind kind;
    bool scaled;    /* affinities are exp(-D / median), else exp(-D) */
    int neighbours; /* > 0: affinities are 1 between near neighbours instead */
    bool keep;      /* the affinity of a model to itself */
    int64_t m, dim; /* landmarks, eigenvectors */
    uint64_t seed;  /* with the number of a model it says whether that is a landmark */
} vh_landmarks;

/* place [K][dim]: of all models.  Time and memory grow with K m. */
vhem_status vh_landmarks_embedding(vhem_ctx *ctx, const vh_landmarks *l, double *place);

#endif
