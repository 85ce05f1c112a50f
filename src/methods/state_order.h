/* SPDX-License-Identifier: BSD-3-Clause */
/* state_order.h - what is done to the winner of a clustering: its states in
 * order, its members' states beside them. */
#ifndef VH_METHODS_STATE_ORDER_H
#define VH_METHODS_STATE_ORDER_H

#include "vhem/base.h"

/* time [S]: expected frames in each state out of tau, or out of as many as a chain needs to forget its start;
 * work [2][S]. */
void vh_occupancy(const vh_hmm *h, int tau, double *time, double *work);

/* from [S]: the states by the share of tau frames spent in them, largest first, ties by index. */
vhem_status vh_state_order(vhem_ctx *ctx, const vh_hmm *h, int tau, int *from);

/* States of the first HMM by the share of tau frames spent in them, largest first, ties by index; those of
 * the others as they go with these, the most alike pair first, so that one number means the same in all of
 * them.  The models stay the same but for the numbers of their states. */
vhem_status vh_order_states(vhem_ctx *ctx, vh_h3m *h3m, int tau);

enum { VH_MAX_MAPPED = 100000 }; /* models that get a map of their states */

/* For each base HMM the state of the centre it belongs to, label [Kb], that is most often beside each of its
 * states.  *map and *at [Kb+1] are free()d by the caller. */
vhem_status vh_map_states(vhem_ctx *ctx, const vh_base *base, const vh_h3m *centers, const int *label,
                          int tau, int **map, int64_t **at);

#endif
