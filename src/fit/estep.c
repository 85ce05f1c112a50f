/* SPDX-License-Identifier: BSD-3-Clause */
/* estep.c - see estep.h: chooses the backend of a job; its sums; the rule for mixtures. */
#include "fit/estep.h"

#include "core/backend.h"
#include "fit/estep_cpu.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "math/logsum.h"

#include <math.h>
#include <string.h>

struct vh_opened_sequences {
    const vh_seq_kernels *by; /* NULL: the CPU driver */
    void *state;
};

vhem_status vh_sequences_open(vhem_ctx *ctx, const vh_sequences *in, vh_opened_sequences **out)
{
    const vh_seq_kernels *of = ctx->backend->sequences;
    VH_AUTOFREE vh_opened_sequences *opened = NULL;

    VH_NEW(opened, 1);
    if (of && of->open) {
        VH_TRY(of->open(ctx, in, &opened->state));
        opened->by = of;
    } else {
        VH_TRY(vh_cpu_sequences_open(ctx, in, &opened->state));
    }
    *out = vh_take(opened);
    return VHEM_OK;
}

vhem_status vh_sequences_run(vhem_ctx *ctx, vh_opened_sequences *opened, const vh_seq_step *step,
                             vh_seq_sums *out)
{
    return opened->by ? opened->by->run(ctx, opened->state, step, out)
                      : vh_cpu_sequences_run(ctx, opened->state, step, out);
}

void vh_sequences_close(vh_opened_sequences *opened)
{
    if (!opened)
        return;
    if (opened->by)
        opened->by->close(opened->state);
    else
        vh_cpu_sequences_close(opened->state);
    free(opened);
}

/* ---- sums ---------------------------------------------------------------------------------------------- */

vh_seq_sums vh_seq_sums_at(const vh_packed *pk, int mixtures, double *block)
{
    size_t K = (size_t)pk->K, head = 3 * K + (size_t)mixtures;
    vh_seq_sums s = { .block = block, .head = head, .size = head + vh_stats_at(pk, NULL).size };
    if (!block)
        return s;
    s.total = block;
    s.sum_z = block + K;
    s.log_sum_z = block + 2 * K;
    s.J = block + 3 * K;
    s.stats = vh_stats_at(pk, block + head);
    return s;
}

vhem_status vh_seq_sums_new(vhem_ctx *ctx, const vh_packed *pk, int mixtures, vh_seq_sums *out)
{
    double *block = NULL;

    VH_NEW(block, vh_seq_sums_at(pk, mixtures, NULL).size);
    *out = vh_seq_sums_at(pk, mixtures, block);
    return VHEM_OK;
}

void vh_seq_sums_free(vh_seq_sums *sums)
{
    free(sums->block);
    *sums = (vh_seq_sums){ 0 };
}

/* ---- the rule for mixtures ----------------------------------------------------------------------------- */

void vh_seq_assign(const vh_sequences *in, const vh_seq_step *step, int64_t g, const double *loglik,
                   double *log_z, double *J)
{
    int K = step->pk->K, own = K / step->mixtures;
    int64_t lo = vh_seq_place(in, g), hi = vh_seq_place(in, g + 1);

    for (int k = 0; k < K; k++) {
        double sum = 0;
        for (int64_t i = lo; i < hi; i++) {
            double w = vh_data_weight(in->data, in->seq[i]);
            sum += w > 0 ? w * loglik[vh_ij(i - lo, K, k)] : 0;
        }
        log_z[k] = step->log_omega[k] + sum;
    }
    for (int a = 0; a < step->mixtures; a++)
        J[a] = vh_log_softmax(own, log_z + a * own);
}

void vh_seq_weigh(const vh_seq_chunk *b, const double *loglik, vh_stats *stats, double *w)
{
    const vh_sequences *in = b->in;
    size_t K = (size_t)b->step->pk->K;
    int64_t g = b->set0;

    for (int64_t i = 0; i < b->n; i++) {
        int64_t place = b->first + i;
        while (place >= vh_seq_place(in, g + 1))
            g++;
        double *log_z = b->log_z + (size_t)(g - b->set0) * K;
        double weight = log(vh_data_weight(in->data, in->seq[place]));
        if (!b->known && place == vh_seq_place(in, g))
            vh_seq_assign(in, b->step, g, loglik + (size_t)i * K, log_z,
                          b->J + vh_row(g - b->set0, b->step->mixtures));
        for (size_t k = 0; k < K; k++)
            w[(size_t)i * K + k] = log_z[k] + weight;
    }
    vh_stats_weigh(b->step->pk, stats, b->n, w);
}

int vh_chunk_frames(const vh_packed *pk)
{
    /* statistics, components, states in three tables, and the shift of each HMM */
    size_t bytes_per_frame = sizeof(double) * (size_t)(pk->n_stat + pk->n_comp + 3 * pk->n_state + pk->K);
    size_t frames = (size_t)(512 << 10) / bytes_per_frame;
    return frames < 64 ? 64 : frames > 4096 ? 4096 : (int)frames;
}

/* ---- one pass ------------------------------------------------------------------------------------------ */

vhem_status vh_expect(vhem_ctx *ctx, const vh_packed *pk, const vh_sequences *in, double *loglik,
                      vh_stats *total)
{
    vh_sequences own = *in;
    const vh_seq_step step = { .pk = pk, .statistics = total != NULL };
    VH_OWN(vh_opened_sequences) *opened = NULL;
    VH_CLEANUP(vh_seq_sums_free) vh_seq_sums sums = { 0 };

    own.family = pk->family;
    own.x = pk->x;
    VH_TRY(vh_sequences_open(ctx, &own, &opened));
    VH_TRY(vh_seq_sums_new(ctx, pk, 0, &sums));
    sums.loglik = loglik;
    VH_TRY(vh_sequences_run(ctx, opened, &step, &sums));
    if (total)
        memcpy(total->block, sums.stats.block, sizeof *total->block * total->size);
    return VHEM_OK;
}
