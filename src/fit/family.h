/* SPDX-License-Identifier: BSD-3-Clause */
/* family.h - an emission family meets sequences: whether they suit it, and the one component for all of
 * them. */
#ifndef VH_FIT_FAMILY_H
#define VH_FIT_FAMILY_H

#include "data/data.h"
#include "hmm/hmm_set.h"

/* Refuses values that the family does not have in sequences seq [n] (NULL: all), naming sequence, frame and
 * column.  *out is the family, or, where cells are missing, the one with the same parameters whose statistics
 * leave them out. */
vhem_status vh_family_for(vhem_ctx *ctx, const vh_emission *family, const vh_shape *shape,
                          const vhem_data *data, const int64_t *seq, int64_t n, const vh_emission **out);
/* The one of the two that suits n of the sequences: `with_gaps` where cells are missing among them. */
const vh_emission *vh_family_of_some(const vh_emission *complete, const vh_emission *with_gaps,
                                     const vhem_data *data, const int64_t *seq, int64_t n);
/* Refuses n sequences that lack a column of a full covariance; those of a channel may be lacking all
 * together. */
vhem_status vh_family_require(vhem_ctx *ctx, const vhem_data *data, const int64_t *seq, int64_t n,
                              const vh_emission *family, const vh_shape *shape);
/* The HMM that was fitted to n of the sequences comes to lack the columns that they have no value of. */
void vh_family_forget(const vhem_data *data, const int64_t *seq, int64_t n, const vh_h3m *h3m, vh_hmm *h);
/* One HMM of one state and one component: that of highest likelihood for all frames.  floor as for
 * maximise. */
vhem_status vh_family_pooled(vhem_ctx *ctx, const vh_emission *family, const vhem_data *data,
                             const double *floor, vh_h3m **out);

#endif
