/* SPDX-License-Identifier: BSD-3-Clause */
/* simd.c - function table of the vector backend for the instruction set being compiled.
 *
 * Chains that rarely leave a state, or never return, soon carry subnormal probabilities, which cost a
 * processor about a hundred cycles per operation: Baum-Welch on left-to-right models spent half of its time
 * on them.  The recursions do not need them (see lanes.c and estep_lanes.c), so the E-steps flush them to 0,
 * except in the reference, which handles doubtful cases. */
#include "simd/simd.h"

#include "simd/vec.h"

static vhem_status forward_backward(vhem_ctx *ctx, const vh_seq_chunk *batch, vh_scratch *scratch,
                                    double *loglik, vh_stats *stats)
{
    unsigned mode = vec_flush_to_0();
    vhem_status st = VH_NAME(vh_simd_forward_backward)(ctx, batch, scratch, loglik, stats);
    vec_mode_back(mode);
    return st;
}

static vhem_status reduce_chunk(vhem_ctx *ctx, const vh_reduce_chunk *c, vh_scratch *scratch,
                                vh_reduce_sums *sums)
{
    unsigned mode = vec_flush_to_0();
    vhem_status st = VH_NAME(vh_simd_reduce_chunk)(ctx, c, scratch, sums);
    vec_mode_back(mode);
    return st;
}

static const vh_seq_kernels sequences = { .kernel = forward_backward };

static const vh_reduce_kernels reduce = { .prepare = VH_NAME(vh_simd_reduce_prepare),
                                          .release = VH_NAME(vh_simd_reduce_release),
                                          .kernel = reduce_chunk };

static const vh_product_kernels product = { .prepare = VH_NAME(vh_simd_product_prepare),
                                            .release = VH_NAME(vh_simd_product_release),
                                            .kernel = VH_NAME(vh_simd_product) };

const vh_backend VH_NAME(vh_backend) = { .name = VH_TEXT(VH_ISA),
                                         .usable = VH_NAME(vh_usable),
                                         .sequences = &sequences,
                                         .reduce = &reduce,
                                         .product = &product };
