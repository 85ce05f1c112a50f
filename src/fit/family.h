/* SPDX-License-Identifier: BSD-3-Clause */
/* family.h - matches an emission family with sequences: checks, and one component fitted to all of them. */
#ifndef VH_FIT_FAMILY_H
#define VH_FIT_FAMILY_H

#include "data/data.h"
#include "hmm/hmm_set.h"

/* Rejects values that the family does not support in sequences seq [n] (NULL: all), naming sequence, frame
 * and column.  *out is the family or, if cells are missing, its counterpart whose statistics skip them. */
vhem_status vh_family_for(vhem_ctx *ctx, const vh_emission *family, const vh_shape *shape,
                          const vhem_data *data, const int64_t *seq, int64_t n, const vh_emission **out);
/* Chooses the family for n of the sequences: `with_gaps` if they have missing cells. */
const vh_emission *vh_family_of_some(const vh_emission *complete, const vh_emission *with_gaps,
                                     const vhem_data *data, const int64_t *seq, int64_t n);
/* Rejects n sequences that lack a column of a full covariance; a channel may be missing as a whole. */
vhem_status vh_family_require(vhem_ctx *ctx, const vhem_data *data, const int64_t *seq, int64_t n,
                              const vh_emission *family, const vh_shape *shape);
/* Marks columns of an HMM as missing if the n sequences it was fitted to have no value in them. */
void vh_family_forget(const vhem_data *data, const int64_t *seq, int64_t n, const vh_h3m *h3m, vh_hmm *h);
/* Fits one HMM, of one state and component, to all frames by maximum likelihood.  floor as for maximise. */
vhem_status vh_family_pooled(vhem_ctx *ctx, const vh_emission *family, const vhem_data *data,
                             const double *floor, vh_h3m **out);

#endif
