/* SPDX-License-Identifier: BSD-3-Clause */
/* tree.c - hierarchies: the centres of one level are the models of the next.  Paper, Section 5.2, which
 * leaves their weights open: here they are the omega of the level below. */
#include "cluster/tree.h"

#include "methods/methods.h"
#include "core/options.h"
#include "parallel/ranks.h"
#include "core/object.h"
#include "core/rng.h"
#include "hmm/convert.h"
#include "vhem.h"

#include <limits.h>
#include <string.h>

/* ---- storage ------------------------------------------------------------------------------------------- */

static void clear_tree(void *object)
{
    vhem_tree *tree = object;
    for (int l = 0; l < tree->n; l++) {
        vh_clustering_free(tree->level[l]);
        free(tree->base_labels[l]);
        free(tree->parent[l]);
    }
    free(tree->level);
    free(tree->base_labels);
    free(tree->parent);
    free(tree->provenance);
}

vhem_status vh_tree_new(vhem_ctx *ctx, int cap, vhem_tree **out)
{
    VH_OWN(vhem_tree) *tree = NULL;

    VH_NEW_OBJECT(tree, clear_tree);
    tree->cap = cap;
    VH_NEW(tree->level, cap);
    VH_NEW(tree->base_labels, cap);
    VH_NEW(tree->parent, cap);
    *out = vh_take(tree);
    return VHEM_OK;
}

static int count_used(const vh_clustering *c)
{
    const double *omega = vh_clustering_omega(c);
    int n = 0;
    for (int j = 0; omega && j < c->Kr; j++)
        n += omega[j] > 0;
    return n;
}

/* parent [Kr of below]: cluster of each centre in c, -1 if it was left out. */
static void find_parents(const vh_clustering *below, const vh_clustering *c, int *parent)
{
    const double *omega = vh_clustering_omega(below);
    bool all = c->Kb == below->Kr; /* none was left out */
    for (int j = 0, row = 0; j < below->Kr; j++)
        parent[j] = all || omega[j] > 0 ? c->label[row++] : -1;
}

vhem_status vh_tree_add(vhem_ctx *ctx, vhem_tree *tree, vh_clustering *c)
{
    int l = tree->n;
    VH_AUTOFREE int *labels = NULL, *parent = NULL;
    vh_clustering *below = l > 0 ? tree->level[l - 1] : NULL;
    int64_t n = below ? tree->level[0]->Kb : c->Kb;

    VH_CHECK(!below || c->Kb == below->Kr || c->Kb == count_used(below), VHEM_EFORMAT,
             "there are %lld models, the level below has %d centres", (long long)c->Kb,
             below ? below->Kr : 0);
    VH_NEW(labels, n);
    if (below) {
        VH_NEW(parent, below->Kr);
        find_parents(below, c, parent);
    }
    for (int64_t i = 0; i < n; i++) {
        labels[i] = below ? parent[tree->base_labels[l - 1][i]] : c->label[i];
        VH_CHECK(labels[i] >= 0, VHEM_EFORMAT,
                 "model %lld belongs to a centre of weight zero, which has no place here", (long long)i);
    }
    if (below) {
        tree->parent[l - 1] = vh_take(parent);
        vh_clustering_show(below, tree->base_labels[l - 1], tree->parent[l - 1]);
    }
    tree->level[l] = c;
    tree->base_labels[l] = vh_take(labels);
    tree->n++;
    vh_clustering_show(c, tree->base_labels[l], NULL);
    return VHEM_OK;
}

vhem_status vh_tree_of_models(vhem_ctx *ctx, vhem_models *models, vhem_tree **out)
{
    VH_OWN(vhem_tree) *tree = NULL;
    VH_OWN(vh_clustering) *c = NULL;
    VH_OWN(vhem_models) *own = models;

    VH_CHECK(vh_models_size(models) <= INT_MAX, VHEM_EINVAL, "%lld models are too many to be clusters",
             (long long)vh_models_size(models));
    VH_TRY(vh_tree_new(ctx, 1, &tree));
    VH_TRY(vh_clustering_new(ctx, 0, &c));
    c->method = "";
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &c->options);
    c->Kr = (int)vh_models_size(models);
    char **from = models->h3m ? &models->h3m->provenance : &models->dtm->provenance;
    tree->provenance = *from;
    *from = NULL;
    c->centers = models->h3m;
    c->textures = models->dtm;
    models->h3m = NULL;
    models->dtm = NULL;
    VH_TRY(vh_tree_add(ctx, tree, c));
    c = NULL;
    *out = vh_take(tree);
    return VHEM_OK;
}

/* Checks that models are those of the tree, by number and names; unnamed models pass. */
vhem_status vhem_tree_check(vhem_ctx *ctx, const vhem_tree *tree, const vhem_models *models)
{
    VH_ENTER(tree, models);
    VH_TRY(vh_models_gather(ctx, models));
    if (tree->n == 0)
        return VHEM_OK;
    const vh_clustering *c = tree->level[0];
    VH_CHECK(vh_models_size(models) == c->Kb, VHEM_EINVAL,
             "there are %lld models, the clusters were made of %lld", (long long)vh_models_size(models),
             (long long)c->Kb);
    for (int64_t i = 0; c->name && i < c->Kb; i++) {
        const char *name = *vh_models_name(models, i), *was = c->name[i];
        bool other = name && was && name[0] && was[0] && strcmp(name, was) != 0;
        VH_CHECK(!other, VHEM_EINVAL,
                 "%s %lld is '%.200s', but '%.200s' in the clusters: other models were clustered there, or "
                 "in another order",
                 vh_models_word(models), (long long)i, name, was);
    }
    return VHEM_OK;
}

void vhem_tree_info(const vhem_tree *tree, vhem_tree_facts *out)
{
    *out = (vhem_tree_facts){ 0 };
    if (!tree)
        return;
    *out = (vhem_tree_facts){ .levels = tree->n,
                              .kind = tree->n > 0 && tree->level[0]->textures ? VHEM_TEXTURES : VHEM_HMMS,
                              .provenance = tree->provenance || tree->n == 0 ? tree->provenance
                                                                             : tree->level[0]->provenance,
                              .stopped_level = tree->stopped_level };
}

const vhem_clustering *vhem_tree_level(const vhem_tree *tree, int l)
{
    return tree && l >= 0 && l < tree->n ? &tree->level[l]->shown : NULL;
}

/* ---- building ------------------------------------------------------------------------------------------ */

/* Messages count levels from 1, as the command and the reports do. */
static vhem_status check_levels(vhem_ctx *ctx, const vh_input *in, int n, const int64_t *K,
                                const vhem_cluster_options *o)
{
    const vh_method *method =
        vh_method_find(o->method); /* NULL: the default, or an unknown name, rejected later */
    bool at_most = method && method->traits & VH_FINDS_K; /* too large a K is reduced */
    VH_CHECK(n >= 1, VHEM_EINVAL, "a tree of %d levels, must have at least 1", n);
    VH_CHECK(n > 1 || (K[0] >= 0 && K[0] <= INT_MAX), VHEM_EINVAL, "K is %lld, must be from 1 to %d",
             (long long)K[0], INT_MAX);
    if (n == 1) /* vh_cluster checks the rest */
        return VHEM_OK;
    for (int l = 0; l < n; l++)
        VH_CHECK(K[l] >= 1, VHEM_EINVAL, "K of level %d is %lld, must be at least 1", l + 1, (long long)K[l]);
    VH_CHECK(K[0] <= in->Kb || at_most, VHEM_EINVAL, "K of level 1 is %lld, but there are only %lld %s",
             (long long)K[0], (long long)in->Kb,
             in->data     ? "sequences or groups"
             : in->models ? "models"
                          : "textures");
    for (int l = 1; l < n; l++)
        VH_CHECK(K[l] <= K[l - 1], VHEM_EINVAL, "K of level %d is %lld, level %d has only %lld clusters",
                 l + 1, (long long)K[l], l, (long long)K[l - 1]);
    return VHEM_OK;
}

/* True if only the centres of c can be clustered again: sequences would be grouped anew. */
static bool keeps_partition(const vh_clustering *c)
{
    return vh_method_find(c->method)->traits & VH_KEEPS;
}

/* Options of the levels above such a clustering: the default method for models, whose centres are as large as
 * these. */
static void cluster_centers(const vh_clustering *c, vhem_cluster_options *o)
{
    o->method = vh_method_usual(VH_MODELS)->name;
    o->S = o->M = o->landmarks = -1;
    o->emission = o->topology = NULL;
    o->tau = c->centers->lengths.max > 0 ? VHEM_AUTO : o->tau;
}

/* Prepares the input of the level above c: its used centres, or item groups merged by cluster.  Updates *used
 * and item, which *in points to. */
static vhem_status next_input(vhem_ctx *ctx, const vh_clustering *c, vhem_models **used, int64_t *item,
                              vh_input *in)
{
    const double *omega = vh_clustering_omega(c);
    VH_AUTOFREE int *row = NULL;
    int n = 0;
    VH_AUTOFREE int64_t *index = NULL;

    VH_CHECK(omega, VHEM_EINVAL, "method %s has no centres to cluster again", c->method);
    VH_NEW(row, c->Kr);
    VH_NEW(index, c->Kr);
    for (int j = 0; j < c->Kr; j++) {
        row[j] = omega[j] > 0 ? n : -1;
        if (omega[j] > 0)
            index[n++] = j;
    }
    if (in->models || in->textures || keeps_partition(c)) {
        const vhem_models centers = vh_clustering_models(c);
        VH_OWN(vhem_models) *next = NULL;
        VH_TRY(vh_models_subset(ctx, &centers, index, n, &next));
        if (next->h3m) /* a centre represents a typical member */
            next->h3m->lengths = in->models ? in->models->lengths : c->centers->lengths;
        vh_object_free(*used);
        *used = vh_take(next);
        *in = vh_input_of(*used, 0);
    } else {
        for (int64_t i = 0; i < in->data->N; i++)
            item[i] = row[c->label[item[i]]];
        in->Kb = n;
    }
    in->below = c;
    return VHEM_OK;
}

/* Reports a stop; c is the partial result of level l, or NULL if no restart finished. */
static vhem_status tell_stopped(vhem_ctx *ctx, int l, const vh_clustering *c)
{
    int finished = 0, n_run = c ? c->n_run : 0;
    for (int r = 0; r < n_run; r++)
        finished += c->run[r].finished;
    return vh_fail(ctx, VHEM_ESTOPPED, "level %d was stopped with %d of %d restarts finished and is %s",
                   l + 1, finished, n_run, l > 0 ? "left out" : "the best so far");
}

/* Builds level l of the tree from its input. */
static vhem_status add_level(vhem_ctx *ctx, vhem_tree *tree, int l, int levels, int K, vh_input *in,
                             vhem_cluster_options *o)
{
    vh_clustering *c = NULL;

    in->K = K < in->Kb || l == 0 ? K : in->Kb;
    if (l > 0)
        o->start = NULL; /* a given start applies only to the lowest level */
    if (in->K < K)
        vh_log(ctx, VHEM_LOG_WARN, "level %d has %lld clusters, not %d: the level below has no more", l + 1,
               (long long)in->K, K);
    vhem_status st = vh_cluster(ctx, in, o, vh_rng_seed((uint64_t)ctx->opt.seed, (uint64_t)l << 32), &c);
    tree->stopped_level = st == VHEM_ESTOPPED ? l + 1 : 0;
    if (st == VHEM_ESTOPPED && levels > 1 && (c || l > 0)) /* else there is nothing to report */
        tell_stopped(ctx, l, c);
    if (st == VHEM_OK || (st == VHEM_ESTOPPED && l == 0 && c)) {
        /* For the lowest level keep the best partial result. */
        vhem_status added = vh_tree_add(ctx, tree, c);
        if (added == VHEM_OK)
            c = NULL;
        st = added == VHEM_OK ? st : added;
        o->tau = tree->n > 0 ? tree->level[0]->options.tau : o->tau; /* tau may come from the models */
    }
    vh_clustering_free(c);
    return st;
}

/* Fingerprint of the input; 0 if this is the only rank. */
static vhem_status find_fingerprint(vhem_ctx *ctx, const vhem_source *source, uint64_t *out)
{
    const vhem_models *m = source->models;
    int64_t set = 0;

    *out = 0;
    if (vh_ranks(ctx) == 1)
        return VHEM_OK;
    if (source->data)
        *out = vh_data_fingerprint(source->data);
    else if (m && m->shards)
        VH_TRY(vh_shards_fingerprint(ctx, m->shards, &set));
    else if (m && m->h3m)
        *out = vh_h3m_fingerprint(m->h3m);
    *out ^= (uint64_t)set;
    return VHEM_OK;
}

/* Builds the tree; on failure *tree has the levels finished so far. */
static vhem_status make_tree(vhem_ctx *ctx, const vhem_source *source, int levels, const int64_t *K,
                             vhem_cluster_options *o, vhem_tree **tree)
{
    VH_AUTOFREE int64_t *item = NULL; /* [N]  for sequences: the set of each on this level */
    VH_OWN(vhem_models) *used = NULL;
    uint64_t fingerprint;
    vh_input in;

    VH_TRY(find_fingerprint(ctx, source, &fingerprint));
    VH_TRY(vh_ranks_call(ctx, "cluster", VHEM_CLUSTER_OPTIONS, o, fingerprint));
    VH_TRY(vh_models_gather(ctx, o->start));
    VH_TRY(vh_input_source(ctx, source, o, &item, &in));
    VH_TRY(check_levels(ctx, &in, levels, K, o));
    VH_TRY(vh_tree_new(ctx, levels, tree));
    for (int l = 0; l < levels; l++) {
        const vh_clustering *below = l > 0 ? (*tree)->level[l - 1] : NULL;
        if (below && keeps_partition(below))
            cluster_centers(below, o);
        if (below)
            VH_TRY(next_input(ctx, below, &used, item, &in));
        VH_TRY(add_level(ctx, *tree, l, levels, (int)K[l], &in, o));
    }
    return VHEM_OK;
}

vhem_status vhem_cluster(vhem_ctx *ctx, const vhem_source *source, int levels, const int64_t *K,
                         const vhem_cluster_options *opt, vhem_tree **out)
{
    VH_ENTER(source, K, out);
    VH_OWN(vhem_tree) *tree = NULL;
    vhem_cluster_options o;

    VH_TRY(vh_options_take(ctx, VHEM_CLUSTER_OPTIONS, opt, &o));
    if (o.executor) /* the other ranks serve this call, they do not make it */
        vh_ranks_leave(ctx);
    vhem_status st = vh_ranks_end(ctx, make_tree(ctx, source, levels, K, &o, &tree));
    if (st == VHEM_OK || (st == VHEM_ESTOPPED && tree && tree->n > 0))
        *out = vh_take(tree);
    return st;
}
