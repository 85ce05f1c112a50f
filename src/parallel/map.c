/* SPDX-License-Identifier: BSD-3-Clause */
/* map.c - see map.h. */
#include "parallel/map.h"

#include "core/alloc.h"
#include "parallel/parallel.h"
#include "parallel/ranks.h"

/* EACH: items a process runs before all exchange results, stops and failures. */
enum { EACH = 256, MOST_NOTES = 1000 }; /* per item */

typedef struct { /* a log message of an item, for the other processes */
    int64_t item;
    int level;
    char text[1024];
} note;

typedef struct {
    vhem_ctx *ctx;
    const vh_work *work;
    int threads;
    int64_t begin, step; /* iteration k is item begin + k step */
    bool across;         /* items run in parallel */
    bool stopped;        /* an item was skipped or did not finish */
    int64_t done, first; /* finished; lowest failed item, else past the last */
    vhem_status st;      /* status of that item */
    note *notes;         /* [n_notes]  of this round, with several processes */
    size_t n_notes, cap;
    omp_lock_t counting; /* keeps reported progress monotonic */
} map_run;

typedef struct { /* log callback argument of an item */
    map_run *r;
    int64_t item;
} listener;

/* Logs here at once and keeps a copy for the other processes; without memory they miss it. */
static void keep_note(void *arg, int level, const char *text)
{
    const listener *l = arg;
    map_run *r = l->r;
    const vhem_ctx_options *opt = &r->ctx->opt;
    if (opt->log)
        opt->log(opt->log_arg, level, text);
    if (r->step == 1 || vh_grow(r->ctx, &r->notes, &r->cap, r->n_notes + 1, sizeof *r->notes) != VHEM_OK)
        return;
    note *n = &r->notes[r->n_notes++];
    *n = (note){ .item = l->item, .level = level };
    snprintf(n->text, sizeof n->text, "%s", text);
}

/* Serializes the notes of item i; a reader logs them as its own. */
static void walk_notes(vhem_ctx *ctx, const map_run *r, int64_t i, vh_serial *w)
{
    int64_t n = 0;
    note heard = { .item = i };
    for (size_t k = 0; !w->reads && k < r->n_notes; k++)
        n += r->notes[k].item == i && n < MOST_NOTES;
    vh_serial_int64(ctx, w, &n);
    vh_serial_check(ctx, w, "warnings of an item", n, 0, MOST_NOTES);
    for (size_t k = 0; !w->reads && k < r->n_notes && n > 0; k++)
        if (r->notes[k].item == i) {
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

static void walk_item(vhem_ctx *ctx, void *arg, int64_t i, vh_serial *w)
{
    const map_run *r = arg;
    r->work->walk(ctx, r->work->arg, i, w);
    walk_notes(ctx, r, i, w);
}

/* True if a stop has ended the work. */
static bool ends(const map_run *r)
{
    return (!r->work->finishes && vh_stopped(r->ctx)) || (r->work->late && vh_overdue(r->ctx));
}

static void count_done(map_run *r)
{
    const vh_work *w = r->work;
    if (!w->what)
        return;
    omp_set_lock(&r->counting);
    int64_t so_far = ++r->done * r->step; /* assumes that the other processes are equally far */
    vh_progress(r->ctx, w->what, so_far < w->n ? so_far : w->n, w->n);
    omp_unset_lock(&r->counting);
}

/* Records the failure of item i with its message (NULL: none).  A stop is not a failure. */
static void note_failure(map_run *r, int64_t i, vhem_status st, const char *sentence)
{
#pragma omp critical(vh_map_failed)
    if (st == VHEM_ESTOPPED) {
        if (!r->stopped || sentence)
            vh_fail(r->ctx, st, "%s", sentence ? sentence : "stopped");
        r->stopped = true;
    } else if (i < r->first) {
#pragma omp atomic write
        r->first = i;
        r->st = vh_fail(r->ctx, st, "%s", sentence);
    }
}

/* Items begin in order, so all items before the first failure have begun: the reported failure does not
 * depend on thread timing. */
static void run_item(void *arg, int64_t k, int worker)
{
    map_run *r = arg;
    int64_t i = r->begin + k * r->step;
    const vh_work *work = r->work;
    vhem_ctx *ctx = r->ctx, own;
    int64_t limit;
#pragma omp atomic read
    limit = r->first;
    if (i > limit)
        return;
    if (ends(r)) {
        note_failure(r, i, VHEM_ESTOPPED, NULL);
        return;
    }
    if (work->nested || (!r->across && ctx->in_parallel))
        vh_ctx_member(ctx, &own);
    else
        vh_ctx_child(ctx, r->across ? 1 : r->threads, &own);
    own.opt.log = work->logs ? keep_note : NULL;
    own.opt.log_arg = &(listener){ r, i };
    vhem_status st = work->run(&own, work->arg, i, worker);
    if (st != VHEM_OK)
        note_failure(r, i, st, own.error);
    count_done(r);
}

/* Runs every step-th of items begin .. end-1. */
static void run_some(map_run *r, int64_t begin, int64_t end)
{
    const vh_work *work = r->work;
    int64_t n = begin < end ? (end - begin + r->step - 1) / r->step : 0;

    r->begin = begin;
    r->across = !work->singly && (n >= r->threads || !work->inside);
    if (r->across)
        vh_parallel(r->ctx, n, r->threads, !work->nested, run_item, r);
    for (int64_t k = 0; !r->across && k < n; k++)
        run_item(r, k, vh_worker(r->ctx, r->threads));
}

/* In each round every process runs its share, then all results are exchanged. */
static vhem_status run_exchanges(map_run *r)
{
    vhem_ctx *ctx = r->ctx;
    const vh_work *work = r->work;
    int64_t size = (work->each ? work->each : EACH) * r->step;

    for (int64_t first = 0; first < work->n; first += size) {
        const vh_exchange round = { .n = work->n,
                                    .first = first,
                                    .end = work->n - first < size ? work->n : first + size,
                                    .everyone = !work->to_first,
                                    .walk = walk_item,
                                    .arg = r };
        vh_exchange_end end = { .failed = -1 };
        vh_exchange_begin(ctx);
        run_some(r, first + vh_rank(ctx), round.end);
        end.stopped = r->stopped || vh_stopped(ctx);
        if (r->first < work->n)
            vh_exchange_fail(ctx, r->st, r->first, &end);
        VH_TRY(vh_exchange_tell(ctx, &round, &end));
        r->n_notes = 0;
        if (end.failed >= 0) {
            r->first = end.failed;
            VH_CHECK(false, end.st, "%s", end.why);
        }
        if (end.stopped)
            return VHEM_ESTOPPED;
        vh_progress(ctx, work->what, round.end, work->n);
    }
    return VHEM_OK;
}

vhem_status vh_map(vhem_ctx *ctx, const vh_work *work, int64_t *failed)
{
    int64_t past = work->first + work->n;
    map_run r = { .ctx = ctx,
                  .work = work,
                  .threads = work->threads ? work->threads : ctx->threads,
                  .step = 1,
                  .first = past };

    omp_init_lock(&r.counting);
    vh_progress(ctx, work->what, 0, work->n);
    if (work->walk && vh_ranks(ctx) > 1) {
        r.step = vh_ranks(ctx);
        r.st = run_exchanges(&r);
    } else {
        run_some(&r, work->first, past);
    }
    omp_destroy_lock(&r.counting);
    free(r.notes);
    if (failed)
        *failed = r.first < past ? r.first : -1;
    if (r.st == VHEM_OK && !r.stopped && !work->finishes && vh_stopped(ctx))
        r.st = vh_fail(ctx, VHEM_ESTOPPED, "stopped");
    return r.st == VHEM_OK && r.stopped ? VHEM_ESTOPPED : r.st;
}
