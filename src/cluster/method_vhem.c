/* method_vhem.c - clustering by VHEM, paper Section 3, from many starts.
 *
 *   1. one restart: a start, a soft phase, a few iterations
 *   2. all restarts, then the promising ones to their end
 *   3. the winner becomes the clustering
 *
 * The objective has many optima.  With the virtual samples one wants, assignments are hard from the
 * first iteration on, and a run stays near where it began; so a run first goes through a soft phase
 * with few virtual samples.  That helps on most sets of models and harms on some
 * (docs/choosing.md), so that with init "auto", which takes all kinds of starts in turn, every
 * second round of them goes without.  Most of the starts are given up after a few iterations: where
 * they stand then tells well enough where they would end. */
#include "cluster/arrange.h"
#include "cluster/methods.h"
#include "cluster/options.h"
#include "core/alloc.h"
#include "model/convert.h"
#include "reduce/start.h"
#include "reduce/vhem.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum {
    SHORT = 5,                           /* iterations before a restart is judged */
    FINALISTS = 3,                       /* at least so many, and a third of all, are run to their end */
    TRIAL_MODELS = 4096,                 /* of more models than this, restarts are judged on so many */
    TRIAL_FINALISTS = 2,                 /* and so many go on with all models */
    MANY_MODELS = 20000,                 /* from here on threads share one E-step: memory
                                            for one restart at a time */
    MAX_MAPPED = 100000,                 /* models that get a map of their states */
};
#define CHEAP    1e7                     /* less work than this, and all restarts are run to their end */
#define SOFT_NV  0.1                     /* most virtual samples per model in the soft phase, */
#define SOFT_NATS 10.0                   /* or fewer, if they tell the centres apart by more than this */
#define SOFT_TOL 1e-4

typedef struct {
    const vh_start_kind *kind;           /* NULL: a given start */
    uint64_t    seed;
    vhem_h3m   *centers;
    vh_vhem_run run;                     /* iterations at the wanted N; z and L of the best restart only */
    double      J;
    int         soft;                    /* iterations of its soft phase */
    bool        begun, finished, stopped;
    vhem_status st;
} restart;

typedef struct {                         /* what all restarts share */
    const vhem_cluster_options *opt;
    const vhem_h3m *start;
    vh_base    *base;
    vhem_h3m   *trial_models;            /* NULL: restarts are judged on all models */
    vh_base    *trial;                   /* == base then */
    double     *floor;                   /* [d], or NULL */
    int         R;
    restart    *all;                     /* [R] */
    int        *order;                   /* [R]  best first, after the short runs */
    vh_scratch *scratch;                 /* [threads] */
    int         best;
} search;

/* ---- 1. one restart ------------------------------------------------------------------------------------ */

static vh_vhem_options run_options(const search *s, const vh_base *base, uint64_t seed)
{
    const vhem_cluster_options *o = s->opt;
    return (vh_vhem_options){ .N = o->nv * base->Kb, .tau = o->tau, .max_iter = o->max_iter, .tol = o->tol,
                              .min_iter = vh_cluster_min_iter(o), .floor = s->floor, .cov_add = o->cov_add,
                              .repair = o->repair, .weighted = o->weighted_omega, .seed = seed };
}

static vhem_status make_start(vhem_ctx *ctx, const search *s, restart *r, vh_scratch *scratch)
{
    vhem_status st = VHEM_OK;
    const vhem_h3m *h3m = s->base->h3m;
    vh_rng rng;

    if (!r->kind) {
        VH_TRY(vh_h3m_subset(ctx, s->start, NULL, s->start->K, &r->centers));
    } else {
        VH_TRY(vh_h3m_new(ctx, h3m->family, h3m->d, s->opt->K, &r->centers));
        for (int j = 0; j < s->opt->K; j++)
            VH_TRY(vh_h3m_shape(ctx, r->centers, j, s->opt->S, s->opt->M));
        vh_rng_init(&rng, r->seed, VH_RNG_INIT, 0);
        VH_TRY(r->kind->make(ctx, s->trial, s->opt->tau, &rng, scratch, r->centers));
    }
    vh_add_to_covariances(r->centers, s->opt->cov_add);
done:
    return st;
}

/* ESTOPPED is no failure here: the run stands at its last full iteration,
 * and the caller finds out by itself. */
static vhem_status go(vhem_ctx *ctx, const vh_base *base, const vh_vhem_options *o, vh_scratch *scratch,
                      int threads, restart *r, vh_vhem_run *run)
{
    vhem_status st = vh_vhem(ctx, base, o, scratch, threads, r->centers, run);
    r->stopped = st == VHEM_ESTOPPED;
    return r->stopped ? VHEM_OK : st;
}

/* Virtual samples for which the starting centres are told apart by about SOFT_NATS: what is soft depends on
 * how different the models are, which grows with their dimension. */
static double soft_samples(int Kb, int K, const double *L)
{
    double apart = 0;
    for (int i = 0; i < Kb; i++) {
        const double *row = L + (size_t)i * (size_t)K;
        double top = row[0], sum = 0;
        for (int j = 0; j < K; j++) {
            top = fmax(top, row[j]);
            sum += row[j];
        }
        apart += (top - sum / K) / Kb;
    }
    return fmin(SOFT_NV, SOFT_NATS / fmax(apart, 1e-300)) * Kb;
}

/* The start, the soft phase, and at most `limit` iterations.  On a sample of
 * the models only the centres count. */
static vhem_status begin(vhem_ctx *ctx, const search *s, int limit, vh_scratch *scratch, int threads,
                         restart *r)
{
    vhem_status st = VHEM_OK;
    vh_vhem_options o = run_options(s, s->trial, r->seed), soft = o;
    vh_vhem_run ignored = { 0 };

    r->begun = true;
    VH_TRY(make_start(ctx, s, r, scratch));
    soft.tol = SOFT_TOL;
    soft.max_iter = 0;
    if (r->soft > 0) {
        VH_TRY(go(ctx, s->trial, &soft, scratch, threads, r, &ignored));
        soft.N = fmin(soft_samples(s->trial->Kb, s->opt->K, ignored.L), o.N);
        vh_vhem_run_free(&ignored);
        soft.max_iter = r->soft;
        VH_TRY(go(ctx, s->trial, &soft, scratch, threads, r, &ignored));
    }
    o.max_iter = limit < o.max_iter ? limit : o.max_iter;
    VH_TRY(go(ctx, s->trial, &o, scratch, threads, r, &r->run));
    r->J = r->run.J[r->run.n_iter];
    r->finished = s->trial == s->base && (r->run.converged || r->run.n_iter >= s->opt->max_iter);
    if (s->trial != s->base)
        vh_vhem_run_free(&r->run);
done:
    vh_vhem_run_free(&ignored);
    return st;
}

/* Goes on where a run stands: counts add up, and the bounds follow one another. */
static vhem_status append(vhem_ctx *ctx, vh_vhem_run *run, vh_vhem_run *more)
{
    vhem_status st = VHEM_OK;
    double *J = NULL;

    VH_NEW(J, run->n_iter + more->n_iter + 1);
    if (run->n_iter > 0)
        memcpy(J, run->J, sizeof *J * (size_t)run->n_iter);
    memcpy(J + run->n_iter, more->J, sizeof *J * (size_t)(more->n_iter + 1));
    free(more->J);
    more->J = J;
    more->n_iter += run->n_iter;
    more->n_empty += run->n_empty;
    more->n_revived += run->n_revived;
    more->n_fell += run->n_fell;
    vh_vhem_run_free(run);
    *run = *more;
    *more = (vh_vhem_run){ 0 };
done:
    return st;
}

static vhem_status finish(vhem_ctx *ctx, const search *s, vh_scratch *scratch, int threads, restart *r)
{
    vhem_status st = VHEM_OK;
    vh_vhem_options o = run_options(s, s->base, r->seed + 1);     /* its repairs must not repeat
                                                                     those of the short run */
    vh_vhem_run more = { 0 };

    o.max_iter = r->finished ? 0 : o.max_iter - r->run.n_iter;
    o.min_iter -= r->run.n_iter;
    int converged = r->run.converged;
    VH_TRY(go(ctx, s->base, &o, scratch, threads, r, &more));
    VH_TRY(append(ctx, &r->run, &more));
    r->run.converged |= converged;
    r->J = r->run.J[r->run.n_iter];
    r->finished = !r->stopped;
done:
    vh_vhem_run_free(&more);
    return st;
}

/* ---- 2. all restarts ----------------------------------------------------------------------------------- */

static void drop_tables(restart *r)
{
    free(r->run.z);
    free(r->run.L);
    r->run.z = r->run.L = NULL;
}

/* Restart r has come to its end; only the best so far keeps its tables.  Which one that is does not depend
 * on the order in which they arrive. */
static void keep_best(search *s, int r)
{
#pragma omp critical(vh_cluster_best)
    {
        restart *a = &s->all[r], *b = s->best < 0 ? NULL : &s->all[s->best];
        if (a->st != VHEM_OK) {
            drop_tables(a);
        } else if (!b || a->J > b->J || (a->J == b->J && r < s->best)) {
            if (b)
                drop_tables(b);
            s->best = r;
        } else {
            drop_tables(a);
        }
    }
}

/* The restarts which[0 .. n-1]: begun when `limit` is not negative, else run to their end.  Side by side when
 * there are enough of them, else with all threads inside each. */
static void run_some(vhem_ctx *ctx, search *s, const int *which, int n, int limit, int64_t done,
                     int64_t total)
{
    int threads = ctx->threads;
    bool across = n >= threads && s->base->Kb < MANY_MODELS;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (across && threads > 1)
    for (int k = 0; k < n; k++) {
        int r = which ? which[k] : k;
        vh_scratch *own = &s->scratch[across ? omp_get_thread_num() : 0];
        int64_t so_far;
        if (vh_stopped(ctx) && k > 0)
            continue;
        if (limit >= 0) {
            s->all[r].st = begin(ctx, s, limit, own, across ? 1 : threads, &s->all[r]);
            drop_tables(&s->all[r]);
        } else {
            s->all[r].st = finish(ctx, s, own, across ? 1 : threads, &s->all[r]);
            keep_best(s, r);
        }
#pragma omp atomic capture
        so_far = ++done;
        vh_progress(ctx, "cluster", so_far, total);
    }
}

/* Best bound first, ties by index; what failed or was not begun comes last.  Returns how many are left. */
static int rank_restarts(search *s)
{
    int n = 0;
    for (int r = 0; r < s->R; r++) {
        int k = n;
        if (!s->all[r].begun || s->all[r].st != VHEM_OK)
            continue;
        for (; k > 0 && s->all[s->order[k - 1]].J < s->all[r].J; k--)
            s->order[k] = s->order[k - 1];
        s->order[k] = r;
        n++;
    }
    return n;
}

static vhem_status run_all(vhem_ctx *ctx, search *s)
{
    vhem_status st = VHEM_OK;
    bool cheap = s->R * vh_cluster_work(s->base->h3m, s->opt) < CHEAP;
    int third = (s->R + 2) / 3, some = third > FINALISTS ? third : FINALISTS;
    some = s->trial != s->base ? TRIAL_FINALISTS : some;
    int F = cheap || s->R < some ? s->R : some;
    int limit = s->R <= F ? 0 : SHORT;
    int64_t total = s->R + F;

    vh_progress(ctx, "cluster", 0, total);
    run_some(ctx, s, NULL, s->R, limit, 0, total);
    int left = rank_restarts(s);
    if (left == 0) {
        st = s->all[0].st;                     /* its sentence may be that of a later one: all failed alike */
        goto done;
    }
    if (left < s->R && !vh_stopped(ctx))
        vh_log(ctx, VHEM_LOG_WARN, "%d of %d restarts failed: %s", s->R - left, s->R, ctx->error);
    run_some(ctx, s, s->order, F < left ? F : left, -1, s->R, total);
    if (s->best < 0)
        st = s->all[s->order[0]].st;
done:
    return st;
}

/* ---- 3. the winner ------------------------------------------------------------------------------------- */

static vhem_status report_runs(vhem_ctx *ctx, const search *s, vhem_clustering *out)
{
    vhem_status st = VHEM_OK;
    VH_NEW(out->run, s->R);
    for (int r = 0; r < s->R; r++) {
        const restart *a = &s->all[r];
        if (!a->begun || a->st != VHEM_OK)
            continue;
        out->run[out->n_run++] = (vhem_cluster_run){
            .seed = a->seed, .init = a->kind ? a->kind->name : "given", .bound = a->J,
            .n_iter = a->run.n_iter, .converged = a->run.converged, .finished = a->finished };
    }
done:
    return st;
}

static vhem_status hand_over(vhem_ctx *ctx, search *s, vhem_clustering *out)
{
    vhem_status st = VHEM_OK;
    restart *w = &s->all[s->best];
    char name[32];

    VH_TRY(report_runs(ctx, s, out));
    out->n_iter = w->run.n_iter;
    out->converged = w->run.converged;
    out->n_empty = w->run.n_empty;
    out->n_revived = w->run.n_revived;
    out->n_fell = w->run.n_fell;
    out->z = w->run.z;
    out->L_hmm = w->run.L;
    out->bound = w->run.J;
    w->run = (vh_vhem_run){ 0 };
    out->centers = w->centers;
    w->centers = NULL;
    if (!s->start)
        VH_TRY(vh_order_states(ctx, out->centers, s->opt->tau));
    for (int j = 0; j < out->Kr; j++) {
        snprintf(name, sizeof name, "cluster_%d", j);
        VH_TRY(vh_h3m_set_text(ctx, &out->centers->hmm[j].name, name));
        VH_TRY(vh_h3m_set_text(ctx, &out->centers->hmm[j].label, NULL));
    }
    if (s->base->Kb <= MAX_MAPPED) {
        vh_label_by_z(out);
        VH_TRY(vh_map_states(ctx, s->base, out->centers, out->label, s->opt->tau, &out->state_map,
                             &out->state_map_at));
    }
done:
    return st;
}

/* The smallest variances: a share of the spread of the models. */
static vhem_status make_floor(vhem_ctx *ctx, search *s)
{
    vhem_status st = VHEM_OK;
    int d = s->base->h3m->d;
    if (!(s->opt->cov_floor > 0))
        goto done;
    VH_NEW(s->floor, d);
    for (int k = 0; k < d; k++)
        s->floor[k] = s->opt->cov_floor * s->base->scale[k] * s->base->scale[k];
done:
    return st;
}

/* Of very many models a random sample tells good starts from bad ones as well, at a fraction of the cost. */
static vhem_status choose_trial(vhem_ctx *ctx, search *s, uint64_t seed)
{
    vhem_status st = VHEM_OK;
    int *pick = NULL, K = s->base->Kb;
    vh_rng rng;

    s->trial = s->base;
    if (K <= TRIAL_MODELS || s->start || s->R == 1)
        return VHEM_OK;
    VH_NEW(pick, TRIAL_MODELS);
    vh_rng_init(&rng, seed, VH_RNG_SPLIT, 0);
    for (int i = 0; i < TRIAL_MODELS; i++) {        /* one from each of so many equal stretches: no repeats */
        int64_t lo = (int64_t)K * i / TRIAL_MODELS, hi = (int64_t)K * (i + 1) / TRIAL_MODELS;
        pick[i] = (int)(lo + vh_rng_below(&rng, hi - lo));
    }
    VH_TRY(vh_h3m_subset(ctx, s->base->h3m, pick, TRIAL_MODELS, &s->trial_models));
    VH_TRY(vh_base_new(ctx, s->trial_models, &s->trial));
done:
    free(pick);
    return st;
}

static vhem_status set_up(vhem_ctx *ctx, search *s, const vhem_h3m *models, uint64_t seed)
{
    vhem_status st = VHEM_OK;
    const vh_start_kind *one = vh_start_kind_find(s->opt->init);
    int n_kind = 0;

    while (vh_start_kinds[n_kind].name)
        n_kind++;
    s->R = s->opt->restarts;
    VH_NEW(s->all, s->R);
    VH_NEW(s->order, s->R);
    VH_NEW(s->scratch, ctx->threads);
    for (int r = 0; r < s->R; r++) {
        s->all[r].kind = s->start ? NULL : one ? one : &vh_start_kinds[r % n_kind];
        s->all[r].seed = vh_cluster_seed(seed, (uint64_t)r);
        s->all[r].soft = s->start || one || r / n_kind % 2 == 0 ? s->opt->soft : 0;
    }
    VH_TRY(vh_base_new(ctx, models, &s->base));
    VH_TRY(choose_trial(ctx, s, seed));
    VH_TRY(make_floor(ctx, s));
done:
    return st;
}

static void tear_down(vhem_ctx *ctx, search *s)
{
    for (int r = 0; s->all && r < s->R; r++) {
        vh_vhem_run_free(&s->all[r].run);
        vhem_h3m_free(s->all[r].centers);
    }
    for (int t = 0; s->scratch && t < ctx->threads; t++)
        vh_scratch_free(&s->scratch[t]);
    free(s->scratch);
    free(s->all);
    free(s->order);
    free(s->floor);
    if (s->trial != s->base)
        vh_base_free(s->trial);
    vhem_h3m_free(s->trial_models);
    vh_base_free(s->base);
}

vhem_status vh_method_vhem(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *opt, uint64_t seed,
                           vhem_clustering *out)
{
    vhem_status st = VHEM_OK;
    const vhem_h3m *h3m = in->models;
    vhem_h3m *full = NULL, *full_start = NULL;
    search s = { .opt = opt, .start = opt->start, .best = -1 };

    if (vh_cluster_wants_full(opt)) {
        VH_TRY(vh_h3m_as_full(ctx, h3m, &full));
        h3m = full;
        if (opt->start) {
            VH_TRY(vh_h3m_as_full(ctx, opt->start, &full_start));
            s.start = full_start;
        }
    }
    VH_TRY(set_up(ctx, &s, h3m, seed));
    VH_TRY(run_all(ctx, &s));
    VH_TRY(hand_over(ctx, &s, out));
    if (vh_stopped(ctx))
        st = vh_fail(ctx, VHEM_ESTOPPED, "stopped; the best of %d restarts is kept", out->n_run);
done:
    tear_down(ctx, &s);
    vhem_h3m_free(full);
    vhem_h3m_free(full_start);
    return st;
}
