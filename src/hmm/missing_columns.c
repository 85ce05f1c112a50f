/* SPDX-License-Identifier: BSD-3-Clause */
/* missing_columns.c - see missing_columns.h. */
#include "hmm/missing_columns.h"

#include "emission/layout.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ALLOWED 0.5 /* valid as a mean, a variance, a rate, a probability, a shape */

typedef struct { /* numbers of parameter p of a component that belong to one column */
    int p;
    size_t at, n;
} number_range;

static bool by_column(const vh_emission *f)
{
    bool each = f->with_gaps != NULL;
    for (int p = 0; p < f->n_param; p++)
        each = each && vh_param_is_by_column(&f->param[p]);
    return each;
}

/* The channel of column k of a product, or NULL. */
static const vh_channel *channel_of(const vh_emission *f, const vh_shape *shape, int k)
{
    return vh_param_is_channels(&f->param[0]) ? vh_layout_channel(shape->layout, k) : NULL;
}

/* Ranges of the parameters of column k, to [VH_MAX_PARAM]; returns their number, 0 if the column cannot be
 * missing. */
static int ranges_of(const vh_emission *f, const vh_shape *shape, int k, number_range *to)
{
    const vh_channel *ch = channel_of(f, shape, k);
    int n = 0;
    if (!ch) {
        for (int p = 0; by_column(f) && p < f->n_param; p++)
            to[n++] = (number_range){ p, (size_t)k, 1 };
        return n;
    }
    size_t at = (size_t)ch->at;
    for (int p = 0; p < ch->family->n_param; p++) {
        size_t size = vh_param_size(ch->family, p, &ch->shape);
        to[n++] = by_column(ch->family) ? (number_range){ 0, at + (size_t)(k - ch->column), 1 }
                                        : (number_range){ 0, at, size };
        at += size;
    }
    return n;
}

int vh_columns_together(const vh_emission *f, const vh_shape *shape, int k, int *n)
{
    const vh_channel *ch = channel_of(f, shape, k);
    bool whole = ch && !by_column(ch->family);
    *n = whole ? ch->shape.d : ch || by_column(f);
    return whole ? ch->column : k;
}

bool vh_family_same(const vh_emission *a, const vh_emission *b)
{
    return a == b || a->with_gaps == b || b->with_gaps == a;
}

bool vh_hmm_lacks(const vh_h3m *h3m, const vh_hmm *h, int k)
{
    number_range s[VH_MAX_PARAM];
    return ranges_of(h3m->family, &h3m->shape, k, s) > 0 && isnan(vh_hmm_param(h3m, h, s[0].p)[s[0].at]);
}

void vh_hmm_forget(const vh_h3m *h3m, vh_hmm *h, int k)
{
    number_range s[VH_MAX_PARAM];
    int n = ranges_of(h3m->family, &h3m->shape, k, s);
    for (int i = 0; i < n; i++) {
        size_t size = vh_param_size(h3m->family, s[i].p, &h3m->shape);
        for (int q = 0; q < h->S * h->M; q++)
            for (size_t e = 0; e < s[i].n; e++)
                vh_hmm_param(h3m, h, s[i].p)[(size_t)q * size + s[i].at + e] = NAN;
    }
}

/* True if entry e of parameter p belongs to a column that the HMM lacks. */
static bool lacks_entry(const vh_h3m *h3m, const vh_hmm *h, int p, size_t e)
{
    for (int k = 0; k < h3m->d; k++) {
        number_range s[VH_MAX_PARAM];
        int n = ranges_of(h3m->family, &h3m->shape, k, s);
        for (int i = 0; i < n; i++)
            if (s[i].p == p && e >= s[i].at && e < s[i].at + s[i].n)
                return vh_hmm_lacks(h3m, h, k);
    }
    return false;
}

bool vh_hmm_null(const vh_h3m *h3m, const vh_hmm *h, const double *at)
{
    for (int p = 0; isnan(*at) && p < h3m->family->n_param; p++) {
        const double *first = vh_hmm_param(h3m, h, p);
        size_t size = vh_param_size(h3m->family, p, &h3m->shape);
        if (at >= first && at < first + (size_t)(h->S * h->M) * size)
            return lacks_entry(h3m, h, p, (size_t)(at - first) % size);
    }
    return false;
}

bool vh_h3m_lacks_columns(const vh_h3m *h3m)
{
    for (int i = 0; i < h3m->K; i++)
        for (int k = 0; h3m->hmm[i].S > 0 && k < h3m->d; k++)
            if (vh_hmm_lacks(h3m, &h3m->hmm[i], k))
                return true;
    return false;
}

const char *vh_no_column(int k, char *why, size_t size)
{
    snprintf(why, size, "column %d (counted from 0) is null in all HMMs: fit them without it", k);
    return why;
}

vhem_status vh_h3m_require_columns(vhem_ctx *ctx, const vh_h3m *h3m)
{
    char why[128];
    for (int k = 0; k < h3m->d; k++) {
        bool any = false;
        for (int i = 0; i < h3m->K && !any; i++)
            any = h3m->omega[i] > 0 && !vh_hmm_lacks(h3m, &h3m->hmm[i], k);
        VH_CHECK(any, VHEM_EINVAL, "%s", vh_no_column(k, why, sizeof why));
    }
    return VHEM_OK;
}

void vh_h3m_settle_family(vh_h3m *h3m)
{
    const vh_emission *plain = vh_emission_find(h3m->family->name);
    if (plain->with_gaps)
        h3m->family = vh_h3m_lacks_columns(h3m) ? plain->with_gaps : plain;
}

/* Fills in one range of a copied component.  A range of several numbers stays null: the family of a product
 * skips it. */
static bool unmask_range(const number_range *s, const char *name, double *copy, char *why, size_t size)
{
    for (size_t e = s->at; e < s->at + s->n; e++)
        if (!isnan(copy[e])) {
            snprintf(why, size,
                     "%s[%zu] is %g, but state 0, component 0 has null in that column: a column is null "
                     "throughout or nowhere",
                     name, e, copy[e]);
            return false;
        }
    if (s->n == 1)
        copy[s->at] = ALLOWED;
    return true;
}

bool vh_component_filled_in(const vh_h3m *h3m, const vh_hmm *h, double *const *par, double *full,
                            const double **out, char *why, size_t size)
{
    for (int p = 0; p < h3m->family->n_param; p++) {
        size_t n = vh_param_size(h3m->family, p, &h3m->shape);
        memcpy(full, par[p], sizeof *full * n);
        out[p] = full;
        full += n;
    }
    for (int k = 0, together = 1; k<h3m->d; k += together> 0 ? together : 1) {
        number_range s[VH_MAX_PARAM];
        int n = vh_hmm_lacks(h3m, h, k) ? ranges_of(h3m->family, &h3m->shape, k, s) : 0;
        vh_columns_together(h3m->family, &h3m->shape, k, &together);
        for (int i = 0; i < n; i++)
            if (!unmask_range(&s[i], h3m->family->param[s[i].p].name, (double *)out[s[i].p], why, size))
                return false;
    }
    return true;
}
