/* SPDX-License-Identifier: BSD-3-Clause */
/* pair.c - see pair.h.
 *
 *   1. r as an observer of b   3. the statistics
 *   2. forward: the filter     4. the two functions
 *
 * The filter of r is linear in the frames, so only second moments of (x, xhat) are needed, the state of b and
 * its prediction by r.  A 1 is appended to x, so that means need no separate equations.  With
 *
 *   y_t - ybar_r = Cb x_t + w_t     Cb = (C_b, ybar_b - ybar_r)            [d][nb], nb = n_b + 1
 *   u_t = B x_t + noise(Omega)      B = C_r' R_r^-1 Cb, Omega = C_r' R_r^-1 R_b R_r^-1 C_r
 *
 * no step after B, Omega and Dy = Cb' R_r^-1 Cb depends on d.  The frames from t on enter through theta_t =
 * u_t + D theta_{t+1} (gains.h), which given x_t is M_t x_t + noise(N_t), regardless of the past:
 *
 *   M_t = B + D M_{t+1} A_b         N_t = Omega + D (M_{t+1} Q_b M_{t+1}' + N_{t+1}) D'
 *
 * The estimate by r of its state given all frames is W' xhat_t + V theta_t. */
#include "dtm/pair.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "math/linalg.h"
#include "math/logsum.h"

#include <math.h>
#include <string.h>

enum { PAIR, FRAMES }; /* scratch slots */

typedef struct {
    const vh_dt *b;
    const vh_dt_gains *r;
    int n, nb, d, tau;
    double *Cb, *RCb;        /* [d][nb]   Cb and R_r^-1 Cb */
    double *A, *Q;           /* [nb][nb]  of b, extended by the row of the 1 */
    double *B, *Dy, *Omega;  /* [n][nb] [nb][nb] [n][n] */
    double rho;              /* tr(R_r^-1 R_b) */
    double *Sbb, *Sbh, *Shh; /* [nb][nb] [nb][n] [n][n]  moments of x and xhat before frame t */
    double *Sbu, *Shu, *Suu; /* [nb][n] [n][n] [n][n]    with u_t */
    double *Sbf, *Sff;       /* [nb][n] [n][n]  x with the filtered state, after frame t */
    double *X, *Y;           /* [nb][nb] each  scratch */
    /* for the statistics */
    double *V, *W, *work;            /* [n][n] [n][n] [3][n][n] */
    double *Sbt, *Sht, *Stt;         /* [nb][n] [n][n] [n][n]  moments with theta_t */
    double *sum_bb, *sum_bs, *sum_V; /* [nb][nb] [nb][n] [n][n]  sums over frames */
    double *Sbs, *E;                 /* [nb][n] [n][n]  results for one frame */
    int n_back;                      /* entries of M and N until they converge, from the last frame */
    double *M, *N;                   /* [n_back][n][nb] [n_back][n][n]; free() */
} dt_pair;

static void close_pair(dt_pair *p)
{
    free(p->M);
    free(p->N);
}

/* C [m][n] = alpha op(A) op(B) + beta C, with contiguous rows. */
static void mul(bool ta, bool tb, int m, int n, int k, double alpha, const double *A, const double *B,
                double beta, double *C)
{
    vh_gemm(ta, tb, m, n, k, alpha, A, ta ? m : k, B, tb ? k : n, beta, C, n);
}

/* sum_ij A_ij B_ij */
static double inner(int size, const double *A, const double *B)
{
    double sum = 0;
    for (int k = 0; k < size; k++)
        sum += A[k] * B[k];
    return sum;
}

/* ---- 1. r as an observer of b -------------------------------------------------------------------------- */

static vhem_status open_pair(vhem_ctx *ctx, const vh_dt *b, const vh_dt_gains *r, int tau,
                             vh_scratch *scratch, dt_pair *p)
{
    int n = r->n, nb = b->n + 1, d = r->d;
    size_t nn = vh_cells(n, n), bn = vh_cells(nb, n), bb = vh_cells(nb, nb);
    size_t all_sizes = 0;
    double *at;

    *p = (dt_pair){ .b = b, .r = r, .n = n, .nb = nb, .d = d, .tau = tau };
    struct {
        double **to;
        size_t size;
    } all[] = {
        { &p->A, bb },     { &p->Q, bb },           { &p->B, bn },           { &p->Dy, bb },
        { &p->Omega, nn }, { &p->Sbb, bb },         { &p->Sbh, bn },         { &p->Shh, nn },
        { &p->Sbu, bn },   { &p->Shu, nn },         { &p->Suu, nn },         { &p->Sbf, bn },
        { &p->Sff, nn },   { &p->X, bb + bn + nn }, { &p->Y, bb + bn + nn }, { &p->V, nn },
        { &p->W, nn },     { &p->work, 3 * nn },    { &p->Sbt, bn },         { &p->Sht, nn },
        { &p->Stt, nn },   { &p->sum_bb, bb },      { &p->sum_bs, bn },      { &p->sum_V, nn },
        { &p->Sbs, bn },   { &p->E, nn },
    };
    enum { COUNT = sizeof all / sizeof all[0] };
    for (int k = 0; k < COUNT; k++)
        all_sizes += all[k].size;
    VH_SCRATCH(at, PAIR, all_sizes);
    for (int k = 0; k < COUNT; at += all[k++].size)
        *all[k].to = at;
    VH_SCRATCH(p->Cb, FRAMES, 2 * vh_cells(d, nb));
    p->RCb = p->Cb + vh_row(d, nb);
    return VHEM_OK;
}

static void look(dt_pair *p)
{
    const vh_dt *b = p->b;
    const vh_dt_gains *r = p->r;
    int n = p->n, nb = p->nb, d = p->d;

    memset(p->A, 0, sizeof *p->A * (size_t)(nb * nb));
    memset(p->Q, 0, sizeof *p->Q * (size_t)(nb * nb));
    for (int i = 0; i < b->n; i++) {
        memcpy(p->A + i * nb, b->A + i * b->n, sizeof *p->A * (size_t)b->n);
        memcpy(p->Q + i * nb, b->Q + i * b->n, sizeof *p->Q * (size_t)b->n);
    }
    p->A[nb * nb - 1] = 1;
    p->rho = 0;
    for (int k = 0; k < d; k++) {
        double *row = p->Cb + vh_row(k, nb), *scaled = p->RCb + vh_row(k, nb);
        memcpy(row, b->C + vh_row(k, b->n), sizeof *row * (size_t)b->n);
        row[nb - 1] = b->ybar[k] - r->dt->ybar[k];
        for (int i = 0; i < nb; i++)
            scaled[i] = row[i] / r->dt->R[k];
        p->rho += b->R[k] / r->dt->R[k];
    }
    mul(false, false, n, nb, d, 1, r->CtRi, p->Cb, 0, p->B);
    mul(true, false, nb, nb, d, 1, p->RCb, p->Cb, 0, p->Dy);
    memset(p->Omega, 0, sizeof *p->Omega * (size_t)(n * n));
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            const double *x = r->CtRi + vh_row(i, d), *y = r->CtRi + vh_row(j, d);
            double sum = 0;
            for (int k = 0; k < d; k++)
                sum += x[k] * b->R[k] * y[k];
            p->Omega[i * n + j] = p->Omega[j * n + i] = sum;
        }
}

/* ---- 2. forward ---------------------------------------------------------------------------------------- */

/* Moments before the first frame. */
static void initial_moments(dt_pair *p)
{
    const vh_dt *b = p->b;
    int n = p->n, nb = p->nb;
    const double *mu = p->r->dt->mu;

    for (int i = 0; i < nb; i++) {
        double m = i < b->n ? b->mu[i] : 1;
        for (int j = 0; j < nb; j++)
            p->Sbb[i * nb + j] =
                m * (j < b->n ? b->mu[j] : 1) + (i < b->n && j < b->n ? b->Sigma[i * b->n + j] : 0);
        for (int j = 0; j < n; j++)
            p->Sbh[i * n + j] = m * mu[j];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            p->Shh[i * n + j] = mu[i] * mu[j];
}

/* Moments with u_t and then with xf = W' xhat + Pf u, for frame t. */
static void update(dt_pair *p, int t)
{
    int n = p->n, nb = p->nb;
    size_t at = vh_gain_at(p->r->n_forward, t) * (size_t)(n * n);
    const double *W = p->r->W + at, *Pf = p->r->Pf + at;

    mul(false, true, nb, n, nb, 1, p->Sbb, p->B, 0, p->Sbu);
    mul(true, true, n, n, nb, 1, p->Sbh, p->B, 0, p->Shu);
    memcpy(p->Suu, p->Omega, sizeof *p->Suu * (size_t)(n * n));
    mul(false, false, n, n, nb, 1, p->B, p->Sbu, 1, p->Suu);

    mul(false, false, nb, n, n, 1, p->Sbh, W, 0, p->Sbf);
    mul(false, false, nb, n, n, 1, p->Sbu, Pf, 1, p->Sbf);
    mul(false, false, n, n, n, 1, p->Shh, W, 0, p->X); /* W' (Shh W + Shu Pf) + Pf (Shu' W + Suu Pf) */
    mul(false, false, n, n, n, 1, p->Shu, Pf, 1, p->X);
    mul(true, false, n, n, n, 1, W, p->X, 0, p->Sff);
    mul(true, false, n, n, n, 1, p->Shu, W, 0, p->X);
    mul(false, false, n, n, n, 1, p->Suu, Pf, 1, p->X);
    mul(false, false, n, n, n, 1, Pf, p->X, 1, p->Sff);
}

/* Moves on to frame t+1: x by A_b and Q_b, and xhat = A_r xf. */
static void predict(dt_pair *p)
{
    int n = p->n, nb = p->nb;
    const double *Ar = p->r->dt->A;

    mul(false, false, nb, nb, nb, 1, p->A, p->Sbb, 0, p->X);
    memcpy(p->Sbb, p->Q, sizeof *p->Sbb * (size_t)(nb * nb));
    mul(false, true, nb, nb, nb, 1, p->X, p->A, 1, p->Sbb);
    mul(false, false, nb, n, nb, 1, p->A, p->Sbf, 0, p->X);
    mul(false, true, nb, n, n, 1, p->X, Ar, 0, p->Sbh);
    mul(false, false, n, n, n, 1, Ar, p->Sff, 0, p->X);
    mul(false, true, n, n, n, 1, p->X, Ar, 0, p->Shh);
}

/* E[e' S^-1 e] of the innovation of frame t: E[e' R^-1 e] - tr(Pf E[q q']), q = u - Gamma xhat. */
static double innovation(dt_pair *p, int t)
{
    int n = p->n, nb = p->nb;
    size_t at = vh_gain_at(p->r->n_forward, t) * (size_t)(n * n);
    const double *Gamma = p->r->Gamma, *Pf = p->r->Pf + at;
    double sum = p->rho + inner(nb * nb, p->Dy, p->Sbb) + inner(n * n, Gamma, p->Shh);

    for (int i = 0; i < nb; i++)
        for (int j = 0; j < n; j++)
            sum -= 2 * p->Sbh[i * n + j] * p->B[j * nb + i];
    /* Suu - Gamma Shu - (Gamma Shu)' + Gamma Shh Gamma */
    mul(false, false, n, n, n, 1, Gamma, p->Shh, 0, p->X);
    mul(false, false, n, n, n, 1, p->X, Gamma, 0, p->Y);
    mul(false, false, n, n, n, 1, Gamma, p->Shu, 0, p->X);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            sum -= Pf[i * n + j] * (p->Suu[i * n + j] + p->Y[i * n + j] - p->X[i * n + j] - p->X[j * n + i]);
    return sum;
}

/* ---- 3. the statistics --------------------------------------------------------------------------------- */

/* M and N from the last frame backward, until they converge. */
static vhem_status run_backward(vhem_ctx *ctx, dt_pair *p)
{
    int n = p->n, nb = p->nb;
    size_t nn = vh_cells(n, n), bn = vh_cells(nb, n), room[2] = { 0 };

    for (p->n_back = 0; p->n_back < p->tau; p->n_back++) {
        VH_TRY(vh_grow(ctx, &p->M, &room[0], (size_t)p->n_back + 1, bn * sizeof *p->M));
        VH_TRY(vh_grow(ctx, &p->N, &room[1], (size_t)p->n_back + 1, nn * sizeof *p->N));
        if (p->n_back == 0) {
            memcpy(p->M, p->B, sizeof *p->M * bn);
            memcpy(p->N, p->Omega, sizeof *p->N * nn);
            continue;
        }
        const double *D = p->r->D + vh_gain_at(p->r->n_backward, p->n_back) * nn;
        double *M = p->M + bn * (size_t)p->n_back, *N = p->N + nn * (size_t)p->n_back;
        mul(false, false, n, nb, nb, 1, M - bn, p->Q, 0, p->X);
        memcpy(p->Y, N - nn, sizeof *N * nn);
        mul(false, true, n, n, nb, 1, p->X, M - bn, 1, p->Y);
        mul(false, false, n, n, n, 1, D, p->Y, 0, p->X);
        memcpy(N, p->Omega, sizeof *N * nn);
        mul(false, true, n, n, n, 1, p->X, D, 1, N);
        mul(false, false, n, nb, nb, 1, M - bn, p->A, 0, p->X);
        memcpy(M, p->B, sizeof *M * bn);
        mul(false, false, n, nb, n, 1, D, p->X, 1, M);
        if (p->n_back >= p->r->n_backward && vh_dt_settled(bn, M, M - bn) && vh_dt_settled(nn, N, N - nn))
            break;
    }
    return VHEM_OK;
}

/* E := E[x_t x_t'] given all frames; Sbs := its moment with the x of b. */
static void smooth(dt_pair *p, int t)
{
    int n = p->n, nb = p->nb;
    size_t back = vh_gain_at(p->n_back, p->tau - 1 - t);
    const double *M = p->M + back * (size_t)(n * nb), *N = p->N + back * (size_t)(n * n);

    mul(false, true, nb, n, nb, 1, p->Sbb, M, 0, p->Sbt);
    mul(true, true, n, n, nb, 1, p->Sbh, M, 0, p->Sht);
    memcpy(p->Stt, N, sizeof *N * (size_t)(n * n));
    mul(false, false, n, n, nb, 1, M, p->Sbt, 1, p->Stt);

    mul(false, false, nb, n, n, 1, p->Sbh, p->W, 0, p->Sbs);
    mul(false, false, nb, n, n, 1, p->Sbt, p->V, 1, p->Sbs);
    memcpy(p->E, p->V, sizeof *p->E * (size_t)(n * n)); /* V + W' (Shh W + Sht V) + V (Sht' W + Stt V) */
    mul(false, false, n, n, n, 1, p->Shh, p->W, 0, p->X);
    mul(false, false, n, n, n, 1, p->Sht, p->V, 1, p->X);
    mul(true, false, n, n, n, 1, p->W, p->X, 1, p->E);
    mul(true, false, n, n, n, 1, p->Sht, p->W, 0, p->X);
    mul(false, false, n, n, n, 1, p->Stt, p->V, 1, p->X);
    mul(false, false, n, n, n, 1, p->V, p->X, 1, p->E);
}

/* step += w E[x_t x_{t-1}'].  Given all frames, x_{t-1} is xf_{t-1} + Pf A' W (theta_t - Theta xhat_t), with
 * covariance W' A Pf with x_t; Sff and Sbf are still those of t-1. */
static void add_step(dt_pair *p, int t, double w, double *step)
{
    const vh_dt_gains *r = p->r;
    int n = p->n, nb = p->nb;
    size_t nn = vh_cells(n, n), back = vh_gain_at(p->n_back, p->tau - 1 - t);
    const double *Pf = r->Pf + vh_gain_at(r->n_forward, t - 1) * nn;
    const double *Theta = r->Theta + vh_gain_at(r->n_backward, p->tau - 1 - t) * nn;
    double *G = p->work, *H = p->work + nn, *Z = p->work + 2 * nn;

    mul(false, false, n, n, n, 1, r->dt->A, Pf, 0, G); /* A Pf */
    memcpy(H, G, sizeof *H * nn);
    mul(false, false, n, n, n, 1, r->dt->A, p->Sff, 1, H); /* W' (A Pf + A Sff) + V M A_b Sbf */
    mul(true, false, n, n, n, w, p->W, H, 1, step);
    mul(false, false, nb, n, nb, 1, p->A, p->Sbf, 0, p->X);
    mul(false, false, n, n, nb, 1, p->M + back * (size_t)(n * nb), p->X, 0, Z);
    mul(false, false, n, n, n, w, p->V, Z, 1, step);

    /* (W' (Sht - Shh Theta) + V (Stt - Sht' Theta)) W' A Pf */
    memcpy(H, p->Sht, sizeof *H * nn);
    mul(false, false, n, n, n, -1, p->Shh, Theta, 1, H);
    mul(true, false, n, n, n, 1, p->W, H, 0, Z);
    memcpy(H, p->Stt, sizeof *H * nn);
    mul(true, false, n, n, n, -1, p->Sht, Theta, 1, H);
    mul(false, false, n, n, n, 1, p->V, H, 1, Z);
    mul(true, false, n, n, n, 1, p->W, G, 0, H);
    mul(false, false, n, n, n, w, Z, H, 1, step);
}

static void add(int rows, int columns, double w, const double *x, double *to, int ld)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            to[i * ld + j] += w * x[i * columns + j];
}

/* Adds frame t to the sums of states and to those used for the frames. */
static void add_frame(dt_pair *p, int t, double w, vh_dt_stats *s)
{
    int n = p->n, nb = p->nb;
    const double *mean = p->Sbs + (nb - 1) * n; /* the row of the 1: E[x_t] */

    add(n, n, w, p->E, s->xx, n + 1);
    for (int i = 0; i < n; i++) {
        s->xx[i * (n + 1) + n] += w * mean[i];
        s->xx[n * (n + 1) + i] += w * mean[i];
    }
    if (t == 0) {
        add(1, n, w, mean, s->x1, n);
        add(n, n, w, p->E, s->xx1, n);
    } else {
        add(n, n, w, p->E, s->to, n);
        add_step(p, t, w, s->step);
    }
    if (t + 1 < p->tau)
        add(n, n, w, p->E, s->from, n);
    add(nb, nb, 1, p->Sbb, p->sum_bb, nb);
    add(nb, n, 1, p->Sbs, p->sum_bs, n);
    add(n, n, 1, p->V, p->sum_V, n);
}

/* Adds the sums with y - ybar_r = Cb x + w_t.  w_t shifts the estimate of x_t by V C_r' R_r^-1 w_t, so their
 * moments are R_b R_r^-1 C_r V. */
static void add_observed(dt_pair *p, double w, vh_dt_stats *s)
{
    int n = p->n, nb = p->nb, d = p->d;
    const double *Rb = p->b->R, *Rr = p->r->dt->R;

    vh_gemm(false, false, d, n, nb, w, p->Cb, nb, p->sum_bs, n, 1, s->yx, n + 1);
    mul(false, false, d, nb, nb, 1, p->Cb, p->sum_bb, 0, p->RCb);
    for (int k = 0; k < d; k++) {
        const double *row = p->Cb + vh_row(k, nb), *Srow = p->RCb + vh_row(k, nb);
        const double *C = p->r->dt->C + vh_row(k, n);
        double *yx = s->yx + vh_row(k, n + 1);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                yx[j] += w * Rb[k] / Rr[k] * C[i] * p->sum_V[i * n + j];
        yx[n] += w * Srow[nb - 1];
        s->yy[k] += w * (p->tau * Rb[k] + inner(nb, row, Srow));
    }
    *s->seqs += w;
    *s->steps += w * (p->tau - 1);
    *s->frames += w * p->tau;
    s->xx[n * (n + 1) + n] += w * p->tau;
}

/* ---- 4. the two functions ------------------------------------------------------------------------------ */

vhem_status vh_dt_pair_score(vhem_ctx *ctx, const vh_dt *b, const vh_dt_gains *r, int tau,
                             vh_scratch *scratch, double *L)
{
    double sum = tau * (r->d * VH_LOG_2PI + r->logdet_R);
    dt_pair p;

    VH_TRY(open_pair(ctx, b, r, tau, scratch, &p));
    look(&p);
    initial_moments(&p);
    for (int t = 0; t < tau; t++) {
        update(&p, t);
        sum += r->logdet[vh_gain_at(r->n_forward, t)] + innovation(&p, t);
        predict(&p);
    }
    VH_CHECK(isfinite(sum), VHEM_ENUMERIC,
             "the expected log-likelihood of %d frames is %g: a texture is unstable, a smaller tau may do",
             tau, -0.5 * sum);
    *L = -0.5 * sum;
    return VHEM_OK;
}

vhem_status vh_dt_pair_accumulate(vhem_ctx *ctx, const vh_dt *b, const vh_dt_gains *r, int tau, double weight,
                                  vh_scratch *scratch, vh_dt_stats *stats)
{
    VH_CLEANUP(close_pair) dt_pair p = { 0 };
    VH_AUTOFREE int *pivot = NULL;
    vh_dt_smoothed at = { .last = -1 };

    VH_NEW(pivot, r->n);
    at.pivot = pivot;
    VH_TRY(open_pair(ctx, b, r, tau, scratch, &p));
    at.V = p.V;
    at.W = p.W;
    at.work = p.work;
    look(&p);
    VH_TRY(run_backward(ctx, &p));
    initial_moments(&p);
    memset(p.sum_bb, 0, sizeof *p.sum_bb * (size_t)(p.nb * p.nb));
    memset(p.sum_bs, 0, sizeof *p.sum_bs * (size_t)(p.nb * p.n));
    memset(p.sum_V, 0, sizeof *p.sum_V * (size_t)(p.n * p.n));
    for (int t = 0; t < tau; t++) {
        VH_CHECK(vh_dt_smooth_at(r, t, tau, &at), VHEM_ENUMERIC, "the covariance of state %d is not a number",
                 t);
        smooth(&p, t);
        add_frame(&p, t, weight, stats);
        update(&p, t);
        predict(&p);
    }
    add_observed(&p, weight, stats);
    return VHEM_OK;
}
