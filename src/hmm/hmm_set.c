/* SPDX-License-Identifier: BSD-3-Clause */
/* hmm_set.c - storage of an H3M: shapes, copies, views, validation and comparison.
 *
 * Nothing is normalised here: a model that is read and written again is the same to the last bit.
 *
 *   1. storage      2. from and to views      3. validate and compare      4. helpers for textures, too */
#include "hmm/hmm_set.h"
#include "core/array2.h"
#include "hmm/missing_columns.h"

#include "core/alloc.h"
#include "core/hash.h"
#include "emission/layout.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct vh_h3m_block {
    vh_h3m_block *next;
    double *x;
};

static void free_shared(vh_h3m_block *block)
{
    if (block)
        free(block->x);
    free(block);
}
VH_OWNED(vh_h3m_block, free_shared)

/* ---- 1. storage ---------------------------------------------------------------------------------------- */

double *vh_hmm_param(const vh_h3m *h3m, const vh_hmm *h, int p)
{
    size_t components = vh_cells(h->S, h->M);
    double *at = h->theta + components;
    for (int q = 0; q < p; q++)
        at += components * vh_param_size(h3m->family, q, &h3m->shape);
    return at;
}

void vh_hmm_component(const vh_h3m *h3m, const vh_hmm *h, int s, int m, double **par)
{
    size_t r = vh_ij(s, h->M, m);
    for (int p = 0; p < h3m->family->n_param; p++)
        par[p] = vh_hmm_param(h3m, h, p) + r * vh_param_size(h3m->family, p, &h3m->shape);
}

vhem_status vh_h3m_new(vhem_ctx *ctx, const vh_emission *family, vh_shape shape, int64_t K, vh_h3m **out)
{
    VH_OWN(vh_h3m) *h3m = NULL;

    VH_CHECK(shape.d >= 1, VHEM_EINVAL, "d is %d, must be at least 1", shape.d);
    VH_CHECK(K >= 1, VHEM_EINVAL, "there are %lld HMMs, must be at least 1", (long long)K);
    VH_NEW(h3m, 1);
    h3m->family = family;
    h3m->shape = shape;
    vh_layout_keep(shape.layout);
    h3m->d = shape.d;
    VH_NEW(h3m->omega, K);
    VH_NEW(h3m->hmm, K);
    h3m->K = K; /* last: vh_h3m_free reads hmm[0 .. K-1] */
    for (int64_t i = 0; i < K; i++)
        h3m->omega[i] = 1.0 / K;
    *out = vh_take(h3m);
    return VHEM_OK;
}

/* Size of parameter p of a component, as a double: it may overflow an integer. */
static double parameters(const vh_h3m *h3m, int p)
{
    double size = 1;
    for (int k = 0; k < h3m->family->param[p].rank; k++)
        size *= vh_param_extent(&h3m->family->param[p], k, &h3m->shape);
    return size;
}

/* Counts the numbers of an HMM of this shape: all, and those of theta. */
static vhem_status count_numbers(vhem_ctx *ctx, const vh_h3m *h3m, int S, int M, size_t *all, size_t *n_theta)
{
    double per_component = 1, theta, sum; /* doubles: they may overflow any integer type */

    VH_CHECK(S >= 1, VHEM_EINVAL, "S is %d, must be at least 1", S);
    VH_CHECK(M >= 1, VHEM_EINVAL, "M is %d, must be at least 1", M);
    for (int p = 0; p < h3m->family->n_param; p++)
        per_component += parameters(h3m, p);
    theta = (double)S * M * per_component;
    sum = S + (double)S * S + theta;
    VH_CHECK(sum <= INT_MAX, VHEM_EINVAL, "S = %d, M = %d, d = %d make %.3g numbers, must be at most %d", S,
             M, h3m->d, sum, INT_MAX);
    *all = (size_t)sum;
    *n_theta = (size_t)theta;
    return VHEM_OK;
}

static void set_block(vh_hmm *h, int S, int M, double *block, size_t n_theta)
{
    h->S = S;
    h->M = M;
    h->pi = block;
    h->A = block + S;
    h->theta = h->A + vh_cells(S, S);
    h->n_theta = n_theta;
}

static void free_block(vh_hmm *h)
{
    if (!h->lent)
        free(h->pi);
    h->pi = NULL;
    h->lent = false;
}

vhem_status vh_h3m_shape(vhem_ctx *ctx, vh_h3m *h3m, int64_t i, int S, int M)
{
    assert(i >= 0 && i < h3m->K);
    size_t all, n_theta;
    double *block = NULL;

    VH_TRY(count_numbers(ctx, h3m, S, M, &all, &n_theta));
    VH_NEW(block, all);
    free_block(&h3m->hmm[i]);
    set_block(&h3m->hmm[i], S, M, block, n_theta);
    return VHEM_OK;
}

vhem_status vh_h3m_shape_many(vhem_ctx *ctx, vh_h3m *h3m, int64_t first, int n, const int *S, const int *M)
{
    size_t all = 0, n_theta = 0, total = 0;
    VH_OWN(vh_h3m_block) *block = NULL;

    assert(first >= 0 && first + n <= h3m->K);
    for (int i = 0; i < n; i++) {
        if (i == 0 || S[i] != S[i - 1] || M[i] != M[i - 1])
            VH_TRY(count_numbers(ctx, h3m, S[i], M[i], &all, &n_theta));
        total += all;
    }
    VH_NEW(block, 1);
    VH_NEW(block->x, total);
    double *at = block->x;
    for (int i = 0; i < n; i++) {
        vh_hmm *h = &h3m->hmm[first + i];
        if (i == 0 || S[i] != S[i - 1] || M[i] != M[i - 1])
            VH_TRY(count_numbers(ctx, h3m, S[i], M[i], &all, &n_theta));
        free_block(h);
        set_block(h, S[i], M[i], at, n_theta);
        h->lent = true;
        at += all;
    }
#pragma omp critical(vh_h3m_blocks)
    {
        block->next = h3m->blocks;
        h3m->blocks = block;
    }
    block = NULL;
    return VHEM_OK;
}

void vh_h3m_move_blocks(vh_h3m *from, vh_h3m *to)
{
    vh_h3m_block **end = &from->blocks;
    while (*end)
        end = &(*end)->next;
    *end = to->blocks;
    to->blocks = from->blocks;
    from->blocks = NULL;
}

vhem_status vh_h3m_set_text(vhem_ctx *ctx, char **slot, const char *text)
{
    char *copy = NULL;
    if (text)
        VH_DUP(copy, text);
    free(*slot);
    *slot = copy;
    return VHEM_OK;
}

vhem_status vh_h3m_set_cluster(vhem_ctx *ctx, char **slot, int j)
{
    char name[32];
    snprintf(name, sizeof name, "cluster_%d", j);
    return vh_h3m_set_text(ctx, slot, name);
}

void vh_hmm_copy(vh_hmm *dst, const vh_hmm *src)
{
    assert(dst->S == src->S && dst->M == src->M && dst->n_theta == src->n_theta);
    memcpy(dst->pi, src->pi, ((size_t)(src->theta - src->pi) + src->n_theta) * sizeof *src->pi);
}

static void free_hmm(vh_hmm *h)
{
    free(h->name);
    free(h->label);
    free(h->extra);
    free_block(h);
}

void vh_h3m_truncate(vh_h3m *h3m, int64_t K)
{
    for (int64_t i = K; i < h3m->K; i++)
        free_hmm(&h3m->hmm[i]);
    h3m->K = K;
    for (int64_t i = 0; i < K; i++)
        h3m->omega[i] = 1.0 / K;
}

void vh_h3m_free(vh_h3m *h3m)
{
    if (!h3m)
        return;
    for (int64_t i = 0; i < h3m->K; i++)
        free_hmm(&h3m->hmm[i]);
    free(h3m->hmm);
    for (vh_h3m_block *block = h3m->blocks, *next; block; block = next) {
        next = block->next;
        free_shared(block);
    }
    free(h3m->omega);
    free(h3m->prior);
    free(h3m->posterior);
    free(h3m->extra);
    free(h3m->provenance);
    vh_layout_drop(h3m->shape.layout);
    free(h3m);
}

/* ---- 2. from and to views ------------------------------------------------------------------------------ */

static int param_index(const vh_emission *family, const char *name)
{
    for (int p = 0; p < family->n_param; p++)
        if (strcmp(family->param[p].name, name) == 0)
            return p;
    return -1;
}

/* Copies the emission parameters of v: theta as a whole, else c and each parameter by name. */
static vhem_status copy_theta(vhem_ctx *ctx, const vh_h3m *h3m, vh_hmm *h, const vhem_hmm_view *v)
{
    size_t components = vh_cells(h->S, h->M);

    if (v->theta) {
        VH_CHECK(v->n_theta == 0 || (size_t)v->n_theta == h->n_theta, VHEM_EINVAL,
                 "n_theta is %d, must be %zu for %s with S = %d, M = %d, d = %d", v->n_theta, h->n_theta,
                 h3m->family->name, h->S, h->M, h3m->d);
        memcpy(h->theta, v->theta, h->n_theta * sizeof *h->theta);
        return VHEM_OK;
    }
    VH_CHECK(v->c, VHEM_EINVAL, "neither theta nor c is given");
    memcpy(vh_hmm_c(h), v->c, components * sizeof *v->c);
    for (int p = 0; p < h3m->family->n_param; p++) {
        const char *name = h3m->family->param[p].name;
        const double *from = strcmp(name, "mu") == 0 ? v->mu : strcmp(name, "cov") == 0 ? v->cov : NULL;
        VH_CHECK(from, VHEM_EINVAL, "neither theta nor %s is given", name);
        size_t size = components * vh_param_size(h3m->family, p, &h3m->shape);
        memcpy(vh_hmm_param(h3m, h, p), from, size * sizeof *from);
    }
    return VHEM_OK;
}

/* The layout of the first of K views if it matches the family and d, else NULL.  If the family can do without
 * a layout (which then only adds names), all views must share it. */
static const vh_layout *common_layout(const vh_emission *family, int d, int64_t K, const vhem_hmm_view *hmm)
{
    const vh_layout *layout = K > 0 ? hmm[0].layout : NULL;
    for (int64_t i = 1; i < K && !vh_emission_needs_layout(family); i++)
        layout = hmm[i].layout == layout ? layout : NULL;
    return layout && layout->family == family && layout->d == d ? layout : NULL;
}

/* Fails unless the HMM of a view has the columns of the set. */
static vhem_status check_layout(vhem_ctx *ctx, const vh_h3m *h3m, const vh_layout *layout)
{
    const vh_layout *all = h3m->shape.layout;
    char why[256];

    if (!all || layout == all)
        return VHEM_OK;
    VH_CHECK(layout, VHEM_EINVAL, "it has no layout, must have that of all");
    const vh_shape shape = vh_layout_shape(layout);
    VH_CHECK(layout->family == all->family && !*vh_layout_differs(&shape, &h3m->shape, why, sizeof why),
             VHEM_EINVAL, "it does not match the others: %s",
             layout->family == all->family ? why : "its family is another");
    return VHEM_OK;
}

static vhem_status copy_view(vhem_ctx *ctx, vh_h3m *h3m, int64_t i, const vhem_hmm_view *v)
{
    vh_hmm *h = &h3m->hmm[i];

    VH_CHECK(!v->emission || strcmp(v->emission, h3m->family->name) == 0, VHEM_EINVAL,
             "emission is %s, must be %s as for all", v->emission, h3m->family->name);
    VH_CHECK(v->d == 0 || v->d == h3m->d, VHEM_EINVAL, "d is %d, must be %d as for all", v->d, h3m->d);
    VH_TRY(check_layout(ctx, h3m, v->layout));
    VH_CHECK(v->pi && v->A, VHEM_EINVAL, "%s is not given", v->pi ? "A" : "pi");
    VH_TRY(vh_h3m_shape(ctx, h3m, i, v->S, v->M));
    VH_TRY(vh_h3m_set_text(ctx, &h->name, vh_model_text(v->name)));
    VH_TRY(vh_h3m_set_text(ctx, &h->label, vh_model_text(v->label)));
    h3m->omega[i] = v->omega;
    memcpy(h->pi, v->pi, (size_t)h->S * sizeof *h->pi);
    memcpy(h->A, v->A, vh_cells(h->S, h->S) * sizeof *h->A);
    return copy_theta(ctx, h3m, h, v);
}

vhem_status vh_h3m_from_views(vhem_ctx *ctx, const char *emission, int d, int64_t K, const vhem_hmm_view *hmm,
                              vh_h3m **out)
{
    VH_OWN(vh_h3m) *h3m = NULL;
    const vh_emission *family = emission ? vh_emission_find(emission) : NULL;

    VH_CHECK(family, VHEM_EINVAL, "emission is '%s', must be one of: %s", emission ? emission : "",
             vh_emission_names());
    const vh_layout *layout = common_layout(family, d, K, hmm);
    VH_CHECK(layout || !vh_emission_needs_layout(family), VHEM_EINVAL,
             "%s models cannot be made from arrays alone; read them from a file", emission);
    VH_TRY(vh_h3m_new(ctx, family, layout ? vh_layout_shape(layout) : (vh_shape){ .d = d }, K, &h3m));
    for (int64_t i = 0; i < K; i++)
        VH_TRY(vh_h3m_error_in(ctx, copy_view(ctx, h3m, i, &hmm[i]), h3m, i));
    VH_TRY(vh_h3m_validate(ctx, h3m));
    vh_h3m_settle_family(h3m);
    *out = vh_take(h3m);
    return VHEM_OK;
}

vhem_status vh_h3m_view(const vh_h3m *h3m, int64_t i, vhem_hmm_view *out)
{
    if (i < 0 || i >= h3m->K)
        return VHEM_EINVAL;
    const vh_hmm *h = &h3m->hmm[i];
    int mu = param_index(h3m->family, "mu"), cov = param_index(h3m->family, "cov");
    *out = (vhem_hmm_view){
        .S = h->S,
        .M = h->M,
        .d = h3m->d,
        .n_theta = (int)h->n_theta,
        .emission = h3m->family->name,
        .name = h->name ? h->name : "",
        .label = h->label ? h->label : "",
        .omega = h3m->omega[i],
        .pi = h->pi,
        .A = h->A,
        .theta = h->theta,
        .c = vh_hmm_c(h),
        .mu = mu < 0 ? NULL : vh_hmm_param(h3m, h, mu),
        .cov = cov < 0 ? NULL : vh_hmm_param(h3m, h, cov),
        .layout = h3m->shape.layout,
    };
    return VHEM_OK;
}

/* ---- 3. validate and compare --------------------------------------------------------------------------- */

void vh_h3m_prefix(vhem_ctx *ctx, const vh_h3m *h3m, int64_t i)
{
    vh_model_prefix(ctx, "HMM", i, h3m->hmm[i].name);
}

vhem_status vh_h3m_error_in(vhem_ctx *ctx, vhem_status st, const vh_h3m *h3m, int64_t i)
{
    if (st != VHEM_OK)
        vh_h3m_prefix(ctx, h3m, i);
    return st;
}

/* Fails unless p [n] is a distribution; messages call it name, or with row >= 0 "row <row> of name". */
static vhem_status check_distribution(vhem_ctx *ctx, const double *p, int64_t n, const char *name, int row)
{
    double sum = 0;
    int64_t bad = -1;
    char who[64];

    for (int64_t k = 0; k < n; k++) {
        sum += p[k];
        if (bad < 0 && !(p[k] >= 0 && isfinite(p[k])))
            bad = k;
    }
    if (bad < 0 && fabs(sum - 1) <= VH_SUM_TOLERANCE)
        return VHEM_OK;
    if (row >= 0)
        snprintf(who, sizeof who, "row %d of %s", row, name);
    else
        snprintf(who, sizeof who, "%s", name);
    if (bad >= 0)
        return vh_fail(ctx, VHEM_EINVAL, "entry %lld of %s is %.10g, must be a finite number of 0 or more",
                       (long long)bad, who, p[bad]);
    return vh_fail(ctx, VHEM_EINVAL, "%s sums to %.10g, must be 1", who, sum);
}

static vhem_status check_component(vhem_ctx *ctx, const vh_h3m *h3m, const vh_hmm *h, int s, int m,
                                   double *work)
{
    double *par[VH_MAX_PARAM];
    const double *proper[VH_MAX_PARAM];
    char why[256] = "";
    vh_hmm_component(h3m, h, s, m, par);
    if (!vh_component_filled_in(h3m, h, par, work + vh_emission_room(h3m->family, &h3m->shape), proper, why,
                                sizeof why)
        || !h3m->family->validate(&h3m->shape, proper, why, sizeof why, work))
        return vh_fail(ctx, VHEM_EINVAL, "state %d, component %d: %s", s, m, why);
    return VHEM_OK;
}

static vhem_status check_hmm(vhem_ctx *ctx, const vh_h3m *h3m, const vh_hmm *h, double *work)
{
    VH_CHECK(h->S >= 1 && h->M >= 1, VHEM_EINVAL, "S is %d and M is %d, must be at least 1", h->S, h->M);
    VH_CHECK(h->M == 1 || !h3m->family->single, VHEM_EINVAL,
             "M is %d, must be 1: a mixture of %s components is one such component", h->M, h3m->family->name);
    VH_TRY(check_distribution(ctx, h->pi, h->S, "pi", -1));
    for (int s = 0; s < h->S; s++)
        VH_TRY(check_distribution(ctx, h->A + vh_row(s, h->S), h->S, "A", s));
    for (int s = 0; s < h->S; s++)
        VH_TRY(check_distribution(ctx, vh_hmm_c(h) + vh_row(s, h->M), h->M, "c", s));
    for (int s = 0; s < h->S; s++)
        for (int m = 0; m < h->M; m++)
            VH_TRY(check_component(ctx, h3m, h, s, m, work));
    return VHEM_OK;
}

vhem_status vh_h3m_check(vhem_ctx *ctx, const vh_h3m *h3m, int64_t first, int64_t n, int64_t number)
{
    vhem_status st = VHEM_OK;
    size_t numbers = 0;
    VH_AUTOFREE double *work = NULL;

    for (int p = 0; p < h3m->family->n_param; p++)
        numbers += vh_param_size(h3m->family, p, &h3m->shape);
    VH_NEW(work, vh_emission_room(h3m->family, &h3m->shape) + numbers);
    for (int64_t i = first; i < first + n; i++) {
        double omega = h3m->omega[i];
        st = check_hmm(ctx, h3m, &h3m->hmm[i], work);
        if (st == VHEM_OK && !(omega >= 0 && isfinite(omega)))
            st = vh_fail(ctx, VHEM_EINVAL, "omega is %.10g, must be a finite number of 0 or more", omega);
        if (st != VHEM_OK) {
            vh_model_prefix(ctx, "HMM", number + i - first, h3m->hmm[i].name);
            return st;
        }
    }
    return st;
}

vhem_status vh_h3m_check_omega(vhem_ctx *ctx, const vh_h3m *h3m)
{
    return check_distribution(ctx, h3m->omega, h3m->K, "omega", -1);
}

vhem_status vh_h3m_validate(vhem_ctx *ctx, const vh_h3m *h3m)
{
    VH_CHECK(h3m->d >= 1, VHEM_EINVAL, "d is %d, must be at least 1", h3m->d);
    VH_TRY(vh_h3m_check_omega(ctx, h3m));
    return vh_h3m_check(ctx, h3m, 0, h3m->K, 0);
}

/* Name of the array that holds number k of the block of h. */
static const char *array_name(const vh_h3m *h3m, const vh_hmm *h, size_t k)
{
    const double *at = h->pi + k;
    const char *name = at < h->A ? "pi" : at < h->theta ? "A" : "c";
    for (int p = 0; p < h3m->family->n_param; p++)
        if (at >= vh_hmm_param(h3m, h, p))
            name = h3m->family->param[p].name;
    return name;
}

vhem_status vh_h3m_require_finite(vhem_ctx *ctx, const vh_h3m *h3m)
{
    vhem_status st = VHEM_OK;

    for (int64_t i = 0; i < h3m->K; i++) {
        const vh_hmm *h = &h3m->hmm[i];
        size_t n = vh_hmm_numbers(h);
        VH_CHECK(isfinite(h3m->omega[i]), VHEM_ENUMERIC, "omega[%lld] is %g, cannot be written", (long long)i,
                 h3m->omega[i]);
        for (size_t k = 0; k < n; k++) {
            if (isfinite(h->pi[k]) || vh_hmm_null(h3m, h, h->pi + k))
                continue;
            st = vh_fail(ctx, VHEM_ENUMERIC, "a number in %s is %g, cannot be written", array_name(h3m, h, k),
                         h->pi[k]);
            vh_h3m_prefix(ctx, h3m, i);
            return st;
        }
    }
    return st;
}

double vh_h3m_compare(const vh_h3m *a, const vh_h3m *b)
{
    char why[256];
    if (!vh_family_same(a->family, b->family) || a->shape.V != b->shape.V || a->K != b->K
        || *vh_layout_differs(&a->shape, &b->shape, why, sizeof why))
        return INFINITY;
    double worst = vh_model_difference(a->omega, b->omega, (size_t)a->K);
    for (int64_t i = 0; i < a->K; i++) {
        const vh_hmm *g = &a->hmm[i], *h = &b->hmm[i];
        if (g->S != h->S || g->M != h->M)
            return INFINITY;
        worst = fmax(worst, vh_model_difference(g->pi, h->pi, (size_t)(g->theta - g->pi) + g->n_theta));
    }
    return worst;
}

uint64_t vh_h3m_fingerprint(const vh_h3m *h3m)
{
    uint64_t h = vh_hash_chain(0, h3m->omega, sizeof *h3m->omega * (size_t)h3m->K);
    for (int64_t i = 0; i < h3m->K; i++) {
        const vh_hmm *m = &h3m->hmm[i];
        h = vh_hash_chain(h, m->pi, vh_hmm_numbers(m) * sizeof *m->pi);
    }
    return h;
}

/* ---- 4. helpers for sets of models, HMMs or dynamic textures ------------------------------------------- */

const char *vh_model_text(const char *text)
{
    return text && *text ? text : NULL;
}

void vh_model_prefix(vhem_ctx *ctx, const char *kind, int64_t i, const char *name)
{
    char who[160];
    if (vh_model_text(name))
        snprintf(who, sizeof who, "%s %lld ('%.120s')", kind, (long long)i, name);
    else
        snprintf(who, sizeof who, "%s %lld", kind, (long long)i);
    vh_error_prefix(ctx, who);
}

double vh_model_difference(const double *a, const double *b, size_t n)
{
    double worst = 0;
    for (size_t k = 0; k < n; k++) {
        double scale = fmax(1, fmax(fabs(a[k]), fabs(b[k])));
        double gap = fabs(a[k] / scale - b[k] / scale); /* a - b may overflow */
        if (isnan(a[k]) && isnan(b[k]))                 /* null in both */
            continue;
        if (!(gap <= worst))
            worst = isnan(gap) ? INFINITY : gap;
    }
    return worst;
}
