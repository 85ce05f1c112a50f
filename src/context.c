/* SPDX-License-Identifier: BSD-3-Clause */
/* context.c - contexts, and the backend they use, chosen at run time.  A new backend is a folder and a line
 * in the table. */
#include "core/backend.h"

#include "cuda/gpu.h"
#include "distance/ppk_pair.h"
#include "vhem/pair_bound.h"
#include "fit/forward_backward.h"
#include "simd/simd.h"
#include "core/hash.h"
#include "core/options.h"
#include "core/object.h"
#include "math/blas.h"
#include "vhem.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

static bool always(void)
{
    return true;
}

const vh_backend vh_backend_ref = { .name = "ref",
                                    .usable = always,
                                    .sequences = &vh_seq_ref,
                                    .reduce = &vh_reduce_ref,
                                    .product = &vh_product_ref };

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

/* Known backends that are not built. */
static const vhem_backend_facts not_built[] = { { .name = "cuda",
                                                  .problem = "this vhem was built without -DVHEM_CUDA=ON" } };
#ifdef VH_HAVE_CUDA
enum { N_NOT_BUILT = 0 };
#else
enum { N_NOT_BUILT = sizeof not_built / sizeof not_built[0] };
#endif

/* Kernels that OpenBLAS has for processors older than those of a backend, by the names it gives them.  An
 * OpenBLAS that does not know a new processor takes it for one of these. */
#define BEFORE_AVX2                                                                                         \
    " Katmai Coppermine Northwood Prescott Banias Atom Core2 Penryn Dunnington Nehalem Sandybridge Athlon " \
    "Opteron Opteron_SSE3 Barcelona Bobcat Bulldozer Piledriver Steamroller Nano "
static const struct {
    const char *backend, *kernels, *slower;
} older[] = {
    { "avx512", BEFORE_AVX2 "Excavator Haswell Zen ",
      "OpenBLAS takes this processor for an older one, without AVX-512; OPENBLAS_CORETYPE=SkylakeX in the "
      "environment corrects it" },
    { "avx2", BEFORE_AVX2,
      "OpenBLAS takes this processor for an older one, without AVX2; OPENBLAS_CORETYPE=Haswell in the "
      "environment corrects it" },
};
enum { N_OLDER = sizeof older / sizeof older[0] };

static const char *slower_than_possible(const char *backend)
{
    char kernel[64];
    snprintf(kernel, sizeof kernel, " %s ", vh_blas_kernel());
    for (int i = 0; i < N_OLDER; i++)
        if (strcmp(older[i].backend, backend) == 0 && strstr(older[i].kernels, kernel))
            return older[i].slower;
    return NULL;
}

static const vh_backend *find_backend(const char *name)
{
    for (int i = 0; i < N_BACKENDS; i++)
        if ((!name || strcmp(name, table[i]->name) == 0) && table[i]->usable())
            return table[i];
    return NULL;
}

vhem_status vhem_backend_info(int i, vhem_backend_facts *out)
{
    if (i < 0 || i >= N_BACKENDS + N_NOT_BUILT)
        return VHEM_EINVAL;
    if (i >= N_BACKENDS) {
        *out = not_built[i - N_BACKENDS];
        return VHEM_OK;
    }
    const char *why = table[i]->problem ? table[i]->problem() : NULL;
    *out = (vhem_backend_facts){ .name = table[i]->name };
    if (!table[i]->usable())
        out->problem = why ? why : "this processor cannot run it";
    else
        out->slower = slower_than_possible(out->name);
    return VHEM_OK;
}

const char *vhem_ctx_backend(const vhem_ctx *ctx)
{
    return ctx ? ctx->backend->name : "";
}

static bool makes_sense(const vhem_ranks *r)
{
    return r->rank >= 0 && r->rank < r->size && r->pass;
}

static void clear_ctx(void *object)
{
    vhem_ctx *ctx = object;
    omp_destroy_lock(&ctx->telling);
}

vhem_status vhem_ctx_new(const vhem_ctx_options *given, vhem_ctx **out)
{
    vhem_ctx_options full, *opt = given ? &full : NULL;

    VH_TRY(vh_options_take(NULL, VHEM_CTX_OPTIONS, given, &full));
    if (!out || (opt && (opt->threads > MOST_THREADS || (opt->ranks && !makes_sense(opt->ranks)))))
        return VHEM_EINVAL;
    vhem_ctx *ctx = vh_object_new(NULL, sizeof *ctx, clear_ctx);
    if (!ctx)
        return VHEM_ENOMEM;
    omp_init_lock(&ctx->telling);
    if (opt)
        ctx->opt = *opt;
    if (opt && opt->ranks) {
        ctx->ranks = *opt->ranks;
        ctx->opt.ranks = &ctx->ranks;
    }
    ctx->opt.seed = opt && opt->seed > 0 ? opt->seed : 0;
    ctx->opt.words = opt && opt->words > 0 ? opt->words : VHEM_WORDS_FIELDS;
    ctx->threads = ctx->opt.threads > 0 ? ctx->opt.threads : omp_get_num_procs();
    ctx->threads = ctx->threads < MOST_THREADS ? ctx->threads : MOST_THREADS;
    ctx->backend = find_backend(ctx->opt.backend);
    ctx->named = ctx->opt.backend != NULL;
    ctx->opt.backend = NULL; /* the caller owns the string */
    if (!ctx->backend) {
        vh_object_free(ctx);
        return VHEM_EBACKEND;
    }
    const char *kernel = vh_blas_kernel();
    ctx->made = vh_hash_chain((uint64_t)ctx->opt.seed, ctx->backend->name, strlen(ctx->backend->name));
    ctx->made = ctx->asked = vh_hash_chain(ctx->made, kernel, strlen(kernel));
    if (!vh_blas_reserve(ctx->threads)) {
        vh_object_free(ctx);
        return VHEM_ENOMEM;
    }
    *out = ctx;
    return VHEM_OK;
}
