/* SPDX-License-Identifier: BSD-3-Clause */
/* method_vhem.c - clustering by VHEM, paper Section 3, from many starts (restarts.h). */
#include "cluster/arrange.h"
#include "cluster/methods.h"
#include "cluster/options.h"
#include "cluster/restarts.h"
#include "core/alloc.h"
#include "model/convert.h"
#include "reduce/start.h"

enum {
    TRIAL_MODELS = 4096, /* of more models than this, restarts are judged on so many */
    MAX_KINDS = 16,
};

typedef struct { /* what all restarts share */
    const vhem_cluster_options *opt;
    const vh_h3m *start;
    vh_base *base;
    vh_h3m *trial_models; /* NULL: restarts are judged on all models */
    vh_base *trial;       /* == base then */
    double *floor;        /* [d], or NULL */
    vh_search search;
} task;

/* ---- what restarts ask for ----------------------------------------------------------------------------- */

static vhem_status make_start(vhem_ctx *ctx, void *arg, const vh_restart *r, vh_scratch *scratch, void **out)
{
    vhem_status st = VHEM_OK;
    const task *s = arg;
    const vh_h3m *h3m = s->base->h3m;
    vh_h3m *centers = NULL;
    vh_rng rng;

    if (!r->kind) {
        VH_TRY(vh_h3m_subset(ctx, s->start, NULL, s->start->K, &centers));
    } else {
        VH_TRY(vh_h3m_new(ctx, h3m->family, h3m->d, s->opt->K, &centers));
        for (int j = 0; j < s->opt->K; j++)
            VH_TRY(vh_h3m_shape(ctx, centers, j, s->opt->S, s->opt->M));
        vh_rng_init(&rng, r->seed, VH_RNG_INIT, 0);
        VH_TRY(vh_start_kind_find(r->kind)->make(ctx, s->trial, s->opt->tau, &rng, scratch, centers));
    }
    vh_add_to_covariances(centers, s->opt->cov_add);
    *out = centers;
    centers = NULL;
done:
    vh_h3m_free(centers);
    return st;
}

static vhem_status reduce(vhem_ctx *ctx, void *arg, bool trial, const vh_vhem_options *opt,
                          vh_scratch *scratch, int n_threads, void *centers, vh_vhem_run *run)
{
    const task *s = arg;
    return vh_vhem(ctx, trial ? s->trial : s->base, opt, scratch, n_threads, centers, run);
}

static void free_centers(void *centers)
{
    vh_h3m_free(centers);
}

static const vh_restart_ops ops = { make_start, reduce, free_centers };

/* ---- before and after ---------------------------------------------------------------------------------- */

static vhem_status hand_over(vhem_ctx *ctx, task *s, bool mapped, vh_clustering *out)
{
    vhem_status st = VHEM_OK;
    vh_restart *w = &s->search.all[s->search.best];

    VH_TRY(vh_search_tell(ctx, &s->search, out));
    out->centers = w->centers;
    w->centers = NULL;
    if (!s->start)
        VH_TRY(vh_order_states(ctx, out->centers, s->opt->tau));
    for (int j = 0; j < out->Kr; j++) {
        VH_TRY(vh_h3m_set_cluster(ctx, &out->centers->hmm[j].name, j));
        VH_TRY(vh_h3m_set_text(ctx, &out->centers->hmm[j].label, NULL));
    }
    if (mapped && s->base->Kb <= VH_MAX_MAPPED) {
        vh_label_by_z(out);
        VH_TRY(vh_map_states(ctx, s->base, out->centers, out->label, s->opt->tau, &out->state_map,
                             &out->state_map_at));
    }
done:
    return st;
}

/* The smallest variances: a share of the spread of the models. */
static vhem_status make_floor(vhem_ctx *ctx, task *s)
{
    vhem_status st = VHEM_OK;
    int d = s->base->h3m->d;
    if (!(s->opt->cov_floor > 0))
        goto done;
    VH_NEW(s->floor, d);
    for (int k = 0; k < d; k++)
        s->floor[k] = s->opt->cov_floor * s->base->scale[k] * s->base->scale[k];
done:
    return st;
}

/* Of very many models a random sample tells good starts from bad ones as well, at a fraction of the cost. */
static vhem_status choose_trial(vhem_ctx *ctx, task *s, uint64_t seed)
{
    vhem_status st = VHEM_OK;
    int *pick = NULL, K = s->base->Kb;
    vh_rng rng;

    s->trial = s->base;
    if (K <= TRIAL_MODELS || s->start || s->opt->restarts == 1)
        return VHEM_OK;
    VH_NEW(pick, TRIAL_MODELS);
    vh_rng_init(&rng, seed, VH_RNG_SPLIT, 0);
    for (int i = 0; i < TRIAL_MODELS; i++) { /* one from each of so many equal stretches: no repeats */
        int64_t lo = (int64_t)K * i / TRIAL_MODELS, hi = (int64_t)K * (i + 1) / TRIAL_MODELS;
        pick[i] = (int)(lo + vh_rng_below(&rng, hi - lo));
    }
    VH_TRY(vh_h3m_subset(ctx, s->base->h3m, pick, TRIAL_MODELS, &s->trial_models));
    VH_TRY(vh_base_new(ctx, s->trial_models, &s->trial));
done:
    free(pick);
    return st;
}

static vhem_status set_up(vhem_ctx *ctx, task *s, const vh_h3m *models, uint64_t seed)
{
    vhem_status st = VHEM_OK;
    const char *kinds[MAX_KINDS];
    int n_kind = 0;

    for (; n_kind < MAX_KINDS && vh_start_kinds[n_kind].name; n_kind++)
        kinds[n_kind] = vh_start_kinds[n_kind].name;
    VH_TRY(vh_base_new(ctx, models, &s->base));
    VH_TRY(choose_trial(ctx, s, seed));
    VH_TRY(make_floor(ctx, s));
    s->search = (vh_search){ .ops = &ops,
                             .arg = s,
                             .floor = s->floor,
                             .Kb = s->base->Kb,
                             .Kb_trial = s->trial->Kb,
                             .work = vh_cluster_work(s->base->h3m, s->opt) };
    VH_TRY(vh_search_new(ctx, s->opt, kinds, n_kind, s->start != NULL, seed, &s->search));
done:
    return st;
}

static void tear_down(vhem_ctx *ctx, task *s)
{
    vh_search_free(ctx, &s->search);
    free(s->floor);
    if (s->trial != s->base)
        vh_base_free(s->trial);
    vh_h3m_free(s->trial_models);
    vh_base_free(s->base);
}

vhem_status vh_method_vhem(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *opt, uint64_t seed,
                           vh_clustering *out)
{
    vhem_status st = VHEM_OK;
    const vh_h3m *h3m = in->models;
    vh_h3m *full = NULL, *full_start = NULL;
    task s = { .opt = opt, .start = opt->start };

    if (vh_cluster_wants_full(opt)) {
        VH_TRY(vh_h3m_as_full(ctx, h3m, &full));
        h3m = full;
        if (opt->start) {
            VH_TRY(vh_h3m_as_full(ctx, opt->start, &full_start));
            s.start = full_start;
        }
    }
    VH_TRY(set_up(ctx, &s, h3m, seed));
    VH_TRY(vh_search_run(ctx, &s.search));
    VH_TRY(hand_over(ctx, &s, !in->centers_only, out));
    if (vh_stopped(ctx))
        st = vh_fail(ctx, VHEM_ESTOPPED, "stopped; the best of %d restarts is kept", out->n_run);
done:
    tear_down(ctx, &s);
    vh_h3m_free(full);
    vh_h3m_free(full_start);
    return st;
}
