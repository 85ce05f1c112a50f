/* SPDX-License-Identifier: BSD-3-Clause */
/* ctx.h - the context: options, last error, log, progress, stop flag; and the macros every function that can
 * fail is written with. */
#ifndef VH_CORE_CTX_H
#define VH_CORE_CTX_H

#include "core/own.h"
#include "vhem/types.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

struct vh_backend; /* core/backend.h; core only carries the pointer */

struct vhem_ctx {
    vhem_ctx_options opt; /* strings inside are not used after vhem_ctx_new */
    vhem_ranks
        ranks; /* a copy of the caller's, which opt.ranks points to; NULL there: this process is alone */
    /* What this process is at together with the others (parallel/ranks.h). */
    int64_t step;     /* rounds so far */
    const char *call; /* "fit"; NULL: nothing that has a name */
    uint64_t made;    /* fingerprint of seed and backend, */
    uint64_t asked;   /* and of these with the call, its options and its data */
    int threads;      /* >= 1 */
    bool in_parallel; /* an item of a loop that threads share (parallel/parallel.h) */
    const struct vh_backend *backend;
    bool named; /* it was asked for by its name */
    atomic_int stop;
    bool waits;              /* of several processes: a wish to stop waits until all know of it (ranks.h) */
    int alone;               /* of several processes: calls of vh_ranks_leave without their vh_ranks_join */
    atomic_llong stop_at;    /* when that was first wanted, in milliseconds of the monotonic clock */
    struct vhem_ctx *parent; /* its wish to stop counts here too, and its callbacks are these; NULL */
    pthread_mutex_t telling; /* one callback at a time */
    atomic_uintptr_t told;   /* the thread that is in one; 0: none */
    FILE *held;              /* a stream that was looked at and is still to be read (vh_in_peek); NULL */
    bool hushed;             /* nothing is logged: a file is read again, and its first reading said it all */
    char error[2048];
};

/* A context for one of several jobs that ctx runs side by side: the same seed and backend, its own threads
 * and error; silent.  It holds nothing to release. */
void vh_ctx_child(vhem_ctx *ctx, int threads, vhem_ctx *child);

/* An option in a sentence, by its field: VH_OPT("cov_floor"), or with a value, VH_OPT("prior=vb").  The
 * context says how options are spelled (vhem_words). */
#define VH_OPT(name) "\1" name "\2"

/* Stores the sentence and returns st.  Safe from several threads at once: one sentence stays whole. */
vhem_status vh_fail(vhem_ctx *ctx, vhem_status st, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "prefix: " before the current sentence: a reader learns the file, its caller knows the name. */
void vh_error_prefix(vhem_ctx *ctx, const char *prefix);
/* st; where it is a failure, its sentence gets the prefix. */
vhem_status vh_error_in(vhem_ctx *ctx, vhem_status st, const char *prefix);

void vh_log(vhem_ctx *ctx, int level, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* what NULL: nobody is told. */
void vh_progress(vhem_ctx *ctx, const char *what, int64_t done, int64_t total);

/* The first line of a public function, which VH_ENTER writes: VHEM_EINVAL and a sentence where one of what it
 * was given is NULL, or where a callback of the context makes the call. */
vhem_status vh_enter(vhem_ctx *ctx, const char *names, int n, const void *const *given);

/* VH_ENTER(path, out): these must not be NULL.  Returns, as nothing is there to be released yet. */
#define VH_ENTER(...)                                                                                      \
    do {                                                                                                   \
        const void *const given_[] = { __VA_ARGS__ };                                                      \
        vhem_status entered_ = vh_enter(ctx, #__VA_ARGS__, (int)(sizeof given_ / sizeof *given_), given_); \
        if (entered_ != VHEM_OK)                                                                           \
            return entered_;                                                                               \
    } while (0)

static inline bool vh_stopped(vhem_ctx *ctx)
{
    for (; ctx; ctx = ctx->parent)
        if (atomic_load_explicit(&ctx->stop, memory_order_relaxed) != 0 && !ctx->waits)
            return true;
    return false;
}

/* Has a stop been waited for for longer than a second?  Work that would rather come to an end first, because
 * what it hands over belongs together, then ends all the same, with VHEM_ESTOPPED. */
bool vh_overdue(vhem_ctx *ctx);

/* Leave a function that returns vhem_status.  What it has to release is declared with an owner (core/own.h).
 * VH_CHECK needs vhem_ctx *ctx in scope. */
#define VH_CHECK(cond, status, ...)              \
    do {                                         \
        if (!(cond)) {                           \
            vh_fail(ctx, (status), __VA_ARGS__); \
            return (status);                     \
        }                                        \
    } while (0)

#define VH_TRY(call)                 \
    do {                             \
        vhem_status tried_ = (call); \
        if (tried_ != VHEM_OK)       \
            return tried_;           \
    } while (0)

#endif
