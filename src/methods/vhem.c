/* SPDX-License-Identifier: BSD-3-Clause */
/* vhem.c - clustering by VHEM, paper Section 3, from many starts (restarts.h) and from partitions of the
 * models by their distances (search/spectral_starts.h). */
#include "methods/state_order.h"
#include "methods/first_reduce.h"
#include "search/hmm_search.h"
#include "core/alloc.h"
#include "parallel/ranks.h"

/* For each input state, finds the state of its centre that it is most often paired with. */
static vhem_status map_states(vhem_ctx *ctx, const vh_hmm_search *s, vh_clustering *out)
{
    VH_OWN(vh_base) *plain = NULL; /* the original models, if refined ones were clustered */

    if (s->fine)
        VH_TRY(vh_base_new(ctx, s->models, &plain));
    vh_label_by_z(out);
    return vh_map_states(ctx, plain ? plain : s->base, out->centers, out->label, s->opt->tau, &out->state_map,
                         &out->state_map_at);
}

static vhem_status take_centres(vhem_ctx *ctx, vh_hmm_search *s, bool mapped, vh_clustering *out)
{
    vh_restart *w = &s->search.all[s->search.best];

    VH_TRY(vh_clustering_take_search(ctx, &s->search, out));
    out->centers = w->centers;
    w->centers = NULL;
    if (!s->start)
        VH_TRY(vh_order_states(ctx, out->centers, s->opt->tau));
    for (int j = 0; j < out->Kr; j++) {
        VH_TRY(vh_h3m_set_cluster(ctx, &out->centers->hmm[j].name, j));
        VH_TRY(vh_h3m_set_text(ctx, &out->centers->hmm[j].label, NULL));
    }
    if (s->base->shards && s->base->whole[0]) /* counted when names are read */
        VH_NEW(out->lacking, out->Kb);
    bool here = !s->base->shards || vh_rank(ctx) == 0; /* on the first process only: it reads all files */
    if (mapped && here && s->base->Kb <= VH_MAX_MAPPED)
        VH_TRY(map_states(ctx, s, out));
    return VHEM_OK;
}

vhem_status vh_method_vhem(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *opt, uint64_t seed,
                           vh_clustering *out)
{
    VH_CLEANUP(vh_hmm_search_free) vh_hmm_search s = { 0 };

    if (opt->first_reduce > 0)
        return vh_first_reduce(ctx, in, opt, seed, out);
    vh_input_search(in, opt, &s);
    VH_TRY(vh_hmm_search_open(ctx, seed, &s));
    VH_TRY(vh_hmm_search_run(ctx, &s, seed));
    VH_TRY(take_centres(ctx, &s, !in->centers_only, out));
    if (vh_stopped(ctx))
        return vh_fail(ctx, VHEM_ESTOPPED, "stopped; the best of %d restarts is kept", out->n_run);
    return VHEM_OK;
}
