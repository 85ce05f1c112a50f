/* SPDX-License-Identifier: BSD-3-Clause */
/* kmeans.c - k-means++ seeding (Arthur and Vassilvitskii 2007), then Lloyd's algorithm.  Distances come from
 * one matrix product per block of points: |x - c|^2 - |x|^2 = |c|^2 - 2 <x, c> suffices to choose a
 * centre. */
#include "math/kmeans.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "math/linalg.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 256 };

static double dot(int d, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < d; i++)
        sum += a[i] * b[i];
    return sum;
}

vhem_status vh_nearest(vhem_ctx *ctx, int n, int d, const double *X, int k, const double *centre, int *label)
{
    VH_AUTOFREE double *G = NULL, *norm = NULL;
    double low[BLOCK];

    VH_NEW(G, (size_t)k * BLOCK);
    VH_NEW(norm, k);
    for (int c = 0; c < k; c++)
        norm[c] = dot(d, centre + vh_row(c, d), centre + vh_row(c, d));
    for (int b = 0; b < n; b += BLOCK) {
        int m = n - b < BLOCK ? n - b : BLOCK;
        vh_gemm_nt(k, m, d, centre, X + vh_row(b, d), G, BLOCK);
        for (int i = 0; i < m; i++) {
            low[i] = norm[0] - 2 * G[i];
            label[b + i] = 0;
        }
        for (int c = 1; c < k; c++) /* inner loop over points: no data-dependent branches */
            for (int i = 0; i < m; i++) {
                double here = norm[c] - 2 * G[c * BLOCK + i];
                bool nearer = here < low[i];
                low[i] = nearer ? here : low[i];
                label[b + i] = nearer ? c : label[b + i];
            }
    }
    return VHEM_OK;
}

static double distance(int d, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < d; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

/* far [4]: the same for four points X [4][d], whose sums do not wait for each other. */
static void distances(int d, const double *X, const double *b, double far[4])
{
    double sum[4] = { 0 };
    for (int i = 0; i < d; i++)
        for (int p = 0; p < 4; p++)
            sum[p] += (X[vh_ij(p, d, i)] - b[i]) * (X[vh_ij(p, d, i)] - b[i]);
    memcpy(far, sum, sizeof sum);
}

/* far [n]: the squared distances of the points from b. */
static void distances_from(const vh_points *p, const double *b, double *far)
{
    int i = 0, d = p->d;
    for (; i + 4 <= p->n; i += 4)
        distances(d, p->X + vh_row(i, d), b, far + i);
    for (; i < p->n; i++)
        far[i] = distance(d, p->X + vh_row(i, d), b);
}

int vh_next_seed(vh_rng *rng, int n, const double *far, double sum)
{
    double u = vh_rng_uniform(rng) * sum;
    int pick = (int)vh_rng_below(rng, n);
    for (int i = 0; i < n && sum > 0; i++)
        if (far[i] > 0 && (pick = i, (u -= far[i]) < 0))
            break;
    return pick;
}

/* Draws each seed with probability proportional to its squared distance from the seeds so far. */
static vhem_status seeds(vhem_ctx *ctx, vh_rng *rng, const vh_points *p, int k, double *centre)
{
    const double *weight = p->weight;
    int n = p->n, d = p->d;
    VH_AUTOFREE double *far = NULL, *away = NULL;

    VH_NEW(far, n);
    VH_NEW(away, n);
    for (int i = 0; i < n; i++)
        far[i] = INFINITY;
    int pick = (int)vh_rng_below(rng, n);
    for (int c = 0; c < k; c++) {
        bool hurry = vh_overdue(ctx); /* then any points will do */
        double *here = centre + vh_row(c, d), sum = 0;
        memcpy(here, p->X + vh_row(pick, d), sizeof *here * (size_t)d);
        if (!hurry)
            distances_from(p, here, away);
        for (int i = 0; i < n && !hurry; i++) {
            double weighted = (weight ? weight[i] : 1) * away[i];
            far[i] = weighted < far[i] ? weighted : far[i];
            sum += far[i];
        }
        pick = vh_next_seed(rng, n, far, sum);
    }
    return VHEM_OK;
}

/* Moves each centre to the mean of its points; one without weight stays.  sum [k][d] and mass [k] are
 * scratch. */
static void move_centres(const vh_points *p, const int *label, int k, double *sum, double *mass,
                         double *centre)
{
    int d = p->d;
    memset(sum, 0, sizeof *sum * vh_cells(k, d));
    memset(mass, 0, sizeof *mass * (size_t)k);
    for (int i = 0; i < p->n; i++) {
        double times = p->weight ? p->weight[i] : 1;
        mass[label[i]] += times;
        for (int a = 0; a < d; a++)
            sum[vh_ij(label[i], d, a)] += times * p->X[vh_ij(i, d, a)];
    }
    for (int c = 0; c < k; c++)
        for (int a = 0; mass[c] > 0 && a < d; a++)
            centre[vh_ij(c, d, a)] = sum[vh_ij(c, d, a)] / mass[c];
}

vhem_status vh_kmeans(vhem_ctx *ctx, vh_rng *rng, const vh_points *p, int k, int max_iter,
                      vh_kmeans_result *out)
{
    VH_AUTOFREE double *sum = NULL, *mass = NULL;
    VH_AUTOFREE int *old = NULL;
    int n = p->n, d = p->d;
    bool settled = false;

    VH_NEW(sum, vh_cells(k, d));
    VH_NEW(mass, k);
    VH_NEW(old, n);
    VH_TRY(seeds(ctx, rng, p, k, out->centre));
    for (int iter = 0; iter < max_iter && !settled && (iter == 0 || !vh_stopped(ctx)); iter++) {
        VH_TRY(vh_nearest(ctx, n, d, p->X, k, out->centre, out->label));
        settled = iter > 0 && memcmp(old, out->label, sizeof *old * (size_t)n) == 0;
        if (settled)
            continue;
        memcpy(old, out->label, sizeof *old * (size_t)n);
        move_centres(p, out->label, k, sum, mass, out->centre);
    }
    out->converged = settled;
    out->spread = 0;
    for (int i = 0; i < n; i++)
        out->spread += (p->weight ? p->weight[i] : 1)
                       * distance(d, p->X + vh_row(i, d), out->centre + vh_row(out->label[i], d));
    return VHEM_OK;
}

void vh_even_out(int64_t n, int d, double *X)
{
    for (int k = 0; k < d; k++) {
        double mean = 0, square = 0;
        int64_t seen = 0; /* number of values that are not NaN */
        for (int64_t i = 0; i < n; i++) {
            seen += !isnan(X[i * d + k]);
            mean += isnan(X[i * d + k]) ? 0 : X[i * d + k];
        }
        if (seen == 0)
            continue;
        mean /= (double)seen;
        for (int64_t i = 0; i < n; i++)
            square += isnan(X[i * d + k]) ? 0 : (X[i * d + k] - mean) * (X[i * d + k] - mean);
        double deviation = sqrt(square / (double)seen);
        for (int64_t i = 0; i < n && deviation > 1e-14 * fabs(mean); i++)
            X[i * d + k] = (X[i * d + k] - mean) / deviation;
    }
}
