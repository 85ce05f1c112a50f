/* SPDX-License-Identifier: BSD-3-Clause */
/* gains.h - the data-independent part of the Kalman filter and smoother of a dynamic texture.
 *
 * R is diagonal, so a frame informs the state only through u_t = C' R^-1 (y_t - ybar), n numbers, with
 * information Gamma = C' R^-1 C; no d x d matrix is formed, and after C' R^-1 every step is O(n^3).
 *
 *   forward    P_t    covariance of x_t given the frames before t
 *              Pf_t   and given frame t too
 *   backward   Theta  information about x_t in the frames from t on
 *   smoothed   V_t    covariance of x_t given all frames: combines both
 *
 * All three use one operation, which combines a covariance P with an information G,
 *     W = (I + G P)^-1,   P W = W' P W + (P W) G (P W)',
 * written so that rounding cannot make eigenvalues negative, and P and G need no inverse.  The parameters are
 * constant in time, so both recursions converge; from there on the tables repeat their last entry. */
#ifndef VH_DTM_GAINS_H
#define VH_DTM_GAINS_H

#include "dtm/dtm.h"

typedef struct {
    const vh_dt *dt; /* not owned */
    int n, d;
    double *CtRi, *Gamma; /* [n][d] [n][n] */
    double logdet_R;
    int n_forward, n_backward; /* entries until the recursions converge */
    double *P, *Pf, *W;        /* [n_forward][n][n] each, W = (I + Gamma P)^-1 */
    double *logdet;            /* [n_forward]  log det(I + Gamma P) = log det S_t - log det R */
    double *Theta, *D;         /* [n_backward][n][n], k frames before the last: theta_t = u_t + D_k
                                  theta_{t+1} is the information vector, D_0 = 0 */
    int *pivot;                /* [n]  scratch of the constructor */
} vh_dt_gains;

/* For sequences of up to T frames; without `smooth`, skips the backward part. */
vhem_status vh_dt_gains_new(vhem_ctx *ctx, const vh_dt *dt, int d, int64_t T, bool smooth, vh_dt_gains *out);
void vh_dt_gains_free(vh_dt_gains *g);

static inline size_t vh_gain_at(int n_entries, int64_t t)
{
    return (size_t)(t < n_entries ? t : n_entries - 1);
}

/* True if b equals a up to rounding: a recursion from a to b has then converged. */
bool vh_dt_settled(size_t size, const double *a, const double *b);

typedef struct {   /* a frame given all frames; the caller owns the arrays */
    double *V, *W; /* [n][n] each  W = (I + Theta_t P_t)^-1 */
    int64_t last;  /* the table entries they were computed from; -1 before the first call */
    double *work;  /* [3][n][n] */
    int *pivot;    /* [n] */
} vh_dt_smoothed;

/* Computes V_t and W_t of frame t of T; x_t|all = W' x_t|before + V theta_t, and the covariance of x_t and
 * x_{t-1} is W' A Pf_{t-1}.  Does nothing if frame t has the same entries as the previous frame.  False if
 * the result is not finite. */
bool vh_dt_smooth_at(const vh_dt_gains *g, int64_t t, int64_t T, vh_dt_smoothed *s);

#endif
