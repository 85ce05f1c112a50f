/* SPDX-License-Identifier: BSD-3-Clause */
/* distance_ppk.c - the probability product kernel between all HMMs of two sets, as its logarithm.  Paper,
 * Section 4.2; backend/ref/product.c has the equations.
 *
 * The table is cut into tiles, the same at any number of threads; for a set against itself only the tiles on
 * and above the diagonal are computed. */
#include "cluster/distance.h"

#include "core/alloc.h"
#include "reduce/base.h"

#include <omp.h>

enum { TILE = 64, STRIP = 16, SELF_TILE = 8 };

typedef struct {
    vhem_ctx *ctx;
    const vh_base *a, *b;
    vh_product p;
    vh_scratch *scratch; /* [threads] */
    double *tables;      /* [threads][TILE][TILE] */
    vhem_status *each;   /* [threads] */
} job;

static int n_tiles(int K, int tile)
{
    return (K + tile - 1) / tile;
}

/* self [n_comp] = log int p^2 of each component that is ever used. */
static vhem_status component_self(vhem_ctx *ctx, const vh_packed *pk, double **out)
{
    vhem_status st = VHEM_OK;
    double *self = NULL, *work = NULL;
    VH_NEW(self, pk->n_comp);
    VH_NEW(work, vh_emission_work(pk->d));
    for (int r = 0; r < pk->n_comp; r++) {
        const double *const *par = pk->par + (size_t)r * VH_MAX_PARAM;
        VH_CHECK(!(pk->c[r] > 0) || pk->family->log_product(pk->d, par, par, 1, &self[r], work),
                 VHEM_ENUMERIC, "a covariance is singular, it has no product kernel");
    }
    *out = self;
    self = NULL;
done:
    free(self);
    free(work);
    return st;
}

static vhem_status open_job(vhem_ctx *ctx, job *j)
{
    vhem_status st = VHEM_OK;
    j->ctx = ctx;
    VH_NEW(j->scratch, ctx->threads);
    VH_NEW(j->tables, (size_t)ctx->threads * TILE * TILE);
    VH_NEW(j->each, ctx->threads);
done:
    return st;
}

static void close_job(job *j)
{
    for (int t = 0; j->scratch && t < j->ctx->threads; t++)
        vh_scratch_free(&j->scratch[t]);
    free(j->scratch);
    free(j->tables);
    free(j->each);
}

/* HMMs a0 .. a0+na-1 against b0 .. b0+nb-1 into D [Ka][Kb], for a set against itself into both triangles. */
static vhem_status rectangle(const job *j, int me, int a0, int na, int b0, int nb, double *D)
{
    vhem_status st = VHEM_OK;
    vhem_ctx *ctx = j->ctx;
    double *table = j->tables + (size_t)me * TILE * TILE;
    size_t Kb = (size_t)j->b->Kb;

    VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "stopped before the kernel was complete");
    VH_TRY(ctx->backend->product(ctx, &j->p, a0, na, b0, nb, &j->scratch[me], table));
    for (int i = 0; i < na; i++)
        for (int k = 0; k < nb; k++) {
            size_t to = (size_t)j->a->order[a0 + i], from = (size_t)j->b->order[b0 + k];
            if (j->a == j->b && a0 + i > b0 + k)
                continue;
            D[to * Kb + from] = table[i * nb + k];
            if (j->a == j->b)
                D[from * Kb + to] = table[i * nb + k];
        }
done:
    return st;
}

/* Tile (ta, tb); on the diagonal in strips, which begin where the strip itself does. */
static vhem_status one_tile(const job *j, int me, int ta, int tb, double *D)
{
    vhem_status st = VHEM_OK;
    int a0 = ta * TILE, a1 = a0 + TILE < j->a->Kb ? a0 + TILE : j->a->Kb;
    int b0 = tb * TILE, b1 = b0 + TILE < j->b->Kb ? b0 + TILE : j->b->Kb;
    bool strips = j->a == j->b && ta == tb;
    for (int i = a0, n; i < a1 && st == VHEM_OK; i += n) {
        n = strips && a1 - i > STRIP ? STRIP : a1 - i;
        st = rectangle(j, me, i, n, strips ? i : b0, b1 - (strips ? i : b0), D);
    }
    return st;
}

static vhem_status all_tiles(job *j, double *D)
{
    vhem_status st = VHEM_OK;
    int Ta = n_tiles(j->a->Kb, TILE), Tb = n_tiles(j->b->Kb, TILE), threads = j->ctx->threads;
    int64_t n_done = 0, all = (int64_t)Ta * Tb;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1)
    for (int64_t t = 0; t < all; t++) {
        int me = omp_get_thread_num(), ta = (int)(t / Tb), tb = (int)(t % Tb);
        int64_t now;
        if (j->each[me] == VHEM_OK && !(j->a == j->b && tb < ta))
            j->each[me] = one_tile(j, me, ta, tb, D);
#pragma omp atomic capture
        now = ++n_done;
        vh_progress(j->ctx, "kernel", now, all);
    }
    for (int t = 0; t < threads; t++)
        VH_TRY(j->each[t]);
done:
    return st;
}

/* self [K] = log k~(i, i), from small blocks on the diagonal. */
static vhem_status self_kernels(const job *j, const vh_base *base, double *self)
{
    vhem_status st = VHEM_OK;
    vh_product p = j->p;
    int n;
    p.a = p.b = base->packed;
    p.self_a = p.self_b = base == j->a ? j->p.self_a : j->p.self_b;
    for (int i = 0; i < base->Kb; i += n) {
        n = base->Kb - i < SELF_TILE ? base->Kb - i : SELF_TILE;
        VH_TRY(j->ctx->backend->product(j->ctx, &p, i, n, i, n, &j->scratch[0], j->tables));
        for (int k = 0; k < n; k++)
            self[base->order[i + k]] = j->tables[k * n + k];
    }
done:
    return st;
}

/* log k - (log k_aa + log k_bb) / 2. */
static vhem_status normalise(const job *j, double *D)
{
    vhem_status st = VHEM_OK;
    vhem_ctx *ctx = j->ctx;
    size_t Ka = (size_t)j->a->Kb, Kb = (size_t)j->b->Kb;
    double *self_a = NULL, *self_b = NULL;

    VH_NEW(self_a, Ka);
    VH_NEW(self_b, Kb);
    if (j->a == j->b)
        for (size_t i = 0; i < Ka; i++)
            self_a[i] = self_b[i] = D[i * Kb + i];
    else {
        VH_TRY(self_kernels(j, j->a, self_a));
        VH_TRY(self_kernels(j, j->b, self_b));
    }
    for (size_t i = 0; i < Ka; i++)
        for (size_t k = 0; k < Kb; k++)
            D[i * Kb + k] -= (self_a[i] + self_b[k]) / 2;
done:
    free(self_a);
    free(self_b);
    return st;
}

vhem_status vh_distance_ppk(vhem_ctx *ctx, const vh_h3m *a, const vh_h3m *b, const vhem_distance_options *opt,
                            double *D, double *error)
{
    vhem_status st = VHEM_OK;
    vh_base *base_a = NULL, *base_b = NULL;
    job j = { .ctx = ctx };
    double *self_a = NULL, *self_b = NULL;

    (void)error;
    VH_TRY(vh_base_new(ctx, a, &base_a));
    if (a != b)
        VH_TRY(vh_base_new(ctx, b, &base_b));
    j.a = base_a;
    j.b = base_b ? base_b : base_a;
    VH_TRY(component_self(ctx, j.a->packed, &self_a));
    if (a != b)
        VH_TRY(component_self(ctx, j.b->packed, &self_b));
    j.p = (vh_product){ j.a->packed, j.b->packed, self_a, self_b ? self_b : self_a, opt->tau, opt->lambda };
    VH_TRY(open_job(ctx, &j));
    VH_TRY(all_tiles(&j, D));
    if (opt->normalised)
        VH_TRY(normalise(&j, D));
done:
    close_job(&j);
    free(self_a);
    free(self_b);
    vh_base_free(base_a);
    vh_base_free(base_b);
    return st;
}
