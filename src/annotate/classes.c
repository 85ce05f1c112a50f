/* SPDX-License-Identifier: BSD-3-Clause */
/* classes.c - see classes.h. */
#define _GNU_SOURCE
#include "annotate/classes.h"

#include "annotate/settings.h"
#include "core/alloc.h"
#include "model/convert.h"

#include <string.h>

void vhem_train_options_init(vhem_train_options *opt)
{
    *opt = (vhem_train_options){ .estimator = "vhem", .chunk = 1, .min_items = 1, .prior = "uniform" };
    vhem_fit_options_init(&opt->piece);
    vhem_cluster_options_init(&opt->reduce);
    opt->piece.K = 1;
    opt->reduce.K = 4;
    opt->reduce.restarts = 5; /* a class needs a good density, not the best of all partitions */
    opt->reduce.search = "restarts";
}

vhem_train_options vh_train_filled(const vhem_train_options *opt)
{
    vhem_train_options o;
    vhem_train_options_init(&o);
    const char *estimator = o.estimator, *prior = o.prior;
    if (opt)
        o = *opt;
    o.estimator = o.estimator ? o.estimator : estimator;
    o.prior = o.prior ? o.prior : prior;
    return o;
}

vhem_status vh_classes_new(vhem_ctx *ctx, const vhem_train_options *opt, vhem_classes **out)
{
    vhem_status st = VHEM_OK;
    vhem_classes *k = NULL;

    VH_NEW(k, 1);
    k->seed = ctx->opt.seed;
    k->opt = vh_train_filled(opt);
    k->opt.store = NULL;
    VH_TRY(vh_settings_own(ctx, vh_train_settings, &k->names, &k->opt));
    VH_TRY(vh_settings_own(ctx, vh_fit_settings, &k->names, &k->opt.piece));
    VH_TRY(vh_settings_own(ctx, vh_reduce_settings, &k->names, &k->opt.reduce));
    *out = k;
    k = NULL;
done:
    vhem_classes_free(k);
    return st;
}

void vhem_classes_free(vhem_classes *k)
{
    if (!k)
        return;
    for (int c = 0; c < k->C; c++) {
        free(k->cls[c].name);
        free(k->cls[c].part);
        vh_h3m_free(k->cls[c].model);
    }
    free(k->cls);
    vh_names_free(&k->names);
    free(k->provenance);
    free(k);
}

vhem_status vh_classes_put(vhem_ctx *ctx, vhem_classes *k, const char *name, vh_class **out)
{
    vhem_status st = VHEM_OK;
    char *copy = NULL;
    int at = 0;

    while (at < k->C && strverscmp(k->cls[at].name, name) < 0)
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
done:
    free(copy);
    return st;
}

vhem_status vh_class_put(vhem_ctx *ctx, vh_class *c, const vh_key *key, vh_part **out)
{
    vhem_status st = VHEM_OK;
    int lo = 0, hi = c->n_part;

    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (strcmp(c->part[mid].key.text, key->text) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == c->n_part || strcmp(c->part[lo].key.text, key->text) != 0) {
        VH_TRY(vh_grow(ctx, &c->part, &c->cap, (size_t)c->n_part + 1, sizeof *c->part));
        memmove(c->part + lo + 1, c->part + lo, (size_t)(c->n_part - lo) * sizeof *c->part);
        c->part[lo] = (vh_part){ .key = *key };
        c->n_part++;
    }
    *out = &c->part[lo];
done:
    return st;
}

vhem_status vh_classes_copy(vhem_ctx *ctx, const vhem_classes *k, vhem_classes **out)
{
    vhem_status st = VHEM_OK;
    vhem_classes *copy = NULL;
    vh_part *part;

    VH_TRY(vh_classes_new(ctx, &k->opt, &copy));
    copy->seed = k->seed;
    copy->tags = k->tags;
    if (k->provenance)
        VH_DUP(copy->provenance, k->provenance);
    for (int c = 0; c < k->C; c++) {
        vh_class *to;
        VH_TRY(vh_classes_put(ctx, copy, k->cls[c].name, &to));
        for (int p = 0; p < k->cls[c].n_part; p++) {
            VH_TRY(vh_class_put(ctx, to, &k->cls[c].part[p].key, &part));
            part->things = k->cls[c].part[p].things;
        }
        to->things = k->cls[c].things;
        to->prior = k->cls[c].prior;
        VH_TRY(vh_h3m_subset(ctx, k->cls[c].model, NULL, k->cls[c].model->K, &to->model));
    }
    *out = copy;
    copy = NULL;
done:
    vhem_classes_free(copy);
    return st;
}

int vh_classes_size(const vhem_classes *k)
{
    return k->C;
}

const vhem_train_options *vh_classes_options(const vhem_classes *k)
{
    return &k->opt;
}

vhem_status vhem_classes_view(const vhem_classes *k, int c, vhem_class_view *out)
{
    if (c < 0 || c >= k->C)
        return VHEM_EINVAL;
    const vh_class *x = &k->cls[c];
    *out = (vhem_class_view){
        .name = x->name, .prior = x->prior, .things = x->things, .pieces = x->n_part, .model = x->model
    };
    return VHEM_OK;
}

vhem_status vh_classes_pool(vhem_ctx *ctx, const vhem_classes *k, vh_h3m **out, int **owner)
{
    vhem_status st = VHEM_OK;
    const vh_h3m **model = NULL;
    vh_h3m *all = NULL;
    int *of = NULL, K = 0;

    VH_NEW(model, k->C);
    for (int c = 0; c < k->C; c++)
        model[c] = k->cls[c].model;
    VH_TRY(vh_h3m_pool(ctx, model, NULL, k->C, &all));
    VH_NEW(of, all->K);
    for (int c = 0; c < k->C; c++)
        for (int j = 0; j < model[c]->K; j++)
            of[K++] = c;
    *out = all;
    *owner = of;
    all = NULL;
    of = NULL;
done:
    free(model);
    vh_h3m_free(all);
    free(of);
    return st;
}
