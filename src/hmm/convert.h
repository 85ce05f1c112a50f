/* SPDX-License-Identifier: BSD-3-Clause */
/* convert.h - converts, copies and pools sets of HMMs. */
#ifndef VH_HMM_CONVERT_H
#define VH_HMM_CONVERT_H

#include "hmm/hmm_set.h"

/* Copies the HMMs to the widest family that contains them: diagonal Gaussians to full covariances.  Keeps
 * names, labels and weights. */
vhem_status vh_h3m_widest(vhem_ctx *ctx, const vh_h3m *h3m, vh_h3m **out);
/* Converts h3m to the family of `like`.  *out is h3m itself, or *copy, which the caller frees, if the family
 * of `like` is wider, as full covariances are.  Fails if dimensions differ or the family cannot be converted;
 * error messages call h3m the models and `like` the centres. */
vhem_status vh_h3m_like(vhem_ctx *ctx, const vh_h3m *h3m, const vh_h3m *like, vh_h3m **copy,
                        const vh_h3m **out);
/* Copies n of the HMMs, index [n] (NULL: the first n).  Normalises their weights if n < K. */
vhem_status vh_h3m_subset(vhem_ctx *ctx, const vh_h3m *h3m, const int64_t *index, int64_t n, vh_h3m **out);
/* Concatenates the HMMs of n H3Ms.  HMMs of part p get the weights omega share[p] (share NULL: omega); names
 * are not copied.  All parts must have the same emission family and dimension. */
vhem_status vh_h3m_pool(vhem_ctx *ctx, const vh_h3m *const *part, const double *share, int64_t n,
                        vh_h3m **out);

#endif
