/* SPDX-License-Identifier: BSD-3-Clause */
/* distance.c - distances between HMMs: options, checks, and the table of kinds.  To add a kind, add a
 * function and a row here. */
#include "distance/distance.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "core/options.h"
#include "parallel/ranks.h"
#include "math/blas.h"
#include "hmm/convert.h"
#include "emission/layout.h"
#include "hmm/missing_columns.h"
#include "vhem/vhem_h3m.h"
#include "vhem.h"

#include <assert.h>
#include <string.h>

/* Up to this many numbers, tables are computed in a copy, so that the caller's stay unchanged on failure;
 * larger ones have no room for a copy. */
enum { CAREFUL = 1 << 22 };

typedef struct {
    const char *name;
    vh_distance_run *run;
    bool sampled; /* has standard errors */
} kind;

static const kind kinds[] = {
    { "kl", vh_distance_kl, false },
    { "kl-sampled", vh_distance_kl_sampled, true },
    { "ppk", vh_distance_ppk, false },
};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

/* Checks that every component in use has a density.  which (NULL: none) names the set in errors. */
static vhem_status check_proper(vhem_ctx *ctx, const vh_h3m *h3m, const char *which)
{
    vhem_status st = VHEM_OK;
    double unused;
    VH_AUTOFREE double *work = NULL;
    VH_NEW(work, vh_emission_room(h3m->family, &h3m->shape));
    for (int64_t i = 0; i < h3m->K; i++) {
        const vh_hmm *h = &h3m->hmm[i];
        for (int q = 0; q < h->S * h->M; q++) {
            double *par[VH_MAX_PARAM];
            const double *const *p = (const double *const *)par;
            vh_hmm_component(h3m, h, q / h->M, q % h->M, par);
            if (!(vh_hmm_c(h)[q] > 0) || h3m->family->log_product(&h3m->shape, p, p, 0.5, &unused, work))
                continue;
            st = vh_fail(ctx, VHEM_ENUMERIC, "the %s of state %d, component %d is singular",
                         h3m->family->location ? "covariance" : "distribution", q / h->M, q % h->M);
            vh_h3m_prefix(ctx, h3m, i);
            if (which)
                vh_error_prefix(ctx, which);
            return st;
        }
    }
    return st;
}

static vhem_status check_options(vhem_ctx *ctx, const vhem_distance_options *opt, const kind **out)
{
    int k = 0;
    VH_TRY(vh_options_check(ctx, VHEM_DISTANCE_OPTIONS, opt));
    VH_CHECK(opt->tau <= VH_MOST_TAU, VHEM_EINVAL, "tau is %d, must be from 1 to %d", opt->tau, VH_MOST_TAU);
    while (k < N_KINDS && strcmp(kinds[k].name, opt->kind) != 0)
        k++;
    assert(k < N_KINDS);
    *out = &kinds[k];
    return VHEM_OK;
}

/* Converts both sets to one family; the caller frees *full_a and *full_b (or NULL). */
static vhem_status check_sets(vhem_ctx *ctx, const vh_h3m **a, const vh_h3m **b, vh_h3m **full_a,
                              vh_h3m **full_b)
{
    char why[256];

    VH_CHECK((*a)->d == (*b)->d, VHEM_EINVAL, "the first models have dimension %d, but the second have %d",
             (*a)->d, (*b)->d);
    const vh_emission *of_a = (*a)->family, *of_b = (*b)->family;
    VH_CHECK(vh_family_same(of_a, of_b) || of_a->wider == of_b || of_b->wider == of_a, VHEM_EINVAL,
             "the first models have %s emissions, but the second have %s", of_a->name, of_b->name);
    VH_CHECK(!*vh_layout_differs(&(*b)->shape, &(*a)->shape, why, sizeof why), VHEM_EINVAL,
             "the second models do not suit the first: %s", why);
    if (of_a->wider == of_b)
        VH_TRY(vh_h3m_like(ctx, *a, *b, full_a, a));
    else
        VH_TRY(vh_h3m_like(ctx, *b, *a, full_b, b));
    VH_TRY(check_proper(ctx, *a, *a == *b ? NULL : "the first models"));
    if (*a != *b)
        VH_TRY(check_proper(ctx, *b, "the second models"));
    return VHEM_OK;
}

vhem_status vh_distance_shared(vhem_ctx *ctx, const vh_h3m *a, const vh_h3m *b,
                               const vhem_distance_options *opt, double *D, double *error)
{
    VH_BLAS_SERIAL;
    VH_OWN(vh_h3m) *full_a = NULL, *full_b = NULL;
    const kind *with = NULL;
    size_t n = vh_cells(a->K, b->K);
    VH_AUTOFREE double *table = NULL, *table_error = NULL;
    bool careful = D && n <= CAREFUL;

    VH_TRY(check_options(ctx, opt, &with));
    VH_TRY(check_sets(ctx, &a, &b, &full_a, &full_b));
    vh_h3m seen_a = *a, seen_b = *b;
    if (a->family != b->family) { /* one set has models that lack a column */
        seen_a.family = seen_b.family = a->family->with_gaps;
        a = &seen_a;
        b = &seen_b;
    }
    VH_CHECK(D || vh_rank(ctx) > 0, VHEM_EINVAL, "there is no room for the distances: D is NULL");
    if (careful)
        VH_NEW(table, n);
    if (careful && error && with->sampled)
        VH_NEW(table_error, n);
    VH_TRY(with->run(ctx, a, b, opt, careful ? table : D,
                     !error || !with->sampled ? NULL
                     : careful                ? table_error
                                              : error));
    if (careful)
        memcpy(D, table, sizeof *D * n);
    for (size_t k = 0; error && D && (careful || !with->sampled) && k < n; k++)
        error[k] = table_error ? table_error[k] : 0;
    return VHEM_OK;
}

vhem_status vh_distance(vhem_ctx *ctx, const vh_h3m *a, const vh_h3m *b, const vhem_distance_options *opt,
                        double *D, double *error)
{
    vh_ranks_leave(ctx); /* every process needs the whole table, so each computes it */
    return vh_ranks_join(ctx, vh_distance_shared(ctx, a, b, opt, D, error));
}

static vhem_distance_options filled(const vhem_distance_options *opt)
{
    vhem_distance_options o;
    VHEM_INIT(VHEM_DISTANCE_OPTIONS, &o);
    o = opt ? *opt : o;
    vh_options_fill(VHEM_DISTANCE_OPTIONS, &o);
    return o;
}

vhem_status vh_h3m_distance(vhem_ctx *ctx, const vh_h3m *a, const vh_h3m *b, const vhem_distance_options *opt,
                            double *D, double *error)
{
    const vhem_distance_options o = filled(opt);
    return vh_distance(ctx, a, b, &o, D, error);
}
