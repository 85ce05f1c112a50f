/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu.c - function tables of the backend.  Work without a device kernel, or too small for the device, goes to
 * the best CPU backend, whose kernels are included in the tables. */
#include "cuda/gpu.h"

#include "cuda/device.h"
#include "cuda/estep.h"
#include "cuda/forward_backward.h"
#include "simd/simd.h"

/* Above this size the device is faster than 16 fully used cores (docs/gpu.md). */
#define WORTH 1e6

static bool usable(void)
{
    return vh_device_problem() == NULL;
}

bool vh_cuda_worth(const vhem_ctx *ctx, double size)
{
    return ctx->named || size >= WORTH;
}

void vh_cuda_warn(vhem_ctx *ctx)
{
    vhem_ctx *heard = ctx;
    while (heard->parent)
        heard = heard->parent;
    vh_log(heard, VHEM_LOG_WARN, "%s; the CPU does it", ctx->error);
}

/* ---- the best CPU backend ------------------------------------------------------------------------------ */

static vhem_status batch(vhem_ctx *ctx, const vh_seq_chunk *b, vh_scratch *scratch, double *loglik,
                         vh_stats *stats)
{
    return vh_backend_cpu()->sequences->kernel(ctx, b, scratch, loglik, stats);
}

static vhem_status reduce_lay(vhem_ctx *ctx, const vh_packed *base, void **prepared)
{
    const vh_backend *cpu = vh_backend_cpu();
    return cpu->reduce->prepare ? cpu->reduce->prepare(ctx, base, prepared) : VHEM_OK;
}

static void reduce_discard(void *prepared)
{
    if (prepared) /* then the CPU backend prepared it */
        vh_backend_cpu()->reduce->release(prepared);
}

static vhem_status reduce_chunk(vhem_ctx *ctx, const vh_reduce_chunk *c, vh_scratch *scratch,
                                vh_reduce_sums *sums)
{
    return vh_backend_cpu()->reduce->kernel(ctx, c, scratch, sums);
}

static vhem_status product_lay(vhem_ctx *ctx, const vh_product *p, void **prepared)
{
    const vh_backend *cpu = vh_backend_cpu();
    return cpu->product->prepare ? cpu->product->prepare(ctx, p, prepared) : VHEM_OK;
}

static void product_drop(void *prepared)
{
    if (prepared) /* as above */
        vh_backend_cpu()->product->release(prepared);
}

static vhem_status product_tile(vhem_ctx *ctx, const vh_product *p, const void *prepared,
                                const vh_rectangle *r, vh_scratch *scratch, double *log_k)
{
    return vh_backend_cpu()->product->kernel(ctx, p, prepared, r, scratch, log_k);
}

/* ---- the tables ---------------------------------------------------------------------------------------- */

static const vh_seq_kernels sequences = { .open = vh_cuda_sequences_open,
                                          .run = vh_cuda_sequences_run,
                                          .close = vh_cuda_sequences_close,
                                          .kernel = batch };

static const vh_reduce_kernels reduce = { .open = vh_cuda_reduce_open,
                                          .run = vh_cuda_reduce_run,
                                          .close = vh_cuda_reduce_close,
                                          .prepare = reduce_lay,
                                          .release = reduce_discard,
                                          .kernel = reduce_chunk };

static const vh_product_kernels product = { .prepare = product_lay,
                                            .release = product_drop,
                                            .kernel = product_tile };

const vh_backend vh_backend_cuda = { .name = "cuda",
                                     .usable = usable,
                                     .problem = vh_device_problem,
                                     .sequences = &sequences,
                                     .reduce = &reduce,
                                     .product = &product };
