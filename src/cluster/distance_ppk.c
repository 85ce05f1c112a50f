/* SPDX-License-Identifier: BSD-3-Clause */
/* distance_ppk.c - the probability product kernel between all HMMs of two sets, as its logarithm.  Paper,
 * Section 4.2; backend/ref/product.c has the equations.
 *
 * The table is asked for in strips of rows, in the order of the packed sets; for a set against itself only on
 * and above the diagonal. */
#include "cluster/distance.h"

#include "backend/product.h"
#include "core/alloc.h"
#include "core/index.h"
#include "core/team.h"
#include "reduce/base.h"

enum { ROWS = 4 * VH_PRODUCT_TILE, SELF_TILE = 8 };

typedef struct {
    vhem_ctx *ctx;
    const vh_base *a, *b;
    vh_product p;
    vh_workers workers;
    double *strip; /* [ROWS][Kb] */
} job;

/* self [n_comp] = log int p^2 of each component that is ever used. */
static vhem_status component_self(vhem_ctx *ctx, const vh_packed *pk, double **out)
{
    vhem_status st = VHEM_OK;
    double *self = NULL, *work = NULL;
    VH_NEW(self, pk->n_comp);
    VH_NEW(work, vh_emission_room(pk->family, &pk->shape));
    for (int r = 0; r < pk->n_comp; r++) {
        const double *const *par = pk->par + (size_t)r * VH_MAX_PARAM;
        if (pk->family->kernel == VH_KERNEL_OF_FAMILY)
            continue; /* nobody asks */
        VH_CHECK(!(pk->c[r] > 0) || pk->family->log_product(&pk->shape, par, par, 1, &self[r], work),
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
    VH_NEW(j->strip, vh_cells(j->a->Kb < ROWS ? j->a->Kb : ROWS, j->b->Kb));
    VH_TRY(vh_workers_new(ctx, ctx->threads, &j->workers));
    j->p.workers = &j->workers;
done:
    return st;
}

static void close_job(job *j)
{
    free(j->strip);
    vh_workers_free(&j->workers);
}

/* Column k of the strip into D [Ka][Kb], for a set against itself into both triangles. */
static void take_column(const job *j, const vh_rectangle *r, int k, double *D)
{
    size_t Kb = (size_t)j->b->Kb, from = (size_t)j->b->order[r->b0 + k];
    for (int i = 0; i < r->na; i++) {
        size_t to = (size_t)j->a->order[r->a0 + i];
        double log_k = j->strip[vh_ij(i, r->nb, k)];
        if (r->upper && r->a0 + i > r->b0 + k)
            continue;
        D[to * Kb + from] = log_k;
        if (r->upper)
            D[from * Kb + to] = log_k;
    }
}

/* Columns, because those of a set against itself become rows: neighbours there are neighbours in memory. */
static void take_strip(const job *j, const vh_rectangle *r, double *D)
{
#pragma omp parallel for num_threads(vh_team(j->workers.n)) schedule(static, 64) if (r->nb > 1024)
    for (int k = 0; k < r->nb; k++)
        take_column(j, r, k, D);
}

static vhem_status all_strips(vhem_ctx *ctx, job *j, double *D)
{
    vhem_status st = VHEM_OK;
    vh_product_job *product = NULL;
    int64_t Ka = j->a->Kb, Kb = j->b->Kb;

    VH_TRY(vh_product_open(ctx, &j->p, &product));
    vh_progress(ctx, "kernel", 0, Ka);
    for (int64_t i = 0; i < Ka; i += ROWS) {
        bool upper = j->a == j->b;
        const vh_rectangle r = { .a0 = i,
                                 .na = Ka - i < ROWS ? Ka - i : ROWS,
                                 .b0 = upper ? i : 0,
                                 .nb = Kb - (upper ? i : 0),
                                 .upper = upper };
        st = vh_product_part(ctx, product, &r, j->strip);
        VH_CHECK(st != VHEM_ESTOPPED, VHEM_ESTOPPED, "stopped before the kernel was complete");
        VH_TRY(st);
        take_strip(j, &r, D);
        vh_progress(ctx, "kernel", i + r.na, Ka);
    }
done:
    vh_product_close(product);
    return st;
}

/* self [K] = log k~(i, i), from small blocks on the diagonal. */
static vhem_status self_kernels(vhem_ctx *ctx, job *j, const vh_base *base, double *self)
{
    vhem_status st = VHEM_OK;
    vh_product p = j->p;
    vh_product_job *product = NULL;
    double table[SELF_TILE * SELF_TILE];
    int64_t n;

    p.a = p.b = base->packed;
    p.self_a = p.self_b = base == j->a ? j->p.self_a : j->p.self_b;
    VH_TRY(vh_product_open(ctx, &p, &product));
    for (int64_t i = 0; i < base->Kb; i += n) {
        n = base->Kb - i < SELF_TILE ? base->Kb - i : SELF_TILE;
        VH_TRY(vh_product_part(ctx, product, &(vh_rectangle){ i, n, i, n, true }, table));
        for (int64_t k = 0; k < n; k++)
            self[base->order[i + k]] = table[k * n + k];
    }
done:
    vh_product_close(product);
    return st;
}

/* log k - (log k_aa + log k_bb) / 2. */
static vhem_status normalise(job *j, double *D)
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
        VH_TRY(self_kernels(ctx, j, j->a, self_a));
        VH_TRY(self_kernels(ctx, j, j->b, self_b));
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
    VH_TRY(vh_base_pack(ctx, a, &base_a));
    if (a != b)
        VH_TRY(vh_base_pack(ctx, b, &base_b));
    j.a = base_a;
    j.b = base_b ? base_b : base_a;
    VH_TRY(component_self(ctx, j.a->packed, &self_a));
    if (a != b)
        VH_TRY(component_self(ctx, j.b->packed, &self_b));
    j.p = (vh_product){ .a = j.a->packed,
                        .b = j.b->packed,
                        .self_a = self_a,
                        .self_b = self_b ? self_b : self_a,
                        .tau = opt->tau,
                        .lambda = opt->lambda };
    VH_TRY(open_job(ctx, &j));
    VH_TRY(all_strips(ctx, &j, D));
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
