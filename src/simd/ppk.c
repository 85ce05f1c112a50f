/* SPDX-License-Identifier: BSD-3-Clause */
/* ppk.c - the probability product kernel for tiles of HMMs, one HMM of b per vector lane.
 *
 *   1. sides:   both sets in the scale of a, with all factors of a component in one weight
 *   2. groups:  HMMs of b of one shape, one per lane
 *   3. rows:    a few HMMs of a at a time against a group: the table of their components, then the chains
 *
 * Sides and groups are prepared out once per job; a tile only reads them.
 *
 * Non-Gaussian families, and Gaussians with missing columns, fill the table of components themselves, pair by
 * pair; the chains are the same.
 *
 * With log w = lambda log c + (1 - lambda)/2 log |Sigma| the product of two components is
 *   log w_a + log w_b - log |Sigma_a + Sigma_b| / 2 - lambda/2 (quadratic form) + a constant.
 * Pairs for which the fast path fails go to the reference. */
#include "distance/ppk_pair.h"
#include "simd/ppk.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "math/logsum.h"

#include <math.h>
#include <string.h>

#define LOG_4PI 2.5310242469692907930

enum { SLOT_TABLE = 4, SLOT_SMALL, SLOT_FAMILY };
enum { MAX_BLOCK = 40, TABLE_ROWS = 64, MOST_FACTORS = 1000 };

#define TINY_POWER 1e-280 /* powers of nonzero transitions below this go to the reference */

typedef struct {             /* extreme values of an HMM or a tile of HMMs */
    double high, low, reach; /* largest and smallest variance, largest mean (diagonal) */
    double least;            /* smallest power of a nonzero probability */
} lane_extremes;

typedef struct { /* 1. all HMMs of a set */
    const vh_packed *pk;
    double *par, *log_w; /* [n_comp][size] [n_comp]  plus padding rows for the last table */
    double *pi, *A;      /* [states] [transitions]  raised to the power lambda */
    lane_extremes *of;   /* [K] */
} side;

typedef struct { /* 2. HMMs first .. first+used-1 of b, one per lane; unused lanes repeat the first */
    int first, used, S, M;
    vec *par, *log_w, *pi, *A; /* [C][size] [C] [S] [S][S] */
} lane_group_ppk;

typedef struct {
    bool full;
    bool by_family;  /* the family computes the table; size and constant are 0 */
    size_t size;     /* number of parameters of a component */
    double constant; /* added to every product */
    double *inverse; /* [d]  1 / scale, a power of two: differences of means stay exact */
    side a, b;       /* they share arrays when the sets are the same */
    int n_group;
    lane_group_ppk *groups;
    int *group_of; /* [K of b] */
    vec *memory;   /* storage of the groups */
} laid_sets;

VH_OWNED(laid_sets, VH_NAME(vh_simd_product_release))

typedef struct { /* one tile */
    vhem_ctx *ctx;
    const vh_product *p;
    const laid_sets *x;
    const vh_rectangle *r;
    vh_scratch *scratch;
    int block;               /* dimensions that share one division; 0: use the reference */
    const lane_group_ppk *g; /* the current group */
    vec *small;
    double *log_k;
} ppk_block;

/* ---- 1. sides ------------------------------------------------------------------------------------------ */

static void load_diag(const laid_sets *l, const vh_packed *pk, const double *const *par, double *out,
                      lane_extremes *x)
{
    const double *restrict from_mu = par[0], *restrict from_v = par[1], *restrict inverse = l->inverse;
    double high = x->high, low = x->low, reach = x->reach;
#pragma omp simd reduction(max : high, reach) reduction(min : low)
    for (int k = 0; k < pk->d; k++) {
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

static void load_full(const laid_sets *l, int d, const double *const *par, double *out)
{
    for (int k = 0; k < d; k++)
        *out++ = par[0][k] * l->inverse[k];
    for (int k = 0; k < d; k++)
        for (int i = 0; i <= k; i++)
            *out++ = par[1][k * d + i] * l->inverse[k] * l->inverse[i];
}

/* Fills an unused component with a unit Gaussian. */
static void load_nothing(const laid_sets *l, int d, double *out)
{
    memset(out, 0, sizeof *out * l->size);
    for (int k = 0, e = d; k < d && !l->by_family; e += ++k + 1)
        out[l->full ? e : 2 * k + 1] = 1;
}

static double power(double x, double lambda)
{
    return lambda == 0.5 ? sqrt(x) : lambda == 1 ? x : pow(x, lambda);
}

static void load_chain(size_t n, const double *from, double lambda, double *to, double *least)
{
    for (size_t e = 0; e < n; e++) {
        to[e] = power(from[e], lambda);
        if (from[e] > 0 && to[e] < *least)
            *least = to[e];
    }
}

static void load_hmm(const laid_sets *l, const double *self, double lambda, int i, side *x)
{
    const vh_packed *pk = x->pk;
    x->of[i] = (lane_extremes){ .low = INFINITY, .least = 1 };
    for (int q = pk->comp0[i]; q < pk->comp0[i + 1]; q++) {
        double *out = x->par + (size_t)q * l->size;
        const double *const *par = pk->par + (size_t)q * VH_MAX_PARAM;
        double c = pk->c[q], log_det = l->by_family ? 0 : -2 * self[q] - pk->d * LOG_4PI;
        x->log_w[q] = c > 0 ? lambda * log(c) + (1 - lambda) / 2 * log_det : VH_NEVER;
        if (l->by_family)
            continue;
        if (!(c > 0))
            load_nothing(l, pk->d, out);
        else if (l->full)
            load_full(l, pk->d, par, out);
        else
            load_diag(l, pk, par, out, &x->of[i]);
    }
    load_chain((size_t)pk->S[i], pk->pi + pk->state0[i], lambda, x->pi + pk->state0[i], &x->of[i].least);
    load_chain(pk->trans0[i + 1] - pk->trans0[i], pk->A + pk->trans0[i], lambda, x->A + pk->trans0[i],
               &x->of[i].least);
}

static vhem_status load_side(vhem_ctx *ctx, const laid_sets *l, const vh_packed *pk, const double *self,
                             double lambda, side *x)
{
    size_t rows = (size_t)pk->n_comp + VH_PRODUCT_ROWS + TABLE_ROWS;

    x->pk = pk;
    VH_NEW(x->par, rows * l->size);
    VH_NEW(x->log_w, rows);
    VH_NEW(x->pi, pk->n_state);
    VH_NEW(x->A, pk->n_trans);
    VH_NEW(x->of, pk->K);
    for (int i = 0; i < pk->K; i++)
        load_hmm(l, self, lambda, i, x);
    for (size_t q = (size_t)pk->n_comp; q < rows; q++) { /* padding for the last tile */
        load_nothing(l, pk->d, x->par + q * l->size);
        x->log_w[q] = VH_NEVER;
    }
    return VHEM_OK;
}

static void free_side(side *x)
{
    free(x->par);
    free(x->log_w);
    free(x->pi);
    free(x->A);
    free(x->of);
}

/* Number of dimensions that can share one division in a tile with den and num = den (sum of squares) in
 * range; 0 if none, or if a power is too small. */
static int choose_block(const ppk_block *j)
{
    const side *sides[] = { &j->x->a, &j->x->b };
    int d = j->p->a->d, block = MAX_BLOCK, first[] = { j->r->a0, j->r->b0 }, n[] = { j->r->na, j->r->nb };
    double high = 0, low = 0, reach = 0, least = 1;
    for (int s = 0; s < 2; s++) {
        lane_extremes x = { .low = INFINITY, .least = 1 };
        for (int i = first[s]; i < first[s] + n[s]; i++) {
            x.high = fmax(x.high, sides[s]->of[i].high);
            x.low = fmin(x.low, sides[s]->of[i].low);
            x.reach = fmax(x.reach, sides[s]->of[i].reach);
            least = fmin(least, sides[s]->of[i].least);
        }
        high += x.high;
        low += x.low;
        reach += x.reach;
    }
    if (!(least > TINY_POWER))
        return 0;
    if (j->x->by_family)
        return 1;
    if (j->x->full)
        return d <= MOST_FACTORS;
    high = log2(fmax(1, high));
    low = log2(fmin(1, low));
    double square = 2 * log2(fmax(1, reach)) - low + log2(d);
    while (block > 0 && !(block * high + square < 1000 && block * low > -1000))
        block--;
    if (block == 0 || (d + block - 1) / block > MOST_FACTORS)
        return 0;
    int parts = (d + block - 1) / block;
    return (d + parts - 1) / parts;
}

/* ---- 2. groups ----------------------------------------------------------------------------------------- */

static void load_group(const laid_sets *l, lane_group_ppk *g)
{
    const side *b = &l->b;
    size_t C = (size_t)(g->S * g->M), S = (size_t)g->S;
    for (int k = 0; k < VH_LANES; k++) {
        int i = g->first + (k < g->used ? k : 0);
        const double *par = b->par + (size_t)b->pk->comp0[i] * l->size, *log_w = b->log_w + b->pk->comp0[i];
        const double *pi = b->pi + b->pk->state0[i], *A = b->A + b->pk->trans0[i];
        for (size_t e = 0; e < C * l->size; e++)
            g->par[e][k] = par[e];
        for (size_t e = 0; e < C; e++)
            g->log_w[e][k] = log_w[e];
        for (size_t e = 0; e < S; e++)
            g->pi[e][k] = pi[e];
        for (size_t e = 0; e < S * S; e++)
            g->A[e][k] = A[e];
    }
}

/* Groups consecutive HMMs of b of one shape.  A group does not cross the edge of a tile. */
static vhem_status form_groups(vhem_ctx *ctx, laid_sets *l)
{
    const vh_packed *pk = l->b.pk;
    size_t total = 0;

    VH_NEW(l->groups, pk->K);
    VH_NEW(l->group_of, pk->K);
    for (int i = 0; i < pk->K; i += l->groups[l->n_group++].used) {
        lane_group_ppk *g = &l->groups[l->n_group];
        *g = (lane_group_ppk){ .first = i, .S = pk->S[i], .M = pk->M[i] };
        while (g->used < VH_LANES && i + g->used < pk->K && pk->S[i + g->used] == g->S
               && pk->M[i + g->used] == g->M && (g->used == 0 || (i + g->used) % VH_PRODUCT_TILE != 0))
            l->group_of[i + g->used++] = l->n_group;
        total += (size_t)(g->S * g->M) * (l->size + 1) + (size_t)(g->S + g->S * g->S);
    }
    VH_NEW(l->memory, total);
    vec *at = l->memory;
    for (int n = 0; n < l->n_group; n++) {
        lane_group_ppk *g = &l->groups[n];
        g->par = at;
        g->log_w = g->par + (size_t)(g->S * g->M) * l->size;
        g->pi = g->log_w + g->S * g->M;
        g->A = g->pi + g->S;
        at = g->A + g->S * g->S;
        load_group(l, g);
    }
    return VHEM_OK;
}

static vhem_status lay_gaussians(vhem_ctx *ctx, const vh_product *p, laid_sets *l)
{
    int d = p->a->d;
    double log_scale = 0;

    VH_NEW(l->inverse, d);
    for (int k = 0; k < d; k++) {
        l->inverse[k] = scalbn(1.0, -ilogb(p->a->x.scale[k]));
        log_scale -= log(l->inverse[k]);
    }
    l->full = p->a->family->kernel == VH_KERNEL_GAUSSIAN_FULL;
    l->size = l->full ? (size_t)d + (size_t)d * (size_t)(d + 1) / 2 : 2 * (size_t)d;
    l->constant = 0.5 * d * ((1 - 2 * p->lambda) * VH_LOG_2PI - log(p->lambda)) - log_scale;
    return VHEM_OK;
}

vhem_status VH_NAME(vh_simd_product_prepare)(vhem_ctx *ctx, const vh_product *p, void **out)
{
    VH_OWN(laid_sets) *l = NULL;

    VH_NEW(l, 1);
    l->by_family = p->a->family->kernel == VH_KERNEL_OF_FAMILY;
    if (!l->by_family)
        VH_TRY(lay_gaussians(ctx, p, l));
    VH_TRY(load_side(ctx, l, p->a, p->self_a, p->lambda, &l->a));
    if (p->a == p->b)
        l->b = l->a;
    else
        VH_TRY(load_side(ctx, l, p->b, p->self_b, p->lambda, &l->b));
    VH_TRY(form_groups(ctx, l));
    *out = vh_take(l);
    return VHEM_OK;
}

void VH_NAME(vh_simd_product_release)(void *prepared)
{
    laid_sets *l = prepared;
    if (!l)
        return;
    if (l->b.pk != l->a.pk)
        free_side(&l->b);
    free_side(&l->a);
    free(l->inverse);
    free(l->groups);
    free(l->group_of);
    free(l->memory);
    free(l);
}

/* ---- 3. rows ------------------------------------------------------------------------------------------- */

/* True if lane l of the group is in the rectangle. */
static bool is_asked(const ppk_block *j, int l)
{
    int at = j->g->first + l - j->r->b0;
    return l < j->g->used && at >= 0 && at < j->r->nb;
}

/* log of the product of component q of a and component e of the HMM in lane l; NaN if undefined, which sends
 * the pair to the reference and its error message. */
static double one_product(const ppk_block *j, int q, int l, int e, double *work)
{
    const vh_packed *a = j->x->a.pk, *b = j->x->b.pk;
    int to = b->comp0[j->g->first + l] + e;
    double x;
    if (!(a->c[q] > 0) || !(b->c[to] > 0))
        return VH_NEVER;
    if (!a->family->log_product(&a->shape, a->par + (size_t)q * VH_MAX_PARAM,
                                b->par + (size_t)to * VH_MAX_PARAM, j->p->lambda, &x, work))
        return NAN;
    return x < VH_NEVER ? VH_NEVER : x + j->x->a.log_w[q] + j->x->b.log_w[to];
}

/* x [n][C]: components first .. first+n-1 of a against those of the group, computed by the family.  Lanes
 * outside the rectangle repeat one inside. */
static void table_of_family(const ppk_block *j, int first, int n, int C, double *work, vec *x)
{
    int any = 0;
    while (!is_asked(j, any))
        any++;
    for (int q = 0; q < n; q++)
        for (int e = 0; e < C; e++)
            for (int k = 0; k < VH_LANES; k++) {
                int l = (any + k) % VH_LANES;
                x[q * C + e][l] = is_asked(j, l) ? one_product(j, first + q, l, e, work) : x[q * C + e][any];
            }
}

/* Chains of HMM i of a and the group, from its rows x of the table. */
static vhem_status one_row(ppk_block *j, int i, const vec *x)
{
    vhem_ctx *ctx = j->ctx;
    const side *a = &j->x->a;
    const vh_rectangle *r = j->r;
    const lane_group_ppk *g = j->g;
    int n = a->pk->S[i] * g->S;
    vh_product_chain c = { .ctx = ctx,
                           .Sa = a->pk->S[i],
                           .Ma = a->pk->M[i],
                           .Sb = g->S,
                           .Mb = g->M,
                           .tau = j->p->tau,
                           .pi_a = a->pi + a->pk->state0[i],
                           .A_a = a->A + a->pk->trans0[i],
                           .pi_b = g->pi,
                           .A_b = g->A,
                           .x = x,
                           .Psi = j->small,
                           .F = j->small + n,
                           .next = j->small + 2 * n,
                           .before = j->small + 3 * n,
                           .g = j->small + 4 * n };

    VH_NAME(vh_product_walk)(&c);
    VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "stopped while a kernel was computed");
    for (int l = 0; l < g->used; l++) {
        int at = g->first + l - r->b0;
        if (!is_asked(j, l))
            continue;
        double *out = &j->log_k[vh_ij(i - r->a0, r->nb, at)];
        *out = c.log_k[l] + j->p->tau * j->x->constant;
        if (!c.good[l] || !(*out > VH_NEVER / 2))
            VH_TRY(vh_ref_product_pair(ctx, j->p, i, g->first + l, j->scratch, out));
    }
    return VHEM_OK;
}

/* Number of HMMs of a from i on, at least one, whose components fit in TABLE_ROWS. */
static int some_rows(const ppk_block *j, int i, int *comps, int *S)
{
    const vh_packed *a = j->x->a.pk;
    int n = 0;
    for (*comps = *S = 0; i + n < j->r->a0 + j->r->na; n++) {
        int more = a->S[i + n] * a->M[i + n];
        if (n > 0 && *comps + more > TABLE_ROWS)
            break;
        *comps += more;
        *S = a->S[i + n] > *S ? a->S[i + n] : *S;
    }
    return n;
}

/* All rows of the tile against the group. */
static vhem_status all_rows(ppk_block *j)
{
    vhem_ctx *ctx = j->ctx;
    vh_scratch *scratch = j->scratch;
    const side *a = &j->x->a;
    int C = j->g->S * j->g->M, end = j->r->a0 + j->r->na;
    size_t work = j->x->full ? VH_NAME(vh_product_work)(a->pk->d) : 0;
    double *of_family = NULL;

    if (j->x->by_family)
        VH_SCRATCH(of_family, SLOT_FAMILY, vh_emission_room(a->pk->family, &a->pk->shape));

    for (int i = j->r->a0, n; i < end; i += n) {
        int comps, S;
        n = some_rows(j, i, &comps, &S);
        int rows = (comps + VH_PRODUCT_ROWS - 1) / VH_PRODUCT_ROWS * VH_PRODUCT_ROWS;
        size_t first = (size_t)a->pk->comp0[i];
        double *x, *small;
        VH_SCRATCH(x, SLOT_TABLE, (size_t)(rows * C) * VH_LANES);
        VH_SCRATCH(small, SLOT_SMALL, (4 * (size_t)(S * j->g->S) + (size_t)S + work) * VH_LANES);
        j->small = (vec *)small;
        vh_product_table t = { a->pk->d,
                               j->x->full ? comps : rows,
                               C,
                               j->p->lambda,
                               a->par + first * j->x->size,
                               a->log_w + first,
                               j->g->par,
                               j->g->log_w,
                               j->block,
                               j->small + 4 * S * j->g->S + S,
                               (vec *)x };
        if (j->x->by_family)
            table_of_family(j, (int)first, comps, C, of_family, t.x);
        else if (j->x->full)
            VH_NAME(vh_product_full)(&t);
        else
            VH_NAME(vh_product_diag)(&t);
        for (int k = 0; k < n; k++)
            VH_TRY(one_row(j, i + k, t.x + (a->pk->comp0[i + k] - a->pk->comp0[i]) * C));
    }
    return VHEM_OK;
}

vhem_status VH_NAME(vh_simd_product)(vhem_ctx *ctx, const vh_product *p, const void *prepared,
                                     const vh_rectangle *r, vh_scratch *scratch, double *log_k)
{
    ppk_block j = { .ctx = ctx, .p = p, .x = prepared, .r = r, .scratch = scratch, .log_k = log_k };

    j.block = choose_block(&j);
    if (j.block == 0)
        return vh_ref_product(ctx, p, NULL, r, scratch, log_k);
    for (int n = j.x->group_of[r->b0]; n <= j.x->group_of[r->b0 + r->nb - 1]; n++) {
        j.g = &j.x->groups[n];
        VH_TRY(all_rows(&j));
    }
    return VHEM_OK;
}
