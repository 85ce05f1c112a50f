/* SPDX-License-Identifier: BSD-3-Clause */
/* backend.c - which backend is used, decided at run time.  A new one is a folder and a line in the table. */
#include "backend/backend.h"

#include "backend/cuda/gpu.h"
#include "backend/simd/simd.h"
#include "core/record.h"

#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const vh_backend *const table[] = {
/* best first */
#ifdef VH_HAVE_CUDA
    &vh_backend_cuda,
#endif
#ifdef VH_HAVE_X86_64
    &vh_backend_avx512, &vh_backend_avx2,
#endif
    &vh_backend_simd,   &vh_backend_ref,
};
enum { N_BACKENDS = sizeof table / sizeof table[0], MOST_THREADS = 1024 };

/* What could be here, but is not built. */
#ifdef VH_HAVE_CUDA
static const char *const not_built[][2] = { { NULL, NULL } };
#else
static const char *const not_built[][2] = { { "cuda", "this vhem was built without -DVHEM_CUDA=ON" },
                                            { NULL, NULL } };
#endif

static const vh_backend *find(const char *name)
{
    for (int i = 0; i < N_BACKENDS; i++)
        if ((!name || strcmp(name, table[i]->name) == 0) && table[i]->usable())
            return table[i];
    return NULL;
}

const vh_backend *vh_backend_cpu(void)
{
    for (int i = 0; i < N_BACKENDS; i++)
        if (!table[i]->reduce.open && table[i]->usable())
            return table[i];
    return &vh_backend_ref;
}

const char *vhem_backend_problem(const char *name)
{
    for (int i = 0; i < N_BACKENDS; i++)
        if (strcmp(name, table[i]->name) == 0) {
            const char *why = table[i]->problem ? table[i]->problem() : NULL;
            return table[i]->usable() ? NULL : why ? why : "this processor cannot run it";
        }
    for (int i = 0; not_built[i][0]; i++)
        if (strcmp(name, not_built[i][0]) == 0)
            return not_built[i][1];
    return "there is no backend of this name";
}

/* Written once, before anybody reads it. */
static char usable_names[128];
static pthread_once_t names_once = PTHREAD_ONCE_INIT;

static void list_names(void)
{
    size_t at = 0;
    for (int i = 0; i < N_BACKENDS && at < sizeof usable_names; i++)
        if (table[i]->usable())
            at += (size_t)snprintf(usable_names + at, sizeof usable_names - at, "%s%s", at > 0 ? " " : "",
                                   table[i]->name);
}

const char *vhem_backends(void)
{
    pthread_once(&names_once, list_names);
    return usable_names;
}

const char *vhem_ctx_backend(const vhem_ctx *ctx)
{
    return ctx->backend->name;
}

vhem_status vhem_ctx_new(const vhem_ctx_options *opt, vhem_ctx **out)
{
    vhem_ctx *ctx = vh_record_new(NULL, sizeof *ctx, NULL);
    if (!ctx)
        return VHEM_ENOMEM;
    if (opt)
        ctx->opt = *opt;
    ctx->opt.seed = opt && opt->seed > 0 ? opt->seed : 0;
    ctx->threads = ctx->opt.threads > 0 ? ctx->opt.threads : omp_get_num_procs();
    ctx->threads = ctx->threads < MOST_THREADS ? ctx->threads : MOST_THREADS;
    ctx->backend = find(ctx->opt.backend);
    ctx->named = ctx->opt.backend != NULL;
    ctx->opt.backend = NULL; /* the string is the caller's */
    if (!ctx->backend) {
        vhem_free(ctx);
        return VHEM_EBACKEND;
    }
    *out = ctx;
    return VHEM_OK;
}
