/* SPDX-License-Identifier: BSD-3-Clause */
/* forward_backward.c - the E-step of Baum-Welch for a set of HMMs and a batch of sequences.
 *
 *   1. setting up: pairs of an HMM and a sequence, in groups with equal numbers of states, one pair per lane
 *   2. chunks:     statistics of a chunk of frames, one product with all components, exps
 *   3. recursion:  forward and backward, a group at a time (lanes.c); HMMs with few transitions, for their
 *                  likelihood, already with each chunk (forward_backward_exact.c)
 *   4. weights:    if they depend on the likelihoods, the pairs with weight are regrouped
 *   5. collecting: posteriors times component shares, and one transposed product into the statistics
 *
 * A batch of several sequences is one chunk, whose tables are kept between 2 and 5.  A long sequence spans
 * many chunks: their tables are computed twice rather than kept, so memory is O(T S), never O(T S M) or O(T
 * S^2).  Cost per frame and component: 4 n_stat flops and one exp; half as much again for a long sequence.
 *
 * With weights, all pairs run forward, then those with weight run forward again and backward: a second
 * forward pass over a few pairs costs less than storing the first for all of them. */
#include "simd/forward_backward.h"

#include "fit/forward_backward.h"
#include "simd/vec.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "math/linalg.h"

#include <math.h>
#include <string.h>

enum {
    SLOT_T = 6,
    SLOT_E,
    SLOT_B,
    SLOT_SHIFT,
    SLOT_WORK,
    SLOT_LANES,
    SLOT_P,
    SLOT_R,
    SLOT_SMALL,
    SLOT_LIVE,
    SLOT_EXACT
};

#define LANE_BYTES (8 << 20) /* longer recursions run one pair at a time: a group overflows the cache */
#define DOUBT      1e280     /* see lanes.c */
#define MIXING     1e-100    /* see mixes */
#define MOST_GAIN  600       /* nats: a share of 1e-304 e^600 is nothing */
#define ROUNDING   1e-8      /* of log-likelihoods */

/* ---- 1. setting up ------------------------------------------------------------------------------------- */

static int by_states_and_length(const void *a, const void *b)
{
    const vh_fb_pair *p = a, *q = b;
    if (p->exact != q->exact)
        return p->exact - q->exact;
    if (p->S != q->S)
        return p->S < q->S ? 1 : -1;
    if (p->T != q->T)
        return p->T < q->T ? 1 : -1;
    return p->n != q->n ? p->n - q->n : p->k - q->k;
}

/* Sets B = 1 in lanes past the end of their sequence; unused lanes have the length of the last used one. */
static void idle(vh_fb_group *g)
{
    for (int l = 0; l < g->L; l++)
        for (int64_t e = g->lane[l < g->used ? l : g->used - 1].T * g->S; e < g->T * g->S; e++)
            g->B[e * g->L + l] = 1;
}

/* Size of a group's table B, rounded up to whole vectors. */
static size_t table_size(const vh_fb_group *g)
{
    return (vh_cells(g->T, g->S) * (size_t)g->L + 7) / 8 * 8;
}

/* Groups consecutive pairs of the sorted list by number of states, without those of which only the exact
 * likelihood is wanted.  All tables share one scratch slot. */
static vhem_status form_groups(vh_fb *j, int slot)
{
    vhem_ctx *ctx = j->ctx;
    vh_scratch *scratch = j->scratch;
    size_t total = 0;
    double *lanes;

    j->n_group = 0;
    for (int p = 0; p < j->n_pair && !j->pairs[p].exact;) {
        vh_fb_group *g = &j->groups[j->n_group++];
        vh_fb_pair *first = &j->pairs[p];
        double bytes = 2.0 * sizeof(double) * VH_LANES * (double)first->T * first->S;
        int used = bytes > LANE_BYTES ? 1 : vh_fb_alike(first, j->n_pair - p);
        *g = (vh_fb_group){
            .L = used == 1 ? 1 : VH_LANES, .used = used, .S = first->S, .T = first->T, .lane = first
        };
        total += table_size(g);
        p += used;
    }
    VH_SCRATCH(lanes, slot, total);
    for (int i = 0; i < j->n_group; i++) {
        j->groups[i].B = lanes;
        lanes += table_size(&j->groups[i]);
        idle(&j->groups[i]);
    }
    return VHEM_OK;
}

/* True if at most as many transitions are possible as from each state to itself and all later ones. */
static bool has_few_transitions(int S, const double *A)
{
    int n = 0;
    for (int e = 0; e < S * S; e++)
        n += A[e] > 0;
    return S > 1 && n <= S * (S + 1) / 2;
}

static vhem_status prepare_lanes(vh_fb *j)
{
    vhem_ctx *ctx = j->ctx;
    vh_scratch *scratch = j->scratch;
    const vh_packed *pk = j->pk;
    int64_t f0 = 0;

    VH_NEW(j->pairs, vh_cells(j->batch->n, pk->K));
    VH_NEW(j->groups, vh_cells(j->batch->n, pk->K) + 1);
    VH_NEW(j->exact, pk->K);
    for (int k = 0; k < pk->K; k++)
        j->exact[k] = !j->stats && has_few_transitions(pk->S[k], pk->A + pk->trans0[k]) ? pk->M[k] : 0;
    for (int n = 0; n < j->batch->n; n++) {
        int64_t T = vh_fb_length(j, n);
        for (int k = 0; k < pk->K; k++)
            j->pairs[j->n_pair++] = (vh_fb_pair){ .n = n,
                                                  .k = k,
                                                  .S = pk->S[k],
                                                  .f0 = f0,
                                                  .T = T,
                                                  .exact = j->exact[k],
                                                  .w = vh_data_weight(j->batch->in->data, vh_fb_seq(j, n)) };
        f0 += T;
    }
    qsort(j->pairs, (size_t)j->n_pair, sizeof *j->pairs, by_states_and_length);
    VH_TRY(form_groups(j, SLOT_LANES));
    int first = 0;
    while (first < j->n_pair && !j->pairs[first].exact)
        first++;
    VH_TRY(VH_NAME(vh_fb_exact_groups)(j, j->pairs + first, j->n_pair - first, SLOT_EXACT));

    j->chunk = vh_chunk_frames(pk);
    if (j->chunk > f0 || j->batch->n > 1)
        j->chunk = (int)f0;
    j->ld = ((size_t)j->chunk + 7) / 8 * 8;
    if (j->ld % 512 == 0)
        j->ld += 8; /* rows 4096 bytes apart would compete for the same cache lines */
    if (!j->batch->T && !pk->family->hot)
        VH_SCRATCH(j->made, SLOT_T, vh_cells(j->chunk, pk->n_stat));
    j->T = j->made;
    VH_SCRATCH(j->E, SLOT_E, (size_t)pk->n_comp * j->ld + VH_LANES); /* vh_fb_exact reads on */
    VH_SCRATCH(j->B, SLOT_B, (size_t)pk->n_state * j->ld);
    VH_SCRATCH(j->shift, SLOT_SHIFT, (size_t)pk->K * j->ld);
    VH_SCRATCH(j->work, SLOT_WORK, vh_emission_room(pk->family, &pk->shape) + vh_cells(pk->n_stat, j->chunk));
    return VHEM_OK;
}

/* ---- 2. chunks ----------------------------------------------------------------------------------------- */

/* True if HMM k has weight in any sequence of the batch. */
static bool counts(const vh_fb *j, int k)
{
    for (int n = 0; n < j->batch->n; n++)
        if (j->w[vh_ij(n, j->pk->K, k)] > 0)
            return true;
    return false;
}

/* E := exp(E - shift), with shift the maximum over the components of HMM k, and B := its sums over each
 * state.  Rows are padded to whole vectors; the padding is never used. */
static void exps(vh_fb *j, int k, int n)
{
    const vh_packed *pk = j->pk;
    int C = pk->comp0[k + 1] - pk->comp0[k], M = pk->M[k], nv = (n + VH_LANES - 1) / VH_LANES;
    size_t ld = j->ld / VH_LANES;
    vec *restrict shift = (vec *)j->shift + (size_t)k * ld;
    vec *E = (vec *)j->E + (size_t)pk->comp0[k] * ld;

    memcpy(shift, E, sizeof *shift * (size_t)nv);
    for (int q = 1; q < C; q++) {
        const vec *restrict e = E + (size_t)q * ld;
        for (int f = 0; f < nv; f++)
            shift[f] = vec_max(e[f], shift[f]);
    }
    for (int q = 0; q < C; q++) {
        vec *restrict e = E + (size_t)q * ld;
        vec *restrict b = (vec *)j->B + (size_t)(pk->state0[k] + q / M) * ld;
        for (int f = 0; f < nv; f++) {
            vec u = vec_exp_or_0(e[f] - shift[f]);
            e[f] = u;
            if (q % M == 0)
                b[f] = u;
            else
                b[f] += u;
        }
    }
}

/* Calls `each` for the parts of sequences within frames c0 .. c0+n-1 of the batch. */
typedef vhem_status (*part_function)(vh_fb *j, const double *y, int at, int len);
static vhem_status for_parts(vh_fb *j, int64_t c0, int n, part_function each)
{
    vhem_status st = VHEM_OK;
    int64_t f0 = 0;
    for (int i = 0; i < j->batch->n && f0 < c0 + n && st == VHEM_OK; i++) {
        int64_t T = vh_fb_length(j, i);
        int64_t lo = f0 > c0 ? f0 : c0, hi = f0 + T < c0 + n ? f0 + T : c0 + n;
        if (lo < hi)
            st = each(j, vh_fb_frames(j, i) + (lo - f0) * j->pk->d, (int)(lo - c0), (int)(hi - lo));
        f0 += T;
    }
    return st;
}

static vhem_status part_stats(vh_fb *j, const double *y, int at, int len)
{
    vh_table_stats(j->pk, y, len, j->made + vh_row(at, j->pk->n_stat));
    return VHEM_OK;
}

static vhem_status part_direct(vh_fb *j, const double *y, int at, int len)
{
    const vh_known_frames frames = { y, j->T + vh_row(at, j->pk->n_stat), len };
    return vh_table_direct(j->ctx, j->pk, 0, j->pk->n_comp, &frames, j->E + at, j->ld, j->work);
}

/* Fills E for families that look up their log-densities. */
static vhem_status part_look_up(vh_fb *j, const double *y, int at, int len)
{
    for (int k = 0; k < j->pk->K; k++)
        if (!j->sparse || counts(j, k))
            vh_table_look_up(j->pk, j->pk->comp0[k], j->pk->comp0[k + 1], y, len, j->E + at, j->ld);
    return VHEM_OK;
}

static vhem_status part_add_up(vh_fb *j, const double *y, int at, int len)
{
    const vh_known_frames frames = { y, NULL, len };
    vh_table_add_up(j->pk, j->comp_lo, j->comp_hi, &frames, j->E + j->col0 + at, j->ld, j->stats->T);
    return VHEM_OK;
}

/* Fills E by a matrix product; if few pairs have weight, only for the HMMs that have any. */
static vhem_status make_products(vh_fb *j, int64_t c0, int n)
{
    const vh_packed *pk = j->pk;
    if (pk->family->hot)
        return for_parts(j, c0, n, part_look_up);
    if (j->batch->T)
        j->T = j->batch->T + vh_row(c0, pk->n_stat);
    else
        VH_TRY(for_parts(j, c0, n, part_stats));
    if (!j->sparse)
        vh_table_product(pk, 0, pk->n_comp, n, j->T, j->E, j->ld);
    for (int k = 0; j->sparse && k < pk->K; k++)
        if (counts(j, k))
            vh_table_product(pk, pk->comp0[k], pk->comp0[k + 1], n, j->T, j->E, j->ld);
    return VHEM_OK;
}

static vhem_status make_chunk(vh_fb *j, int64_t c0, int n)
{
    vhem_ctx *ctx = j->ctx;
    const vh_packed *pk = j->pk;
    VH_CHECK(!vh_overdue(ctx), VHEM_ESTOPPED, "stopped");
    VH_TRY(make_products(j, c0, n));
    if (pk->n_direct)
        VH_TRY(for_parts(j, c0, n, part_direct));
    for (int k = 0; k < pk->K; k++)
        if (!j->exact[k] && (!j->sparse || counts(j, k)))
            exps(j, k, n);
    return VHEM_OK;
}

/* ---- 3. recursion -------------------------------------------------------------------------------------- */

/* If every transition has probability at least MIXING, no state can be better than another for the future by
 * more than 1/MIXING: beta stays below that, and no path is lost for good (lanes.c). */
static bool mixes(const vh_packed *pk, int k)
{
    for (size_t e = pk->trans0[k]; e < pk->trans0[k + 1]; e++)
        if (pk->A[e] < MIXING)
            return false;
    return true;
}

/* Allocates the small arrays of a recursion, aligned to vectors, and loads the parameters of its lanes. */
static vhem_status load_lanes(vh_fb *j, const vh_fb_group *g, vh_lanes *x, double **first)
{
    vhem_ctx *ctx = j->ctx;
    vh_scratch *scratch = j->scratch;
    const vh_packed *pk = j->pk;
    int S = g->S, L = g->L;
    size_t vector = ((size_t)(S * L) + 7) / 8 * 8, matrix = ((size_t)(S * S * L) + 7) / 8 * 8;
    double *small;

    VH_SCRATCH(x->P, SLOT_P, g->T * S * L);
    VH_SCRATCH(x->r, SLOT_R, g->T * L);
    VH_SCRATCH(small, SLOT_SMALL, (3 + 2 * VH_BLOCK) * vector + 2 * matrix);
    x->pi = small;
    x->beta = x->pi + vector;
    *first = x->beta + vector;
    x->alpha = *first + vector;
    x->v = x->alpha + VH_BLOCK * vector;
    x->A = x->v + VH_BLOCK * vector;
    x->X = x->A + matrix;
    for (int l = 0; l < L; l++) {
        const vh_fb_pair *p = &g->lane[l < g->used ? l : 0];
        x->length[l] = l < g->used ? p->T : 0;
        for (int s = 0; s < S; s++)
            x->pi[s * L + l] = pk->pi[pk->state0[p->k] + s];
        for (int e = 0; e < S * S; e++)
            x->A[e * L + l] = pk->A[pk->trans0[p->k] + (size_t)e];
    }
    memcpy(*first, g->B, sizeof **first * (size_t)(S * L)); /* backward overwrites it */
    return VHEM_OK;
}

/* Adds the initial states and transitions of a finished group; first [S][L] is B of frame 1. */
static void add_chain(vh_fb *j, const vh_fb_group *g, const vh_lanes *x, const double *first)
{
    int S = g->S, L = g->L;
    for (int l = 0; l < g->used; l++) {
        const vh_fb_pair *p = &g->lane[l];
        if (p->redo)
            continue;
        double w = p->w;
        double *nu1 = j->stats->nu1 + j->pk->state0[p->k], *xi = j->stats->xi + j->pk->trans0[p->k];
        for (int s = 0; s < S; s++)
            nu1[s] += w * first[s * L + l] * g->B[s * L + l];
        for (int e = 0; e < S * S; e++)
            xi[e] += w * x->A[e * L + l] * x->X[e * L + l];
    }
}

/* Could a path that was lost matter?  It had less than 1e-304, and from then on gains on the others at most
 * the product of all r_t B_t(s), where B_t(s) <= M and r_t >= 1/M: its share is below 1e-304 M^T / p(y), p(y)
 * as scaled. */
static bool is_sure(const vh_fb *j, const vh_fb_pair *p, double scaled)
{
    return scaled - (double)p->T * log(j->pk->M[p->k]) > -MOST_GAIN || mixes(j->pk, p->k);
}

/* Fills E, for the frames of a pair in the chunk at c0, with the logs of its densities. */
static vhem_status make_logs(vh_fb *j, const vh_fb_pair *p, int64_t c0, int n)
{
    const vh_packed *pk = j->pk;
    int64_t lo = p->f0 > c0 ? p->f0 : c0, hi = p->f0 + p->T < c0 + n ? p->f0 + p->T : c0 + n;
    const double *y = vh_fb_frames(j, p->n) + (lo - p->f0) * pk->d, *T = NULL;
    double *E = j->E + (lo - c0);
    int first = pk->comp0[p->k], end = pk->comp0[p->k + 1], len = (int)(hi - lo);
    if (hi <= lo)
        return VHEM_OK;
    if (pk->family->hot) {
        vh_table_look_up(pk, first, end, y, len, E, j->ld);
    } else {
        if (!j->batch->T)
            vh_table_stats(pk, y, len, j->made + vh_row(lo - c0, pk->n_stat));
        T = j->batch->T ? j->batch->T + vh_row(lo, pk->n_stat) : j->made + vh_row(lo - c0, pk->n_stat);
        vh_table_product(pk, first, end, len, T, E, j->ld);
    }
    const vh_known_frames frames = { y, T, len };
    return pk->n_direct ? vh_table_direct(j->ctx, pk, first, end, &frames, E, j->ld, j->work) : VHEM_OK;
}

/* Computes the log-likelihood of a pair without scaling. */
static vhem_status find_exactly(vh_fb *j, vh_fb_pair *p)
{
    vhem_ctx *ctx = j->ctx;
    p->exact = j->pk->M[p->k];
    j->spoilt = true;
    VH_TRY(VH_NAME(vh_fb_exact_groups)(j, p, 1, SLOT_EXACT));
    for (int64_t c0 = 0; c0 < j->batch->frames; c0 += j->chunk) {
        int n = j->batch->frames - c0 < j->chunk ? (int)(j->batch->frames - c0) : j->chunk;
        VH_CHECK(!vh_overdue(ctx), VHEM_ESTOPPED, "stopped");
        if (p->f0 < c0 + n && p->f0 + p->T > c0) {
            VH_TRY(make_logs(j, p, c0, n));
            VH_NAME(vh_fb_exact)(j, c0, n);
        }
    }
    p->exact = 0;
    return VHEM_OK;
}

/* After a forward pass: if paths may have been lost, which likelihood is right?  A lower one means that the
 * posteriors are wrong, too. */
static vhem_status check_pair(vh_fb *j, vh_fb_pair *p, double scaled)
{
    double loglik = p->loglik;
    if (is_sure(j, p, scaled))
        return VHEM_OK;
    VH_TRY(find_exactly(j, p));
    p->redo |= !(fabs(loglik - p->loglik) <= ROUNDING * (1 + 1e-3 * fabs(p->loglik)));
    if (!p->redo)
        p->loglik = loglik;
    return VHEM_OK;
}

/* Runs the recursions of one group.  With collect, its table becomes posteriors and its chains are added to
 * the statistics; otherwise only the log-likelihood is computed. */
static vhem_status recurse(vh_fb *j, vh_fb_group *g, bool collect)
{
    vhem_ctx *ctx = j->ctx;
    vh_lanes x = { .S = g->S, .T = g->T, .B = g->B, .ctx = ctx };
    double *first;

    VH_TRY(load_lanes(j, g, &x, &first));
    VH_NAME(vh_lanes_forward)(g->L, &x);
    for (int l = 0; l < g->used && !j->scored && !x.late; l++) {
        g->lane[l].loglik += x.loglik[l];
        VH_TRY(check_pair(j, &g->lane[l], x.loglik[l]));
    }
    if (collect)
        VH_NAME(vh_lanes_backward)(g->L, &x);
    VH_CHECK(!x.late, VHEM_ESTOPPED, "stopped");
    for (int l = 0; l < g->used; l++)
        g->lane[l].redo |= !(x.doubt[l] < (collect ? DOUBT : DOUBT * MIXING));
    if (collect)
        add_chain(j, g, &x, first);
    return VHEM_OK;
}

/* Writes the log-likelihoods; recomputes pairs with unsafe scaling in logs and adds them to stats, if any. */
static vhem_status finish_pairs(vh_fb *j, double *loglik, vh_stats *stats)
{
    vhem_ctx *ctx = j->ctx;
    VH_CLEANUP(vec_mode_end) unsigned mode = vec_keep_small();
    for (int i = 0; i < j->n_pair; i++) {
        vh_fb_pair *p = &j->pairs[i];
        const vh_seq_pair pair = { j->pk, p->k, vh_fb_frames(j, p->n), p->T, p->w };
        if (p->redo)
            VH_TRY(vh_ref_pair(ctx, &pair, j->scratch, &p->loglik, stats));
        else if (stats)
            stats->loglik[p->k] += p->w * p->loglik;
        VH_CHECK(!isnan(p->loglik), VHEM_ENUMERIC, "the log-likelihood is not a number");
        loglik[vh_ij(p->n, j->pk->K, p->k)] = p->loglik;
    }
    return VHEM_OK;
}

/* ---- 4. weights ---------------------------------------------------------------------------------------- */

/* Computes the weights and regroups the pairs that have any, with their original tables if scored. */
static vhem_status weigh(vh_fb *j, const double *loglik)
{
    vhem_ctx *ctx = j->ctx;
    int n_live = 0, all = j->n_pair;
    int64_t live_frames = 0, frames = 0;

    VH_NEW(j->w, all);
    vh_seq_weigh(j->batch, loglik, j->stats, j->w);
    for (int g = 0; g < j->n_group; g++)
        for (int l = 0; l < j->groups[g].used; l++) {
            j->groups[g].lane[l].dealt = j->groups[g].B + l;
            j->groups[g].lane[l].stride = j->groups[g].L;
        }
    for (int i = 0; i < all; i++) {
        vh_fb_pair p = j->pairs[i];
        p.w = j->w[vh_ij(p.n, j->pk->K, p.k)];
        frames += p.T;
        if (!(p.w > 0))
            continue;
        live_frames += p.T;
        j->pairs[n_live++] = p;
    }
    j->n_pair = n_live;
    j->sparse = 2 * live_frames < frames;
    if (n_live == all)
        return VHEM_OK;
    VH_TRY(form_groups(j, SLOT_LIVE));
    for (int g = 0; j->scored && g < j->n_group; g++)
        VH_NAME(vh_fb_scatter_again)(&j->groups[g]);
    return VHEM_OK;
}

/* ---- 5. collecting ------------------------------------------------------------------------------------- */

/* E := posterior of each component of HMM k, E times its state's posterior / B, in columns col .. col+n-1. */
static void posteriors(vh_fb *j, int k, int col, int n)
{
    const vh_packed *pk = j->pk;
    for (int q = 0; q < pk->comp0[k + 1] - pk->comp0[k]; q++) {
        double *restrict e = j->E + (size_t)(pk->comp0[k] + q) * j->ld + col;
        const double *restrict b = j->B + (size_t)(pk->state0[k] + q / pk->M[k]) * j->ld + col;
#pragma omp simd
        for (int f = 0; f < n; f++)
            e[f] *= b[f];
    }
}

/* Components in the direct form keep their statistics about their own mean; add them here and remove them
 * from the product. */
static vhem_status part_about(vh_fb *j, const double *y, int at, int len)
{
    const vh_packed *pk = j->pk;
    double *T = j->work + vh_emission_room(pk->family, &pk->shape);
    const vh_known_frames known = { y, j->T + vh_row(j->col0 + at, pk->n_stat), len };
    for (int r = j->comp_lo; r < j->comp_hi; r++)
        if (pk->direct[r]) {
            double *e = j->E + (size_t)r * j->ld + j->col0 + at;
            double *sum = j->stats->T + vh_row(r, pk->n_stat);
            const double *const *par = pk->par + vh_row(r, VH_MAX_PARAM);
            if (pk->family->gather_known) {
                pk->family->gather_known(&pk->about[r], par, &known, e, sum, j->work);
            } else if (vh_emission_gathers(pk->family, &pk->shape)) {
                pk->family->gather(&pk->about[r], par, y, e, len, sum, j->work);
            } else {
                pk->family->stats_of_obs(&pk->about[r], y, len, T);
                vh_gemm_nn_add(1, pk->n_stat, len, e, j->ld, T, sum);
            }
            memset(e, 0, sizeof *e * (size_t)len);
        }
    return VHEM_OK;
}

/* Adds HMMs k_lo .. k_hi-1 over n frames of the chunk at c0, starting at column col. */
static vhem_status add_frames(vh_fb *j, int k_lo, int k_hi, int64_t c0, int col, int n)
{
    const vh_packed *pk = j->pk;
    size_t n_stat = (size_t)pk->n_stat;

    for (int k = k_lo; k < k_hi; k++)
        posteriors(j, k, col, n);
    j->comp_lo = pk->comp0[k_lo];
    j->comp_hi = pk->comp0[k_hi];
    j->col0 = col;
    if (pk->n_direct)
        VH_TRY(for_parts(j, c0 + col, n, part_about));
    if (pk->family->hot)
        VH_TRY(for_parts(j, c0 + col, n, part_add_up));
    if (pk->family->hot || pk->n_direct == pk->n_comp)
        return VHEM_OK; /* no components left for the product */
    (pk->sparse ? vh_gemm_nn_add_sparse : vh_gemm_nn_add)(
        j->comp_hi - j->comp_lo, pk->n_stat, n, j->E + (size_t)j->comp_lo * j->ld + col, j->ld,
        j->T + (size_t)col * n_stat, j->stats->T + (size_t)j->comp_lo * n_stat);
    return VHEM_OK;
}

/* If few pairs have weight: for each HMM, only the sequences where it has weight. */
static vhem_status add_sparse(vh_fb *j, int64_t c0, int n)
{
    for (int k = 0; k < j->pk->K; k++) {
        int64_t f0 = 0, from = 0, to = 0; /* range of frames in the batch */
        for (int i = 0; i <= j->batch->n; i++) {
            bool end = i == j->batch->n;
            int64_t T = end ? 0 : vh_fb_length(j, i);
            if (!end && j->w[vh_ij(i, j->pk->K, k)] > 0) {
                to = f0 + T;
            } else {
                int64_t lo = from > c0 ? from : c0, hi = to < c0 + n ? to : c0 + n;
                if (lo < hi)
                    VH_TRY(add_frames(j, k, k + 1, c0, (int)(lo - c0), (int)(hi - lo)));
                from = to = f0 + T;
            }
            f0 += T;
        }
    }
    return VHEM_OK;
}

static vhem_status add_chunk(vh_fb *j, int64_t c0, int n)
{
    if (j->w && !j->sparse) /* pairs without weight must contribute nothing */
        memset(j->B, 0, sizeof *j->B * (size_t)j->pk->n_state * j->ld);
    VH_NAME(vh_fb_collect)(j, c0, n);
    return j->sparse ? add_sparse(j, c0, n) : add_frames(j, 0, j->pk->K, c0, 0, n);
}

static void fb_clear(vh_fb *j)
{
    free(j->exact);
    free(j->moves);
    free(j->pairs);
    free(j->groups);
    free(j->w);
}

vhem_status VH_NAME(vh_simd_forward_backward)(vhem_ctx *ctx, const vh_seq_chunk *batch, vh_scratch *scratch,
                                              double *loglik, vh_stats *stats)
{
    VH_CLEANUP(fb_clear)
    vh_fb j = { .ctx = ctx, .pk = batch->step->pk, .batch = batch, .scratch = scratch, .stats = stats };
    bool weighed = stats && batch->step->mixtures > 0;

    VH_TRY(prepare_lanes(&j));
    if (weighed && batch->known)
        VH_TRY(weigh(&j, NULL));
    bool kept = batch->frames <= j.chunk;
    for (int64_t c0 = 0; c0 < batch->frames; c0 += j.chunk) {
        int n = batch->frames - c0 < j.chunk ? (int)(batch->frames - c0) : j.chunk;
        VH_TRY(make_chunk(&j, c0, n));
        VH_NAME(vh_fb_scatter)(&j, c0, n);
        VH_NAME(vh_fb_exact)(&j, c0, n);
    }
    if (weighed && !batch->known) {
        for (int g = 0; g < j.n_group; g++)
            VH_TRY(recurse(&j, &j.groups[g], false));
        VH_TRY(finish_pairs(&j, loglik, NULL));
        j.scored = true;
        VH_TRY(weigh(&j, loglik));
    }
    for (int g = 0; g < j.n_group; g++)
        VH_TRY(recurse(&j, &j.groups[g], stats != NULL));
    for (int64_t c0 = 0; stats && c0 < batch->frames; c0 += j.chunk) {
        int n = batch->frames - c0 < j.chunk ? (int)(batch->frames - c0) : j.chunk;
        if (!kept || j.spoilt)
            VH_TRY(make_chunk(&j, c0, n));
        VH_TRY(add_chunk(&j, c0, n));
    }
    return finish_pairs(&j, loglik, stats);
}
