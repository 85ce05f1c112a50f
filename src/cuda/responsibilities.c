/* SPDX-License-Identifier: BSD-3-Clause */
/* responsibilities.c - see responsibilities.h. */
#include "cuda/responsibilities.h"

#include "fit/estep_cpu.h"
#include "core/alloc.h"
#include "parallel/map.h"
#include "parallel/sum.h"
#include "math/scaled.h"

#include <math.h>
#include <string.h>

enum { SETS = 256, LANES = 1024 }; /* per item */

typedef struct {                     /* sums over some sets, in a block of numbers */
    double *sum_z, *scale, *top, *J; /* [K] [K] [K] [mixtures]; top: largest log-weight of a sequence */
} set_sums;

static size_t part_size(const vh_seq_step *step)
{
    return 3 * (size_t)step->pk->K + (size_t)step->mixtures;
}

static set_sums part_at(const vh_seq_step *step, double *block)
{
    size_t K = (size_t)step->pk->K;
    return (set_sums){ block, block + K, block + 2 * K, block + 3 * K };
}

static void add_parts(const void *arg, double *left, const double *right)
{
    const vh_seq_step *step = arg;
    set_sums a = part_at(step, left), b = part_at(step, (double *)(uintptr_t)right);
    for (int k = 0; k < step->pk->K; k++) {
        vh_scaled_merge(&a.sum_z[k], &a.scale[k], b.sum_z[k], b.scale[k]);
        a.top[k] = fmax(a.top[k], b.top[k]);
    }
    for (int m = 0; m < step->mixtures; m++)
        a.J[m] += b.J[m];
}

/* log of the largest sequence weight in set g. */
static double heaviest(const vh_sequences *in, int64_t g)
{
    double most = 0;
    for (int64_t i = vh_seq_place(in, g); i < vh_seq_place(in, g + 1); i++)
        most = fmax(most, vh_data_weight(in->data, in->seq[i]));
    return log(most);
}

static vhem_status assign_some(vhem_ctx *ctx, void *arg, int64_t item, int worker, double *block)
{
    const vh_cuda_responsibilities *x = arg;
    vh_scratch *scratch = &x->in->workers->scratch[worker];
    size_t K = (size_t)x->step->pk->K;
    set_sums sums = part_at(x->step, block);
    double *J;

    VH_SCRATCH(J, 0, x->step->mixtures);
    for (size_t k = 0; k < K; k++) {
        sums.scale[k] = VH_NO_SCALE;
        sums.top[k] = -INFINITY;
    }
    for (int64_t g = item * SETS; g < x->in->n_set && g < (item + 1) * SETS; g++) {
        int64_t lo = vh_seq_place(x->in, g);
        double *log_z = x->log_z + (size_t)g * K, most = heaviest(x->in, g);
        vh_seq_assign(x->in, x->step, g, x->loglik + (size_t)lo * K, log_z, J);
        if (lo == vh_seq_place(x->in, g + 1))
            continue;
        for (size_t k = 0; k < K; k++) {
            vh_scaled_add(&sums.sum_z[k], &sums.scale[k], log_z[k]);
            sums.top[k] = fmax(sums.top[k], log_z[k] + most);
        }
        for (int m = 0; m < x->step->mixtures; m++)
            sums.J[m] += J[m];
    }
    return VHEM_OK;
}

vhem_status vh_cuda_responsibilities_assign(vhem_ctx *ctx, const vh_cuda_responsibilities *x,
                                            vh_seq_sums *out, double *scale)
{
    size_t size = part_size(x->step);
    const vh_chunks items = { .n = (x->in->n_set + SETS - 1) / SETS,
                              .threads = x->in->workers->n,
                              .run = assign_some,
                              .arg = (void *)(uintptr_t)x };
    VH_OWN(vh_tree_sum) *tree = NULL;
    VH_AUTOFREE double *block = NULL;

    VH_NEW(block, size);
    VH_TRY(vh_tree_sum_new(ctx, size, add_parts, x->step, &tree));
    VH_TRY(vh_sum(ctx, &items, NULL, tree, block));
    const set_sums sums = part_at(x->step, block);
    for (int k = 0; k < x->step->pk->K; k++) {
        out->sum_z[k] = vh_scaled_value(sums.sum_z[k], sums.scale[k]);
        out->log_sum_z[k] = vh_scaled_log(sums.sum_z[k], sums.scale[k]);
        scale[k] = vh_scale_of(sums.top[k]);
    }
    memcpy(out->J, sums.J, sizeof *out->J * (size_t)x->step->mixtures);
    return VHEM_OK;
}

typedef struct {
    const vh_cuda_responsibilities *x;
    const int *place;
    int lanes;
    const double *scale;
    double *w;
} weighing;

/* The set that contains the sequence at a place. */
static int64_t set_at(const vh_sequences *in, int64_t place)
{
    int64_t lo = 0, hi = in->n_set;
    if (!in->first)
        return place;
    while (hi - lo > 1) {
        int64_t mid = lo + (hi - lo) / 2;
        if (in->first[mid] <= place)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

static vhem_status weigh_some(vhem_ctx *ctx, void *arg, int64_t item, int worker)
{
    const weighing *j = arg;
    const vh_sequences *in = j->x->in;
    size_t K = (size_t)j->x->step->pk->K;

    (void)ctx;
    (void)worker;
    for (int l = (int)item * LANES; l < j->lanes && l < ((int)item + 1) * LANES; l++) {
        int place = j->place[l];
        const double *log_z = place < 0 ? NULL : j->x->log_z + (size_t)set_at(in, place) * K;
        double weight = place < 0 ? 0 : log(vh_data_weight(in->data, in->seq[place]));
        for (size_t k = 0; k < K; k++)
            j->w[k * (size_t)j->lanes + (size_t)l] = log_z ? vh_at_scale(log_z[k] + weight, j->scale[k]) : 0;
    }
    return VHEM_OK;
}

vhem_status vh_cuda_responsibilities_weigh(vhem_ctx *ctx, const vh_cuda_responsibilities *x, const int *place,
                                           int lanes, const double *scale, double *w)
{
    weighing j = { x, place, lanes, scale, w };
    const vh_work items = { .n = (lanes + LANES - 1) / LANES,
                            .threads = x->in->workers->n,
                            .finishes = true,
                            .run = weigh_some,
                            .arg = &j };
    return vh_map(ctx, &items, NULL);
}
