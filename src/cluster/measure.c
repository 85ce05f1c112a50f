/* SPDX-License-Identifier: BSD-3-Clause */
/* measure.c - internal quality measures of clusters, without reference classes.  Paper, Section 5.1.
 *
 * Clusters without members are ignored: an empty cluster keeps its initial HMM, which may fit some models
 * better than any learned centre. */
#include "distance/distance.h"
#include "distance/embedding.h"
#include "cluster/tree.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "core/names.h"
#include "core/options.h"
#include "data/data.h"
#include "models/infer.h"
#include "fit/infer.h"
#include "math/graph.h"
#include "hmm/convert.h"
#include "vhem/bounds.h"
#include "vhem/analysis.h"
#include "vhem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    NEIGHBOURS = 5,     /* per model in the graph */
    MANY_MODELS = 5000, /* largest n with a full distance matrix */
};

typedef struct {
    const vh_h3m *models, *centers;
    vhem_models made; /* the centers, or textures */
    const int *label; /* [n]  of the models */
    int64_t n;
    int K, tau;
    int64_t *members; /* [K] */
    vhem_distance_options kernel;
} level;

/* Mean of L_hmm of the models under their assigned centres. */
static vhem_status expected_loglik(vhem_ctx *ctx, const level *v, double *out)
{
    VH_OWN(vh_h3m) *full = NULL;
    const vh_h3m *models = v->models;
    VH_AUTOFREE double *L = NULL;
    double sum = 0;

    VH_TRY(vh_h3m_like(ctx, models, v->centers, &full, &models));
    VH_NEW(L, vh_cells(v->n, v->K));
    VH_TRY(vh_reduce_score(ctx, models, v->centers, v->tau, L));
    for (int64_t i = 0; i < v->n; i++)
        sum += L[vh_ij(i, v->K, v->label[i])];
    *out = sum / v->n;
    return VHEM_OK;
}

/* Adds the names of the items, each with its cluster: -1 if items of the same name are in different clusters.
 * cluster [v->n]. */
static vhem_status index_names(vhem_ctx *ctx, const level *v, char *const *name, vh_names *names,
                               int *cluster)
{
    for (int64_t i = 0; i < v->n; i++) {
        int64_t k;
        bool is_new;
        VH_TRY(vh_names_put(ctx, names, name[i], strlen(name[i]), &k, &is_new));
        cluster[k] = is_new || cluster[k] == v->label[i] ? v->label[i] : -1;
    }
    return VHEM_OK;
}

/* Cluster of the items with this name; -1 if there is none, or more than one. */
static int find_cluster(const vh_names *names, const int *cluster, const char *name)
{
    int64_t k = *name ? vh_names_find(names, name, strlen(name)) : -1;
    return k < 0 ? -1 : cluster[k];
}

/* Weighted sum of log p(y_n | centre): a sequence that was clustered, alone or in its group, counts under its
 * assigned centre (as in the paper), any other under the best one. */
static vhem_status data_loglik(vhem_ctx *ctx, const level *v, const vhem_data *data, char *const *name,
                               double *out)
{
    int64_t N = vh_data_size(data);
    VH_AUTOFREE double *table = NULL;
    double sum = 0;
    VH_AUTOFREE int *cluster = NULL;
    VH_CLEANUP(vh_names_free) vh_names names = { 0 };
    vhem_seq_view seq;

    VH_NEW(table, vh_cells(N, v->K));
    VH_NEW(cluster, v->n);
    VH_TRY(index_names(ctx, v, name, &names, cluster));
    VH_TRY(vh_models_score(ctx, &v->made, data, table));
    for (int64_t n = 0; n < N; n++) {
        const double *row = table + vh_row(n, v->K);
        double best = -INFINITY;
        VH_TRY(vhem_data_view(data, n, &seq));
        int j = find_cluster(&names, cluster, seq.name);
        j = j < 0 ? find_cluster(&names, cluster, seq.group) : j;
        for (int q = 0; q < v->K; q++)
            best = v->members[q] > 0 ? fmax(best, row[q]) : best;
        sum += seq.weight * (j < 0 ? best : row[j]);
    }
    *out = sum;
    return VHEM_OK;
}

/* Mean kernel over pairs of different members of cluster j; 0 for a single member. */
static vhem_status compact(vhem_ctx *ctx, const level *v, int j, double *out)
{
    VH_AUTOFREE int64_t *index = NULL;
    int64_t m = 0;
    VH_OWN(vh_h3m) *members = NULL;
    VH_AUTOFREE double *log_k = NULL;
    double sum = 0;

    *out = 0;
    if (v->members[j] < 2)
        return VHEM_OK;
    VH_NEW(index, v->members[j]);
    VH_NEW(log_k, vh_cells(v->members[j], v->members[j]));
    for (int64_t i = 0; i < v->n; i++)
        if (v->label[i] == j)
            index[m++] = i;
    VH_TRY(vh_h3m_subset(ctx, v->models, index, m, &members));
    VH_TRY(vh_h3m_distance(ctx, members, members, &v->kernel, log_k, NULL));
    for (int64_t a = 0; a < m; a++)
        for (int64_t b = 0; b < m; b++)
            sum += a == b ? 0 : exp(log_k[vh_ij(a, m, b)]);
    *out = sum / ((double)m * (double)(m - 1));
    return VHEM_OK;
}

static vhem_status compactness(vhem_ctx *ctx, const level *v, double *out)
{
    double sum = 0, one;
    for (int j = 0; j < v->K; j++) {
        VH_TRY(compact(ctx, v, j, &one));
        sum += one;
        vh_progress(ctx, "kernels", j + 1, v->K);
    }
    *out = sum;
    return VHEM_OK;
}

/* *out stays NaN if there are too few models for a graph or too many for a distance matrix. */
static vhem_status find_modularity(vhem_ctx *ctx, const level *v, double *out)
{
    VH_AUTOFREE double *D = NULL;
    VH_AUTOFREE int *near = NULL;

    if (v->n <= NEIGHBOURS || v->n > MANY_MODELS)
        return VHEM_OK;
    VH_NEW(D, vh_cells(v->n, v->n));
    VH_NEW(near, (size_t)v->n * NEIGHBOURS);
    const vhem_distance_options kl = vh_embedding_options("kl", v->tau, 0.5, true);
    VH_TRY(vh_embedding_distances(ctx, v->models, &kl, D));
    vh_neighbours(v->n, D, NEIGHBOURS, near);
    return vh_modularity(ctx, &(vh_near){ v->n, NEIGHBOURS, near }, v->label, out);
}

/* Uses the given options, else those of the clustering. */
static void choose_options(const vhem_cluster_options *asked, const vhem_cluster_options *made, level *v)
{
    vhem_cluster_options o;
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &o);
    if (asked)
        o = *asked;
    v->tau = o.tau > 0 && o.tau != VHEM_AUTO ? o.tau : made->tau > 0 ? made->tau : VH_DEFAULT_TAU;
    VHEM_INIT(VHEM_DISTANCE_OPTIONS, &v->kernel);
    v->kernel.kind = "ppk";
    v->kernel.tau = v->tau;
    v->kernel.lambda = o.lambda > 0 ? o.lambda : made->lambda > 0 ? made->lambda : 0.5;
    const char *kernel = o.kernel ? o.kernel : made->kernel ? made->kernel : "normalised";
    v->kernel.normalised = strcmp(kernel, "raw") != 0;
}

vhem_status vhem_measure(vhem_ctx *ctx, const vhem_tree *tree, int l, const vhem_source *source,
                         const vhem_cluster_options *opt, vhem_measures *out)
{
    VH_ENTER(tree, out);
    vhem_cluster_options o;
    VH_TRY(vh_options_take(ctx, VHEM_CLUSTER_OPTIONS, opt, &o));
    opt = opt ? &o : NULL;
    const vh_clustering *c = vh_tree_level(tree, l), *first = vh_tree_level(tree, 0);
    vhem_measures m = { NAN, NAN, NAN, NAN };
    const vhem_models *given = source ? source->models : NULL;
    const vhem_data *data = source ? source->data : NULL;
    VH_AUTOFREE int64_t *members = NULL;
    level v = { 0 };

    if (given)
        VH_TRY(vhem_tree_check(ctx, tree, given));
    v.models = given ? given->h3m : NULL;
    VH_CHECK(c, VHEM_EINVAL, "level %d of a tree of %d", l + 1, tree->n);
    if (opt)
        VH_TRY(vh_options_check(ctx, VHEM_CLUSTER_OPTIONS, opt));
    v.centers = c->centers;
    v.made = vh_clustering_models(c);
    v.label = vh_tree_base_labels(tree, l);
    v.n = first->Kb;
    v.K = c->Kr;
    choose_options(opt, &c->options, &v);
    VH_NEW(members, v.K);
    v.members = members;
    for (int64_t i = 0; i < v.n; i++)
        v.members[v.label[i]]++;
    if (v.models && v.centers)
        VH_TRY(expected_loglik(ctx, &v, &m.expected_loglik));
    if (v.models) {
        vhem_status found = compactness(ctx, &v, &m.compactness);
        if (found == VHEM_OK)
            found = find_modularity(ctx, &v, &m.modularity);
        if (found != VHEM_ENUMERIC) /* else a model is singular: no kernel or divergence */
            VH_TRY(found);
    }
    if (data && (v.made.h3m || v.made.dtm))
        VH_TRY(data_loglik(ctx, &v, data, first->name, &m.loglik));
    *out = m;
    return VHEM_OK;
}
