/* SPDX-License-Identifier: BSD-3-Clause */
/* product.c - the probability product kernel for tiles of HMMs, one HMM of b per vector lane.
 *
 *   1. sides:   both sets in the scale of a, with all that belongs to one component in one weight
 *   2. groups:  HMMs of b of one shape, as many as a vector has lanes, laid side by side
 *   3. rows:    a few HMMs of a at a time against a group: the table of their components, then the chains
 *
 * With log w = lambda log c + (1 - lambda)/2 log |Sigma| the product of two components is
 *   log w_a + log w_b - log |Sigma_a + Sigma_b| / 2 - lambda/2 (quadratic form) + a constant,
 * which is all that depends on the pair.  Pairs for which the short cuts do not hold go to the reference. */
#include "backend/ref/product.h"
#include "backend/simd/product.h"
#include "math/logsum.h"

#include <math.h>
#include <string.h>

#define LOG_4PI 2.5310242469692907930

enum { SLOT_A = 4, SLOT_B, SLOT_CHAIN_A, SLOT_CHAIN_B, SLOT_GROUP, SLOT_TABLE, SLOT_SMALL, SLOT_INVERSE };
enum { MAX_BLOCK = 40, TABLE_ROWS = 64, MOST_FACTORS = 1000 };

#define TINY_POWER 1e-280 /* of a transition that is possible: below that, the reference */

typedef struct { /* 1. HMMs i0 .. i0+n-1 of a set */
    const vh_packed *pk;
    int i0, n, n_comp;
    double *par, *log_w;     /* [n_comp][size] [n_comp] */
    double *pi, *A;          /* [states] [transitions]  to the power lambda */
    double high, low, reach; /* largest and smallest variance, largest mean (diagonal) */
    double least;            /* smallest power that is not zero */
} side;

typedef struct {
    vhem_ctx *ctx;
    const vh_product *p;
    vh_scratch *scratch;
    bool full;
    size_t size;           /* of the parameters of a component */
    double constant;       /* of every product */
    const double *inverse; /* [d]  1 / scale, a power of two: differences of means stay exact */
    int block;             /* dimensions that share a division; 0: none can */
    side a, b;
    /* 2. */
    int used, Sb, Mb, j[VH_LANES]; /* HMMs of b in the lanes; unused lanes repeat the first */
    vec *par, *log_w, *pi, *A;     /* [Cb][size] [Cb] [Sb] [Sb][Sb] */
    vec *small;
} job;

/* ---- 1. sides ------------------------------------------------------------------------------------------ */

static void load_diag(const job *j, const double *const *par, double *out, side *x)
{
    const double *restrict from_mu = par[0], *restrict from_v = par[1], *restrict inverse = j->inverse;
    double high = x->high, low = x->low, reach = x->reach;
#pragma omp simd reduction(max : high, reach) reduction(min : low)
    for (int k = 0; k < x->pk->d; k++) {
        double mu = from_mu[k] * inverse[k], v = from_v[k] * inverse[k] * inverse[k];
        out[2 * k] = mu;
        out[2 * k + 1] = v;
        high = v > high ? v : high;
        low = v < low ? v : low;
        reach = fabs(mu) > reach ? fabs(mu) : reach;
    }
    x->high = high;
    x->low = low;
    x->reach = reach;
}

static void load_full(const job *j, const double *const *par, double *out)
{
    int d = j->p->a->d;
    for (int k = 0; k < d; k++)
        *out++ = par[0][k] * j->inverse[k];
    for (int k = 0; k < d; k++)
        for (int i = 0; i <= k; i++)
            *out++ = par[1][k * d + i] * j->inverse[k] * j->inverse[i];
}

/* A component that is never used: any Gaussian will do. */
static void load_nothing(const job *j, double *out)
{
    int d = j->p->a->d;
    memset(out, 0, sizeof *out * j->size);
    for (int k = 0, e = d; k < d; e += ++k + 1)
        out[j->full ? e : 2 * k + 1] = 1;
}

static double power(double x, double lambda)
{
    return lambda == 0.5 ? sqrt(x) : lambda == 1 ? x : pow(x, lambda);
}

static void load_chain(int n, const double *from, double lambda, double *to, double *least)
{
    for (int e = 0; e < n; e++) {
        to[e] = power(from[e], lambda);
        if (from[e] > 0 && to[e] < *least)
            *least = to[e];
    }
}

static vhem_status load_side(job *j, const vh_packed *pk, const double *self, int i0, int n, int slot,
                             int chain_slot, side *x)
{
    vhem_status st = VHEM_OK;
    vhem_ctx *ctx = j->ctx;
    vh_scratch *scratch = j->scratch;
    int first = pk->comp0[i0], comps = pk->comp0[i0 + n] - first;
    int states = pk->state0[i0 + n] - pk->state0[i0];
    int rows = (comps + VH_PRODUCT_ROWS) / VH_PRODUCT_ROWS * VH_PRODUCT_ROWS + TABLE_ROWS;
    size_t trans = pk->trans0[i0 + n] - pk->trans0[i0];
    double lambda = j->p->lambda;

    *x = (side){ .pk = pk, .i0 = i0, .n = n, .n_comp = comps, .low = INFINITY, .least = 1 };
    VH_SCRATCH(x->par, slot, (size_t)rows * (j->size + 1));
    VH_SCRATCH(x->pi, chain_slot, (size_t)states + trans);
    x->log_w = x->par + (size_t)rows * j->size;
    x->A = x->pi + states;
    for (int q = 0; q < comps; q++) {
        double *out = x->par + (size_t)q * j->size;
        const double *const *par = pk->par + (size_t)(first + q) * VH_MAX_PARAM;
        double c = pk->c[first + q], log_det = -2 * self[first + q] - pk->d * LOG_4PI;
        x->log_w[q] = c > 0 ? lambda * log(c) + (1 - lambda) / 2 * log_det : VH_NEVER;
        if (!(c > 0))
            load_nothing(j, out);
        else if (j->full)
            load_full(j, par, out);
        else
            load_diag(j, par, out, x);
    }
    for (int q = comps; q < rows; q++) { /* rows beyond the last fill up a tile */
        load_nothing(j, x->par + (size_t)q * j->size);
        x->log_w[q] = VH_NEVER;
    }
    load_chain(states, pk->pi + pk->state0[i0], lambda, x->pi, &x->least);
    load_chain((int)trans, pk->A + pk->trans0[i0], lambda, x->A, &x->least);
done:
    return st;
}

/* How many dimensions may share a division, so that den and num = den (sum of squares) stay in range; 0: not
 * even one. */
static int choose_block(const job *j)
{
    double high = log2(fmax(1, j->a.high + j->b.high)), low = log2(fmin(1, j->a.low + j->b.low));
    double square = 2 * log2(fmax(1, j->a.reach + j->b.reach)) - low + log2(j->p->a->d);
    int d = j->p->a->d, block = MAX_BLOCK;
    while (block > 0 && !(block * high + square < 1000 && block * low > -1000))
        block--;
    if (block == 0 || (d + block - 1) / block > MOST_FACTORS)
        return 0;
    int n = (d + block - 1) / block;
    return (d + n - 1) / n;
}

/* ---- 2. groups ----------------------------------------------------------------------------------------- */

/* Space for groups of the shape of HMM i of b. */
static vhem_status set_up_group(job *j, int i)
{
    vhem_status st = VHEM_OK;
    vhem_ctx *ctx = j->ctx;
    vh_scratch *scratch = j->scratch;
    double *at;

    j->Sb = j->b.pk->S[i];
    j->Mb = j->b.pk->M[i];
    size_t Cb = (size_t)(j->Sb * j->Mb), S = (size_t)j->Sb;
    VH_SCRATCH(at, SLOT_GROUP, (Cb * j->size + Cb + S + S * S) * VH_LANES);
    j->par = (vec *)at;
    j->log_w = j->par + Cb * j->size;
    j->pi = j->log_w + Cb;
    j->A = j->pi + S;
done:
    return st;
}

static void load_group(job *j)
{
    const vh_packed *pk = j->b.pk;
    int i0 = j->b.i0;
    size_t Cb = (size_t)(j->Sb * j->Mb), S = (size_t)j->Sb;
    for (int l = 0; l < VH_LANES; l++) {
        int i = j->j[l < j->used ? l : 0];
        const double *par = j->b.par + (size_t)(pk->comp0[i] - pk->comp0[i0]) * j->size;
        const double *log_w = j->b.log_w + (pk->comp0[i] - pk->comp0[i0]);
        const double *pi = j->b.pi + (pk->state0[i] - pk->state0[i0]);
        const double *A = j->b.A + (pk->trans0[i] - pk->trans0[i0]);
        for (size_t e = 0; e < Cb * j->size; e++)
            j->par[e][l] = par[e];
        for (size_t e = 0; e < Cb; e++)
            j->log_w[e][l] = log_w[e];
        for (size_t e = 0; e < S; e++)
            j->pi[e][l] = pi[e];
        for (size_t e = 0; e < S * S; e++)
            j->A[e][l] = A[e];
    }
}

/* ---- 3. rows ------------------------------------------------------------------------------------------- */

/* The chains of HMM i of a and the group; x is where its rows of the table begin. */
static vhem_status one_row(job *j, int i, const vec *x, int b0, int nb, double *log_k)
{
    vhem_status st = VHEM_OK;
    vhem_ctx *ctx = j->ctx;
    const vh_packed *a = j->a.pk;
    int n = a->S[i] * j->Sb;
    vh_product_chain c = { .Sa = a->S[i],
                           .Ma = a->M[i],
                           .Sb = j->Sb,
                           .Mb = j->Mb,
                           .tau = j->p->tau,
                           .pi_a = j->a.pi + (a->state0[i] - a->state0[j->a.i0]),
                           .A_a = j->a.A + (a->trans0[i] - a->trans0[j->a.i0]),
                           .pi_b = j->pi,
                           .A_b = j->A,
                           .x = x,
                           .Psi = j->small,
                           .F = j->small + n,
                           .next = j->small + 2 * n,
                           .before = j->small + 3 * n,
                           .g = j->small + 4 * n };

    VH_NAME(vh_product_walk)(&c);
    for (int l = 0; l < j->used; l++) {
        double *out = &log_k[(size_t)(i - j->a.i0) * (size_t)nb + (size_t)(j->j[l] - b0)];
        *out = c.log_k[l] + j->p->tau * j->constant;
        if (!c.good[l])
            VH_TRY(vh_ref_product_pair(ctx, j->p, i, j->j[l], j->scratch, out));
    }
done:
    return st;
}

/* All rows of the tile against the group, as many at a time as have TABLE_ROWS components together. */
static vhem_status all_rows(job *j, int b0, int nb, double *log_k)
{
    vhem_status st = VHEM_OK;
    vhem_ctx *ctx = j->ctx;
    vh_scratch *scratch = j->scratch;
    const vh_packed *a = j->a.pk;
    int Cb = j->Sb * j->Mb, end = j->a.i0 + j->a.n;
    size_t work = j->full ? VH_NAME(vh_product_work)(a->d) : 0;

    for (int i = j->a.i0, n, comps; i < end; i += n) {
        int S = 0;
        for (n = 0, comps = 0; i + n < end; n++) {
            int more = a->S[i + n] * a->M[i + n];
            if (n > 0 && comps + more > TABLE_ROWS)
                break;
            comps += more;
            S = a->S[i + n] > S ? a->S[i + n] : S;
        }
        int rows = (comps + VH_PRODUCT_ROWS - 1) / VH_PRODUCT_ROWS * VH_PRODUCT_ROWS;
        size_t first = (size_t)(a->comp0[i] - a->comp0[j->a.i0]);
        double *x, *small;
        VH_SCRATCH(x, SLOT_TABLE, (size_t)(rows * Cb) * VH_LANES);
        VH_SCRATCH(small, SLOT_SMALL, (4 * (size_t)(S * j->Sb) + (size_t)S + work) * VH_LANES);
        j->small = (vec *)small;
        vh_product_table t = { a->d,
                               j->full ? comps : rows,
                               Cb,
                               j->p->lambda,
                               j->a.par + first * j->size,
                               j->a.log_w + first,
                               j->par,
                               j->log_w,
                               j->block,
                               j->small + 4 * S * j->Sb + S,
                               (vec *)x };
        if (j->full)
            VH_NAME(vh_product_full)(&t);
        else
            VH_NAME(vh_product_diag)(&t);
        for (int k = 0; k < n; k++)
            VH_TRY(one_row(j, i + k, t.x + (a->comp0[i + k] - a->comp0[i]) * Cb, b0, nb, log_k));
    }
done:
    return st;
}

static vhem_status open_job(job *j, int a0, int na, int b0, int nb)
{
    vhem_status st = VHEM_OK;
    vhem_ctx *ctx = j->ctx;
    vh_scratch *scratch = j->scratch;
    const vh_product *p = j->p;
    int d = p->a->d;
    double *inverse, log_scale = 0;

    VH_SCRATCH(inverse, SLOT_INVERSE, d);
    for (int k = 0; k < d; k++) {
        inverse[k] = scalbn(1.0, -ilogb(p->a->x.scale[k]));
        log_scale -= log(inverse[k]);
    }
    j->inverse = inverse;
    j->full = p->a->family == &vh_gaussian_full;
    j->size = j->full ? (size_t)d + (size_t)d * (size_t)(d + 1) / 2 : 2 * (size_t)d;
    j->constant = 0.5 * d * ((1 - 2 * p->lambda) * VH_LOG_2PI - log(p->lambda)) - log_scale;
    VH_TRY(load_side(j, p->a, p->self_a, a0, na, SLOT_A, SLOT_CHAIN_A, &j->a));
    VH_TRY(load_side(j, p->b, p->self_b, b0, nb, SLOT_B, SLOT_CHAIN_B, &j->b));
    j->block = j->full ? d <= MOST_FACTORS : choose_block(j);
done:
    return st;
}

vhem_status VH_NAME(vh_simd_product)(vhem_ctx *ctx, const vh_product *p, int a0, int na, int b0, int nb,
                                     vh_scratch *scratch, double *log_k)
{
    vhem_status st = VHEM_OK;
    job j = { .ctx = ctx, .p = p, .scratch = scratch };

    if (p->a->family != &vh_gaussian_diag && p->a->family != &vh_gaussian_full)
        return vh_ref_product(ctx, p, a0, na, b0, nb, scratch, log_k);
    VH_TRY(open_job(&j, a0, na, b0, nb));
    if (j.block == 0 || !(fmin(j.a.least, j.b.least) > TINY_POWER))
        return vh_ref_product(ctx, p, a0, na, b0, nb, scratch, log_k);
    for (int i = b0; i < b0 + nb; i += j.used) {
        VH_TRY(set_up_group(&j, i));
        for (j.used = 0; j.used < VH_LANES && i + j.used < b0 + nb; j.used++) {
            if (p->b->S[i + j.used] != j.Sb || p->b->M[i + j.used] != j.Mb)
                break;
            j.j[j.used] = i + j.used;
        }
        load_group(&j);
        VH_TRY(all_rows(&j, b0, nb, log_k));
    }
done:
    return st;
}
