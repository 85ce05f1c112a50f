/* SPDX-License-Identifier: BSD-3-Clause */
/* sentinels.h - detects numbers such as -9999 that stand for missing values. */
#ifndef VH_DATA_FORMATS_SENTINELS_H
#define VH_DATA_FORMATS_SENTINELS_H

#include "data/data.h"

/* Warns of dimensions in which a number made only of nines, far from all other values, occurs more than once.
 * text: advise --missing; else NaN.  Skips data in a file. */
vhem_status vh_warn_of_sentinels(vhem_ctx *ctx, const char *path, bool text, const vhem_data *data);

/* ---- columns that count or date the frames ------------------------------------------------------------- */

/* Warns of dimensions that number the frames of every sequence or hold a rising time, unless opt->columns
 * chose them. */
vhem_status vh_warn_of_counters(vhem_ctx *ctx, const char *path, const vhem_data_options *opt,
                                const vhem_data *data);

#endif
