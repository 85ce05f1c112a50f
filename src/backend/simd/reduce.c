/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce.c - the variational E-step for blocks of base HMMs: tables, then
 * recursions, one base HMM per vector lane.
 *
 *   1. groups:      base HMMs of one shape, as many as a vector has lanes, laid side by side
 *   2. tables:      E_b[log p(y | r)] of all components, one product; L_gmm from it
 *   3. score:       L_hmm of every group with every reduced HMM
 *   4. accumulate:  for each reduced HMM only the base HMMs that have weight there, in groups of their own
 *
 * Column (q, lane) of a group's tables is component q of the base HMM in that lane, so that
 * rows of the product are vectors of lanes already.  With hard assignments the second pass
 * costs one reduced HMM's worth, not Kr.  Where most pairs will have weight, the first pass goes forward too
 * and keeps what the second would only make again: the tables, and nu and xi of every pair. */
#include "backend/ref/reduce.h"
#include "backend/simd/reduce_lanes.h"
#include "math/linalg.h"

#include <string.h>

enum { SLOT_T = 8, SLOT_G, SLOT_BASE, SLOT_GMM, SLOT_HISTORY, SLOT_SMALL, SLOT_STATE, SLOT_KEPT };
enum { GROUPS = VH_ESTEP_BLOCK / VH_LANES }; /* groups that share one product */

#define LOW (-644.0) /* see reduce_lanes.c */

typedef struct {           /* 1. */
    int used, i[VH_LANES]; /* base HMMs in the lanes; unused lanes repeat the first */
    vec *pi, *A, *c;       /* [Sb] [Sb][Sb] [Sb][Mb] */
    double *T;             /* [Sb Mb][lane][n_stat] */
} group;

typedef struct {
    vhem_ctx *ctx;
    const vh_estep *es;
    vh_scratch *scratch;
    int Sb, Mb, cols; /* shape of the groups at hand; cols = Sb Mb lanes */
    int n_group;
    group g[GROUPS];
    double *T, *G; /* [groups][cols][n_stat]  [n_comp of the reduced][groups][cols] */
    size_t ld;
    double *state; /* [n_state of the reduced][groups][cols]  log sums of components */
    vec *L_gmm;    /* [Sb][Sr] */
    vec *kept;     /* [K][groups][keep]  NULL, or nu1, xi, sum_nu, low of all pairs */
    size_t keep;
} job;

/* ---- 1. groups ----------------------------------------------------------------------------------------- */

static bool same_shape(const vh_packed *b, int i, int j)
{
    return b->S[i] == b->S[j] && b->M[i] == b->M[j];
}

static void load_group(const job *j, group *g)
{
    const vh_packed *b = j->es->base;
    int Sb = j->Sb, C = j->Sb * j->Mb;
    size_t n_stat = (size_t)b->n_stat;
    for (int l = 0; l < VH_LANES; l++) {
        int i = g->i[l < g->used ? l : 0];
        for (int s = 0; s < Sb; s++)
            g->pi[s][l] = b->pi[b->state0[i] + s];
        for (int e = 0; e < Sb * Sb; e++)
            g->A[e][l] = b->A[b->trans0[i] + (size_t)e];
        for (int q = 0; q < C; q++) {
            g->c[q][l] = b->c[b->comp0[i] + q];
            memcpy(g->T + (size_t)(q * VH_LANES + l) * n_stat, b->mean + (size_t)(b->comp0[i] + q) * n_stat,
                   sizeof *g->T * n_stat);
        }
    }
}

/* Space for up to `groups` groups of the shape of base HMM i against `rows` reduced components in `states`
 * states. */
static vhem_status set_up(job *j, int i, int groups, int rows, int states)
{
    vhem_status st = VHEM_OK;
    vhem_ctx *ctx = j->ctx;
    vh_scratch *scratch = j->scratch;
    const vh_packed *b = j->es->base;
    int Sr = 1;
    double *base, *gmm;

    for (int k = 0; k < j->es->reduced->K; k++)
        Sr = j->es->reduced->S[k] > Sr ? j->es->reduced->S[k] : Sr;
    j->Sb = b->S[i];
    j->Mb = b->M[i];
    j->cols = j->Sb * j->Mb * VH_LANES;
    j->ld = (size_t)(groups * j->cols);
    size_t size = (size_t)(j->Sb + j->Sb * j->Sb + j->Sb * j->Mb);
    VH_SCRATCH(j->T, SLOT_T, j->ld * (size_t)b->n_stat);
    VH_SCRATCH(j->G, SLOT_G, j->ld * (size_t)rows);
    VH_SCRATCH(base, SLOT_BASE, (size_t)groups * size * VH_LANES);
    VH_SCRATCH(gmm, SLOT_GMM, j->Sb * Sr * VH_LANES);
    VH_SCRATCH(j->state, SLOT_STATE, j->ld * (size_t)states);
    j->L_gmm = (vec *)gmm;
    j->keep = (size_t)(Sr + Sr * Sr + j->Sb * Sr + 1);
    for (int k = 0; k < groups; k++) {
        vec *at = (vec *)base + (size_t)k * size;
        j->g[k] = (group){ .pi = at,
                           .A = at + j->Sb,
                           .c = at + j->Sb + j->Sb * j->Sb,
                           .T = j->T + (size_t)(k * j->cols) * (size_t)b->n_stat };
    }
done:
    return st;
}

/* How many base HMMs from first on, at most n, are of one shape and can be loaded at once. */
static int one_load(const vh_estep *es, int first, int n)
{
    int k = 0;
    while (k < n && k < GROUPS * VH_LANES && same_shape(es->base, first, first + k))
        k++;
    return k;
}

/* Deals so many into groups; returns how many that are. */
static vhem_status deal(job *j, int first, int n, int *taken)
{
    vhem_status st = VHEM_OK;
    const vh_packed *r = j->es->reduced;
    int left = *taken = one_load(j->es, first, n);

    j->n_group = (left + VH_LANES - 1) / VH_LANES;
    VH_TRY(set_up(j, first, j->n_group, r->n_comp, r->state0[r->K]));
    for (int q = 0; q < j->n_group; q++)
        for (group *g = &j->g[q]; g->used < VH_LANES && left > 0; left--)
            g->i[g->used++] = first++;
done:
    return st;
}

/* ---- 2. tables ----------------------------------------------------------------------------------------- */

/* Rows r0 .. r1-1 of the reduced components against all groups. */
static vhem_status product(job *j, int r0, int r1)
{
    vhem_status st = VHEM_OK;
    vhem_ctx *ctx = j->ctx;
    vh_scratch *scratch = j->scratch;
    const vh_packed *b = j->es->base, *r = j->es->reduced;
    double *work;

    vh_gemm_nt(r1 - r0, j->n_group * j->cols, b->n_stat, r->theta + (size_t)r0 * (size_t)b->n_stat, j->T,
               j->G, j->ld);
    if (r->n_direct == 0)
        goto done;
    VH_SCRATCH(work, 0, vh_emission_work(b->d));
    for (int k = r0; k < r1; k++)
        for (int c = 0; r->direct[k] && c < j->n_group * VH_LANES; c++) {
            const group *g = &j->g[c / VH_LANES];
            int l = c % VH_LANES, i = g->i[l < g->used ? l : 0];
            double *out = &j->G[(size_t)(k - r0) * j->ld + (size_t)(c / VH_LANES * j->cols + l)];
            VH_CHECK(b->family->expected_density(b->d, r->par + (size_t)k * VH_MAX_PARAM,
                                                 b->par + (size_t)b->comp0[i] * VH_MAX_PARAM, j->Sb * j->Mb,
                                                 out, VH_LANES, work),
                     VHEM_ENUMERIC, "a covariance became singular; a floor (--cov-floor) helps");
            for (int q = 0; q < j->Sb * j->Mb; q++)
                out[q * VH_LANES] += r->log_c[k];
        }
done:
    return st;
}

/* state = log sum_l exp(G_l) over the M components of a reduced state, G their
 * rows.  The largest term needs no exp. */
static void log_sum_rows(int M, int n, const vec *G, size_t ld, vec *restrict state)
{
    for (int c = 0; c < n; c++) {
        vec top = G[c], sum = { 0 };
        if (M == 2) {
            vec other = G[ld + (size_t)c], high = vec_max(top, other), low = vec_min(top, other);
            state[c] = high + vec_log(1 + vec_exp(low - high));
            continue;
        }
        for (int l = 1; l < M; l++)
            top = vec_max(top, G[(size_t)l * ld + (size_t)c]);
        for (int l = 0; l < M; l++)
            sum += vec_exp(G[(size_t)l * ld + (size_t)c] - top);
        state[c] = top + vec_log(sum);
    }
}

/* L_gmm of group g and reduced HMM k, whose rows begin at G; leaves the sums over components in rows from
 * sums on. */
static void mixture_bound(job *j, const group *g, int k, const double *G, double *sums)
{
    const vh_packed *r = j->es->reduced;
    int Sr = r->S[k], Mr = r->M[k], Mb = j->Mb;
    for (int rho = 0; rho < Sr; rho++) {
        const double *rows = G + (size_t)(rho * Mr) * j->ld;
        double *state = sums + (size_t)rho * j->ld;
        if (Mr == 1)
            memcpy(state, rows, sizeof *state * (size_t)j->cols);
        else
            log_sum_rows(Mr, j->Sb * Mb, (const vec *)rows, j->ld / VH_LANES, (vec *)state);
        for (int b = 0; b < j->Sb; b++) {
            const vec *x = (const vec *)state + b * Mb, *c = g->c + b * Mb;
            vec sum = c[0] * x[0];
            for (int m = 1; m < Mb; m++)
                sum += c[m] * x[m];
            j->L_gmm[b * Sr + rho] = sum;
        }
    }
}

/* ---- 3. score ------------------------------------------------------------------------------------------ */

/* The recursion's arrays for reduced HMM k; keep: steps of history. */
static vhem_status make_lanes(job *j, const group *g, int k, int keep, vh_reduce_lanes *x)
{
    vhem_status st = VHEM_OK;
    vhem_ctx *ctx = j->ctx;
    vh_scratch *scratch = j->scratch;
    const vh_packed *r = j->es->reduced;
    int Sb = j->Sb, Sr = r->S[k], n = Sb * Sr;
    double *history, *small;

    VH_SCRATCH(history, SLOT_HISTORY, 2 * (size_t)keep * (size_t)n * VH_LANES);
    VH_SCRATCH(small, SLOT_SMALL,
               (size_t)(7 * n + Sb + 2 * Sr * Sr + Sr) * VH_LANES + (size_t)(Sr + Sr * Sr));
    vec *at = (vec *)small;
    *x = (vh_reduce_lanes){ .Sb = Sb,
                            .Sr = Sr,
                            .tau = j->es->tau,
                            .pi_b = g->pi,
                            .A_b = g->A,
                            .pi_r = r->pi + r->state0[k],
                            .A_r = r->A + r->trans0[k],
                            .L_gmm = j->L_gmm };
    x->E = (vec *)history;
    x->D = x->E + (size_t)keep * (size_t)n;
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
done:
    return st;
}

/* Backward and, when wanted, forward; carefully where a sum of one of the lanes is too small. */
static void walk(const group *g, bool forward, vh_reduce_lanes *x)
{
    bool small = false;
    VH_NAME(vh_reduce_backward)(x, forward);
    for (int l = 0; l < g->used; l++)
        small = small || !(x->low[l] > LOW);
    if (small)
        VH_NAME(vh_reduce_careful_backward)(x, forward);
    if (forward)
        (small ? VH_NAME(vh_reduce_careful_forward) : VH_NAME(vh_reduce_forward))(x);
}

/* A pair without a bound that lanes could find. */
static vhem_status by_reference(job *j, int i, int k, double w, double *L, vh_stats *stats)
{
    unsigned mode = vec_keep_small();
    vhem_status st = vh_ref_reduce_pair(j->ctx, j->es, i, k, w, j->scratch, L, stats, NULL);
    vec_mode_back(mode);
    return st;
}

/* The results of a forward pass go where they stay. */
static vec *keep_at(const job *j, int k, int q, vh_reduce_lanes *x)
{
    int Sr = j->es->reduced->S[k];
    vec *at = j->kept + ((size_t)k * (size_t)j->n_group + (size_t)q) * j->keep;
    x->nu1 = at;
    x->xi = at + Sr;
    x->sum_nu = at + Sr + Sr * Sr;
    return at + j->keep - 1; /* place of low */
}

static vhem_status score_groups(job *j, int first, double *L)
{
    vhem_status st = VHEM_OK;
    const vh_packed *r = j->es->reduced;

    VH_TRY(product(j, 0, r->n_comp));
    for (int k = 0; k < r->K; k++)
        for (int q = 0; q < j->n_group; q++) {
            const group *g = &j->g[q];
            size_t col = (size_t)(q * j->cols);
            vh_reduce_lanes x;
            mixture_bound(j, g, k, j->G + (size_t)r->comp0[k] * j->ld + col,
                          j->state + (size_t)r->state0[k] * j->ld + col);
            VH_TRY(make_lanes(j, g, k, j->kept ? j->es->tau : 1, &x));
            vec *low = j->kept ? keep_at(j, k, q, &x) : &x.low;
            walk(g, j->kept != NULL, &x);
            *low = x.low;
            for (int l = 0; l < g->used; l++) {
                double *out = &L[(size_t)(g->i[l] - first) * (size_t)r->K + (size_t)k];
                *out = x.L_hmm[l];
                if (!(x.low[l] > LOW))
                    VH_TRY(by_reference(j, g->i[l], k, 0, out, NULL));
            }
        }
done:
    return st;
}

/* Room for what is kept of all pairs; the same when it is asked for again. */
static vhem_status keep_room(job *j)
{
    vhem_status st = VHEM_OK;
    vhem_ctx *ctx = j->ctx;
    vh_scratch *scratch = j->scratch;
    double *room;

    VH_SCRATCH(room, SLOT_KEPT, (size_t)(j->es->reduced->K * j->n_group) * j->keep * VH_LANES);
    j->kept = (vec *)room;
done:
    return st;
}

vhem_status VH_NAME(vh_simd_score)(vhem_ctx *ctx, const vh_estep *es, int first, int n, vh_scratch *scratch,
                                   double *L)
{
    vhem_status st = VHEM_OK;
    job j = { .ctx = ctx, .es = es, .scratch = scratch };
    bool keep = es->soft && one_load(es, first, n) == n;

    for (int i = first, taken; i < first + n; i += taken) {
        VH_TRY(deal(&j, i, first + n - i, &taken));
        for (int q = 0; q < j.n_group; q++)
            load_group(&j, &j.g[q]);
        if (keep)
            VH_TRY(keep_room(&j));
        VH_TRY(score_groups(&j, first, L));
    }
done:
    return st;
}

/* ---- 4. accumulate ------------------------------------------------------------------------------------- */

/* G := weight of each base component in each reduced one: w nu(rho, beta) c_m eta(l | m). */
static void component_weights(job *j, const group *g, int k, const vh_reduce_lanes *x, vec w, double *G,
                              const double *sums)
{
    const vh_packed *r = j->es->reduced;
    int Sr = r->S[k], Mr = r->M[k], Mb = j->Mb, Sb = j->Sb;
    vec_bits used = (vec_bits)(w > 0); /* in other lanes nu may not even be a number */
    for (int rho = 0; rho < Sr; rho++)
        for (int l = 0; l < Mr; l++) {
            vec *restrict row = (vec *)(G + (size_t)(rho * Mr + l) * j->ld);
            const vec *restrict state = (const vec *)(sums + (size_t)rho * j->ld);
            for (int b = 0; b < Sb; b++) {
                vec here = (vec)((vec_bits)(w * x->sum_nu[rho * Sb + b]) & used);
                for (int q = b * Mb; q < (b + 1) * Mb; q++) {
                    vec eta = Mr > 1 ? vec_exp_or_0(row[q] - state[q]) : vec_all(1);
                    row[q] = here * g->c[q] * eta;
                }
            }
        }
}

/* Components in the direct form have their statistics about their own mean; they leave the product. */
static void add_direct(job *j, const group *g, int k, double *G, double *stat, vh_stats *stats)
{
    const vh_packed *b = j->es->base, *r = j->es->reduced;
    for (int q = r->comp0[k]; q < r->comp0[k + 1]; q++) {
        double *row = G + (size_t)(q - r->comp0[k]) * j->ld;
        for (int c = 0; r->direct[q] && c < j->cols; c++) {
            int i = g->i[c % VH_LANES < g->used ? c % VH_LANES : 0];
            if (row[c] > 0) {
                b->family->stats_of_component(
                    &r->about[q], b->par + (size_t)(b->comp0[i] + c / VH_LANES) * VH_MAX_PARAM, stat);
                for (int e = 0; e < b->n_stat; e++)
                    stats->T[(size_t)q * (size_t)b->n_stat + (size_t)e] += row[c] * stat[e];
            }
            row[c] = 0;
        }
    }
}

/* Adds the chains of a group with weights w [lane] to the statistics of reduced HMM k, and leaves the weights
 * of its components in G. */
static vhem_status add_chains(job *j, const group *g, int k, const vh_reduce_lanes *x, vec low,
                              const double *w, double *G, const double *sums, vh_stats *stats)
{
    vhem_status st = VHEM_OK;
    vhem_ctx *ctx = j->ctx;
    vh_scratch *scratch = j->scratch;
    const vh_packed *r = j->es->reduced;
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
    component_weights(j, g, k, x, wv, G, sums);
    if (r->n_direct > 0) {
        VH_SCRATCH(stat, 0, j->es->base->n_stat);
        add_direct(j, g, k, G, stat, stats);
    }
done:
    return st;
}

/* The components of all groups, whose weights are in the rows from G on. */
static void add_components(job *j, int k, const double *G, vh_stats *stats)
{
    const vh_packed *r = j->es->reduced;
    size_t n_stat = (size_t)r->n_stat;
    vh_gemm_nn_add(r->comp0[k + 1] - r->comp0[k], r->n_stat, j->n_group * j->cols, G, j->ld, j->T,
                   stats->T + (size_t)r->comp0[k] * n_stat);
}

/* A group of its own, from the beginning. */
static vhem_status add_group(job *j, group *g, int k, const double *w, vh_stats *stats)
{
    vhem_status st = VHEM_OK;
    const vh_packed *r = j->es->reduced;
    vh_reduce_lanes x;

    load_group(j, g);
    VH_TRY(product(j, r->comp0[k], r->comp0[k + 1]));
    mixture_bound(j, g, k, j->G, j->state);
    VH_TRY(make_lanes(j, g, k, j->es->tau, &x));
    walk(g, true, &x);
    VH_TRY(add_chains(j, g, k, &x, x.low, w, j->G, j->state, stats));
    add_components(j, k, j->G, stats);
done:
    return st;
}

/* What the score of the same block has kept. */
static vhem_status add_kept(job *j, int first, int n, const double *w, vh_stats *stats)
{
    vhem_status st = VHEM_OK;
    const vh_packed *r = j->es->reduced;
    int taken;

    VH_TRY(deal(j, first, n, &taken));
    VH_TRY(keep_room(j));
    for (int k = 0; k < r->K; k++) {
        double *G = j->G + (size_t)r->comp0[k] * j->ld, *sums = j->state + (size_t)r->state0[k] * j->ld;
        for (int q = 0; q < j->n_group; q++) {
            const group *g = &j->g[q];
            double weight[VH_LANES];
            vh_reduce_lanes x;
            vec low = *keep_at(j, k, q, &x);
            for (int l = 0; l < g->used; l++)
                weight[l] = w[(size_t)(g->i[l] - first) * (size_t)r->K + (size_t)k];
            VH_TRY(add_chains(j, g, k, &x, low, weight, G + q * j->cols, sums + q * j->cols, stats));
        }
        add_components(j, k, G, stats);
    }
done:
    return st;
}

vhem_status VH_NAME(vh_simd_accumulate)(vhem_ctx *ctx, const vh_estep *es, int first, int n, const double *w,
                                        vh_scratch *scratch, vh_stats *stats)
{
    vhem_status st = VHEM_OK;
    const vh_packed *r = es->reduced;
    job j = { .ctx = ctx, .es = es, .scratch = scratch, .n_group = 1 };

    if (es->soft && one_load(es, first, n) == n)
        return add_kept(&j, first, n, w, stats);
    for (int k = 0; k < r->K; k++)
        for (int i = 0; i < n;) {
            group *g = &j.g[0];
            double weight[VH_LANES];
            g->used = 0;
            for (; i < n && g->used < VH_LANES; i++) {
                double wik = w[(size_t)i * (size_t)r->K + (size_t)k];
                if (!(wik > 0))
                    continue;
                if (g->used == 0)
                    VH_TRY(set_up(&j, first + i, 1, r->comp0[k + 1] - r->comp0[k], r->S[k]));
                else if (!same_shape(es->base, g->i[0], first + i))
                    break;
                weight[g->used] = wik;
                g->i[g->used++] = first + i;
            }
            if (g->used > 0)
                VH_TRY(add_group(&j, g, k, weight, stats));
        }
done:
    return st;
}
