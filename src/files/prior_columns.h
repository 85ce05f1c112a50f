/* SPDX-License-Identifier: BSD-3-Clause */
/* prior_columns.h - the names of columns in the text of a prior, so that it is not taken for that of other
 * columns. */
#ifndef VH_FILES_PRIOR_COLUMNS_H
#define VH_FILES_PRIOR_COLUMNS_H

#include "core/ctx.h"

/* Writes the names [d] into the JSON object *text, unless it has some. */
vhem_status vh_prior_add_columns(vhem_ctx *ctx, const char *const *column, int d, char **text);
/* Refuses a prior whose columns have other names than these [d]; one without names suits any. */
vhem_status vh_prior_check_columns(vhem_ctx *ctx, const char *text, const char *const *column, int d);

#endif
