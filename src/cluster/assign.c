/* assign.c - new models and sequences into the clusters of a tree.
 *
 * Models go to the centre of largest L_hmm, in whose posterior they count as nv virtual samples, as
 * the models that were clustered did on average; sequences go to the centre of largest
 * omega_j p(y | j).  Empty clusters take nobody. */
#include "cluster/tree.h"

#include "core/alloc.h"
#include "model/convert.h"
#include "reduce/estep.h"

#include <math.h>

/* Up the tree from cluster j of level 0: label [levels]. */
static vhem_status follow(vhem_ctx *ctx, const vhem_tree *tree, int j, int *label)
{
    vhem_status st = VHEM_OK;
    label[0] = j;
    for (int l = 1; l < tree->n; l++) {
        int row = vh_tree_row(tree, l, label[l - 1]);
        VH_CHECK(row >= 0, VHEM_EINVAL, "cluster %d of level %d is empty, level %d does not know it",
                 label[l - 1], l - 1, l);
        label[l] = tree->level[l]->label[row];
    }
done:
    return st;
}

/* What is known of thing i: score [n][Kr], and how many times it counts.
 * by_mass: omega takes part in the choice. */
static vhem_status decide(vhem_ctx *ctx, const vhem_tree *tree, int n, const double *table, double times,
                          bool by_mass, int *label, double *posterior, double *score)
{
    vhem_status st = VHEM_OK;
    const vhem_h3m *centers = tree->level[0]->centers;
    int Kr = centers->K;

    for (int i = 0; i < n; i++) {
        const double *x = table + (size_t)i * (size_t)Kr;
        double top = -INFINITY, sum = 0, best_value = -INFINITY;
        int best = -1;
        for (int j = 0; j < Kr; j++) {
            double log_omega = log(centers->omega[j]), value = by_mass ? log_omega + x[j] : x[j];
            if (!(centers->omega[j] > 0))
                continue;
            if (best < 0 || value > best_value) {
                best = j;
                best_value = value;
            }
            top = fmax(top, log_omega + times * x[j]);
        }
        VH_CHECK(best >= 0 && !isnan(best_value), VHEM_ENUMERIC, "model or sequence %d fits no cluster", i);
        for (int j = 0; posterior && j < Kr; j++) {
            double p = centers->omega[j] > 0 ? exp(log(centers->omega[j]) + times * x[j] - top) : 0;
            sum += posterior[(size_t)i * (size_t)Kr + (size_t)j] = isinf(top) ? j == best : p;
        }
        for (int j = 0; posterior && j < Kr; j++)
            posterior[(size_t)i * (size_t)Kr + (size_t)j] /= sum;
        if (score)
            score[i] = x[best];
        VH_TRY(follow(ctx, tree, best, label + (size_t)i * (size_t)tree->n));
    }
done:
    return st;
}

static vhem_status check_tree(vhem_ctx *ctx, const vhem_tree *tree)
{
    vhem_status st = VHEM_OK;
    VH_CHECK(tree->n >= 1, VHEM_EINVAL, "the tree has no levels");
    VH_CHECK(tree->level[0]->centers, VHEM_EINVAL, "method %s has no centres to assign to",
             tree->level[0]->method);
done:
    return st;
}

vhem_status vhem_assign_models(vhem_ctx *ctx, const vhem_tree *tree, const vhem_h3m *h3m, int *label,
                               double *posterior, double *score)
{
    vhem_status st = VHEM_OK;
    vhem_h3m *full = NULL;
    double *L = NULL;

    VH_TRY(check_tree(ctx, tree));
    const vhem_clustering *c = tree->level[0];
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
    VH_TRY(decide(ctx, tree, h3m->K, L, c->options.nv > 0 ? c->options.nv : 1, false, label, posterior,
                  score));
done:
    vhem_h3m_free(full);
    free(L);
    return st;
}

vhem_status vhem_assign_data(vhem_ctx *ctx, const vhem_tree *tree, const vhem_data *data, int *label,
                             double *posterior, double *score)
{
    vhem_status st = VHEM_OK;
    double *loglik = NULL;
    int n = vhem_data_size(data);

    VH_TRY(check_tree(ctx, tree));
    VH_NEW(loglik, (size_t)n * (size_t)tree->level[0]->Kr);
    VH_TRY(vhem_score(ctx, tree->level[0]->centers, data, loglik));
    VH_TRY(decide(ctx, tree, n, loglik, 1, true, label, posterior, score));
done:
    free(loglik);
    return st;
}
