/* SPDX-License-Identifier: BSD-3-Clause */
/* assign.c - new models and sequences into the clusters of a tree.
 *
 * Models go to the centre of largest L_hmm, in whose posterior they count as nv virtual samples, as
 * the models that were clustered did on average; sequences go to the centre of largest
 * omega_j p(y | j).  Empty clusters take nobody. */
#include "cluster/tree.h"

#include "cluster/clustering.h"
#include "core/alloc.h"
#include "estimate/score.h"
#include "math/linalg.h"
#include "model/convert.h"
#include "reduce/estep.h"
#include "reduce/hem_dtm.h"

#include <math.h>
#include <string.h>

/* Up the tree from cluster j of level 0: label [levels]. */
static vhem_status follow(vhem_ctx *ctx, const vhem_tree *tree, int j, int *label)
{
    vhem_status st = VHEM_OK;
    label[0] = j;
    for (int l = 1; l < tree->n; l++) {
        int row = vh_tree_row(tree, l, label[l - 1]);
        VH_CHECK(row >= 0, VHEM_EINVAL, "cluster %d of level %d is empty, level %d does not know it",
                 label[l - 1], l, l + 1);
        label[l] = tree->level[l]->label[row];
    }
done:
    return st;
}

/* Of the scores x [Kr] of one thing, which counts `times`, the best cluster; by_mass: omega takes part in the
 * choice.  posterior [Kr].  -1 when it fits none. */
static int choose(int Kr, const double *omega, const double *x, double times, bool by_mass, double *posterior)
{
    double top = -INFINITY, sum = 0, best_value = -INFINITY;
    int best = -1;

    for (int j = 0; j < Kr; j++) {
        double log_omega = log(omega[j]), value = by_mass ? log_omega + x[j] : x[j];
        if (!(omega[j] > 0))
            continue;
        if (best < 0 || value > best_value) {
            best = j;
            best_value = value;
        }
        top = fmax(top, log_omega + times * x[j]);
    }
    if (best < 0 || isnan(best_value))
        return -1;
    for (int j = 0; j < Kr; j++) {
        double p = omega[j] > 0 ? exp(log(omega[j]) + times * x[j] - top) : 0;
        sum += posterior[j] = isinf(top) ? j == best : p;
    }
    for (int j = 0; j < Kr; j++)
        posterior[j] /= sum;
    return best;
}

/* What is known of n things: table [n][Kr], which the posteriors then take the place of. */
static vhem_status decide(vhem_ctx *ctx, const vhem_tree *tree, int n, double *table, double times,
                          bool by_mass, int *label, double *posterior, double *score)
{
    vhem_status st = VHEM_OK;
    const double *omega = vh_clustering_omega(tree->level[0]);
    int Kr = tree->level[0]->Kr, *labels = NULL;
    double *scores = NULL, *p = NULL;

    VH_NEW(labels, (size_t)n * (size_t)tree->n);
    VH_NEW(scores, n);
    VH_NEW(p, Kr);
    for (int i = 0; i < n; i++) {
        double *x = table + (size_t)i * (size_t)Kr;
        int best = choose(Kr, omega, x, times, by_mass, p);
        VH_CHECK(best >= 0, VHEM_ENUMERIC, "model or sequence %d fits no cluster", i);
        scores[i] = x[best];
        memcpy(x, p, sizeof *x * (size_t)Kr);
        VH_TRY(follow(ctx, tree, best, labels + (size_t)i * (size_t)tree->n));
    }
    memcpy(label, labels, sizeof *label * (size_t)n * (size_t)tree->n);
    if (posterior)
        memcpy(posterior, table, sizeof *table * (size_t)n * (size_t)Kr);
    if (score)
        memcpy(score, scores, sizeof *score * (size_t)n);
done:
    free(labels);
    free(scores);
    free(p);
    return st;
}

static vhem_status check_tree(vhem_ctx *ctx, const vhem_tree *tree)
{
    vhem_status st = VHEM_OK;
    VH_CHECK(tree->n >= 1, VHEM_EINVAL, "the tree has no levels");
    VH_CHECK(vh_clustering_omega(tree->level[0]), VHEM_EINVAL, "method %s has no centres to assign to",
             tree->level[0]->method);
done:
    return st;
}

vhem_status vh_assign_models(vhem_ctx *ctx, const vhem_tree *tree, const vh_h3m *h3m, int *label,
                             double *posterior, double *score)
{
    vhem_status st = VHEM_OK;
    vh_h3m *full = NULL;
    double *L = NULL;

    VH_TRY(check_tree(ctx, tree));
    const vh_clustering *c = tree->level[0];
    VH_CHECK(c->centers, VHEM_EINVAL, "the centres are dynamic textures, HMMs cannot be assigned to them");
    VH_CHECK(h3m->d == c->centers->d, VHEM_EINVAL, "the models have dimension %d, the centres %d", h3m->d,
             c->centers->d);
    if (h3m->family != c->centers->family && c->centers->family == &vh_gaussian_full) {
        VH_TRY(vh_h3m_as_full(ctx, h3m, &full));
        h3m = full;
    }
    VH_CHECK(h3m->family == c->centers->family, VHEM_EINVAL, "the models have %s emissions, the centres %s",
             h3m->family->name, c->centers->family->name);
    VH_NEW(L, (size_t)h3m->K * (size_t)c->Kr);
    VH_TRY(vh_reduce_score(ctx, h3m, c->centers, c->options.tau > 0 ? c->options.tau : 10, L));
    VH_TRY(
        decide(ctx, tree, h3m->K, L, c->options.nv > 0 ? c->options.nv : 1, false, label, posterior, score));
done:
    vh_h3m_free(full);
    free(L);
    return st;
}

vhem_status vh_assign_dtm(vhem_ctx *ctx, const vhem_tree *tree, const vh_dtm *dtm, int *label,
                          double *posterior, double *score)
{
    vhem_status st = VHEM_OK;
    vh_scratch *scratch = NULL;
    double *L = NULL;

    vh_blas_enter();
    VH_TRY(check_tree(ctx, tree));
    const vh_clustering *c = tree->level[0];
    VH_CHECK(c->textures, VHEM_EINVAL, "the centres are HMMs, dynamic textures cannot be assigned to them");
    VH_CHECK(dtm->d == c->textures->d, VHEM_EINVAL, "the textures have dimension %d, the centres %d", dtm->d,
             c->textures->d);
    VH_NEW(L, (size_t)dtm->K * (size_t)c->Kr);
    VH_NEW(scratch, ctx->threads);
    VH_TRY(vh_hem_dtm_score(ctx, dtm, c->textures, c->options.tau > 0 ? c->options.tau : 10, scratch,
                            ctx->threads, L));
    VH_TRY(
        decide(ctx, tree, dtm->K, L, c->options.nv > 0 ? c->options.nv : 1, false, label, posterior, score));
done:
    for (int t = 0; scratch && t < ctx->threads; t++)
        vh_scratch_free(&scratch[t]);
    free(scratch);
    free(L);
    vh_blas_leave();
    return st;
}

vhem_status vh_assign_data(vhem_ctx *ctx, const vhem_tree *tree, const vhem_data *data, int *label,
                           double *posterior, double *score)
{
    vhem_status st = VHEM_OK;
    double *loglik = NULL;
    int n = vh_data_size(data);

    VH_TRY(check_tree(ctx, tree));
    VH_NEW(loglik, (size_t)n * (size_t)tree->level[0]->Kr);
    VH_TRY(tree->level[0]->centers ? vh_score(ctx, tree->level[0]->centers, data, "score", loglik)
                                   : vh_dtm_score(ctx, tree->level[0]->textures, data, loglik));
    VH_TRY(decide(ctx, tree, n, loglik, 1, true, label, posterior, score));
done:
    free(loglik);
    return st;
}
