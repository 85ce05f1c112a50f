/* SPDX-License-Identifier: BSD-3-Clause */
/* without.c - see without.h.
 *
 *   1. sums without each HMM                 3. does the run converge?
 *   2. HMMs between two clusters             4. the whole computation
 *
 * A run without HMM i begins with the first E-step of the run on the whole set, less i's contribution.  Sums
 * without i are computed by adding all other HMMs, not by subtracting i: what only i has seen is then exactly
 * 0.  To keep the cost at a few E-steps, the HMMs are cut into ranges of RANGE.  The sums before and after
 * each range are kept.  Within a range, the sums of one half are added to the sums that lack the other half,
 * recursively down to single HMMs: log2 RANGE E-steps in all. */
#include "vhem/without.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "parallel/map.h"
#include "math/blas.h"
#include "math/scaled.h"
#include "hmm/convert.h"
#include "hmm/missing_columns.h"
#include "vhem/repair.h"
#include "math/order.h"

#include <math.h>

#define LEAST_SHARE (-20.0) /* log share of an HMM below which it does not belong to a cluster */

enum { RANGE = 64, BATCH = 16, FAR = 4 };

typedef struct {
    const vh_without *w;
    vh_vhem_options opt;     /* with the floor */
    double *floor;           /* [d], or NULL */
    vh_h3m *start;           /* a copy, with weights that sum to 1 */
    vh_base *base;           /* packed only, for its coordinates */
    vh_packed *pk;           /* the start, packed */
    double *log_omega;       /* [K] */
    vh_reduce_step step;     /* the first E-step of every run */
    double samples;          /* virtual samples per HMM */
    int64_t n;               /* number of ranges */
    size_t size;             /* numbers in a block of sums */
    double *before, *beyond; /* [n][size]  sums of all HMMs before a range; [n+1][size]  from it on */
    vh_h3m *next;            /* the centres after the first M-step on the whole set, */
    vh_packed *next_pk;      /* packed, */
    double *next_log_omega;  /* [K]  and the logs of their weights */
    double *was, *is;        /* [Kb][K]  log omega_j + N_i L_ij under the start, and under next */
    vh_ranked *near;         /* [K][Kb]  HMMs by gap */
    double excess;           /* sum over all HMMs, see below */
    vh_workers workers;
} without_work;

static void free_work(without_work *x)
{
    free(x->floor);
    vh_pack_free(x->pk);
    vh_base_free(x->base);
    vh_h3m_free(x->start);
    free(x->log_omega);
    free(x->before);
    free(x->beyond);
    vh_pack_free(x->next_pk);
    vh_h3m_free(x->next);
    free(x->next_log_omega);
    free(x->was);
    free(x->is);
    free(x->near);
    vh_workers_free(&x->workers);
}

/* ---- 1. sums without each HMM -------------------------------------------------------------------------- */

/* Runs a step on HMMs first .. first+n-1 of a set, in the coordinates of the base. */
static vhem_status run_step(vhem_ctx *ctx, const without_work *x, const vh_h3m *h3m, int64_t first, int64_t n,
                            const vh_reduce_step *step, int worker, vh_reduce_sums *sums)
{
    const vh_base_range range = {
        .h3m = h3m, .first = first, .n = n, .all = h3m->K, .origin = x->base->origin, .scale = x->base->scale
    };
    VH_OWN(vh_base) *part = NULL;

    VH_TRY(vh_base_part(ctx, &range, &part));
    return vh_reduce_run(ctx, part->opened, step, &(vh_workers){ 1, &x->workers.scratch[worker] }, true,
                         sums);
}

static vhem_status sum_of(vhem_ctx *ctx, const without_work *x, int64_t first, int64_t n, int worker,
                          double *block)
{
    vh_reduce_sums sums = vh_reduce_sums_at(x->pk, block);
    return run_step(ctx, x, x->w->h3m, first, n, &x->step, worker, &sums);
}

static int64_t range_size(const without_work *x, int64_t r)
{
    int64_t left = x->w->h3m->K - r * RANGE;
    return left < RANGE ? left : RANGE;
}

/* Converts bounds to log omega_j + N_i L_ij. */
static void to_terms(const without_work *x, const double *log_omega, int64_t n, double *L)
{
    int64_t K = x->start->K;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < K; j++)
            L[vh_ij(i, K, j)] = log_omega[j] + x->samples * L[vh_ij(i, K, j)];
}

static vhem_status sum_range(vhem_ctx *ctx, void *arg, int64_t r, int worker)
{
    without_work *x = arg;
    vh_reduce_step step = x->step;
    vh_reduce_sums sums = vh_reduce_sums_at(x->pk, x->beyond + vh_row(r, (int64_t)x->size));

    step.L = x->was + vh_row(r * RANGE, x->start->K);
    VH_TRY(run_step(ctx, x, x->w->h3m, r * RANGE, range_size(x, r), &step, worker, &sums));
    to_terms(x, x->log_omega, range_size(x, r), step.L);
    return VHEM_OK;
}

static void begin_block(const without_work *x, double *block)
{
    vh_reduce_sums sums = vh_reduce_sums_at(x->pk, block);
    vh_reduce_sums_begin(&x->step, &sums);
}

/* From the sums of single ranges to cumulative sums before and from each range on. */
static void chain_ranges(without_work *x)
{
    begin_block(x, x->before);
    begin_block(x, x->beyond + vh_row(x->n, (int64_t)x->size));
    for (int64_t r = 1; r < x->n; r++) {
        double *to = x->before + vh_row(r, (int64_t)x->size);
        memcpy(to, to - x->size, sizeof *to * x->size);
        vh_reduce_sums_merge(&x->step, to, x->beyond + vh_row(r - 1, (int64_t)x->size));
    }
    for (int64_t r = x->n - 1; r >= 0; r--) {
        double *to = x->beyond + vh_row(r, (int64_t)x->size);
        vh_reduce_sums_merge(&x->step, to, to + x->size);
    }
}

/* ---- 2. HMMs between two clusters ---------------------------------------------------------------------- */

static vhem_status score_range(vhem_ctx *ctx, void *arg, int64_t r, int worker)
{
    without_work *x = arg;
    const vh_reduce_step step = {
        .reduced = x->next_pk, .tau = x->opt.tau, .N = x->opt.N, .L = x->is + vh_row(r * RANGE, x->start->K)
    };
    VH_TRY(run_step(ctx, x, x->w->h3m, r * RANGE, range_size(x, r), &step, worker, NULL));
    to_terms(x, x->next_log_omega, range_size(x, r), step.L);
    return VHEM_OK;
}

static double log_sum(int K, const double *row)
{
    double top = -INFINITY, sum = 0;
    for (int j = 0; j < K; j++)
        top = fmax(top, row[j]);
    for (int j = 0; j < K; j++)
        sum += exp(row[j] - top);
    return top + log(sum);
}

/* Gain of the objective of HMM i from changing its cluster, beyond the gain of its current clusters: its
 * terms were a [K] and are b [K], and log sum exp b - log sum exp a - sum z (b - a) >= 0. */
static double excess(int K, const double *a, const double *b)
{
    double all = log_sum(K, a), gain = log_sum(K, b) - all;
    for (int j = 0; j < K; j++)
        if (a[j] - all > -700)
            gain -= exp(a[j] - all) * (b[j] - a[j]);
    return gain;
}

/* M-step on the whole set, and the terms of all HMMs under its centres. */
static vhem_status look_ahead(vhem_ctx *ctx, without_work *x)
{
    int K = (int)x->start->K;
    int64_t Kb = x->w->h3m->K, failed;
    vh_reduce_sums sums = vh_reduce_sums_at(x->pk, x->beyond);

    VH_TRY(vh_h3m_subset(ctx, x->start, NULL, K, &x->next));
    VH_NEW(x->next_log_omega, K);
    const vh_vhem_step m = { x->base, &x->opt, x->pk, &sums, x->next, x->next_log_omega };
    VH_TRY(vh_vhem_maximise(ctx, &m));
    VH_TRY(vh_base_pack_centers(ctx, x->base, x->next, NULL, K, &x->next_pk));
    VH_TRY(vh_pack_update(ctx, x->next, NULL, x->next_pk));
    VH_NEW(x->is, vh_cells(Kb, K));
    VH_TRY(vh_map(ctx, &(vh_work){ .n = x->n, .run = score_range, .arg = x }, &failed));
    VH_NEW(x->near, vh_cells(K, Kb));
    for (int j = 0; j < K; j++) {
        vh_ranked *near = x->near + vh_row(j, Kb);
        for (int64_t i = 0; i < Kb; i++) {
            double other = -INFINITY;
            for (int k = 0; k < K; k++)
                if (k != j)
                    other = fmax(other, x->was[vh_ij(i, K, k)]);
            near[i] = (vh_ranked){ fabs(x->was[vh_ij(i, K, j)] - other), i };
        }
        vh_rank_ascending((size_t)Kb, near);
    }
    for (int64_t i = 0; i < Kb; i++)
        x->excess += excess(K, x->was + vh_row(i, K), x->is + vh_row(i, K));
    return VHEM_OK;
}

typedef struct { /* the centres without an HMM */
    const vh_h3m *centers;
    const double *log_omega;
    int64_t without;
    int worker;
    int64_t j;     /* one of them, */
    vh_packed *pk; /* packed */
} moved;

/* HMMs near[0 .. n-1] under centre j: adds the growth of their excess to *more, and raises *most to the
 * largest change of a term since the start. */
static vhem_status excess_of_near(vhem_ctx *ctx, const without_work *x, const moved *m, const vh_ranked *near,
                                  int n, double *more, double *most)
{
    VH_OWN(vh_h3m) *some = NULL;
    VH_AUTOFREE double *L = NULL;
    int K = (int)x->start->K;
    int64_t pick[BATCH];

    VH_NEW(L, n + K);
    for (int k = 0; k < n; k++)
        pick[k] = near[k].i;
    VH_TRY(vh_h3m_subset(ctx, x->w->h3m, pick, n, &some));
    const vh_reduce_step step = { .reduced = m->pk, .tau = x->opt.tau, .N = x->opt.N, .L = L };
    VH_TRY(run_step(ctx, x, some, 0, n, &step, m->worker, NULL));
    double *row = L + n;
    for (int k = 0; k < n; k++) {
        const double *was = x->was + vh_row(pick[k], K), *is = x->is + vh_row(pick[k], K);
        if (pick[k] == m->without)
            continue;
        memcpy(row, is, sizeof *row * (size_t)K);
        row[m->j] = m->log_omega[m->j] + x->samples * L[k];
        *more += excess(K, was, row) - excess(K, was, is);
        *most = fmax(*most, fabs(row[m->j] - was[m->j]));
    }
    return VHEM_OK;
}

/* Growth of the excess because centre j differs from that of the whole set.  Takes HMMs in order of gap,
 * until a gap is far wider than the largest change of a term. */
static vhem_status excess_of(vhem_ctx *ctx, const without_work *x, moved *m, double *more)
{
    const int64_t Kb = x->w->h3m->K, index[] = { m->j };
    const vh_ranked *near = x->near + vh_row(m->j, Kb);
    VH_OWN(vh_packed) *pk = NULL;
    double most = 0;

    VH_TRY(vh_base_pack_centers(ctx, x->base, m->centers, index, 1, &pk));
    VH_TRY(vh_pack_update(ctx, m->centers, index, pk));
    m->pk = pk;
    for (int64_t k = 0; k < Kb && (k == 0 || near[k].value < FAR * most); k += BATCH)
        VH_TRY(excess_of_near(ctx, x, m, near + k, (int)(Kb - k < BATCH ? Kb - k : BATCH), more, &most));
    return VHEM_OK;
}

/* ---- 3. does the run converge? ------------------------------------------------------------------------- */

/* sum_q count_q log(new_q / old_q) */
static double gain_of_row(int n, const double *count, int step, const double *old, const double *new)
{
    double sum = 0;
    for (int q = 0; q < n; q++)
        if (count[q * step] > 0)
            sum += count[q * step] * log(new[q] / old[q]);
    return sum;
}

/* Gain of the M-step for centre j, from its statistics: the divergence of the old parameters from the new
 * ones, times their expected counts.  NaN if unknown. */
static double gain_of_centre(const without_work *x, const vh_stats *stats, int j, const vh_h3m *centers,
                             double *room)
{
    const vh_packed *pk = x->pk;
    const vh_hmm *old = &x->start->hmm[j], *new = &centers->hmm[j];
    const vh_emission *family = centers->family;
    const double *T = stats->T + vh_row(pk->comp0[j], pk->n_stat);
    int S = old->S, M = old->M;
    double sum = gain_of_row(S, stats->nu1 + pk->state0[j], 1, old->pi, new->pi);

    sum += gain_of_row(S * S, stats->xi + pk->trans0[j], 1, old->A, new->A);
    sum += gain_of_row(S * M, T, pk->n_stat, vh_hmm_c(old), vh_hmm_c(new));
    for (int q = 0; q < S * M; q++, T += pk->n_stat) {
        double *a[VH_MAX_PARAM], *b[VH_MAX_PARAM], was = 0, is = 0;
        if (!(*T > 0))
            continue;
        vh_hmm_component(x->start, old, q / M, q % M, a);
        vh_hmm_component(centers, new, q / M, q % M, b);
        const double *const *of = (const double *const *)b;
        if (!family->expected_density(&centers->shape, (const double *const *)a, of, 1, &was, 1, room)
            || !family->expected_density(&centers->shape, of, of, 1, &is, 1, room))
            return NAN;
        sum += *T * (is - was);
    }
    return sum;
}

/* True if the run converges after this M-step.  The bound rises by the gain of the M-step and by the
 * following change of the hidden variables.  For states and components that is at most the gain again, near a
 * maximum; for clusters, which change from one HMM to the next, it is the excess.  So the run converges if
 * twice the gain plus the excess is below the tolerance. */
static vhem_status ends(vhem_ctx *ctx, const without_work *x, const vh_reduce_sums *sums, moved *m,
                        double *room, bool *out)
{
    const int K = (int)m->centers->K;
    const double *was = x->was + vh_row(m->without, K), *is = x->is + vh_row(m->without, K);
    double all = log_sum(K, was), limit = x->opt.tol * fabs(*sums->J);
    double gain = 0, more = x->excess - excess(K, was, is);

    *out = false;
    for (int j = 0; j < K; j++) {
        if (!(sums->sum_z[j] > 0))
            continue;
        gain += vh_scaled_value(sums->sum_z[j], sums->scale_z[j]) * (m->log_omega[j] - x->log_omega[j]);
        gain += x->opt.N * vh_scaled_value(1, sums->stats.scale[j])
                * gain_of_centre(x, &sums->stats, j, m->centers, room);
    }
    for (m->j = 0; m->j < K && 2 * fabs(gain) + more < limit; m->j++)
        if (was[m->j] - all > LEAST_SHARE)
            VH_TRY(excess_of(ctx, x, m, &more));
    *out = 2 * fabs(gain) + more < limit;
    return VHEM_OK;
}

/* block: the sums without HMM i. */
static vhem_status finish_without(vhem_ctx *ctx, const without_work *x, int64_t i, int worker, double *block)
{
    vh_reduce_sums sums = vh_reduce_sums_at(x->pk, block);
    VH_OWN(vh_h3m) *centers = NULL;
    VH_AUTOFREE double *room = NULL;
    vh_base rest = *x->base;
    int64_t K = x->start->K;
    bool done;

    rest.Kb--;
    VH_TRY(vh_h3m_subset(ctx, x->start, NULL, K, &centers));
    VH_NEW(room, (size_t)K + vh_emission_room(centers->family, &centers->shape));
    const vh_vhem_step m = { &rest, &x->opt, x->pk, &sums, centers, room };
    VH_TRY(vh_vhem_maximise(ctx, &m));
    moved here = { .centers = centers, .log_omega = room, .without = i, .worker = worker };
    VH_TRY(ends(ctx, x, &sums, &here, room + K, &done));
    return x->w->use(ctx, x->w->arg, i, done ? centers : NULL);
}

/* ---- 4. the whole computation -------------------------------------------------------------------------- */

static bool any_wanted(const without_work *x, int64_t first, int64_t n)
{
    for (int64_t i = first; i < first + n; i++)
        if (x->w->wanted[i])
            return true;
    return false;
}

/* others: the sums of all HMMs except first .. first+n-1. */
static vhem_status halve(vhem_ctx *ctx, const without_work *x, int64_t first, int64_t n, int worker,
                         double *others)
{
    int64_t half = n / 2;
    VH_AUTOFREE double *block = NULL;

    if (!any_wanted(x, first, n))
        return VHEM_OK;
    VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "stopped");
    if (n == 1)
        return finish_without(ctx, x, first, worker, others);
    VH_NEW(block, x->size);
    VH_TRY(sum_of(ctx, x, first + half, n - half, worker, block));
    vh_reduce_sums_merge(&x->step, block, others);
    VH_TRY(halve(ctx, x, first, half, worker, block));
    VH_TRY(sum_of(ctx, x, first, half, worker, block));
    vh_reduce_sums_merge(&x->step, block, others);
    return halve(ctx, x, first + half, n - half, worker, block);
}

static vhem_status run_range(vhem_ctx *ctx, void *arg, int64_t r, int worker)
{
    const without_work *x = arg;
    VH_AUTOFREE double *others = NULL;

    VH_NEW(others, x->size);
    memcpy(others, x->before + vh_row(r, (int64_t)x->size), sizeof *others * x->size);
    vh_reduce_sums_merge(&x->step, others, x->beyond + vh_row(r + 1, (int64_t)x->size));
    return halve(ctx, x, r * RANGE, range_size(x, r), worker, others);
}

/* True if removing an HMM leaves the virtual samples of the others unchanged and a run may end after one
 * iteration. */
static bool suits(const vh_without *w)
{
    const vh_vhem_options *o = w->opt;
    for (int64_t i = 1; i < w->h3m->K; i++)
        if (w->h3m->omega[i] != w->h3m->omega[0])
            return false;
    return o->tol > 0 && o->min_iter <= 1 && o->max_iter >= 1 && o->cov_add == 0 && !o->repair
           && !vh_h3m_lacks_columns(w->h3m);
}

static vhem_status prepare_sums(vhem_ctx *ctx, without_work *x)
{
    const vh_without *w = x->w;

    x->opt = *w->opt;
    VH_TRY(vh_base_pack(ctx, w->h3m, &x->base));
    if (w->cov_floor > 0) {
        VH_NEW(x->floor, w->h3m->d);
        for (int k = 0; k < w->h3m->d; k++)
            x->floor[k] = w->cov_floor * x->base->scale[k] * x->base->scale[k];
    }
    x->opt.floor = x->floor;
    VH_TRY(vh_h3m_subset(ctx, w->start, NULL, w->start->K, &x->start));
    VH_TRY(vh_base_pack_centers(ctx, x->base, x->start, NULL, x->start->K, &x->pk));
    VH_TRY(vh_pack_update(ctx, x->start, NULL, x->pk));
    VH_NEW(x->log_omega, x->start->K);
    for (int64_t j = 0; j < x->start->K; j++)
        x->log_omega[j] = log(x->start->omega[j]);
    x->step = (vh_reduce_step){ .reduced = x->pk,
                                .tau = x->opt.tau,
                                .log_omega = x->log_omega,
                                .N = x->opt.N,
                                .statistics = true,
                                .weighted = x->opt.weighted };
    x->size = vh_reduce_sums_at(x->pk, NULL).size;
    x->n = (w->h3m->K + RANGE - 1) / RANGE;
    x->samples = x->opt.N / (double)w->h3m->K;
    VH_NEW(x->was, vh_cells(w->h3m->K, x->start->K));
    VH_NEW(x->before, vh_cells(x->n, (int64_t)x->size));
    VH_NEW(x->beyond, vh_cells(x->n + 1, (int64_t)x->size));
    return vh_workers_new(ctx, ctx->threads, &x->workers);
}

vhem_status vh_vhem_without(vhem_ctx *ctx, const vh_without *w)
{
    VH_BLAS_SERIAL;
    VH_CLEANUP(free_work) without_work x = { .w = w };
    int64_t failed;

    if (!suits(w)) {
        for (int64_t i = 0; i < w->h3m->K; i++)
            if (w->wanted[i])
                VH_TRY(w->use(ctx, w->arg, i, NULL));
        return VHEM_OK;
    }
    VH_TRY(prepare_sums(ctx, &x));
    VH_TRY(vh_map(ctx, &(vh_work){ .n = x.n, .run = sum_range, .arg = &x }, &failed));
    chain_ranges(&x);
    VH_TRY(look_ahead(ctx, &x));
    const vh_work work = { .n = x.n, .what = "leaving out", .run = run_range, .arg = &x };
    return vh_map(ctx, &work, &failed);
}
