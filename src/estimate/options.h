/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h - options of a fit: defaults, checks, and what they mean for given data. */
#ifndef VH_ESTIMATE_OPTIONS_H
#define VH_ESTIMATE_OPTIONS_H

#include "data/data.h"

enum { VH_FIT_RESTARTS = 4 }; /* without a given start, when none were asked for */

/* Defaults filled in, everything checked against the data, of which a start is the caller's to check. */
vhem_status vh_fit_resolve(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *asked,
                           vhem_fit_options *out);
/* The deviation of all the data, *spread [d], and the smallest variances, *floor [d], a share of its square;
 * *floor stays NULL when the share is 0.  A dimension that never varies counts with unit spread.  Both are
 * free()d by the caller, on failure too. */
vhem_status vh_fit_floor(vhem_ctx *ctx, const vhem_data *data, double share, double **spread, double **floor);

#endif
