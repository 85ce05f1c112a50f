/* SPDX-License-Identifier: BSD-3-Clause */
/* clustering.c - see clustering.h. */
#include "cluster/clustering.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "math/logsum.h"

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
    return vh_text_block_add(ctx, &c->name_block, name, &c->name[i]);
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

const vhem_models *vh_clustering_centers(vh_clustering *c)
{
    if (!c->centers && !c->textures)
        return NULL;
    c->as_models = c->centers ? vh_models_of_hmms(c->centers) : vh_models_of_textures(c->textures);
    return &c->as_models;
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
                                  .lacking = c->lacking };
}

void vh_clustering_free(vh_clustering *c)
{
    if (!c)
        return;
    vh_text_block_free(&c->name_block);
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
    vh_h3m_free(c->centers);
    vh_dtm_free(c->textures);
    free(c->posterior);
    free(c->prior);
    free(c->provenance);
    free(c);
}
