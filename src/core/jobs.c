/* SPDX-License-Identifier: BSD-3-Clause */
/* jobs.c - see jobs.h. */
#include "core/jobs.h"

#include "core/alloc.h"
#include "core/ranks.h"
#include "core/parallel.h"

/* Jobs that each of several processes runs before it tells the others.  A stop and a failure are known to all
 * no sooner. */
enum { ROUND = 256, MOST_NOTES = 1000 }; /* notes of one job */

typedef struct { /* what a job has logged, for the other processes */
    int64_t job;
    int level;
    char text[1024];
} note;

typedef struct {
    vhem_ctx *ctx;
    const vh_jobs *jobs;
    int64_t begin, step; /* turn k is job begin + k step */
    bool across;         /* jobs run side by side */
    int64_t done, first; /* finished; the first to fail, else past the last */
    vhem_status st;      /* of that one */
    note *notes;         /* [n_notes]  of this round, where there are several processes */
    size_t n_notes, cap;
    pthread_mutex_t counting; /* what is told of progress only grows */
} running;

typedef struct { /* what a job logs to */
    running *r;
    int64_t job;
} listener;

/* Logged here at once, and by the others when they hear of it.  Without memory they do not. */
static void keep_note(void *arg, int level, const char *text)
{
    const listener *l = arg;
    running *r = l->r;
    const vhem_ctx_options *opt = &r->ctx->opt;
    if (opt->log)
        opt->log(opt->log_arg, level, text);
    if (r->step == 1 || vh_grow(r->ctx, &r->notes, &r->cap, r->n_notes + 1, sizeof *r->notes) != VHEM_OK)
        return;
    note *n = &r->notes[r->n_notes++];
    *n = (note){ .job = l->job, .level = level };
    snprintf(n->text, sizeof n->text, "%s", text);
}

/* The notes of job i, which others log as if it had been theirs. */
static void walk_notes(vhem_ctx *ctx, const running *r, int64_t i, vh_serial *w)
{
    int64_t n = 0;
    note heard = { .job = i };
    for (size_t k = 0; !w->reads && k < r->n_notes; k++)
        n += r->notes[k].job == i && n < MOST_NOTES;
    vh_serial_int64(ctx, w, &n);
    vh_serial_check(ctx, w, "warnings of a job", n, 0, MOST_NOTES);
    for (size_t k = 0; !w->reads && k < r->n_notes && n > 0; k++)
        if (r->notes[k].job == i) {
            vh_serial_int(ctx, w, &r->notes[k].level);
            vh_serial_text(ctx, w, r->notes[k].text, sizeof r->notes[k].text);
            n--;
        }
    for (int64_t k = 0; w->reads && k < n && w->st == VHEM_OK; k++) {
        vh_serial_int(ctx, w, &heard.level);
        vh_serial_text(ctx, w, heard.text, sizeof heard.text);
        if (w->st == VHEM_OK)
            vh_log(ctx, heard.level, "%s", heard.text);
    }
}

static void walk_job(vhem_ctx *ctx, void *arg, int64_t i, vh_serial *w)
{
    const running *r = arg;
    r->jobs->walk(ctx, r->jobs->arg, i, w);
    walk_notes(ctx, r, i, w);
}

/* Jobs are begun in their order, so that those before the first to fail have all been begun: whichever thread
 * is faster, the failure that is told is the same. */
static void run_job(void *arg, int64_t k, int worker)
{
    running *r = arg;
    int64_t i = r->begin + k * r->step;
    const vh_jobs *jobs = r->jobs;
    vhem_ctx *ctx = r->ctx, own;
    int64_t limit;
#pragma omp atomic read
    limit = r->first;
    if (i > limit || vh_stopped(ctx))
        return;
    if (jobs->nested)
        vh_ctx_member(ctx, &own);
    else
        vh_ctx_child(ctx, r->across ? 1 : ctx->threads, &own);
    own.opt.log = jobs->logs ? keep_note : NULL;
    own.opt.log_arg = &(listener){ r, i };
    vhem_status st = jobs->run(&own, jobs->arg, i, worker);
    if (st != VHEM_OK && st != VHEM_ESTOPPED) {
#pragma omp critical(vh_jobs_failed)
        if (i < r->first) {
#pragma omp atomic write
            r->first = i;
            r->st = vh_fail(ctx, st, "%s", own.error);
        }
    }
    pthread_mutex_lock(&r->counting);
    int64_t so_far = ++r->done * r->step; /* of the other processes no less is known */
    vh_progress(ctx, jobs->what, so_far < jobs->n ? so_far : jobs->n, jobs->n);
    pthread_mutex_unlock(&r->counting);
}

/* Of jobs begin .. end-1 every step-th; done has been set. */
static void run_some(running *r, int64_t begin, int64_t end)
{
    const vh_jobs *jobs = r->jobs;
    int64_t n = begin < end ? (end - begin + r->step - 1) / r->step : 0;
    r->begin = begin;
    r->across = n >= r->ctx->threads || !jobs->inside;
    vh_parallel(r->ctx, &(vh_loop){ n, r->across ? r->ctx->threads : 1, !jobs->nested, run_job, r });
}

/* Round by round: every process its share, then all the results go around. */
static vhem_status run_rounds(running *r)
{
    vhem_ctx *ctx = r->ctx;
    const vh_jobs *jobs = r->jobs;
    int64_t size = (int64_t)ROUND * r->step;

    for (int64_t first = 0; first < jobs->n; first += size) {
        const vh_round round = { .n = jobs->n,
                                 .first = first,
                                 .end = jobs->n - first < size ? jobs->n : first + size,
                                 .everyone = true,
                                 .walk = walk_job,
                                 .arg = r };
        vh_round_end end = { .failed = -1 };
        vh_round_begin(ctx);
        run_some(r, first + vh_rank(ctx), round.end);
        end.stopped = vh_stopped(ctx);
        if (r->first < jobs->n)
            vh_round_fail(ctx, r->st, r->first, &end);
        VH_TRY(vh_round_tell(ctx, &round, &end));
        r->n_notes = 0;
        if (end.failed >= 0) {
            r->first = end.failed;
            VH_CHECK(false, end.st, "%s", end.why);
        }
        if (end.stopped)
            return VHEM_ESTOPPED;
        vh_progress(ctx, jobs->what, round.end, jobs->n);
    }
    return VHEM_OK;
}

vhem_status vh_run_jobs(vhem_ctx *ctx, const vh_jobs *jobs, int64_t *failed)
{
    running r = { .ctx = ctx, .jobs = jobs, .step = 1, .first = jobs->n };

    pthread_mutex_init(&r.counting, NULL);
    vh_progress(ctx, jobs->what, 0, jobs->n);
    if (jobs->walk && vh_ranks(ctx) > 1) {
        r.step = vh_ranks(ctx);
        r.st = run_rounds(&r);
    } else {
        run_some(&r, 0, jobs->n);
    }
    pthread_mutex_destroy(&r.counting);
    free(r.notes);
    *failed = r.first < jobs->n ? r.first : -1;
    return r.st == VHEM_OK && vh_stopped(ctx) ? VHEM_ESTOPPED : r.st;
}
