/* SPDX-License-Identifier: BSD-3-Clause */
/* repair.h - re-seeds empty clusters and revives unused states. */
#ifndef VH_VHEM_REPAIR_H
#define VH_VHEM_REPAIR_H

#include "vhem/vhem_h3m.h"

#define VH_EMPTY 1e-3       /* a cluster with less than this many members is empty */
enum { VH_MAX_RESEED = 3 }; /* times K: clusters that keep falling empty are not needed */

/* Finds the member of cluster j (z [Kb][Kr]) with the smallest L [Kb][Kr] and moves it to cluster `to` in z,
 * so that a second empty cluster is not seeded at the same place.  omega [Kb] are the weights of the models.
 * Returns its index, -1 if j has fewer than two members. */
int64_t vh_move_worst(int64_t Kb, const double *omega, int Kr, const double *L, int j, int64_t to, double *z);

typedef struct { /* input and output of an M-step */
    const vh_base *base;
    const vh_vhem_options *opt;
    const vh_packed *pk; /* the centres before the M-step */
    vh_reduce_sums *sums;
    vh_h3m *centers;
    double *log_omega; /* [Kr]  of the centres, whose omega may underflow */
} vh_vhem_step;

/* omega_j = sum_i z_ij / Kb, and each HMM from its statistics; a cluster without members keeps its HMM.  The
 * next E-step uses log_omega, so a cluster survives when omega underflows.  Uses only Kb and scale of the
 * base. */
vhem_status vh_vhem_maximise(vhem_ctx *ctx, const vh_vhem_step *m);
/* Repairs the centres after M-step k, unless repairs have become idle; overwrites the members in sums.
 * Re-seeds each empty cluster at the worst-described member of the largest cluster that still has one to
 * give.  In early iterations, also revives dead states and components.  Counts repairs in run.  *repaired:
 * the model was changed, so the bound may fall once. */
vhem_status vh_repair(vhem_ctx *ctx, const vh_vhem_step *m, int k, vh_vhem_run *run, bool *repaired);

#endif
