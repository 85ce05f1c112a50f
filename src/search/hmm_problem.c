/* SPDX-License-Identifier: BSD-3-Clause */
/* hmm_problem.c - see hmm_problem.h. */
#include "search/hmm_problem.h"

#include "search/presets.h"
#include "search/spectral_starts.h"
#include "core/alloc.h"
#include "parallel/ranks.h"
#include "core/rng.h"
#include "hmm/convert.h"
#include "vhem/refine.h"

#include <string.h>

/* Smallest variances: a share of the models' spread. */
static vhem_status make_floor(vhem_ctx *ctx, vh_hmm_problem *t)
{
    const vh_base *base = t->s.base;
    if (!(t->s.opt->cov_floor > 0))
        return VHEM_OK;
    VH_NEW(t->floor, base->h3m->d);
    for (int k = 0; k < base->h3m->d; k++)
        t->floor[k] = t->s.opt->cov_floor * base->scale[k] * base->scale[k];
    t->s.floor = t->floor;
    return VHEM_OK;
}

/* For very many models, restarts are judged on a random sample, at a fraction of the cost. */
static vhem_status choose_trial(vhem_ctx *ctx, vh_hmm_problem *t, uint64_t seed)
{
    vh_hmm_search *s = &t->s;
    VH_AUTOFREE int64_t *pick = NULL;
    int64_t K = s->base->Kb;
    vh_rng rng;

    s->trial = s->base;
    if (K <= VH_FEW_MODELS)
        return VHEM_OK;
    VH_NEW(pick, VH_FEW_MODELS);
    vh_rng_init(&rng, seed, VH_RNG_SPLIT, 0);
    vh_rng_spread(&rng, K, VH_FEW_MODELS, pick);
    VH_TRY(vh_base_pick(ctx, s->base, pick, VH_FEW_MODELS, &t->trial_models));
    VH_TRY(vh_base_new(ctx, t->trial_models, &s->trial));
    return s->base->shared ? vh_base_share(ctx, s->trial) : VHEM_OK;
}

/* Converts the models to the form in which they are clustered. */
static vhem_status convert_models(vhem_ctx *ctx, vh_hmm_problem *t)
{
    if (vh_cluster_wants_full(t->s.opt)) {
        VH_TRY(vh_h3m_widest(ctx, t->models, &t->full));
        t->models = t->full;
        if (t->s.start) {
            VH_TRY(vh_h3m_widest(ctx, t->s.start, &t->full_start));
            t->s.start = t->full_start;
        }
    }
    if (t->s.opt->refine > 1)
        VH_TRY(vh_refine(ctx, t->models, t->s.opt->refine, &t->fine));
    return VHEM_OK;
}

/* Opens the base.  Sums over many models are shared by several processes, or computed by an executor. */
static vhem_status open_base(vhem_ctx *ctx, vh_hmm_problem *t)
{
    bool many = t->Kb > VH_FEW_MODELS, shared = many && vh_ranks(ctx) > 1;
    const vh_remote *remote = many ? &t->remote : NULL;

    if (t->shards)
        return vh_base_stream(ctx, t->shards, remote, shared, &t->s.base);
    VH_TRY((shared ? vh_base_pack : vh_base_new)(ctx, t->fine ? t->fine : t->models, &t->s.base));
    if (remote && !t->fine && !t->full) /* else the executor has other models */
        t->s.base->remote = *remote;
    return shared ? vh_base_share(ctx, t->s.base) : VHEM_OK;
}

vhem_status vh_hmm_problem_open(vhem_ctx *ctx, uint64_t seed, vh_hmm_problem *t)
{
    const vhem_cluster_options *opt = t->s.opt;

    VH_TRY(convert_models(ctx, t));
    VH_TRY(open_base(ctx, t));
    if (opt->checkpoint && vh_is_first(ctx))
        VH_TRY(vh_journal_open(ctx, opt->checkpoint, &t->journal));
    t->s.base->journalled = opt->checkpoint != NULL;
    t->s.base->journal = t->journal;
    VH_TRY(choose_trial(ctx, t, seed));
    VH_TRY(make_floor(ctx, t));
    return vh_hmm_search_new(ctx, &t->s, seed);
}

void vh_hmm_problem_free(vh_hmm_problem *t)
{
    vh_hmm_search_free(&t->s);
    free(t->floor);
    if (t->s.trial != t->s.base)
        vh_base_free(t->s.trial);
    vh_h3m_free(t->trial_models);
    vh_base_free(t->s.base);
    vh_journal_free(t->journal);
    vh_h3m_free(t->full);
    vh_h3m_free(t->full_start);
    vh_h3m_free(t->fine);
}

/* Runs restarts and candidates; a fast search skips the restarts if there are candidates. */
vhem_status vh_hmm_problem_search(vhem_ctx *ctx, vh_hmm_problem *t, uint64_t seed)
{
    vhem_status st = VHEM_OK;
    vh_hmm_search *s = &t->s;
    bool candidates = vh_cluster_wants_candidates(s->K, s->opt), fast = strcmp(s->opt->search, "fast") == 0;

    if (!fast || !candidates)
        VH_TRY(vh_search_run(ctx, &s->search));
    if (candidates && !vh_stopped(ctx)) {
        st = vh_candidates_run(ctx, s, seed);
        st = st == VHEM_ESTOPPED ? VHEM_OK : st; /* keep the results so far */
        VH_TRY(st);
    }
    if (s->search.best < 0)
        VH_TRY(vh_search_run(ctx, &s->search));
    if (!vh_stopped(ctx)) {
        st = vh_search_select(ctx, &s->search, s->opt->candidate);
        st = st == VHEM_ESTOPPED ? VHEM_OK : st; /* keep the best by its bound */
        VH_TRY(st);
    }
    return st;
}
