/* SPDX-License-Identifier: BSD-3-Clause */
/* team.c - see team.h.
 *
 * Rank r of P works on chunks r n / P to before (r + 1) n / P.  Partial sums go up a tree: rank 1 to 0, 3 to
 * 2, then 2 to 0, so that nobody holds those of all.  The order does not matter to their bits.  A rank that
 * fails sends its sentence instead, which goes up the same way; of several the one of the lowest rank
 * arrives. */
#include "team.h"

#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPEN, TASK, END };

typedef struct { /* what rank 0 tells all */
    int64_t what, n, chunks, threads;
} order;

typedef struct { /* what a rank has to hand on */
    vhem_status st;
    vhem_partial *sums; /* NULL: it had no chunks, or has failed */
    char why[VHEM_WHY];
} answer;

/* ---- answers ------------------------------------------------------------------------------------------- */

static void fail(const team *t, vhem_status st, const char *sentence, answer *a)
{
    vhem_free(a->sums);
    a->sums = NULL;
    a->st = st;
    snprintf(a->why, sizeof a->why, "rank %d: %.*s", t->rank, VHEM_WHY - 20, sentence);
}

static void send_answer(team *t, answer *a, int to)
{
    void *bytes = NULL;
    size_t n = 0;
    if (a->st == VHEM_OK && a->sums) {
        vhem_status st = vhem_partial_write(t->ctx, a->sums, &bytes, &n);
        if (st != VHEM_OK)
            fail(t, st, vhem_ctx_error(t->ctx), a);
    }
    int64_t head[2] = { (int64_t)a->st, (int64_t)n };
    bytes_send(head, sizeof head, to);
    if (a->st == VHEM_OK)
        bytes_send(bytes, n, to);
    else
        bytes_send(a->why, sizeof a->why, to);
    vhem_free(bytes);
    vhem_free(a->sums);
    a->sums = NULL;
}

static void merge(team *t, const char *bytes, size_t n, answer *a)
{
    vhem_partial *more = NULL;
    vhem_status st = vhem_partial_read(t->ctx, bytes, n, &more);
    if (st == VHEM_OK && a->sums) {
        st = vhem_partial_merge(t->ctx, a->sums, more);
        vhem_free(more);
    } else if (st == VHEM_OK) {
        a->sums = more;
    }
    if (st != VHEM_OK)
        fail(t, st, vhem_ctx_error(t->ctx), a);
}

static void receive_answer(team *t, answer *a, int from)
{
    int64_t head[2];
    bytes_receive(head, sizeof head, from);
    size_t n = head[0] == VHEM_OK ? (size_t)head[1] : VHEM_WHY;
    char *bytes = bytes_room(n);
    bytes_receive(bytes, n, from);
    if (head[0] != VHEM_OK && a->st == VHEM_OK) { /* it knows which rank it is from */
        fail(t, (vhem_status)head[0], "", a);
        memcpy(a->why, bytes, sizeof a->why);
    } else if (head[0] == VHEM_OK && n > 0 && a->st == VHEM_OK) {
        merge(t, bytes, n, a);
    }
    free(bytes);
}

/* Up the tree: what arrives here is merged, and the sum goes on to the next. */
static void pass_up(team *t, answer *a)
{
    for (int step = 1; step < t->size; step *= 2) {
        if (t->rank % (2 * step) == step) {
            send_answer(t, a, t->rank - step);
            return;
        }
        if (t->rank + step < t->size)
            receive_answer(t, a, t->rank + step);
    }
}

/* ---- work ---------------------------------------------------------------------------------------------- */

static void load(team *t, const char *path, const char *backend)
{
    vhem_ctx_options opt;
    VHEM_INIT(VHEM_CTX_OPTIONS, &opt);
    opt.backend = backend;
    opt.threads = t->threads;
    t->sentence[0] = 0;
    const char *problem = cli_backend_problem(backend);
    if (problem)
        snprintf(
            t->sentence, sizeof t->sentence,
            "rank 0 uses backend %.16s, which cannot be used here: %.500s; choose one that all have with "
            "--backend",
            backend, problem);
    else if (vhem_ctx_new(&opt, &t->ctx) != VHEM_OK)
        snprintf(t->sentence, sizeof t->sentence, "out of memory: no room to begin");
    else if (vhem_models_load(t->ctx, path, &t->models) != VHEM_OK)
        snprintf(t->sentence, sizeof t->sentence, "%s", vhem_ctx_error(t->ctx));
}

static void work(team *t, const vhem_task *task, answer *a)
{
    int64_t first = task->chunks * t->rank / t->size, end = task->chunks * (t->rank + 1) / t->size;
    *a = (answer){ .st = VHEM_OK };
    if (t->sentence[0])
        fail(t, VHEM_EIO, t->sentence, a);
    else if (first < end) {
        vhem_status st = vhem_expect(t->ctx, t->models, task, first, end - first, &a->sums);
        if (st != VHEM_OK)
            fail(t, st, vhem_ctx_error(t->ctx), a);
    }
    pass_up(t, a);
}

void team_open(team *t, const char *path, const char *backend, int threads)
{
    size_t n = strlen(path) + strlen(backend) + 2;
    order o = { OPEN, (int64_t)n, 0, threads };
    char *text = bytes_room(n);
    snprintf(text, n, "%s%c%s", backend, 0, path);
    bytes_share(0, &o, sizeof o);
    bytes_share(0, text, n);
    free(text);
    t->threads = threads > 0 ? threads : t->threads;
    load(t, path, backend);
}

vhem_status team_expect(void *arg, const vhem_task *task, vhem_partial **total, char *why)
{
    team *t = arg;
    order o = { TASK, (int64_t)task->n, task->chunks, 0 };
    answer a;
    bytes_share(0, &o, sizeof o);
    bytes_share(0, (char *)task->bytes, task->n);
    work(t, task, &a);
    if (a.st == VHEM_OK)
        *total = a.sums;
    else
        snprintf(why, VHEM_WHY, "%s", a.why);
    return a.st;
}

void team_end(team *t, int status)
{
    order o = { END, status, 0, 0 };
    (void)t;
    bytes_share(0, &o, sizeof o);
}

int team_serve(team *t)
{
    for (;;) {
        order o;
        answer a;
        bytes_share(0, &o, sizeof o); /* what rank 0 says */
        if (o.what == END)
            return (int)o.n;
        char *bytes = bytes_room((size_t)o.n);
        bytes_share(0, bytes, (size_t)o.n);
        if (o.what == OPEN) {
            t->threads = o.threads > 0 ? (int)o.threads : t->threads;
            load(t, bytes + strlen(bytes) + 1, bytes);
        } else {
            const vhem_task task = { bytes, (size_t)o.n, o.chunks };
            work(t, &task, &a);
        }
        free(bytes);
    }
}

void team_free(team *t)
{
    vhem_free(t->models);
    vhem_free(t->ctx);
    t->models = NULL;
    t->ctx = NULL;
}
