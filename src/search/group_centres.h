/* SPDX-License-Identifier: BSD-3-Clause */
/* group_centres.h - centres for the groups of a partition, each found by itself: VHEM with one centre on
 * the members of a group, from many starts.
 *
 * A random start of VHEM has to be lucky with all its centres at once. Groups first and centres then needs
 * luck with one centre at a time, at a fraction of the cost. */
#ifndef VH_SEARCH_GROUP_CENTRES_H
#define VH_SEARCH_GROUP_CENTRES_H

#include "vhem/base.h"

typedef struct vh_known_centre vh_known_centre; /* a group and the best centre found for it */

typedef struct {
    const vhem_cluster_options *opt;
    int64_t K;           /* groups */
    const double *floor; /* [d]  smallest variances, or NULL */
    uint64_t seed;
    vh_known_centre *all; /* what has been settled: equal groups are not settled twice */
    size_t n, cap;
} vh_group_centres;

/* Centres for the K groups label [Kb] of the base models, the best of `restarts`, or more for small groups,
 * and of what is known already.  current, NULL: none, are the centres the groups come from: they are starts
 * too, so that no centre becomes worse than it was, and their weights are kept.  A group without members gets
 * weight zero, unless there is a current centre.  Side by side on all threads; the answer does not depend on
 * their number. */
vhem_status vh_group_centres_find(vhem_ctx *ctx, vh_group_centres *s, const vh_base *base, const int *label,
                                  const vh_h3m *current, int restarts, vh_h3m **out);
void vh_group_centres_free(vh_group_centres *s);

#endif
