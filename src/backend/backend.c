/* backend.c - which backend is used, decided at run time. */
#include "backend/backend.h"

#include "core/alloc.h"

#include <omp.h>
#include <string.h>

static bool always(void)
{
    return true;
}

static const vh_backend ref = { "ref", always };
static const vh_backend *const table[] = { &ref };       /* best first */

const char *vhem_backends(void)
{
    return "ref";
}

const char *vhem_ctx_backend(const vhem_ctx *ctx)
{
    return ctx->backend->name;
}

vhem_status vhem_ctx_new(const vhem_ctx_options *opt, vhem_ctx **out)
{
    vhem_ctx *ctx = calloc(1, sizeof *ctx);
    if (!ctx)
        return VHEM_ENOMEM;
    if (opt)
        ctx->opt = *opt;
    ctx->threads = ctx->opt.threads > 0 ? ctx->opt.threads : omp_get_num_procs();
    ctx->backend = table[0];
    *out = ctx;
    return VHEM_OK;
}
