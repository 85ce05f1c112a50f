/* SPDX-License-Identifier: BSD-3-Clause */
/* gains.h - what the Kalman filter and smoother of a dynamic texture compute before they see a frame.
 *
 * R is diagonal, so a frame speaks of the state through u_t = C' R^-1 (y_t - ybar) alone, n numbers, with the
 * information Gamma = C' R^-1 C; no d x d matrix is ever made, and after C' R^-1 every step is O(n^3).
 *
 *   forward    P_t    covariance of x_t given the frames before t
 *              Pf_t   and given frame t too
 *   backward   Theta  information that the frames from t on have of x_t
 *   smoothed   V_t    covariance of x_t given all frames: both put together
 *
 * All three come from one operation, a covariance P that meets an information G,
 *     W = (I + G P)^-1,   P W = W' P W + (P W) G (P W)',
 * written so that the result has no negative eigenvalue whatever the rounding, and that neither P nor G need
 * have an inverse.  The parameters do not change with time, so both recursions settle; from there on the
 * tables repeat their last entry. */
#ifndef VH_DTM_GAINS_H
#define VH_DTM_GAINS_H

#include "dtm/dtm.h"

typedef struct {
    const vh_dt *dt; /* not owned */
    int n, d;
    double *CtRi, *Gamma; /* [n][d] [n][n] */
    double logdet_R;
    int n_forward, n_backward; /* entries before they repeat */
    double *P, *Pf, *W;        /* [n_forward][n][n] each, W = (I + Gamma P)^-1 */
    double *logdet;            /* [n_forward]  log det(I + Gamma P) = log det S_t - log det R */
    double *Theta, *D;         /* [n_backward][n][n], k frames before the last: theta_t = u_t + D_k
                                  theta_{t+1} is the information vector, D_0 = 0 */
    int *pivot;                /* [n]  working memory of the constructor */
} vh_dt_gains;

/* For sequences of up to T frames; without smooth there is no backward part. */
vhem_status vh_dt_gains_new(vhem_ctx *ctx, const vh_dt *dt, int d, int64_t T, bool smooth, vh_dt_gains *out);
void vh_dt_gains_free(vh_dt_gains *g);

static inline size_t vh_gain_at(int n_entries, int64_t t)
{
    return (size_t)(t < n_entries ? t : n_entries - 1);
}

/* Is b the same as a but for rounding?  Then a recursion that made b of a repeats itself. */
bool vh_dt_settled(size_t size, const double *a, const double *b);

typedef struct {   /* a frame given all of them; the arrays are the caller's */
    double *V, *W; /* [n][n] each  W = (I + Theta_t P_t)^-1 */
    int64_t last;  /* which entries they were made of; -1 before the first */
    double *work;  /* [3][n][n] */
    int *pivot;    /* [n] */
} vh_dt_smoothed;

/* V_t and W_t of frame t of T; x_t|all = W' x_t|before + V theta_t, and the covariance of x_t with x_{t-1} is
 * W' A Pf_{t-1}.  They stay as they are when frame t has the entries of the frame before.  False when an
 * entry is not a number. */
bool vh_dt_smooth_at(const vh_dt_gains *g, int64_t t, int64_t T, vh_dt_smoothed *s);

#endif
