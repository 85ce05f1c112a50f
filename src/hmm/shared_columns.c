/* SPDX-License-Identifier: BSD-3-Clause */
/* shared_columns.c - see shared_columns.h. */
#include "hmm/shared_columns.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "hmm/convert.h"
#include "hmm/missing_columns.h"

#include <string.h>

/* lacking [d]: number of HMMs that lack each column; returns the number of columns that some HMM lacks. */
static int lacking_columns(const vh_h3m *h3m, int64_t *lacking)
{
    int n = 0;
    for (int k = 0; k < h3m->d; k++) {
        lacking[k] = 0;
        for (int64_t i = 0; i < h3m->K; i++)
            lacking[k] += vh_hmm_lacks(h3m, &h3m->hmm[i], k);
        n += lacking[k] > 0;
    }
    return n;
}

vhem_status vh_h3m_without(vhem_ctx *ctx, const vh_h3m *h3m, const bool *away, vh_h3m **copy,
                           const vh_h3m **out)
{
    vh_h3m *own = NULL;
    bool any = false;

    for (int k = 0; k < h3m->d; k++)
        any = any || away[k];
    *out = h3m;
    if (!any)
        return VHEM_OK;
    VH_TRY(vh_h3m_subset(ctx, h3m, NULL, h3m->K, &own));
    for (int64_t i = 0; i < own->K; i++)
        for (int k = 0; k < own->d; k++)
            if (away[k])
                vh_hmm_forget(own, &own->hmm[i], k);
    vh_h3m_settle_family(own);
    *copy = own;
    *out = own;
    return VHEM_OK;
}

vhem_status vh_h3m_require_shared(vhem_ctx *ctx, const vh_h3m *h3m, int64_t *lacking)
{
    VH_CHECK(
        lacking_columns(h3m, lacking) < h3m->d, VHEM_EINVAL,
        "each of the %d columns is lacking in some HMM, so there is none over which the %lld HMMs can be "
        "compared: compare fewer of them, or cluster them first, as centres have every column",
        h3m->d, (long long)h3m->K);
    return VHEM_OK;
}

vhem_status vh_h3m_shared_columns(vhem_ctx *ctx, const vh_h3m *h3m, vh_h3m **copy, const vh_h3m **out)
{
    VH_AUTOFREE int64_t *lacking = NULL;
    VH_AUTOFREE bool *away = NULL;

    *out = h3m;
    if (!vh_h3m_lacks_columns(h3m))
        return VHEM_OK;
    VH_NEW(lacking, h3m->d);
    VH_NEW(away, h3m->d);
    VH_TRY(vh_h3m_require_shared(ctx, h3m, lacking));
    for (int k = 0; k < h3m->d; k++)
        away[k] = lacking[k] > 0;
    return vh_h3m_without(ctx, h3m, away, copy, out);
}

/* ---- patterns ------------------------------------------------------------------------------------------ */

vhem_status vh_patterns_new(vhem_ctx *ctx, const vh_h3m *h3m, vh_patterns *out)
{
    VH_CLEANUP(vh_patterns_free) vh_patterns p = { .d = h3m->d, .n = 1 };
    size_t d = (size_t)h3m->d;

    VH_NEW(p.set, vh_cells(h3m->K + 2, p.d)); /* one extra, to build the next candidate in */
    VH_NEW(p.first, h3m->K + 2);
    VH_NEW(p.of, h3m->K);
    for (int64_t i = 0; i < h3m->K; i++) {
        bool *next = p.set + (size_t)p.n * d;
        for (int k = 0; k < p.d; k++)
            next[k] = vh_hmm_lacks(h3m, &h3m->hmm[i], k);
        while (memcmp(p.set + (size_t)p.of[i] * d, next, d) != 0)
            p.of[i]++;
        if (p.of[i] == p.n)
            p.first[p.n++] = i;
    }
    *out = p;
    p = (vh_patterns){ 0 };
    return VHEM_OK;
}

void vh_patterns_free(vh_patterns *patterns)
{
    free(patterns->set);
    free(patterns->first);
    free(patterns->of);
    *patterns = (vh_patterns){ 0 };
}

vhem_status vh_patterns_meet(vhem_ctx *ctx, const vh_patterns *a, const vh_patterns *b)
{
    for (int p = 0; p < a->n; p++)
        for (int q = 0; q < b->n; q++) {
            bool any = false;
            for (int k = 0; k < a->d; k++)
                any = any || !(a->set[p * a->d + k] || b->set[q * b->d + k]);
            VH_CHECK(
                any, VHEM_EINVAL,
                "HMM %lld and HMM %lld (counted from 0) have no column in common, so there is nothing to "
                "compare them by: leave one of them out",
                (long long)a->first[p], (long long)b->first[q]);
        }
    return VHEM_OK;
}
