/* SPDX-License-Identifier: BSD-3-Clause */
/* copy_reduce.h - the variational E-step as a device would do it: the base HMMs are copied into memory of its
 * own, whole jobs are worked on in the plainest way, and sums come back.  It shares the mathematics of one
 * pair with `ref`, and neither chunks, threads nor the rule of assignment with the driver for CPUs. */
#ifndef VH_TESTS_COPY_REDUCE_H
#define VH_TESTS_COPY_REDUCE_H

#include "copy_backend.h"

#include "vhem/pair_bound.h"

typedef struct {
    int64_t K, n_chunk;
    double *omega;     /* [K]  by number */
    int64_t *number;   /* [K] */
    vh_packed **chunk; /* [n_chunk] */
} copied_base;

/* A block with offsets that begin at 0, copied. */
static vh_packed *copy_block(const vh_packed *block)
{
    vh_packed b = *block;
    size_t n = (size_t)b.K + 1;
    b.state0 = copy_of(block->state0, n, sizeof *b.state0);
    b.comp0 = copy_of(block->comp0, n, sizeof *b.comp0);
    b.trans0 = copy_of(block->trans0, n, sizeof *b.trans0);
    for (size_t k = 0; k < n; k++) {
        b.state0[k] -= block->state0[0];
        b.comp0[k] -= block->comp0[0];
        b.trans0[k] -= block->trans0[0];
    }
    b.pi += block->state0[0];
    b.A += block->trans0[0];
    b.c += block->comp0[0];
    b.mean += (size_t)block->comp0[0] * (size_t)block->n_stat;
    b.par += (size_t)block->comp0[0] * VH_MAX_PARAM;
    vh_packed *copy = copy_packed(&b, true);
    free(b.state0);
    free(b.comp0);
    free(b.trans0);
    return copy;
}

static vhem_status copy_reduce_open(vhem_ctx *ctx, const vh_base_source *source, void **state)
{
    copied_base *s = calloc(1, sizeof *s);
    s->K = source->K;
    s->n_chunk = (s->K + VH_REDUCE_CHUNK - 1) / VH_REDUCE_CHUNK;
    s->number = copy_of(source->number, (size_t)s->K, sizeof *s->number);
    s->omega = calloc((size_t)s->K, sizeof *s->omega);
    s->chunk = calloc((size_t)s->n_chunk, sizeof(vh_packed *));
    for (int64_t p = 0; p < s->K; p++)
        s->omega[s->number[p]] = source->omega[p];
    for (int c = 0; c < s->n_chunk; c++) {
        int first = c * VH_REDUCE_CHUNK;
        int64_t left = s->K - first;
        vh_packed block = { 0 };
        assert_ok(ctx, source->block(ctx, source->arg, first, left < VH_REDUCE_CHUNK ? left : VH_REDUCE_CHUNK,
                                     &block));
        s->chunk[c] = copy_block(&block);
        if (source->release)
            source->release(source->arg, &block);
    }
    *state = s;
    return VHEM_OK;
}

static void copy_reduce_close(void *state)
{
    copied_base *s = state;
    for (int c = 0; c < s->n_chunk; c++)
        free_copy(s->chunk[c]);
    free(s->chunk);
    free(s->omega);
    free(s->number);
    free(s);
}

/* The pair of the base HMM at a place and reduced HMM j. */
static vhem_status copied_pair(vhem_ctx *ctx, const copied_base *s, const vh_packed *reduced, int tau,
                               int64_t place, int j, double w, vh_scratch *scratch, double *L,
                               vh_stats *stats)
{
    const vh_reduce_pair pair = { s->chunk[place / VH_REDUCE_CHUNK], reduced, tau,
                                  place % VH_REDUCE_CHUNK,           j,       w };
    return vh_ref_reduce_pair(ctx, &pair, scratch, L, stats, NULL);
}

/* log z [K][Kr] by number from L, and all sums but the statistics. */
static void copied_assign(const copied_base *s, const vh_reduce_step *step, const double *L, double *log_z,
                          vh_reduce_sums *out)
{
    int Kr = step->reduced->K;
    for (int j = 0; j < Kr; j++)
        out->scale_z[j] = VH_NO_SCALE;
    for (int64_t i = 0; i < s->K; i++) {
        double *z = log_z + i * Kr, top = -INFINITY, sum = 0;
        for (int j = 0; j < Kr; j++) {
            z[j] = step->log_omega[j] + (s->omega[i] > 0 ? step->N * s->omega[i] * L[i * Kr + j] : 0);
            top = fmax(top, z[j]);
        }
        for (int j = 0; j < Kr; j++)
            sum += exp(z[j] - top);
        *out->J += top + log(sum);
        for (int j = 0; j < Kr; j++) {
            z[j] = z[j] - top - log(sum);
            vh_scaled_add(&out->sum_z[j], &out->scale_z[j],
                          z[j] + (step->weighted ? log(s->K * s->omega[i]) : 0));
            if (exp(z[j]) < 0.5 || !(s->omega[i] > 0))
                continue;
            if (out->members[j] == 0 || L[i * Kr + j] < out->worst_L[j]) {
                out->worst_L[j] = L[i * Kr + j];
                out->worst[j] = i;
            }
            out->members[j]++;
        }
    }
}

/* Statistics from weights relative to the largest of each cluster. */
static void copied_statistics(vhem_ctx *ctx, const copied_base *s, const vh_packed *reduced, int tau,
                              const double *log_z, vh_scratch *scratch, vh_reduce_sums *out)
{
    int Kr = reduced->K;
    double unused;
    for (int j = 0; j < Kr; j++) {
        double top = -INFINITY;
        for (int64_t i = 0; i < s->K; i++)
            top = fmax(top, log_z[i * Kr + j] + log(s->omega[i]));
        out->stats.scale[j] = vh_scale_of(top);
        for (int64_t p = 0; p < s->K; p++) {
            int64_t i = s->number[p];
            double w = vh_at_scale(log_z[i * Kr + j] + log(s->omega[i]), out->stats.scale[j]);
            *out->used += w > 0;
            if (w > 0)
                assert_ok(ctx, copied_pair(ctx, s, reduced, tau, p, j, w, scratch, &unused, &out->stats));
        }
    }
}

static vhem_status copy_reduce_run(vhem_ctx *ctx, const void *state, const vh_reduce_step *step,
                                   const vh_workers *not_mine, bool stops, vh_reduce_sums *out)
{
    const copied_base *s = state;
    vh_packed *reduced = copy_packed(step->reduced, false);
    vh_scratch scratch = { { 0 }, { 0 } };
    size_t pairs = (size_t)s->K * (size_t)reduced->K;
    double *L = calloc(pairs, sizeof *L), *log_z = calloc(pairs, sizeof *log_z);
    vhem_status st = VHEM_OK;
    (void)not_mine;
    (void)stops;
    for (size_t k = 0; k < pairs && st == VHEM_OK; k++) {
        int place = (int)(k / (size_t)reduced->K), j = (int)(k % (size_t)reduced->K);
        st = copied_pair(ctx, s, reduced, step->tau, place, j, 0, &scratch,
                         &L[s->number[place] * reduced->K + j], NULL);
    }
    if (out)
        memset(out->block, 0, sizeof *out->block * out->size);
    if (st == VHEM_OK && step->log_omega)
        copied_assign(s, step, L, log_z, out);
    if (st == VHEM_OK && step->statistics)
        copied_statistics(ctx, s, reduced, step->tau, log_z, &scratch, out);
    for (size_t k = 0; k < pairs && step->z; k++)
        step->z[k] = exp(log_z[k]);
    for (int64_t i = 0; i < s->K && step->label; i++)
        for (int j = step->label[i] = 0; j < reduced->K; j++)
            if (exp(log_z[i * reduced->K + j]) > exp(log_z[i * reduced->K + step->label[i]]))
                step->label[i] = j;
    if (step->L)
        memcpy(step->L, L, sizeof *L * pairs);
    vh_scratch_free(&scratch);
    free_copy(reduced);
    free(L);
    free(log_z);
    return st;
}

/* All kinds of jobs. */
static inline vh_backend copy_all(void)
{
    static const vh_reduce_kernels reduce = { .open = copy_reduce_open,
                                              .run = copy_reduce_run,
                                              .close = copy_reduce_close };
    vh_backend b = copy_backend();
    b.reduce = &reduce;
    return b;
}

#endif
