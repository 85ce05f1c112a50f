/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h - resolves the options of a clustering: defaults, presets, checks. */
#ifndef VH_METHODS_OPTIONS_H
#define VH_METHODS_OPTIONS_H

#include "methods/methods.h"
#include "search/presets.h"

/* Fills in all defaults and the preset, and checks everything against the input.  A given start determines S,
 * M and K of the input. */
vhem_status vh_cluster_resolve(vhem_ctx *ctx, vh_input *in, const vhem_cluster_options *asked,
                               vhem_cluster_options *out);
#endif
