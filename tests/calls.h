/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.h - public calls on models of one kind, as short as tests want them: lengths and numbers of clusters
 * are ints, models are HMMs or textures, and a clustering comes without its tree. */
#ifndef VH_TESTS_CALLS_H
#define VH_TESTS_CALLS_H

#include "classify/classes.h"
#include "distance/distance.h"
#include "methods/methods.h"
#include "cluster/tree.h"
#include "data/data.h"
#include "fit/fit.h"
#include "fit/infer.h"
#include "models/models.h"
#include "vhem.h"
#include "vhem/analysis.h"

/* Given models as an option; it lives as long as the block it stands in. */
#define HMMS(h)     ((h) ? &(const vhem_models){ .kind = VHEM_HMMS, .h3m = (vh_h3m *)(h) } : NULL)
#define TEXTURES(t) ((t) ? &(const vhem_models){ .kind = VHEM_TEXTURES, .dtm = (vh_dtm *)(t) } : NULL)

enum { MOST_CALLED = 4096 };

/* ---- sequences ----------------------------------------------------------------------------------------- */

static inline vhem_status call_wrap(vhem_ctx *ctx, int N, const int *T, int d, const double *y,
                                    vhem_data **out)
{
    int64_t *length = calloc((size_t)N + 1, sizeof *length);
    for (int n = 0; n < N; n++)
        length[n] = T[n];
    vhem_status st = vhem_data_wrap(ctx, N, length, d, y, NULL, out);
    free(length);
    return st;
}

static inline vhem_status call_describe(vhem_ctx *ctx, vhem_data *data, const char *const *name,
                                        const char *const *label, const char *const *group,
                                        const double *weight, const char *const *column)
{
    return vh_data_describe(ctx, data, &(vhem_data_text){ name, label, group, weight, column, NULL });
}

/* ---- clusters ------------------------------------------------------------------------------------------ */

static inline vhem_status call_cluster_hmms(vhem_ctx *ctx, const vh_h3m *h3m, int K,
                                            const vhem_cluster_options *opt, vh_clustering **out)
{
    vh_input in = vh_input_models(h3m, K);
    return vh_cluster(ctx, &in, opt, (uint64_t)ctx->opt.seed, out);
}

static inline vhem_status call_cluster_dtm(vhem_ctx *ctx, const vh_dtm *dtm, int K,
                                           const vhem_cluster_options *opt, vh_clustering **out)
{
    const vhem_models models = vh_models_of_textures(dtm);
    vh_input in = vh_input_of(&models, K);
    return vh_cluster(ctx, &in, opt, (uint64_t)ctx->opt.seed, out);
}

static inline vhem_status call_cluster_data(vhem_ctx *ctx, const vhem_data *data, bool by_group, int K,
                                            const vhem_cluster_options *opt, vh_clustering **out)
{
    vh_input in;
    int64_t *item = NULL;
    vhem_status st = vh_input_data(ctx, data, by_group, &item, &in);
    in.K = K;
    if (st == VHEM_OK)
        st = vh_cluster(ctx, &in, opt, (uint64_t)ctx->opt.seed, out);
    free(item);
    return st;
}

static inline vhem_status call_tree(vhem_ctx *ctx, const vhem_source *source, int levels, const int *K,
                                    const vhem_cluster_options *opt, vhem_tree **out)
{
    int64_t wide[64];
    for (int l = 0; l < levels; l++)
        wide[l] = K[l];
    return vhem_cluster(ctx, source, levels, wide, opt, out);
}

static inline vhem_status call_tree_build(vhem_ctx *ctx, const vh_h3m *h3m, int levels, const int *K,
                                          const vhem_cluster_options *opt, vhem_tree **out)
{
    return call_tree(ctx, &(vhem_source){ .models = HMMS(h3m) }, levels, K, opt, out);
}

static inline vhem_status call_tree_build_dtm(vhem_ctx *ctx, const vh_dtm *dtm, int levels, const int *K,
                                              const vhem_cluster_options *opt, vhem_tree **out)
{
    return call_tree(ctx, &(vhem_source){ .models = TEXTURES(dtm) }, levels, K, opt, out);
}

static inline vhem_status call_tree_build_data(vhem_ctx *ctx, const vhem_data *data, bool by_group,
                                               int levels, const int *K, const vhem_cluster_options *opt,
                                               vhem_tree **out)
{
    return call_tree(ctx, &(vhem_source){ .data = data, .by_group = by_group }, levels, K, opt, out);
}

/* A clustering out of its file, with the provenance of the tree. */
static inline vhem_status call_clustering_load(vhem_ctx *ctx, const char *path, vh_clustering **out)
{
    vhem_tree *tree = NULL;
    vhem_status st = vhem_tree_load(ctx, path, &tree);
    if (st != VHEM_OK)
        return st;
    assert_int_equal(tree->n, 1);
    *out = tree->level[0];
    (*out)->provenance = tree->provenance;
    tree->provenance = NULL;
    tree->n = 0;
    free(tree->base_labels[0]);
    vhem_free(tree);
    return VHEM_OK;
}

static inline vhem_status call_clustering_save(vhem_ctx *ctx, const vh_clustering *c, const char *path)
{
    vhem_tree tree = { .n = 1, .level = (vh_clustering *[]){ (vh_clustering *)c } };
    return vhem_tree_save(ctx, &tree, c->provenance, path);
}

/* ---- what is asked of them ----------------------------------------------------------------------------- */

static inline vhem_status call_assign_models(vhem_ctx *ctx, const vhem_tree *tree, const vh_h3m *h3m,
                                             int *label, double *posterior, double *score)
{
    return vhem_assign(ctx, tree, &(vhem_source){ .models = HMMS(h3m) }, label, posterior, score);
}

static inline vhem_status call_assign_dtm(vhem_ctx *ctx, const vhem_tree *tree, const vh_dtm *dtm, int *label,
                                          double *posterior, double *score)
{
    return vhem_assign(ctx, tree, &(vhem_source){ .models = TEXTURES(dtm) }, label, posterior, score);
}

static inline vhem_status call_assign_data(vhem_ctx *ctx, const vhem_tree *tree, const vhem_data *data,
                                           int *label, double *posterior, double *score)
{
    return vhem_assign(ctx, tree, &(vhem_source){ .data = data }, label, posterior, score);
}

static inline vhem_status call_measure(vhem_ctx *ctx, const vhem_tree *tree, int l, const vh_h3m *h3m,
                                       const vhem_data *data, const vhem_cluster_options *opt,
                                       vhem_measures *out)
{
    return vhem_measure(ctx, tree, l, &(vhem_source){ .models = h3m ? HMMS(h3m) : NULL, .data = data }, opt,
                        out);
}

static inline vhem_status call_choose(vhem_ctx *ctx, const vh_h3m *h3m, int n_K, const int *K, int n_S,
                                      const int *S, int n_splits, const vhem_cluster_options *opt,
                                      vhem_choice *rows)
{
    int64_t wide[64];
    for (int k = 0; k < n_K; k++)
        wide[k] = K[k];
    const vhem_choose_options want = {
        .size = sizeof(vhem_choose_options), .n_K = n_K, .K = wide, .n_S = n_S, .S = S, .n_splits = n_splits
    };
    return vhem_choose(ctx, &(vhem_source){ .models = HMMS(h3m) }, &want, opt, rows);
}

/* Models of pieces, each with its own store. */
static inline vhem_status call_fit_pieces(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt,
                                          const char *store, vh_h3m **out)
{
    vhem_models *models = NULL;
    vhem_fit_options o = *opt;
    o.pieces = 1;
    o.K = o.K > 0 ? o.K : 1;
    o.store = store;
    vhem_status st = vhem_fit(ctx, data, &o, &models, NULL);
    if (st == VHEM_OK) {
        *out = models->h3m;
        models->h3m = NULL;
        vhem_free(models);
    }
    return st;
}

#endif
