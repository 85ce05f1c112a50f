/* SPDX-License-Identifier: BSD-3-Clause */
/* tree.c - hierarchies: the centres of one level, with their weights, are the models of the next.  Paper,
 * Section 5.2, which leaves the weights open: here they are the omega of the level below. */
#include "cluster/tree.h"

#include "cluster/methods.h"
#include "core/alloc.h"
#include "core/rng.h"
#include "model/convert.h"

/* ---- storage ------------------------------------------------------------------------------------------- */

vhem_status vh_tree_new(vhem_ctx *ctx, int cap, vhem_tree **out)
{
    vhem_status st = VHEM_OK;
    vhem_tree *tree = NULL;

    VH_NEW(tree, 1);
    tree->cap = cap;
    VH_NEW(tree->level, cap);
    VH_NEW(tree->base_labels, cap);
    *out = tree;
    tree = NULL;
done:
    vhem_tree_free(tree);
    return st;
}

void vhem_tree_free(vhem_tree *tree)
{
    if (!tree)
        return;
    for (int l = 0; l < tree->n; l++) {
        vh_clustering_free(tree->level[l]);
        free(tree->base_labels[l]);
    }
    free(tree->level);
    free(tree->base_labels);
    free(tree->provenance);
    free(tree);
}

static int count_used(const vh_clustering *c)
{
    const double *omega = vh_clustering_omega(c);
    int n = 0;
    for (int j = 0; omega && j < c->Kr; j++)
        n += omega[j] > 0;
    return n;
}

int vh_tree_row(const vhem_tree *tree, int l, int j)
{
    const vh_clustering *below = tree->level[l - 1];
    const double *omega = vh_clustering_omega(below);
    int row = 0;
    if (tree->level[l]->Kb == below->Kr) /* none was left out */
        return j;
    if (!(omega[j] > 0))
        return -1;
    for (int k = 0; k < j; k++)
        row += omega[k] > 0;
    return row;
}

vhem_status vh_tree_add(vhem_ctx *ctx, vhem_tree *tree, vh_clustering *c)
{
    vhem_status st = VHEM_OK;
    int l = tree->n, *labels = NULL;
    const vh_clustering *below = l > 0 ? tree->level[l - 1] : NULL;

    VH_CHECK(!below || c->Kb == below->Kr || c->Kb == count_used(below), VHEM_EFORMAT,
             "there are %d models, the level below has %d centres", c->Kb, below ? below->Kr : 0);
    VH_NEW(labels, l > 0 ? tree->level[0]->Kb : c->Kb);
    tree->level[l] = c; /* n is not raised yet: a failure leaves c to the caller */
    for (int i = 0; i < (l > 0 ? tree->level[0]->Kb : c->Kb); i++) {
        int row = l > 0 ? vh_tree_row(tree, l, tree->base_labels[l - 1][i]) : i;
        VH_CHECK(row >= 0, VHEM_EFORMAT,
                 "model %d belongs to a centre of weight zero, which has no place here", i);
        labels[i] = c->label[row];
    }
    tree->base_labels[l] = labels;
    labels = NULL;
    tree->n++;
done:
    free(labels);
    return st;
}

int vh_tree_levels(const vhem_tree *tree)
{
    return tree->n;
}

const vh_clustering *vh_tree_level(const vhem_tree *tree, int l)
{
    return l >= 0 && l < tree->n ? tree->level[l] : NULL;
}

const int *vh_tree_base_labels(const vhem_tree *tree, int l)
{
    return l >= 0 && l < tree->n ? tree->base_labels[l] : NULL;
}

vhem_status vh_tree_set_provenance(vhem_ctx *ctx, vhem_tree *tree, const char *json)
{
    return vh_model_set_provenance(ctx, &tree->provenance, json);
}

const char *vh_tree_provenance(const vhem_tree *tree)
{
    return tree->provenance;
}

/* ---- building ------------------------------------------------------------------------------------------ */

/* Sentences count levels from 1, as the command and the reports do. */
static vhem_status check(vhem_ctx *ctx, const vh_input *in, int n, const int *K)
{
    vhem_status st = VHEM_OK;
    VH_CHECK(n >= 1, VHEM_EINVAL, "a tree of %d levels, must have at least 1", n);
    for (int l = 0; l < n; l++)
        VH_CHECK(K[l] >= 1, VHEM_EINVAL, "K of level %d is %d, must be at least 1", l + 1, K[l]);
    VH_CHECK(K[0] <= in->Kb, VHEM_EINVAL, "K of level 1 is %d, there are %d %s", K[0], in->Kb,
             in->data     ? "sequences or groups"
             : in->models ? "models"
                          : "textures");
    for (int l = 1; l < n; l++)
        VH_CHECK(K[l] <= K[l - 1], VHEM_EINVAL, "K of level %d is %d, level %d has only %d clusters", l + 1,
                 K[l], l, K[l - 1]);
done:
    return st;
}

/* What the level above clusters, when it is not sequences. */
typedef struct {
    vh_h3m *models;
    vh_dtm *textures;
} centers;

static void free_centers(centers *x)
{
    vh_h3m_free(x->models);
    vh_dtm_free(x->textures);
    *x = (centers){ 0 };
}

/* What the level above c clusters: its used centres, or what it has put together of the sequences.  *used and
 * item are what the input points to, of the level below at first. */
static vhem_status next_input(vhem_ctx *ctx, const vh_clustering *c, centers *used, int *item, vh_input *in)
{
    vhem_status st = VHEM_OK;
    const double *omega = vh_clustering_omega(c);
    int *row = NULL, *index = NULL, n = 0;

    VH_CHECK(omega, VHEM_EINVAL, "method %s has no centres to cluster again", c->method);
    VH_NEW(row, c->Kr);
    VH_NEW(index, c->Kr);
    for (int j = 0; j < c->Kr; j++) {
        row[j] = omega[j] > 0 ? n : -1;
        if (omega[j] > 0)
            index[n++] = j;
    }
    free_centers(used);
    if (in->models) {
        VH_TRY(vh_h3m_subset(ctx, c->centers, index, n, &used->models));
        *in = vh_input_models(used->models);
    } else if (in->textures) {
        VH_TRY(vh_dtm_subset(ctx, c->textures, index, n, &used->textures));
        *in = vh_input_textures(used->textures);
    } else {
        for (int i = 0; i < in->data->N; i++)
            item[i] = row[c->label[item[i]]];
        in->Kb = n;
    }
    in->below = c;
done:
    free(row);
    free(index);
    return st;
}

/* c is level l as far as it came; NULL: not even one restart. */
static vhem_status tell_stopped(vhem_ctx *ctx, int l, const vh_clustering *c)
{
    int finished = 0, n_run = c ? c->n_run : 0;
    for (int r = 0; r < n_run; r++)
        finished += c->run[r].finished;
    return vh_fail(ctx, VHEM_ESTOPPED, "level %d was stopped with %d of %d restarts finished and is %s",
                   l + 1, finished, n_run, l > 0 ? "left out" : "the best so far");
}

/* Level l of the tree from its input. */
static vhem_status add_level(vhem_ctx *ctx, vhem_tree *tree, int l, int K, const vh_input *in,
                             vhem_cluster_options *o)
{
    vh_clustering *c = NULL;

    o->K = K < in->Kb ? K : in->Kb;
    if (l > 0)
        o->start = NULL, o->start_dtm = NULL; /* a given start is that of the lowest level */
    if (o->K < K)
        vh_log(ctx, VHEM_LOG_WARN, "level %d has %d clusters, not %d: the level below has no more", l + 1,
               o->K, K);
    vhem_status st = vh_cluster(ctx, in, o, vh_rng_seed(ctx->opt.seed, (uint64_t)l << 32), &c);
    if (st == VHEM_ESTOPPED && (c || l > 0)) /* else there is nothing to tell of */
        tell_stopped(ctx, l, c);
    if (st == VHEM_OK || (st == VHEM_ESTOPPED && l == 0 && c)) {
        /* Of the lowest level also the best so far: better than nothing. */
        vhem_status added = vh_tree_add(ctx, tree, c);
        if (added == VHEM_OK)
            c = NULL;
        st = added == VHEM_OK ? st : added;
        o->tau = tree->n > 0 ? tree->level[0]->options.tau : o->tau; /* that of the models, if they tell it */
    }
    vh_clustering_free(c);
    return st;
}

/* item [N] of an input of sequences is the caller's and changes from level to level; NULL for models. */
static vhem_status build(vhem_ctx *ctx, vh_input in, int *item, int n_levels, const int *K,
                         const vhem_cluster_options *opt, vhem_tree **out)
{
    vhem_status st = VHEM_OK;
    vhem_tree *tree = NULL;
    centers used = { 0 };
    vhem_cluster_options o;

    vhem_cluster_options_init(&o);
    if (opt)
        o = *opt;
    VH_TRY(check(ctx, &in, n_levels, K));
    VH_TRY(vh_tree_new(ctx, n_levels, &tree));
    for (int l = 0; l < n_levels; l++) {
        if (l > 0)
            VH_TRY(next_input(ctx, tree->level[l - 1], &used, item, &in));
        VH_TRY(add_level(ctx, tree, l, K[l], &in, &o));
    }
done:
    if (st == VHEM_OK || (st == VHEM_ESTOPPED && tree && tree->n > 0)) {
        *out = tree;
        tree = NULL;
    }
    vhem_tree_free(tree);
    free_centers(&used);
    return st;
}

vhem_status vh_tree_build(vhem_ctx *ctx, const vh_h3m *h3m, int n_levels, const int *K,
                          const vhem_cluster_options *opt, vhem_tree **out)
{
    return build(ctx, vh_input_models(h3m), NULL, n_levels, K, opt, out);
}

vhem_status vh_tree_build_dtm(vhem_ctx *ctx, const vh_dtm *dtm, int n_levels, const int *K,
                              const vhem_cluster_options *opt, vhem_tree **out)
{
    return build(ctx, vh_input_textures(dtm), NULL, n_levels, K, opt, out);
}

vhem_status vh_tree_build_data(vhem_ctx *ctx, const vhem_data *data, int n_levels, const int *K,
                               const vhem_cluster_options *opt, vhem_tree **out)
{
    vhem_status st = VHEM_OK;
    vh_input in;
    int *item = NULL;

    VH_TRY(vh_input_data(ctx, data, opt && opt->by_group, &item, &in));
    VH_TRY(build(ctx, in, item, n_levels, K, opt, out));
done:
    free(item);
    return st;
}
