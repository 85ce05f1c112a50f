/* SPDX-License-Identifier: BSD-3-Clause */
/* ppk.c - the log probability product kernel between all HMMs of two sets.  Paper, Section 4.2;
 * distance/ppk_pair.c has the equations.
 *
 * Pairs of HMMs that lack columns are compared over the columns that both have; so are the self-kernels that
 * normalise them.
 *
 * The table is computed in row blocks, in the order of the packed sets; for a set against itself only its
 * upper triangle and diagonal. */
#include "distance/distance.h"
#include "distance/row_blocks.h"

#include "distance/ppk_kernel.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "parallel/parallel.h"
#include "hmm/shared_columns.h"
#include "vhem/base.h"

enum { ROWS = 4 * VH_PRODUCT_TILE, COLUMNS = 256 };

typedef struct {
    vhem_ctx *ctx;
    const vh_base *a, *b;
    vh_product p;
    vh_workers workers;
    vh_opened_pair *product;      /* both sets, opened */
    vh_patterns lacks_a, lacks_b; /* columns that HMMs of each set lack */
    double *D;                    /* [Ka][Kb]; NULL on processes without a table */
    vh_rectangle r;               /* the rows to be taken, */
    const double *rows;           /* [na][nb] */
} ppk_table;

static void ppk_free(ppk_table *j)
{
    vh_patterns_free(&j->lacks_a);
    vh_patterns_free(&j->lacks_b);
    vh_workers_free(&j->workers);
}

/* Computes self [n_comp] = log int p^2 of each component in use. */
static vhem_status component_self(vhem_ctx *ctx, const vh_packed *pk, double **out)
{
    VH_AUTOFREE double *self = NULL, *work = NULL;
    VH_NEW(self, pk->n_comp);
    VH_NEW(work, vh_emission_room(pk->family, &pk->shape));
    for (int r = 0; r < pk->n_comp; r++) {
        const double *const *par = pk->par + (size_t)r * VH_MAX_PARAM;
        if (pk->family->kernel == VH_KERNEL_OF_FAMILY)
            continue; /* not used */
        VH_CHECK(!(pk->c[r] > 0) || pk->family->log_product(&pk->shape, par, par, 1, &self[r], work),
                 VHEM_ENUMERIC, "a covariance is singular, it has no product kernel");
    }
    *out = vh_take(self);
    return VHEM_OK;
}

/* The rectangle of a row block: for a set against itself, on and above the diagonal. */
static vh_rectangle rectangle(const ppk_table *j, int64_t first, int64_t n)
{
    bool upper = j->a == j->b;
    return (vh_rectangle){ .a0 = (int)first,
                           .na = (int)n,
                           .b0 = upper ? (int)first : 0,
                           .nb = (int)(j->b->Kb - (upper ? first : 0)),
                           .upper = upper };
}

static vhem_status make_row_block(vhem_ctx *ctx, void *arg, int64_t first, int64_t n, double *x, size_t *size)
{
    vhem_status st = VHEM_OK;
    ppk_table *j = arg;
    const vh_rectangle r = rectangle(j, first, n);
    st = vh_product_run(ctx, j->product, &r, x);
    VH_CHECK(st != VHEM_ESTOPPED, VHEM_ESTOPPED, "stopped before the kernel was complete");
    *size = vh_cells(r.na, r.nb);
    return st;
}

/* Copies column k of the row block into D [Ka][Kb]; for a set against itself, into both triangles. */
static void take_column(const ppk_table *j, int k)
{
    const vh_rectangle *r = &j->r;
    size_t Kb = (size_t)j->b->Kb, from = (size_t)j->b->order[r->b0 + k];
    for (int i = 0; i < r->na; i++) {
        size_t to = (size_t)j->a->order[r->a0 + i];
        double log_k = vh_or_impossible(j->rows[vh_ij(i, r->nb, k)]);
        if (r->upper && r->a0 + i > r->b0 + k)
            continue;
        j->D[to * Kb + from] = log_k;
        if (r->upper)
            j->D[from * Kb + to] = log_k;
    }
}

/* By columns, because for a set against itself they become rows: adjacent columns are adjacent in memory. */
static void take_columns(void *arg, int64_t c, int worker)
{
    const ppk_table *j = arg;
    (void)worker;
    for (int64_t k = c * COLUMNS; k < (c + 1) * COLUMNS && k < j->r.nb; k++)
        take_column(j, (int)k);
}

static void take_row_block(void *arg, int64_t first, int64_t n, const double *x)
{
    ppk_table *j = arg;
    j->r = rectangle(j, first, n);
    j->rows = x;
    vh_parallel(j->ctx, (j->r.nb + COLUMNS - 1) / COLUMNS, j->workers.n, true, take_columns, j);
}

static vhem_status all_row_blocks(vhem_ctx *ctx, ppk_table *j)
{
    int64_t Ka = j->a->Kb;
    const vh_row_blocks row_blocks = { .what = "kernel",
                                       .n = Ka,
                                       .rows = ROWS,
                                       .most = vh_cells(Ka < ROWS ? Ka : ROWS, j->b->Kb),
                                       .make = make_row_block,
                                       .take = take_row_block,
                                       .arg = j };
    VH_OWN(vh_opened_pair) *product = NULL;

    VH_TRY(vh_workers_new(ctx, ctx->threads, &j->workers));
    j->p.workers = &j->workers;
    VH_TRY(vh_product_open(ctx, &j->p, &product));
    j->product = product;
    return vh_row_blocks_run(ctx, &row_blocks);
}

/* Computes self [K] = log k~(i, i), one by one: a block would waste all but its diagonal. */
static vhem_status self_kernels(vhem_ctx *ctx, const vh_product *like, const vh_base *base, double *self)
{
    vh_product p = *like;
    VH_OWN(vh_opened_pair) *product = NULL;
    VH_AUTOFREE double *component = NULL;

    VH_TRY(component_self(ctx, base->packed, &component));
    p.a = p.b = base->packed;
    p.self_a = p.self_b = component;
    VH_TRY(vh_product_open(ctx, &p, &product));
    for (int i = 0; i < base->Kb; i++)
        VH_TRY(vh_product_run(ctx, product, &(vh_rectangle){ i, 1, i, 1, true }, &self[base->order[i]]));
    return VHEM_OK;
}

/* Computes self [patterns][K]: the same over the columns that HMMs with each pattern have. */
static vhem_status self_by_pattern(vhem_ctx *ctx, const vh_product *like, const vh_h3m *h3m,
                                   const vh_patterns *lacks, double *self)
{
    VH_OWN(vh_h3m) *copy = NULL;
    VH_OWN(vh_base) *base = NULL;
    const vh_h3m *seen;

    for (int p = 0; p < lacks->n; p++) {
        VH_TRY(vh_h3m_without(ctx, h3m, lacks->set + vh_row(p, lacks->d), &copy, &seen));
        VH_TRY(vh_base_pack(ctx, seen, &base));
        VH_TRY(self_kernels(ctx, like, base, self + vh_row(p, h3m->K)));
        vh_base_free(base);
        vh_h3m_free(copy);
        base = NULL;
        copy = NULL;
    }
    return VHEM_OK;
}

/* log k - (log k_aa + log k_bb) / 2, all three over the columns that both HMMs have. */
static vhem_status normalise(ppk_table *j, const vh_h3m *a, const vh_h3m *b, double *D)
{
    vhem_ctx *ctx = j->ctx;
    size_t Ka = (size_t)a->K, Kb = (size_t)b->K;
    const vh_patterns *of_a = &j->lacks_a, *of_b = &j->lacks_b;
    VH_AUTOFREE double *self_a = NULL, *self_b = NULL;
    double *of_b_too;

    VH_NEW(self_a, vh_cells(of_b->n, a->K));
    if (a != b || of_a->n > 1)
        VH_TRY(self_by_pattern(ctx, &j->p, a, of_b, self_a));
    if (a != b) {
        VH_NEW(self_b, vh_cells(of_a->n, b->K));
        VH_TRY(self_by_pattern(ctx, &j->p, b, of_a, self_b));
    }
    for (size_t i = 0; a == b && i < Ka; i++) /* over its own columns it is in the table */
        self_a[vh_row(of_a->of[i], a->K) + i] = D[i * Kb + i];
    of_b_too = self_b ? self_b : self_a;
    for (size_t i = 0; i < Ka; i++)
        for (size_t k = 0; k < Kb; k++)
            D[i * Kb + k] -=
                (self_a[vh_row(of_b->of[k], a->K) + i] + of_b_too[vh_row(of_a->of[i], b->K) + k]) / 2;
    return VHEM_OK;
}

vhem_status vh_distance_ppk(vhem_ctx *ctx, const vh_h3m *a, const vh_h3m *b, const vhem_distance_options *opt,
                            double *D, double *error)
{
    VH_OWN(vh_base) *base_a = NULL, *base_b = NULL;
    VH_CLEANUP(ppk_free) ppk_table j = { .ctx = ctx, .D = D };
    VH_AUTOFREE double *self_a = NULL, *self_b = NULL;

    (void)error;
    VH_TRY(vh_patterns_new(ctx, a, &j.lacks_a));
    VH_TRY(vh_patterns_new(ctx, b, &j.lacks_b));
    VH_TRY(vh_patterns_meet(ctx, &j.lacks_a, &j.lacks_b));
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
    VH_TRY(all_row_blocks(ctx, &j));
    if (opt->normalised && D)
        VH_TRY(normalise(&j, a, b, D));
    return VHEM_OK;
}
