/* SPDX-License-Identifier: BSD-3-Clause */
/* predict.c - Bayes' rule over class-conditional H3Ms, paper Section 6.
 *
 *   log p(y | class) = log sum_j omega_j p(y | HMM j)
 *   log p(class | y) = log p(y | class) + log prior - log sum over the classes
 *
 * A song has many fragments, and their product would give one tag all the probability, so the mean of log p(y
 * | class) over the fragments is used instead.
 *
 * Fast search: the K HMMs of all classes are clustered into about sqrt(K) branches.  An item is scored under
 * the branch centres, then only under the HMMs of the best branches. */
#include "classify/predict.h"

#include "methods/methods.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "core/object.h"
#include "models/infer.h"
#include "fit/infer.h"
#include "math/logsum.h"
#include "hmm/shared_columns.h"
#include "hmm/missing_columns.h"
#include "vhem/classes.h"
#include "vhem.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 2048 }; /* sequences in memory at a time */

typedef struct {
    vhem_models *all;     /* the models of all classes */
    int *owner;           /* [K] */
    int fast, G;          /* branches to follow and in total; fast = 0: no tree */
    vhem_models *centers; /* [G] */
    int *branch;          /* [K]  of each model */
    double n_scored, n_all;
    /* the block of items that is scored */
    const vhem_data *data; /* its sequences, grouped by item */
    int64_t n;             /* number of items */
    const int64_t *first;  /* [n+1] */
    double *table;         /* [N][K]  log p(y | HMM), -inf if not scored */
} class_search;

/* ---- the tree ------------------------------------------------------------------------------------------ */

static vhem_status plant(vhem_ctx *ctx, const vhem_classes *k, class_search *s)
{
    VH_OWN(vh_clustering) *found = NULL;
    vhem_cluster_options o;
    int64_t K = vh_models_size(s->all);
    int G = (int)ceil(sqrt(K));
    double *omega = vh_models_omega(s->all);

    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &o);
    o.restarts = 4;
    if (s->fast <= 0 || G <= s->fast || K <= 2 * G) { /* no gain */
        s->fast = 0;
        return VHEM_OK;
    }
    for (int64_t i = 0; i < K; i++)
        omega[i] = 1.0 / K; /* uniform: omega is relative to each class */
    vh_input in = vh_input_of(s->all, G);
    in.centers_only = true;
    VH_TRY(vh_cluster(ctx, &in, &o, k->seed, &found));
    VH_TRY(vh_models_subset(ctx, vh_clustering_centers(found), NULL, found->Kr, &s->centers));
    s->G = found->Kr;
    s->branch = found->label;
    found->label = NULL;
    return VHEM_OK;
}

static void search_free(class_search *s)
{
    vh_object_free(s->all);
    vh_object_free(s->centers);
    free(s->owner);
    free(s->branch);
}

/* The HMMs of all classes compete for the same sequences, so they are compared over the columns they all
 * have, and so are the branch centres. */
static vhem_status take_common(vhem_ctx *ctx, class_search *s)
{
    vhem_models *const set[] = { s->all, s->centers };
    VH_AUTOFREE int64_t *lacking = NULL;
    VH_AUTOFREE bool *away = NULL;

    if (!s->all->h3m || !vh_h3m_lacks_columns(s->all->h3m))
        return VHEM_OK;
    VH_NEW(lacking, s->all->h3m->d);
    VH_NEW(away, s->all->h3m->d);
    VH_TRY(vh_h3m_require_shared(ctx, s->all->h3m, lacking));
    for (int k = 0; k < s->all->h3m->d; k++)
        away[k] = lacking[k] > 0;
    for (int k = 0; k < 2; k++) {
        const vh_h3m *seen;
        vh_h3m *copy = NULL;
        if (!set[k])
            continue;
        VH_TRY(vh_h3m_without(ctx, set[k]->h3m, away, &copy, &seen));
        vh_h3m_free(set[k]->h3m);
        set[k]->h3m = copy;
    }
    return VHEM_OK;
}

/* Restores omega within classes, which `plant` has overwritten. */
static void give_weights(const vhem_classes *k, class_search *s)
{
    double *omega = vh_models_omega(s->all);
    int64_t i = 0;
    for (int c = 0; c < k->C; c++)
        for (int64_t j = 0; j < vh_models_size(k->cls[c].model); j++)
            omega[i++] = vh_models_omega(k->cls[c].model)[j];
}

/* ---- one block of items -------------------------------------------------------------------------------- */

/* Sets follow [n][G]: the branches that fit an item best. */
static vhem_status choose_branches(vhem_ctx *ctx, const class_search *s, bool *follow)
{
    VH_AUTOFREE double *score = NULL, *mean = NULL;

    VH_NEW(score, vh_cells(s->data->N, s->G));
    VH_NEW(mean, s->G);
    VH_TRY(vh_models_score(ctx, s->centers, s->data, score));
    for (int64_t i = 0; i < s->n; i++) {
        memset(mean, 0, (size_t)s->G * sizeof *mean);
        for (int64_t q = s->first[i]; q < s->first[i + 1]; q++)
            for (int g = 0; g < s->G; g++)
                mean[g] += score[vh_ij(q, s->G, g)];
        for (int r = 0; r < s->fast; r++) {
            int g = vh_argmax(s->G, mean, 1);
            follow[vh_ij(i, s->G, g)] = true;
            mean[g] = -INFINITY;
        }
    }
    return VHEM_OK;
}

/* Scores all items that follow branch g under its HMMs. */
static vhem_status score_branch(vhem_ctx *ctx, class_search *s, const bool *follow, int g)
{
    VH_AUTOFREE int64_t *seq = NULL, *model = NULL;
    int64_t K = vh_models_size(s->all), N = 0, n = 0;
    VH_OWN(vhem_data) *data = NULL;
    VH_OWN(vhem_models) *models = NULL;
    VH_AUTOFREE double *score = NULL;

    VH_NEW(seq, s->data->N);
    VH_NEW(model, K);
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t q = s->first[i]; follow[vh_ij(i, s->G, g)] && q < s->first[i + 1]; q++)
            seq[N++] = q;
    for (int64_t j = 0; j < K; j++)
        if (s->branch[j] == g)
            model[n++] = j;
    if (N == 0 || n == 0)
        return VHEM_OK;
    VH_NEW(score, vh_cells(N, n));
    VH_TRY(vh_data_subset(ctx, s->data, seq, N, &data));
    VH_TRY(vh_models_subset(ctx, s->all, model, n, &models));
    VH_TRY(vh_models_score(ctx, models, data, score));
    for (int64_t q = 0; q < N; q++)
        for (int64_t j = 0; j < n; j++)
            s->table[vh_ij(seq[q], K, model[j])] = score[vh_ij(q, n, j)];
    s->n_scored += (double)N * (double)n;
    return VHEM_OK;
}

static vhem_status fill_table(vhem_ctx *ctx, class_search *s)
{
    size_t size = vh_cells(s->data->N, vh_models_size(s->all));
    VH_AUTOFREE bool *follow = NULL;

    s->n_all += (double)size;
    if (s->fast == 0) {
        s->n_scored += (double)size;
        return vh_models_score(ctx, s->all, s->data, s->table);
    }
    VH_NEW(follow, vh_cells(s->n, s->G));
    for (size_t e = 0; e < size; e++)
        s->table[e] = -INFINITY;
    VH_TRY(choose_branches(ctx, s, follow));
    s->n_scored += (double)s->data->N * s->G;
    for (int g = 0; g < s->G; g++)
        VH_TRY(score_branch(ctx, s, follow, g));
    return VHEM_OK;
}

/* Computes loglik [n][C] of the block; work [K]. */
static void sum_up(const class_search *s, int C, double *work, double *loglik)
{
    const double *omega = vh_models_omega(s->all);
    int64_t K = vh_models_size(s->all);
    for (int64_t i = 0; i < s->n; i++) {
        double *mean = loglik + vh_row(i, C);
        int64_t N = s->first[i + 1] - s->first[i];
        memset(mean, 0, (size_t)C * sizeof *mean);
        for (int64_t q = s->first[i]; q < s->first[i + 1]; q++) {
            for (int64_t j = 0; j < K; j++)
                work[j] = log(omega[j]) + s->table[vh_ij(q, K, j)];
            for (int64_t j = 0, n; j < K; j += n) { /* HMMs of a class are consecutive */
                for (n = 1; j + n < K && s->owner[j + n] == s->owner[j];)
                    n++;
                mean[s->owner[j]] += vh_logsum(n, work + j, 1) / N;
            }
        }
    }
}

static void drop_block(vhem_data **own)
{
    if (*own)
        vh_data_release(*own, NULL, (*own)->N);
    vh_object_free(*own);
}

static vhem_status predict_block(vhem_ctx *ctx, class_search *s, const vh_question *q, const int64_t *item,
                                 int64_t n, int C, double *loglik)
{
    const vh_sets *t = q->items;
    VH_AUTOFREE int64_t *first = NULL;
    VH_AUTOFREE double *table = NULL, *work = NULL;
    VH_CLEANUP(drop_block) vhem_data *own = NULL;

    VH_NEW(first, n + 1);
    for (int64_t i = 0; i < n; i++)
        first[i + 1] = first[i] + t->first[item[i] + 1] - t->first[item[i]];
    VH_TRY(vh_sets_data(ctx, q->data, t, item, n, &own));
    VH_NEW(table, vh_cells(own->N, vh_models_size(s->all)));
    VH_NEW(work, vh_models_size(s->all));
    s->data = own;
    s->n = n;
    s->first = first;
    s->table = table;
    VH_TRY(fill_table(ctx, s));
    sum_up(s, C, work, loglik);
    return VHEM_OK;
}

/* ---- all items ----------------------------------------------------------------------------------------- */

vhem_status vh_predict(vhem_ctx *ctx, const vhem_classes *k, const vh_question *q, double *loglik,
                       double *scored)
{
    vhem_status st = VHEM_OK;
    VH_CLEANUP(search_free) class_search s = { .fast = q->fast };
    VH_AUTOFREE int64_t *item = NULL;
    int64_t n = q->n;
    vhem_ctx quiet;

    VH_CHECK(k->C > 0, VHEM_EINVAL, "there are no classes");
    const vh_h3m *first = k->cls[0].model->h3m; /* models with named columns select them */
    VH_CHECK((first && first->shape.layout) || vh_models_dim(k->cls[0].model) == q->data->d, VHEM_EINVAL,
             "the models have dimension %d, but the data has %d", vh_models_dim(k->cls[0].model), q->data->d);
    vh_ctx_child(ctx, ctx->threads, &quiet);
    VH_NEW(item, n);
    for (int64_t i = 0; i < n; i++)
        item[i] = q->which ? q->which[i] : i;
    VH_TRY(vh_classes_pool(ctx, k, &s.all, &s.owner));
    st = plant(&quiet, k, &s);
    give_weights(k, &s);
    if (st == VHEM_OK)
        st = take_common(&quiet, &s);
    for (int64_t i = 0, m; st == VHEM_OK && i < n; i += m) {
        int64_t N = 0;
        for (m = 0; i + m < n && (m == 0 || N < BLOCK); m++)
            N += q->items->first[item[i + m] + 1] - q->items->first[item[i + m]];
        vh_progress(ctx, "predict", i, n);
        st = predict_block(&quiet, &s, q, item + i, m, k->C, loglik + vh_row(i, k->C));
    }
    if (st != VHEM_OK)
        vh_fail(ctx, st, "%s", quiet.error);
    vh_progress(ctx, "predict", n, n);
    *scored = s.n_all > 0 ? fmin(1, s.n_scored / s.n_all) : 1;
    return st;
}

/* Computes the best class as -log(1 + rest) without rounding to 1: most posteriors round to 1, and keeping
 * log(1 - p) preserves their ranking. */
void vh_bayes(int C, const double *loglik, const double *prior, double *log_posterior)
{
    double *x = log_posterior, rest = 0;
    for (int c = 0; c < C; c++)
        x[c] = prior[c] > 0 ? loglik[c] + log(prior[c]) : -INFINITY;
    int best = vh_argmax(C, x, 1);
    double top = x[best];
    for (int c = 0; c < C; c++)
        rest += c == best ? 0 : exp(x[c] - top);
    for (int c = 0; c < C; c++) /* impossible under all classes: use the prior */
        x[c] = isfinite(top) ? x[c] - top - log1p(rest) : log(prior[c]);
}

static void clear_prediction(void *record)
{
    vhem_prediction *p = record;
    for (int64_t i = 0; p->name && p->label && i < p->n; i++) {
        free(p->name[i]);
        free(p->label[i]);
    }
    for (int c = 0; p->class_name && c < p->C; c++)
        free(p->class_name[c]);
    free(p->name);
    free(p->label);
    free(p->class_name);
    free(p->sequences);
    free(p->fold);
    free(p->loglik);
    free(p->log_posterior);
}

vhem_status vh_prediction_new(vhem_ctx *ctx, const vh_sets *t, int C, vhem_prediction **out)
{
    VH_OWN(vhem_prediction) *p = NULL;
    size_t size = vh_cells(t->n, C);

    VH_NEW_OBJECT(p, clear_prediction);
    VH_NEW(p->name, t->n);
    VH_NEW(p->label, t->n);
    VH_NEW(p->class_name, C);
    VH_NEW(p->sequences, t->n);
    VH_NEW(p->loglik, size);
    VH_NEW(p->log_posterior, size);
    p->n = t->n;
    p->C = C;
    p->scored = 1;
    for (size_t e = 0; e < size; e++)
        p->loglik[e] = p->log_posterior[e] = -INFINITY;
    for (int64_t i = 0; i < t->n; i++) {
        p->sequences[i] = t->first[i + 1] - t->first[i];
        VH_DUP(p->name[i], t->name[i]);
        VH_DUP(p->label[i], t->label[i] ? t->label[i] : "");
    }
    *out = vh_take(p);
    return VHEM_OK;
}

vhem_status vhem_classes_predict(vhem_ctx *ctx, const vhem_classes *k, const vhem_data *data, int fast,
                                 vhem_prediction **out)
{
    VH_ENTER(k, data, out);
    VH_CLEANUP(vh_sets_free) vh_sets items = { 0 };
    VH_OWN(vhem_prediction) *p = NULL;
    VH_AUTOFREE double *prior = NULL;

    VH_TRY(vh_sets_new(ctx, data, k->opt.all.by_group, &items));
    VH_TRY(vh_prediction_new(ctx, &items, k->C, &p));
    VH_NEW(prior, k->C);
    for (int c = 0; c < k->C; c++) {
        VH_DUP(p->class_name[c], k->cls[c].name);
        prior[c] = k->cls[c].prior;
    }
    const vh_question q = { data, &items, NULL, items.n, fast };
    VH_TRY(vh_predict(ctx, k, &q, p->loglik, &p->scored));
    for (int64_t i = 0; i < p->n; i++)
        vh_bayes(p->C, p->loglik + vh_row(i, p->C), prior, p->log_posterior + vh_row(i, p->C));
    *out = vh_take(p);
    return VHEM_OK;
}
