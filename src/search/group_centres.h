/* SPDX-License-Identifier: BSD-3-Clause */
/* group_centres.h - centres for the groups of a partition, one at a time: VHEM with K = 1 on the members of
 * each group, from many starts.
 *
 * A random start of VHEM needs luck with all centres at once.  Finding the groups first needs luck with one
 * centre at a time, at a fraction of the cost. */
#ifndef VH_SEARCH_GROUP_CENTRES_H
#define VH_SEARCH_GROUP_CENTRES_H

#include "vhem/base.h"

typedef struct vh_known_centre vh_known_centre; /* a group and the best centre found for it */

typedef struct {
    const vhem_cluster_options *opt;
    int64_t K;           /* number of groups */
    const double *floor; /* [d]  smallest variances, or NULL */
    uint64_t seed;
    vh_known_centre *all; /* cache: the centres of a group are not searched twice */
    size_t n, cap;
} vh_group_centres;

/* Finds centres for the K groups label [Kb] of the base models: each is the best of `restarts` runs, more for
 * small groups, and of the cache.  current (or NULL) are the centres that define the groups: they are starts
 * too, so that no centre gets worse, and keep their weights.  A group without members gets weight zero,
 * unless there is a current centre.  Groups run in parallel; the result does not depend on the number of
 * threads. */
vhem_status vh_group_centres_find(vhem_ctx *ctx, vh_group_centres *s, const vh_base *base, const int *label,
                                  const vh_h3m *current, int restarts, vh_h3m **out);
void vh_group_centres_free(vh_group_centres *s);

#endif
