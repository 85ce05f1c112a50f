/* SPDX-License-Identifier: BSD-3-Clause */
/* forward_backward_exact.c - log-likelihoods under HMMs with few transitions, however badly a sequence fits.
 *
 *   alpha_t(s) = sum_q alpha_t-1(q) a_qs b_t(s),   alpha_1(s) = pi_s b_1(s),   p(y) = sum_s alpha_T(s)
 *
 * Scaling by one factor per frame, as in lanes.h, fails where the only state that a chain can be in explains
 * a frame far worse than the others do: the path is lost, and no other leads back to its states.  If one
 * frame has it lost by the forward recursion and a later one by the backward recursion, neither can
 * know.  So likelihoods are computed here, and where they differ from those with scaling, posteriors are
 * computed again in logs.
 *
 * Here every number is m 2^e with its own e, an integer in a double:
 * none overflows or underflows, and no pair has to be done again in logs.  A sum takes the larger e of its
 * terms; the other term is multiplied by a power of two, which is exact: the result does not depend on where
 * frames are cut.  That takes no log, and one exp for each component and frame, which does not wait for
 * the recursion: less than a recursion in logs.  A frame moves m by a few bits; after VH_LANES frames its
 * exponent goes to e.
 *
 * 0 has m = 0 and an e that no product of others reaches: it adds nothing. */
#include "simd/forward_backward.h"

#include "simd/vec.h"
#include "core/alloc.h"
#include "core/array2.h"

#include <math.h>
#include <string.h>

#define NONE   (-1e305)           /* e of 0 */
#define TWO_52 4503599627370496.0 /* added to a small integer, leaves it in the lowest bits */

enum { BLOCK = VH_LANES, TOGETHER = VEC_TOGETHER < BLOCK ? VEC_TOGETHER : BLOCK };

typedef vec number[2]; /* m and e */

/* 2^e for an integer e <= 0; 0 below -1022. */
VEC_INLINE
vec power(vec e)
{
    return (vec)((vec_bits)(vec_max(e, vec_all(-1023)) + (TWO_52 + 1023)) << 52);
}

/* to may be a or b, here and below. */
VEC_INLINE
void multiply(number to, const number a, const number b)
{
    to[0] = a[0] * b[0];
    to[1] = a[1] + b[1];
}

VEC_INLINE
void add(number to, const number a, const number b)
{
    vec e = vec_max(a[1], b[1]);
    to[0] = a[0] * power(a[1] - e) + b[0] * power(b[1] - e);
    to[1] = e;
}

/* Brings m to [1, 2), unless it is 0; e stays finite however many frames are impossible. */
VEC_INLINE
void normalise(number a)
{
    vec_bits high = (vec_bits)a[0] & 0x7ff0000000000000; /* the exponent of m, plus 1023 */
    vec down = (vec)(0x7fe0000000000000 - high);
    vec e = (vec)((high >> 52) + 0x4330000000000000) - (TWO_52 + 1023);
    a[0] *= down;
    a[1] = vec_max(a[1] + e, vec_all(10 * NONE));
}

/* ---- groups -------------------------------------------------------------------------------------------- */

/* Sets lane l of a number to p >= 0. */
static void set(number to, int l, double p)
{
    int e = 0;
    to[0][l] = frexp(p, &e);
    to[1][l] = p > 0 ? e : NONE;
}

/* Puts the HMMs in the lanes, before their first frame; unused lanes have the first one. */
static void load_hmms(const vh_packed *pk, const vh_fb_group *g)
{
    int S = g->S;
    number *alpha = (number *)g->alpha, *move = (number *)g->move;
    for (int l = 0; l < VH_LANES; l++) {
        int k = g->lane[l < g->used ? l : 0].k;
        const double *pi = pk->pi + pk->state0[k], *A = pk->A + pk->trans0[k];
        for (int s = 0; s < S; s++) {
            set(alpha[s], l, pi[s]);
            for (int e = g->first[s]; e < g->first[s + 1]; e++)
                set(move[e], l, A[g->from[e] * S + s]);
        }
    }
}

/* Lists the states that lead to each state in some lane. */
static void find_moves(const vh_packed *pk, vh_fb_group *g)
{
    int n = 0, S = g->S;
    for (int s = 0; s < S; s++) {
        g->first[s] = n;
        for (int q = S - 1; q >= 0; q--) {
            bool leads = false;
            for (int l = 0; l < g->used && !leads; l++)
                leads = pk->A[pk->trans0[g->lane[l].k] + (size_t)(q * S + s)] > 0;
            if (leads)
                g->from[n++] = q;
        }
    }
    g->first[S] = n;
}

vhem_status VH_NAME(vh_fb_exact_groups)(vh_fb *j, vh_fb_pair *pairs, int n, int slot)
{
    vhem_ctx *ctx = j->ctx;
    vh_scratch *scratch = j->scratch;
    vh_fb_group *groups = j->groups + j->n_group;
    size_t lists = 0, numbers = 0, most = 0;
    double *memory;

    j->n_exact = 0;
    for (int p = 0; p < n; p += groups[j->n_exact++].used) {
        vh_fb_pair *first = &pairs[p];
        groups[j->n_exact] = (vh_fb_group){
            .L = VH_LANES, .used = vh_fb_alike(first, n - p), .S = first->S, .T = first->T, .lane = first
        };
        lists += (size_t)first->S + 1 + vh_cells(first->S, first->S);
        most = (size_t)first->S > most ? (size_t)first->S : most;
    }
    if (j->n_exact == 0)
        return VHEM_OK;
    free(j->moves);
    VH_NEW(j->moves, lists);
    int *list = j->moves;
    for (int i = 0; i < j->n_exact; i++) {
        vh_fb_group *g = &groups[i];
        g->first = list;
        g->from = list + g->S + 1;
        find_moves(j->pk, g);
        list = g->from + g->first[g->S];
        numbers += (size_t)(2 * g->S + g->first[g->S]);
    }
    VH_SCRATCH(memory, slot, 2 * (BLOCK * most + numbers) * VH_LANES);
    double *own = memory + 2 * BLOCK * most * VH_LANES;
    for (int i = 0; i < j->n_exact; i++) {
        vh_fb_group *g = &groups[i];
        g->B = memory;
        g->alpha = own;
        g->next = own + vh_cells(g->S, 2 * VH_LANES);
        g->move = g->next + vh_cells(g->S, 2 * VH_LANES);
        own = g->move + vh_cells(g->first[g->S], 2 * VH_LANES);
        load_hmms(j->pk, g);
    }
    return VHEM_OK;
}

/* ---- recursion ----------------------------------------------------------------------------------------- */

/* b [BLOCK][S] := exp of the log-densities of a component, in lane l those from at[l] on; more: adds them. */
VEC_INLINE
void exps(const double *const *at, const bool more, int S, number *b)
{
    vec y[BLOCK];
    for (int l = 0; l < VH_LANES; l++)
        memcpy(&y[l], at[l], sizeof y[l]);
    vec_transpose(y);
    VEC_UNROLL
    for (int i = 0; i < BLOCK; i += TOGETHER) {
        vec e[TOGETHER], m[TOGETHER];
        vec_exp_parts(TOGETHER, true, y + i, e, m);
        VEC_UNROLL
        for (int f = 0; f < TOGETHER; f++) {
            number p = { m[f], e[f] - VEC_ROUND };
            if (more)
                add(b[(i + f) * S], b[(i + f) * S], p);
            else
                memcpy(b[(i + f) * S], p, sizeof p);
        }
    }
}

/* The same for a group of one pair: one vector of frames, not one of lanes for each frame. */
VEC_INLINE
void exps_of_one(const double *at, const bool more, int S, number *b)
{
    vec y, e, m;
    memcpy(&y, at, sizeof y);
    vec_exp_parts(1, true, &y, &e, &m);
    for (int f = 0; f < BLOCK; f++) {
        number p = { vec_all(m[f]), vec_all(e[f] - VEC_ROUND) };
        if (more)
            add(b[f * S], b[f * S], p);
        else
            memcpy(b[f * S], p, sizeof p);
    }
}

/* B := p(y_t | s) of BLOCK frames; lane l has the first component of the first state at at[l]. */
static void densities(const vh_fb *j, const vh_fb_group *g, const double **at)
{
    number *b = (number *)g->B;
    for (int s = 0; s < g->S; s++)
        for (int m = 0; m < g->lane->exact; m++) {
            if (g->used == 1)
                exps_of_one(at[0], m > 0, g->S, b + s);
            else if (m == 0)
                exps(at, false, g->S, b + s);
            else
                exps(at, true, g->S, b + s);
            for (int l = 0; l < VH_LANES; l++)
                at[l] += j->ld;
        }
}

VEC_INLINE
void step(vh_fb_group *g, const number *b)
{
    const number *alpha = (const number *)g->alpha, *move = (const number *)g->move;
    number *next = (number *)g->next;
    for (int s = 0; s < g->S; s++) {
        number sum = { vec_all(0), vec_all(NONE) };
        int e = g->first[s], end = g->first[s + 1];
        if (e < end)
            multiply(sum, alpha[g->from[e]], move[e]);
        for (e++; e < end; e++) {
            number come;
            multiply(come, alpha[g->from[e]], move[e]);
            add(sum, sum, come);
        }
        multiply(next[s], sum, b[s]);
    }
    g->next = g->alpha;
    g->alpha = (double *)next;
}

static void first_step(const vh_fb_group *g, const number *b)
{
    number *alpha = (number *)g->alpha;
    for (int s = 0; s < g->S; s++)
        multiply(alpha[s], alpha[s], b[s]);
}

/* Computes the log-likelihoods of lanes from .. to-1; where a number is not finite, they are left to redo. */
static void end_lanes(const vh_fb_group *g, int from, int to)
{
    const number *alpha = (const number *)g->alpha;
    number p = { alpha[0][0], alpha[0][1] };
    for (int s = 1; s < g->S; s++)
        add(p, p, alpha[s]);
    vec low = p[1] * 1.90821492927058770002e-10 + vec_log(p[0]); /* ln 2 in two parts, as in vec.h */
    vec loglik = p[1] * 6.93147180369123816490e-01 + low, m = p[0];
    for (int l = from; l < to; l++) {
        g->lane[l].loglik = m[l] > 0 ? loglik[l] : -INFINITY;
        g->lane[l].redo = isnan(m[l]);
    }
}

/* Takes a group through frames c0 .. c0+n-1, which are either whole sequences or part of a single one. */
static void advance(const vh_fb *j, vh_fb_group *g, int64_t c0, int n)
{
    const double *row[VH_LANES], *at[VH_LANES];
    int len[VH_LANES],
        open = g->used; /* number of frames, at most those of the lane before; lanes with more */

    for (int l = 0; l < VH_LANES; l++) {
        const vh_fb_pair *p = &g->lane[l < g->used ? l : 0];
        int64_t lo = p->f0 > c0 ? p->f0 : c0, hi = p->f0 + p->T < c0 + n ? p->f0 + p->T : c0 + n;
        row[l] = j->E + (size_t)j->pk->comp0[p->k] * j->ld + (lo - c0);
        len[l] = (int)(hi - lo);
    }
    for (int t = 0; open > 0; t += BLOCK) {
        for (int l = 0; l < VH_LANES; l++)
            at[l] = row[l] + (t < len[l] ? t : 0); /* past its end, a lane may have any */
        densities(j, g, at);
        for (int i = 0; i < BLOCK && open > 0; i++) {
            int before = open;
            if (g->begun)
                step(g, (const number *)g->B + i * g->S);
            else
                first_step(g, (const number *)g->B);
            g->begun = true;
            while (open > 0 && len[open - 1] == t + i + 1)
                open--;
            if (open < before)
                end_lanes(g, open, before);
        }
        for (int s = 0; s < g->S; s++)
            normalise(((number *)g->alpha)[s]);
    }
}

void VH_NAME(vh_fb_exact)(vh_fb *j, int64_t c0, int n)
{
    for (int i = 0; i < j->n_exact; i++)
        advance(j, &j->groups[j->n_group + i], c0, n);
}
