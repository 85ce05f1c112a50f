/* SPDX-License-Identifier: BSD-3-Clause */
/* ctx.h - the context: options, last error, log, progress, stop flag; and the error-handling macros of every
 * function that can fail. */
#ifndef VH_CORE_CTX_H
#define VH_CORE_CTX_H

#include "core/own.h"
#include "vhem/types.h"

#include <omp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

struct vh_backend; /* core/backend.h; core only carries the pointer */

struct vhem_ctx {
    vhem_ctx_options opt; /* its strings are not used after vhem_ctx_new */
    vhem_ranks ranks; /* copy of the caller's record; opt.ranks points here, or is NULL in a single process */
    /* State of this process among the ranks (parallel/ranks.h). */
    int64_t step;     /* rounds so far */
    const char *call; /* "fit"; NULL: unnamed */
    uint64_t made;    /* fingerprint of seed and backend */
    uint64_t asked;   /* fingerprint of these, the call, its options and its data */
    int threads;      /* >= 1 */
    bool in_parallel; /* inside an item of a loop shared by threads (parallel/parallel.h) */
    const struct vh_backend *backend;
    bool named; /* the backend was requested by name */
    atomic_int stop;
    bool waits;         /* with several ranks: a stop takes effect once all ranks know of it (ranks.h) */
    int alone;          /* with several ranks: vh_ranks_leave calls not yet matched by a join */
    vhem_status parted; /* with several processes: why this one no longer shares work; VHEM_OK: it does */
    char why_parted[VHEM_WHY];
    atomic_llong stop_at;    /* time of the stop request, in milliseconds of the monotonic clock */
    struct vhem_ctx *parent; /* provides the stop flag and callbacks; NULL: none */
    omp_lock_t telling;      /* one callback at a time */
    atomic_uintptr_t told;   /* the thread inside a callback; 0: none */
    FILE *held;              /* stream opened by vh_in_peek and not yet read; NULL */
    bool hushed;             /* suppress logging: the file is being read a second time */
    char error[2048];
};

/* Initialises child for one of several parallel jobs of ctx: same seed and backend, its own threads and
 * error; silent.  Nothing to free. */
void vh_ctx_child(vhem_ctx *ctx, int threads, vhem_ctx *child);

/* An option in a sentence, by its field: VH_OPT("cov_floor"), or with a value, VH_OPT("prior=vb").  The
 * context says how options are spelled (vhem_words). */
#define VH_OPT(name) "\1" name "\2"

/* Stores the error message and returns st.  Thread-safe: messages do not mix. */
vhem_status vh_fail(vhem_ctx *ctx, vhem_status st, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Prepends "prefix: " to the error message: the reader of a file knows the error, its caller the name. */
void vh_error_prefix(vhem_ctx *ctx, const char *prefix);
/* Returns st; on failure, prepends the prefix to the error message. */
vhem_status vh_error_in(vhem_ctx *ctx, vhem_status st, const char *prefix);

void vh_log(vhem_ctx *ctx, int level, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Does nothing if `what` is NULL. */
void vh_progress(vhem_ctx *ctx, const char *what, int64_t done, int64_t total);

/* Called by VH_ENTER at the start of a public function: VHEM_EINVAL and an error if one of the n arguments is
 * NULL, or if the call comes from a callback of this context. */
vhem_status vh_enter(vhem_ctx *ctx, const char *names, int n, const void *const *given);

/* VH_ENTER(path, out): these must not be NULL.  Use it before anything needs releasing. */
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

/* True if a stop was requested more than a second ago.  Work that would rather finish, to keep its results
 * consistent, then ends all the same, with VHEM_ESTOPPED. */
bool vh_overdue(vhem_ctx *ctx);

/* Return from a function with an error.  Declare anything to be released with an owner (core/own.h).
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
