/* SPDX-License-Identifier: BSD-3-Clause */
/* classes.c - see classes.h. */
#include "classify/classes.h"

#include "methods/methods.h"
#include "core/object.h"
#include "core/options.h"
#include "fit/options.h"
#include "models/pieces.h"
#include "vhem/classes.h"
#include "vhem.h"
#include "core/text.h"

#include <string.h>

/* Classes need good densities, not the best of all fits and partitions. */
enum { PIECE_RESTARTS = 4, REDUCE_RESTARTS = 5 };

vh_train_options vh_train_filled(const vhem_train_options *opt)
{
    vh_train_options o;
    VHEM_INIT(VHEM_TRAIN_OPTIONS, &o.all);
    VHEM_INIT(VHEM_FIT_OPTIONS, &o.piece);
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &o.reduce);
    if (opt)
        o.all = *opt;
    if (o.all.piece)
        o.piece = *o.all.piece;
    if (o.all.reduce)
        o.reduce = *o.all.reduce;
    o.all.piece = NULL;
    o.all.reduce = NULL;
    vh_options_fill(VHEM_TRAIN_OPTIONS, &o.all);
    o.piece = vh_piece_options(&o.piece);
    if (!o.all.estimator)
        o.all.estimator = vh_method_usual(vh_fit_wants_textures(&o.piece) ? VH_TEXTURES : VH_MODELS)->name;
    if (o.piece.restarts < 0)
        o.piece.restarts = PIECE_RESTARTS;
    if (o.reduce.restarts < 0)
        o.reduce.restarts = REDUCE_RESTARTS;
    if (!o.reduce.search)
        o.reduce.search = "restarts";
    return o;
}

vhem_status vh_train_take(vhem_ctx *ctx, const vhem_train_options *opt, vh_train_options *out)
{
    vh_train_options o;

    VH_TRY(vh_options_take(ctx, VHEM_TRAIN_OPTIONS, opt, &o.all));
    VH_TRY(vh_options_take(ctx, VHEM_FIT_OPTIONS, o.all.piece, &o.piece));
    VH_TRY(vh_options_take(ctx, VHEM_CLUSTER_OPTIONS, o.all.reduce, &o.reduce));
    o.all.piece = &o.piece;
    o.all.reduce = &o.reduce;
    *out = vh_train_filled(&o.all);
    return VHEM_OK;
}

static void clear_classes(void *object)
{
    vhem_classes *k = object;
    for (int c = 0; c < k->C; c++) {
        free(k->cls[c].name);
        free(k->cls[c].part);
        vh_object_free(k->cls[c].model);
    }
    free(k->cls);
    vh_texts_free(&k->texts);
    free(k->provenance);
}

vhem_status vh_classes_new(vhem_ctx *ctx, const vh_train_options *opt, vhem_classes **out)
{
    VH_OWN(vhem_classes) *k = NULL;

    VH_NEW_OBJECT(k, clear_classes);
    k->seed = (uint64_t)ctx->opt.seed;
    k->opt = opt ? *opt : vh_train_filled(NULL);
    k->opt.all.store = NULL;
    VH_TRY(vh_options_own(ctx, VHEM_TRAIN_OPTIONS, &k->texts, &k->opt.all));
    VH_TRY(vh_options_own(ctx, VHEM_FIT_OPTIONS, &k->texts, &k->opt.piece));
    VH_TRY(vh_options_own(ctx, VHEM_CLUSTER_OPTIONS, &k->texts, &k->opt.reduce));
    k->opt.all.piece = &k->opt.piece;
    k->opt.all.reduce = &k->opt.reduce;
    *out = vh_take(k);
    return VHEM_OK;
}

vhem_status vh_classes_put(vhem_ctx *ctx, vhem_classes *k, const char *name, vh_class **out)
{
    VH_AUTOFREE char *copy = NULL;
    int at = 0;

    while (at < k->C && vh_compare_versions(k->cls[at].name, name) < 0)
        at++;
    if (at == k->C || strcmp(k->cls[at].name, name) != 0) {
        VH_DUP(copy, name);
        VH_TRY(vh_grow(ctx, &k->cls, &k->cap, (size_t)k->C + 1, sizeof *k->cls));
        memmove(k->cls + at + 1, k->cls + at, (size_t)(k->C - at) * sizeof *k->cls);
        k->cls[at] = (vh_class){ .name = copy };
        copy = NULL;
        k->C++;
    }
    *out = &k->cls[at];
    return VHEM_OK;
}

vhem_status vh_class_put(vhem_ctx *ctx, vh_class *c, const vh_key *key, vh_class_part **out)
{
    int64_t lo = 0, hi = c->n_part;

    while (lo < hi) {
        int64_t mid = (lo + hi) / 2;
        if (strcmp(c->part[mid].key.text, key->text) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == c->n_part || strcmp(c->part[lo].key.text, key->text) != 0) {
        VH_TRY(vh_grow(ctx, &c->part, &c->cap, (size_t)c->n_part + 1, sizeof *c->part));
        memmove(c->part + lo + 1, c->part + lo, (size_t)(c->n_part - lo) * sizeof *c->part);
        c->part[lo] = (vh_class_part){ .key = *key };
        c->n_part++;
    }
    *out = &c->part[lo];
    return VHEM_OK;
}

vhem_status vh_classes_copy(vhem_ctx *ctx, const vhem_classes *k, vhem_classes **out)
{
    VH_OWN(vhem_classes) *copy = NULL;
    vh_class_part *part;

    VH_TRY(vh_classes_new(ctx, &k->opt, &copy));
    copy->seed = k->seed;
    copy->tags = k->tags;
    if (k->provenance)
        VH_DUP(copy->provenance, k->provenance);
    for (int c = 0; c < k->C; c++) {
        vh_class *to;
        VH_TRY(vh_classes_put(ctx, copy, k->cls[c].name, &to));
        for (int64_t p = 0; p < k->cls[c].n_part; p++) {
            VH_TRY(vh_class_put(ctx, to, &k->cls[c].part[p].key, &part));
            part->items = k->cls[c].part[p].items;
        }
        to->items = k->cls[c].items;
        to->prior = k->cls[c].prior;
        VH_TRY(vh_models_subset(ctx, k->cls[c].model, NULL, vh_models_size(k->cls[c].model), &to->model));
    }
    *out = vh_take(copy);
    return VHEM_OK;
}

void vhem_classes_info(const vhem_classes *k, vhem_classes_facts *out)
{
    *out = (vhem_classes_facts){ 0 };
    if (!k)
        return;
    *out = (vhem_classes_facts){ .C = k->C, .options = &k->opt.all, .provenance = k->provenance };
}

vhem_status vhem_classes_view(const vhem_classes *k, int c, vhem_class_view *out)
{
    if (!k || c < 0 || c >= k->C)
        return VHEM_EINVAL;
    const vh_class *x = &k->cls[c];
    *out = (vhem_class_view){
        .name = x->name, .prior = x->prior, .items = x->items, .pieces = x->n_part, .models = x->model
    };
    return VHEM_OK;
}

vhem_status vh_classes_pool(vhem_ctx *ctx, const vhem_classes *k, vhem_models **out, int **owner)
{
    VH_AUTOFREE const vhem_models **model = NULL;
    VH_OWN(vhem_models) *all = NULL;
    VH_AUTOFREE int *of = NULL;
    int64_t K = 0;

    VH_NEW(model, k->C);
    for (int c = 0; c < k->C; c++)
        model[c] = k->cls[c].model;
    VH_TRY(vh_models_pool(ctx, model, NULL, k->C, &all));
    VH_NEW(of, vh_models_size(all));
    for (int c = 0; c < k->C; c++)
        for (int64_t j = 0; j < vh_models_size(model[c]); j++)
            of[K++] = c;
    *out = all;
    *owner = of;
    all = NULL;
    of = NULL;
    return VHEM_OK;
}
