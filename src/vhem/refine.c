/* SPDX-License-Identifier: BSD-3-Clause */
/* refine.c - see refine.h.
 *
 * The variational distributions phi and eta of VHEM depend on the component that made a frame, not on the
 * frame (paper, Section 3.3).  So where components overlap the bound is loose, and looser for the true model
 * than for a blurred one.  Cutting a component tells phi and eta roughly where the frame lies.  VHEM needs
 * only the mean and covariance of a base component, and those of a cut Gaussian have a closed form:
 *
 *   x ~ N(0, 1) between the quantiles a and b, probability p:
 *   mean m = (g(a) - g(b)) / p,   variance v = 1 + (a g(a) - b g(b)) / p - m^2,   g the normal density
 *
 *   y = mu + L z with a cut of w'z, |w| = 1:   mean mu + m L w,   covariance Sigma - (1 - v) L w (L w)'
 *
 * The family chooses the axis of the cut, if any (emission/component_split.h).  Symbols are split into the
 * likeliest ones and the rest; a part then has the probability of its symbols.
 *
 *   1. cuts of the standard normal variable
 *   2. the refined HMM: states (s, m, q) with pi' = pi_s c_sm p_q, A' = A_st c_tm p_q, p_q = 1 / n for
 *   Gaussians */
#include "vhem/refine.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "hmm/missing_columns.h"
#include "emission/component_split.h"

#include <math.h>

/* ---- 1. cuts ------------------------------------------------------------------------------------------ */

/* x with P(X <= x) = p, by bisection: only a few values are needed, once per set of models. */
static double normal_quantile(double p)
{
    double low = -40, high = 40;
    for (int i = 0; i < 100; i++) {
        double x = 0.5 * (low + high);
        if (0.5 * erfc(-x / sqrt(2)) < p)
            low = x;
        else
            high = x;
    }
    return 0.5 * (low + high);
}

static double normal_density(double x)
{
    return exp(-0.5 * x * x) / sqrt(2 * acos(-1));
}

void vh_split_moments(int Q, int q, double *mean, double *var)
{
    double p = 1.0 / Q, ga = 0, gb = 0, edge = 0;
    if (q > 0) {
        double a = normal_quantile(q * p);
        ga = normal_density(a);
        edge += a * ga;
    }
    if (q < Q - 1) {
        double b = normal_quantile((q + 1) * p);
        gb = normal_density(b);
        edge -= b * gb;
    }
    *mean = (ga - gb) / p;
    *var = fmax(1 + edge / p - *mean * *mean, 0);
}

typedef struct {
    int Q;
    double mean[VH_MAX_SPLITS], var[VH_MAX_SPLITS];
} cuts;

/* ---- 2. the refined HMM -------------------------------------------------------------------------------- */

/* Lists the components of h that have weight and how each is cut; returns their number. */
static int make_pieces(const vh_h3m *h3m, const vh_hmm *h, int Q, vh_component_cut *p, double *axes,
                       double *work)
{
    int d = h3m->d, n = 0;
    for (int q = 0; q < h->S * h->M; q++) {
        double c = vh_hmm_c(h)[q];
        if (!(c > 0))
            continue;
        p[n] = (vh_component_cut){ .s = q / h->M, .share = c, .n = 1, .Lw = axes + n * d };
        vh_hmm_component(h3m, h, q / h->M, q % h->M, p[n++].par);
    }
    const vh_splits *how = h3m->family->cuts;
    for (int e = 0; Q > 1 && e < n; e++)
        if (how->parts)
            p[e].n = how->parts(&h3m->shape, &p[e], Q);
        else if (how->axis(&h3m->shape, p, n, &p[e], work))
            p[e].n = Q;
    return n;
}

/* Writes cut q of a component to par; returns its share of the component. */
static double put_cut(const vh_h3m *h3m, const vh_component_cut *p, const cuts *x, int q, double *const *par)
{
    const vh_splits *how = h3m->family->cuts;
    vh_emission_copy(h3m->family, &h3m->shape, (const double *const *)p->par, par);
    if (p->n > 1 && how->part)
        return how->part(&h3m->shape, p, q, par);
    if (p->n > 1)
        how->cut(&h3m->shape, p, x->mean[q], x->var[q], par);
    return 1.0 / p->n;
}

/* Builds HMM i of out from the n components of HMM i of h3m. */
static vhem_status put_hmm(vhem_ctx *ctx, const vh_h3m *h3m, const vh_component_cut *p, int n, const cuts *x,
                           int64_t i, vh_h3m *out)
{
    const vh_hmm *h = &h3m->hmm[i];
    int S = 0, to = 0;

    for (int e = 0; e < n; e++)
        S += p[e].n;
    VH_TRY(vh_h3m_shape(ctx, out, i, S, 1));
    vh_hmm *r = &out->hmm[i];
    for (int e = 0; e < n; e++)
        for (int q = 0; q < p[e].n; q++, to++) {
            double *par[VH_MAX_PARAM];
            vh_hmm_component(out, r, to, 0, par);
            double share = p[e].share * put_cut(h3m, &p[e], x, q, par);
            vh_hmm_c(r)[to] = 1;
            r->pi[to] = h->pi[p[e].s] * share;
            for (int from = 0, f = 0; f < n; f++)
                for (int k = 0; k < p[f].n; k++, from++)
                    r->A[from * S + to] = h->A[p[f].s * h->S + p[e].s] * share;
        }
    VH_TRY(vh_h3m_set_text(ctx, &r->name, h->name));
    return vh_h3m_set_text(ctx, &r->label, h->label);
}

/* Fails if an HMM lacks a column: it cannot be cut along it. */
static vhem_status check_columns(vhem_ctx *ctx, const vh_h3m *h3m)
{
    for (int64_t i = 0; i < h3m->K; i++)
        for (int k = 0; k < h3m->d; k++)
            VH_CHECK(
                !vh_hmm_lacks(h3m, &h3m->hmm[i], k), VHEM_EINVAL,
                "refine cuts HMMs that have every column, and HMM %lld%s%.80s%s lacks column %d (from 0 on)",
                (long long)i, h3m->hmm[i].name ? " '" : "", h3m->hmm[i].name ? h3m->hmm[i].name : "",
                h3m->hmm[i].name ? "'" : "", k);
    return VHEM_OK;
}

vhem_status vh_refine(vhem_ctx *ctx, const vh_h3m *h3m, int Q, vh_h3m **out)
{
    VH_OWN(vh_h3m) *fine = NULL;
    VH_AUTOFREE vh_component_cut *p = NULL;
    VH_AUTOFREE double *axes = NULL, *work = NULL;
    cuts x = { .Q = Q };
    int most = 0, d = h3m->d;

    VH_CHECK(Q >= 1 && Q <= VH_MAX_SPLITS, VHEM_EINVAL, "refine is %d, must be from 1 to %d", Q,
             VH_MAX_SPLITS);
    VH_TRY(check_columns(ctx, h3m));
    VH_CHECK(h3m->family->cuts, VHEM_EINVAL, "refine cuts Gaussians and symbols, and these are %s models",
             h3m->family->name);
    for (int q = 0; q < Q; q++)
        vh_split_moments(Q, q, &x.mean[q], &x.var[q]);
    for (int64_t i = 0; i < h3m->K; i++)
        most = h3m->hmm[i].S * h3m->hmm[i].M > most ? h3m->hmm[i].S * h3m->hmm[i].M : most;
    VH_NEW(p, most);
    VH_NEW(axes, vh_cells(most, d));
    VH_NEW(work, vh_ij(d, d, d));
    VH_TRY(vh_h3m_new(ctx, h3m->family, h3m->shape, h3m->K, &fine));
    for (int64_t i = 0; i < h3m->K; i++) {
        int n = make_pieces(h3m, &h3m->hmm[i], Q, p, axes, work);
        fine->omega[i] = h3m->omega[i];
        VH_TRY(put_hmm(ctx, h3m, p, n, &x, i, fine));
    }
    *out = vh_take(fine);
    return VHEM_OK;
}
