/* SPDX-License-Identifier: BSD-3-Clause */
/* emission_gaussian.h - what Gaussians with diagonal and with full covariances have in common: a place. */
#ifndef VH_MODEL_EMISSION_GAUSSIAN_H
#define VH_MODEL_EMISSION_GAUSSIAN_H

#include "model/emission.h"
#include "model/slabs.h"

extern const vh_location vh_location_diag, vh_location_full, vh_location_gaps, vh_location_full_gaps;
/* The families with statistics that know of missing cells. */
extern const vh_emission vh_gaussian_diag_gaps, vh_gaussian_full_gaps;

#endif
