/* SPDX-License-Identifier: BSD-3-Clause */
/* missing_columns.h - HMMs that lack a column: the sequences they were fitted to never had it.
 *
 * Every parameter of the column is NaN (null in JSON), in all states and components.  Such an HMM says
 * nothing of the column: it adds nothing to densities, to L_hmm and to the M-step, and product kernels are
 * over the columns that both have.  Families whose parameters stand column by column can lack any of them; a
 * channel of symbols or with a full covariance only as a whole, and only in a product. */
#ifndef VH_HMM_MISSING_COLUMNS_H
#define VH_HMM_MISSING_COLUMNS_H

#include "hmm/hmm_set.h"

/* Do the two have the same parameters?  One may be the other with statistics that know of missing cells. */
bool vh_family_same(const vh_emission *a, const vh_emission *b);
/* The columns that an HMM lacks all together or not at all: those of the channel of column k where it goes as
 * a whole, else k alone; *n of them from the one returned.  n becomes 0 where the column cannot be
 * lacking. */
int vh_columns_together(const vh_emission *family, const vh_shape *shape, int k, int *n);

bool vh_hmm_lacks(const vh_h3m *h3m, const vh_hmm *h, int k);
void vh_hmm_forget(const vh_h3m *h3m, vh_hmm *h, int k);
/* Is the NaN at that place one of a column that the HMM lacks? */
bool vh_hmm_null(const vh_h3m *h3m, const vh_hmm *h, const double *at);
/* Does any HMM lack any column? */
bool vh_h3m_lacks_columns(const vh_h3m *h3m);
/* Why a column that no HMM has is refused. */
const char *vh_no_column(int k, char *why, size_t size);
/* Refuses a column that all HMMs with a weight lack. */
vhem_status vh_h3m_require_columns(vhem_ctx *ctx, const vh_h3m *h3m);
/* The family becomes the one with statistics that know of missing cells where an HMM lacks a column, else the
 * plain one. */
void vh_h3m_settle_family(vh_h3m *h3m);
/* The columns that an HMM lacks must be null in the component throughout.  Its parameters go to full [all of
 * them], with a number that all families allow in place of null; channels that are null as a whole stay so.
 * False, and why, when they are not. */
bool vh_component_filled_in(const vh_h3m *h3m, const vh_hmm *h, double *const *par, double *full,
                            const double **out, char *why, size_t size);

#endif
