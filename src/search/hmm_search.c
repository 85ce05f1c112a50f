/* SPDX-License-Identifier: BSD-3-Clause */
/* hmm_search.c - see hmm_search.h.
 *
 *   1. the models, in the form in which they are clustered
 *   2. one start, one run: the callbacks of restarts.h
 *   3. all of them */
#include "search/hmm_search.h"

#include "search/presets.h"
#include "search/spectral_starts.h"
#include "core/alloc.h"
#include "core/rng.h"
#include "hmm/convert.h"
#include "parallel/ranks.h"
#include "vhem/refine.h"
#include "vhem/start.h"

#include <string.h>

enum { MAX_KINDS = 16 };

/* ---- 1. the models ------------------------------------------------------------------------------------- */

/* Smallest variances: a share of the models' spread. */
static vhem_status make_floor(vhem_ctx *ctx, vh_hmm_search *s)
{
    const vh_base *base = s->base;
    if (!(s->opt->cov_floor > 0))
        return VHEM_OK;
    VH_NEW(s->own_floor, base->h3m->d);
    for (int k = 0; k < base->h3m->d; k++)
        s->own_floor[k] = s->opt->cov_floor * base->scale[k] * base->scale[k];
    s->floor = s->own_floor;
    return VHEM_OK;
}

/* For very many models, restarts are judged on a random sample, at a fraction of the cost. */
static vhem_status choose_trial(vhem_ctx *ctx, vh_hmm_search *s, uint64_t seed)
{
    VH_AUTOFREE int64_t *pick = NULL;
    int64_t K = s->base->Kb;
    vh_rng rng;

    s->trial = s->base;
    if (K <= VH_FEW_MODELS)
        return VHEM_OK;
    VH_NEW(pick, VH_FEW_MODELS);
    vh_rng_init(&rng, seed, VH_RNG_SPLIT, 0);
    vh_rng_spread(&rng, K, VH_FEW_MODELS, pick);
    VH_TRY(vh_base_pick(ctx, s->base, pick, VH_FEW_MODELS, &s->trial_models));
    VH_TRY(vh_base_new(ctx, s->trial_models, &s->trial));
    return s->base->shared ? vh_base_share(ctx, s->trial) : VHEM_OK;
}

/* Converts the models to the form in which they are clustered. */
static vhem_status convert_models(vhem_ctx *ctx, vh_hmm_search *s)
{
    if (vh_cluster_wants_full(s->opt)) {
        VH_TRY(vh_h3m_widest(ctx, s->models, &s->full));
        s->models = s->full;
        if (s->start) {
            VH_TRY(vh_h3m_widest(ctx, s->start, &s->full_start));
            s->start = s->full_start;
        }
    }
    if (s->opt->refine > 1)
        VH_TRY(vh_refine(ctx, s->models, s->opt->refine, &s->fine));
    return VHEM_OK;
}

/* Opens the base.  Sums over many models are shared by several processes, or computed by an executor. */
static vhem_status open_base(vhem_ctx *ctx, vh_hmm_search *s)
{
    bool many = s->Kb > VH_FEW_MODELS, shared = many && vh_ranks(ctx) > 1;
    const vh_remote *remote = many ? &s->remote : NULL;

    if (s->shards)
        return vh_base_stream(ctx, s->shards, remote, shared, &s->base);
    VH_TRY((shared ? vh_base_pack : vh_base_new)(ctx, s->fine ? s->fine : s->models, &s->base));
    if (remote && !s->fine && !s->full) /* else the executor has other models */
        s->base->remote = *remote;
    return shared ? vh_base_share(ctx, s->base) : VHEM_OK;
}

/* ---- 2. one start, one run ----------------------------------------------------------------------------- */

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
        VH_TRY(vh_vhem_start(ctx, r->kind, s->trial, s->opt->tau, &rng, scratch, centers));
    }
    VH_TRY(vh_add_to_covariances(ctx, centers, s->opt->cov_add));
    *out = vh_take(centers);
    return VHEM_OK;
}

static vhem_status reduce(vhem_ctx *ctx, void *arg, bool trial, const vh_vhem_options *opt,
                          const vh_workers *workers, void *centers, vh_vhem_run *run)
{
    const vh_hmm_search *s = arg;
    return vh_vhem(ctx, trial ? s->trial : s->base, opt, workers, centers, run);
}

static void free_centers(void *centers)
{
    vh_h3m_free(centers);
}

vhem_status vh_hmm_search_new(vhem_ctx *ctx, vh_hmm_search *s, uint64_t seed)
{
    const char *kinds[MAX_KINDS];
    int n_kind = 0;
    bool given = s->start && s->opt->restarts == 1;

    for (int k = 0; n_kind < MAX_KINDS && vh_vhem_starts[k]; k++) {
        const char *name = vh_vhem_starts[k];
        /* Truncating a refined base HMM to its first states makes no good start. */
        bool copies = strcmp(name, "base") == 0 || strcmp(name, "far") == 0;
        if (s->opt->refine <= 1 || !copies || strcmp(name, s->opt->init) == 0)
            kinds[n_kind++] = name;
    }
    s->search =
        (vh_search){ .start = make_start,
                     .reduce = reduce,
                     .free = free_centers,
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

/* ---- 3. all of them ------------------------------------------------------------------------------------ */

vhem_status vh_hmm_search_open(vhem_ctx *ctx, uint64_t seed, vh_hmm_search *s)
{
    const vhem_cluster_options *opt = s->opt;

    s->opened = true;
    VH_TRY(convert_models(ctx, s));
    VH_TRY(open_base(ctx, s));
    if (opt->checkpoint && vh_is_first(ctx))
        VH_TRY(vh_journal_open(ctx, opt->checkpoint, &s->journal));
    s->base->journalled = opt->checkpoint != NULL;
    s->base->journal = s->journal;
    VH_TRY(choose_trial(ctx, s, seed));
    VH_TRY(make_floor(ctx, s));
    return vh_hmm_search_new(ctx, s, seed);
}

/* Runs restarts and candidates; a fast search skips the restarts if there are candidates. */
vhem_status vh_hmm_search_run(vhem_ctx *ctx, vh_hmm_search *s, uint64_t seed)
{
    vhem_status st = VHEM_OK;
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

void vh_hmm_search_free(vh_hmm_search *s)
{
    vh_search_free(&s->search);
    free(s->own_floor);
    if (s->opened && s->trial != s->base)
        vh_base_free(s->trial);
    if (s->opened)
        vh_base_free(s->base);
    vh_h3m_free(s->trial_models);
    vh_journal_free(s->journal);
    vh_h3m_free(s->full);
    vh_h3m_free(s->full_start);
    vh_h3m_free(s->fine);
}
