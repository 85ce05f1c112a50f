/* SPDX-License-Identifier: BSD-3-Clause */
/* intervals.c - 95 % credible intervals of the parameters of variational Bayes centres, from the posterior in
 * the file.
 *
 * The posterior counts virtual samples, nv of tau frames per model, and an interval covers the uncertainty
 * they leave.  It does not cover errors of the models, nor that a model fitted to one sequence has seen one
 * start, not nv ("pi_once").
 *
 * An entry of a Dirichlet distribution with parameters a has the distribution Beta(a_k, sum a - a_k).  A mean
 * has a Student distribution with nu degrees of freedom (full covariances: nu - d + 1 = f), scale sqrt(B_kk /
 * (lambda f)).  Other families compute their own (vh_counts). */
#include "core/array2.h"
#include "core/object.h"
#include "math/student.h"
#include "emission/layout.h"
#include "files/posterior_json.h"
#include "prior/posterior_set.h"
#include "files/prior_json.h"
#include "vhem/analysis.h"

#define OUTSIDE 0.05 /* probability */

typedef struct { /* the public record and the owner of its texts */
    vhem_intervals seen;
    vhem_interval *own; /* [room] */
    size_t room;
    vh_posteriors *post;
    double eta, nv; /* of the prior; virtual samples per model */
    int64_t most;   /* largest parameter size included; -1: any */
} intervals;

VH_OWNED(intervals, vh_object_free)

static void clear(void *record)
{
    intervals *x = record;
    free(x->own);
    vh_posteriors_free(x->post);
}

/* ---- one interval -------------------------------------------------------------------------------------- */

/* Each function sets mean, low and high.  For Beta(a, rest): */
static void set_beta(double a, double rest, vhem_interval *v)
{
    v->mean = a / (a + rest);
    v->low = vh_beta_quantile(a, rest, OUTSIDE / 2);
    v->high = vh_beta_quantile(a, rest, 1 - OUTSIDE / 2);
}

/* For entry k of a Dirichlet distribution with n parameters a; a single entry is certain. */
static void set_share(int n, const double *a, int k, vhem_interval *v)
{
    double sum = 0;
    v->mean = v->low = v->high = 1;
    for (int i = 0; i < n; i++)
        sum += a[i];
    if (n >= 2)
        set_beta(a[k], sum - a[k], v);
}

/* For entry s of pi if each model counts as one start: eta [S] of the posterior is eta0 plus the starts of
 * all virtual samples, nv per model.  For nv <= 1, as in the posterior. */
static void set_start(const intervals *x, int S, const double *eta, int s, vhem_interval *v)
{
    double nv = fmax(x->nv, 1), own = x->eta + (eta[s] - x->eta) / nv, rest = 0;
    v->mean = v->low = v->high = 1;
    for (int i = 0; i < S; i++)
        rest += i == s ? 0 : x->eta + (eta[i] - x->eta) / nv;
    if (S >= 2)
        set_beta(own, rest, v);
}

/* For entry k of the first parameter of component q: a dimension of the mean or a symbol probability. */
static void set_mean(const vh_prior *shape, const vh_posterior *h, int q, int k, vhem_interval *v)
{
    const vh_counts *counts = shape->family->counts;
    int d = shape->d;
    if (counts) {
        const double *a = h->count + (size_t)q * vh_prior_counts(shape);
        double *mean = h->work, *const par[] = { mean };
        counts->mean(&shape->shape, a, par);
        v->mean = mean[k];
        counts->interval(&shape->shape, a, k, OUTSIDE / 2, &v->low, &v->high);
        return;
    }
    double mean = h->m[q * d + k], lambda = h->by_column ? h->col_lambda[q * d + k] : h->lambda[q];
    double f = h->by_column ? h->col_nu[q * d + k] : h->nu[q] - (vh_prior_full(shape->family) ? d - 1 : 0);
    size_t at = (size_t)q * vh_prior_size(shape) + vh_scatter_at(shape->family, d, k);
    double half = vh_student_beyond(OUTSIDE, f) * sqrt(h->B[at] / (lambda * f));
    v->mean = mean;
    v->low = mean - half;
    v->high = mean + half;
}

/* ---- all intervals of a centre ------------------------------------------------------------------------- */

static bool fits(const intervals *x, int64_t n)
{
    return x->most < 0 || n <= x->most;
}

/* Appends an interval of cluster j with all other fields unset. */
static vhem_status next(vhem_ctx *ctx, intervals *x, const char *name, int64_t j, vhem_interval **out)
{
    VH_TRY(vh_grow(ctx, &x->own, &x->room, (size_t)x->seen.n + 1, sizeof *x->own));
    *out = &x->own[x->seen.n++];
    **out = (vhem_interval){ j, name, -1, -1, -1, -1, NULL, NAN, NAN, NAN };
    x->seen.interval = x->own;
    return VHEM_OK;
}

/* Adds the intervals of component q of state s, channel after channel for a product.  shape and h belong to
 * the component or to `channel`. */
static vhem_status add_interval(vhem_ctx *ctx, intervals *x, const vh_prior *shape, const vh_posterior *h,
                                const vh_channel *channel, vhem_interval at, int q)
{
    const vh_layout *layout = shape->shape.layout;
    vhem_interval *v;

    for (int c = 0; c < shape->n_channel; c++)
        VH_TRY(add_interval(ctx, x, shape->channel[c], &h->channel[c], layout ? &layout->channel[c] : NULL,
                            at, q));
    int n = shape->n_channel > 0 ? 0 : (int)vh_param_size(shape->family, 0, &shape->shape);
    bool symbols = shape->family->param[0].dim[0] == VH_PER_SYMBOL;
    for (int k = 0; k < n; k++) {
        VH_TRY(next(ctx, x, shape->family->param[0].name, at.cluster, &v));
        v->state = at.state;
        v->component = at.component;
        v->column = (channel ? channel->column : 0) + (symbols ? 0 : k);
        v->symbol = symbols && channel && channel->symbol ? channel->symbol[k] : NULL;
        set_mean(shape, h, q, k, v);
    }
    return VHEM_OK;
}

/* Number of parameters of a component that have intervals, over all channels of a product. */
static int64_t count_entries(const vh_prior *shape)
{
    int64_t n = shape->n_channel > 0 ? 0 : (int64_t)vh_param_size(shape->family, 0, &shape->shape);
    for (int c = 0; c < shape->n_channel; c++)
        n += count_entries(shape->channel[c]);
    return n;
}

static vhem_status add_components(vhem_ctx *ctx, intervals *x, int64_t j, int s)
{
    const vh_prior *shape = x->post->shape;
    const vh_layout *layout = shape->shape.layout;
    const vh_posterior *h = &x->post->hmm[j];
    int64_t n = (int64_t)h->S * h->M;

    for (int m = 0; m < h->M; m++) {
        vhem_interval at = { .cluster = j, .state = s, .component = m }, *v;
        if (fits(x, n)) {
            VH_TRY(next(ctx, x, "c", j, &v));
            v->state = s;
            v->component = m;
            set_share(h->M, h->kappa + s * h->M, m, v);
        }
        if (fits(x, n * count_entries(shape)))
            VH_TRY(add_interval(ctx, x, shape, h, layout ? layout->channel : NULL, at, s * h->M + m));
    }
    return VHEM_OK;
}

static vhem_status add_state(vhem_ctx *ctx, intervals *x, int64_t j, int s)
{
    const vh_posterior *h = &x->post->hmm[j];
    vhem_interval *v;

    if (fits(x, h->S)) {
        VH_TRY(next(ctx, x, "pi", j, &v));
        v->state = s;
        set_share(h->S, h->eta, s, v);
        VH_TRY(next(ctx, x, "pi_once", j, &v));
        v->state = s;
        set_start(x, h->S, h->eta, s, v);
    }
    for (int r = 0; r < h->S && fits(x, (int64_t)h->S * h->S); r++) {
        VH_TRY(next(ctx, x, "A", j, &v));
        v->state = s;
        v->to = r;
        set_share(h->S, h->eps + s * h->S, r, v);
    }
    return add_components(ctx, x, j, s);
}

static vhem_status add_center(vhem_ctx *ctx, intervals *x, int64_t j)
{
    vhem_interval *v;

    VH_TRY(next(ctx, x, "omega", j, &v));
    set_share(x->post->K, x->post->alpha, (int)j, v);
    for (int s = 0; s < x->post->hmm[j].S; s++)
        VH_TRY(add_state(ctx, x, j, s));
    return VHEM_OK;
}

vhem_status vhem_intervals_find(vhem_ctx *ctx, const vhem_clustering *c, int64_t cluster, int64_t most,
                                vhem_intervals **out)
{
    VH_ENTER(c, out);
    VH_OWN(intervals) *x = NULL;
    VH_OWN(vh_prior) *prior = NULL;

    VH_CHECK(cluster >= -1 && cluster < c->Kr, VHEM_EINVAL, "cluster %lld was asked for, but there are %lld",
             (long long)cluster, (long long)c->Kr);
    VH_NEW_OBJECT(x, clear);
    x->most = most;
    if (c->posterior) {
        VH_TRY(vh_posteriors_read(ctx, c->posterior, &x->post));
        bool known = c->prior && vh_prior_read(ctx, c->prior, &prior) == VHEM_OK;
        x->eta = known ? prior->eta : 1;
        x->nv = c->options->nv;
        for (int64_t j = 0; j < x->post->K; j++)
            if (cluster < 0 || j == cluster)
                VH_TRY(add_center(ctx, x, j));
    }
    *out = &vh_take(x)->seen;
    return VHEM_OK;
}
