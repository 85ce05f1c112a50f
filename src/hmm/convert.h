/* SPDX-License-Identifier: BSD-3-Clause */
/* convert.h - the same models in other words. */
#ifndef VH_HMM_CONVERT_H
#define VH_HMM_CONVERT_H

#include "hmm/hmm_set.h"

/* A copy in the widest family that has these HMMs: of Gaussians with diagonal covariances one with full
 * ones.  Names, labels and weights come along. */
vhem_status vh_h3m_widest(vhem_ctx *ctx, const vh_h3m *h3m, vh_h3m **out);
/* The HMMs in the family of others: *out is h3m itself, or *copy, which the caller frees, when the others
 * are of a wider family, as full covariances are.  Refuses those of another dimension or of a family that
 * cannot be had; in sentences h3m are the models and like the centres. */
vhem_status vh_h3m_like(vhem_ctx *ctx, const vh_h3m *h3m, const vh_h3m *like, vh_h3m **copy,
                        const vh_h3m **out);
/* A copy of n of the HMMs, index [n] (NULL: the first n), their weights scaled to sum to 1. */
vhem_status vh_h3m_subset(vhem_ctx *ctx, const vh_h3m *h3m, const int64_t *index, int64_t n, vh_h3m **out);
/* The HMMs of n H3Ms one after the other, those of part p with the weights omega share[p] (NULL: omega);
 * names stay behind.  All must have one emission family and dimension. */
vhem_status vh_h3m_pool(vhem_ctx *ctx, const vh_h3m *const *part, const double *share, int64_t n,
                        vh_h3m **out);

#endif
