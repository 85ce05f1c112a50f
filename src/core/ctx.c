/* SPDX-License-Identifier: BSD-3-Clause */
/* ctx.c - errors, log, progress and stop flag of a context.  vhem_ctx_new is in context.c. */
#include "core/ctx.h"

#include "core/text.h"
#include "os/system.h"
#include "vhem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

vhem_status vh_fail(vhem_ctx *ctx, vhem_status st, const char *fmt, ...)
{
    char text[sizeof ctx->error];
    va_list ap;
    if (!ctx) /* no context, so nowhere to store the message */
        return st;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    vh_text_spell(ctx->opt.words, text, sizeof text);
    vh_text_clean(text);
#pragma omp critical(vh_ctx_text)
    memcpy(ctx->error, text, sizeof text);
    return st;
}

void vh_error_prefix(vhem_ctx *ctx, const char *prefix)
{
    size_t size = sizeof ctx->error;
#pragma omp critical(vh_ctx_text)
    {
        /* Makes room for the prefix and truncates the message to the buffer. */
        size_t n = strnlen(prefix, size - 3), left = size - n - 3;
        memmove(ctx->error + n + 2, ctx->error, left);
        memcpy(ctx->error, prefix, n);
        memcpy(ctx->error + n, ": ", 2);
        ctx->error[size - 1] = '\0';
        vh_text_clean(ctx->error);
    }
}

vhem_status vh_error_in(vhem_ctx *ctx, vhem_status st, const char *prefix)
{
    if (st != VHEM_OK)
        vh_error_prefix(ctx, prefix);
    return st;
}

/* A number that no other thread has. */
static uintptr_t this_thread(void)
{
    static _Thread_local char here;
    return (uintptr_t)&here;
}

/* Callbacks of a context and its children run one at a time, on any thread; other contexts do not wait. */
static vhem_ctx *begin_telling(vhem_ctx *ctx)
{
    while (ctx->parent)
        ctx = ctx->parent;
    omp_set_lock(&ctx->telling);
    atomic_store(&ctx->told, this_thread());
    return ctx;
}

static void end_telling(vhem_ctx *root)
{
    atomic_store(&root->told, 0);
    omp_unset_lock(&root->telling);
}

void vh_log(vhem_ctx *ctx, int level, const char *fmt, ...)
{
    if (!ctx->opt.log || ctx->hushed)
        return;
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    vh_text_spell(ctx->opt.words, text, sizeof text);
    vh_text_clean(text);
    vhem_ctx *root = begin_telling(ctx);
    ctx->opt.log(ctx->opt.log_arg, level, text);
    end_telling(root);
}

void vh_progress(vhem_ctx *ctx, const char *what, int64_t done, int64_t total)
{
    if (!ctx->opt.progress || !what)
        return;
    vhem_ctx *root = begin_telling(ctx);
    ctx->opt.progress(ctx->opt.progress_arg, what, done, total);
    end_telling(root);
}

vhem_status vh_enter(vhem_ctx *ctx, const char *names, int n, const void *const *given)
{
    if (!ctx)
        return VHEM_EINVAL;
    for (int k = 0; k < n; k++, names += strcspn(names, ",") + 2)
        VH_CHECK(given[k], VHEM_EINVAL, "%.*s is NULL", (int)strcspn(names, ","), names);
    VH_CHECK(atomic_load(&ctx->told) != this_thread(), VHEM_EINVAL,
             "the context is in use: its progress and log functions must not call the library with it");
    return VHEM_OK;
}

void vh_ctx_child(vhem_ctx *ctx, int threads, vhem_ctx *child)
{
    memset(child, 0, sizeof *child);
    child->opt.seed = ctx->opt.seed;
    child->opt.words = ctx->opt.words;
    child->threads = threads;
    child->backend = ctx->backend;
    child->named = ctx->named;
    child->parent = ctx;
}

const char *vhem_ctx_error(const vhem_ctx *ctx)
{
    return ctx ? ctx->error : "no context";
}

/* Async-signal-safe. */
static long long now(void)
{
    return (long long)(vh_nanoseconds() / 1000000);
}

bool vh_overdue(vhem_ctx *ctx)
{
    enum { PATIENCE = 1000 };
    for (; ctx; ctx = ctx->parent)
        if (atomic_load_explicit(&ctx->stop, memory_order_acquire) != 0 && !ctx->waits
            && now() - atomic_load_explicit(&ctx->stop_at, memory_order_relaxed) > PATIENCE)
            return true;
    return false;
}

void vhem_ctx_stop(vhem_ctx *ctx)
{
    if (!ctx || atomic_load_explicit(&ctx->stop, memory_order_relaxed) != 0)
        return;
    atomic_store_explicit(&ctx->stop_at, now(), memory_order_relaxed);
    atomic_store_explicit(&ctx->stop, 1, memory_order_release);
}
