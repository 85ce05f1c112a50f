/* SPDX-License-Identifier: BSD-3-Clause */
/* estep_cpu.c - see estep_cpu.h.
 *
 * z_i depends on row i of L only, so each chunk is scored, assigned and accumulated before the next; the Kb x
 * Kr tables exist only if the caller allocated them. */
#include "vhem/estep_cpu.h"

#include "core/backend.h"
#include "vhem/pair_bound.h"
#include "core/alloc.h"
#include "parallel/map.h"
#include "parallel/sum.h"

#include <string.h>

typedef struct { /* a chunk prepared for the kernel */
    vh_packed base;
    void *prepared;
    const struct cpu_base *of; /* the job that frees it, if prepared for one E-step only; else NULL */
} ready;

typedef struct cpu_base {
    vh_base_source source;
    vh_reduce_kernels k; /* prepare, release, kernel */
    int64_t n_chunk;
    ready *chunk; /* [n_chunk]  of a resident source; NULL: prepared on demand */
} cpu_base;

VH_OWNED(cpu_base, vh_cpu_reduce_close)

/* ---- opening ------------------------------------------------------------------------------------------- */

static int chunk_size(const cpu_base *job, int64_t c)
{
    int64_t left = job->source.K - c * VH_REDUCE_CHUNK;
    return left < VH_REDUCE_CHUNK ? (int)left : VH_REDUCE_CHUNK;
}

static void let_go(const cpu_base *job, ready *r)
{
    if (r->prepared)
        job->k.release(r->prepared);
    if (job->source.release)
        job->source.release(job->source.arg, &r->base);
    *r = (ready){ 0 };
}

static vhem_status make_ready(vhem_ctx *ctx, const cpu_base *job, int64_t c, ready *r)
{
    VH_TRY(job->source.block(ctx, job->source.arg, c * VH_REDUCE_CHUNK, chunk_size(job, c), &r->base));
    if (job->k.prepare)
        VH_TRY(job->k.prepare(ctx, &r->base, &r->prepared));
    return VHEM_OK;
}

static vhem_status open_chunk(vhem_ctx *ctx, void *arg, int64_t c, int worker)
{
    cpu_base *job = arg;
    (void)worker;
    return make_ready(ctx, job, c, &job->chunk[c]);
}

vhem_status vh_cpu_reduce_open(vhem_ctx *ctx, const vh_base_source *source, void **state)
{
    const vh_reduce_kernels *of = ctx->backend->reduce;
    VH_OWN(cpu_base) *job = NULL;

    VH_NEW(job, 1);
    job->source = *source;
    job->k = of && of->kernel ? *of : vh_reduce_ref;
    job->n_chunk = (source->K + VH_REDUCE_CHUNK - 1) / VH_REDUCE_CHUNK;
    if (source->resident) {
        const vh_work all = { .n = job->n_chunk, .finishes = true, .run = open_chunk, .arg = job };
        VH_NEW(job->chunk, job->n_chunk);
        VH_TRY(vh_map(ctx, &all, NULL));
    }
    *state = vh_take(job);
    return VHEM_OK;
}

void vh_cpu_reduce_close(void *state)
{
    cpu_base *job = state;
    if (!job)
        return;
    for (int c = 0; job->chunk && c < job->n_chunk; c++)
        let_go(job, &job->chunk[c]);
    free(job->chunk);
    free(job);
}

/* ---- an E-step ----------------------------------------------------------------------------------------- */

typedef struct {
    const cpu_base *job;
    const vh_reduce_step *step;
    vh_scratch *scratch; /* [threads] */
} hmm_estep;

static void let_go_own(ready *own)
{
    if (own->of)
        let_go(own->of, own);
}

static vhem_status run_chunk(vhem_ctx *ctx, void *arg, int64_t c, int worker, double *block)
{
    const hmm_estep *p = arg;
    const cpu_base *job = p->job;
    VH_CLEANUP(let_go_own) ready own = { .of = job->chunk ? NULL : job };
    const ready *r = job->chunk ? &job->chunk[c] : &own;
    vh_reduce_sums sums = vh_reduce_sums_at(p->step->reduced, block);

    if (!job->chunk)
        VH_TRY(make_ready(ctx, job, c, &own));
    vh_reduce_sums_begin(p->step, &sums);
    const vh_reduce_chunk chunk = { .source = &job->source,
                                    .step = p->step,
                                    .place = c * VH_REDUCE_CHUNK,
                                    .base = &r->base,
                                    .prepared = r->prepared };
    return job->k.kernel(ctx, &chunk, &p->scratch[worker], &sums);
}

vhem_status vh_cpu_reduce_run(vhem_ctx *ctx, const void *state, const vh_reduce_step *step,
                              const vh_workers *workers, bool stops, vh_reduce_sums *out)
{
    const cpu_base *job = state;
    hmm_estep p = { job, step, workers->scratch };
    vh_reduce_sums shape = vh_reduce_sums_at(step->reduced, NULL);
    size_t size = step->statistics ? shape.size : shape.head;
    const vh_chunks chunks = {
        .n = job->n_chunk, .threads = workers->n, .stops = stops, .late = true, .run = run_chunk, .arg = &p
    };
    VH_OWN(vh_tree_sum) *tree = NULL;
    VH_AUTOFREE double *head = NULL;

    VH_TRY(vh_tree_sum_new(ctx, size, vh_reduce_sums_merge, step, &tree));
    if (!out)
        VH_NEW(head, size);
    return vh_sum(ctx, &chunks, NULL, tree, out ? out->block : head);
}
