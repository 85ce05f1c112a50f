/* SPDX-License-Identifier: BSD-3-Clause */
/* restarts.c - see restarts.h.
 *
 *   1. one restart: a start, a soft phase, a few iterations
 *   2. all restarts, then the promising ones to their end
 *   3. candidates, and the choice among all runs
 *   4. memory */
#include "search/restarts.h"

#include "search/presets.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "parallel/ranks.h"
#include "core/rng.h"
#include "parallel/parallel.h"
#include "math/agreement.h"
#include "math/logsum.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    SHORT = 5,           /* iterations before a restart is judged */
    FINALISTS = 3,       /* at least this many, and a third of all, run to their end */
    TRIAL_FINALISTS = 2, /* restarts judged on a sample that continue with all models */
    MANY_MODELS = 20000, /* from here on, restarts run one at a time to save memory */
    ROUND = 40,          /* restarts in a batch, before testing whether they suffice */
    AGAIN = 3,           /* runs that must have found the best partition and its bound */
};
#define CHEAP     1e7  /* if all restarts cost less than this, all run to their end */
#define SOFT_NV   0.1  /* most virtual samples per model in the soft phase; */
#define SOFT_NATS 10.0 /* fewer if centres then differ by more than this */
#define SOFT_TOL  1e-4
#define SAME      1e-6 /* relative difference below which bounds are equal */

/* ---- 1. one restart ------------------------------------------------------------------------------------ */

/* True if restarts are judged on a sample.  A given start runs on all base models. */
static bool has_trial(const vh_search *s)
{
    return s->Kb_trial != s->Kb && !s->given;
}

static vh_vhem_options run_options(const vh_search *s, bool trial, uint64_t seed)
{
    const vhem_cluster_options *o = s->opt;
    return (vh_vhem_options){ .N = o->nv * (trial ? s->Kb_trial : s->Kb),
                              .tau = o->tau,
                              .max_iter = o->max_iter,
                              .tol = o->tol,
                              .constant = s->constant,
                              .min_iter = vh_cluster_min_iter(o),
                              .floor = s->floor,
                              .cov_add = o->cov_add,
                              .repair = o->repair,
                              .weighted = o->weighted_omega,
                              .lean = s->lean && !trial,
                              .seed = seed };
}

/* Runs the EM loop.  ESTOPPED counts as success once one E-step has finished: the run is at its last full
 * iteration, and the caller checks for stops itself. */
static vhem_status go(vhem_ctx *ctx, const vh_search *s, bool trial, const vh_vhem_options *opt,
                      vh_restart *r, vh_vhem_run *run)
{
    vhem_status st = s->reduce(ctx, s->arg, trial, opt, &s->workers, r->centers, run);
    r->stopped = st == VHEM_ESTOPPED;
    return r->stopped && run->n_iter >= 0 ? VHEM_OK : st;
}

/* Virtual samples per model at which the starting centres differ by about SOFT_NATS: what counts as soft
 * depends on how different the models are, which grows with their dimension. */
static double soft_samples(int64_t Kb, int64_t K, const double *L)
{
    double apart = 0;
    for (int64_t i = 0; i < Kb; i++) {
        const double *row = L + vh_row(i, K);
        double top = row[0], sum = 0;
        for (int64_t j = 0; j < K; j++) {
            top = fmax(top, row[j]);
            sum += row[j];
        }
        apart += (top - sum / K) / Kb;
    }
    return fmin(SOFT_NV, SOFT_NATS / fmax(apart, 1e-300));
}

/* The start, the soft phase, and at most `limit` iterations.  On a sample of the models, keeps only the
 * centres. */
static vhem_status begin_restart(vhem_ctx *ctx, const vh_search *s, int limit, vh_restart *r)
{
    bool trial = has_trial(s);
    vh_vhem_options o = run_options(s, trial, r->seed), soft = o;
    VH_CLEANUP(vh_vhem_run_free) vh_vhem_run ignored = { 0 };
    int64_t Kb = trial ? s->Kb_trial : s->Kb;

    r->begun = true;
    VH_TRY(s->start(ctx, s->arg, r, &s->workers.scratch[vh_worker(ctx, ctx->threads)], &r->centers));
    soft.tol = fmax(SOFT_TOL, o.tol);
    if (r->soft > 0) {
        bool some = s->Kb_trial != s->Kb;
        vh_vhem_options far = run_options(s, some, r->seed);
        far.max_iter = 0;
        VH_TRY(go(ctx, s, some, &far, r, &ignored));
        soft.N = fmin(soft_samples(s->Kb_trial, s->K, ignored.L) * Kb, o.N);
        vh_vhem_run_free(&ignored);
        soft.max_iter = r->soft;
        VH_TRY(go(ctx, s, trial, &soft, r, &ignored));
    }
    if (limit == 0) /* the bound is not needed yet */
        return VHEM_OK;
    o.max_iter = limit < o.max_iter ? limit : o.max_iter;
    VH_TRY(go(ctx, s, trial, &o, r, &r->run));
    r->J = r->run.J[r->run.n_iter];
    r->finished = !trial && (r->run.converged || r->run.n_iter >= s->opt->max_iter);
    if (trial)
        vh_vhem_run_free(&r->run);
    return VHEM_OK;
}

/* Appends the continuation `more` to a run: counts add up, and the bounds are concatenated. */
static vhem_status append(vhem_ctx *ctx, vh_vhem_run *run, vh_vhem_run *more)
{
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
    return VHEM_OK;
}

/* The partition of n models defined by the tables of a run. */
static vhem_status take_labels(vhem_ctx *ctx, const vh_search *s, int64_t n, vh_restart *r)
{
    free(r->label);
    r->label = r->run.label;
    r->run.label = NULL;
    if (r->label)
        return VHEM_OK;
    VH_NEW(r->label, n);
    for (int64_t i = 0; i < n; i++)
        r->label[i] = vh_argmax(s->K, r->run.z + vh_row(i, s->K), 1);
    return VHEM_OK;
}

static vhem_status finish_restart(vhem_ctx *ctx, const vh_search *s, vh_restart *r)
{
    /* A new seed, so that its repairs do not repeat those of the short run. */
    vh_vhem_options o = run_options(s, false, r->seed + 1);
    VH_CLEANUP(vh_vhem_run_free) vh_vhem_run more = { 0 };

    o.max_iter = r->finished ? 0 : o.max_iter - r->run.n_iter;
    o.min_iter -= r->run.n_iter;
    int converged = r->run.converged;
    VH_TRY(go(ctx, s, false, &o, r, &more));
    VH_TRY(append(ctx, &r->run, &more));
    r->run.converged |= converged;
    r->J = r->run.J[r->run.n_iter];
    r->finished = !r->stopped;
    return take_labels(ctx, s, s->Kb, r);
}

/* ---- 2. all restarts ----------------------------------------------------------------------------------- */

static void drop_tables(vh_restart *r)
{
    free(r->run.z);
    free(r->run.L);
    r->run.z = r->run.L = NULL;
}

/* Restart r has finished; only the best so far keeps its tables.  The result does not depend on the order in
 * which restarts finish. */
static void keep_best(vh_search *s, int r)
{
#pragma omp critical(vh_cluster_best)
    {
        vh_restart *a = &s->all[r], *b = s->best < 0 ? NULL : &s->all[s->best];
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

typedef struct { /* a set of restarts to run */
    vhem_ctx *ctx;
    vh_search *s;
    const int *which;    /* [n]  their indices */
    int limit;           /* number of iterations; negative: run to the end */
    bool across;         /* in parallel */
    int64_t done, total; /* for progress */
} some_restarts;

/* Which restart fails first depends on the threads; reports the one with the lowest index. */
static void note_failure(vh_search *s, int r, const char *sentence)
{
#pragma omp critical(vh_restart_failed)
    if (s->failed < 0 || r < s->failed) {
        s->failed = r;
        snprintf(s->sentence, sizeof s->sentence, "%s", sentence);
    }
}

static void run_restart(void *arg, int64_t k, int worker)
{
    some_restarts *x = arg;
    vh_search *s = x->s;
    int r = x->which[k];
    vh_restart *a = &s->all[r];
    vhem_ctx member, *ctx = x->across ? &member : x->ctx;
    int64_t so_far;

    (void)worker;
    if ((vh_stopped(x->ctx) && k > 0) || x->ctx->parted != VHEM_OK)
        return;
    if (x->across)
        vh_ctx_member(x->ctx, &member);
    a->st = x->limit >= 0 ? begin_restart(ctx, s, x->limit, a) : finish_restart(ctx, s, a);
    if (a->st != VHEM_OK && a->st != VHEM_ESTOPPED)
        note_failure(s, r, ctx->error);
    if (a->st == VHEM_ENOMEM && vh_ranks(x->ctx) > 1) /* perhaps here alone */
        vh_ranks_part(x->ctx, a->st);
    if (x->limit >= 0)
        drop_tables(a);
    else
        keep_best(s, r);
#pragma omp atomic capture
    so_far = ++x->done;
    vh_progress(x->ctx, "cluster", so_far, x->total);
}

/* Runs the restarts which[0 .. n-1] in parallel; idle threads join running restarts.  For very many models,
 * runs one after the other with all threads, to save memory; also with several processes, because they share
 * the work of a restart and must all run the same one. */
static void run_some(vhem_ctx *ctx, int n, some_restarts *x)
{
    x->across =
        ctx->threads > 1 && vh_ranks(ctx) == 1 && (x->limit < 0 ? x->s->Kb : x->s->Kb_trial) < MANY_MODELS;
    vh_parallel(ctx, n, x->across ? ctx->threads : 1, false, run_restart, x);
}

/* Sorts restarts first .. end-1 by decreasing bound, ties by index; skips those that failed or did not begin.
 * Returns their number. */
static int rank_restarts(vh_search *s, int first, int end)
{
    int n = 0;
    for (int r = first; r < end; r++) {
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

/* Number of n restarts that run to their end. */
static int count_finalists(const vh_search *s, int n)
{
    bool cheap = s->R * s->work < CHEAP;
    int third = (n + 2) / 3, some = third > FINALISTS ? third : FINALISTS;
    some = has_trial(s) ? TRIAL_FINALISTS : some;
    return cheap || vh_cluster_runs_all(s->opt) || n < some ? n : some;
}

static bool same_partition(const vh_search *s, const vh_restart *a, const vh_restart *b, double least)
{
    vhem_agreement g;
    vh_agreement(s->Kb, a->label, b->label, &g);
    return g.adjusted_rand >= least;
}

/* True if AGAIN restarts have found the best partition, with its bound. */
static bool found_again(const vh_search *s)
{
    const vh_restart *b = s->best < 0 ? NULL : &s->all[s->best];
    double near = b ? fmax(SAME, 2 * s->opt->tol) * fabs(b->J - s->constant * s->opt->nv * (double)s->Kb) : 0;
    int found = 0;
    for (int r = 0; b && r < s->R && found < AGAIN; r++) {
        const vh_restart *a = &s->all[r];
        /* A run that converged early but was not a finalist has no labels. */
        found +=
            a->label && b->label && a->finished && b->J - a->J <= near && same_partition(s, a, b, 1 - SAME);
    }
    return found == AGAIN;
}

/* Runs restarts first .. end-1, then the promising ones to their end. */
static vhem_status run_restarts(vhem_ctx *ctx, vh_search *s, int first, int end)
{
    int n = end - first, F = count_finalists(s, n), limit = n <= F ? 0 : SHORT;
    int64_t total = s->R + count_finalists(s, s->R), before = first + count_finalists(s, first);

    for (int r = first; r < end; r++)
        s->order[r - first] = r;
    some_restarts x = {
        .ctx = ctx, .s = s, .which = s->order, .limit = limit, .done = before, .total = total
    };
    run_some(ctx, n, &x);
    int left = rank_restarts(s, first, end);
    if (left == 0)
        return s->all[first].st;
    x.limit = -1;
    x.done = before + n;
    run_some(ctx, F < left ? F : left, &x);
    return VHEM_OK;
}

/* Status of a search whose last batch returned `one`.  It fails if there is no best run, or if memory ran
 * out, because the other restarts might have found a better one. */
static vhem_status judge_failures(vhem_ctx *ctx, const vh_search *s, vhem_status one)
{
    vhem_status st = VHEM_OK;
    int failed = 0;

    VH_CHECK(ctx->parted == VHEM_OK, ctx->parted, "%s", ctx->why_parted);
    for (int r = 0; r < s->R; r++)
        failed += s->all[r].begun && s->all[r].st != VHEM_OK && s->all[r].st != VHEM_ESTOPPED;
    if (failed > 0 && s->best >= 0)
        vh_log(ctx, VHEM_LOG_WARN, "%d of %d restarts failed: %s", failed, s->R, s->sentence);
    if (s->best < 0 && s->failed >= 0)
        st = vh_fail(ctx, s->all[s->failed].st, "%s", s->sentence);
    else if (s->best < 0)
        st = one != VHEM_OK ? one : s->all[s->order[0]].st;
    for (int r = 0; r < s->R; r++)
        if (s->all[r].begun && s->all[r].st == VHEM_ENOMEM)
            st = vh_fail(ctx, VHEM_ENOMEM, "out of memory: restart %d could not be run", r);
    return st;
}

vhem_status vh_search_run(vhem_ctx *ctx, vh_search *s)
{
    vhem_status one = VHEM_OK;
    bool rounds = !has_trial(s) && !s->opt->preset;

    vh_progress(ctx, "cluster", 0, s->R + count_finalists(s, s->R));
    for (int first = 0, end; first < s->R && (first == 0 || !vh_stopped(ctx)); first = end) {
        end = rounds && s->R - first > ROUND ? first + ROUND : s->R;
        one = run_restarts(ctx, s, first, end);
        if (rounds && found_again(s))
            break;
    }
    return judge_failures(ctx, s, one);
}

/* ---- 3. candidates ------------------------------------------------------------------------------------- */

static vhem_status try_run(vhem_ctx *ctx, const vh_search *s, bool trial, int max_iter, vh_restart *r)
{
    vh_vhem_options o = run_options(s, trial, r->seed);

    if (max_iter >= 0)
        o.max_iter = max_iter;
    vh_vhem_run_free(&r->run);
    VH_TRY(go(ctx, s, trial, &o, r, &r->run));
    VH_TRY(take_labels(ctx, s, trial ? s->Kb_trial : s->Kb, r));
    r->J = r->run.J[r->run.n_iter];
    r->begun = true;
    r->finished = !r->stopped;
    return VHEM_OK;
}

vhem_status vh_search_try(vhem_ctx *ctx, vh_search *s, bool trial, int max_iter, vh_restart *r)
{
    r->st = try_run(ctx, s, trial, max_iter, r);
    return r->st;
}

void vh_search_join(vh_search *s, vh_restart *r)
{
    assert(s->n < s->R + VH_MAX_CANDIDATES);
    s->all[s->n] = *r;
    s->all[s->n].candidate = true;
    *r = (vh_restart){ 0 };
    keep_best(s, s->n++);
}

/* True if run r is within the slack of the best bound.  Random restarts that were not settled do not
 * count. */
static bool in_slack(const vh_search *s, int r, double top)
{
    const vh_restart *a = &s->all[r];
    return (a->candidate || a->J == top) && !isnan(a->modularity) && top - a->J <= s->slack;
}

/* True if run a ranks before run b: first the runs within the slack of the best bound, by modularity, then
 * all others by their bounds; ties by index. */
static bool comes_before(const vh_search *s, int a, int b, double top)
{
    bool near_a = in_slack(s, a, top), near_b = in_slack(s, b, top);
    const vh_restart *p = &s->all[a], *q = &s->all[b];
    if (near_a != near_b)
        return near_a;
    if (near_a && p->modularity != q->modularity)
        return p->modularity > q->modularity;
    return p->J != q->J ? p->J > q->J : a < b;
}

/* The best finished run that ranks after `above`; -1 if there is none. */
static int next_best(const vh_search *s, int above)
{
    int best = -1;
    double top = s->all[s->best].J;
    for (int r = 0; r < s->n; r++) {
        const vh_restart *a = &s->all[r];
        bool open =
            a->label && a->st == VHEM_OK && (above < 0 || comes_before(s, above, r, top)) && r != above;
        if (open && (best < 0 || comes_before(s, r, best, top)))
            best = r;
    }
    return best;
}

vhem_status vh_search_select(vhem_ctx *ctx, vh_search *s, int N)
{
    VH_AUTOFREE int *kept = NULL;
    int n = 0, r = -1;
    VH_CLEANUP(vh_restart_free) vh_restart tables = { 0 }; /* does not own its centres */

    VH_NEW(kept, N + 1);
    while (n < N + 1 && (r = next_best(s, r)) >= 0) {
        bool new = true;
        for (int k = 0; k < n; k++)
            new &= !same_partition(s, &s->all[r], &s->all[kept[k]], VH_SAME_GROUPS);
        if (new)
            kept[n++] = r;
    }
    VH_CHECK(n >= N, VHEM_EINVAL,
             "candidate %d is asked for, but the search found %d partition%s that differ", N, n,
             n == 1 ? "" : "s");
    s->next = n > N ? kept[N] : -1;
    r = kept[N - 1];
    if (r == s->best)
        return VHEM_OK;
    tables.centers = s->all[r].centers;
    VH_TRY(vh_search_try(ctx, s, false, 0, &tables));
    drop_tables(&s->all[s->best]);
    s->all[r].run.z = tables.run.z;
    s->all[r].run.L = tables.run.L;
    tables.run.z = tables.run.L = NULL;
    s->best = r;
    return VHEM_OK;
}

/* ---- 4. memory ----------------------------------------------------------------------------------------- */

vhem_status vh_search_new(vhem_ctx *ctx, const vhem_cluster_options *opt, const char *const *kinds,
                          int n_kind, bool given, uint64_t seed, vh_search *s)
{
    const char *one = NULL;

    s->opt = opt;
    s->best = s->next = s->failed = -1;
    s->given = given;
    s->R = s->n = opt->restarts;
    VH_NEW(s->all, s->R + VH_MAX_CANDIDATES);
    VH_NEW(s->order, s->R);
    VH_TRY(vh_workers_new(ctx, ctx->threads, &s->workers));
    for (int k = 0; k < n_kind; k++)
        if (strcmp(kinds[k], opt->init) == 0)
            one = kinds[k];
    for (int r = 0; r < s->R; r++) {
        s->all[r].kind = given ? NULL : one ? one : kinds[r % n_kind];
        s->all[r].seed = vh_rng_seed(seed, (uint64_t)r);
        s->all[r].free = s->free;
        s->all[r].modularity = NAN;
        s->all[r].soft = given || one || r / n_kind % 2 == 0 ? opt->soft : 0;
    }
    return VHEM_OK;
}

void vh_restart_free(vh_restart *r)
{
    vh_vhem_run_free(&r->run);
    free(r->label);
    if (r->free)
        r->free(r->centers);
    *r = (vh_restart){ 0 };
}

void vh_search_free(vh_search *s)
{
    for (int r = 0; s->all && r < s->n; r++)
        vh_restart_free(&s->all[r]);
    vh_workers_free(&s->workers);
    free(s->all);
    free(s->order);
}
