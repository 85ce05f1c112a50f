/* SPDX-License-Identifier: BSD-3-Clause */
/* assign.c - assigns new models and sequences to the clusters of a tree.
 *
 * Each item goes to the cluster of largest posterior.  Models count as in a clustering: nv virtual samples on
 * average, in proportion to their weights, so that models clustered by VHEM get their own cluster again: z_j
 * ~ omega_j exp(N_i L_hmm).  If clusters come from distances or samples, or depend on more than their
 * centres, as in vbhem, a model between two clusters may get the other one.  Sequences use omega_j p(y | j). 
 * Empty clusters get no items. */
#include "cluster/tree.h"

#include "vhem/estep.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "dtm/infer.h"
#include "fit/sets.h"
#include "fit/infer.h"
#include "math/blas.h"
#include "math/logsum.h"
#include "hmm/convert.h"
#include "vhem/bounds.h"
#include "dtm/hem_dtm.h"
#include "vhem.h"

#include <math.h>
#include <string.h>

/* Follows the tree up from cluster j of level 0: label [levels]. */
static vhem_status follow(vhem_ctx *ctx, const vhem_tree *tree, int j, int *label)
{
    label[0] = j;
    for (int l = 1; l < tree->n; l++) {
        label[l] = tree->parent[l - 1][label[l - 1]];
        VH_CHECK(label[l] >= 0, VHEM_EINVAL, "cluster %d of level %d is empty, level %d does not know it",
                 label[l - 1], l, l + 1);
    }
    return VHEM_OK;
}

/* Finds the cluster of largest posterior p [Kr] for an item with scores x [Kr] that counts `times`; ties go
 * to the first, as in a clustering.  Returns -1 if no cluster fits. */
static int choose(int Kr, const double *log_omega, const double *x, double times, double *p)
{
    int best = -1;
    double J = vh_reduce_assign(Kr, log_omega, times, x, p);

    if (isfinite(J)) {
        for (int j = 0; j < Kr; j++)
            p[j] = exp(p[j]);
        return vh_argmax(Kr, p, 1);
    }
    for (int j = 0; j < Kr; j++) /* all scores underflow: take the largest */
        best = !isinf(log_omega[j]) && (best < 0 || x[j] > x[best]) ? j : best;
    for (int j = 0; j < Kr; j++)
        p[j] = j == best;
    return best < 0 || isnan(J) ? -1 : best;
}

typedef struct {               /* outputs */
    int *label;                /* [n][levels] */
    double *posterior, *score; /* [n][Kr]  [n]; may be NULL */
} answer;

/* Assigns n items with scores table [n][Kr], overwritten by posteriors.  weight [n]: items count `times` on
 * average, in proportion to it; NULL: once each. */
static vhem_status decide(vhem_ctx *ctx, const vhem_tree *tree, int64_t n, double *table, double times,
                          const double *weight, const answer *out)
{
    const double *omega = vh_clustering_omega(tree->level[0]);
    int Kr = tree->level[0]->Kr;
    VH_AUTOFREE int *labels = NULL;
    VH_AUTOFREE double *scores = NULL, *p = NULL, *log_omega = NULL;

    VH_NEW(labels, vh_cells(n, tree->n));
    VH_NEW(scores, n);
    VH_NEW(p, Kr);
    VH_NEW(log_omega, Kr);
    for (int j = 0; j < Kr; j++)
        log_omega[j] = log(omega[j]);
    for (int64_t i = 0; i < n; i++) {
        double *x = table + vh_row(i, Kr);
        int best = choose(Kr, log_omega, x, weight ? times * (double)n * weight[i] : 1, p);
        VH_CHECK(best >= 0, VHEM_ENUMERIC, "model or sequence %lld fits no cluster", (long long)i);
        scores[i] = x[best];
        memcpy(x, p, sizeof *x * (size_t)Kr);
        VH_TRY(follow(ctx, tree, best, labels + vh_row(i, tree->n)));
    }
    memcpy(out->label, labels, sizeof *labels * vh_cells(n, tree->n));
    if (out->posterior)
        memcpy(out->posterior, table, sizeof *table * vh_cells(n, Kr));
    if (out->score)
        memcpy(out->score, scores, sizeof *scores * (size_t)n);
    return VHEM_OK;
}

static vhem_status check_tree(vhem_ctx *ctx, const vhem_tree *tree)
{
    VH_CHECK(tree->n >= 1, VHEM_EINVAL, "the tree has no levels");
    VH_CHECK(vh_clustering_omega(tree->level[0]), VHEM_EINVAL, "method %s has no centres to assign to",
             tree->level[0]->method);
    return VHEM_OK;
}

static int tau_of(const vh_clustering *c)
{
    return c->options.tau > 0 ? c->options.tau : VH_DEFAULT_TAU;
}

static double times_of(const vh_clustering *c)
{
    return c->options.nv > 0 ? c->options.nv : 1;
}

static vhem_status assign_hmms(vhem_ctx *ctx, const vhem_tree *tree, const vh_h3m *h3m, const answer *out)
{
    const vh_clustering *c = tree->level[0];
    VH_OWN(vh_h3m) *full = NULL;
    VH_AUTOFREE double *L = NULL;

    VH_CHECK(c->centers, VHEM_EINVAL, "the centres are dynamic textures, HMMs cannot be assigned to them");
    VH_TRY(vh_h3m_like(ctx, h3m, c->centers, &full, &h3m));
    VH_NEW(L, vh_cells(h3m->K, c->Kr));
    VH_TRY(vh_reduce_score(ctx, h3m, c->centers, tau_of(c), L));
    return decide(ctx, tree, h3m->K, L, times_of(c), h3m->omega, out);
}

static vhem_status assign_textures(vhem_ctx *ctx, const vhem_tree *tree, const vh_dtm *dtm, const answer *out)
{
    VH_BLAS_SERIAL;
    const vh_clustering *c = tree->level[0];
    VH_AUTOFREE double *L = NULL;
    VH_CLEANUP(vh_workers_free) vh_workers workers = { 0 };

    VH_CHECK(c->textures, VHEM_EINVAL, "the centres are HMMs, dynamic textures cannot be assigned to them");
    VH_CHECK(dtm->d == c->textures->d, VHEM_EINVAL, "the textures have dimension %d, but the centres have %d",
             dtm->d, c->textures->d);
    VH_NEW(L, vh_cells(dtm->K, c->Kr));
    VH_TRY(vh_workers_new(ctx, ctx->threads, &workers));
    VH_TRY(vh_hem_dtm_score(ctx, dtm, c->textures, tau_of(c), &workers, L));
    return decide(ctx, tree, dtm->K, L, times_of(c), dtm->omega, out);
}

static vhem_status assign_data(vhem_ctx *ctx, const vhem_tree *tree, const vhem_data *data, bool by_group,
                               const answer *out)
{
    vh_clustering *c = tree->level[0];
    VH_AUTOFREE double *loglik = NULL, *total = NULL;
    VH_CLEANUP(vh_sets_free) vh_sets items = { 0 };

    VH_NEW(loglik, vh_cells(data->N, c->Kr));
    VH_TRY(c->centers ? vh_score(ctx, c->centers, data, "score", loglik)
                      : vh_dtm_score(ctx, c->textures, data, loglik));
    if (by_group) {
        VH_TRY(vh_sets_new(ctx, data, true, &items));
        VH_NEW(total, vh_cells(items.n, c->Kr));
        vh_sets_sum(&items, c->Kr, loglik, total);
    }
    return decide(ctx, tree, total ? items.n : data->N, total ? total : loglik, 1, NULL, out);
}

vhem_status vhem_assign(vhem_ctx *ctx, const vhem_tree *tree, const vhem_source *source, int *label,
                        double *posterior, double *score)
{
    VH_ENTER(tree, source, label);
    const answer out = { label, posterior, score };

    VH_CHECK(!source->models != !source->data, VHEM_EINVAL,
             "a source has models or sequences, this one has %s", source->models ? "both" : "neither");
    VH_TRY(check_tree(ctx, tree));
    VH_TRY(vh_models_gather(ctx, source->models));
    if (source->data)
        VH_TRY(assign_data(ctx, tree, source->data, source->by_group > 0, &out));
    else if (source->models->h3m)
        VH_TRY(assign_hmms(ctx, tree, source->models->h3m, &out));
    else
        VH_TRY(assign_textures(ctx, tree, source->models->dtm, &out));
    return VHEM_OK;
}
