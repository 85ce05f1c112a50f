/* forward_backward.c - the E-step of Baum-Welch for a set of HMMs and a batch of sequences.
 *
 *   1. setting up: pairs of an HMM and a sequence, dealt into groups of equally many states, one per lane
 *   2. chunks:     statistics of a chunk of frames, one product with all components, exps
 *   3. recursion:  forward and backward, a group at a time (lanes.c)
 *   4. collecting: posteriors times component shares, and one transposed product into the statistics
 *
 * A batch of short sequences is one chunk, whose tables are kept between 2 and 4.  A long sequence is many
 * chunks: their tables are made twice rather than kept, so memory is O(T S), never O(T S M) or O(T S^2).
 * Cost per frame and component: 4 n_stat flops and one exp; for a long sequence half as much again. */
#include "backend/simd/lanes.h"

#include "backend/ref/ref.h"
#include "backend/simd/vec.h"
#include "core/alloc.h"
#include "math/linalg.h"

#include <math.h>
#include <string.h>

typedef struct {                         /* an HMM and a sequence */
    int      n, k, S;                    /* sequence n of the batch, HMM k of the set, its states */
    int64_t  f0, T;                      /* first frame in the batch, length */
    double   loglik;
    bool     redo;                       /* scaling was not safe: do it in logs */
} pair;

typedef struct {                         /* up to VH_LANES pairs with equally many states */
    int      L, used, S;
    int64_t  T;                          /* of the longest */
    pair    *lane;                       /* [used] */
    double  *B;                          /* [T][S][L] */
} group;

typedef struct {
    vhem_ctx        *ctx;
    const vh_packed *pk;
    const vh_batch  *batch;
    vh_scratch      *scratch;
    int      n_pair, n_group;
    pair    *pairs;
    group   *groups;
    int      chunk;                      /* frames of a chunk at most */
    size_t   ld;                         /* distance of rows of the tables below */
    double  *T;                          /* [chunk][n_stat]  statistics of the frames */
    double  *E;                          /* [n_comp][ld]     c p(y_t | r) over its largest in the HMM */
    double  *B;                          /* [n_state][ld]    sums of E over the components of a state */
    double  *shift;                      /* [K][ld]          log of that largest */
    double  *work;
    vh_stats *stats;                     /* NULL: only the log-likelihood is wanted */
} job;

enum { SLOT_T = 6, SLOT_E, SLOT_B, SLOT_SHIFT, SLOT_WORK, SLOT_LANES, SLOT_P, SLOT_R, SLOT_SMALL };

#define LANE_BYTES (8 << 20)             /* longer recursions go one pair at a time: a
                                            group would not fit a cache */
#define DOUBT      1e280                 /* see lanes.c */
#define MIXING     1e-100                /* see mixes */

/* ---- 1. setting up ------------------------------------------------------------------------------------- */

static int by_states_and_length(const void *a, const void *b)
{
    const pair *p = a, *q = b;
    if (p->S != q->S)
        return p->S < q->S ? 1 : -1;
    if (p->T != q->T)
        return p->T < q->T ? 1 : -1;
    return p->n != q->n ? p->n - q->n : p->k - q->k;
}

/* Consecutive pairs of the sorted list form a group while their states agree. */
static size_t form_groups(job *j)
{
    size_t total = 0;
    for (int p = 0; p < j->n_pair;) {
        group *g = &j->groups[j->n_group++];
        pair *first = &j->pairs[p];
        int same = 1;
        while (same < VH_LANES && p + same < j->n_pair && j->pairs[p + same].S == first->S)
            same++;
        double bytes = 2.0 * sizeof(double) * VH_LANES * (double)first->T * first->S;
        int used = bytes > LANE_BYTES ? 1 : same;
        *g = (group){ .L = used == 1 ? 1 : VH_LANES, .used = used,
                      .S = first->S, .T = first->T, .lane = first };
        total += ((size_t)g->T * (size_t)g->S * (size_t)g->L + 7) / 8 * 8;
        p += used;
    }
    return total;
}

/* B = 1 where a lane idles, past the end of its sequence.  A lane without one
 * copies the first as long as all last. */
static void idle(group *g)
{
    for (int l = 0; l < g->L; l++)
        for (int64_t e = g->lane[l < g->used ? l : g->used - 1].T * g->S; e < g->T * g->S; e++)
            g->B[e * g->L + l] = 1;
}

static vhem_status set_up(job *j)
{
    vhem_status st = VHEM_OK;
    vhem_ctx *ctx = j->ctx;
    vh_scratch *scratch = j->scratch;
    const vh_packed *pk = j->pk;
    int64_t f0 = 0;
    double *lanes;

    VH_NEW(j->pairs, (size_t)j->batch->n * (size_t)pk->K);
    VH_NEW(j->groups, (size_t)j->batch->n * (size_t)pk->K);
    for (int n = 0; n < j->batch->n; n++) {
        int64_t T = vh_data_length(j->batch->data, j->batch->seq[n]);
        for (int k = 0; k < pk->K; k++)
            j->pairs[j->n_pair++] = (pair){ .n = n, .k = k, .S = pk->S[k], .f0 = f0, .T = T };
        f0 += T;
    }
    qsort(j->pairs, (size_t)j->n_pair, sizeof *j->pairs, by_states_and_length);
    size_t total = form_groups(j);
    VH_SCRATCH(lanes, SLOT_LANES, total);
    for (int g = 0; g < j->n_group; g++) {
        j->groups[g].B = lanes;
        lanes += ((size_t)j->groups[g].T * (size_t)j->groups[g].S * (size_t)j->groups[g].L + 7) / 8 * 8;
    }
    for (int g = 0; g < j->n_group; g++)
        idle(&j->groups[g]);

    j->chunk = vh_batch_frames(pk);
    if (j->chunk > f0)
        j->chunk = (int)f0;
    j->ld = ((size_t)j->chunk + 7) / 8 * 8;
    if (j->ld % 512 == 0)
        j->ld += 8;                            /* rows 4096 bytes apart fight for the same lines of a cache */
    VH_SCRATCH(j->T, SLOT_T, (size_t)j->chunk * (size_t)pk->n_stat);
    VH_SCRATCH(j->E, SLOT_E, (size_t)pk->n_comp * j->ld);
    VH_SCRATCH(j->B, SLOT_B, (size_t)pk->n_state * j->ld);
    VH_SCRATCH(j->shift, SLOT_SHIFT, (size_t)pk->K * j->ld);
    VH_SCRATCH(j->work, SLOT_WORK, vh_emission_work(pk->d) + (size_t)pk->n_stat * (size_t)j->chunk);
done:
    return st;
}

/* ---- 2. chunks ----------------------------------------------------------------------------------------- */

/* E := exp(E - shift) with shift the largest over the components of HMM k, and B its sums over each state.
 * Rows are padded to whole vectors; what the padding holds is never used. */
static void exps(job *j, int k, int n)
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

/* Calls `each` for the parts of the sequences that lie in frames c0 .. c0+n-1 of the batch. */
typedef vhem_status (*part_function)(job *j, const double *y, int at, int len);
static vhem_status for_parts(job *j, int64_t c0, int n, part_function each)
{
    vhem_status st = VHEM_OK;
    int64_t f0 = 0;
    for (int i = 0; i < j->batch->n && f0 < c0 + n && st == VHEM_OK; i++) {
        int64_t T = vh_data_length(j->batch->data, j->batch->seq[i]);
        int64_t lo = f0 > c0 ? f0 : c0, hi = f0 + T < c0 + n ? f0 + T : c0 + n;
        if (lo < hi)
            st = each(j, vh_data_frames(j->batch->data, j->batch->seq[i]) + (lo - f0) * j->pk->d,
                      (int)(lo - c0), (int)(hi - lo));
        f0 += T;
    }
    return st;
}

static vhem_status part_stats(job *j, const double *y, int at, int len)
{
    vh_table_stats(j->pk, y, len, j->T + (size_t)at * (size_t)j->pk->n_stat);
    return VHEM_OK;
}

static vhem_status part_direct(job *j, const double *y, int at, int len)
{
    return vh_table_direct(j->ctx, j->pk, y, len, j->E + at, j->ld, j->work);
}

static vhem_status make_chunk(job *j, int64_t c0, int n)
{
    vhem_status st = VHEM_OK;
    VH_TRY(for_parts(j, c0, n, part_stats));
    vh_table_product(j->pk, n, j->T, j->E, j->ld);
    if (j->pk->n_direct)
        VH_TRY(for_parts(j, c0, n, part_direct));
    for (int k = 0; k < j->pk->K; k++)
        exps(j, k, n);
done:
    return st;
}

/* Where the lanes of a group lie in a chunk.  Frames c0 .. c0+n-1 are either whole sequences or a part of a
 * single one, so all lanes begin at the same t. */
typedef struct {
    int64_t t0;
    int     used, common;                /* lanes, frames that all of them have in the chunk */
    int     len[VH_LANES];               /* [used]  frames each of them has */
    size_t  row0[VH_LANES], col[VH_LANES];               /* [used]  its first row and column in the table B */
} lane_parts;

static lane_parts find_parts(const job *j, const group *g, int64_t c0, int n)
{
    lane_parts x = { .t0 = c0 > g->lane[0].f0 ? c0 - g->lane[0].f0 : 0, .used = g->used, .common = n };
    for (int l = 0; l < g->used; l++) {
        const pair *p = &g->lane[l];
        int64_t lo = p->f0 + x.t0, hi = p->f0 + p->T < c0 + n ? p->f0 + p->T : c0 + n;
        x.len[l] = (int)(hi - lo);
        x.common = x.len[l] < x.common ? x.len[l] : x.common;
        x.row0[l] = (size_t)j->pk->state0[p->k];
        x.col[l] = (size_t)(lo - c0);
    }
    return x;
}

/* State probabilities of a chunk to the lanes; the shifts are part of the likelihood.  Frame by frame with
 * the lanes inside, so that whole registers are written. */
static void deal(job *j, int64_t c0, int n)
{
    for (int i = 0; i < j->n_group; i++) {
        group *g = &j->groups[i];
        lane_parts x = find_parts(j, g, c0, n);
        size_t step = (size_t)g->S * (size_t)g->L;
        for (int l = 0; l < x.used; l++) {
            const double *restrict shift = j->shift + (size_t)g->lane[l].k * j->ld + x.col[l];
            double sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int t = 0; t < x.len[l]; t++)
                sum += shift[t];
            g->lane[l].loglik += sum;
        }
        for (int s = 0; s < g->S; s++) {
            double *restrict to = g->B + ((size_t)x.t0 * (size_t)g->S + (size_t)s) * (size_t)g->L;
            const double *from[VH_LANES];
            for (int l = 0; l < VH_LANES; l++)
                from[l] = j->B + (x.row0[l < x.used ? l : 0] + (size_t)s) * j->ld + x.col[l < x.used ? l : 0];
            int t = 0;
            for (; g->L == VH_LANES && t < x.common; t++, to += step)
                for (int l = 0; l < VH_LANES; l++)
                    to[l] = from[l][t];
            for (int l = 0; l < x.used; l++)
                for (int u = t; u < x.len[l]; u++)
                    to[(size_t)(u - t) * step + (size_t)l] = from[l][u];
        }
    }
}

/* ---- 3. recursion -------------------------------------------------------------------------------------- */

/* When every state can follow every other with some probability, no state can be better than
 * another by more than 1/MIXING for what is to come: beta stays below that, and 1/c tells all.
 * Otherwise beta must be looked at. */
static bool mixes(const vh_packed *pk, int k)
{
    for (size_t e = pk->trans0[k]; e < pk->trans0[k + 1]; e++)
        if (pk->A[e] < MIXING)
            return false;
    return true;
}

/* Space for the small arrays of a recursion, each beginning on a vector, and the parameters of its lanes. */
static vhem_status load_lanes(job *j, const group *g, vh_lanes *x, double **first)
{
    vhem_status st = VHEM_OK;
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
        const pair *p = &g->lane[l < g->used ? l : 0];
        x->length[l] = l < g->used ? p->T : 0;
        for (int s = 0; s < S; s++)
            x->pi[s * L + l] = pk->pi[pk->state0[p->k] + s];
        for (int e = 0; e < S * S; e++)
            x->A[e * L + l] = pk->A[pk->trans0[p->k] + (size_t)e];
    }
    memcpy(*first, g->B, sizeof **first * (size_t)(S * L));      /* backward overwrites it */
done:
    return st;
}

/* First states and transitions of a finished group; first [S][L] is B of frame 1. */
static void add_chain(job *j, const group *g, const vh_lanes *x, const double *first)
{
    int S = g->S, L = g->L;
    for (int l = 0; l < g->used; l++) {
        const pair *p = &g->lane[l];
        if (p->redo)
            continue;
        double w = vh_data_weight(j->batch->data, j->batch->seq[p->n]);
        double *nu1 = j->stats->nu1 + j->pk->state0[p->k], *xi = j->stats->xi + j->pk->trans0[p->k];
        for (int s = 0; s < S; s++)
            nu1[s] += w * first[s * L + l] * g->B[s * L + l];
        for (int e = 0; e < S * S; e++)
            xi[e] += w * x->A[e * L + l] * x->X[e * L + l];
    }
}

static vhem_status recurse(job *j, group *g)
{
    vhem_status st = VHEM_OK;
    vh_lanes x = { .S = g->S, .T = g->T, .B = g->B };
    bool look = j->stats != NULL;
    double *first;

    VH_TRY(load_lanes(j, g, &x, &first));
    VH_NAME(vh_lanes_forward)(g->L, &x);
    for (int l = 0; l < g->used && !look; l++)
        look = !mixes(j->pk, g->lane[l].k);
    if (look)
        VH_NAME(vh_lanes_backward)(g->L, &x);
    for (int l = 0; l < g->used; l++) {
        g->lane[l].redo = !(x.doubt[l] < (look ? DOUBT : DOUBT * MIXING));
        g->lane[l].loglik += x.loglik[l];
    }
    if (j->stats)
        add_chain(j, g, &x, first);
done:
    return st;
}

/* ---- 4. collecting ------------------------------------------------------------------------------------- */

/* Posterior over B from the lanes back into the table B of the chunk, times the weight of the sequence. */
static void collect(job *j, int64_t c0, int n)
{
    for (int i = 0; i < j->n_group; i++) {
        group *g = &j->groups[i];
        lane_parts x = find_parts(j, g, c0, n);
        size_t step = (size_t)g->S * (size_t)g->L;
        double w[VH_LANES];
        for (int l = 0; l < x.used; l++)
            w[l] = vh_data_weight(j->batch->data, j->batch->seq[g->lane[l].n]);
        for (int s = 0; s < g->S; s++) {
            const double *restrict from = g->B + ((size_t)x.t0 * (size_t)g->S + (size_t)s) * (size_t)g->L;
            double *to[VH_LANES];
            for (int l = 0; l < x.used; l++)
                to[l] = j->B + (x.row0[l] + (size_t)s) * j->ld + x.col[l];
            int t = 0;
            for (; x.used == VH_LANES && t < x.common; t++, from += step)
                for (int l = 0; l < VH_LANES; l++)
                    to[l][t] = w[l] * from[l];
            for (; t < x.common; t++, from += step)
                for (int l = 0; l < x.used; l++)
                    to[l][t] = w[l] * from[l];
            for (int l = 0; l < x.used; l++) {
                for (int u = t; u < x.len[l]; u++)
                    to[l][u] = w[l] * from[(size_t)(u - t) * step + (size_t)l];
                if (g->lane[l].redo)                     /* it may hold NaN */
                    memset(to[l], 0, sizeof *to[l] * (size_t)x.len[l]);
            }
        }
    }
}

/* E := posterior of each component, E times the posterior over B of its state. */
static void posteriors(job *j, int n)
{
    const vh_packed *pk = j->pk;
    for (int k = 0; k < pk->K; k++)
        for (int q = 0; q < pk->comp0[k + 1] - pk->comp0[k]; q++) {
            double *restrict e = j->E + (size_t)(pk->comp0[k] + q) * j->ld;
            const double *restrict b = j->B + (size_t)(pk->state0[k] + q / pk->M[k]) * j->ld;
#pragma omp simd
            for (int f = 0; f < n; f++)
                e[f] *= b[f];
        }
}

/* Components in the direct form have their statistics about their own mean; they leave the product. */
static vhem_status part_about(job *j, const double *y, int at, int len)
{
    const vh_packed *pk = j->pk;
    double *T = j->work + vh_emission_work(pk->d);
    for (int r = 0; r < pk->n_comp; r++)
        if (pk->direct[r]) {
            double *e = j->E + (size_t)r * j->ld + at;
            pk->family->stats_of_obs(&pk->about[r], y, len, T);
            vh_gemm_nn_add(1, pk->n_stat, len, e, j->ld, T, j->stats->T + (size_t)r * (size_t)pk->n_stat);
            memset(e, 0, sizeof *e * (size_t)len);
        }
    return VHEM_OK;
}

static vhem_status add_chunk(job *j, int64_t c0, int n)
{
    vhem_status st = VHEM_OK;
    collect(j, c0, n);
    posteriors(j, n);
    if (j->pk->n_direct)
        VH_TRY(for_parts(j, c0, n, part_about));
    vh_gemm_nn_add(j->pk->n_comp, j->pk->n_stat, n, j->E, j->ld, j->T, j->stats->T);
done:
    return st;
}

/* Log-likelihoods out; pairs where scaling was not safe are done again, in logs. */
static vhem_status finish(job *j, double *loglik)
{
    vhem_status st = VHEM_OK;
    vhem_ctx *ctx = j->ctx;
    for (int i = 0; i < j->n_pair; i++) {
        pair *p = &j->pairs[i];
        int seq = j->batch->seq[p->n];
        double w = vh_data_weight(j->batch->data, seq);
        if (p->redo)
            VH_TRY(vh_ref_pair(ctx, j->pk, p->k, vh_data_frames(j->batch->data, seq), p->T, w, j->scratch,
                               &p->loglik, j->stats));
        else if (j->stats)
            j->stats->loglik[p->k] += w * p->loglik;
        VH_CHECK(!isnan(p->loglik), VHEM_ENUMERIC, "the log-likelihood is not a number");
        loglik[(size_t)p->n * (size_t)j->pk->K + (size_t)p->k] = p->loglik;
    }
done:
    return st;
}

vhem_status VH_NAME(vh_simd_forward_backward)(vhem_ctx *ctx, const vh_packed *pk, const vh_batch *batch,
                                              vh_scratch *scratch, double *loglik, vh_stats *stats)
{
    vhem_status st = VHEM_OK;
    job j = { .ctx = ctx, .pk = pk, .batch = batch, .scratch = scratch, .stats = stats };

    VH_TRY(set_up(&j));
    bool kept = batch->frames <= j.chunk;
    for (int64_t c0 = 0; c0 < batch->frames; c0 += j.chunk) {
        int n = batch->frames - c0 < j.chunk ? (int)(batch->frames - c0) : j.chunk;
        VH_TRY(make_chunk(&j, c0, n));
        deal(&j, c0, n);
    }
    for (int g = 0; g < j.n_group; g++)
        VH_TRY(recurse(&j, &j.groups[g]));
    for (int64_t c0 = 0; stats && c0 < batch->frames; c0 += j.chunk) {
        int n = batch->frames - c0 < j.chunk ? (int)(batch->frames - c0) : j.chunk;
        if (!kept)
            VH_TRY(make_chunk(&j, c0, n));
        VH_TRY(add_chunk(&j, c0, n));
    }
    VH_TRY(finish(&j, loglik));
done:
    free(j.pairs);
    free(j.groups);
    return st;
}
