/* SPDX-License-Identifier: BSD-3-Clause */
/* fit.c - vhem_fit_each: one HMM for each sequence or group of sequences.
 *
 *   1. what is asked for
 *   2. one job: starts, Baum-Welch, the best restart
 *   3. all jobs, in parallel over jobs when there are many, else inside each */
#include "core/alloc.h"
#include "core/jobs.h"
#include "estimate/baum_welch.h"
#include "estimate/init.h"
#include "estimate/lengths.h"
#include "estimate/options.h"
#include "estimate/sets.h"
#include "estimate/spread.h"
#include "estimate/topology.h"
#include "math/linalg.h"
#include "math/logsum.h"

#include <math.h>
#include <string.h>

/* Restarts often end in one optimum with the states numbered differently.  Which of them is higher by
 * rounding says nothing; the first is kept, so that the answer does not hang on the last digit. */
#define TIE 1e-9

/* ---- 1. what is asked for ------------------------------------------------------------------------------ */

typedef struct { /* what all jobs share */
    const vhem_data *data;
    vhem_fit_options opt;   /* with the shape of the start, if there is one */
    vh_sets sets;           /* the sequences of each HMM */
    double *spread, *floor; /* [d]  deviation of all the data; smallest variances, NULL: none */
    vhem_h3m *out;
    vhem_fit_report *report;
    unsigned char *begun; /* [K] */
    vh_workers workers;
} fit;

/* A given start settles shape and family; it must suit the data. */
static vhem_status check_start(vhem_ctx *ctx, const vhem_data *data, const vhem_h3m *start, int K)
{
    vhem_status st = VHEM_OK;
    VH_CHECK(start->d == data->d, VHEM_EINVAL, "the start has dimension %d, the data %d", start->d, data->d);
    VH_CHECK(start->K == 1 || start->K == K, VHEM_EINVAL,
             "the start has %d HMMs, must have 1 or one for each of the %d to fit", start->K, K);
    for (int i = 1; i < start->K; i++)
        VH_CHECK(start->hmm[i].S == start->hmm[0].S && start->hmm[i].M == start->hmm[0].M, VHEM_EINVAL,
                 "the start has HMMs of different size (HMM %d)", i);
done:
    return st;
}

static vhem_status name_model(vhem_ctx *ctx, const fit *f, int i, vh_hmm *h)
{
    vhem_status st = VHEM_OK;
    const char *name = vh_sets_name(&f->sets, f->data, i, f->opt.by_group);
    const char *label = vh_sets_label(&f->sets, f->data, i);
    if (name[0])
        VH_TRY(vh_h3m_set_text(ctx, &h->name, name));
    if (label[0])
        VH_TRY(vh_h3m_set_text(ctx, &h->label, label));
done:
    return st;
}

/* ---- 2. one job ---------------------------------------------------------------------------------------- */

/* The R starts of a job, made to agree with its topology. */
static vhem_status make_starts(vhem_ctx *ctx, const vh_job *job, const vh_hmm *given, int R, vhem_h3m **out)
{
    vhem_status st = VHEM_OK;
    const vhem_fit_options *opt = job->opt;
    vhem_h3m *runs = NULL;

    VH_TRY(vh_h3m_new(ctx, vh_emission_find(opt->emission), job->data->d, R, &runs));
    for (int r = 0; r < R; r++) {
        vh_hmm *h = &runs->hmm[r];
        vh_rng rng;
        VH_TRY(vh_h3m_shape(ctx, runs, r, opt->S, opt->M));
        vh_rng_init(&rng, ctx->opt.seed, VH_RNG_INIT, job->item << 16 | (uint64_t)r);
        if (given)
            vh_hmm_copy(h, given);
        else if (r > 0 && vh_stopped(ctx))
            vh_hmm_copy(h, &runs->hmm[0]); /* no more than one start is needed now */
        else
            VH_TRY(vh_start_hmm(ctx, job, &rng, r, runs, h));
        vh_start_obey(&job->limits, h);
    }
    *out = runs;
    runs = NULL;
done:
    vhem_h3m_free(runs);
    return st;
}

static vhem_status run_job(vhem_ctx *ctx, fit *f, int i, vh_workers *workers)
{
    vhem_status st = VHEM_OK;
    int d = f->data->d, R = f->report->R, best = 0;
    const vhem_h3m *start = f->opt.start;
    const vh_hmm *given = start ? &start->hmm[start->K == 1 ? 0 : i] : NULL;
    vhem_fit_run *run = f->report->run + (size_t)i * (size_t)R;
    vh_topology topo = { 0 };
    vhem_h3m *runs = NULL;
    double *xs = NULL;
    vh_job job = { .data = f->data,
                   .seq = f->sets.seq + f->sets.first[i],
                   .n = f->sets.first[i + 1] - f->sets.first[i],
                   .opt = &f->opt,
                   .item = (uint64_t)i };

    job.frames = vh_sets_frames(&f->sets, f->data, i, &job.mass);
    VH_NEW(xs, 2 * (size_t)d);
    vh_spread_scale(f->data, job.seq, job.n, f->spread, xs, xs + d);
    job.origin = xs;
    job.scale = xs + d;
    VH_TRY(vh_topology_new(ctx, &f->opt, f->opt.S, given, &topo));
    job.limits = (vh_limits){ topo.pi, topo.A, f->floor, job.scale, 1.0 };
    job.ordered = topo.ordered;
    VH_TRY(make_starts(ctx, &job, given, R, &runs));
    st = vh_baum_welch(ctx, &job, runs, workers, run);
    if (st != VHEM_OK && st != VHEM_ESTOPPED)
        goto done;
    for (int r = 1; r < R; r++)
        if (run[r].loglik > run[best].loglik + TIE * fabs(run[best].loglik))
            best = r;
    vh_hmm_copy(&f->out->hmm[i], &runs->hmm[best]);
    f->report->best[i] = best;
    f->report->frames[i] = job.frames;
    f->begun[i] = 1;
done:
    vh_data_release(f->data, job.seq, job.n);
    vh_topology_free(&topo);
    vhem_h3m_free(runs);
    free(xs);
    return st;
}

/* ---- 3. all jobs --------------------------------------------------------------------------------------- */

static vhem_status run_numbered(vhem_ctx *ctx, void *arg, int i, int worker)
{
    fit *f = arg;
    vh_workers own = { ctx->threads, &f->workers.scratch[worker] };
    return run_job(ctx, f, i, &own);
}

static vhem_status run_jobs(vhem_ctx *ctx, fit *f)
{
    vhem_status st = VHEM_OK;
    const vh_jobs jobs = {
        .n = f->sets.n, .what = "fit", .inside = true, .logs = true, .run = run_numbered, .arg = f
    };
    int failed = -1;

    vh_blas_enter();
    VH_TRY(vh_workers_new(ctx, ctx->threads, &f->workers));
    st = vh_run_jobs(ctx, &jobs, &failed);
    if (failed >= 0)
        vh_h3m_prefix(ctx, f->out, failed);
done:
    vh_workers_free(&f->workers);
    vh_blas_leave();
    return st;
}

/* Such an HMM has states that no frame can be in: the wrong thing was taken for a sequence, most likely. */
static void warn_of_few_frames(vhem_ctx *ctx, const fit *f)
{
    int few = 0, K = f->sets.n;
    for (int i = 0; i < K; i++)
        few += vh_sets_frames(&f->sets, f->data, i, NULL) < f->opt.S;
    if (few > 0)
        vh_log(ctx, VHEM_LOG_WARN, "%d of %d %s%s %s fewer frames than the %d states%s", few, K,
               f->opt.by_group ? "group" : "sequence", K == 1 ? "" : "s", few == 1 ? "has" : "have", f->opt.S,
               f->opt.by_group ? "" : "; did you mean --group?");
}

static vhem_status set_up(vhem_ctx *ctx, const vhem_fit_options *opt, fit *f)
{
    vhem_status st = VHEM_OK;
    int K, R;

    VH_TRY(vh_fit_resolve(ctx, f->data, opt, &f->opt));
    VH_TRY(vh_sets_new(ctx, f->data, f->opt.by_group, &f->sets));
    K = f->sets.n;
    if (f->opt.start) {
        VH_TRY(check_start(ctx, f->data, f->opt.start, K));
        f->opt.S = f->opt.start->hmm[0].S;
        f->opt.M = f->opt.start->hmm[0].M;
        f->opt.emission = f->opt.start->family->name;
        f->opt.restarts = 1; /* all would be the same */
    }
    R = f->opt.restarts > 0 ? f->opt.restarts : VH_FIT_RESTARTS;
    warn_of_few_frames(ctx, f);
    VH_TRY(vh_fit_floor(ctx, f->data, f->opt.cov_floor, &f->spread, &f->floor));
    VH_TRY(vh_h3m_new(ctx, vh_emission_find(f->opt.emission), f->data->d, K, &f->out));
    VH_TRY(vh_lengths_of(ctx, f->data, &f->out->lengths));
    VH_NEW(f->report, 1);
    *f->report = (vhem_fit_report){ .K = K, .R = R };
    VH_NEW(f->report->best, K);
    VH_NEW(f->report->frames, K);
    VH_NEW(f->report->run, (size_t)K * (size_t)R);
    VH_NEW(f->begun, K);
    for (int i = 0; i < K; i++) {
        VH_TRY(vh_h3m_shape(ctx, f->out, i, f->opt.S, f->opt.M));
        VH_TRY(name_model(ctx, f, i, &f->out->hmm[i]));
    }
done:
    return st;
}

/* After a stop: only the models that were begun, in their old order, with equal weights. */
static void keep_begun(fit *f)
{
    int n = 0;
    vhem_h3m *h = f->out;
    vhem_fit_report *r = f->report;
    for (int i = 0; i < h->K; i++) {
        if (!f->begun[i])
            continue;
        vh_hmm swap = h->hmm[n];
        h->hmm[n] = h->hmm[i];
        h->hmm[i] = swap;
        r->best[n] = r->best[i];
        r->frames[n] = r->frames[i];
        memmove(r->run + (size_t)n * (size_t)r->R, r->run + (size_t)i * (size_t)r->R,
                sizeof *r->run * (size_t)r->R);
        n++;
    }
    vh_h3m_truncate(h, n);
    r->K = n;
}

vhem_status vhem_fit_each(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, vhem_h3m **out,
                          vhem_fit_report **report)
{
    vhem_status st = VHEM_OK;
    fit f = { .data = data };

    VH_TRY(set_up(ctx, opt, &f));
    st = run_jobs(ctx, &f);
    if (st != VHEM_OK && st != VHEM_ESTOPPED)
        goto done;
    if (st == VHEM_ESTOPPED) {
        keep_begun(&f);
        vh_fail(ctx, VHEM_ESTOPPED, "stopped; %d of %d HMMs were fitted", f.out->K, f.sets.n);
        if (f.out->K == 0)
            goto done;
    }
    *out = f.out;
    f.out = NULL;
    if (report) {
        *report = f.report;
        f.report = NULL;
    }
done:
    vhem_h3m_free(f.out);
    vhem_fit_report_free(f.report);
    vh_sets_free(&f.sets);
    free(f.spread);
    free(f.floor);
    free(f.begun);
    return st;
}

void vhem_fit_report_free(vhem_fit_report *report)
{
    if (!report)
        return;
    free(report->best);
    free(report->frames);
    free(report->run);
    free(report);
}
