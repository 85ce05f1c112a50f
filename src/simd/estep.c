/* SPDX-License-Identifier: BSD-3-Clause */
/* estep.c - the variational E-step for chunks of base HMMs, one base HMM per vector lane.
 *
 *   1. loads:       base HMMs of one shape, arranged in lanes once, when a job is opened (base_lanes.c)
 *   2. tables:      E_b[log p(y | r)] of all components as one matrix product; L_gmm from it
 *   3. score:       L_hmm of every group of lanes with every reduced HMM
 *   4. statistics:  for each reduced HMM, only the base HMMs with weight there, regrouped
 *
 * Column (q, lane) of a group's tables is component q of the base HMM in that lane, so the rows of the
 * product are already vectors of lanes.  With hard assignments, the second pass costs as much as one reduced
 * HMM, not Kr: it picks the lanes it needs from the tables of the first.  If most pairs will have weight, the
 * first pass also runs forward and keeps nu and xi of every pair, so that the second need not recompute
 * them. */
#include "vhem/pair_bound.h"
#include "simd/estep_lanes.h"
#include "simd/base_lanes.h"
#include "core/array2.h"
#include "math/linalg.h"

#include <string.h>

enum { SLOT_G = 8, SLOT_STATE, SLOT_GMM, SLOT_HISTORY, SLOT_SMALL, SLOT_KEPT, SLOT_ROWS, SLOT_PICK };

#define LOW (-644.0) /* see estep_lanes.c */

typedef struct {           /* a group of base HMMs, one per lane */
    int used, i[VH_LANES]; /* their indices in the chunk; unused lanes repeat the first */
    const vec *pi, *A, *c; /* [Sb] [Sb][Sb] [Sb][Mb] */
} lane_group;

typedef struct { /* one load against all reduced HMMs */
    vhem_ctx *ctx;
    vh_scratch *scratch;
    const vh_packed *base, *reduced;
    int tau;
    const vh_base_lanes *load;
    int Sb, Mb, cols; /* of the HMMs in the load; cols = Sb Mb lanes */
    double *G;        /* [n_comp of the reduced][groups][cols] */
    double *state;    /* [n_state of the reduced][groups][cols]  log-sums over components */
    size_t ld;
    vec *L_gmm; /* [Sb][Sr] */
    vec *kept;  /* [K][groups][keep]  nu1, xi, sum_nu, low of all pairs; NULL: not kept */
    size_t keep;
} lane_estep;

/* ---- 1. loads ------------------------------------------------------------------------------------------ */

static lane_group group_of(const lane_estep *j, int q)
{
    const vh_base_lanes *x = j->load;
    lane_group g = { .pi = x->pi + q * x->Sb, .A = x->A + q * x->Sb * x->Sb, .c = x->c + q * x->Sb * x->Mb };
    for (int l = 0; l < VH_LANES; l++) {
        int i = q * VH_LANES + l;
        g.used += i < x->n;
        g.i[l] = x->first + (i < x->n ? i : q * VH_LANES);
    }
    return g;
}

static int most_states(const vh_packed *r)
{
    int S = 1;
    for (int k = 0; k < r->K; k++)
        S = r->S[k] > S ? r->S[k] : S;
    return S;
}

static vhem_status prepare_lanes(lane_estep *j, const vh_base_lanes *load, bool keep)
{
    vhem_ctx *ctx = j->ctx;
    vh_scratch *scratch = j->scratch;
    const vh_packed *r = j->reduced;
    size_t Sr = (size_t)most_states(r), Sb = (size_t)load->Sb;
    double *gmm, *kept;

    j->load = load;
    j->Sb = load->Sb;
    j->Mb = load->Mb;
    j->cols = load->cols;
    j->ld = (size_t)(load->groups * load->cols);
    VH_SCRATCH(j->G, SLOT_G, j->ld * (size_t)r->n_comp);
    VH_SCRATCH(j->state, SLOT_STATE, j->ld * (size_t)r->n_state);
    VH_SCRATCH(gmm, SLOT_GMM, Sb * Sr * VH_LANES);
    j->L_gmm = (vec *)gmm;
    j->keep = Sr + Sr * Sr + Sb * Sr + 1;
    j->kept = NULL;
    if (keep) {
        VH_SCRATCH(kept, SLOT_KEPT, (size_t)(r->K * load->groups) * j->keep * VH_LANES);
        j->kept = (vec *)kept;
    }
    return VHEM_OK;
}

/* ---- 2. tables ----------------------------------------------------------------------------------------- */

static vhem_status direct_row(lane_estep *j, int k, double *work)
{
    vhem_ctx *ctx = j->ctx;
    const vh_packed *b = j->base, *r = j->reduced;
    for (int q = 0; q < j->load->groups; q++) {
        const lane_group g = group_of(j, q);
        for (int l = 0; l < VH_LANES; l++) {
            double *out = &j->G[(size_t)k * j->ld + (size_t)(q * j->cols + l)];
            double more = r->log_c[k] + vh_pack_shift(r, k, b, g.i[l]);
            VH_CHECK(b->family->expected_density(&b->shape, r->par + (size_t)k * VH_MAX_PARAM,
                                                 b->par + (size_t)b->comp0[g.i[l]] * VH_MAX_PARAM,
                                                 j->Sb * j->Mb, out, VH_LANES, work),
                     VHEM_ENUMERIC, "a covariance became singular; a floor (" VH_OPT("cov_floor") ") helps");
            for (int c = 0; c < j->Sb * j->Mb; c++)
                out[c * VH_LANES] += more;
        }
    }
    return VHEM_OK;
}

/* The product of all reduced components with all groups. */
static vhem_status product(lane_estep *j)
{
    vhem_ctx *ctx = j->ctx;
    vh_scratch *scratch = j->scratch;
    const vh_packed *r = j->reduced;
    double *work;

    vh_gemm_nt(r->n_comp, (int)j->ld, r->n_stat, r->theta, j->load->T, j->G, j->ld);
    if (r->n_direct == 0)
        return VHEM_OK;
    VH_SCRATCH(work, 0, vh_emission_room(r->family, &r->shape));
    for (int k = 0; k < r->n_comp; k++)
        if (r->direct[k])
            VH_TRY(direct_row(j, k, work));
    return VHEM_OK;
}

/* state [n] = log(exp(a) + exp(b)); n is a compile-time constant.  The larger term needs no exp. */
VEC_INLINE
void log_sum_two(const int n, const vec *a, const vec *b, vec *restrict state)
{
    vec high[VEC_TOGETHER], x[VEC_TOGETHER];
    VEC_UNROLL
    for (int i = 0; i < n; i++) {
        high[i] = vec_max(a[i], b[i]);
        x[i] = vec_min(a[i], b[i]) - high[i];
    }
    vec_exp_each(n, x);
    VEC_UNROLL
    for (int i = 0; i < n; i++)
        x[i] = 1 + x[i];
    vec_log_each(n, x);
    VEC_UNROLL
    for (int i = 0; i < n; i++)
        state[i] = high[i] + x[i];
}

/* state = log sum_l exp(G_l) over the M components of a reduced state, one row of G each. */
static void log_sum_rows(int M, int n, const vec *G, size_t ld, vec *restrict state)
{
    int c = 0;
    for (; M == 2 && c + VEC_TOGETHER <= n; c += VEC_TOGETHER)
        log_sum_two(VEC_TOGETHER, G + c, G + ld + c, state + c);
    for (; M == 2 && c < n; c++)
        log_sum_two(1, G + c, G + ld + c, state + c);
    for (; c < n; c++) {
        vec top = G[c], sum = { 0 };
        for (int l = 1; l < M; l++)
            top = vec_max(top, G[(size_t)l * ld + (size_t)c]);
        for (int l = 0; l < M; l++)
            sum += vec_exp(G[(size_t)l * ld + (size_t)c] - top);
        state[c] = top + vec_log(sum);
    }
}

/* Log-sums over the components of reduced HMM k, for all groups. */
static void sum_components(lane_estep *j, int k)
{
    const vh_packed *r = j->reduced;
    for (int rho = 0; rho < r->S[k] && r->M[k] > 1; rho++)
        log_sum_rows(r->M[k], (int)(j->ld / VH_LANES),
                     (const vec *)(j->G + (size_t)(r->comp0[k] + rho * r->M[k]) * j->ld), j->ld / VH_LANES,
                     (vec *)(j->state + (size_t)(r->state0[k] + rho) * j->ld));
}

/* The log-sums over components of reduced HMM k; with one component per state, G itself. */
static double *sums_of(const lane_estep *j, int k)
{
    const vh_packed *r = j->reduced;
    return r->M[k] > 1 ? j->state + (size_t)r->state0[k] * j->ld : j->G + (size_t)r->comp0[k] * j->ld;
}

/* L_gmm of a group and reduced HMM k, from its log-sums `sums` with row stride ld. */
static void mixture_bound(lane_estep *j, const lane_group *g, int k, const double *sums, size_t ld)
{
    int Sr = j->reduced->S[k], Mb = j->Mb;
    for (int rho = 0; rho < Sr; rho++)
        for (int b = 0; b < j->Sb; b++) {
            const vec *x = (const vec *)(sums + (size_t)rho * ld) + b * Mb, *c = g->c + b * Mb;
            vec sum = c[0] * x[0];
            for (int m = 1; m < Mb; m++)
                sum += c[m] * x[m];
            j->L_gmm[b * Sr + rho] = sum;
        }
}

/* ---- 3. score ------------------------------------------------------------------------------------------ */

/* Allocates the arrays of the recursion for reduced HMMs of Sr states; keep: steps of history. */
static vhem_status make_lanes(lane_estep *j, int Sr, int keep, vh_reduce_lanes *x)
{
    vhem_ctx *ctx = j->ctx;
    vh_scratch *scratch = j->scratch;
    int Sb = j->Sb, n = Sb * Sr;
    double *history, *small;

    VH_SCRATCH(history, SLOT_HISTORY, 2 * vh_cells(keep, n) * VH_LANES);
    VH_SCRATCH(small, SLOT_SMALL,
               (size_t)(7 * n + Sb + 2 * Sr * Sr + Sr) * VH_LANES + (size_t)(Sr + Sr * Sr));
    vec *at = (vec *)small;
    *x = (vh_reduce_lanes){ .Sb = Sb, .Sr = Sr, .tau = j->tau, .L_gmm = j->L_gmm };
    x->E = (vec *)history;
    x->D = x->E + vh_row(keep, n);
    x->L = at;
    x->U = x->L + n;
    x->nu = x->U + n;
    x->H = x->nu + n;
    x->sum_nu = x->H + n;
    x->change = x->sum_nu + n;
    x->bend = x->change + n;
    x->top = x->bend + n;
    x->step_xi = x->top + Sb;
    x->xi = x->step_xi + Sr * Sr;
    x->nu1 = x->xi + Sr * Sr;
    x->log_pi = (double *)(x->nu1 + Sr);
    x->log_A = x->log_pi + Sr;
    return VHEM_OK;
}

/* Backward and optionally forward; uses the careful recursion if a sum in some lane is too small. */
static void walk_pair(const lane_estep *j, const lane_group *g, int k, bool forward, vh_reduce_lanes *x)
{
    const vh_packed *r = j->reduced;
    bool small = false;
    x->pi_b = g->pi;
    x->A_b = g->A;
    x->pi_r = r->pi + r->state0[k];
    x->A_r = r->A + r->trans0[k];
    VH_NAME(vh_reduce_backward)(x, forward);
    for (int l = 0; l < g->used; l++)
        small = small || !(x->low[l] > LOW);
    if (small)
        VH_NAME(vh_reduce_careful_backward)(x, forward);
    if (forward)
        (small ? VH_NAME(vh_reduce_careful_forward) : VH_NAME(vh_reduce_forward))(x);
}

/* Recomputes by the reference a pair for which the lanes found no bound. */
static vhem_status by_reference(lane_estep *j, int i, int k, double w, double *L, vh_stats *stats)
{
    unsigned mode = vec_keep_small();
    const vh_reduce_pair pair = { j->base, j->reduced, j->tau, i, k, w };
    vhem_status st = vh_ref_reduce_pair(j->ctx, &pair, j->scratch, L, stats, NULL);
    vec_mode_back(mode);
    return st;
}

/* Directs the results of a forward pass to j->kept; returns where low goes. */
static vec *keep_at(const lane_estep *j, int k, int q, vh_reduce_lanes *x)
{
    int Sr = j->reduced->S[k];
    vec *at = j->kept + (vh_ij(k, j->load->groups, q)) * j->keep;
    x->nu1 = at;
    x->xi = at + Sr;
    x->sum_nu = at + Sr + Sr * Sr;
    return at + j->keep - 1;
}

/* L [n][Kr] of the HMMs in the load. */
static vhem_status score(lane_estep *j, double *L)
{
    vhem_ctx *ctx = j->ctx;
    const vh_packed *r = j->reduced;

    VH_TRY(product(j));
    for (int k = 0; k < r->K; k++) {
        vh_reduce_lanes x;
        VH_TRY(make_lanes(j, r->S[k], j->kept ? j->tau : 1, &x));
        sum_components(j, k);
        for (int q = 0; q < j->load->groups; q++) {
            const lane_group g = group_of(j, q);
            VH_CHECK(!vh_overdue(ctx), VHEM_ESTOPPED, "stopped");
            mixture_bound(j, &g, k, sums_of(j, k) + q * j->cols, j->ld);
            vec *low = j->kept ? keep_at(j, k, q, &x) : &x.low;
            walk_pair(j, &g, k, j->kept != NULL, &x);
            *low = x.low;
            for (int l = 0; l < g.used; l++) {
                double *out = &L[vh_ij(g.i[l] - j->load->first, r->K, k)];
                *out = x.L_hmm[l];
                if (!(x.low[l] > LOW))
                    VH_TRY(by_reference(j, g.i[l], k, 0, out, NULL));
            }
        }
    }
    return VHEM_OK;
}

/* ---- 4. statistics ------------------------------------------------------------------------------------- */

typedef struct { /* the tables of reduced HMM k for some groups */
    double *G, *sums;
    size_t ld;
    const double *T; /* [columns][n_stat] */
} tables;

/* G := weight of each base component in each reduced component: w nu(rho, beta) c_m eta(l | m). */
static void component_weights(const lane_estep *j, const lane_group *g, int k, const vh_reduce_lanes *x,
                              vec w, const tables *t)
{
    int Sr = j->reduced->S[k], Mr = j->reduced->M[k], Mb = j->Mb, Sb = j->Sb;
    vec_bits used = (vec_bits)(w > 0); /* in other lanes nu may be NaN */
    for (int rho = 0; rho < Sr; rho++)
        for (int l = 0; l < Mr; l++) {
            vec *restrict row = (vec *)(t->G + (size_t)(rho * Mr + l) * t->ld);
            const vec *state = (const vec *)(t->sums + (size_t)rho * t->ld); /* may alias row */
            for (int b = 0; b < Sb; b++) {
                vec here = (vec)((vec_bits)(w * x->sum_nu[rho * Sb + b]) & used);
                for (int q = b * Mb; q < (b + 1) * Mb; q++) {
                    vec eta = Mr > 1 ? vec_exp_or_0(row[q] - state[q]) : vec_all(1);
                    row[q] = here * g->c[q] * eta;
                }
            }
        }
}

/* Components in the direct form keep their statistics about their own mean; add them here and remove them
 * from the product. */
static void add_direct(const lane_estep *j, const lane_group *g, int k, const tables *t, double *stat,
                       vh_stats *stats)
{
    const vh_packed *b = j->base, *r = j->reduced;
    for (int q = r->comp0[k]; q < r->comp0[k + 1]; q++) {
        double *row = t->G + (size_t)(q - r->comp0[k]) * t->ld;
        for (int c = 0; r->direct[q] && c < j->cols; c++) {
            int i = g->i[c % VH_LANES];
            if (row[c] > 0) {
                b->family->stats_of_component(
                    &r->about[q], b->par + (size_t)(b->comp0[i] + c / VH_LANES) * VH_MAX_PARAM, stat);
                for (int e = 0; e < b->n_stat; e++)
                    stats->T[vh_ij(q, b->n_stat, e)] += row[c] * stat[e];
            }
            row[c] = 0;
        }
    }
}

/* Adds the chains of a group, with weights w [lane], to the statistics of reduced HMM k, and leaves the
 * weights of its components in G. */
static vhem_status add_chains(lane_estep *j, const lane_group *g, int k, const vh_reduce_lanes *x, vec low,
                              const double *w, const tables *t, vh_stats *stats)
{
    vhem_ctx *ctx = j->ctx;
    vh_scratch *scratch = j->scratch;
    const vh_packed *r = j->reduced;
    int Sr = r->S[k];
    vec wv = { 0 };
    double unused, *stat;

    for (int l = 0; l < g->used; l++) {
        if (!(w[l] > 0))
            continue;
        if (!(low[l] > LOW)) {
            VH_TRY(by_reference(j, g->i[l], k, w[l], &unused, stats));
            continue;
        }
        wv[l] = w[l];
        for (int s = 0; s < Sr; s++)
            stats->nu1[r->state0[k] + s] += w[l] * x->nu1[s][l];
        for (int e = 0; e < Sr * Sr; e++)
            stats->xi[r->trans0[k] + (size_t)e] += w[l] * x->xi[e][l];
    }
    component_weights(j, g, k, x, wv, t);
    if (r->n_direct > 0) {
        VH_SCRATCH(stat, 0, r->n_stat);
        add_direct(j, g, k, t, stat, stats);
    }
    return VHEM_OK;
}

/* Adds the statistics of the components of reduced HMM k, with weights G, over `columns` columns. */
static void add_components(const lane_estep *j, int k, const tables *t, size_t columns, vh_stats *stats)
{
    const vh_packed *r = j->reduced;
    vh_gemm_nn_add(r->comp0[k + 1] - r->comp0[k], r->n_stat, (int)columns, t->G, t->ld, t->T,
                   stats->T + vh_row(r->comp0[k], r->n_stat));
}

/* Adds the statistics kept by the score of the same load; w [n][Kr]. */
static vhem_status add_kept(lane_estep *j, const double *w, vh_stats *stats)
{
    const vh_packed *r = j->reduced;

    for (int k = 0; k < r->K; k++) {
        tables all = { j->G + (size_t)r->comp0[k] * j->ld, sums_of(j, k), j->ld, j->load->T };
        for (int q = 0; q < j->load->groups; q++) {
            const lane_group g = group_of(j, q);
            const tables own = { all.G + q * j->cols, all.sums + q * j->cols, j->ld, NULL };
            double weight[VH_LANES];
            vh_reduce_lanes x;
            vec low = *keep_at(j, k, q, &x);
            for (int l = 0; l < g.used; l++)
                weight[l] = w[vh_ij(g.i[l] - j->load->first, r->K, k)];
            VH_TRY(add_chains(j, &g, k, &x, low, weight, &own, stats));
        }
        add_components(j, k, &all, j->ld, stats);
    }
    return VHEM_OK;
}

/* Copies lane `lane` of `from` [n] to lane l of `to`. */
static inline void pick_lane(int n, const vec *from, int lane, vec *to, int l)
{
    for (int e = 0; e < n; e++)
        to[e][l] = from[e][lane];
}

typedef struct { /* base HMMs from several groups, with their tables for one reduced HMM */
    lane_group g;
    vec *pi, *A, *c; /* owned arrays behind g */
    double *G, *sums, *T;
} picked;

static vhem_status pick_room(lane_estep *j, int Cr, int Sr, picked *p)
{
    vhem_ctx *ctx = j->ctx;
    vh_scratch *scratch = j->scratch;
    size_t Sb = (size_t)j->Sb, cols = (size_t)j->cols;
    double *at;

    VH_SCRATCH(at, SLOT_PICK, (Sb + Sb * Sb) * VH_LANES + cols * (size_t)(1 + Cr + Sr + j->reduced->n_stat));
    p->pi = (vec *)at;
    p->A = p->pi + Sb;
    p->c = p->A + Sb * Sb;
    p->G = (double *)(p->A + Sb * Sb) + cols;
    p->sums = p->G + (size_t)Cr * cols;
    p->T = p->sums + (size_t)Sr * cols;
    p->g.pi = p->pi;
    p->g.A = p->A;
    p->g.c = p->c;
    return VHEM_OK;
}

/* Copies base HMM i of the chunk to lane l. */
static void pick(const lane_estep *j, int k, int i, int l, picked *p)
{
    const vh_base_lanes *x = j->load;
    const vh_packed *r = j->reduced;
    int q = (i - x->first) / VH_LANES, lane = (i - x->first) % VH_LANES, C = j->Sb * j->Mb, Sb = j->Sb;
    size_t n_stat = (size_t)r->n_stat, from = (size_t)(q * j->cols);

    p->g.i[l] = i;
    pick_lane(Sb, x->pi + q * Sb, lane, p->pi, l);
    pick_lane(Sb * Sb, x->A + q * Sb * Sb, lane, p->A, l);
    pick_lane(C, x->c + q * C, lane, p->c, l);
    for (int row = 0; row < r->comp0[k + 1] - r->comp0[k]; row++)
        pick_lane(C, (const vec *)(j->G + (size_t)(r->comp0[k] + row) * j->ld + from), lane,
                  (vec *)(p->G + row * j->cols), l);
    for (int rho = 0; rho < r->S[k] && r->M[k] > 1; rho++)
        pick_lane(C, (const vec *)(j->state + (size_t)(r->state0[k] + rho) * j->ld + from), lane,
                  (vec *)(p->sums + rho * j->cols), l);
    for (int c = 0; c < C; c++)
        memcpy(p->T + (size_t)(c * VH_LANES + l) * n_stat,
               x->T + (from + (size_t)(c * VH_LANES + lane)) * n_stat, sizeof *p->T * n_stat);
}

/* Adds the statistics of a group of picked base HMMs. */
static vhem_status add_picked(lane_estep *j, int k, const picked *p, const double *w, vh_stats *stats)
{
    const vh_packed *r = j->reduced;
    const tables t = { p->G, r->M[k] > 1 ? p->sums : p->G, (size_t)j->cols, p->T };
    vh_reduce_lanes x;

    VH_TRY(make_lanes(j, r->S[k], j->tau, &x));
    mixture_bound(j, &p->g, k, t.sums, t.ld);
    walk_pair(j, &p->g, k, true, &x);
    VH_TRY(add_chains(j, &p->g, k, &x, x.low, w, &t, stats));
    add_components(j, k, &t, t.ld, stats);
    return VHEM_OK;
}

static vhem_status add_pairs(lane_estep *j, const double *w, vh_stats *stats)
{
    const vh_packed *r = j->reduced;

    for (int k = 0; k < r->K; k++) {
        picked p = { .g = { .used = 0 } };
        double weight[VH_LANES];
        for (int i = 0; i < j->load->n; i++) {
            double wik = w[vh_ij(i, r->K, k)];
            if (!(wik > 0))
                continue;
            if (p.g.used == 0)
                VH_TRY(pick_room(j, r->comp0[k + 1] - r->comp0[k], r->S[k], &p));
            weight[p.g.used] = wik;
            pick(j, k, j->load->first + i, p.g.used++, &p);
            if (p.g.used == VH_LANES) {
                VH_TRY(add_picked(j, k, &p, weight, stats));
                p.g.used = 0;
            }
        }
        for (int l = p.g.used; l > 0 && l < VH_LANES; l++)
            pick(j, k, p.g.i[0], l, &p);
        if (p.g.used > 0)
            VH_TRY(add_picked(j, k, &p, weight, stats));
    }
    return VHEM_OK;
}

/* ---- chunks -------------------------------------------------------------------------------------------- */

vhem_status VH_NAME(vh_simd_reduce_chunk)(vhem_ctx *ctx, const vh_reduce_chunk *c, vh_scratch *scratch,
                                          vh_reduce_sums *sums)
{
    const vh_prepared_base *prepared = c->prepared;
    const vh_reduce_step *step = c->step;
    lane_estep j = {
        .ctx = ctx, .scratch = scratch, .base = c->base, .reduced = step->reduced, .tau = step->tau
    };
    size_t table = vh_cells(VH_LOAD, step->reduced->K);
    double *L, *w;

    VH_SCRATCH(L, SLOT_ROWS, 2 * table);
    w = L + table;
    for (int q = 0; q < prepared->n; q++) {
        const vh_base_lanes *load = &prepared->load[q];
        VH_TRY(prepare_lanes(&j, load, step->statistics && step->soft));
        VH_TRY(score(&j, L));
        VH_TRY(vh_reduce_weigh(ctx, c, load->first, load->n, L, w, sums));
        if (step->statistics)
            VH_TRY(j.kept ? add_kept(&j, w, &sums->stats) : add_pairs(&j, w, &sums->stats));
    }
    return VHEM_OK;
}
