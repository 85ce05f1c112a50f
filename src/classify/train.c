/* SPDX-License-Identifier: BSD-3-Clause */
/* train.c - trains class models: the second stage of hierarchical estimation, paper Sections 4.1 and 6.
 *
 *   1. options
 *   2. the model of one class: its pieces pooled and reduced, or its sequences clustered
 *   3. all classes
 *   4. training and more data
 *
 * The pieces of a class are pooled with weights omega_piece * (share of the items in it), so that with one
 * song per piece N_i = N omega_song / N_t.  Every fit is stored under a key that hashes its inputs, and the
 * random numbers of a class depend only on the seed and its name.  So the model of a class does not depend on
 * the other classes, the order of the data, or the number of runs. */
#include "classify/train.h"

#include "classify/cut.h"
#include "methods/methods.h"
#include "search/presets.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "parallel/map.h"
#include "core/options.h"
#include "core/rng.h"
#include "fit/fit.h"
#include "fit/options.h"
#include "math/blas.h"
#include "hmm/convert.h"
#include "vhem/classes.h"
#include "math/order.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

/* As in models/pieces.c: raise it when equal pieces and options give different models. */
#define RECIPE "0.4.0"

/* ---- 1. options ---------------------------------------------------------------------------------------- */

/* True if the estimator reduces pieces. */
static bool takes_models(const vhem_classes *k)
{
    return vh_method_find(k->opt.all.estimator)->takes & (VH_MODELS | VH_TEXTURES);
}

vhem_status vh_train_check(vhem_ctx *ctx, const vh_train_options *o)
{
    bool textures = vh_fit_wants_textures(&o->piece);

    VH_TRY(vh_options_check(ctx, VHEM_TRAIN_OPTIONS, &o->all));
    VH_TRY(vh_options_check(ctx, VHEM_FIT_OPTIONS, &o->piece));
    VH_TRY(vh_options_check(ctx, VHEM_CLUSTER_OPTIONS, &o->reduce));
    int takes = vh_method_find(o->all.estimator)->takes;
    VH_CHECK(textures == (takes == VH_TEXTURES), VHEM_EINVAL, "estimator %s makes %s, the pieces are %s",
             o->all.estimator, textures ? "HMMs" : "dynamic textures",
             textures ? "dynamic textures" : "HMMs");
    VH_CHECK(o->all.K <= INT_MAX, VHEM_EINVAL, "K is %lld, must be at most %d", (long long)o->all.K, INT_MAX);
    VH_CHECK(o->all.bootstrap == 0 || (o->all.sample >= 1 && o->all.chunk == 1), VHEM_EINVAL,
             "%d subsamples need a size of at least 1, not %d, and no chunks", o->all.bootstrap,
             o->all.sample);
    VH_CHECK(takes != VH_DATA || strcmp(o->piece.topology, "free") == 0, VHEM_EINVAL,
             "estimator %s fits no pieces, and topology %.80s is for those", o->all.estimator,
             o->piece.topology);
    VH_CHECK(!o->piece.start && !o->piece.fixed_pi && !o->piece.fixed_A && !o->reduce.start, VHEM_EINVAL,
             "the models of classes take no given start and no fixed entries");
    return VHEM_OK;
}

/* ---- 2. the model of one class ------------------------------------------------------------------------- */

typedef struct { /* shared by all classes */
    vhem_classes *classes;
    vh_store *store;
    const vhem_data *data; /* of this run, with its items and members */
    const vh_sets *items;
    const vhem_tags *members;
    vh_ranked *todo; /* classes without a model, the largest first */
} training;

/* Pools the models of all pieces of a class, without those of weight zero. */
static vhem_status pool_pieces(vhem_ctx *ctx, const training *t, const vh_class *c, vhem_models **out)
{
    VH_OWN(vhem_models) *all = NULL;
    VH_AUTOFREE double *share = NULL;
    VH_CLEANUP(vh_stored_free) vhem_models **piece = NULL;
    double mass = 0;

    for (int64_t p = 0; p < c->n_part; p++)
        mass += c->part[p].items;
    VH_NEW(piece, c->n_part + 1);
    VH_NEW(share, c->n_part);
    for (int64_t p = 0; p < c->n_part; p++) {
        VH_TRY(vh_store_get(ctx, t->store, &c->part[p].key, &piece[p]));
        VH_CHECK(piece[p], VHEM_EINVAL,
                 "piece %s is not in the store %s: name that of the training, or "
                 "train again with all the data",
                 c->part[p].key.text, vh_store_path(t->store));
        share[p] = c->part[p].items / mass;
    }
    VH_TRY(vh_models_pool(ctx, (const vhem_models *const *)piece, share, c->n_part, &all));
    return vh_models_with_weight(ctx, all, out);
}

/* True if the models are already as few and as small as the class needs. */
static bool small_enough(const vhem_models *m, const vh_train_options *o)
{
    bool fits = vh_models_size(m) <= o->all.K;
    for (int64_t i = 0; m->h3m && i < m->h3m->K; i++)
        fits = fits && (o->reduce.S < 0 || o->reduce.S == m->h3m->hmm[i].S)
               && (o->reduce.M < 0 || o->reduce.M == m->h3m->hmm[i].M);
    for (int64_t i = 0; m->dtm && i < m->dtm->K; i++)
        fits = fits && (o->reduce.S < 0 || o->reduce.S == m->dtm->dt[i].n);
    return fits;
}

/* Clusters a class; its model is the centres that have members. */
static vhem_status cluster_class(vhem_ctx *ctx, const training *t, const vh_class *c, vh_input *in,
                                 vhem_models **out)
{
    const vh_train_options *opt = &t->classes->opt;
    vhem_cluster_options o = opt->reduce;
    VH_OWN(vh_clustering) *found = NULL;
    uint64_t seed = vh_rng_seed(t->classes->seed, vh_hash_name(c->name) | 1); /* 0 would be the seed itself */

    o.method = opt->all.estimator;
    vh_options_drop_unused(VHEM_CLUSTER_OPTIONS, o.method, &o); /* one record serves all estimators */
    in->K = opt->all.K < in->Kb ? (int)opt->all.K : in->Kb;
    if (in->data) { /* shape and family as for a piece */
        o.S = o.S > 0 ? o.S : opt->piece.S;
        o.M = o.M > 0 ? o.M : opt->piece.M;
        o.emission = opt->piece.emission;
    }
    VH_TRY(vh_cluster(ctx, in, &o, seed, &found));
    const vhem_models *centers = vh_clustering_centers(found);
    VH_CHECK(centers, VHEM_EINVAL, "method %s makes no centres, and the model of a class consists of them",
             found->method);
    return vh_models_with_weight(ctx, centers, out);
}

static vhem_status from_pieces(vhem_ctx *ctx, const training *t, const vh_class *c, vhem_models **out)
{
    const vh_train_options *opt = &t->classes->opt;
    VH_OWN(vhem_models) *pooled = NULL;
    vh_h3m *full = NULL;

    VH_TRY(pool_pieces(ctx, t, c, &pooled));
    vh_input in = vh_input_of(pooled, 0);
    in.centers_only = true;
    if (!small_enough(pooled, opt)) {
        VH_TRY(cluster_class(ctx, t, c, &in, out));
    } else if (pooled->h3m
               && vh_cluster_wants_full(&opt->reduce)) { /* same covariances as the reduced classes */
        VH_TRY(vh_h3m_widest(ctx, pooled->h3m, &full));
        VH_TRY(vh_models_take_hmms(ctx, full, out));
    } else {
        VH_TRY(vh_models_subset(ctx, pooled, NULL, vh_models_size(pooled), out));
    }
    return VHEM_OK;
}

/* Finds the items of this run in class c. */
static vhem_status own_items(vhem_ctx *ctx, const training *t, const vh_class *c, int64_t **out, int64_t *n)
{
    const vhem_tags *m = t->members;
    int at = 0;
    int64_t *own = NULL;

    while (strcmp(m->tag[at], c->name) != 0)
        at++;
    VH_NEW(own, m->n);
    *n = 0;
    for (int64_t i = 0; i < m->n; i++)
        if (m->has[vh_ij(i, m->C, at)])
            own[(*n)++] = i;
    *out = own;
    return VHEM_OK;
}

static vhem_status from_data(vhem_ctx *ctx, const training *t, const vh_class *c, const int64_t *own,
                             int64_t n, vhem_models **out)
{
    VH_OWN(vhem_data) *data = NULL;
    vh_input in;
    VH_AUTOFREE int64_t *item = NULL;

    VH_TRY(vh_sets_data(ctx, t->data, t->items, own, n, &data));
    VH_TRY(vh_input_data(ctx, data, false, &item, &in)); /* fragments of a song may differ in kind */
    return cluster_class(ctx, t, c, &in, out);
}

static vhem_status class_key(vhem_ctx *ctx, const training *t, const vh_class *c, const int64_t *own,
                             int64_t n, vh_key *out)
{
    const vhem_classes *k = t->classes;
    VH_OWN(vh_hash) *hash = NULL;

    VH_TRY(vh_hash_new(ctx, &hash));
    vh_hash_text(hash, "class " RECIPE);
    vh_hash_bytes(hash, &k->seed, sizeof k->seed);
    vh_hash_text(hash, c->name);
    vh_hash_text(hash, k->opt.all.estimator);
    vh_hash_number(hash, (double)k->opt.all.K);
    for (const vh_option *row = vh_options(VHEM_CLUSTER_OPTIONS); row->shown.name; row++)
        if (vh_option_in_files(row, &k->opt.reduce))
            vh_options_hash(hash, row, &k->opt.reduce);
    if (own) {
        vh_fit_options_hash(hash, &k->opt.piece);
        vh_hash_items(hash, t->data, t->items, own, n);
    }
    for (int64_t p = 0; p < c->n_part; p++) {
        vh_hash_text(hash, c->part[p].key.text);
        vh_hash_number(hash, (double)c->part[p].items);
    }
    vh_hash_key(hash, out);
    return VHEM_OK;
}

static vhem_status fill_model(vhem_ctx *ctx, const training *t, vh_class *c)
{
    VH_AUTOFREE int64_t *own = NULL;
    int64_t n = 0;
    char name[32];
    vh_key key;

    if (!takes_models(t->classes))
        VH_TRY(own_items(ctx, t, c, &own, &n));
    VH_TRY(class_key(ctx, t, c, own, n, &key));
    VH_TRY(vh_store_get(ctx, t->store, &key, &c->model));
    if (c->model)
        return VHEM_OK;
    VH_TRY(own ? from_data(ctx, t, c, own, n, &c->model) : from_pieces(ctx, t, c, &c->model));
    assert(c->model);
    for (int64_t j = 0; j < vh_models_size(c->model); j++) {
        snprintf(name, sizeof name, "%lld", (long long)j);
        VH_TRY(vh_h3m_set_text(ctx, vh_models_name(c->model, j), name));
        VH_TRY(vh_h3m_set_text(ctx, vh_models_label(c->model, j), c->name));
    }
    return vh_store_put(ctx, t->store, &key, c->model);
}

static vhem_status make_model(vhem_ctx *ctx, const training *t, vh_class *c)
{
    vhem_status st = fill_model(ctx, t, c);
    if (st != VHEM_OK) {
        vh_object_free(c->model);
        c->model = NULL;
    }
    return st;
}

/* ---- 3. all classes ------------------------------------------------------------------------------------ */

static vhem_status model_item(vhem_ctx *ctx, void *arg, int64_t i, int worker)
{
    const training *t = arg;
    (void)worker;
    ctx->opt.seed = (int64_t)t->classes->seed;
    return make_model(ctx, t, &t->classes->cls[t->todo[i].i]);
}

/* Trains classes in parallel, largest first, so that the last ones are short. */
static vhem_status make_models(vhem_ctx *ctx, training *t)
{
    VH_BLAS_SERIAL;
    vhem_classes *k = t->classes;
    int n = 0;
    int64_t failed = -1;
    VH_AUTOFREE vh_ranked *todo = NULL;
    char who[128];

    VH_NEW(todo, k->C);
    for (int c = 0; c < k->C; c++)
        if (!k->cls[c].model)
            todo[n++] = (vh_ranked){ (double)k->cls[c].items, c };
    vh_rank_descending((size_t)n, todo);
    t->todo = todo;
    const vh_work work = { .n = n, .what = "classes", .inside = true, .run = model_item, .arg = t };
    vhem_status st = vh_map(ctx, &work, &failed);
    if (failed >= 0) {
        snprintf(who, sizeof who, "class '%.100s'", k->cls[todo[failed].i].name);
        vh_error_prefix(ctx, who);
    }
    if (st == VHEM_ESTOPPED)
        vh_fail(ctx, st, "stopped; not all of %d classes have a model yet", n);
    return st;
}

static void set_priors(vhem_classes *k)
{
    double sum = 0;
    bool counts = strcmp(k->opt.all.prior, "counts") == 0;
    for (int c = 0; c < k->C; c++)
        sum += k->cls[c].prior = counts ? k->cls[c].items : 1;
    for (int c = 0; c < k->C; c++)
        k->cls[c].prior /= sum;
}

/* Counts the items of each class for an estimator that uses no pieces. */
static vhem_status count_items(vhem_ctx *ctx, const vhem_tags *m, vhem_classes *k)
{
    for (int c = 0; c < m->C; c++) {
        vh_class *to;
        int64_t n = 0;
        for (int64_t i = 0; i < m->n; i++)
            n += m->has[vh_ij(i, m->C, c)];
        if (n == 0)
            continue;
        VH_TRY(vh_classes_put(ctx, k, m->tag[c], &to));
        to->items = n;
    }
    return VHEM_OK;
}

/* Finds the items of this run in any class: the training items. */
static vhem_status class_items(vhem_ctx *ctx, const vhem_tags *m, int64_t **out, int64_t *n)
{
    int64_t *own = NULL;

    VH_NEW(own, m->n);
    *n = 0;
    for (int64_t i = 0; i < m->n; i++)
        if (memchr(m->has + vh_row(i, m->C), 1, (size_t)m->C))
            own[(*n)++] = i;
    *out = own;
    return VHEM_OK;
}

/* Fixes one prior for all present and future pieces.  Held-out items have no class here and do not
 * contribute. */
static vhem_status set_prior(vhem_ctx *ctx, const vh_piecework *w, const vhem_tags *members, vh_store *store,
                             vhem_classes *k)
{
    VH_AUTOFREE char *text = NULL;
    VH_AUTOFREE int64_t *own = NULL;
    int64_t n;

    VH_TRY(class_items(ctx, members, &own, &n));
    if (n > 0)
        VH_TRY(vh_pieces_prior(ctx, w, own, n, store, &text));
    k->opt.piece.prior = NULL;
    if (text)
        VH_TRY(vh_texts_keep(ctx, &k->texts, text, &k->opt.piece.prior));
    return VHEM_OK;
}

vhem_status vh_train(vhem_ctx *ctx, const vhem_data *data, const vh_sets *items, const vhem_tags *members,
                     vh_store *store, vhem_classes *k)
{
    VH_CLEANUP(vh_pieces_free) vh_pieces pieces = { 0 };
    training t = { .classes = k, .store = store, .data = data, .items = items, .members = members };

    if (takes_models(k)) {
        const vh_piecework w = { data, items, &k->opt.piece, k->seed, k->opt.all.by_group };
        VH_TRY(set_prior(ctx, &w, members, store, k));
        VH_TRY(vh_classes_cut(ctx, &w, members, k, &pieces));
        VH_TRY(vh_pieces_fit(ctx, &w, &pieces, store));
    } else {
        VH_TRY(count_items(ctx, members, k));
    }
    VH_TRY(make_models(ctx, &t));
    for (int c = 0; c < k->C; c++)
        if (k->cls[c].model && k->cls[c].model->h3m)
            VH_TRY(vh_frames_name(ctx, data, k->cls[c].model->h3m));
    set_priors(k);
    return VHEM_OK;
}

/* ---- 4. training and more data ------------------------------------------------------------------------- */

static void warn_of_single(vhem_ctx *ctx, const vhem_classes *k)
{
    int n = 0;
    const char *name = "";
    for (int c = 0; c < k->C; c++)
        if (k->cls[c].items == 1 && n++ == 0)
            name = k->cls[c].name;
    if (n > 0)
        vh_log(ctx, VHEM_LOG_WARN,
               "%d of %d classes ha%s a single example, '%.100s' for instance: its model is "
               "that of the example",
               n, k->C, n == 1 ? "s" : "ve", name);
}

vhem_status vh_train_frames(vhem_ctx *ctx, const vhem_data *data, const vhem_classes *k,
                            const vh_train_options *opt, vh_frames *out)
{
    const vhem_models *model = k && k->C > 0 ? k->cls[0].model : NULL;
    out->data = data;
    if (vh_fit_wants_textures(&opt->piece))
        return VHEM_OK;
    return vh_frames_to_fit(ctx, data, opt->piece.emission, model ? model->h3m : NULL, NULL, out);
}

/* Adds the data to k.  Callers pass a new or copied set, so that a failure changes nothing. */
static vhem_status learn(vhem_ctx *ctx, const vhem_data *data, const vhem_tags *tags, const char *path,
                         vhem_classes *k)
{
    vhem_status st = VHEM_OK;
    VH_CLEANUP(vh_sets_free) vh_sets items = { 0 };
    VH_OWN(vhem_tags) *members = NULL;
    VH_OWN(vh_store) *store = NULL;
    VH_CLEANUP(vh_frames_free) vh_frames frames = { 0 };

    VH_TRY(vh_train_check(ctx, &k->opt));
    VH_TRY(vh_train_frames(ctx, data, k, &k->opt, &frames));
    VH_TRY(vh_sets_new(ctx, data, k->opt.all.by_group, &items));
    VH_TRY(vh_members_new(ctx, &items, tags, k->C > 0 ? 1 : k->opt.all.min_items, &members));
    VH_TRY(vh_store_open(ctx, path, &store));
    VH_TRY(vh_train(ctx, frames.data, &items, members, store, k));
    warn_of_single(ctx, k);
    st = vh_store_close(ctx, store);
    store = NULL;
    return st;
}

vhem_status vhem_classes_train(vhem_ctx *ctx, const vhem_data *data, const vhem_tags *tags,
                               const vhem_train_options *opt, vhem_classes **out)
{
    VH_ENTER(data, out);
    vh_train_options o;
    VH_OWN(vhem_classes) *k = NULL;

    VH_TRY(vh_train_take(ctx, opt, &o));
    VH_TRY(vh_classes_new(ctx, &o, &k));
    k->tags = tags != NULL;
    VH_TRY(learn(ctx, data, tags, o.all.store, k));
    *out = vh_take(k);
    return VHEM_OK;
}

vhem_status vhem_classes_update(vhem_ctx *ctx, vhem_classes *k, const vhem_data *data, const vhem_tags *tags,
                                const char *store)
{
    VH_ENTER(k, data);
    VH_OWN(vhem_classes) *more = NULL;

    VH_TRY(vh_train_check(ctx, &k->opt));
    VH_CHECK(takes_models(k), VHEM_EINVAL,
             "estimator %s learns from all sequences at once: train again with "
             "all the data",
             k->opt.all.estimator);
    VH_CHECK(k->opt.all.bootstrap == 0, VHEM_EINVAL,
             "subsamples of a class are drawn from all its examples: train "
             "again with all the data");
    VH_CHECK(k->tags == (tags != NULL), VHEM_EINVAL, "the models are of %s, the new data has %s",
             k->tags ? "tags" : "classes", tags ? "tags" : "none");
    const vh_h3m *model = k->cls[0].model->h3m;
    VH_CHECK((model && model->shape.layout) || data->d == vh_models_dim(k->cls[0].model), VHEM_EINVAL,
             "the models have dimension %d, but the data has %d", vh_models_dim(k->cls[0].model), data->d);
    VH_TRY(vh_classes_copy(ctx, k, &more));
    VH_TRY(learn(ctx, data, tags, store, more));
    vhem_classes swap = *k;
    *k = *more;
    *more = swap;
    return VHEM_OK;
}
