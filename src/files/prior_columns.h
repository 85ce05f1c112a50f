/* SPDX-License-Identifier: BSD-3-Clause */
/* prior_columns.h - column names in the text of a prior, which prevent its use for other columns. */
#ifndef VH_FILES_PRIOR_COLUMNS_H
#define VH_FILES_PRIOR_COLUMNS_H

#include "core/ctx.h"

/* Adds the names [d] to the JSON object *text, unless it has some. */
vhem_status vh_prior_add_columns(vhem_ctx *ctx, const char *const *column, int d, char **text);
/* Rejects a prior whose column names differ from these [d]; a prior without names is accepted. */
vhem_status vh_prior_check_columns(vhem_ctx *ctx, const char *text, const char *const *column, int d);

#endif
