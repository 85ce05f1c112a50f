/* SPDX-License-Identifier: BSD-3-Clause */
/* kmeans_gaps.c - k-means on points with missing coordinates (NaN).  The distance of a point from a centre is
 * summed over the coordinates present and scaled up to d; a centre is the mean of the coordinates present in
 * its points, and keeps those that none of them has.  A point without coordinates joins the previous point's
 * cluster. */
#include "core/alloc.h"
#include "core/array2.h"
#include "math/kmeans.h"

#include <math.h>
#include <string.h>

/* NaN if all coordinates are missing. */
static double distance(int d, const double *x, const double *centre)
{
    double sum = 0;
    int seen = 0;
    for (int a = 0; a < d; a++)
        if (!isnan(x[a])) {
            sum += (x[a] - centre[a]) * (x[a] - centre[a]);
            seen++;
        }
    return seen > 0 ? sum * d / seen : NAN;
}

void vh_nearest_gaps(int n, int d, const double *X, int k, const double *centre, int *label)
{
    int first = 0; /* first point with a coordinate */
    for (int i = 0; i < n; i++) {
        double low = distance(d, X + vh_row(i, d), centre);
        label[i] = !isnan(low) ? 0 : i > 0 ? label[i - 1] : -1;
        for (int c = 1; c < k && !isnan(low); c++) {
            double here = distance(d, X + vh_row(i, d), centre + vh_row(c, d));
            if (here < low) {
                low = here;
                label[i] = c;
            }
        }
        first += label[i] < 0;
    }
    for (int i = 0; i < first; i++)
        label[i] = first < n ? label[first] : 0;
}

/* mean [d] of the coordinates present; 0 if there are none. */
static void mean_of(const vh_points *p, double *mean)
{
    for (int a = 0; a < p->d; a++) {
        double sum = 0;
        int seen = 0;
        for (int i = 0; i < p->n; i++)
            if (!isnan(p->X[vh_ij(i, p->d, a)])) {
                sum += p->X[vh_ij(i, p->d, a)];
                seen++;
            }
        mean[a] = seen > 0 ? sum / seen : 0;
    }
}

/* As for complete points; missing coordinates of a seed become the mean. */
static vhem_status seeds(vhem_ctx *ctx, vh_rng *rng, const vh_points *p, int k, double *centre)
{
    int n = p->n, d = p->d;
    VH_AUTOFREE double *far = NULL, *mean = NULL;

    VH_NEW(far, n);
    VH_NEW(mean, d);
    mean_of(p, mean);
    for (int i = 0; i < n; i++)
        far[i] = INFINITY;
    int pick = (int)vh_rng_below(rng, n);
    for (int c = 0; c < k; c++) {
        bool hurry = vh_overdue(ctx); /* then any points will do */
        double *here = centre + vh_row(c, d), sum = 0;
        for (int a = 0; a < d; a++) {
            double x = p->X[vh_ij(pick, d, a)];
            here[a] = isnan(x) ? mean[a] : x;
        }
        for (int i = 0; i < n && !hurry; i++) {
            double away = distance(d, p->X + vh_row(i, d), here);
            far[i] = isnan(away) ? 0 : fmin(far[i], away);
            sum += far[i];
        }
        pick = vh_next_seed(rng, n, far, sum);
    }
    return VHEM_OK;
}

/* sum [k][d] and seen [k][d] are scratch. */
static void move_centres_with_gaps(const vh_points *p, const int *label, int k, double *sum, double *seen,
                                   double *centre)
{
    int d = p->d;
    memset(sum, 0, sizeof *sum * vh_cells(k, d));
    memset(seen, 0, sizeof *seen * vh_cells(k, d));
    for (int i = 0; i < p->n; i++)
        for (int a = 0; a < d; a++)
            if (!isnan(p->X[vh_ij(i, d, a)])) {
                sum[vh_ij(label[i], d, a)] += p->X[vh_ij(i, d, a)];
                seen[vh_ij(label[i], d, a)] += 1;
            }
    for (size_t e = 0; e < vh_cells(k, d); e++)
        if (seen[e] > 0)
            centre[e] = sum[e] / seen[e];
}

vhem_status vh_kmeans_gaps(vhem_ctx *ctx, vh_rng *rng, const vh_points *p, int k, int max_iter,
                           double *centre, int *label)
{
    VH_AUTOFREE double *sum = NULL, *seen = NULL;
    VH_AUTOFREE int *old = NULL;
    bool rests = false;

    VH_NEW(sum, vh_cells(k, p->d));
    VH_NEW(seen, vh_cells(k, p->d));
    VH_NEW(old, p->n);
    VH_TRY(seeds(ctx, rng, p, k, centre));
    for (int iter = 0; iter < max_iter && !rests && (iter == 0 || !vh_stopped(ctx)); iter++) {
        vh_nearest_gaps(p->n, p->d, p->X, k, centre, label);
        rests = iter > 0 && memcmp(old, label, sizeof *old * (size_t)p->n) == 0;
        memcpy(old, label, sizeof *old * (size_t)p->n);
        if (!rests)
            move_centres_with_gaps(p, label, k, sum, seen, centre);
    }
    return VHEM_OK;
}
