/* SPDX-License-Identifier: BSD-3-Clause */
/* convert.c - see convert.h. */
#include "hmm/convert.h"

#include "math/logsum.h"
#include "emission/layout.h"
#include "hmm/missing_columns.h"

#include <limits.h>
#include <string.h>

vhem_status vh_h3m_subset(vhem_ctx *ctx, const vh_h3m *h3m, const int64_t *index, int64_t n, vh_h3m **out)
{
    VH_OWN(vh_h3m) *copy = NULL;

    VH_TRY(vh_h3m_new(ctx, h3m->family, h3m->shape, n, &copy));
    for (int64_t k = 0; k < n; k++) {
        int64_t i = index ? index[k] : k;
        const vh_hmm *from = &h3m->hmm[i];
        copy->omega[k] = h3m->omega[i];
        VH_TRY(vh_h3m_shape(ctx, copy, k, from->S, from->M));
        vh_hmm_copy(&copy->hmm[k], from);
        VH_TRY(vh_h3m_set_text(ctx, &copy->hmm[k].name, from->name));
        VH_TRY(vh_h3m_set_text(ctx, &copy->hmm[k].label, from->label));
        VH_TRY(vh_h3m_set_text(ctx, &copy->hmm[k].extra, from->extra));
    }
    if (n < h3m->K)
        vh_normalise(n, copy->omega);
    copy->lengths = h3m->lengths;
    *out = vh_take(copy);
    return VHEM_OK;
}

vhem_status vh_h3m_pool(vhem_ctx *ctx, const vh_h3m *const *part, const double *share, int64_t n,
                        vh_h3m **out)
{
    VH_OWN(vh_h3m) *all = NULL;
    int64_t K = 0;
    char why[256];

    for (int64_t p = 0; p < n; p++) {
        VH_CHECK(vh_family_same(part[p]->family, part[0]->family) && part[p]->d == part[0]->d, VHEM_EINVAL,
                 "%s emissions of dimension %d and %s of dimension %d cannot be pooled",
                 part[0]->family->name, part[0]->d, part[p]->family->name, part[p]->d);
        VH_CHECK(!*vh_layout_differs(&part[p]->shape, &part[0]->shape, why, sizeof why), VHEM_EINVAL,
                 "sets of models cannot be pooled: %s", why);
        K += part[p]->K;
    }
    VH_TRY(vh_h3m_new(ctx, part[0]->family, part[0]->shape, K, &all));
    K = 0;
    for (int64_t p = 0; p < n; p++)
        for (int64_t j = 0; j < part[p]->K; j++, K++) {
            const vh_hmm *from = &part[p]->hmm[j];
            VH_TRY(vh_h3m_shape(ctx, all, K, from->S, from->M));
            vh_hmm_copy(&all->hmm[K], from);
            all->omega[K] = part[p]->omega[j] * (share ? share[p] : 1);
        }
    vh_h3m_settle_family(all);
    *out = vh_take(all);
    return VHEM_OK;
}

static void fill_wider(const vh_h3m *h3m, const vh_hmm *from, const vh_h3m *wide, vh_hmm *to)
{
    memcpy(to->pi, from->pi, sizeof *to->pi * (size_t)from->S);
    memcpy(to->A, from->A, sizeof *to->A * (size_t)(from->S * from->S));
    memcpy(vh_hmm_c(to), vh_hmm_c(from), sizeof *to->theta * (size_t)(from->S * from->M));
    for (int q = 0; q < from->S * from->M; q++) {
        double *a[VH_MAX_PARAM], *b[VH_MAX_PARAM];
        vh_hmm_component(h3m, from, q / from->M, q % from->M, a);
        vh_hmm_component(wide, to, q / from->M, q % from->M, b);
        h3m->family->promote(&h3m->shape, (const double *const *)a, b);
    }
}

vhem_status vh_h3m_widest(vhem_ctx *ctx, const vh_h3m *h3m, vh_h3m **out)
{
    VH_OWN(vh_h3m) *wide = NULL;

    VH_CHECK(
        !vh_h3m_lacks_columns(h3m), VHEM_EINVAL,
        "an HMM lacks a column, and the full covariances of preset emhmm need all: leave the preset out, or "
        "fit the models without the column");
    if (!h3m->family->wider)
        return vh_h3m_subset(ctx, h3m, NULL, h3m->K, out);
    VH_TRY(vh_h3m_new(ctx, h3m->family->wider, h3m->shape, h3m->K, &wide));
    for (int64_t i = 0; i < h3m->K; i++) {
        const vh_hmm *from = &h3m->hmm[i];
        wide->omega[i] = h3m->omega[i];
        VH_TRY(vh_h3m_shape(ctx, wide, i, from->S, from->M));
        VH_TRY(vh_h3m_set_text(ctx, &wide->hmm[i].name, from->name));
        VH_TRY(vh_h3m_set_text(ctx, &wide->hmm[i].label, from->label));
        fill_wider(h3m, from, wide, &wide->hmm[i]);
    }
    *out = vh_take(wide);
    return VHEM_OK;
}

vhem_status vh_h3m_like(vhem_ctx *ctx, const vh_h3m *h3m, const vh_h3m *like, vh_h3m **copy,
                        const vh_h3m **out)
{
    char why[256];

    VH_CHECK(h3m->d == like->d, VHEM_EINVAL, "the models have dimension %d, but the centres have %d", h3m->d,
             like->d);
    if (h3m->family != like->family && h3m->family->wider == like->family) {
        VH_TRY(vh_h3m_widest(ctx, h3m, copy));
        h3m = *copy;
    }
    VH_CHECK(vh_family_same(h3m->family, like->family), VHEM_EINVAL,
             "the models have %s emissions, the centres %s", h3m->family->name, like->family->name);
    VH_CHECK(!*vh_layout_differs(&h3m->shape, &like->shape, why, sizeof why), VHEM_EINVAL,
             "the models do not suit the centres: %s", why);
    *out = h3m;
    return VHEM_OK;
}
