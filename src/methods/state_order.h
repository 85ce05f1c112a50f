/* SPDX-License-Identifier: BSD-3-Clause */
/* state_order.h - orders the states of centres, and maps the states of members to them. */
#ifndef VH_METHODS_STATE_ORDER_H
#define VH_METHODS_STATE_ORDER_H

#include "vhem/base.h"

/* time [S]: expected frames in each state, over tau frames or enough to forget the start; work [2][S]. */
void vh_occupancy(const vh_hmm *h, int tau, double *time, double *work);

/* from [S]: the states by expected frames out of tau, largest first, ties by index. */
vhem_status vh_state_order(vhem_ctx *ctx, const vh_hmm *h, int tau, int *from);

/* Sorts the states of the first HMM by expected frames out of tau, largest first, ties by index, and matches
 * the states of other HMMs to them, most similar pair first, so that a state index means the same in all
 * HMMs.  Only the order of states changes. */
vhem_status vh_order_states(vhem_ctx *ctx, vh_h3m *h3m, int tau);

enum { VH_MAX_MAPPED = 100000 }; /* largest number of models with a state map */

/* For each state of each base HMM, finds the state of its centre, label [Kb], that it is most often paired
 * with.  The caller frees *map and *at [Kb+1] with free(). */
vhem_status vh_map_states(vhem_ctx *ctx, const vh_base *base, const vh_h3m *centers, const int *label,
                          int tau, int **map, int64_t **at);

#endif
