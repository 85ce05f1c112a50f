/* SPDX-License-Identifier: BSD-3-Clause */
/* vbhem.c - clustering by variational Bayes (vhem/vb.h).
 *
 *   1. the prior      2. starts      3. the runs      4. the result
 *
 * First runs a VHEM search, with all its starts and candidates.  Its best results are the starts of the
 * variational Bayes runs, with the full number of clusters and states; the best of these runs then try to use
 * fewer.  A given start, or starts chosen by name, skip the VHEM search. */
#include "methods/state_order.h"
#include "search/hmm_search.h"
#include "methods/options.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "parallel/map.h"
#include "core/rng.h"
#include "math/agreement.h"
#include "math/logsum.h"
#include "emission/layout.h"
#include "files/posterior_json.h"
#include "files/prior_json.h"
#include "vhem/vb.h"
#include "core/settings.h"

#include <math.h>
#include <string.h>
#include <stdlib.h>

enum {
    RUNS = 20,      /* variational Bayes runs, from the best results of VHEM */
    SHRUNK = 3,     /* best runs that try fewer clusters and states, */
    TRIES = 1000,   /* tries of each, at most, */
    MOST_WORK = 30, /* within roughly this many seconds of work */
    FRAMES = 10,    /* virtual frames per model, if the file has no lengths */
    TOOLBOX_NV = 10 /* virtual samples per model in the toolbox for eye movements */
};
#define FLOOR 1e-6 /* smallest variance in VHEM, as a share of the models' variance */
#define TOL   1e-6
#define SAME  1e-9 /* relative difference below which bounds are of the same result */

/* As many virtual samples as the models have seen frames, because the number of clusters depends on it; no
 * covariance floors. */
void vh_vbhem_defaults(const vh_input *in, vhem_cluster_options *o)
{
    const vh_lengths *lengths = in->models ? &in->models->lengths : NULL;
    int64_t frames = !lengths ? 0 : lengths->frames > 0 ? lengths->frames : lengths->median;
    bool toolbox = o->preset && strcmp(o->preset, "emhmm") == 0;
    if (o->nv < 0)
        o->nv = toolbox ? TOOLBOX_NV : (frames > 0 ? (double)frames : FRAMES) / o->tau;
    if (o->tol < 0 && !o->preset)
        o->tol = TOL;
    o->cov_floor = o->cov_add = 0;
    o->learn_prior = o->learn_prior > 0 ? o->learn_prior : 0;
    o->prune = o->prune != 0;
}

/* ---- 1. the prior -------------------------------------------------------------------------------------- */

typedef struct {
    vh_prior *p;
    double scale;  /* factor of the prior's covariances, default prior: 1 */
    double frames; /* of priors of other families */
} choice;

static vhem_status read_setting(vhem_ctx *ctx, void *arg, const char *key, const char *value)
{
    choice *c = arg;
    bool normal = vh_prior_normal(c->p->family);
    const struct {
        const char *name;
        double *to;
        bool known;
    } number[] = { { "alpha", &c->p->alpha, true },     { "eta", &c->p->eta, true },
                   { "eps", &c->p->eps, true },         { "kappa", &c->p->kappa, true },
                   { "nu", &c->p->nu, normal },         { "scale", &c->scale, normal },
                   { "lambda", &c->p->lambda, normal }, { "frames", &c->frames, !normal } };
    for (size_t k = 0; k < sizeof number / sizeof *number; k++)
        if (number[k].known && strcmp(key, number[k].name) == 0)
            return vh_setting_positive(ctx, "prior", key, value, number[k].to);
    return vh_fail(ctx, VHEM_EINVAL,
                   "prior: there is no setting '%.80s' for %s models; known are alpha, eta, eps, kappa, %s",
                   key, c->p->family->name, normal ? "lambda, nu, scale" : "frames");
}

/* Replaces some numbers of the default prior *at; its covariances keep their mean. */
static vhem_status apply(vhem_ctx *ctx, const char *spec, vh_prior **at)
{
    vh_prior *p = *at, *other = NULL;
    choice c = { p, 1, p->made_up.frames };
    double before = p->nu, least = vh_prior_full(p->family) ? p->d - 1 : 0;

    VH_TRY(vh_settings_read(ctx, "prior", vh_prior_normal(p->family) ? "nu=5" : "frames=2", spec,
                            read_setting, &c));
    if (!vh_prior_normal(p->family)) {
        p->made_up.frames = c.frames;
        VH_TRY(vh_prior_copy(ctx, p, &other)); /* recomputes the prior from the new number */
        vh_prior_free(p);
        *at = other;
        return VHEM_OK;
    }
    VH_CHECK(p->nu > least, VHEM_EINVAL, "prior: nu is %g, must be more than %g", p->nu, least);
    for (size_t e = 0; e < vh_prior_size(p); e++)
        p->B[e] *= c.scale * p->nu / before;
    return VHEM_OK;
}

/* spec: a file, JSON text, or settings of the default prior, "alpha=1,nu=5"; NULL: the default. */
static vhem_status vb_prior(vhem_ctx *ctx, const vh_base *base, const char *spec, vh_prior **out)
{
    vhem_status st = VHEM_OK;
    const vh_h3m *h3m = base->h3m;
    VH_OWN(vh_prior) *p = NULL;
    VH_AUTOFREE char *text = NULL;
    char why[160];
    bool settings = spec && *spec != '{' && strchr(spec, '=');

    if (!spec || settings) {
        VH_TRY(vh_vb_default_prior(ctx, base, &p));
        if (settings)
            VH_TRY(apply(ctx, spec, &p));
    } else {
        if (*spec != '{')
            VH_TRY(vh_prior_load(ctx, spec, &text));
        st = vh_prior_read_for(ctx, text ? text : spec, "the models", h3m->d, h3m->family->name, &p);
        if (st == VHEM_OK && *vh_layout_differs(&p->shape, &h3m->shape, why, sizeof why))
            st = vh_fail(ctx, VHEM_EINVAL, "the prior is for other models: %s", why);
        if (st != VHEM_OK && text)
            vh_error_prefix(ctx, spec);
        VH_TRY(st);
    }
    *out = vh_take(p);
    return st;
}

typedef struct {
    const char *kind;
    uint64_t seed;
    const vh_h3m *start; /* NULL: m has its posterior */
    vh_vb m;
    vh_vhem_run run;
    int *label; /* [Kb] */
    double value;
    bool stopped, shrunk; /* shrunk: fewer clusters and states were tried */
    vhem_status st;
} attempt;

typedef struct {
    const vhem_cluster_options *opt;
    vhem_cluster_options search_opt; /* options of the VHEM search */
    vh_hmm_search t;
    vh_prior *prior;
    vh_vb_options vb;
    attempt *all;
    int n, best;
    vh_h3m **made; /* [n]  starts owned by this search */
    vh_workers workers;
} vb_search;

static void task_free(vb_search *w)
{
    for (int k = 0; w->all && k < w->n; k++) {
        vh_vb_free(&w->all[k].m);
        vh_vhem_run_free(&w->all[k].run);
        free(w->all[k].label);
        if (w->made)
            vh_h3m_free(w->made[k]);
    }
    vh_workers_free(&w->workers);
    free(w->all);
    free(w->made);
    vh_prior_free(w->prior);
    vh_hmm_search_free(&w->t);
}

/* ---- 2. starts ----------------------------------------------------------------------------------------- */

static attempt begun_at(const vh_restart *r, const vh_h3m *centers)
{
    return (attempt){ .kind = r->kind ? r->kind : "given", .seed = r->seed, .start = centers };
}

/* Starts runs at VHEM's best distinct results. */
static vhem_status begin_at_results(vhem_ctx *ctx, vb_search *w, uint64_t seed)
{
    const vh_search *s = &w->t.search;
    double last = INFINITY;

    VH_TRY(vh_hmm_search_run(ctx, &w->t, seed));
    VH_NEW(w->all, RUNS);
    while (w->n < RUNS) {
        const vh_restart *best = NULL;
        for (int r = 0; r < s->n; r++) {
            const vh_restart *a = &s->all[r];
            bool open = a->begun && a->st == VHEM_OK && a->label && a->J < last - SAME * fabs(a->J);
            best = open && (!best || a->J > best->J) ? a : best;
        }
        if (!best)
            break;
        last = best->J;
        w->all[w->n++] = begun_at(best, best->centers);
    }
    if (w->n == 0) /* stopped before any run finished */
        w->all[w->n++] = begun_at(&s->all[s->best], s->all[s->best].centers);
    return VHEM_OK;
}

/* Starts runs at unrefined starts of the requested kind. */
static vhem_status begin_at_starts(vhem_ctx *ctx, vb_search *w)
{
    const vh_search *s = &w->t.search;
    void *centers = NULL;

    VH_NEW(w->all, s->R);
    VH_NEW(w->made, s->R);
    for (int r = 0; r < s->R; r++) {
        VH_TRY(s->start(ctx, s->arg, &s->all[r], w->workers.scratch, &centers));
        w->made[r] = centers;
        w->all[w->n++] = begun_at(&s->all[r], centers);
    }
    return VHEM_OK;
}

/* Starts a run at a posterior given by the caller. */
static vhem_status begin_at_posterior(vhem_ctx *ctx, vb_search *w, const char *text)
{
    VH_OWN(vh_posteriors) *post = NULL;
    char why[160];

    VH_NEW(w->all, 1);
    w->n = 1;
    w->all[0] = (attempt){ .kind = "given" };
    VH_TRY(vh_posteriors_read(ctx, text, &post));
    VH_CHECK(post->shape->family == w->prior->family && post->shape->d == w->prior->d, VHEM_EINVAL,
             "the posterior is of %s models of dimension %d, the models are %s of dimension %d",
             post->shape->family->name, post->shape->d, w->prior->family->name, w->prior->d);
    VH_CHECK(!*vh_layout_differs(&post->shape->shape, &w->prior->shape, why, sizeof why), VHEM_EINVAL,
             "the posterior is of other models: %s", why);
    for (int j = 0; w->t.base->whole[0] && j < post->K; j++) /* some HMM lacks a column */
        vh_posterior_by_column(w->prior, &post->hmm[j]);
    w->all[0].m.post = vh_take(post);
    return VHEM_OK;
}

/* ---- 3. the runs --------------------------------------------------------------------------------------- */

/* Computes the partition and the value of run a. */
static vhem_status judge(vhem_ctx *ctx, const vb_search *w, attempt *a)
{
    int K = a->m.post->K;
    int64_t Kb = w->t.base->Kb;

    if (!a->label)
        VH_NEW(a->label, Kb);
    for (int64_t i = 0; i < Kb; i++)
        a->label[i] = vh_argmax(K, a->run.z + vh_row(i, K), 1);
    a->value = vh_vb_value(&a->m, &a->run);
    return VHEM_OK;
}

static vhem_status try_one(vhem_ctx *ctx, const vb_search *w, vh_scratch *scratch, attempt *a)
{
    const vh_base *base = w->t.base;

    VH_TRY(vh_prior_copy(ctx, w->prior, &a->m.prior));
    if (a->start)
        VH_TRY(vh_vb_begin(ctx, base, &w->vb, &(vh_workers){ ctx->threads, scratch }, a->start, &a->m));
    else
        a->m.post->shape = a->m.prior;
    vhem_status st = vh_vb_run(ctx, base, &w->vb, &(vh_workers){ ctx->threads, scratch }, &a->m, &a->run);
    a->stopped = st == VHEM_ESTOPPED && a->run.n_iter >= 0;
    VH_TRY(a->stopped ? VHEM_OK : st);
    return judge(ctx, w, a);
}

static vhem_status run_one(vhem_ctx *ctx, void *arg, int64_t i, int worker)
{
    vb_search *w = arg;
    vhem_status st = try_one(ctx, w, w->workers.scratch + worker, &w->all[i]);
    w->all[i].st = st;
    return st == VHEM_ENUMERIC && w->n > 1 ? VHEM_OK : st; /* other runs may succeed */
}

/* The best finished run with a value below `last`; -1 if none. */
static int best_below(const vb_search *w, double last)
{
    int best = -1;
    for (int k = 0; k < w->n; k++)
        if (w->all[k].label && w->all[k].st == VHEM_OK && w->all[k].value < last
            && (best < 0 || w->all[k].value > w->all[best].value))
            best = k;
    return best;
}

/* Tries to shrink the best runs. */
static vhem_status shrink(vhem_ctx *ctx, vb_search *w)
{
    vhem_status st = VHEM_OK;
    double last = INFINITY, each = vh_cluster_work(w->t.base->h3m, w->t.K, w->opt) * 20;
    double most = MOST_WORK * 1e9 / SHRUNK / each;
    int which[SHRUNK], n = 0;

    for (int k; n < SHRUNK && (k = best_below(w, last)) >= 0; n++) {
        which[n] = k;
        last = w->all[k].value - SAME * fabs(w->all[k].value);
    }
    for (int k = 0; k < n && !vh_stopped(ctx); k++) {
        attempt *a = &w->all[which[k]];
        st = vh_vb_shrink(ctx, w->t.base, &w->vb, &w->workers, most < TRIES ? (int)most : TRIES, &a->m,
                          &a->run);
        a->stopped |= st == VHEM_ESTOPPED; /* it might have shrunk further */
        VH_TRY(st == VHEM_ESTOPPED ? VHEM_OK : st);
        VH_TRY(judge(ctx, w, a));
        a->shrunk = true;
    }
    return VHEM_OK;
}

static vhem_status run_all(vhem_ctx *ctx, vb_search *w)
{
    vhem_status st = VHEM_OK;
    const vh_work work = { .n = w->n, .what = "posteriors", .inside = true, .run = run_one, .arg = w };
    int64_t failed;

    st = vh_map(ctx, &work, &failed);
    for (int k = 0; st == VHEM_ESTOPPED && best_below(w, INFINITY) < 0 && k < w->n; k++)
        if (!w->all[k].m.prior) /* better than no result: a run that was not begun */
            VH_TRY(run_one(ctx, w, k, 0));
    VH_TRY(st == VHEM_ESTOPPED ? VHEM_OK : st);
    if (w->opt->prune && strcmp(w->opt->search, "restarts") != 0)
        VH_TRY(shrink(ctx, w));
    w->best = best_below(w, INFINITY);
    VH_CHECK(w->best >= 0, VHEM_ENUMERIC, "no run came to a result");
    return VHEM_OK;
}

/* ---- 4. the result ------------------------------------------------------------------------------------- */

/* Sorts clusters by weight and states by time, both largest first, and reorders the tables. */
static vhem_status arrange(vhem_ctx *ctx, const vb_search *w, attempt *a)
{
    vh_posteriors *post = a->m.post;
    int K = post->K, S = 1;
    VH_AUTOFREE int *order = NULL, *state = NULL;
    int64_t Kb = w->t.base->Kb;
    VH_OWN(vh_h3m) *mean = NULL;
    VH_AUTOFREE double *row = NULL;

    VH_NEW(order, K);
    VH_NEW(row, K);
    for (int j = 0; j < K; j++) {
        int k = j;
        for (; k > 0 && post->alpha[order[k - 1]] < post->alpha[j]; k--)
            order[k] = order[k - 1];
        order[k] = j;
        S = post->hmm[j].S > S ? post->hmm[j].S : S;
    }
    VH_TRY(vh_posteriors_order(ctx, post, order));
    for (int64_t i = 0; i < 2 * Kb; i++) {
        double *x = (i < Kb ? a->run.z : a->run.L) + vh_row(i % Kb, K);
        for (int j = 0; j < K; j++)
            row[j] = x[order[j]];
        memcpy(x, row, sizeof *row * (size_t)K);
    }
    VH_NEW(state, S);
    VH_TRY(vh_posteriors_mean(ctx, post, &mean));
    for (int j = 0; j < K; j++) {
        VH_TRY(vh_state_order(ctx, &mean->hmm[j], w->opt->tau, state));
        VH_TRY(vh_posteriors_order_states(ctx, post, j, state));
    }
    return VHEM_OK;
}

/* True if a run is as good as the best one: same K, and value within the slack. */
static bool as_good(const vb_search *w, const attempt *a)
{
    const attempt *best = &w->all[w->best];
    return a->label && a->st == VHEM_OK && !a->stopped && a->m.post->K == best->m.post->K
           && a->value >= best->value - w->t.search.slack;
}

static vhem_status tell_share(vhem_ctx *ctx, const vb_search *w, vh_clustering *out)
{
    VH_AUTOFREE const int **label = NULL;
    int n = 0;

    VH_NEW(label, w->n);
    for (int k = 0; k < w->n; k++)
        if (as_good(w, &w->all[k]))
            label[n++] = w->all[k].label;
    return vh_count_share(ctx, w->all[w->best].label, w->all[w->best].m.post->K, n, label, out);
}

static vhem_status tell_runs(vhem_ctx *ctx, vb_search *w, vh_clustering *out)
{
    const attempt *best = &w->all[w->best];

    VH_TRY(tell_share(ctx, w, out));
    VH_NEW(out->run, w->n);
    for (int k = 0; k < w->n; k++) {
        attempt *a = &w->all[k];
        vhem_agreement g;
        if (!a->label || a->st != VHEM_OK)
            continue;
        vh_agreement(out->Kb, a->label, best->label, &g);
        vhem_cluster_run *u = &out->run[out->n_run++];
        *u = (vhem_cluster_run){ .seed = a->seed,
                                 .init = a->kind,
                                 .bound = a->run.J[a->run.n_iter],
                                 .n_iter = a->run.n_iter,
                                 .converged = a->run.converged,
                                 .finished = !a->stopped,
                                 .modularity = NAN,
                                 .stability = NAN,
                                 .agreement = g.adjusted_rand,
                                 .as_good = as_good(w, a) };
        if (a == best)
            continue;
        u->bounds = a->run.J; /* ownership moves to out */
        a->run.J = NULL;
        u->label = a->shrunk ? a->label : NULL;
        a->label = a->shrunk ? NULL : a->label;
    }
    return VHEM_OK;
}

static vhem_status take_posterior(vhem_ctx *ctx, vb_search *w, const vh_input *in, vh_clustering *out)
{
    attempt *a = &w->all[w->best];

    VH_TRY(tell_runs(ctx, w, out));
    if (!w->t.start)
        VH_TRY(arrange(ctx, w, a));
    VH_TRY(vh_posteriors_mean(ctx, a->m.post, &out->centers));
    VH_TRY(vh_posteriors_text(ctx, a->m.post, &out->posterior));
    VH_TRY(vh_prior_text(ctx, a->m.prior, &out->prior));
    out->K_max = in->K;
    out->value = a->value;
    out->Kr = a->m.post->K;
    out->n_iter = a->run.n_iter;
    out->converged = a->run.converged;
    out->n_fell = a->run.n_fell;
    out->z = a->run.z;
    out->L_hmm = a->run.L;
    out->bound = a->run.J;
    a->run = (vh_vhem_run){ 0 };
    for (int j = 0; j < out->Kr; j++)
        VH_TRY(vh_h3m_set_cluster(ctx, &out->centers->hmm[j].name, j));
    vh_label_by_z(out);
    if (!in->centers_only && out->Kb <= VH_MAX_MAPPED)
        VH_TRY(vh_map_states(ctx, w->t.base, out->centers, out->label, w->opt->tau, &out->state_map,
                             &out->state_map_at));
    return VHEM_OK;
}

vhem_status vh_method_vbhem(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *opt, uint64_t seed,
                            vh_clustering *out)
{
    const vh_h3m *given = vh_start_hmms(opt);
    VH_CLEANUP(task_free) vb_search w = { .opt = opt, .search_opt = *opt };

    w.search_opt.cov_floor = FLOOR;
    vh_input_search(in, &w.search_opt, &w.t);
    VH_TRY(vh_hmm_search_open(ctx, seed, &w.t));
    VH_TRY(vh_workers_new(ctx, ctx->threads, &w.workers));
    VH_TRY(vb_prior(ctx, w.t.base, opt->prior, &w.prior));
    w.vb = (vh_vb_options){ .run = { .N = opt->nv * w.t.base->Kb,
                                     .tau = opt->tau,
                                     .max_iter = opt->max_iter,
                                     .tol = opt->tol,
                                     .min_iter = vh_cluster_min_iter(opt) },
                            .learn = opt->learn_prior,
                            .prune = opt->prune,
                            .toolbox = opt->preset && strcmp(opt->preset, "emhmm") == 0 };
    if (given && given->posterior)
        VH_TRY(begin_at_posterior(ctx, &w, given->posterior));
    else if (given || strcmp(opt->init, "auto") != 0)
        VH_TRY(begin_at_starts(ctx, &w));
    else
        VH_TRY(begin_at_results(ctx, &w, seed));
    VH_TRY(run_all(ctx, &w));
    VH_TRY(take_posterior(ctx, &w, in, out));
    if (vh_stopped(ctx))
        return vh_fail(ctx, VHEM_ESTOPPED, "stopped; the best of %d runs is kept", out->n_run);
    return VHEM_OK;
}
