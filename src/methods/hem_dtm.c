/* SPDX-License-Identifier: BSD-3-Clause */
/* hem_dtm.c - clusters dynamic textures by HEM-DTM (dtm/hem_dtm.h), from many starts (restarts.h). */
#include "methods/options.h"
#include "search/restarts.h"
#include "core/alloc.h"
#include "dtm/start.h"
#include "dtm/hem_dtm.h"

#include <math.h>
#include <string.h>

typedef struct { /* shared by all restarts */
    const vh_dtm *base;
    const vhem_cluster_options *opt;
    int64_t K; /* number of clusters */
    const vh_dtm *start;
} texture_search;

static vhem_status make_start(vhem_ctx *ctx, void *arg, const vh_restart *r, vh_scratch *scratch, void **out)
{
    const texture_search *s = arg;
    VH_OWN(vh_dtm) *centers = NULL;
    vh_rng rng;

    if (!r->kind) {
        VH_TRY(vh_dtm_subset(ctx, s->start, NULL, s->start->K, &centers));
    } else {
        VH_TRY(vh_dtm_new(ctx, s->base->d, s->K, &centers));
        for (int64_t j = 0; j < s->K; j++)
            VH_TRY(vh_dt_shape(ctx, s->base->d, s->opt->S, &centers->dt[j]));
        vh_rng_init(&rng, r->seed, VH_RNG_INIT, 0);
        VH_TRY(vh_dtm_start(ctx, r->kind, s->base, s->opt->tau, &rng, scratch, centers));
    }
    *out = vh_take(centers);
    return VHEM_OK;
}

/* Restarts are always judged on all textures, not on a sample. */
static vhem_status reduce(vhem_ctx *ctx, void *arg, bool trial, const vh_vhem_options *opt,
                          const vh_workers *workers, void *centers, vh_vhem_run *run)
{
    (void)trial;
    const texture_search *s = arg;
    return vh_hem_dtm(ctx, s->base, opt, workers, centers, run);
}

static void free_centers(void *centers)
{
    vh_dtm_free(centers);
}

static vhem_status take_textures(vhem_ctx *ctx, vh_search *s, vh_clustering *out)
{
    vh_restart *w = &s->all[s->best];

    VH_TRY(vh_clustering_take_search(ctx, s, out));
    out->textures = w->centers;
    w->centers = NULL;
    for (int j = 0; j < out->Kr; j++) {
        VH_TRY(vh_h3m_set_cluster(ctx, &out->textures->dt[j].name, j));
        VH_TRY(vh_h3m_set_text(ctx, &out->textures->dt[j].label, NULL));
    }
    return VHEM_OK;
}

/* Cost of one E-step, very roughly in nanoseconds. */
static double work_of(const vh_dtm *dtm, int64_t K, const vhem_cluster_options *o)
{
    double work = 0;
    for (int64_t i = 0; i < dtm->K; i++) {
        double n = fmax(dtm->dt[i].n, o->S);
        work += K * (o->tau * (5000 + 10 * n * n * n) + 2 * n * n * dtm->d);
    }
    return work;
}

vhem_status vh_method_hem_dtm(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *opt,
                              uint64_t seed, vh_clustering *out)
{
    texture_search s = { .base = in->textures, .opt = opt, .K = in->K, .start = vh_start_textures(opt) };
    VH_AUTOFREE double *floor = NULL;
    VH_CLEANUP(vh_search_free)
    vh_search search = { .start = make_start,
                         .reduce = reduce,
                         .free = free_centers,
                         .arg = &s,
                         .K = in->K,
                         .Kb = in->Kb,
                         .Kb_trial = in->Kb,
                         .slack = VH_BOUND_SLACK * in->textures->d * opt->tau * opt->nv * in->Kb,
                         .work = work_of(in->textures, in->K, opt) };
    int n_kind = 0;

    while (vh_dtm_starts[n_kind])
        n_kind++;
    VH_NEW(floor, in->textures->d);
    vh_dtm_scale(in->textures, floor);
    for (int k = 0; k < in->textures->d; k++)
        floor[k] = opt->cov_floor * floor[k] * floor[k];
    search.floor = floor;
    VH_TRY(vh_search_new(ctx, opt, vh_dtm_starts, n_kind, opt->start != NULL, seed, &search));
    VH_TRY(vh_search_run(ctx, &search));
    VH_TRY(take_textures(ctx, &search, out));
    if (vh_stopped(ctx))
        return vh_fail(ctx, VHEM_ESTOPPED, "stopped; the best of %d restarts is kept", out->n_run);
    return VHEM_OK;
}
