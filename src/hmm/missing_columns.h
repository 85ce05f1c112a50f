/* SPDX-License-Identifier: BSD-3-Clause */
/* missing_columns.h - HMMs that lack a column, because the sequences they were fitted to never had it.
 *
 * Every parameter of the column is NaN (null in JSON), in all states and components.  The column adds nothing
 * to densities, to L_hmm and to the M-step, and product kernels use only the columns that both HMMs have.  In
 * families with separate parameters for each column, any column may be missing; a channel of symbols or with
 * a full covariance only as a whole, and only in a product. */
#ifndef VH_HMM_MISSING_COLUMNS_H
#define VH_HMM_MISSING_COLUMNS_H

#include "hmm/hmm_set.h"

/* True if both have the same parameters.  One may be the variant whose statistics handle missing cells. */
bool vh_family_same(const vh_emission *a, const vh_emission *b);
/* Columns that can only be missing together with column k: those of its channel if it has shared parameters,
 * else k alone.  Returns the first; *n is their number, 0 if the column cannot be missing. */
int vh_columns_together(const vh_emission *family, const vh_shape *shape, int k, int *n);

bool vh_hmm_lacks(const vh_h3m *h3m, const vh_hmm *h, int k);
void vh_hmm_forget(const vh_h3m *h3m, vh_hmm *h, int k);
/* True if the NaN at this address belongs to a column that the HMM lacks. */
bool vh_hmm_null(const vh_h3m *h3m, const vh_hmm *h, const double *at);
/* True if any HMM lacks any column. */
bool vh_h3m_lacks_columns(const vh_h3m *h3m);
/* Writes the error message for a column that no HMM has. */
const char *vh_no_column(int k, char *why, size_t size);
/* Fails if a column is missing from all HMMs with weight. */
vhem_status vh_h3m_require_columns(vhem_ctx *ctx, const vh_h3m *h3m);
/* Selects the family variant: the one whose statistics handle missing cells if an HMM lacks a column, else
 * the plain one. */
void vh_h3m_settle_family(vh_h3m *h3m);
/* Checks that the columns that an HMM lacks are null throughout the component, and returns parameters to
 * validate: copied to full [all parameters], pointers in out, with null replaced by a number that every
 * family allows; channels that are null as a whole stay null.  Returns false and writes `why` if a column is
 * only partly null. */
bool vh_component_filled_in(const vh_h3m *h3m, const vh_hmm *h, double *const *par, double *full,
                            const double **out, char *why, size_t size);

#endif
