/* SPDX-License-Identifier: BSD-3-Clause */
/* state_order.c - see state_order.h. */
#include "methods/state_order.h"

#include "vhem/pair_bound.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "parallel/map.h"
#include "math/logsum.h"

#include <string.h>

/* A chain has forgotten its start long before this many steps. */
enum { MAX_STEPS = 1000 };

void vh_occupancy(const vh_hmm *h, int tau, double *time, double *work)
{
    double *now = work, *next = work + h->S;
    int S = h->S, steps = tau < MAX_STEPS ? tau : MAX_STEPS;
    memcpy(now, h->pi, sizeof *now * (size_t)S);
    memset(time, 0, sizeof *time * (size_t)S);
    for (int t = 0; t < steps; t++) {
        memset(next, 0, sizeof *next * (size_t)S);
        for (int s = 0; s < S; s++) {
            time[s] += now[s];
            for (int q = 0; q < S; q++)
                next[q] += now[s] * h->A[s * S + q];
        }
        memcpy(now, next, sizeof *now * (size_t)S);
    }
}

/* State s of the result is state from[s] of old. */
static void permute(const vh_h3m *h3m, const vh_hmm *old, const int *from, vh_hmm *h)
{
    int S = h->S, M = h->M;
    for (int s = 0; s < S; s++) {
        h->pi[s] = old->pi[from[s]];
        for (int q = 0; q < S; q++)
            h->A[s * S + q] = old->A[from[s] * S + from[q]];
        memcpy(vh_hmm_c(h) + s * M, vh_hmm_c(old) + from[s] * M, sizeof *h->theta * (size_t)M);
        for (int m = 0; m < M; m++) {
            double *a[VH_MAX_PARAM], *b[VH_MAX_PARAM];
            vh_hmm_component(h3m, old, from[s], m, a);
            vh_hmm_component(h3m, h, s, m, b);
            for (int p = 0; p < h3m->family->n_param; p++)
                memcpy(b[p], a[p], sizeof *b[p] * vh_param_size(h3m->family, p, &h3m->shape));
        }
    }
}

vhem_status vh_state_order(vhem_ctx *ctx, const vh_hmm *h, int tau, int *from)
{
    VH_AUTOFREE double *time = NULL;

    VH_NEW(time, 3 * (size_t)h->S);
    vh_occupancy(h, tau, time, time + h->S);
    for (int s = 0; s < h->S; s++) { /* a stable sort */
        int k = s;
        for (; k > 0 && time[from[k - 1]] < time[s]; k--)
            from[k] = from[k - 1];
        from[k] = s;
    }
    return VHEM_OK;
}

/* E_a[log p(y | b)] for state s of a and state q of b, averaged over their mixtures; false if b is
 * singular. */
static bool cross(const vh_h3m *h3m, const vh_hmm *a, int s, const vh_hmm *b, int q, double *work,
                  double *out)
{
    double sum = 0, one;
    for (int m = 0; m < a->M; m++)
        for (int l = 0; l < b->M; l++) {
            double *from[VH_MAX_PARAM], *to[VH_MAX_PARAM];
            vh_hmm_component(h3m, a, s, m, from);
            vh_hmm_component(h3m, b, q, l, to);
            if (!h3m->family->expected_density(&h3m->shape, (const double *const *)to,
                                               (const double *const *)from, 1, &one, 1, work))
                return false;
            sum += vh_hmm_c(a)[s * a->M + m] * vh_hmm_c(b)[q * b->M + l] * one;
        }
    *out = sum;
    return true;
}

/* Dissimilarity of states, D [S of a][S of b]: E_a[log a - log b] + E_b[log b - log a]; false if singular. */
static bool unlikeness(const vh_h3m *h3m, const vh_hmm *a, const vh_hmm *b, double *D, double *work)
{
    double aa, ab, ba, bb;
    for (int s = 0; s < a->S; s++)
        for (int q = 0; q < b->S; q++) {
            if (!cross(h3m, a, s, a, s, work, &aa) || !cross(h3m, a, s, b, q, work, &ab)
                || !cross(h3m, b, q, a, s, work, &ba) || !cross(h3m, b, q, b, q, work, &bb))
                return false;
            D[s * b->S + q] = aa - ab + bb - ba;
        }
    return true;
}

/* Reorders from [S of h], sorted by time, to match the states of `first`: greedily, most similar pair first;
 * unmatched states follow. */
static vhem_status match_states(vhem_ctx *ctx, const vh_h3m *h3m, const vh_hmm *first, const vh_hmm *h,
                                int *from)
{
    int S = h->S, n = 0;
    VH_AUTOFREE int *mate = NULL /* of each state of first */, *left = NULL;
    VH_AUTOFREE bool *taken = NULL;
    VH_AUTOFREE double *D = NULL, *work = NULL;

    VH_NEW(D, vh_cells(first->S, S));
    VH_NEW(work, vh_emission_room(h3m->family, &h3m->shape));
    VH_NEW(mate, first->S);
    VH_NEW(left, S);
    VH_NEW(taken, S);
    if (!unlikeness(h3m, first, h, D, work))
        return VHEM_OK; /* keep the order by time */
    for (int s = 0; s < first->S; s++)
        mate[s] = -1;
    for (int pairs = first->S < S ? first->S : S; pairs > 0; pairs--) {
        int s = -1, q = -1;
        for (int a = 0; a < first->S; a++)
            for (int b = 0; b < S; b++)
                if (mate[a] < 0 && !taken[b] && (s < 0 || D[a * S + b] < D[s * S + q])) {
                    s = a;
                    q = b;
                }
        mate[s] = q;
        taken[q] = true;
    }
    memcpy(left, from, sizeof *left * (size_t)S);
    for (int s = 0; s < first->S; s++)
        if (mate[s] >= 0)
            from[n++] = mate[s];
    for (int k = 0; k < S; k++)
        if (!taken[left[k]])
            from[n++] = left[k];
    return VHEM_OK;
}

static vhem_status order_hmm(vhem_ctx *ctx, const vh_h3m *h3m, int tau, const vh_hmm *first, vh_hmm *h)
{
    size_t n = vh_hmm_numbers(h);
    vh_hmm old = *h;
    VH_AUTOFREE int *from = NULL;
    VH_AUTOFREE double *numbers = NULL;

    VH_NEW(from, h->S);
    VH_NEW(numbers, n);
    old.pi = numbers;
    memcpy(numbers, h->pi, sizeof *h->pi * n);
    old.A = old.pi + (h->A - h->pi);
    old.theta = old.pi + (h->theta - h->pi);
    VH_TRY(vh_state_order(ctx, h, tau, from));
    if (first != h)
        VH_TRY(match_states(ctx, h3m, first, h, from));
    permute(h3m, &old, from, h);
    return VHEM_OK;
}

vhem_status vh_order_states(vhem_ctx *ctx, vh_h3m *h3m, int tau)
{
    for (int64_t j = 0; j < h3m->K; j++)
        VH_TRY(order_hmm(ctx, h3m, tau, &h3m->hmm[0], &h3m->hmm[j]));
    return VHEM_OK;
}

/* ---- state maps of members ----------------------------------------------------------------------------- */

/* Fills map [Sb] of the base HMM of a pair. */
static vhem_status map_one(vhem_ctx *ctx, const vh_reduce_pair *pair, vh_scratch *scratch, int *map)
{
    int Sb = pair->base->S[pair->i], Sr = pair->reduced->S[pair->j];
    double *nu, L;

    VH_SCRATCH(nu, VH_SCRATCH_SLOTS - 1, Sb * Sr);
    VH_TRY(vh_ref_reduce_pair(ctx, pair, scratch, &L, NULL, nu));
    for (int b = 0; b < Sb; b++)
        map[b] = vh_argmax(Sr, nu + b, Sb);
    return VHEM_OK;
}

typedef struct {
    const vh_base *base;
    const vh_packed *reduced;
    const int *label; /* [Kb] */
    int tau;
    vh_scratch *scratch; /* [threads] */
    int *map;
    const int64_t *at; /* [Kb+1] */
} mapping;

/* Maps chunk c, packed into block. */
static vhem_status map_block(vhem_ctx *ctx, const mapping *m, int64_t c, int worker, vh_packed *block)
{
    VH_TRY(vh_base_block(ctx, m->base, c, block));
    for (int p = 0; p < block->K; p++) {
        int64_t i = m->base->order[c * VH_REDUCE_CHUNK + p];
        const vh_reduce_pair pair = { block, m->reduced, m->tau, p, m->label[i], 0 };
        VH_TRY(map_one(ctx, &pair, &m->scratch[worker], m->map + m->at[i]));
    }
    return VHEM_OK;
}

static vhem_status map_chunk(vhem_ctx *ctx, void *arg, int64_t c, int worker)
{
    const mapping *m = arg;
    vh_packed block = { 0 };

    vhem_status st = map_block(ctx, m, c, worker, &block);
    vh_base_release(m->base, &block);
    return st;
}

vhem_status vh_map_states(vhem_ctx *ctx, const vh_base *base, const vh_h3m *centers, const int *label,
                          int tau, int **map_out, int64_t **at_out)
{
    VH_OWN(vh_packed) *pk = NULL;
    VH_AUTOFREE int *map = NULL;
    VH_AUTOFREE int64_t *at = NULL;
    VH_CLEANUP(vh_workers_free) vh_workers workers = { 0 };
    mapping m = { .base = base, .label = label, .tau = tau };
    const vh_work chunks = { .n = vh_base_chunks(base), .finishes = true, .run = map_chunk, .arg = &m };

    VH_TRY(vh_workers_new(ctx, ctx->threads, &workers));
    m.scratch = workers.scratch;
    VH_NEW(at, (size_t)base->Kb + 1);
    for (int64_t i = 0; i < base->Kb; i++)
        at[i + 1] = at[i] + vh_base_states(base, i);
    m.at = at;
    VH_NEW(map, at[base->Kb]);
    m.map = map;
    VH_TRY(vh_base_pack_centers(ctx, base, centers, NULL, centers->K, &pk));
    VH_TRY(vh_pack_update(ctx, centers, NULL, pk));
    m.reduced = pk;
    VH_TRY(vh_map(ctx, &chunks, NULL));
    *map_out = vh_take(map);
    *at_out = vh_take(at);
    return VHEM_OK;
}
