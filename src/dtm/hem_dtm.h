/* SPDX-License-Identifier: BSD-3-Clause */
/* hem_dtm.h - HEM-DTM: from many dynamic textures and a start to a few.  Chan, Coviello, Lanckriet, CVPR
 * 2010.  The loop, its options and its results are those of VHEM; the expected log-likelihood is exact here,
 * not a bound. */
#ifndef VH_DTM_HEM_DTM_H
#define VH_DTM_HEM_DTM_H

#include "dtm/stats.h"
#include "vhem/vhem_h3m.h"

/* centers is the start, and becomes the reduced set; cov_add of the options means nothing here, and the floor
 * is that of R.  When R of every base texture is the same in all dimensions, so is that of every centre. 
 * VHEM_ESTOPPED leaves centers at the last full iteration, with J, z and L that belong
 * to it. */
vhem_status vh_hem_dtm(vhem_ctx *ctx, const vh_dtm *base, const vh_vhem_options *opt,
                       const vh_workers *workers, vh_dtm *centers, vh_vhem_run *run);

/* L [Kb][Kr]: expected log-likelihood of tau frames of every base texture under every centre, in nats. */
vhem_status vh_hem_dtm_score(vhem_ctx *ctx, const vh_dtm *base, const vh_dtm *centers, int tau,
                             const vh_workers *workers, double *L);

#endif
