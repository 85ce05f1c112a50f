/* SPDX-License-Identifier: BSD-3-Clause */
/* persons.c - how well each centre fits the sequences of each person, the input of statistics.
 *
 * 1. Scores: log-likelihoods per frame under the centres and under the person's own model.
 * 2. Leave-one-out: the same under centres that have not seen the person.
 * 3. Derived quantities: cluster, scale, uncertainty. */
#include "methods/options.h"
#include "cluster/tree.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "parallel/map.h"
#include "core/names.h"
#include "core/options.h"
#include "core/object.h"
#include "fit/frames.h"
#include "models/infer.h"
#include "fit/sets.h"
#include "fit/lengths.h"
#include "fit/infer.h"
#include "hmm/shared_columns.h"
#include "vhem/without.h"
#include "vhem/analysis.h"
#include "vhem.h"
#include "hmm/convert.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAME VH_OPT("persons=same")
#define NEW  VH_OPT("persons=new")

static const char redone[] = "vhem"; /* the only method of models that supports leave-one-out */

typedef struct {
    vhem_ctx *ctx;
    const vhem_stats_input *in;
    const vh_clustering *c;
    const int *label; /* [Kb of level 0]  cluster of each clustered item */
    int64_t Kb;
    vh_sets items;
    vh_names known;     /* names of the clustered items */
    int64_t *clustered; /* [n]  index among them, -1: not clustered */
    double *total;      /* [n][K]  log-likelihood of all sequences of a person */
    vhem_models own;    /* models of the persons, restricted to shared columns; no h3m, no dtm: none */
    vh_h3m *copy;       /* owns them, or NULL */
    vhem_statistics *s;
} person_scores;

static void free_work(person_scores *w)
{
    vh_object_free(w->s);
    vh_sets_free(&w->items);
    vh_names_free(&w->known);
    vh_h3m_free(w->copy);
    free(w->clustered);
    free(w->total);
}

static void clear_statistics(void *record)
{
    vhem_statistics *s = record;
    for (int64_t i = 0; i < s->n; i++) {
        free(s->name ? s->name[i] : NULL);
        free(s->label ? s->label[i] : NULL);
    }
    for (int g = 0; s->group && g < s->n_group; g++)
        free(s->group[g]);
    void *const all[] = {
        s->name,   s->label, s->sequences,   s->frames,  s->cluster, s->clustered, s->share,
        s->loglik, s->scale, s->uncertainty, s->entropy, s->group,   s->group_of,  s->test
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
}

static vhem_status make_room(person_scores *w)
{
    vhem_ctx *ctx = w->ctx;
    vhem_statistics *s = w->s;
    int64_t n = w->items.n, several = 0, first = 0; /* persons with several labels: number, first */
    int K = w->c->Kr;
    vhem_seq_view seq;

    s->K = K;
    VH_NEW(s->name, n);
    VH_NEW(s->label, n);
    s->n = n;
    VH_NEW(s->sequences, n);
    VH_NEW(s->frames, n);
    VH_NEW(s->cluster, n);
    VH_NEW(s->clustered, n);
    VH_NEW(s->share, n);
    VH_NEW(s->loglik, vh_cells(n, K));
    VH_NEW(s->scale, vh_cells(n, K));
    VH_NEW(s->uncertainty, n);
    VH_NEW(s->entropy, n);
    VH_NEW(s->group_of, n);
    VH_NEW(w->total, vh_cells(n, K));
    VH_NEW(w->clustered, n);
    for (int64_t i = 0; i < n; i++) {
        VH_DUP(s->name[i], w->items.name[i]);
        VH_DUP(s->label[i], w->items.label[i] ? w->items.label[i] : "");
        first = several == 0 ? i : first;
        several += w->items.label[i] == NULL;
        s->entropy[i] = NAN;
        s->sequences[i] = w->items.first[i + 1] - w->items.first[i];
        for (int64_t k = w->items.first[i]; k < w->items.first[i + 1]; k++) {
            VH_TRY(vhem_data_view(w->in->data, w->items.seq[k], &seq));
            s->frames[i] += seq.T;
        }
    }
    if (several > 0)
        vh_log(ctx, VHEM_LOG_WARN,
               "%lld of %lld persons, '%s' the first, have sequences of several labels, and count as persons "
               "without one",
               (long long)several, (long long)n, s->name[first]);
    return VHEM_OK;
}

/* ---- 1. scores ---- */

/* For person i: means over sequences of log p / T into each [K], sums of log p into total [K] (or NULL), from
 * table [sequences][K] of its sequences. */
static vhem_status sum_up(const person_scores *w, int64_t i, const double *table, int K, double *each,
                          double *total)
{
    int64_t from = w->items.first[i], n = w->items.first[i + 1] - from;
    vhem_seq_view seq;
    for (int j = 0; j < K; j++) {
        double mean = 0, sum = 0;
        for (int64_t k = 0; k < n; k++) {
            if (vhem_data_view(w->in->data, w->items.seq[from + k], &seq) != VHEM_OK)
                return VHEM_EINVAL;
            double x = table[vh_ij(k, K, j)];
            mean += x / (double)seq.T / n;
            sum += x;
        }
        each[j] = mean;
        if (total)
            total[j] = sum;
    }
    return VHEM_OK;
}

/* Scores the sequences of person i under K models; the caller frees table [sequences][K]. */
static vhem_status score_person(const person_scores *w, int64_t i, const vhem_models *models, double **table)
{
    vhem_ctx *ctx = w->ctx;
    VH_OWN(vhem_data) *own = NULL;
    VH_AUTOFREE double *t = NULL;

    VH_TRY(vh_sets_data(ctx, w->in->data, &w->items, &i, 1, &own));
    VH_NEW(t, vh_cells(vh_data_size(own), vh_models_size(models)));
    VH_TRY(vh_models_score(ctx, models, own, t));
    *table = vh_take(t);
    return VHEM_OK;
}

static vhem_status score_under(person_scores *w, int64_t i, const vhem_models *centers)
{
    VH_AUTOFREE double *table = NULL;
    size_t at = vh_row(i, w->s->K);

    VH_TRY(score_person(w, i, centers, &table));
    return sum_up(w, i, table, w->s->K, w->s->loglik + at, w->total + at);
}

/* Restricts the models to the columns they all share, so that entropies of persons are comparable. */
static vhem_status take_common(person_scores *w)
{
    vhem_ctx *ctx = w->ctx;
    vhem_status st = VHEM_OK;
    const vhem_models *m = w->in->models;
    const vh_h3m *seen = NULL;

    if (m && m->dtm)
        w->own = *m;
    if (!m || !m->h3m)
        return st;
    st = vh_h3m_shared_columns(ctx, m->h3m, &w->copy, &seen);
    VH_CHECK(
        st != VHEM_EINVAL, st,
        "no column is in the models of all persons, so their entropies cannot be compared; leave out " VH_OPT(
            "models") " to skip entropies");
    VH_TRY(st);
    w->own = vh_models_of_hmms(seen);
    return VHEM_OK;
}

/* Entropy of a person: minus the mean log-likelihood per frame under the own model. */
static vhem_status find_entropy(person_scores *w, int64_t i)
{
    vhem_ctx *ctx = w->ctx;
    VH_OWN(vhem_models) *own = NULL;
    VH_AUTOFREE double *table = NULL;
    double mean;

    if ((!w->own.h3m && !w->own.dtm) || w->clustered[i] < 0)
        return VHEM_OK;
    VH_TRY(vh_models_subset(ctx, &w->own, &w->clustered[i], 1, &own));
    VH_TRY(score_person(w, i, own, &table));
    VH_TRY(sum_up(w, i, table, 1, &mean, NULL));
    w->s->entropy[i] = -mean;
    return VHEM_OK;
}

/* ---- 2. leave-one-out ---- */

/* Clusters all models except number `without`, starting from the centres of all, so that clusters keep their
 * numbers. */
static vhem_status centers_without(person_scores *w, int64_t without, vhem_tree **out)
{
    vhem_ctx *ctx = w->ctx;
    VH_OWN(vhem_models) *rest = NULL;
    vhem_models start = vh_models_of_hmms(w->c->centers);
    VH_AUTOFREE int64_t *index = NULL;
    int64_t n = 0;
    const vhem_cluster_options *made = &w->c->options;
    vhem_cluster_options opt;
    int64_t K = w->c->Kr;

    VH_NEW(index, w->Kb);
    for (int64_t i = 0; i < w->Kb; i++)
        if (i != without)
            index[n++] = i;
    VH_TRY(vh_models_subset(ctx, w->in->models, index, n, &rest));
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &opt);
    opt.method = redone;
    opt.preset = made->preset;
    opt.tau = made->tau;
    opt.nv = made->nv;
    opt.tol = made->tol;
    opt.max_iter = made->max_iter;
    opt.cov_floor = made->cov_floor;
    opt.cov_add = made->cov_add;
    opt.weighted_omega = made->weighted_omega;
    opt.refine = made->refine;
    opt.start = &start;
    opt.repair = 0; /* an empty cluster must not turn into another */
    return vhem_cluster(ctx, &(vhem_source){ .models = rest }, 1, &K, &opt, out);
}

/* True if each centre was fitted to the sequences of its group: then it can be again. */
static bool is_of_sequences(const vh_clustering *c)
{
    const vh_method *method = vh_method_find(c->method);
    return method && method->traits & VH_KEEPS;
}

static vhem_status can_leave_out(const person_scores *w)
{
    vhem_ctx *ctx = w->ctx;
    if (is_of_sequences(w->c) && w->in->level == 0 && w->c->centers)
        return VHEM_OK;
    VH_CHECK(w->in->models, VHEM_EINVAL, "leaving persons out needs the models that were clustered");
    VH_CHECK(
        strcmp(w->c->method, redone) == 0 && w->in->level == 0 && w->c->centers, VHEM_EINVAL,
        "persons can be left out of clusters of methods auto and %s on level 1, these are of method %s on "
        "level %d",
        redone, w->c->method, w->in->level + 1);
    VH_CHECK(w->Kb > w->c->Kr, VHEM_EINVAL,
             "there are %lld models in %d clusters: without one of them there are too few", (long long)w->Kb,
             w->c->Kr);
    return VHEM_OK;
}

/* The sequences as one group. */
static vhem_status join(vhem_ctx *ctx, const vhem_data *data, const int64_t *seq, int64_t n, vhem_data **out)
{
    VH_OWN(vhem_data) *copy = NULL;
    VH_AUTOFREE const char **group = NULL;

    VH_NEW(group, n);
    for (int64_t i = 0; i < n; i++)
        group[i] = "1";
    VH_TRY(vh_data_subset(ctx, data, seq, n, &copy));
    VH_TRY(vh_data_describe(ctx, copy, &(vhem_data_text){ .group = group }));
    *out = vh_take(copy);
    return VHEM_OK;
}

/* Fits centre j of c, which was fitted to sequences, to the sequences seq [n] of the data: the same shape and
 * prior, and a start from what it is. */
static vhem_status center_again(vhem_ctx *ctx, const vh_clustering *c, int j, const vhem_data *data,
                                const int64_t *seq, int64_t n, vhem_models **out)
{
    VH_OWN(vhem_data) *group = NULL;
    VH_OWN(vh_h3m) *one = NULL;
    const int64_t index = j;
    vhem_fit_options o;

    VH_TRY(join(ctx, data, seq, n, &group));
    VH_TRY(vh_h3m_subset(ctx, c->centers, &index, 1, &one));
    one->omega[0] = 1;
    const vhem_models start = vh_models_of_hmms(one);
    VHEM_INIT(VHEM_FIT_OPTIONS, &o);
    o.start = &start;
    o.S = one->hmm[0].S;
    o.M = one->hmm[0].M;
    o.topology = c->options.topology;
    o.prior = c->centers->prior;
    o.by_group = 1;
    o.restarts = 1;
    return vhem_fit(ctx, group, &o, out, NULL);
}

typedef struct {
    person_scores *w;
    const int64_t *person; /* [Kb]  person of each model left out */
    const int64_t *member; /* [K]  models in each cluster */
    int64_t *again;        /* [n]  models whose leave-one-out centres need a new run */
    int64_t n;
} leaving;

/* Scores the person of model `at` under centres that have not seen it. */
static vhem_status score_left_out(vhem_ctx *ctx, const leaving *l, int64_t at, const vhem_models *centers)
{
    person_scores w = *l->w;
    int64_t i = l->person[at];
    int own = w.label[at];

    w.ctx = ctx;
    VH_TRY(score_under(&w, i, centers));
    if (l->member[own] == 1) /* the only member: the centre still describes this person */
        w.s->loglik[vh_ij(i, w.s->K, own)] = NAN;
    return VHEM_OK;
}

static vhem_status use_centers(vhem_ctx *ctx, void *arg, int64_t at, const vh_h3m *centers)
{
    leaving *l = arg;
    if (centers) {
        const vhem_models models = vh_models_of_hmms(centers);
        return score_left_out(ctx, l, at, &models);
    }
#pragma omp critical(vh_persons_again)
    l->again[l->n++] = at;
    return VHEM_OK;
}

static vhem_status cluster_again(vhem_ctx *ctx, void *arg, int64_t k, int worker)
{
    const leaving *l = arg;
    person_scores w = *l->w;
    VH_OWN(vhem_tree) *tree = NULL;

    (void)worker;
    w.ctx = ctx;
    VH_TRY(centers_without(&w, l->again[k], &tree));
    return score_left_out(ctx, l, l->again[k], vh_clustering_centers(tree->level[0]));
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* If the run without a person converges in one iteration, its centres follow from the sums of the others,
 * computed for all persons at once; else the run is repeated without it. */
static vhem_status leave_out(person_scores *w)
{
    vhem_ctx *ctx = w->ctx;
    const vhem_cluster_options *made = &w->c->options;
    const vh_vhem_options opt = { .N = made->nv * (double)w->Kb,
                                  .tau = made->tau,
                                  .max_iter = made->max_iter,
                                  .tol = made->refine > 1 ? 0 : made->tol, /* refined models: always run */
                                  .min_iter = vh_cluster_min_iter(made),
                                  .cov_add = made->cov_add,
                                  .weighted = made->weighted_omega };
    VH_AUTOFREE int64_t *person = NULL, *member = NULL, *again = NULL;
    VH_AUTOFREE bool *wanted = NULL;
    int64_t failed;

    VH_NEW(person, w->Kb);
    VH_NEW(member, w->c->Kr);
    VH_NEW(again, w->Kb);
    VH_NEW(wanted, w->Kb);
    for (int64_t i = 0; i < w->items.n; i++)
        if (w->clustered[i] >= 0) {
            person[w->clustered[i]] = i;
            wanted[w->clustered[i]] = true;
        }
    for (int64_t b = 0; b < w->Kb; b++)
        member[w->label[b]]++;
    leaving l = { .w = w, .person = person, .member = member, .again = again };
    const vh_without all = { .h3m = w->in->models->h3m,
                             .start = w->c->centers,
                             .opt = &opt,
                             .cov_floor = made->cov_floor,
                             .wanted = wanted,
                             .use = use_centers,
                             .arg = &l };
    VH_TRY(vh_vhem_without(ctx, &all));
    qsort(again, (size_t)l.n, sizeof *again, by_number);
    const vh_work work = {
        .n = l.n, .what = "clustering again", .inside = true, .run = cluster_again, .arg = &l
    };
    return vh_map(ctx, &work, &failed);
}

/* Of each clustered item its person in the data. */
static vhem_status find_members(const person_scores *w, int64_t *person)
{
    vhem_ctx *ctx = w->ctx;
    const vh_clustering *c = w->c;
    for (int64_t b = 0; b < w->Kb; b++)
        person[b] = -1;
    for (int64_t i = 0; i < w->items.n; i++)
        if (w->clustered[i] >= 0)
            person[w->clustered[i]] = i;
    for (int64_t b = 0; b < w->Kb; b++)
        VH_CHECK(
            person[b] >= 0, VHEM_EINVAL,
            "without a person, centres are made again from the sequences of the others, but the data lack "
            "'%.80s', which was clustered%s",
            c->name && c->name[b] ? c->name[b] : "",
            c->by_group != (w->in->by_group > 0) ? "; persons must be what was clustered, groups or "
                                                   "sequences"
                                                 : "");
    return VHEM_OK;
}

/* vh_work: scores a person under all centres, the own one fitted without the sequences of this person. */
static vhem_status fit_without(vhem_ctx *ctx, void *arg, int64_t at, int worker)
{
    const leaving *l = arg;
    person_scores w = *l->w;
    VH_OWN(vhem_models) *center = NULL;
    VH_AUTOFREE int64_t *seq = NULL;
    VH_AUTOFREE double *table = NULL;
    int64_t i = l->person[at], n = 0;
    int own = w.label[at];
    double *loglik = w.s->loglik + vh_ij(i, w.s->K, own), *total = w.total + vh_ij(i, w.s->K, own);

    (void)worker;
    w.ctx = ctx;
    VH_TRY(score_under(&w, i, vh_clustering_centers((vh_clustering *)w.c)));
    *loglik = NAN; /* the only member: the centre describes this person */
    if (l->member[own] == 1)
        return VHEM_OK;
    VH_NEW(seq, w.in->data->N);
    for (int64_t b = 0; b < w.Kb; b++)
        for (int64_t k = w.items.first[l->person[b]]; k < w.items.first[l->person[b] + 1]; k++)
            if (b != at && w.label[b] == own)
                seq[n++] = w.items.seq[k];
    VH_TRY(center_again(ctx, w.c, own, w.in->data, seq, n, &center));
    VH_TRY(score_person(&w, i, center, &table));
    return sum_up(&w, i, table, 1, loglik, total);
}

/* Where centres were fitted to sequences: fits them again without each person. */
static vhem_status leave_out_sequences(person_scores *w)
{
    vhem_ctx *ctx = w->ctx;
    VH_AUTOFREE int64_t *person = NULL, *member = NULL;
    int64_t failed;

    VH_NEW(person, w->Kb);
    VH_NEW(member, w->c->Kr);
    VH_TRY(find_members(w, person));
    for (int64_t b = 0; b < w->Kb; b++)
        member[w->label[b]]++;
    leaving l = { .w = w, .person = person, .member = member };
    const vh_work work = { .n = w->Kb, .what = "fitting again", .run = fit_without, .arg = &l };
    return vh_map(ctx, &work, &failed);
}

/* ---- 3. derived quantities ---- */

/* A name belongs to a new person if the data differ from those its model was fitted to.  If all data differ,
 * they may be other trials of the same people, and the caller must decide. */
static vhem_status find_strangers(person_scores *w, const vh_clustering *first)
{
    vhem_ctx *ctx = w->ctx;
    int64_t n_same = 0, n_other = 0, other = 0;
    VH_CLEANUP(vh_frames_free) vh_frames frames = { 0 };

    VH_TRY(vh_frames_for(ctx, w->in->data, NULL, w->in->data->N, first->centers, &frames));
    for (int64_t i = 0; i < w->items.n; i++) {
        uint64_t known = w->clustered[i] >= 0 ? first->fingerprint[w->clustered[i]] : 0;
        int64_t at = w->items.first[i], n = w->items.first[i + 1] - at;
        if (!known)
            continue;
        bool same = vh_fingerprint(frames.data, w->items.seq + at, n) == known;
        n_same += same;
        if (!same && n_other++ == 0)
            other = i;
        w->s->clustered[i] = same ? 1 : 2;
        w->clustered[i] = same || w->in->persons ? w->clustered[i] : -1;
    }
    if (w->in->persons)
        return VHEM_OK;
    VH_CHECK(
        n_other == 0 || n_same > 0, VHEM_EINVAL,
        "'%.80s'%s the name of a model that was clustered, but not the data it was fitted to; say with " SAME
        " that they are the same people (other trials), or with " NEW " that they are others",
        w->items.name[other], n_other > 1 ? " and others have" : " has");
    if (n_other > 0)
        vh_log(ctx, VHEM_LOG_WARN,
               "%lld person%s, '%.80s' the first, %s the name of a model that was clustered and other data: "
               "counted as new; if they are the same people, say " SAME,
               (long long)n_other, n_other == 1 ? "" : "s", w->items.name[other],
               n_other == 1 ? "has" : "have");
    return VHEM_OK;
}

static vhem_status find_persons(person_scores *w)
{
    vhem_ctx *ctx = w->ctx;
    const vh_clustering *first = vh_tree_level(w->in->tree, 0);
    int64_t index;
    bool is_new = true;

    for (int64_t i = 0; i < w->Kb && is_new && first->name; i++)
        VH_TRY(vh_names_put(ctx, &w->known, first->name[i], strlen(first->name[i]), &index, &is_new));
    bool none = w->in->persons && strcmp(w->in->persons, "new") == 0;
    for (int64_t i = 0; i < w->items.n; i++) {
        const char *name = w->items.name[i];
        w->clustered[i] = is_new && *name && !none ? vh_names_find(&w->known, name, strlen(name)) : -1;
    }
    if (first->fingerprint && first->centers)
        VH_TRY(find_strangers(w, first));
    for (int64_t i = 0; i < w->items.n; i++) {
        bool known = w->clustered[i] >= 0;
        w->s->clustered[i] = !known ? 0 : w->s->clustered[i] ? w->s->clustered[i] : 1;
        w->s->share[i] = known && w->c == first && first->share ? first->share[w->clustered[i]] : NAN;
    }
    return VHEM_OK;
}

/* Best centre and entropy of the posterior, from log p(y | j) + log omega_j over all sequences of a
 * person. */
static void find_posterior(const person_scores *w, int64_t i)
{
    const double *omega = vh_clustering_omega(w->c), *total = w->total + vh_row(i, w->s->K);
    double top = -INFINITY, sum = 0, entropy = 0;
    int best = 0;
    for (int j = 0; j < w->s->K; j++) {
        double x = omega[j] > 0 ? log(omega[j]) + total[j] : -INFINITY;
        if (x > top) {
            top = x;
            best = j;
        }
    }
    for (int j = 0; j < w->s->K; j++)
        sum += omega[j] > 0 ? exp(log(omega[j]) + total[j] - top) : 0;
    for (int j = 0; j < w->s->K; j++) {
        double p = omega[j] > 0 ? exp(log(omega[j]) + total[j] - top) / sum : 0;
        entropy -= p > 0 ? p * log(p) : 0;
    }
    w->s->uncertainty[i] = isfinite(top) ? entropy : NAN;
    w->s->cluster[i] = w->clustered[i] >= 0 ? w->label[w->clustered[i]] : best;
}

static void find_scale(const person_scores *w, int64_t i)
{
    const double *L = w->s->loglik + vh_row(i, w->s->K);
    for (int j = 0; j < w->s->K; j++) {
        double other = -INFINITY;
        for (int k = 0; k < w->s->K; k++)
            if (k != j && !(L[k] <= other)) /* NaN propagates */
                other = L[k];
        w->s->scale[vh_ij(i, w->s->K, j)] = isfinite(L[j]) && isfinite(other) && (L[j] != 0 || other != 0)
                                                ? (L[j] - other) / (fabs(L[j]) + fabs(other))
                                                : NAN;
    }
}

/* ---- the public function ---- */

static vhem_status check_input(person_scores *w)
{
    vhem_ctx *ctx = w->ctx;
    const vhem_stats_input *in = w->in;

    VH_CHECK(in->tree && in->data, VHEM_EINVAL, "statistics need clusters and sequences");
    w->c = vh_tree_level(in->tree, in->level);
    VH_CHECK(w->c, VHEM_EINVAL, "level %d of a tree of %d", in->level + 1, in->tree->n);
    VH_CHECK(vh_clustering_omega(w->c), VHEM_EINVAL, "the clusters have no centres to score sequences under");
    w->label = vh_tree_base_labels(in->tree, in->level);
    w->Kb = vh_tree_level(in->tree, 0)->Kb;
    VH_CHECK(!in->persons || strcmp(in->persons, "same") == 0 || strcmp(in->persons, "new") == 0, VHEM_EINVAL,
             "persons is '%s', must be same or new", in->persons);
    if (in->models)
        VH_TRY(vhem_tree_check(ctx, in->tree, in->models));
    if (in->leave_out > 0)
        VH_TRY(can_leave_out(w));
    return VHEM_OK;
}

static vhem_status score_persons(person_scores *w)
{
    vhem_ctx *ctx = w->ctx;
    const vhem_models *centers = vh_clustering_centers((vh_clustering *)w->c);

    VH_TRY(take_common(w));
    if (w->in->leave_out > 0) {
        vhem_status st = is_of_sequences(w->c) ? leave_out_sequences(w) : leave_out(w);
        VH_CHECK(st != VHEM_ESTOPPED, st, "stopped while persons were left out");
        VH_TRY(st);
    }
    for (int64_t i = 0; i < w->items.n; i++) {
        if (w->in->leave_out <= 0 || w->clustered[i] < 0)
            VH_TRY(score_under(w, i, centers));
        VH_TRY(find_entropy(w, i));
        find_posterior(w, i);
        find_scale(w, i);
        vh_progress(ctx, "scoring", i + 1, w->items.n);
        VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "stopped while scoring");
    }
    w->s->left_out = w->in->leave_out > 0;
    return VHEM_OK;
}

vhem_status vhem_score_persons(vhem_ctx *ctx, const vhem_stats_input *in, vhem_statistics **out)
{
    VH_ENTER(in, out);
    VH_OPTIONS(VHEM_STATS_INPUT, vhem_stats_input, in);
    VH_CLEANUP(free_work) person_scores w = { .ctx = ctx, .in = in };

    VH_TRY(check_input(&w));
    VH_TRY(vh_sets_new(ctx, in->data, in->by_group > 0, &w.items));
    VH_NEW_OBJECT(w.s, clear_statistics);
    VH_TRY(make_room(&w));
    VH_TRY(find_persons(&w));
    VH_TRY(score_persons(&w));
    *out = vh_take(w.s);
    return VHEM_OK;
}
