/* fit.c - vhem_fit_each: one HMM for each sequence or group of sequences.
 *
 *   1. options and their defaults
 *   2. which sequences belong to which HMM
 *   3. one job: starts, Baum-Welch, the best restart
 *   4. all jobs, in parallel over jobs when there are many, else inside each */
#include "core/alloc.h"
#include "estimate/baum_welch.h"
#include "estimate/init.h"
#include "estimate/spread.h"
#include "estimate/topology.h"
#include "math/linalg.h"
#include "math/logsum.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { DEFAULT_RESTARTS = 4 };

/* Restarts often end in one optimum with the states numbered differently.  Which of them is higher by
 * rounding says nothing; the first is kept, so that the answer does not hang on the last digit. */
#define TIE 1e-9

/* ---- 1. options ---------------------------------------------------------------------------------------- */

void vhem_fit_options_init(vhem_fit_options *opt)
{
    *opt = (vhem_fit_options){
        .S = 3,
        .M = 1,
        .max_iter = 200,
        .tol = 1e-5,
        .cov_floor = 1e-4,
        .emission = "gaussian-diag",
        .init = "kmeans",
        .topology = "free",
        .repair = 1,
    };
}

static vhem_status check_options(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt)
{
    vhem_status st = VHEM_OK;
    VH_CHECK(opt->S >= 1, VHEM_EINVAL, "S is %d, an HMM needs at least one state", opt->S);
    VH_CHECK(opt->S <= 4096, VHEM_EINVAL, "S is %d, at most 4096 states are possible", opt->S);
    VH_CHECK(opt->M >= 1, VHEM_EINVAL, "M is %d, a state needs at least one component", opt->M);
    VH_CHECK(opt->M <= 4096, VHEM_EINVAL, "M is %d, at most 4096 components are possible", opt->M);
    VH_CHECK(opt->restarts >= 0 && opt->restarts < 65536, VHEM_EINVAL, "%d restarts, must be from 1 to 65535",
             opt->restarts);
    VH_CHECK(opt->max_iter >= 0, VHEM_EINVAL, "max_iter is %d, must not be negative", opt->max_iter);
    VH_CHECK(opt->tol >= 0 && isfinite(opt->tol), VHEM_EINVAL, "tol is %g, must be 0 or more", opt->tol);
    VH_CHECK(opt->cov_floor >= 0 && isfinite(opt->cov_floor), VHEM_EINVAL,
             "cov_floor is %g, must be 0 or more", opt->cov_floor);
    VH_CHECK(vh_emission_find(opt->emission), VHEM_EINVAL, "emission '%s' is unknown; known are %s",
             opt->emission, vh_emission_names());
    VH_CHECK(opt->start || vh_start_find(opt->init), VHEM_EINVAL,
             "init '%s' is unknown; known are kmeans, segment, random", opt->init);
    VH_CHECK(data->N > 0, VHEM_EINVAL, "there are no sequences to fit");
    VH_CHECK(!opt->by_group || data->group, VHEM_EINVAL,
             "one HMM per group is wanted, but the data has no groups");
    VH_TRY(vh_data_require_complete(ctx, data));
done:
    return st;
}

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

/* ---- 2. which sequences belong to which HMM ------------------------------------------------------------ */

typedef struct {
    int  K;
    int *seq;                            /* [N]    sequences, those of one HMM together */
    int *first;                          /* [K+1]  where those of an HMM begin */
} partition;

static int by_group_then_place(const void *a, const void *b)
{
    const int *p = a, *q = b;                            /* pairs (group, sequence) */
    return p[0] != q[0] ? (p[0] > q[0]) - (p[0] < q[0]) : (p[1] > q[1]) - (p[1] < q[1]);
}

typedef struct {
    const char *name;
    int         place;
} named_place;

static int by_name_then_place(const void *a, const void *b)
{
    const named_place *p = a, *q = b;
    int c = strcmp(p->name, q->name);
    return c != 0 ? c : (p->place > q->place) - (p->place < q->place);
}

/* Groups are numbered in the order in which they appear. */
static vhem_status number_groups(vhem_ctx *ctx, const vhem_data *data, int *pairs)
{
    vhem_status st = VHEM_OK;
    named_place *by_name = NULL;

    VH_NEW(by_name, data->N);
    for (int n = 0; n < data->N; n++)
        by_name[n] = (named_place){ data->group[n], n };
    qsort(by_name, (size_t)data->N, sizeof *by_name, by_name_then_place);
    for (int i = 0, head = 0; i < data->N; i++) {
        if (strcmp(by_name[i].name, by_name[head].name) != 0)
            head = i;
        pairs[2 * by_name[i].place] = by_name[head].place;       /* the first sequence stands for its group */
    }
done:
    free(by_name);
    return st;
}

static vhem_status make_partition(vhem_ctx *ctx, const vhem_data *data, bool by_group, partition *out)
{
    vhem_status st = VHEM_OK;
    int *pairs = NULL;

    VH_NEW(pairs, 2 * (size_t)data->N);
    VH_NEW(out->seq, data->N);
    VH_NEW(out->first, data->N + 1);
    for (int n = 0; n < data->N; n++) {
        pairs[2 * n] = n;
        pairs[2 * n + 1] = n;
    }
    if (by_group) {
        VH_TRY(number_groups(ctx, data, pairs));
        qsort(pairs, (size_t)data->N, 2 * sizeof *pairs, by_group_then_place);
    }
    for (int i = 0; i < data->N; i++) {
        if (i == 0 || pairs[2 * i] != pairs[2 * (i - 1)])
            out->first[out->K++] = i;
        out->seq[i] = pairs[2 * i + 1];
    }
    out->first[out->K] = data->N;
done:
    free(pairs);
    return st;
}

/* The name of a model is that of its sequence or group; its label that of its sequences, if they agree. */
static vhem_status name_model(vhem_ctx *ctx, const vhem_data *data, const partition *p, int i, bool by_group,
                              vh_hmm *h)
{
    vhem_status st = VHEM_OK;
    int head = p->seq[p->first[i]];
    bool agree = data->label && data->label[head][0];
    char **name = by_group ? data->group : data->name;

    for (int k = p->first[i]; agree && k < p->first[i + 1]; k++)
        agree = strcmp(data->label[p->seq[k]], data->label[head]) == 0;
    if (name && name[head][0])
        VH_TRY(vh_h3m_set_text(ctx, &h->name, name[head]));
    if (agree)
        VH_TRY(vh_h3m_set_text(ctx, &h->label, data->label[head]));
done:
    return st;
}

/* ---- 3. one job ---------------------------------------------------------------------------------------- */

typedef struct {                         /* what all jobs share */
    const vhem_data *data;
    vhem_fit_options opt;                /* with the shape of the start, if there is one */
    partition        part;
    double          *spread, *floor;     /* [d]  deviation of all the data; smallest variances, NULL: none */
    vhem_h3m        *out;
    vhem_fit_report *report;
    unsigned char   *begun;              /* [K] */
} fit;

/* A row that breaks the topology is made to agree with it; one that does not is left to the last bit. */
static void obey(int n, const double *fixed, double *row)
{
    for (int q = 0; q < n; q++)
        if (!isnan(fixed[q]) && row[q] != fixed[q]) {
            vh_constrain(n, fixed, row, row);
            return;
        }
}

/* The R starts of a job, made to agree with its topology. */
static vhem_status make_starts(vhem_ctx *ctx, const vh_job *job, const vh_hmm *given, int R, vhem_h3m **out)
{
    vhem_status st = VHEM_OK;
    const vhem_fit_options *opt = job->opt;
    const vh_limits *lim = &job->limits;
    vhem_h3m *runs = NULL;
    const char *init = job->ordered && strcmp(opt->init, "kmeans") == 0 ? "segment" : opt->init;

    VH_TRY(vh_h3m_new(ctx, vh_emission_find(opt->emission), job->data->d, R, &runs));
    for (int r = 0; r < R; r++) {
        vh_hmm *h = &runs->hmm[r];
        vh_rng rng;
        VH_TRY(vh_h3m_shape(ctx, runs, r, opt->S, opt->M));
        if (given)
            vh_hmm_copy(h, given);
        else {
            vh_rng_init(&rng, ctx->opt.seed, VH_RNG_INIT, job->item << 16 | (uint64_t)r);
            VH_TRY(vh_start_find(init)(ctx, job, &rng, r, runs, h));
        }
        obey(h->S, lim->fixed_pi, h->pi);
        for (int s = 0; s < h->S; s++)
            obey(h->S, lim->fixed_A + s * h->S, h->A + s * h->S);
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
    vh_job job = { .data = f->data, .seq = f->part.seq + f->part.first[i],
                   .n = f->part.first[i + 1] - f->part.first[i], .opt = &f->opt,
                   .item = (uint64_t)i };

    for (int k = 0; k < job.n; k++) {
        int64_t T = vh_data_length(f->data, job.seq[k]);
        job.frames += T;
        job.mass += (double)T * vh_data_weight(f->data, job.seq[k]);
    }
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
    vh_topology_free(&topo);
    vhem_h3m_free(runs);
    free(xs);
    return st;
}

/* ---- 4. all jobs --------------------------------------------------------------------------------------- */

/* With at least as many jobs as threads each thread takes whole jobs; else
 * all threads work inside each job. */
static vhem_status run_jobs(vhem_ctx *ctx, fit *f)
{
    vhem_status st = VHEM_OK;
    int K = f->part.K, done_jobs = 0, failed = -1, threads = ctx->threads;
    bool across = K >= threads;
    vh_workers workers = { 0 };

    vh_blas_enter();
    VH_TRY(vh_workers_new(ctx, threads, &workers));
    vh_progress(ctx, "fit", 0, K);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (across && threads > 1)
    for (int i = 0; i < K; i++) {
        vh_workers own = { 1, &workers.scratch[across ? omp_get_thread_num() : 0] };
        vhem_status job_st;
        int skip, n;
#pragma omp atomic read
        skip = failed;
        if (skip >= 0 || vh_stopped(ctx))
            continue;
        job_st = run_job(ctx, f, i, across ? &own : &workers);
        if (job_st != VHEM_OK && job_st != VHEM_ESTOPPED) {
#pragma omp critical(vh_fit_failed)
            if (failed < 0) {
                failed = i;
                st = job_st;
            }
        }
#pragma omp atomic capture
        n = ++done_jobs;
        vh_progress(ctx, "fit", n, K);
    }
    if (failed >= 0)
        vh_h3m_prefix(ctx, f->out, failed);
    else if (vh_stopped(ctx))
        st = VHEM_ESTOPPED;
done:
    vh_workers_free(&workers);
    vh_blas_leave();
    return st;
}

/* Smallest variances, from the spread of all the data.  A dimension that
 * never varies is given unit spread. */
static vhem_status make_floor(vhem_ctx *ctx, fit *f)
{
    vhem_status st = VHEM_OK;
    double *mean = NULL;
    int d = f->data->d;

    VH_NEW(mean, d);
    VH_NEW(f->spread, d);
    vh_spread(f->data, NULL, f->data->N, mean, f->spread);
    for (int k = 0; k < d; k++)
        VH_CHECK(isfinite(f->spread[k] * f->spread[k]), VHEM_EINVAL,
                 "column '%s' has values too large for their variance to be a number; "
                 "divide it by a constant", vhem_data_column(f->data, k));
    for (int k = 0; k < d; k++)
        if (!(f->spread[k] > 0))
            vh_log(ctx, VHEM_LOG_WARN, "column '%s' never varies; it tells nothing and may be left out",
                   vhem_data_column(f->data, k));
    if (f->opt.cov_floor > 0) {
        VH_NEW(f->floor, d);
        for (int k = 0; k < d; k++)
            f->floor[k] = f->opt.cov_floor * (f->spread[k] > 0 ? f->spread[k] * f->spread[k] : 1);
    }
done:
    free(mean);
    return st;
}

/* Such an HMM has states that no frame can be in: the wrong thing was taken for a sequence, most likely. */
static void warn_of_few_frames(vhem_ctx *ctx, const fit *f)
{
    int few = 0, K = f->part.K;
    for (int i = 0; i < K; i++) {
        int64_t frames = 0;
        for (int k = f->part.first[i]; k < f->part.first[i + 1]; k++)
            frames += f->data->start[f->part.seq[k] + 1] - f->data->start[f->part.seq[k]];
        few += frames < f->opt.S;
    }
    if (few > 0)
        vh_log(ctx, VHEM_LOG_WARN, "%d of %d %s%s %s fewer frames than the %d states%s", few, K,
               f->opt.by_group ? "group" : "sequence", K == 1 ? "" : "s", few == 1 ? "has" : "have", f->opt.S,
               f->opt.by_group ? "" : "; did you mean --group?");
}

static vhem_status set_up(vhem_ctx *ctx, const vhem_fit_options *opt, fit *f)
{
    vhem_status st = VHEM_OK;
    vhem_fit_options defaults;
    int K, R;

    vhem_fit_options_init(&defaults);
    f->opt = opt ? *opt : defaults;
    f->opt.emission = f->opt.emission ? f->opt.emission : defaults.emission;
    f->opt.init = f->opt.init ? f->opt.init : defaults.init;
    f->opt.topology = f->opt.topology ? f->opt.topology : defaults.topology;
    VH_TRY(check_options(ctx, f->data, &f->opt));
    VH_TRY(make_partition(ctx, f->data, f->opt.by_group, &f->part));
    K = f->part.K;
    if (f->opt.start) {
        VH_TRY(check_start(ctx, f->data, f->opt.start, K));
        f->opt.S = f->opt.start->hmm[0].S;
        f->opt.M = f->opt.start->hmm[0].M;
        f->opt.emission = f->opt.start->family->name;
        f->opt.restarts = 1;                             /* all would be the same */
    }
    R = f->opt.restarts > 0 ? f->opt.restarts : DEFAULT_RESTARTS;
    warn_of_few_frames(ctx, f);
    VH_TRY(make_floor(ctx, f));
    VH_TRY(vh_h3m_new(ctx, vh_emission_find(f->opt.emission), f->data->d, K, &f->out));
    VH_NEW(f->report, 1);
    *f->report = (vhem_fit_report){ .K = K, .R = R };
    VH_NEW(f->report->best, K);
    VH_NEW(f->report->frames, K);
    VH_NEW(f->report->run, (size_t)K * (size_t)R);
    VH_NEW(f->begun, K);
    for (int i = 0; i < K; i++) {
        VH_TRY(vh_h3m_shape(ctx, f->out, i, f->opt.S, f->opt.M));
        VH_TRY(name_model(ctx, f->data, &f->part, i, f->opt.by_group, &f->out->hmm[i]));
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
        vh_fail(ctx, VHEM_ESTOPPED, "stopped; %d of %d HMMs were fitted", f.out->K, f.part.K);
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
    free(f.part.seq);
    free(f.part.first);
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
