/* SPDX-License-Identifier: BSD-3-Clause */
/* gains.c - see gains.h. */
#include "dtm/gains.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "math/linalg.h"

#include <math.h>
#include <string.h>

#define SETTLED 1e-14 /* relative change of a matrix that counts as rounding */

/* C = op(A) op(B), all [n][n]. */
static void product(bool ta, bool tb, int n, const double *A, const double *B, double *C)
{
    vh_gemm(ta, tb, n, n, n, 1, A, n, B, n, 0, C, n);
}

typedef struct {  /* scratch of meet */
    double *work; /* [3][n][n] */
    int *pivot;   /* [n] */
} meeting;

/* W = (I + G P)^-1, out = P W.  False on overflow. */
static bool meet(int n, const double *P, const double *G, meeting room, double *W, double *out,
                 double *logdet)
{
    size_t nn = vh_cells(n, n);
    double *M = room.work, *PW = M + nn, *X = PW + nn;

    product(false, false, n, G, P, M);
    for (int i = 0; i < n; i++)
        M[i * n + i] += 1;
    if (!vh_inverse(n, M, room.pivot, W, logdet))
        return false;
    product(false, false, n, P, W, PW);
    product(true, false, n, W, PW, out);
    product(false, false, n, PW, G, X);
    vh_gemm(false, true, n, n, n, 1, X, n, PW, n, 1, out, n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            out[i * n + j] = out[j * n + i] = 0.5 * (out[i * n + j] + out[j * n + i]);
    for (size_t k = 0; k < nn; k++)
        if (!isfinite(out[k]))
            return false;
    return true;
}

bool vh_dt_settled(size_t size, const double *a, const double *b)
{
    double largest = 0, gap = 0;
    for (size_t k = 0; k < size; k++) {
        largest = fmax(largest, fabs(a[k]));
        gap = fmax(gap, fabs(a[k] - b[k]));
    }
    return gap <= SETTLED * largest;
}

/* next = A M A' + add, or A' M A + add. */
static void carry(bool transposed, int n, const double *A, const double *M, const double *add, double *next,
                  double *work)
{
    product(transposed, false, n, A, M, work);
    memcpy(next, add, sizeof *add * vh_cells(n, n));
    vh_gemm(false, !transposed, n, n, n, 1, work, n, A, n, 1, next, n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            next[i * n + j] = next[j * n + i] = 0.5 * (next[i * n + j] + next[j * n + i]);
}

static vhem_status run_forward(vhem_ctx *ctx, int64_t T, double *work, vh_dt_gains *g)
{
    const meeting at = { work, g->pivot };
    int n = g->n;
    size_t nn = vh_cells(n, n), room[4] = { 0 };

    for (int64_t t = 0; t < T; t++) {
        VH_TRY(vh_grow(ctx, &g->P, &room[0], (size_t)t + 1, nn * sizeof *g->P));
        VH_TRY(vh_grow(ctx, &g->Pf, &room[1], (size_t)t + 1, nn * sizeof *g->Pf));
        VH_TRY(vh_grow(ctx, &g->W, &room[2], (size_t)t + 1, nn * sizeof *g->W));
        VH_TRY(vh_grow(ctx, &g->logdet, &room[3], (size_t)t + 1, sizeof *g->logdet));
        double *P = g->P + (size_t)t * nn, *Pf = g->Pf + (size_t)t * nn;
        if (t == 0)
            memcpy(P, g->dt->Sigma, sizeof *P * nn);
        else
            carry(false, n, g->dt->A, Pf - nn, g->dt->Q, P, work);
        if (t > 0 && vh_dt_settled(nn, P, P - nn))
            break;
        VH_CHECK(meet(n, P, g->Gamma, at, g->W + (size_t)t * nn, Pf, &g->logdet[t]), VHEM_ENUMERIC,
                 "the covariance of its state overflows after %lld frames: A is unstable", (long long)t);
        g->n_forward = (int)t + 1;
    }
    return VHEM_OK;
}

/* Theta_0 = Gamma; Theta_{k} = Gamma + A' (I + Theta Q)^-1 Theta A with Theta = Theta_{k-1}: Q blurs the
 * information of later frames about x_{t+1}, and A carries it back. */
static vhem_status run_backward(vhem_ctx *ctx, int64_t T, double *work, vh_dt_gains *g)
{
    const meeting at = { work, g->pivot };
    int n = g->n;
    size_t nn = vh_cells(n, n), room[2] = { 0 };
    double *X = work + 3 * nn, *blurred = X + nn;

    for (int64_t k = 0; k < T; k++) {
        VH_TRY(vh_grow(ctx, &g->Theta, &room[0], (size_t)k + 1, nn * sizeof *g->Theta));
        VH_TRY(vh_grow(ctx, &g->D, &room[1], (size_t)k + 1, nn * sizeof *g->D));
        double *Theta = g->Theta + (size_t)k * nn, *D = g->D + (size_t)k * nn;
        if (k == 0) {
            memcpy(Theta, g->Gamma, sizeof *Theta * nn);
            memset(D, 0, sizeof *D * nn);
        } else {
            VH_CHECK(meet(n, Theta - nn, g->dt->Q, at, X, blurred, NULL), VHEM_ENUMERIC,
                     "the information of %lld frames overflows: A is unstable", (long long)k);
            product(true, true, n, g->dt->A, X, D);
            carry(true, n, g->dt->A, blurred, g->Gamma, Theta, work);
        }
        g->n_backward = (int)k + 1;
        if (k > 1 && vh_dt_settled(nn, Theta, Theta - nn) && vh_dt_settled(nn, D, D - nn))
            break;
    }
    return VHEM_OK;
}

vhem_status vh_dt_gains_new(vhem_ctx *ctx, const vh_dt *dt, int d, int64_t T, bool smooth, vh_dt_gains *out)
{
    int n = dt->n;
    size_t nn = vh_cells(n, n);
    VH_AUTOFREE double *work = NULL;
    VH_CLEANUP(vh_dt_gains_free) vh_dt_gains g = { .dt = dt, .n = n, .d = d };

    VH_NEW(g.CtRi, vh_cells(n, d));
    VH_NEW(g.Gamma, nn);
    VH_NEW(g.pivot, n);
    VH_NEW(work, 5 * nn);
    for (int k = 0; k < d; k++) {
        g.logdet_R += log(dt->R[k]);
        for (int i = 0; i < n; i++)
            g.CtRi[vh_ij(i, d, k)] = dt->C[vh_ij(k, n, i)] / dt->R[k];
    }
    vh_gemm(false, false, n, n, d, 1, g.CtRi, d, dt->C, n, 0, g.Gamma, n);
    for (size_t k = 0; k < nn; k++)
        VH_CHECK(isfinite(g.Gamma[k]), VHEM_ENUMERIC, "C' R^-1 C is not a number: R is too small");
    VH_TRY(run_forward(ctx, T, work, &g));
    if (smooth)
        VH_TRY(run_backward(ctx, T, work, &g));
    *out = g;
    g = (vh_dt_gains){ 0 };
    return VHEM_OK;
}

void vh_dt_gains_free(vh_dt_gains *g)
{
    free(g->CtRi);
    free(g->Gamma);
    free(g->P);
    free(g->Pf);
    free(g->W);
    free(g->logdet);
    free(g->Theta);
    free(g->D);
    free(g->pivot);
    *g = (vh_dt_gains){ 0 };
}

bool vh_dt_smooth_at(const vh_dt_gains *g, int64_t t, int64_t T, vh_dt_smoothed *s)
{
    size_t f = vh_gain_at(g->n_forward, t), b = vh_gain_at(g->n_backward, T - 1 - t);
    size_t nn = vh_cells(g->n, g->n);
    int64_t now = (int64_t)(f * (size_t)g->n_backward + b);
    if (now == s->last)
        return true;
    s->last = now;
    return meet(g->n, g->P + f * nn, g->Theta + b * nn, (meeting){ s->work, s->pivot }, s->W, s->V, NULL);
}
