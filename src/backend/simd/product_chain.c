/* product_chain.c - see product.h: the chains of the probability product kernel.
 *
 * Psi over its largest term, and F scaled by a power of two every step, whose exponents are added: a step is
 * two small matrix products and no log.
 *
 * Where chains have zeros, what matters in the end may be far below the largest: terms of Psi under e^-700 of
 * the top and entries of F under 1e-308 are lost.  Then a second walk, with Psi and F raised by more than can
 * be lost, gives an upper bound; when both agree, both are right, and else the reference has to be asked.  No
 * step may make the largest entry smaller than LEAST, so that what a step loses stays below RAISE. */
#include "backend/simd/product.h"

#define UNROLL _Pragma("GCC unroll 8")

#define LOST       (-690.0)              /* from here on exp is taken as zero, more or less */
#define LOST_TERM  1e-299                /* e^-690, and more than is lost below */
#define LEAST      1e-100
#define RAISE      1e-215
#define AGREE      1e-11                 /* nats */

/* Psi [Sa][Sb] over exp(top); returns top.  *low becomes the smallest x - top, NaN where an x is. */
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
    vec      most, low;                  /* the smallest of the largest entries of steps, the smallest entry */
    vec_bits exponent;
} watch;

/* F over a power of two, so that its largest entry is in [1, 2), plus raise. */
VEC_INLINE void scale(vec *restrict F, const int n, double raise, watch *w)
{
    vec most = F[0], low;
    UNROLL for (int e = 1; e < n; e++)
        most = vec_max(F[e], most);
    vec_bits exponent = (vec_bits)most >> 52;
    vec by = (vec)((2046 - exponent) << 52);
    w->exponent += exponent;
    w->most = vec_min(most, w->most);
    F[0] = F[0] * by + raise;
    low = F[0];
    UNROLL for (int e = 1; e < n; e++) {
        F[e] = F[e] * by + raise;
        low = vec_min(F[e], low);
    }
    w->low = vec_min(low, w->low);
}

/* log sum F_tau in units of exp(tau top). */
VEC_INLINE vec walk(vh_product_chain *c, const int Sa, const int Sb, double raise, watch *w)
{
    const vec *restrict Psi = c->Psi, *restrict B = c->A_b;
    const double *restrict A = c->A_a;
    vec *restrict F = c->F, *restrict G = c->G;
    for (int s = 0; s < Sa; s++)
        for (int r = 0; r < Sb; r++)
            F[s * Sb + r] = c->pi_a[s] * c->pi_b[r] * Psi[s * Sb + r];
    scale(F, Sa * Sb, raise, w);
    for (int t = 2; t <= c->tau; t++) {
        for (int s = 0; s < Sa; s++)
            for (int r = 0; r < Sb; r++) {
                vec sum = F[s * Sb] * B[r];
                UNROLL for (int q = 1; q < Sb; q++)
                    sum += F[s * Sb + q] * B[q * Sb + r];
                G[s * Sb + r] = sum;
            }
        for (int s = 0; s < Sa; s++)
            for (int r = 0; r < Sb; r++) {
                vec sum = A[s] * G[r];
                UNROLL for (int q = 1; q < Sa; q++)
                    sum += A[q * Sa + s] * G[q * Sb + r];
                F[s * Sb + r] = sum * Psi[s * Sb + r];
            }
        scale(F, Sa * Sb, raise, w);
    }
    vec sum = F[0];
    for (int e = 1; e < Sa * Sb; e++)
        sum += F[e];
    vec e = (vec)(w->exponent + 0x4338000000000000) - VEC_ROUND;
    return vec_log(sum) + (e - 1023.0 * c->tau) * 6.93147180559945309417e-01;
}

static vec walk_of(vh_product_chain *c, double raise, watch *w)
{
    switch (c->Sa == c->Sb ? c->Sa : 0) {
    case 2:  return walk(c, 2, 2, raise, w);
    case 3:  return walk(c, 3, 3, raise, w);
    case 4:  return walk(c, 4, 4, raise, w);
    case 5:  return walk(c, 5, 5, raise, w);
    case 6:  return walk(c, 6, 6, raise, w);
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
