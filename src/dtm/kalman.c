/* SPDX-License-Identifier: BSD-3-Clause */
/* kalman.c - the Kalman filter and smoother on frames, in the information form of gains.h.
 *
 *   q_t = u_t - Gamma xhat_t            u_t = C' R^-1 (y_t - ybar), xhat_t predicted from frames before t
 *   xf_t = xhat_t + Pf_t q_t            with frame t too,   xhat_{t+1} = A xf_t
 *   theta_t = u_t + D_t theta_{t+1}     the frames from t on, backward
 *   xs_t = W_t' xhat_t + V_t theta_t    given all frames
 *
 * The quadratic form of the innovation e_t = y_t - ybar - C xhat_t is computed as the residual of a least
 * squares problem, a sum of squares without cancellation:
 *   e' S^-1 e = |R^-1/2 (y_t - ybar - C xf_t)|^2 + (W q)' P (W q) */
#include "dtm/kalman.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "math/linalg.h"
#include "math/logsum.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 256 };                                /* frames centred at a time */
enum { U, XHAT, XF, THETA, CENTRED, SMALL, STATES }; /* scratch slots */

/* out := y - ybar for n_t frames. */
static void centre(const vh_dt_gains *g, const double *y, int64_t n_t, double *out)
{
    for (int64_t t = 0; t < n_t; t++)
        for (int k = 0; k < g->d; k++)
            out[t * g->d + k] = y[t * g->d + k] - g->dt->ybar[k];
}

/* u [T][n]. */
static vhem_status project(vhem_ctx *ctx, const vh_dt_gains *g, const double *y, int64_t T,
                           vh_scratch *scratch, double *u)
{
    double *c;

    VH_SCRATCH(c, CENTRED, BLOCK * (size_t)g->d);
    for (int64_t t = 0; t < T; t += BLOCK) {
        int n_t = (int)(T - t < BLOCK ? T - t : BLOCK);
        centre(g, y + t * g->d, n_t, c);
        vh_gemm_nt(n_t, g->n, g->d, c, g->CtRi, u + t * g->n, (size_t)g->n);
    }
    return VHEM_OK;
}

/* sum_t |R^-1/2 (y_t - ybar - C xf_t)|^2 */
static vhem_status left_over(vhem_ctx *ctx, const vh_dt_gains *g, const double *y, int64_t T,
                             const double *xf, vh_scratch *scratch, double *sum)
{
    double *c;

    *sum = 0;
    VH_SCRATCH(c, CENTRED, BLOCK * (size_t)g->d);
    for (int64_t t = 0; t < T; t += BLOCK) {
        int n_t = (int)(T - t < BLOCK ? T - t : BLOCK);
        centre(g, y + t * g->d, n_t, c);
        vh_gemm(false, true, n_t, g->d, g->n, -1, xf + t * g->n, g->n, g->dt->C, g->n, 1, c, g->d);
        for (int64_t e = 0; e < (int64_t)n_t * g->d; e++)
            *sum += c[e] * c[e] / g->dt->R[e % g->d];
    }
    return VHEM_OK;
}

/* out = op(M) x + out * keep */
static void times(int n, const double *M, bool transposed, const double *x, bool keep, double *out)
{
    for (int i = 0; i < n; i++) {
        double sum = keep ? out[i] : 0;
        for (int j = 0; j < n; j++)
            sum += (transposed ? M[j * n + i] : M[i * n + j]) * x[j];
        out[i] = sum;
    }
}

static double dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Computes xhat and xf [T][n] from u [T][n]; returns the terms of -2 log p that involve only n dimensions. */
static double filter_forward(const vh_dt_gains *g, int64_t T, const double *u, double *xhat, double *xf,
                             double *small)
{
    int n = g->n;
    size_t nn = vh_cells(n, n);
    double sum = 0, *q = small, *Wq = small + n, *PWq = Wq + n;

    memcpy(xhat, g->dt->mu, sizeof *xhat * (size_t)n);
    for (int64_t t = 0; t < T; t++) {
        size_t at = vh_gain_at(g->n_forward, t);
        times(n, g->Gamma, false, xhat + t * n, false, q);
        for (int i = 0; i < n; i++)
            q[i] = u[t * n + i] - q[i];
        memcpy(xf + t * n, xhat + t * n, sizeof *xf * (size_t)n);
        times(n, g->Pf + at * nn, false, q, true, xf + t * n);
        times(n, g->W + at * nn, false, q, false, Wq);
        times(n, g->P + at * nn, false, Wq, false, PWq);
        sum += g->logdet[at] + dot(n, Wq, PWq);
        if (t + 1 < T)
            times(n, g->dt->A, false, xf + t * n, false, xhat + (t + 1) * n);
    }
    return sum;
}

typedef struct {           /* in scratch memory */
    double *u, *xhat, *xf; /* [T][n] each */
    double loglik;
} filtered;

static vhem_status filter(vhem_ctx *ctx, const vh_dt_gains *g, const double *y, int64_t T,
                          vh_scratch *scratch, filtered *f)
{
    size_t Tn = vh_cells(T, g->n);
    double *small, left;

    VH_SCRATCH(f->u, U, Tn);
    VH_SCRATCH(f->xhat, XHAT, Tn);
    VH_SCRATCH(f->xf, XF, Tn);
    VH_SCRATCH(small, SMALL, 3 * (size_t)g->n);
    VH_TRY(project(ctx, g, y, T, scratch, f->u));
    double sum = filter_forward(g, T, f->u, f->xhat, f->xf, small);
    VH_TRY(left_over(ctx, g, y, T, f->xf, scratch, &left));
    f->loglik = -0.5 * (sum + left + (double)T * (g->d * VH_LOG_2PI + g->logdet_R));
    VH_CHECK(isfinite(f->loglik), VHEM_ENUMERIC,
             "the log-likelihood is %g: A is unstable, or the values are too far from the texture",
             f->loglik);
    return VHEM_OK;
}

vhem_status vh_kalman_score(vhem_ctx *ctx, const vh_dt_gains *g, const double *y, int64_t T,
                            vh_scratch *scratch, double *loglik)
{
    filtered f;
    vhem_status st = filter(ctx, g, y, T, scratch, &f);
    if (st == VHEM_OK)
        *loglik = f.loglik;
    return st;
}

/* to += w (a b' + M) */
static void add_moment(int n, double w, const double *a, const double *b, const double *M, double *to, int ld)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            to[i * ld + j] += w * (a[i] * b[j] + M[i * n + j]);
}

/* Adds frame t to the sums of states. */
static void add_state(const vh_dt_gains *g, int64_t t, int64_t T, const vh_dt_smoothed *at,
                      const vh_kalman_result *out)
{
    int n = g->n;
    size_t nn = vh_cells(n, n);
    double w = out->weight, *X = at->work;
    const double *x = out->x + t * n;
    vh_dt_stats *s = out->stats;
    const double *V = at->V;

    add_moment(n, w, x, x, V, s->xx, n + 1);
    for (int i = 0; i < n; i++) {
        s->xx[i * (n + 1) + n] += w * x[i];
        s->xx[n * (n + 1) + i] += w * x[i];
    }
    if (t + 1 < T)
        add_moment(n, w, x, x, V, s->from, n);
    if (t == 0) {
        add_moment(n, w, x, x, V, s->xx1, n);
        for (int i = 0; i < n; i++)
            s->x1[i] += w * x[i];
        return;
    }
    vh_gemm(false, false, n, n, n, 1, g->dt->A, n, g->Pf + vh_gain_at(g->n_forward, t - 1) * nn, n, 0, X, n);
    vh_gemm(true, false, n, n, n, 1, at->W, n, X, n, 0, X + nn, n);
    add_moment(n, w, x, x - n, X + nn, s->step, n);
    add_moment(n, w, x, x, V, s->to, n);
}

/* Adds the frames to the sums that involve y, and the weights. */
static vhem_status add_frames(vhem_ctx *ctx, const vh_dt_gains *g, const double *y, int64_t T,
                              vh_scratch *scratch, const vh_kalman_result *out)
{
    int n = g->n;
    double *c, w = out->weight;
    const double *x = out->x;
    vh_dt_stats *s = out->stats;

    VH_SCRATCH(c, CENTRED, BLOCK * (size_t)g->d);
    for (int64_t t = 0; t < T; t += BLOCK) {
        int n_t = (int)(T - t < BLOCK ? T - t : BLOCK);
        centre(g, y + t * g->d, n_t, c);
        vh_gemm(true, false, g->d, n, n_t, w, c, g->d, x + t * n, n, 1, s->yx, n + 1);
        for (int64_t e = 0; e < (int64_t)n_t * g->d; e++) {
            int64_t k = e % g->d;
            s->yx[k * (n + 1) + n] += w * c[e];
            s->yy[k] += w * c[e] * c[e];
        }
    }
    *s->seqs += w;
    *s->steps += w * (double)(T - 1);
    *s->frames += w * (double)T;
    s->xx[n * (n + 1) + n] += w * (double)T;
    return VHEM_OK;
}

vhem_status vh_kalman_smooth(vhem_ctx *ctx, const vh_dt_gains *g, const double *y, int64_t T,
                             vh_scratch *scratch, const vh_kalman_result *out)
{
    int n = g->n;
    size_t nn = vh_cells(n, n);
    double *theta, *x = out->x;
    filtered f;
    vh_dt_smoothed at = { .last = -1 };
    VH_AUTOFREE int *pivot = NULL;

    VH_NEW(pivot, n);
    at.pivot = pivot;
    VH_TRY(filter(ctx, g, y, T, scratch, &f));
    VH_SCRATCH(theta, THETA, vh_cells(T, n));
    VH_SCRATCH(at.work, STATES, 5 * nn);
    at.V = at.work + 3 * nn;
    at.W = at.V + nn;
    memcpy(theta, f.u, sizeof *theta * vh_cells(T, n));
    for (int64_t t = T - 2; t >= 0; t--)
        times(n, g->D + vh_gain_at(g->n_backward, T - 1 - t) * nn, false, theta + (t + 1) * n, true,
              theta + t * n);
    for (int64_t t = 0; t < T; t++) {
        VH_CHECK(vh_dt_smooth_at(g, t, T, &at), VHEM_ENUMERIC, "the covariance of state %lld is not a number",
                 (long long)t);
        times(n, at.W, true, f.xhat + t * n, false, x + t * n);
        times(n, at.V, false, theta + t * n, true, x + t * n);
        if (out->cov)
            memcpy(out->cov + (size_t)t * nn, at.V, sizeof *at.V * nn);
        if (out->stats)
            add_state(g, t, T, &at, out);
    }
    if (out->stats)
        VH_TRY(add_frames(ctx, g, y, T, scratch, out));
    if (out->loglik)
        *out->loglik = f.loglik;
    return VHEM_OK;
}
