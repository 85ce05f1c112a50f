/* SPDX-License-Identifier: BSD-3-Clause */
/* sentinels.h - numbers such as -9999 that stand for a missing value. */
#ifndef VH_DATA_FORMATS_SENTINELS_H
#define VH_DATA_FORMATS_SENTINELS_H

#include "data/data.h"

/* Warns of dimensions in which a number of nines alone, far from all other values, comes more than once.
 * text: --missing can name it; else it must become NaN.  Data in a file are not looked through. */
vhem_status vh_warn_of_sentinels(vhem_ctx *ctx, const char *path, bool text, const vhem_data *data);

#endif
