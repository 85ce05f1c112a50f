/* SPDX-License-Identifier: BSD-3-Clause */
/* sentinels.h - numbers such as -9999 that stand for a missing value. */
#ifndef VH_DATA_FORMATS_SENTINELS_H
#define VH_DATA_FORMATS_SENTINELS_H

#include "data/data.h"

/* Warns of dimensions in which a number of nines alone, far from all other values, comes more than once.
 * text: --missing can name it; else it must become NaN.  Data in a file are not looked through. */
vhem_status vh_warn_of_sentinels(vhem_ctx *ctx, const char *path, bool text, const vhem_data *data);

/* ---- columns that count or date the frames ------------------------------------------------------------- */

/* Columns that number or date the frames of a table, and are no measurements. */

/* Warns of dimensions that count the frames of every sequence, or are a time that rises in each, unless
 * opt->columns chose them. */
vhem_status vh_warn_of_counters(vhem_ctx *ctx, const char *path, const vhem_data_options *opt,
                                const vhem_data *data);

#endif
