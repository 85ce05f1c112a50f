/* SPDX-License-Identifier: BSD-3-Clause */
/* views.h - sequences as clustering may look at them: as they are, with their differences in time beside
 * them, or each standardised by itself. */
#ifndef VH_SEARCH_VIEWS_H
#define VH_SEARCH_VIEWS_H

#include "data/data.h"

typedef enum { VH_AS_THEY_ARE, VH_WITH_DIFFERENCES, VH_EACH_STANDARDISED, VH_N_VIEWS } vh_view;

/* "", "with differences", "each standardised". */
const char *vh_view_name(vh_view view);
/* True if the sequences are standardised already, each by itself. */
bool vh_view_is_same(const vhem_data *data);
/* Copies the sequences in this view, with their names, groups and weights; a missing value stays missing.
 * Columns must be numbers.  Where a column is the same throughout a sequence, that sequence standardised has
 * zeros. */
vhem_status vh_view_make(vhem_ctx *ctx, vh_view view, const vhem_data *data, vhem_data **out);

#endif
