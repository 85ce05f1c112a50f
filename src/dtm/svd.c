/* SPDX-License-Identifier: BSD-3-Clause */
/* svd.c - see svd.h.
 *
 * States are the leading n principal components of the frames.  If frames have fewer than n dimensions,
 * several consecutive frames form a window, as in subspace identification.  With the states known, A, Q, C,
 * ybar and R follow from the M-step of EM.  For windows of one frame, C has orthonormal columns. */
#include "dtm/svd.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "math/linalg.h"

#include <math.h>
#include <string.h>

#define RANK   1e-12 /* variances below this share of the largest count as zero */
#define STABLE 0.999 /* spectral radius of a stabilized A */

typedef struct {
    const vhem_data *data;
    const int64_t *seq;
    int64_t n_seq;
    int n, width;  /* frames in a window */
    int D;         /* dimension of a window */
    int64_t F;     /* number of windows */
    double *Z, *w; /* [F][D] [F]  centred windows, and their weights */
    double *X;     /* [F][n]  states */
    int rank;      /* number of states that vary */
} analysis;

static void analysis_free(analysis *a)
{
    free(a->Z);
    free(a->w);
    free(a->X);
}

/* Collects the windows of all sequences and subtracts their weighted mean. */
static vhem_status take_windows(vhem_ctx *ctx, analysis *a)
{
    VH_AUTOFREE double *mean = NULL;
    double mass = 0;
    int64_t f = 0;
    int d = a->data->d;

    a->width = (a->n + d - 1) / d;
    a->D = a->width * d;
    for (int64_t s = 0; s < a->n_seq; s++)
        if (vh_data_length(a->data, a->seq[s]) >= a->width)
            a->F += vh_data_length(a->data, a->seq[s]) - a->width + 1;
    VH_CHECK(a->F >= 2, VHEM_EINVAL,
             "there are too few frames for a texture of n = %d: at least %d are needed", a->n, a->width + 1);
    VH_NEW(mean, a->D);
    VH_NEW(a->Z, a->F * a->D);
    VH_NEW(a->w, a->F);
    for (int64_t s = 0; s < a->n_seq; s++)
        for (int64_t t = 0; t + a->width <= vh_data_length(a->data, a->seq[s]); t++, f++) {
            memcpy(a->Z + f * a->D, vh_data_frames(a->data, a->seq[s]) + t * d, sizeof *mean * (size_t)a->D);
            mass += a->w[f] = vh_data_weight(a->data, a->seq[s]);
        }
    VH_CHECK(mass > 0, VHEM_EINVAL, "all weights of the sequences are 0");
    for (f = 0; f < a->F; f++)
        for (int k = 0; k < a->D; k++)
            mean[k] += a->w[f] / mass * a->Z[f * a->D + k];
    for (f = 0; f < a->F; f++)
        for (int k = 0; k < a->D; k++)
            a->Z[f * a->D + k] = sqrt(a->w[f]) * (a->Z[f * a->D + k] - mean[k]);
    return VHEM_OK;
}

/* X [F][n]: the leading components of Z, from the eigenvectors of Z' Z or Z Z', whichever is smaller. */
static vhem_status take_components(vhem_ctx *ctx, analysis *a)
{
    bool wide = a->D > a->F;
    int m = wide ? (int)a->F : a->D, n = a->n < m ? a->n : m;
    VH_AUTOFREE double *S = NULL, *w = NULL;

    VH_CHECK(a->F <= 2000000000 && m <= 40000, VHEM_EINVAL,
             "%d dimensions and %lld frames are too many for the closed form, at most 40000 of the fewer",
             a->D, (long long)a->F);
    VH_NEW(S, vh_cells(m, m));
    VH_NEW(w, m);
    VH_NEW(a->X, a->F * a->n);
    if (wide)
        vh_gemm(false, true, m, m, a->D, 1, a->Z, a->D, a->Z, a->D, 0, S, m);
    else
        vh_gemm(true, false, m, m, (int)a->F, 1, a->Z, a->D, a->Z, a->D, 0, S, m);
    VH_CHECK(vh_eigen(m, S, w), VHEM_ENUMERIC,
             "the principal components could not be found; perhaps memory is short");
    while (a->rank < n && w[m - 1 - a->rank] > RANK * w[m - 1] && w[m - 1] > 0)
        a->rank++;
    for (int k = 0; k < a->rank; k++) { /* largest first; rows of S are eigenvectors */
        const double *v = S + vh_row(m - 1 - k, m);
        double root = sqrt(w[m - 1 - k]);
        for (int64_t f = 0; f < a->F; f++) {
            double x = 0;
            for (int e = 0; !wide && e < a->D; e++)
                x += v[e] * a->Z[f * a->D + e];
            double unit = a->w[f] > 0 ? 1 / sqrt(a->w[f]) : 0;
            a->X[f * a->n + k] = unit * (wide ? root * v[f] : x);
        }
    }
    return VHEM_OK;
}

/* The statistics of EM with X as known states. */
static void known_states(const analysis *a, const double *ybar, vh_dt_stats *s)
{
    int n = a->n, m = n + 1, d = a->data->d;
    int64_t f = 0;

    for (int q = 0; q < a->n_seq; q++)
        for (int64_t t = 0; t + a->width <= vh_data_length(a->data, a->seq[q]); t++, f++) {
            const double *x = a->X + f * n, *y = vh_data_frames(a->data, a->seq[q]) + t * d;
            double w = a->w[f];
            for (int i = 0; i < n; i++) {
                for (int j = 0; j < n; j++) {
                    s->xx[i * m + j] += w * x[i] * x[j];
                    if (t > 0) {
                        s->from[i * n + j] += w * x[i - n] * x[j - n];
                        s->to[i * n + j] += w * x[i] * x[j];
                        s->step[i * n + j] += w * x[i] * x[j - n];
                    }
                }
                s->xx[i * m + n] += w * x[i];
                s->xx[n * m + i] += w * x[i];
            }
            for (int k = 0; k < d; k++) {
                double c = y[k] - ybar[k];
                for (int i = 0; i < n; i++)
                    s->yx[k * m + i] += w * c * x[i];
                s->yx[k * m + n] += w * c;
                s->yy[k] += w * c * c;
            }
            *s->frames += w;
            *s->steps += t > 0 ? w : 0;
        }
    s->xx[n * m + n] = *s->frames;
    *s->seqs = *s->frames; /* any frame may be the first */
    for (int i = 0; i < n; i++) {
        s->x1[i] = s->xx[i * m + n];
        memcpy(s->xx1 + i * n, s->xx + i * m, sizeof *s->xx * (size_t)n);
    }
}

/* Regression on a growing trajectory may give an unstable A.  It is then shrunk, and Q is the residual of the
 * shrunk A: c A explains step - (c - 1)^2 A from A' less than A does. */
static vhem_status make_stable(vhem_ctx *ctx, const vh_dt_stats *s, vh_dt *dt, int *n_stable)
{
    int n = dt->n;
    size_t nn = vh_cells(n, n);
    VH_AUTOFREE double *work = NULL;

    VH_NEW(work, nn + 2 * (size_t)n);
    memcpy(work, dt->A, sizeof *work * nn);
    double radius = vh_spectral_radius(n, work, work + nn);
    *n_stable = radius > 1;
    if (!*n_stable)
        return VHEM_OK;
    VH_CHECK(isfinite(radius), VHEM_ENUMERIC,
             "the eigenvalues of A could not be found; perhaps memory is short");
    double shrink = STABLE / radius;
    vh_gemm(false, false, n, n, n, (1 - shrink) * (1 - shrink) / *s->steps, dt->A, n, s->from, n, 0, work, n);
    vh_gemm(false, true, n, n, n, 1, work, n, dt->A, n, 1, dt->Q, n);
    for (size_t k = 0; k < nn; k++)
        dt->A[k] *= shrink;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            dt->Q[i * n + j] = dt->Q[j * n + i] = 0.5 * (dt->Q[i * n + j] + dt->Q[j * n + i]);
    return VHEM_OK;
}

vhem_status vh_dt_svd(vhem_ctx *ctx, const vhem_data *data, const int64_t *seq, int64_t n_seq,
                      const vh_dt_limits *lim, vh_dt *dt, int *n_floored, int *n_stable)
{
    VH_CLEANUP(analysis_free)
    analysis a = { .data = data, .seq = seq, .n_seq = n_seq, .n = dt->n };
    VH_CLEANUP(vh_dt_stats_free) vh_dt_stats s = { 0 };
    double mass = 0;

    *n_stable = 0;
    VH_TRY(take_windows(ctx, &a));
    VH_TRY(take_components(ctx, &a));
    VH_TRY(vh_dt_stats_new(ctx, dt->n, data->d, &s));
    memset(dt->A, 0, sizeof *dt->A * dt->size);
    for (int64_t q = 0; q < n_seq; q++) /* centring on an origin near the frames keeps digits */
        for (int64_t t = 0; t < vh_data_length(data, seq[q]); t++, mass++)
            for (int k = 0; k < data->d; k++)
                dt->ybar[k] += (vh_data_frames(data, seq[q])[t * data->d + k] - dt->ybar[k]) / (mass + 1);
    known_states(&a, dt->ybar, &s);
    VH_TRY(vh_dt_maximise(ctx, &s, lim, dt, n_floored));
    if (*s.steps > 0)
        VH_TRY(make_stable(ctx, &s, dt, n_stable));
    if (a.rank < dt->n)
        vh_log(ctx, VHEM_LOG_INFO,
               "the frames vary in %d direction%s; the other states of n = %d are not used", a.rank,
               a.rank == 1 ? "" : "s", dt->n);
    return VHEM_OK;
}
