/* SPDX-License-Identifier: BSD-3-Clause */
/* hmm_search.c - see hmm_search.h. */
#include "cluster/hmm_search.h"

#include "cluster/options.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "core/rng.h"
#include "model/convert.h"
#include "model/layout.h"
#include "model/missing_columns.h"
#include "reduce/start.h"

#include <math.h>
#include <string.h>

enum { MAX_KINDS = 16 };

/* ---- columns that tell models apart -------------------------------------------------------------------- */

#define ALIKE 1e-9 /* parameters that differ by less than this share of them are the same */

typedef struct { /* the part of a component that column k belongs to: a channel of a product, or all of it */
    const vh_emission *family;
    vh_shape shape;
    int k; /* of its columns */
    double *par[VH_MAX_PARAM];
} part;

static part part_of(const vh_h3m *h3m, const vh_hmm *h, int q, int k)
{
    part x = { h3m->family, h3m->shape, k, { NULL } };
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

/* Which of the n numbers of parameter p are of column k: *n from the one returned. */
static size_t own_numbers(const part *x, int p, size_t *n)
{
    const vh_param *param = &x->family->param[p];
    *n = vh_param_is_by_column(param) ? 1
         : is_matrix(param)           ? (size_t)x->shape.d
                                      : vh_param_size(x->family, p, &x->shape);
    return vh_param_is_by_column(param) ? (size_t)x->k : is_matrix(param) ? vh_ij(x->k, x->shape.d, 0) : 0;
}

/* Is the column the same in both, and by itself in both? */
static bool same_column(const part *a, const part *b)
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

/* Is column k the same in all components of all HMMs that have it?  *one becomes the first of them. */
static bool is_still(const vh_h3m *h3m, int k, part *one)
{
    bool any = false;
    for (int64_t i = 0; i < h3m->K; i++) {
        const vh_hmm *h = &h3m->hmm[i];
        bool lacks = vh_hmm_lacks(h3m, h, k);
        for (int q = 0; q < h->S * h->M && !lacks; q++) {
            const part x = part_of(h3m, h, q, k);
            *one = any ? *one : x;
            any = true;
            if (!same_column(one, &x))
                return false;
        }
    }
    return any;
}

/* E[log p(y_k)] of the part under itself; 0: not known, as of what has no spread. */
static vhem_status own_density(vhem_ctx *ctx, const part *x, double *out)
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

/* Columns that are not the same in all states of all models, *n of them: only these say which models are
 * alike.  *rest: what a frame adds to the bounds for all others, whatever the clusters. */
static vhem_status telling_columns(vhem_ctx *ctx, const vh_h3m *h3m, int *n, double *rest)
{
    part one = { .k = 0 };

    *n = h3m->d;
    *rest = 0;
    for (int k = 0; k < h3m->d; k++) {
        double own;
        if (!is_still(h3m, k, &one))
            continue;
        VH_TRY(own_density(ctx, &one, &own));
        *rest += own;
        (*n)--;
    }
    if (*n > 0)
        return VHEM_OK;
    *n = h3m->d; /* all models are the same: there is nothing to tell */
    *rest = 0;
    return VHEM_OK;
}

/* ---- the search ---------------------------------------------------------------------------------------- */

static vhem_status make_start(vhem_ctx *ctx, void *arg, const vh_restart *r, vh_scratch *scratch, void **out)
{
    const vh_hmm_search *s = arg;
    const vh_h3m *h3m = s->base->h3m;
    VH_OWN(vh_h3m) *centers = NULL;
    vh_rng rng;

    if (!r->kind) {
        VH_TRY(vh_h3m_subset(ctx, s->start, NULL, s->start->K, &centers));
    } else {
        VH_TRY(vh_h3m_new(ctx, h3m->family, h3m->shape, s->K, &centers));
        for (int64_t j = 0; j < s->K; j++)
            VH_TRY(vh_h3m_shape(ctx, centers, j, s->opt->S, s->opt->M));
        vh_rng_init(&rng, r->seed, VH_RNG_INIT, 0);
        VH_TRY(vh_start_kind_find(r->kind)->make(ctx, s->trial, s->opt->tau, &rng, scratch, centers));
    }
    VH_TRY(vh_add_to_covariances(ctx, centers, s->opt->cov_add));
    *out = vh_take(centers);
    return VHEM_OK;
}

static vhem_status reduce(vhem_ctx *ctx, void *arg, const vh_reduction *how, void *centers, vh_vhem_run *run)
{
    const vh_hmm_search *s = arg;
    return vh_vhem(ctx, how->trial ? s->trial : s->base, &how->opt, how->scratch, how->n_threads, centers,
                   run);
}

static void free_centers(void *centers)
{
    vh_h3m_free(centers);
}

static const vh_restart_ops ops = { make_start, reduce, free_centers };

vhem_status vh_hmm_search_new(vhem_ctx *ctx, vh_hmm_search *s, uint64_t seed)
{
    const char *kinds[MAX_KINDS];
    int n_kind = 0, n_telling;
    bool given = s->start && s->opt->restarts == 1;
    double rest;

    VH_TRY(telling_columns(ctx, s->base->h3m, &n_telling, &rest));
    for (int k = 0; n_kind < MAX_KINDS && vh_start_kinds[k].name; k++) {
        const char *name = vh_start_kinds[k].name;
        /* The first few slabs of a base HMM that was cut finer are no start. */
        bool copies = strcmp(name, "base") == 0 || strcmp(name, "far") == 0;
        if (s->opt->refine <= 1 || !copies || strcmp(name, s->opt->init) == 0)
            kinds[n_kind++] = name;
    }
    s->search =
        (vh_search){ .ops = &ops,
                     .arg = s,
                     .floor = s->floor,
                     .K = s->K,
                     .Kb = s->base->Kb,
                     .Kb_trial = s->trial->Kb,
                     .lean = s->lean,
                     .slack = VH_BOUND_SLACK * n_telling * s->opt->tau * s->opt->nv * s->base->Kb,
                     .constant = given ? 0 : rest * s->opt->tau,
                     .work = vh_cluster_work(s->base->h3m, s->K, s->opt) * s->base->Kb / s->base->h3m->K };
    return vh_search_new(ctx, s->opt, kinds, n_kind, given, seed, &s->search);
}

void vh_hmm_search_free(vh_hmm_search *s)
{
    vh_search_free(&s->search);
}
