/* SPDX-License-Identifier: BSD-3-Clause */
/* lanes.c - see lanes.h and, for the recursions, lanes_body.h.  Rabiner 1989, section V.A.
 *
 * When is scaling safe?  Numbers below 1e-304 may be flushed to zero in three places, all before division by
 * c_t = 1/r_t: B_t(s) itself, the product pred_t(s) B_t(s), and the term alpha_t(s) a_sq of pred_t+1(q).
 * With sum_s alpha beta = 1, the posterior of the lost terms is then at most
 *
 *   1e-304 r_t beta_t(s)             in the first two,
 *   1e-304 r_t v_t+1(q)              in the third.
 *
 * `doubt` is the sum of all these factors and of all r_t.  Below 1e280, the loss is negligible; above it, the
 * caller recomputes the lane in logs.  A path that the forward recursion has lost, and the backward recursion
 * too, at a later frame, is in none of these factors: see check_pair in forward_backward.c.
 *
 * 3 S^2 multiply-adds, one division, one log per lane and frame. */
#include "simd/lanes.h"

#include "simd/vec.h"

#include <string.h>

enum { WRITTEN_OUT = 10, STRETCH = 1 << 14 };
#define INLINE static inline __attribute__((always_inline))

static __attribute__((noinline)) bool is_late(vh_lanes *g)
{
    return g->late = g->late || vh_overdue(g->ctx);
}

#define LANE       vec
#define LANE_COUNT VH_LANES
#define BODY(f)    f##_n
#include "simd/lanes_body.h"
#undef LANE
#undef LANE_COUNT
#undef BODY

#define LANE       double
#define LANE_COUNT 1
#define BODY(f)    f##_1
#include "simd/lanes_body.h"

/* log p(y) = -sum_t log r_t over the frames of each lane. */
static void sum_logs_n(vh_lanes *g)
{
    const vec *r = (const vec *)g->r;
    vec sum = { 0 }, doubt = { 0 };
    for (int64_t t = 0; t < g->T; t++) {
        vec one = vec_log(r[t]), live = { 0 };
        for (int l = 0; l < VH_LANES; l++)
            live[l] = t < g->length[l];
        sum -= one * live;
        doubt += r[t] * live;
    }
    for (int l = 0; l < VH_LANES; l++) {
        g->loglik[l] = sum[l];
        g->doubt[l] = doubt[l];
    }
}

/* One chain: a vector of frames at a time; the last vector is padded with ones. */
static void sum_logs_1(vh_lanes *g)
{
    vec sum = { 0 }, doubt = { 0 };
    for (int64_t t = 0; t < g->T; t += VH_LANES) {
        vec r = vec_all(1);
        int64_t left = g->T - t;
        memcpy(&r, g->r + t, sizeof(double) * (size_t)(left < VH_LANES ? left : VH_LANES));
        sum -= vec_log(r);
        doubt += r;
    }
    g->loglik[0] = g->doubt[0] = 0;
    for (int l = 0; l < VH_LANES; l++) {
        g->loglik[0] += sum[l];
        g->doubt[0] += doubt[l];
    }
}

void VH_NAME(vh_lanes_forward)(int L, vh_lanes *g)
{
    if (L == 1) {
        forward_1(g);
        sum_logs_1(g);
    } else {
        forward_n(g);
        sum_logs_n(g);
    }
}

void VH_NAME(vh_lanes_backward)(int L, vh_lanes *g)
{
    if (L == 1)
        backward_1(g);
    else
        backward_n(g);
}
