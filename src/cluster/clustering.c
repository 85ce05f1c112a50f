/* SPDX-License-Identifier: BSD-3-Clause */
/* clustering.c - see clustering.h. */
#include "cluster/clustering.h"

#include "core/alloc.h"
#include "math/logsum.h"
#include "model/dtm.h"
#include "model/h3m.h"

typedef struct {
    vh_clustering c; /* first: what callers see */
    char **kept;
    size_t n_kept, cap;
    double *place; /* [Kr][dim]  where the centres lie; NULL: unknown */
    int dim;
} owner;

vhem_status vh_clustering_new(vhem_ctx *ctx, int Kb, vh_clustering **out)
{
    vhem_status st = VHEM_OK;
    owner *o = NULL;

    VH_NEW(o, 1);
    VH_NEW(o->c.label, Kb);
    VH_NEW(o->c.name, Kb);
    o->c.Kb = Kb;
    for (int i = 0; i < Kb; i++)
        VH_DUP(o->c.name[i], "");
    *out = &o->c;
    o = NULL;
done:
    vh_clustering_free(o ? &o->c : NULL);
    return st;
}

vhem_status vh_clustering_keep(vhem_ctx *ctx, vh_clustering *c, const char *text, const char **slot)
{
    vhem_status st = VHEM_OK;
    owner *o = (owner *)c;

    VH_TRY(vh_grow(ctx, &o->kept, &o->cap, o->n_kept + 1, sizeof *o->kept));
    VH_DUP(o->kept[o->n_kept], text);
    *slot = o->kept[o->n_kept++];
done:
    return st;
}

void vh_clustering_set_place(vh_clustering *c, int dim, double *place)
{
    owner *o = (owner *)c;
    free(o->place);
    o->place = place;
    o->dim = dim;
}

const double *vh_clustering_place(const vh_clustering *c, int *dim)
{
    const owner *o = (const owner *)c;
    *dim = o->dim;
    return o->place;
}

vhem_status vh_clustering_set_name(vhem_ctx *ctx, vh_clustering *c, int i, const char *name)
{
    vhem_status st = VHEM_OK;
    char *copy = NULL;

    VH_DUP(copy, name);
    free(c->name[i]);
    c->name[i] = copy;
done:
    return st;
}

const double *vh_clustering_omega(const vh_clustering *c)
{
    return c->centers ? c->centers->omega : c->textures ? c->textures->omega : NULL;
}

void vh_label_by_z(vh_clustering *c)
{
    for (int i = 0; c->z && i < c->Kb; i++)
        c->label[i] = vh_argmax(c->Kr, c->z + (size_t)i * (size_t)c->Kr, 1);
}

void vh_clustering_free(vh_clustering *c)
{
    owner *o = (owner *)c;
    if (!c)
        return;
    for (int i = 0; c->name && i < c->Kb; i++)
        free(c->name[i]);
    for (size_t k = 0; k < o->n_kept; k++)
        free(o->kept[k]);
    free(o->kept);
    free(o->place);
    free(c->name);
    free(c->label);
    free(c->z);
    free(c->L_hmm);
    free(c->bound);
    free(c->state_map);
    free(c->state_map_at);
    for (int r = 0; r < c->n_run; r++) {
        free(c->run[r].bounds);
        free(c->run[r].label);
    }
    free(c->run);
    vh_h3m_free(c->centers);
    vh_dtm_free(c->textures);
    free(c->provenance);
    free(o);
}
