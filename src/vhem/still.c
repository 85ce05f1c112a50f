/* SPDX-License-Identifier: BSD-3-Clause */
/* still.c - see still.h. */
#include "vhem/still.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "emission/layout.h"
#include "hmm/missing_columns.h"

#include <math.h>
#include <string.h>

#define ALIKE 1e-9 /* relative difference below which parameters are equal */

typedef struct { /* the part of a component that holds column k: a channel of a product, or all of it */
    const vh_emission *family;
    vh_shape shape;
    int k; /* column within this part */
    double *par[VH_MAX_PARAM];
} column_part;

static column_part part_of(const vh_h3m *h3m, const vh_hmm *h, int q, int k)
{
    column_part x = { h3m->family, h3m->shape, k, { NULL } };
    double *par[VH_MAX_PARAM];

    vh_hmm_component(h3m, h, q / h->M, q % h->M, par);
    memcpy(x.par, par, sizeof *par * (size_t)h3m->family->n_param);
    if (vh_param_is_channels(&h3m->family->param[0])) {
        const vh_channel *ch = vh_layout_channel(h3m->shape.layout, k);
        x.family = ch->family;
        x.shape = ch->shape;
        x.k = k - ch->column;
        vh_channel_par(ch, par, x.par);
    }
    return x;
}

static bool is_matrix(const vh_param *p)
{
    return p->rank == 2 && p->dim[0] == VH_PER_COLUMN && p->dim[1] == VH_PER_COLUMN;
}

/* Returns where the numbers of parameter p that belong to column k begin; *n is how many there are. */
static size_t own_numbers(const column_part *x, int p, size_t *n)
{
    const vh_param *param = &x->family->param[p];
    *n = vh_param_is_by_column(param) ? 1
         : is_matrix(param)           ? (size_t)x->shape.d
                                      : vh_param_size(x->family, p, &x->shape);
    return vh_param_is_by_column(param) ? (size_t)x->k : is_matrix(param) ? vh_ij(x->k, x->shape.d, 0) : 0;
}

/* True if the column has the same parameters in both, and no covariance with other columns. */
static bool same_column(const column_part *a, const column_part *b)
{
    for (int p = 0; p < a->family->n_param; p++) {
        size_t n, at = own_numbers(a, p, &n);
        bool matrix = is_matrix(&a->family->param[p]);
        for (size_t e = 0; e < n; e++) {
            double x = a->par[p][at + e], y = b->par[p][at + e];
            if (matrix && e != (size_t)a->k ? x != 0 || y != 0 : fabs(x - y) > ALIKE * fmax(fabs(x), fabs(y)))
                return false;
        }
    }
    return true;
}

/* True if column k is the same in all components of all HMMs that have it.  *one becomes the first of
 * them. */
static bool is_still(const vh_h3m *h3m, int k, column_part *one)
{
    bool any = false;
    for (int64_t i = 0; i < h3m->K; i++) {
        const vh_hmm *h = &h3m->hmm[i];
        bool lacks = vh_hmm_lacks(h3m, h, k);
        for (int q = 0; q < h->S * h->M && !lacks; q++) {
            const column_part x = part_of(h3m, h, q, k);
            *one = any ? *one : x;
            any = true;
            if (!same_column(one, &x))
                return false;
        }
    }
    return any;
}

/* E[log p(y_k)] of the part under itself; 0 if unknown, as for a column without spread. */
static vhem_status own_density(vhem_ctx *ctx, const column_part *x, double *out)
{
    const vh_shape one = { .d = 1 };
    const double *par[VH_MAX_PARAM];
    VH_AUTOFREE double *work = NULL;
    double value;

    *out = 0;
    if (vh_emission_needs_layout(x->family))
        return VHEM_OK;
    VH_NEW(work, vh_emission_room(x->family, &one));
    for (int p = 0; p < x->family->n_param; p++) {
        size_t n, at = own_numbers(x, p, &n);
        par[p] = x->par[p] + at + (n > 1 ? x->k : 0);
    }
    if (x->family->expected_density(&one, par, par, 1, &value, 1, work) && isfinite(value))
        *out = value;
    return VHEM_OK;
}

vhem_status vh_still_columns(vhem_ctx *ctx, const vh_h3m *h3m, bool *still, int *n_telling, double *rest)
{
    column_part one = { .k = 0 };

    *n_telling = 0;
    *rest = 0;
    for (int k = 0; k < h3m->d; k++) {
        double own = 0;
        still[k] = is_still(h3m, k, &one);
        if (still[k])
            VH_TRY(own_density(ctx, &one, &own));
        *rest += own;
        *n_telling += !still[k];
    }
    if (*n_telling > 0)
        return VHEM_OK;
    memset(still, 0, sizeof *still * (size_t)h3m->d); /* all are still: use every column */
    *n_telling = h3m->d;
    *rest = 0;
    return VHEM_OK;
}
