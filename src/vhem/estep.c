/* SPDX-License-Identifier: BSD-3-Clause */
/* estep.c - see estep.h: jobs, the sums of an E-step, and the assignments.
 *
 *   z_ij ~ omega_j exp(N_i L_ij),   J = sum_i log sum_j omega_j exp(N_i L_ij),   N_i = N omega_i */
#include "vhem/estep.h"

#include "core/backend.h"
#include "vhem/estep_cpu.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "math/logsum.h"
#include "math/scaled.h"

#include <float.h>
#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- jobs ---------------------------------------------------------------------------------------------- */

struct vh_opened_base {
    vh_reduce_kernels k;
    void *state;
    int64_t K;
};

vhem_status vh_reduce_open(vhem_ctx *ctx, const vh_base_source *source, vh_opened_base **out)
{
    VH_AUTOFREE vh_opened_base *opened = NULL;

    VH_NEW(opened, 1);
    opened->K = source->K;
    if (ctx->backend->reduce)
        opened->k = *ctx->backend->reduce;
    if (!opened->k.open) {
        opened->k.open = vh_cpu_reduce_open;
        opened->k.run = vh_cpu_reduce_run;
        opened->k.close = vh_cpu_reduce_close;
    }
    VH_TRY(opened->k.open(ctx, source, &opened->state));
    *out = vh_take(opened);
    return VHEM_OK;
}

vhem_status vh_reduce_run(vhem_ctx *ctx, const vh_opened_base *opened, const vh_reduce_step *step,
                          const vh_workers *workers, bool stops, vh_reduce_sums *out)
{
    return opened->k.run(ctx, opened->state, step, workers, stops, out);
}

bool vh_reduce_is_remote(const vh_opened_base *opened)
{
    return opened->k.open != vh_cpu_reduce_open;
}

void vh_reduce_close(vh_opened_base *opened)
{
    if (opened)
        opened->k.close(opened->state);
    free(opened);
}

/* ---- sums ---------------------------------------------------------------------------------------------- */

vh_reduce_sums vh_reduce_sums_at(const vh_packed *reduced, double *block)
{
    size_t Kr = (size_t)reduced->K, head = 2 + 5 * Kr;
    vh_reduce_sums s = { .head = head, .block = block };
    s.size = head + vh_stats_at(reduced, NULL).size;
    if (!block)
        return s;
    s.J = block;
    s.used = block + 1;
    s.sum_z = block + 2;
    s.scale_z = s.sum_z + Kr;
    s.members = s.scale_z + Kr;
    s.worst_L = s.members + Kr;
    s.worst = s.worst_L + Kr;
    s.stats = vh_stats_at(reduced, block + head);
    return s;
}

vhem_status vh_reduce_sums_new(vhem_ctx *ctx, const vh_packed *reduced, vh_reduce_sums *out)
{
    double *block = NULL;

    VH_NEW(block, vh_reduce_sums_at(reduced, NULL).size);
    *out = vh_reduce_sums_at(reduced, block);
    return VHEM_OK;
}

void vh_reduce_sums_free(vh_reduce_sums *sums)
{
    free(sums->block);
    *sums = (vh_reduce_sums){ 0 };
}

void vh_reduce_sums_begin(const vh_reduce_step *step, vh_reduce_sums *sums)
{
    for (int j = 0; j < step->reduced->K; j++)
        sums->scale_z[j] = VH_NO_SCALE;
    if (step->statistics)
        vh_stats_begin(step->reduced, &sums->stats);
}

/* Adds members to cluster j and keeps the worse of two candidates for its worst-described HMM. */
static void add_members(vh_reduce_sums *s, int j, double members, double L, double number)
{
    bool better = L < s->worst_L[j] || (L == s->worst_L[j] && number < s->worst[j]);
    if (members > 0 && (s->members[j] == 0 || better)) {
        s->worst_L[j] = L;
        s->worst[j] = number;
    }
    s->members[j] += members;
}

void vh_reduce_sums_merge(const void *arg, double *left, const double *right)
{
    const vh_reduce_step *step = arg;
    vh_reduce_sums a = vh_reduce_sums_at(step->reduced, left),
                   b = vh_reduce_sums_at(step->reduced, (double *)right);
    assert(a.J && b.J);
    *a.J += *b.J;
    *a.used += *b.used;
    for (int j = 0; j < step->reduced->K; j++) {
        vh_scaled_merge(&a.sum_z[j], &a.scale_z[j], b.sum_z[j], b.scale_z[j]);
        add_members(&a, j, b.members[j], b.worst_L[j], b.worst[j]);
    }
    if (step->statistics)
        vh_stats_merge(step->reduced, a.stats.block, b.stats.block);
}

/* ---- assignments --------------------------------------------------------------------------------------- */

/* log z_ij, eq. 46; returns log sum_j omega_j exp(N_i L_ij), which is L_H3M of eq. 45 at these z. */
double vh_reduce_assign(int Kr, const double *log_omega, double Ni, const double *L, double *log_z)
{
    for (int j = 0; j < Kr; j++)
        log_z[j] = log_omega[j] + (Ni > 0 ? Ni * L[j] : 0);
    return vh_log_softmax(Kr, log_z);
}

/* Assigns the base HMM at a place, with bounds L [Kr]; log_w [Kr]: log weights of its pairs in the
 * statistics. */
static void assign_one(const vh_reduce_chunk *c, int64_t place, const double *L, double *log_w,
                       vh_reduce_sums *s)
{
    const vh_reduce_step *step = c->step;
    int Kr = step->reduced->K;
    int64_t i = c->source->number[place];
    double omega = c->source->omega[place], log_weight = log(omega),
           log_count = step->weighted ? log(c->source->all) + log_weight : 0, top = -1;

    *s->J += vh_reduce_assign(Kr, step->log_omega, step->N * omega, L, log_w);
    for (int j = 0; j < Kr; j++) {
        double log_z = log_w[j];
        vh_scaled_add(&s->sum_z[j], &s->scale_z[j], log_z + log_count);
        if (log_z >= -0.69314718055994530942 && omega > 0)
            add_members(s, j, 1, L[j], i);
        double z = step->z || step->label ? exp(log_z) : 0;
        if (step->z)
            step->z[vh_ij(i, Kr, j)] = z;
        if (step->label && z > top) {
            top = z;
            step->label[i] = j;
        }
        log_w[j] += log_weight;
    }
}

/* Reports why the objective of places first .. first+n-1 is not finite: the first pair with NaN or +inf, or
 * the first HMM that fits no centre. */
static vhem_status tell_fault(vhem_ctx *ctx, const vh_reduce_chunk *c, int first, int n, const double *L)
{
    int Kr = c->step->reduced->K;
    for (int p = 0; p < n; p++, L += Kr) {
        int64_t i = c->source->first + c->source->number[c->place + first + p];
        int possible = 0;
        for (int j = 0; j < Kr; j++) {
            if (isnan(L[j]) || L[j] > DBL_MAX)
                return vh_fail(ctx, VHEM_ENUMERIC,
                               "the bound L_hmm of HMM %lld and centre %d is not a number", (long long)i, j);
            possible += L[j] >= -DBL_MAX;
        }
        if (possible == 0)
            return vh_fail(
                ctx, VHEM_ENUMERIC,
                "HMM %lld fits no centre: its bound L_hmm under centre 0 and all others is too small "
                "for a number",
                (long long)i);
    }
    return vh_fail(ctx, VHEM_ENUMERIC, "the objective of HMM %lld and those after it is %g",
                   (long long)(c->source->first + c->source->number[c->place + first]), -INFINITY);
}

vhem_status vh_reduce_weigh(vhem_ctx *ctx, const vh_reduce_chunk *c, int first, int n, const double *L,
                            double *w, vh_reduce_sums *sums)
{
    const vh_reduce_step *step = c->step;
    size_t Kr = (size_t)step->reduced->K;

    for (int p = 0; p < n; p++) {
        int64_t place = c->place + first + p;
        const double *row = L + (size_t)p * Kr;
        if (step->log_omega)
            assign_one(c, place, row, w + (size_t)p * Kr, sums);
        if (step->L)
            memcpy(step->L + (size_t)c->source->number[place] * Kr, row, sizeof *row * Kr);
    }
    if (step->log_omega && !isfinite(*sums->J))
        VH_TRY(tell_fault(ctx, c, first, n, L));
    if (step->statistics)
        *sums->used += (double)vh_stats_weigh(step->reduced, &sums->stats, n, w);
    return VHEM_OK;
}
