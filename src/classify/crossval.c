/* SPDX-License-Identifier: BSD-3-Clause */
/* crossval.c - cross-validation: trains without some items and predicts those, until every item had its turn.
 *
 * The folds depend only on the seed.  Items with one class are split class by class, so that every fold has
 * its share of each class.  All folds share one store: a piece in several of them is fitted once. */
#include "classify/predict.h"
#include "classify/train.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "core/object.h"
#include "core/rng.h"
#include "vhem/classes.h"

#include <math.h>
#include <string.h>

typedef struct {
    double random;
    int64_t item;
    int kind; /* its class; with tags 0 for all */
} card;

static int by_kind_then_chance(const void *a, const void *b)
{
    const card *p = a, *q = b;
    if (p->kind != q->kind)
        return (p->kind > q->kind) - (p->kind < q->kind);
    return (p->random > q->random) - (p->random < q->random);
}

/* Fills fold [n]; -1 for items without a class and, for a single split, for training items. */
static vhem_status split_folds(vhem_ctx *ctx, const vhem_tags *m, bool tags, int folds, double holdout,
                               int *fold)
{
    VH_AUTOFREE card *deck = NULL;
    vh_rng rng;
    int64_t n = 0;

    VH_NEW(deck, m->n);
    vh_rng_init(&rng, ctx->opt.seed, VH_RNG_SPLIT, 0);
    for (int64_t i = 0; i < m->n; i++) {
        const unsigned char *row = m->has + vh_row(i, m->C), *has = memchr(row, 1, (size_t)m->C);
        card c = { vh_rng_uniform(&rng), i, tags || !has ? 0 : (int)(has - row) };
        fold[i] = -1;
        if (has)
            deck[n++] = c;
    }
    qsort(deck, (size_t)n, sizeof *deck, by_kind_then_chance);
    /* Single split: test items are those where (k + 1) * holdout passes an integer. */
    for (int64_t k = 0; k < n; k++)
        if (folds >= 2)
            fold[deck[k].item] = (int)(k % folds);
        else if (floor((double)(k + 1) * holdout) > floor((double)k * holdout))
            fold[deck[k].item] = 0;
    return VHEM_OK;
}

typedef struct {
    const vhem_data *data;
    const vh_train_options *opt;
    const vhem_tags *members; /* of all items */
    vh_sets items;
    vh_store *store;
    vhem_prediction *p;
} validation;

static void validation_free(validation *v)
{
    vh_store_free(v->store);
    vh_object_free(v->p);
    vh_sets_free(&v->items);
}

/* Copies the members without the items of fold f. */
static vhem_status without(vhem_ctx *ctx, const validation *v, int f, vhem_tags **out)
{
    const vhem_tags *m = v->members;
    VH_OWN(vhem_tags) *rest = NULL;

    VH_NEW_OBJECT(rest, vh_tags_clear);
    VH_NEW(rest->tag, m->C);
    rest->C = m->C;
    for (int c = 0; c < m->C; c++)
        VH_DUP(rest->tag[c], m->tag[c]);
    VH_NEW(rest->has, vh_cells(m->n, m->C));
    rest->n = m->n;
    for (int64_t i = 0; i < m->n; i++)
        if (v->p->fold[i] != f)
            memcpy(rest->has + vh_row(i, m->C), m->has + vh_row(i, m->C), (size_t)m->C);
    *out = vh_take(rest);
    return VHEM_OK;
}

/* Copies the scores of one fold's classes into the columns of all classes. */
static void spread(const vhem_classes *k, const double *loglik, const double *prior, int64_t i,
                   vhem_prediction *p)
{
    double *to = p->loglik + vh_row(i, p->C);
    for (int c = 0, j = 0; c < p->C; c++)
        if (j < k->C && strcmp(k->cls[j].name, p->class_name[c]) == 0)
            to[c] = loglik[j++];
    vh_bayes(p->C, to, prior, p->log_posterior + vh_row(i, p->C));
}

static vhem_status run_fold(vhem_ctx *ctx, const validation *v, bool tags, int f)
{
    vhem_prediction *p = v->p;
    VH_OWN(vhem_tags) *rest = NULL;
    VH_OWN(vhem_classes) *k = NULL;
    VH_AUTOFREE int64_t *which = NULL;
    int64_t n = 0;
    VH_AUTOFREE double *loglik = NULL, *prior = NULL;
    double scored;

    VH_NEW(which, p->n);
    for (int64_t i = 0; i < p->n; i++)
        if (p->fold[i] == f)
            which[n++] = i;
    if (n == 0)
        return VHEM_OK;
    VH_TRY(without(ctx, v, f, &rest));
    VH_TRY(vh_classes_new(ctx, v->opt, &k));
    k->tags = tags;
    VH_TRY(vh_train(ctx, v->data, &v->items, rest, v->store, k));
    VH_CHECK(k->C > 0, VHEM_EINVAL, "fold %d leaves nothing to learn from", f);
    VH_NEW(loglik, vh_cells(n, k->C));
    VH_NEW(prior, p->C);
    for (int c = 0, j = 0; c < p->C; c++)
        if (j < k->C && strcmp(k->cls[j].name, p->class_name[c]) == 0)
            prior[c] = k->cls[j++].prior;
    const vh_question q = { v->data, &v->items, which, n, 0 };
    VH_TRY(vh_predict(ctx, k, &q, loglik, &scored));
    for (int64_t i = 0; i < n; i++)
        spread(k, loglik + vh_row(i, k->C), prior, which[i], p);
    return VHEM_OK;
}

/* Sorts class names as everywhere else; a tag file has its own order. */
static vhem_status name_classes(vhem_ctx *ctx, const vh_train_options *opt, const vhem_tags *m,
                                vhem_prediction *p)
{
    VH_OWN(vhem_classes) *order = NULL;
    vh_class *c;

    VH_TRY(vh_classes_new(ctx, opt, &order));
    for (int k = 0; k < m->C; k++)
        VH_TRY(vh_classes_put(ctx, order, m->tag[k], &c));
    VH_CHECK(order->C == m->C, VHEM_EINVAL, "two of the tags have the same name");
    for (int k = 0; k < m->C; k++)
        VH_DUP(p->class_name[k], order->cls[k].name);
    return VHEM_OK;
}

vhem_status vhem_crossvalidate(vhem_ctx *ctx, const vhem_data *data, const vhem_tags *tags,
                               const vhem_train_options *opt, int folds, double holdout,
                               vhem_prediction **out)
{
    VH_ENTER(data, out);
    vh_train_options o;
    VH_CLEANUP(vh_frames_free) vh_frames frames = { 0 };
    VH_OWN(vhem_tags) *members = NULL;
    VH_CLEANUP(validation_free) validation v = { .data = data, .opt = &o };

    VH_TRY(vh_train_take(ctx, opt, &o));
    VH_TRY(vh_train_check(ctx, v.opt));
    VH_TRY(vh_train_frames(ctx, data, NULL, v.opt, &frames));
    v.data = frames.data;
    VH_CHECK(folds >= 2 || (holdout > 0 && holdout < 1), VHEM_EINVAL,
             "%d folds and a share of %g held out: there must be 2 folds or more, or a share between 0 and 1",
             folds, holdout);
    VH_TRY(vh_sets_new(ctx, data, v.opt->all.by_group, &v.items));
    VH_TRY(vh_members_new(ctx, &v.items, tags, v.opt->all.min_items, &members));
    v.members = members;
    VH_TRY(vh_store_open(ctx, v.opt->all.store, &v.store));
    VH_TRY(vh_prediction_new(ctx, &v.items, members->C, &v.p));
    VH_TRY(name_classes(ctx, v.opt, members, v.p));
    VH_NEW(v.p->fold, v.p->n);
    VH_TRY(split_folds(ctx, members, tags != NULL, folds, holdout, v.p->fold));
    for (int f = 0; f < (folds >= 2 ? folds : 1); f++)
        VH_TRY(run_fold(ctx, &v, tags != NULL, f));
    VH_TRY(vh_store_close(ctx, vh_take(v.store)));
    *out = vh_take(v.p);
    return VHEM_OK;
}
