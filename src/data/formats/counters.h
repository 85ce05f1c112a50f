/* SPDX-License-Identifier: BSD-3-Clause */
/* counters.h - columns that number or date the frames of a table, and are no measurements. */
#ifndef VH_DATA_FORMATS_COUNTERS_H
#define VH_DATA_FORMATS_COUNTERS_H

#include "data/data.h"

/* Warns of dimensions that count the frames of every sequence, or are a time that rises in each, unless
 * opt->columns chose them. */
vhem_status vh_warn_of_counters(vhem_ctx *ctx, const char *path, const vhem_data_options *opt,
                                const vhem_data *data);

#endif
