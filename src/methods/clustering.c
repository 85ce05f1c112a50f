/* SPDX-License-Identifier: BSD-3-Clause */
/* clustering.c - see clustering.h. */
#include "methods/clustering.h"

#include "search/restarts.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "math/agreement.h"
#include "math/logsum.h"

#include <math.h>
#include <string.h>

vhem_status vh_clustering_new(vhem_ctx *ctx, int64_t Kb, vh_clustering **out)
{
    VH_OWN(vh_clustering) *c = NULL;

    VH_NEW(c, 1);
    VH_NEW(c->label, Kb);
    VH_NEW(c->name, Kb);
    c->Kb = Kb;
    c->items = "models";
    *out = vh_take(c);
    return VHEM_OK;
}

vhem_status vh_clustering_keep(vhem_ctx *ctx, vh_clustering *c, const char *text, const char **slot)
{
    return vh_texts_keep(ctx, &c->kept, text, slot);
}

void vh_clustering_set_place(vh_clustering *c, int64_t dim, double *place)
{
    free(c->place);
    c->place = place;
    c->dim = dim;
}

const double *vh_clustering_place(const vh_clustering *c, int64_t *dim)
{
    *dim = c->dim;
    return c->place;
}

vhem_status vh_clustering_set_name(vhem_ctx *ctx, vh_clustering *c, int64_t i, const char *name)
{
    return vh_text_block_add(ctx, &c->name_blocks, name, &c->name[i]);
}

vhem_status vh_clustering_set_fingerprint(vhem_ctx *ctx, vh_clustering *c, int64_t i, uint64_t fingerprint)
{
    if (!fingerprint)
        return VHEM_OK;
    if (!c->fingerprint)
        VH_NEW(c->fingerprint, c->Kb);
    c->fingerprint[i] = fingerprint;
    return VHEM_OK;
}

vhem_models vh_clustering_models(const vh_clustering *c)
{
    return c->textures ? vh_models_of_textures(c->textures) : vh_models_of_hmms(c->centers);
}

const vhem_models *vh_clustering_centers(vh_clustering *c)
{
    c->as_models = vh_clustering_models(c);
    return c->centers || c->textures ? &c->as_models : NULL;
}

const double *vh_clustering_omega(const vh_clustering *c)
{
    return c->centers ? c->centers->omega : c->textures ? c->textures->omega : NULL;
}

void vh_label_by_z(vh_clustering *c)
{
    for (int64_t i = 0; c->z && i < c->Kb; i++)
        c->label[i] = vh_argmax(c->Kr, c->z + vh_row(i, c->Kr), 1);
}

/* ---- from a search ------------------------------------------------------------------------------------- */

static double agreement(const vh_search *s, const vh_restart *a, const vh_restart *w)
{
    vhem_agreement g = { NAN, NAN, NAN, NAN };
    if (a->label && w->label)
        vh_agreement(s->Kb, a->label, w->label, &g);
    return g.adjusted_rand;
}

vhem_status vh_count_share(vhem_ctx *ctx, const int *kept, int K, int n, const int *const *label,
                           vh_clustering *out)
{
    VH_AUTOFREE int *to = NULL;

    if (n < 2 || K > VH_MOST_MATCHED)
        return VHEM_OK;
    VH_NEW(to, K);
    VH_NEW(out->share, out->Kb);
    for (int r = 0; r < n; r++) {
        VH_TRY(vh_match_groups(ctx, out->Kb, K, kept, label[r], to));
        for (int64_t i = 0; i < out->Kb; i++)
            out->share[i] += to[label[r][i]] == kept[i];
    }
    for (int64_t i = 0; i < out->Kb; i++)
        out->share[i] /= n;
    return VHEM_OK;
}

/* True if a finished run is within the slack of w, the best one. */
static bool as_good(const vh_search *s, const vh_restart *a, const vh_restart *w)
{
    return a->label && w->label && a->finished && a->st == VHEM_OK && a->J >= w->J - s->slack;
}

static vhem_status tell_share(vhem_ctx *ctx, const vh_search *s, vh_clustering *out)
{
    const vh_restart *w = &s->all[s->best];
    VH_AUTOFREE const int **label = NULL;
    int n = 0;

    VH_NEW(label, s->n);
    for (int r = 0; r < s->n; r++)
        if (as_good(s, &s->all[r], w))
            label[n++] = s->all[r].label;
    return vh_count_share(ctx, w->label, (int)s->K, n, label, out);
}

vhem_status vh_clustering_take_search(vhem_ctx *ctx, vh_search *s, vh_clustering *out)
{
    vh_restart *w = &s->all[s->best];

    VH_TRY(tell_share(ctx, s, out));

    VH_NEW(out->run, s->n);
    for (int r = 0; r < s->n; r++) {
        vh_restart *a = &s->all[r];
        if (a->st != VHEM_OK || !a->run.J) /* no bound on the full set */
            continue;
        vhem_cluster_run *u = &out->run[out->n_run++];
        *u = (vhem_cluster_run){ .seed = a->seed,
                                 .init = a->kind ? a->kind : "given",
                                 .bound = a->J,
                                 .n_iter = a->run.n_iter,
                                 .converged = a->run.converged,
                                 .finished = a->finished,
                                 .modularity = a->modularity,
                                 .stability = NAN,
                                 .agreement = agreement(s, a, w),
                                 .next = r == s->next,
                                 .as_good = as_good(s, a, w) };
        if (a == w)
            continue;
        u->bounds = a->run.J; /* ownership moves to out */
        a->run.J = NULL;
        u->label = a->candidate ? a->label : NULL;
        a->label = a->candidate ? NULL : a->label;
    }
    if (s->lean && w->label)
        memcpy(out->label, w->label, sizeof *out->label * (size_t)s->Kb);
    out->n_iter = w->run.n_iter;
    out->converged = w->run.converged;
    out->n_empty = w->run.n_empty;
    out->n_revived = w->run.n_revived;
    out->n_fell = w->run.n_fell;
    out->z = w->run.z;
    out->L_hmm = w->run.L;
    out->bound = w->run.J;
    free(w->run.label);
    w->run = (vh_vhem_run){ 0 };
    return VHEM_OK;
}

vhem_choice vh_choice_new(int64_t K)
{
    return (vhem_choice){ .K = K,
                          .bound = NAN,
                          .loglik = NAN,
                          .n_param = NAN,
                          .bic = NAN,
                          .icl = NAN,
                          .stability = NAN,
                          .evidence = NAN,
                          .frames = NAN,
                          .K_used = NAN,
                          .S_used = NAN,
                          .same_runs = NAN,
                          .same_seeds = NAN,
                          .modularity = NAN };
}

/* ---- for callers -------------------------------------------------------------------------------------- */

void vh_clustering_show(vh_clustering *c, const int *base_label, const int *parent)
{
    for (int64_t i = 0; i < c->Kb; i++)
        c->name[i] = c->name[i] ? c->name[i] : (char *)"";
    c->shown = (vhem_clustering){ .method = c->method,
                                  .Kb = c->Kb,
                                  .Kr = c->Kr,
                                  .items = c->items,
                                  .n_iter = c->n_iter,
                                  .converged = c->converged,
                                  .n_empty = c->n_empty,
                                  .n_revived = c->n_revived,
                                  .n_fell = c->n_fell,
                                  .label = c->label,
                                  .z = c->z,
                                  .share = c->share,
                                  .L_hmm = c->L_hmm,
                                  .bound = c->bound,
                                  .state_map = c->state_map,
                                  .state_map_at = c->state_map_at,
                                  .n_run = c->n_run,
                                  .run = c->run,
                                  .name = (const char *const *)c->name,
                                  .posterior = c->posterior,
                                  .prior = c->prior,
                                  .K_max = c->K_max > c->Kr ? c->K_max : c->Kr,
                                  .centers = vh_clustering_centers(c),
                                  .options = &c->options,
                                  .base_label = base_label,
                                  .parent = parent,
                                  .lacking = c->lacking,
                                  .n_choice = c->n_choice,
                                  .choice = c->choice };
}

void vh_clustering_free(vh_clustering *c)
{
    if (!c)
        return;
    vh_text_blocks_free(c->name_blocks);
    vh_texts_free(&c->kept);
    free(c->place);
    free(c->fingerprint);
    free(c->name);
    free(c->label);
    free(c->z);
    free(c->share);
    free(c->L_hmm);
    free(c->bound);
    free(c->lacking);
    free(c->state_map);
    free(c->state_map_at);
    for (int r = 0; r < c->n_run; r++) {
        free(c->run[r].bounds);
        free(c->run[r].label);
    }
    free(c->run);
    free(c->choice);
    vh_h3m_free(c->centers);
    vh_dtm_free(c->textures);
    free(c->posterior);
    free(c->prior);
    free(c->provenance);
    free(c);
}
