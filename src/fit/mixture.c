/* SPDX-License-Identifier: BSD-3-Clause */
/* mixture.c - a mixture of HMMs from several starts: vh_mixture_fit, and vh_fit_mixture. */
#include "fit/em_h3m.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "fit/fit.h"
#include "fit/start.h"
#include "fit/lengths.h"
#include "fit/options.h"
#include "fit/family.h"
#include "hmm/topology.h"
#include "math/blas.h"
#include "hmm/convert.h"
#include "hmm/missing_columns.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { WAVE = 512 }; /* components of restarts that run in parallel: their tables then stay in cache */
#define TIE 1e-9     /* as in fit.c: among restarts this close, keep the first */

typedef struct {
    vh_mixture mix;
    vh_fit_scale scale;
    double *xs;        /* [2][d]  coordinates */
    vh_topology *topo; /* [K] */
    vh_limits *limits; /* [K] */
    vh_workers workers;
    const vh_emission *family; /* its statistics match the data */
} fitting;

static vhem_status prepare_mixture(vhem_ctx *ctx, fitting *f)
{
    const vh_sets *sets = f->mix.sets;
    vh_fit_item item = f->mix.item;
    const vhem_fit_options *opt = item.opt;
    const vhem_data *data = item.data;
    const vh_h3m *start = vh_fit_start(opt);
    const vh_shape shape = vh_fit_shape(data);

    item.seq = sets->seq;
    item.n = data->N;
    VH_TRY(vh_family_for(ctx, vh_fit_family(data, opt), &shape, data, NULL, 0, &f->family));
    VH_TRY(vh_fit_scale_of(ctx, data, sets, opt->S * opt->M, opt->cov_floor, &f->scale));
    VH_NEW(f->xs, 2 * (size_t)data->d);
    vh_data_coords(f->family, &shape, data, NULL, data->N, f->scale.spread, f->xs);
    item.origin = f->xs;
    item.scale = f->xs + data->d;
    item.frames = data->start[data->N];
    for (int64_t n = 0; n < data->N; n++)
        item.mass += (double)vh_data_length(data, n) * vh_data_weight(data, n);
    VH_NEW(f->topo, opt->K);
    VH_NEW(f->limits, opt->K);
    for (int j = 0; j < opt->K; j++) {
        const vh_hmm *given = start ? &start->hmm[j] : NULL;
        VH_TRY(vh_topology_new(ctx, opt, given ? given->S : opt->S, given, &f->topo[j]));
        f->limits[j] = (vh_limits){ .fixed_pi = f->topo[j].pi,
                                    .fixed_A = f->topo[j].A,
                                    .floor = f->scale.floor,
                                    .scale = item.scale,
                                    .unit = 1.0 };
    }
    item.limits = f->limits[0];
    item.ordered = f->topo[0].ordered;
    f->mix.item = item;
    f->mix.limits = f->limits;
    f->mix.workers = &f->workers;
    VH_TRY(vh_workers_new(ctx, ctx->threads, &f->workers));
    return vh_sequences_open(ctx,
                             &(vh_sequences){ .data = data,
                                              .seq = item.seq,
                                              .n = item.n,
                                              .first = sets->first,
                                              .n_set = sets->n,
                                              .family = f->family,
                                              .x = { shape, item.origin, item.scale },
                                              .workers = &f->workers,
                                              .shared = true },
                             &f->mix.seqs);
}

static void tear_down(fitting *f)
{
    vh_data_release(f->mix.item.data, NULL, f->mix.item.data->N);
    for (int j = 0; f->topo && j < f->mix.item.opt->K; j++)
        vh_topology_free(&f->topo[j]);
    vh_sequences_close(f->mix.seqs);
    vh_workers_free(&f->workers);
    free(f->topo);
    free(f->limits);
    vh_fit_scale_free(&f->scale);
    free(f->xs);
}

static vhem_status make_start(vhem_ctx *ctx, fitting *f, int r, vh_h3m *all, int first, vh_em_run *run)
{
    const vhem_fit_options *opt = f->mix.item.opt;
    const vh_h3m *start = vh_fit_start(opt);
    vh_rng rng;

    /* A single HMM covers all sets: its first start uses all of them, "dealt". */
    const char *kind = f->mix.kind ? f->mix.kind : vh_em_starts[(opt->K == 1 ? r + 1 : r) % 2];
    run->seed = vh_rng_seed(f->mix.seed, (uint64_t)r);
    run->kind = start ? "given" : kind;
    for (int j = 0; j < opt->K; j++) {
        const vh_hmm *given = start ? &start->hmm[j] : NULL;
        VH_TRY(vh_h3m_shape(ctx, all, first + j, given ? given->S : opt->S, given ? given->M : opt->M));
        if (!given)
            continue;
        vh_hmm_copy(&all->hmm[first + j], given);
        vh_start_obey(&f->limits[j], &all->hmm[first + j]);
        all->omega[first + j] = start->omega[j];
    }
    vh_rng_init(&rng, run->seed, VH_RNG_INIT, 0);
    if (!start)
        VH_TRY(vh_em_start(ctx, kind, &f->mix, &rng, all, first));
    return VHEM_OK;
}

/* True if run r is better than the best so far by more than rounding. */
static bool is_better(const vh_mixture_result *out, int r)
{
    assert(out->run);
    const vh_em_run *a = &out->run[r], *b = out->best < 0 ? NULL : &out->run[out->best];
    double J = b ? b->J[b->n_iter] : 0;
    if (a->st != VHEM_OK)
        return false;
    return !b || a->J[a->n_iter] > J + TIE * fabs(J);
}

/* Runs restarts lo .. hi-1 in parallel; keeps the best of all so far. */
static vhem_status run_wave(vhem_ctx *ctx, fitting *f, int lo, int hi, vh_mixture_result *kept,
                            vh_mixture_result *out)
{
    const vhem_fit_options *opt = f->mix.item.opt;
    int K = (int)opt->K, before = out->best;
    VH_AUTOFREE int64_t *index = NULL;
    VH_OWN(vh_h3m) *all = NULL;
    vh_h3m *best = NULL;

    VH_NEW(index, K);
    VH_TRY(vh_h3m_new(ctx, f->family, vh_fit_shape(f->mix.item.data), (hi - lo) * K, &all));
    for (int r = lo; r < hi; r++) {
        VH_CHECK(r == lo || !vh_overdue(ctx), VHEM_ESTOPPED, "stopped");
        VH_TRY(make_start(ctx, f, r, all, (r - lo) * K, &out->run[r]));
    }
    VH_TRY(vh_em_h3m(ctx, &f->mix, all, hi - lo, lo, out->run + lo, kept));
    for (int r = lo; r < hi; r++)
        if (is_better(out, r))
            out->best = r;
    if (out->best == before)
        return VHEM_OK;
    for (int j = 0; j < K; j++)
        index[j] = (out->best - lo) * K + j;
    VH_TRY(vh_h3m_subset(ctx, all, index, K, &best));
    vh_h3m_free(out->h3m);
    out->h3m = best;
    return VHEM_OK;
}

/* Removes failed restarts, with a warning; fails if all failed. */
static vhem_status drop_failed(vhem_ctx *ctx, vh_mixture_result *x)
{
    int left = 0, failed = 0, begun = 0, best = x->best;

    if (best < 0 || !x->h3m)
        return VHEM_ENUMERIC; /* the error is that of the last restart */
    for (int r = 0; r < x->R; r++) {
        vh_em_run run = x->run[r];
        begun += run.J != NULL;
        if (run.st == VHEM_ENOMEM) /* its result is unknown */
            return vh_fail(ctx, VHEM_ENOMEM, "out of memory: restart %d could not be run", r);
        if (run.st != VHEM_OK) {
            failed += run.st != VHEM_ESTOPPED;
            free(run.J);
            continue;
        }
        x->best = r == best ? left : x->best;
        x->run[left++] = run;
    }
    if (failed > 0)
        vh_log(ctx, VHEM_LOG_WARN, "%d of %d restarts failed: %s", failed, begun, ctx->error);
    x->R = left;
    return VHEM_OK;
}

static vhem_status name_hmms(vhem_ctx *ctx, vh_h3m *h3m)
{
    for (int64_t j = 0; j < h3m->K; j++)
        VH_TRY(vh_h3m_set_cluster(ctx, &h3m->hmm[j].name, j));
    return VHEM_OK;
}

/* After a stop: takes the best mixture of all complete E-steps, with its tables. */
static vhem_status take_kept(vhem_ctx *ctx, vh_mixture_result *kept, vh_mixture_result *x)
{
    VH_CHECK(kept->h3m, VHEM_ESTOPPED, "stopped before any mixture was finished");
    vh_h3m_free(x->h3m);
    free(x->z);
    free(x->L);
    x->h3m = kept->h3m;
    x->z = kept->z;
    x->L = kept->L;
    x->best = kept->best;
    x->run[x->best].converged &= x->run[x->best].n_iter == kept->iter;
    x->run[x->best].n_iter = kept->iter;
    *kept = (vh_mixture_result){ 0 };
    return VHEM_OK;
}

vhem_status vh_mixture_fit(vhem_ctx *ctx, const vh_mixture *asked, vh_mixture_result *out)
{
    VH_BLAS_SERIAL;
    const vhem_fit_options *opt = asked->item.opt;
    VH_CLEANUP(vh_mixture_result_free) vh_mixture_result x = { .R = opt->restarts, .best = -1 }, kept = { 0 };
    VH_CLEANUP(tear_down) fitting f = { .mix = *asked };
    size_t table = vh_cells(asked->sets->n, opt->K);
    int wave = (int)(WAVE / ((int64_t)opt->K * opt->S * opt->M));
    vhem_status st = VHEM_OK;
    bool stopped = false;

    wave = wave < 1 ? 1 : wave;
    VH_TRY(prepare_mixture(ctx, &f));
    VH_NEW(x.run, x.R);
    VH_NEW(x.z, table);
    VH_NEW(x.L, table);
    for (int r = 0; r < x.R && !stopped; r += wave) {
        vh_progress(ctx, asked->what, r, x.R);
        st = run_wave(ctx, &f, r, r + wave < x.R ? r + wave : x.R, &kept, &x);
        stopped = st == VHEM_ESTOPPED;
        if (st != VHEM_OK && !stopped)
            return st;
    }
    vh_progress(ctx, asked->what, x.R, x.R);
    if (!stopped && x.h3m) {
        st = vh_em_assign(ctx, &f.mix, x.h3m, x.z, x.L, NULL);
        stopped = st == VHEM_ESTOPPED;
    }
    VH_TRY(stopped ? take_kept(ctx, &kept, &x) : st);
    VH_TRY(drop_failed(ctx, &x));
    VH_TRY(name_hmms(ctx, x.h3m));
    VH_TRY(vh_lengths_of(ctx, asked->item.data, &x.h3m->lengths));
    x.h3m->family = vh_fit_family(asked->item.data, opt); /* the family for missing cells is internal */
    *out = x;
    x = (vh_mixture_result){ 0 };
    return stopped ? VHEM_ESTOPPED : VHEM_OK;
}

void vh_mixture_result_free(vh_mixture_result *x)
{
    for (int r = 0; x->run && r < x->R; r++)
        free(x->run[r].J);
    free(x->run);
    free(x->z);
    free(x->L);
    vh_h3m_free(x->h3m);
    *x = (vh_mixture_result){ 0 };
}

/* ---- vh_fit_mixture ------------------------------------------------------------------------------------ */

static vhem_status resolve(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *asked,
                           vhem_fit_options *o)
{
    VH_TRY(vh_fit_resolve(ctx, data, asked, o));
    if (o->prior && strcmp(o->prior, "none") != 0)
        vh_log(ctx, VHEM_LOG_WARN, "priors are for single HMMs: the mixture is fitted without one");
    VH_CHECK(!o->start || o->start->h3m, VHEM_EINVAL, "the start holds dynamic textures, must hold HMMs");
    const vh_h3m *start = vh_fit_start(o);
    o->restarts = start ? 1 : o->restarts > 0 ? o->restarts : VH_MIXTURE_RESTARTS;
    if (start) {
        VH_CHECK(start->d == data->d, VHEM_EINVAL, "the start has dimension %d, but the data has %d",
                 start->d, data->d);
        VH_CHECK(o->K == 0 || o->K == start->K, VHEM_EINVAL, "K is %lld, the start has %lld HMMs",
                 (long long)o->K, (long long)start->K);
        o->K = start->K;
        o->emission = start->family->name;
        for (int64_t j = 0; j < start->K; j++) {
            o->S = j == 0 || start->hmm[j].S > o->S ? start->hmm[j].S : o->S;
            o->M = j == 0 || start->hmm[j].M > o->M ? start->hmm[j].M : o->M;
        }
    }
    VH_CHECK(o->K >= 1, VHEM_EINVAL, "K is %lld, a mixture needs at least one HMM", (long long)o->K);
    return VHEM_OK;
}

static vhem_status make_report(vhem_ctx *ctx, const vhem_data *data, const vh_mixture_result *x,
                               vhem_fit_report **out)
{
    VH_OWN(vhem_fit_report) *report = NULL;

    VH_TRY(vh_fit_report_new(ctx, 1, x->R, &report));
    report->R = 0;
    report->frames[0] = data->start[data->N];
    report->best[0] = x->best;
    for (; report->R < x->R && x->run[report->R].J; report->R++) {
        const vh_em_run *r = &x->run[report->R];
        report->run[report->R] = (vhem_fit_run){ r->J[r->n_iter], r->n_iter,    r->converged,
                                                 r->n_revived,    r->n_floored, r->J[r->n_iter] };
    }
    *out = vh_take(report);
    return VHEM_OK;
}

vhem_status vh_fit_mixture(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, vh_h3m **out,
                           vhem_fit_report **report)
{
    vhem_status st = VHEM_OK;
    vhem_fit_options o;
    VH_CLEANUP(vh_sets_free) vh_sets sets = { 0 };
    VH_CLEANUP(vh_mixture_result_free) vh_mixture_result x = { 0 };
    const vh_shape shape = vh_fit_shape(data);

    VH_TRY(resolve(ctx, data, opt, &o));
    VH_TRY(vh_sets_new(ctx, data, o.by_group, &sets));
    VH_TRY(
        vh_family_for(ctx, vh_fit_family(data, &o), &shape, data, NULL, 0, &(const vh_emission *){ NULL }));
    VH_CHECK(o.K <= sets.n || o.start, VHEM_EINVAL, "K is %lld, but there are only %lld %ss", (long long)o.K,
             (long long)sets.n, o.by_group ? "group" : "sequence");
    const vh_mixture mixture = {
        .item = { .data = data, .opt = &o }, .sets = &sets, .seed = ctx->opt.seed, .what = "fit"
    };
    st = vh_mixture_fit(ctx, &mixture, &x);
    if (st != VHEM_OK && st != VHEM_ESTOPPED)
        return st;
    if (!x.h3m) /* stopped too early */
        return st;
    if (report) {
        vhem_status made = make_report(ctx, data, &x, report);
        st = made == VHEM_OK ? st : made;
    }
    if (x.h3m && (st == VHEM_OK || st == VHEM_ESTOPPED)) {
        for (int64_t j = 0; j < x.h3m->K; j++)
            vh_family_forget(data, NULL, data->N, x.h3m, &x.h3m->hmm[j]);
        vh_h3m_settle_family(x.h3m);
        *out = x.h3m;
        x.h3m = NULL;
    }
    if (st == VHEM_ESTOPPED)
        vh_fail(ctx, st, "stopped; the best mixture so far is kept");
    return st;
}
