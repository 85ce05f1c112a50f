/* SPDX-License-Identifier: BSD-3-Clause */
/* vb_prior.h - the prior of VBHEM from its option. */
#ifndef VH_METHODS_VB_PRIOR_H
#define VH_METHODS_VB_PRIOR_H

#include "vhem/vb.h"

/* spec: a file, JSON text, or settings of the default prior, "alpha=1,nu=5"; NULL: the default. */
vhem_status vh_vb_prior(vhem_ctx *ctx, const vh_base *base, const char *spec, vh_prior **out);

#endif
