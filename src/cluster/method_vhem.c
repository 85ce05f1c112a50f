/* SPDX-License-Identifier: BSD-3-Clause */
/* method_vhem.c - clustering by VHEM, paper Section 3, from many starts (restarts.h) and from partitions of
 * the models by their distances (candidates.h). */
#include "cluster/arrange.h"
#include "cluster/candidates.h"
#include "cluster/options.h"
#include "core/alloc.h"
#include "core/rng.h"
#include "model/convert.h"
#include "reduce/refine.h"

#include <string.h>

enum {
    TRIAL_MODELS = 4096, /* of more models than this, restarts are judged on so many */
};
/* Bounds that differ by less than this do not tell partitions apart: nats per virtual frame, dimension and
 * model. The bound itself is looser than that wherever states overlap (docs/choosing.md). */
#define SLACK 0.003

typedef struct {
    vh_hmm_search s;
    vh_h3m *trial_models;             /* NULL: restarts are judged on all models */
    double *floor;                    /* [d], or NULL */
    const vh_h3m *models;             /* the input, in the family of the centres */
    vh_h3m *full, *full_start, *fine; /* copies: with full covariances, and cut finer; or NULL */
} task;

/* The state of its centre that each state of the input is most often paired with. */
static vhem_status map_states(vhem_ctx *ctx, const task *t, vh_clustering *out)
{
    vhem_status st = VHEM_OK;
    vh_base *plain = NULL; /* of the models as they came, where slabs were clustered */

    if (t->fine)
        VH_TRY(vh_base_new(ctx, t->models, &plain));
    vh_label_by_z(out);
    VH_TRY(vh_map_states(ctx, plain ? plain : t->s.base, out->centers, out->label, t->s.opt->tau,
                         &out->state_map, &out->state_map_at));
done:
    vh_base_free(plain);
    return st;
}

static vhem_status hand_over(vhem_ctx *ctx, task *t, bool mapped, vh_clustering *out)
{
    vhem_status st = VHEM_OK;
    vh_hmm_search *s = &t->s;
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
    if (mapped && s->base->Kb <= VH_MAX_MAPPED)
        VH_TRY(map_states(ctx, t, out));
done:
    return st;
}

/* The smallest variances: a share of the spread of the models. */
static vhem_status make_floor(vhem_ctx *ctx, task *t)
{
    vhem_status st = VHEM_OK;
    const vh_base *base = t->s.base;
    if (!(t->s.opt->cov_floor > 0))
        goto done;
    VH_NEW(t->floor, base->h3m->d);
    for (int k = 0; k < base->h3m->d; k++)
        t->floor[k] = t->s.opt->cov_floor * base->scale[k] * base->scale[k];
    t->s.floor = t->floor;
done:
    return st;
}

/* Of very many models a random sample tells good starts from bad ones as well, at a fraction of the cost. */
static vhem_status choose_trial(vhem_ctx *ctx, task *t, uint64_t seed)
{
    vhem_status st = VHEM_OK;
    vh_hmm_search *s = &t->s;
    int *pick = NULL, K = s->base->Kb;
    vh_rng rng;

    s->trial = s->base;
    if (K <= TRIAL_MODELS || s->start
        || (s->opt->restarts == 1 && !vh_cluster_wants_candidates(s->K, s->opt)))
        return VHEM_OK;
    VH_NEW(pick, TRIAL_MODELS);
    vh_rng_init(&rng, seed, VH_RNG_SPLIT, 0);
    vh_rng_spread(&rng, K, TRIAL_MODELS, pick);
    VH_TRY(vh_h3m_subset(ctx, s->base->h3m, pick, TRIAL_MODELS, &t->trial_models));
    VH_TRY(vh_base_new(ctx, t->trial_models, &s->trial));
done:
    free(pick);
    return st;
}

/* The models in the form in which they are clustered. */
static vhem_status convert_models(vhem_ctx *ctx, task *t)
{
    vhem_status st = VHEM_OK;
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
done:
    return st;
}

static vhem_status set_up(vhem_ctx *ctx, task *t, uint64_t seed)
{
    vhem_status st = VHEM_OK;
    VH_TRY(convert_models(ctx, t));
    VH_TRY(vh_base_new(ctx, t->fine ? t->fine : t->models, &t->s.base));
    VH_TRY(choose_trial(ctx, t, seed));
    VH_TRY(make_floor(ctx, t));
    VH_TRY(vh_hmm_search_new(ctx, &t->s, seed));
done:
    return st;
}

static void tear_down(vhem_ctx *ctx, task *t)
{
    vh_hmm_search_free(ctx, &t->s);
    free(t->floor);
    if (t->s.trial != t->s.base)
        vh_base_free(t->s.trial);
    vh_h3m_free(t->trial_models);
    vh_base_free(t->s.base);
    vh_h3m_free(t->full);
    vh_h3m_free(t->full_start);
    vh_h3m_free(t->fine);
}

/* Restarts and candidates; a fast search goes without the first when it has the second. */
static vhem_status search(vhem_ctx *ctx, vh_hmm_search *s, uint64_t seed)
{
    vhem_status st = VHEM_OK;
    bool candidates = vh_cluster_wants_candidates(s->K, s->opt), fast = strcmp(s->opt->search, "fast") == 0;

    s->search.slack = candidates ? SLACK * s->base->h3m->d * s->opt->tau * s->opt->nv * s->base->Kb : 0;
    if (!fast || !candidates)
        VH_TRY(vh_search_run(ctx, &s->search));
    if (candidates && !vh_stopped(ctx)) {
        st = vh_candidates_run(ctx, s, seed);
        st = st == VHEM_ESTOPPED ? VHEM_OK : st; /* what there is by then is kept */
        VH_TRY(st);
    }
    if (s->search.best < 0)
        VH_TRY(vh_search_run(ctx, &s->search));
    if (!vh_stopped(ctx))
        VH_TRY(vh_search_select(ctx, &s->search, s->opt->candidate));
done:
    return st;
}

vhem_status vh_method_vhem(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *opt, uint64_t seed,
                           vh_clustering *out)
{
    vhem_status st = VHEM_OK;
    task t = { .s = { .opt = opt, .K = in->K, .start = vh_start_hmms(opt) }, .models = in->models };

    VH_TRY(set_up(ctx, &t, seed));
    VH_TRY(search(ctx, &t.s, seed));
    VH_TRY(hand_over(ctx, &t, !in->centers_only, out));
    if (vh_stopped(ctx))
        st = vh_fail(ctx, VHEM_ESTOPPED, "stopped; the best of %d restarts is kept", out->n_run);
done:
    tear_down(ctx, &t);
    return st;
}
