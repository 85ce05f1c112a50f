/* SPDX-License-Identifier: BSD-3-Clause */
/* distance.c - vhem_distance: distances between HMMs in memory or on disk, shared among the ranks. */
#include "distance/distance.h"
#include "core/options.h"
#include "parallel/ranks.h"
#include "models/models.h"
#include "vhem.h"

static vhem_status compare(vhem_ctx *ctx, const vhem_models *a, const vhem_models *b,
                           const vhem_distance_options *opt, double *D, double *error)
{
    VH_TRY(vh_models_gather(ctx, a));
    VH_TRY(vh_models_gather(ctx, b));
    VH_CHECK(a->h3m && b->h3m, VHEM_EINVAL, "distances are between HMMs, these are dynamic textures");
    VH_TRY(
        vh_ranks_call(ctx, "compare", VHEM_DISTANCE_OPTIONS, opt,
                      vh_ranks(ctx) > 1 ? vh_h3m_fingerprint(a->h3m) ^ vh_h3m_fingerprint(b->h3m) << 1 : 0));
    return vh_distance_shared(ctx, a->h3m, b->h3m, opt, D, error);
}

vhem_status vhem_distance(vhem_ctx *ctx, const vhem_models *a, const vhem_models *b,
                          const vhem_distance_options *opt, double *D, double *error)
{
    VH_ENTER(a, b);
    vhem_distance_options o;

    VH_TRY(vh_options_take(ctx, VHEM_DISTANCE_OPTIONS, opt, &o));
    vh_options_fill(VHEM_DISTANCE_OPTIONS, &o);
    return vh_ranks_end(ctx, compare(ctx, a, b, &o, D, error));
}
