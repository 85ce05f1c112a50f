/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h - options of a clustering: from what was asked for to what is done. */
#ifndef VH_METHODS_OPTIONS_H
#define VH_METHODS_OPTIONS_H

#include "methods/methods.h"
#include "search/presets.h"

/* All defaults and the preset filled in, everything checked against the input.  With a given start, S, M and
 * K of the input are those of the start. */
vhem_status vh_cluster_resolve(vhem_ctx *ctx, vh_input *in, const vhem_cluster_options *asked,
                               vhem_cluster_options *out);
#endif
