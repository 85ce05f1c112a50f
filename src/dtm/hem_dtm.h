/* SPDX-License-Identifier: BSD-3-Clause */
/* hem_dtm.h - HEM-DTM: reduces many dynamic textures to a few, from a given start.  Chan, Coviello,
 * Lanckriet, CVPR 2010.  The loop, its options and its results are those of VHEM; the expected log-likelihood
 * is exact, not a bound. */
#ifndef VH_DTM_HEM_DTM_H
#define VH_DTM_HEM_DTM_H

#include "dtm/stats.h"
#include "vhem/vhem_h3m.h"

/* centers is the start and receives the reduced set.  The option cov_add is ignored, and the floor applies to
 * R.  If R of every base texture is isotropic, so is R of every centre.  VHEM_ESTOPPED leaves centers at the
 * last complete iteration, with the matching J, z and L. */
vhem_status vh_hem_dtm(vhem_ctx *ctx, const vh_dtm *base, const vh_vhem_options *opt,
                       const vh_workers *workers, vh_dtm *centers, vh_vhem_run *run);

/* L [Kb][Kr]: expected log-likelihood of tau frames of every base texture under every centre, in nats. */
vhem_status vh_hem_dtm_score(vhem_ctx *ctx, const vh_dtm *base, const vh_dtm *centers, int tau,
                             const vh_workers *workers, double *L);

#endif
