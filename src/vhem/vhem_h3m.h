/* SPDX-License-Identifier: BSD-3-Clause */
/* vhem_h3m.h - the VHEM-H3M algorithm: from base HMMs and a start to a reduced H3M.  Paper, Section 3. */
#ifndef VH_VHEM_VHEM_H3M_H
#define VH_VHEM_VHEM_H3M_H

#include "hmm/mstep.h"
#include "vhem/base.h"
#include "vhem/loop.h"

enum { VH_MOST_TAU = 10000000 }; /* most frames of a virtual sample */

/* Runs VHEM from the start in centers, which becomes the reduced model.  On VHEM_ESTOPPED, centers, J, z and
 * L are those of the last full iteration.  An overdue stop ends an E-step before it is complete: centers are
 * then one M-step ahead of J, and rows of z and L may be ahead, too.  If that was the first E-step, n_iter is
 * -1 and there is no result. */
vhem_status vh_vhem(vhem_ctx *ctx, const vh_base *base, const vh_vhem_options *opt, const vh_workers *workers,
                    vh_h3m *centers, vh_vhem_run *run);

/* Adds a number to the diagonal of every covariance, if the family has covariances. */
vhem_status vh_add_to_covariances(vhem_ctx *ctx, vh_h3m *h3m, double add);

#endif
