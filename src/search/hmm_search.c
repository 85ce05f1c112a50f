/* SPDX-License-Identifier: BSD-3-Clause */
/* hmm_search.c - see hmm_search.h. */
#include "search/hmm_search.h"

#include "search/presets.h"
#include "core/rng.h"
#include "hmm/convert.h"
#include "vhem/start.h"

#include <string.h>

enum { MAX_KINDS = 16 };

static vhem_status make_start(vhem_ctx *ctx, void *arg, const vh_restart *r, vh_scratch *scratch, void **out)
{
    const vh_hmm_search *s = arg;
    const vh_h3m *h3m = s->base->h3m;
    VH_OWN(vh_h3m) *centers = NULL;
    vh_rng rng;

    if (!r->kind) {
        VH_TRY(vh_h3m_subset(ctx, s->start, NULL, s->start->K, &centers));
    } else {
        VH_TRY(vh_h3m_new(ctx, h3m->family, h3m->shape, s->K, &centers));
        for (int64_t j = 0; j < s->K; j++)
            VH_TRY(vh_h3m_shape(ctx, centers, j, s->opt->S, s->opt->M));
        vh_rng_init(&rng, r->seed, VH_RNG_INIT, 0);
        VH_TRY(vh_start_kind_find(r->kind)->make(ctx, s->trial, s->opt->tau, &rng, scratch, centers));
    }
    VH_TRY(vh_add_to_covariances(ctx, centers, s->opt->cov_add));
    *out = vh_take(centers);
    return VHEM_OK;
}

static vhem_status reduce(vhem_ctx *ctx, void *arg, const vh_reduction *how, void *centers, vh_vhem_run *run)
{
    const vh_hmm_search *s = arg;
    return vh_vhem(ctx, how->trial ? s->trial : s->base, &how->opt, how->workers, centers, run);
}

static void free_centers(void *centers)
{
    vh_h3m_free(centers);
}

static const vh_restart_ops ops = { make_start, reduce, free_centers };

vhem_status vh_hmm_search_new(vhem_ctx *ctx, vh_hmm_search *s, uint64_t seed)
{
    const char *kinds[MAX_KINDS];
    int n_kind = 0;
    bool given = s->start && s->opt->restarts == 1;

    for (int k = 0; n_kind < MAX_KINDS && vh_start_kinds[k].name; k++) {
        const char *name = vh_start_kinds[k].name;
        /* Truncating a refined base HMM to its first states makes no good start. */
        bool copies = strcmp(name, "base") == 0 || strcmp(name, "far") == 0;
        if (s->opt->refine <= 1 || !copies || strcmp(name, s->opt->init) == 0)
            kinds[n_kind++] = name;
    }
    s->search =
        (vh_search){ .ops = &ops,
                     .arg = s,
                     .floor = s->floor,
                     .K = s->K,
                     .Kb = s->base->Kb,
                     .Kb_trial = s->trial->Kb,
                     .lean = s->lean,
                     .slack = VH_BOUND_SLACK * s->base->n_telling * s->opt->tau * s->opt->nv * s->base->Kb,
                     .constant = given ? 0 : s->base->rest * s->opt->tau,
                     .work = vh_cluster_work(s->base->h3m, s->K, s->opt) * s->base->Kb / s->base->h3m->K };
    return vh_search_new(ctx, s->opt, kinds, n_kind, given, seed, &s->search);
}

void vh_hmm_search_free(vh_hmm_search *s)
{
    vh_search_free(&s->search);
}
