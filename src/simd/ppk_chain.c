/* SPDX-License-Identifier: BSD-3-Clause */
/* ppk_chain.c - see ppk.h: the chains of the probability product kernel.
 *
 * Psi is divided by its largest term, and F is scaled by a power of two every few steps, with the exponents
 * summed: a step is two small matrix products and no log.
 *
 * If chains have zeros, small terms may decide the result: terms of Psi under e^-700 of the maximum and
 * entries of F under NOTHING are lost.  A second walk, with Psi and F raised by more than can be lost, then
 * gives an upper bound; if both agree, both are right, otherwise the reference is used.  Between two scalings
 * the largest entry must stay above LEAST, so that losses stay below RAISE.
 *
 * Long tau: the walk is a power iteration; once F only grows by a constant factor, the remaining steps
 * multiply it by a power of that factor. */
#include "simd/ppk.h"

#include <string.h>

#define UNROLL _Pragma("GCC unroll 16")

enum { STEPS = 4, FEW = 8 }; /* steps between two scalings; states that fit in registers */

#define LOST      (-690.0) /* below this, exp is nearly zero */
#define LOST_TERM 1e-299   /* e^-690, more than the terms lost below it */
#define LEAST     1e-100
#define NOTHING   1e-290 /* smaller entries become 0: subnormal numbers are slow */
#define RAISE     1e-180 /* NOTHING / LEAST, times the growth over STEPS steps */
#define AGREE     1e-11  /* nats */

enum { WORTH_LOOKING = 32 }; /* shorter chains compute every step */
#define SETTLED     1e-14    /* rounding of one step */
#define SETTLED_ALL 5e-12    /* nats, over all skipped steps */

/* Psi [Sa][Sb] divided by exp(top); returns top.  *low becomes the smallest x - top, NaN if any x is NaN. */
static vec emissions(const vh_product_chain *c, vec *low)
{
    const int Cb = c->Sb * c->Mb, n = c->Sa * c->Ma * Cb;
    vec top = c->x[0], least = c->x[0], sum = { 0 };
    for (int e = 0; e < n; e++) {
        top = vec_max(c->x[e], top);
        least = vec_min(c->x[e], least);
        sum += c->x[e];
    }
    for (int s = 0; s < c->Sa; s++)
        for (int r = 0; r < c->Sb; r++) {
            vec Psi = { 0 };
            for (int m = s * c->Ma; m < (s + 1) * c->Ma; m++)
                for (int l = r * c->Mb; l < (r + 1) * c->Mb; l++)
                    Psi += vec_exp_or_0(c->x[m * Cb + l] - top);
            c->Psi[s * c->Sb + r] = Psi;
        }
    *low = (vec)((vec_bits)(least - top) | (vec_bits)(sum != sum));
    return top;
}

typedef struct {
    vec most, low; /* minimum over steps of the largest entry; the smallest entry */
    vec_bits exponent;
    int n; /* number of scalings */
} watch;

/* Scales F by a power of two so that its largest entry is in [1, 2), then adds raise.  Four running maxima
 * shorten the dependency chain. */
VEC_INLINE
void scale(vec *restrict F, const int n, double raise, watch *w)
{
    vec most[4] = { F[0], F[0], F[0], F[0] }, low[4];
    UNROLL
    for (int e = 1; e < n; e++)
        most[e % 4] = vec_max(F[e], most[e % 4]);
    vec top = vec_max(vec_max(most[0], most[1]), vec_max(most[2], most[3]));
    vec_bits exponent = (vec_bits)top >> 52;
    vec by = (vec)((2046 - exponent) << 52);
    w->exponent += exponent;
    w->n++;
    w->most = vec_min(top, w->most);
    for (int e = 0; e < 4; e++)
        low[e] = w->low;
    UNROLL
    for (int e = 0; e < n; e++) {
        vec x = F[e] * by;
        F[e] = (vec)((vec_bits)x & (vec_bits)(x > NOTHING)) + raise;
        low[e % 4] = vec_min(F[e], low[e % 4]);
    }
    w->low = vec_min(vec_min(low[0], low[1]), vec_min(low[2], low[3]));
}

/* F(q, q') := Psi(q, q') sum_s a_{s q} sum_s' a'_{s' q'} F(s, s'), one q' at a time, so that the inner sums
 * g(s) stay in registers. */
VEC_INLINE
void step(vh_product_chain *c, const int Sa, const int Sb)
{
    const vec *restrict Psi = c->Psi, *restrict B = c->A_b, *restrict F = c->F;
    const double *restrict A = c->A_a;
    vec *restrict next = c->next, few[FEW], *g = Sa <= FEW ? few : c->g;
    for (int r = 0; r < Sb; r++) {
        UNROLL
        for (int s = 0; s < Sa; s++) {
            vec sum = F[s * Sb] * B[r];
            UNROLL
            for (int q = 1; q < Sb; q++)
                sum += F[s * Sb + q] * B[q * Sb + r];
            g[s] = sum;
        }
        UNROLL
        for (int s = 0; s < Sa; s++) {
            vec sum = A[s] * g[0];
            UNROLL
            for (int q = 1; q < Sa; q++)
                sum += A[q * Sa + s] * g[q];
            next[s * Sb + r] = sum * Psi[s * Sb + r];
        }
    }
    c->next = c->F;
    c->F = next;
}

/* True if `now`, STEPS steps after F, is mu F in every entry up to a relative error g.  All entries are
 * positive, so n times as many steps then lie between (mu (1 - g))^n F and (mu (1 + g))^n F. */
VEC_INLINE
bool settled(const vec *restrict F, const vec *restrict now, const int n, double g, vec *mu)
{
    vec before = F[0], after = now[0], most = vec_all(-1);
    for (int e = 1; e < n; e++) {
        before += F[e];
        after += now[e];
    }
    *mu = after / before;
    for (int e = 0; e < n; e++) {
        vec want = *mu * F[e], off = now[e] - want;
        most = vec_max(vec_max(off, -off) - g * want, most);
    }
    for (int l = 0; l < VH_LANES; l++)
        if (!(most[l] <= 0 && (*mu)[l] > LEAST))
            return false;
    return true;
}

/* log sum F_tau in units of exp(tau top). */
VEC_INLINE
vec walk(vh_product_chain *c, const int Sa, const int Sb, double raise, watch *w)
{
    const int n = Sa * Sb;
    const bool far = c->tau > WORTH_LOOKING;
    bool look = far;
    vec sum = { 0 }, rest = { 0 }, mu;
    for (int s = 0; s < Sa; s++)
        for (int r = 0; r < Sb; r++)
            c->F[s * Sb + r] = c->pi_a[s] * c->pi_b[r] * c->Psi[s * Sb + r];
    scale(c->F, n, raise, w);
    for (int left = c->tau - 1; left > 0 && !(far && vh_stopped(c->ctx));) {
        if (look)
            memcpy(c->before, c->F, sizeof *c->F * (size_t)n);
        for (int t = 0; t < STEPS && left > 0; t++, left--)
            step(c, Sa, Sb);
        int again = left / STEPS;
        if (look && again > 0 && settled(c->before, c->F, n, SETTLED + SETTLED_ALL / again, &mu)) {
            rest = (double)again * vec_log(mu);
            left -= again * STEPS;
            look = false;
        }
        scale(c->F, n, raise, w);
    }
    for (int e = 0; e < n; e++)
        sum += c->F[e];
    vec e = (vec)(w->exponent + 0x4338000000000000) - VEC_ROUND;
    return vec_log(sum) + rest + (e - 1023.0 * w->n) * 6.93147180559945309417e-01;
}

static vec walk_of(vh_product_chain *c, double raise, watch *w)
{
    switch (c->Sa == c->Sb ? c->Sa : 0) {
    case 2: return walk(c, 2, 2, raise, w);
    case 3: return walk(c, 3, 3, raise, w);
    case 4: return walk(c, 4, 4, raise, w);
    case 5: return walk(c, 5, 5, raise, w);
    case 6: return walk(c, 6, 6, raise, w);
    default: return walk(c, c->Sa, c->Sb, raise, w);
    }
}

void VH_NAME(vh_product_walk)(vh_product_chain *c)
{
    vec low, top = emissions(c, &low);
    watch w = { .most = vec_all(1), .low = vec_all(1) };
    bool doubt = false;
    vec log_F = walk_of(c, 0, &w);
    for (int l = 0; l < VH_LANES; l++) {
        c->good[l] = w.most[l] > LEAST && low[l] == low[l];
        doubt = doubt || !(low[l] > LOST) || !(w.low[l] > RAISE);
    }
    c->log_k = log_F + (double)c->tau * top;
    if (!doubt)
        return;
    watch again = { .most = vec_all(1), .low = vec_all(1) };
    for (int e = 0; e < c->Sa * c->Sb; e++)
        c->Psi[e] += LOST_TERM * (c->Ma * c->Mb);
    vec upper = walk_of(c, RAISE, &again);
    for (int l = 0; l < VH_LANES; l++)
        c->good[l] = c->good[l] && upper[l] - log_F[l] < AGREE;
}
