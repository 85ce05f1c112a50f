/* SPDX-License-Identifier: BSD-3-Clause */
/* repair.h - clusters that lost their members and states that lost their time get another chance. */
#ifndef VH_VHEM_REPAIR_H
#define VH_VHEM_REPAIR_H

#include "vhem/vhem_h3m.h"

#define VH_EMPTY 1e-3       /* a cluster with less than this many members is empty */
enum { VH_MAX_RESEED = 3 }; /* times K: what falls empty again and again is not needed */

/* Of the Kb models with weights omega the one that centre j, to which z [Kb][Kr] gives it, describes worst by
 * L [Kb][Kr]; -1 when j has fewer than two.  z then gives it to centre `to`, so that a second empty cluster
 * does not begin at the same place. */
int64_t vh_move_worst(int64_t Kb, const double *omega, int Kr, const double *L, int j, int64_t to, double *z);

typedef struct { /* an M-step: what it was made from and what it made */
    const vh_base *base;
    const vh_vhem_options *opt;
    const vh_packed *pk; /* the centres before it */
    vh_reduce_sums *sums;
    vh_h3m *centers;
    double *log_omega; /* [Kr]  of the centres, which omega itself may be too small for */
} vh_vhem_step;

/* omega_j = sum_i z_ij / Kb, and each HMM from its statistics; a cluster without members keeps its HMM.
 * log_omega is what the next E-step takes: omega may be too small for a double, and the cluster lives.  Of
 * the base it needs Kb and scale. */
vhem_status vh_vhem_maximise(vhem_ctx *ctx, const vh_vhem_step *m);
/* After M-step k, whose members are used up, unless repairs have become idle.  Re-seeds empty clusters, each
 * at what the largest cluster that still has such a member describes worst, and, in early iterations, revives
 * dead states and components; counts them in run.  *repaired: anything was changed, and the bound may fall
 * once. */
vhem_status vh_repair(vhem_ctx *ctx, const vh_vhem_step *m, int k, vh_vhem_run *run, bool *repaired);

#endif
