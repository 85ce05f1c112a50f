/* SPDX-License-Identifier: BSD-3-Clause */
/* component_split_gaussian.c - Gaussians are cut: along a coordinate, or along any axis
 * (component_split.h). */
#include "math/linalg.h"
#include "emission/component_split.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Diagonal covariances stay diagonal only when a coordinate is cut: the one that tells the component best
 * from one it overlaps. */
static bool axis_of_diag(const vh_shape *shape, const vh_component_cut *all, int n, vh_component_cut *p,
                         double *work)
{
    double best = VH_ALIKE;
    (void)work;
    for (int e = 0; e < n; e++) {
        double apart = 0, most = 0;
        int at = 0;
        for (int k = 0; &all[e] != p && k < shape->d; k++) {
            double u = p->par[0][k] - all[e].par[0][k], v = p->par[1][k], both = v + all[e].par[1][k];
            double here = u * u / fmax(both, DBL_MIN);
            apart += here;
            if (v > 0 && here > most) {
                most = here;
                at = k;
            }
        }
        if (apart < VH_FAR_APART && most > best) {
            best = most;
            p->k = at;
        }
    }
    return best > VH_ALIKE;
}

/* Delta' (Sigma + Sigma')^-1 Delta; infinity when the sum is singular.  work [d][d] + [d]. */
static double separation(int d, const vh_component_cut *p, const vh_component_cut *e, double *work)
{
    double *L = work, *u = work + d * d, sum = 0;
    for (int i = 0; i < d * d; i++)
        L[i] = p->par[1][i] + e->par[1][i];
    if (!vh_cholesky(d, L))
        return INFINITY;
    for (int k = 0; k < d; k++)
        u[k] = p->par[0][k] - e->par[0][k];
    vh_cholesky_solve_rows(d, L, 1, u);
    for (int k = 0; k < d; k++)
        sum += u[k] * u[k];
    return sum;
}

/* Full covariances are cut along Fisher's axis Sigma^-1 Delta towards the component that is furthest among
 * those it overlaps: w = L^-1 Delta, normed, and L w = Delta / |L^-1 Delta|. */
static bool axis_of_full(const vh_shape *shape, const vh_component_cut *all, int n, vh_component_cut *p,
                         double *work)
{
    int d = shape->d;
    const vh_component_cut *other = NULL;
    double best = VH_ALIKE, norm = 0;
    for (int e = 0; e < n; e++) {
        double here = &all[e] == p ? 0 : separation(d, p, &all[e], work);
        if (here < VH_FAR_APART && here > best) {
            best = here;
            other = &all[e];
        }
    }
    double *L = work, *u = work + d * d;
    memcpy(L, p->par[1], sizeof *L * (size_t)(d * d));
    if (!other || !vh_cholesky(d, L))
        return false;
    for (int k = 0; k < d; k++)
        p->Lw[k] = u[k] = p->par[0][k] - other->par[0][k];
    vh_cholesky_solve_rows(d, L, 1, u);
    for (int k = 0; k < d; k++)
        norm += u[k] * u[k];
    for (int k = 0; k < d; k++)
        p->Lw[k] /= sqrt(norm);
    return isfinite(norm) && norm > 0;
}

static void cut_diag(const vh_shape *shape, const vh_component_cut *p, double mean, double var,
                     double *const *par)
{
    (void)shape;
    par[0][p->k] += mean * sqrt(p->par[1][p->k]);
    par[1][p->k] *= var;
}

static void cut_full(const vh_shape *shape, const vh_component_cut *p, double mean, double var,
                     double *const *par)
{
    int d = shape->d;
    for (int i = 0; i < d; i++) {
        par[0][i] += mean * p->Lw[i];
        for (int j = 0; j < d; j++)
            par[1][i * d + j] -= (1 - var) * p->Lw[i] * p->Lw[j];
    }
}

const vh_splits vh_splits_diag = { .axis = axis_of_diag, .cut = cut_diag };
const vh_splits vh_splits_full = { .axis = axis_of_full, .cut = cut_full };
