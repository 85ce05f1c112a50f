/* SPDX-License-Identifier: BSD-3-Clause */
/* background.c - see background.h. */
#include "emission/background.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "math/logsum.h"

#include <math.h>
#include <string.h>

bool vh_background_takes(const vh_emission *family)
{
    return family == &vh_gaussian_diag;
}

void vh_background_free(vh_background *b)
{
    if (!b)
        return;
    free(b->mu); /* one block */
    free(b);
}

static void lay_by_column(vh_background *b)
{
    int G = b->G, d = b->d;
    for (int l = 0; l < G; l++)
        for (int k = 0; k < d; k++) {
            size_t at = vh_ij(k, G, l), from = vh_ij(l, d, k);
            b->mu_by[at] = b->mu[from];
            b->inv_by[at] = 1 / b->cov[from];
            b->log_by[at] = -0.5 * (VH_LOG_2PI + log(b->cov[from]));
            b->log_all[l] += b->log_by[at];
        }
}

double vh_background_product(const vh_background *b, int m, int l, double lambda)
{
    const vh_shape shape = { .d = b->d };
    const double *p[] = { b->mu + vh_row(m, b->d), b->cov + vh_row(m, b->d) };
    const double *q[] = { b->mu + vh_row(l, b->d), b->cov + vh_row(l, b->d) };
    double out = 0;
    vh_gaussian_diag.log_product(&shape, p, q, lambda, &out, NULL);
    return exp(out);
}

static void fill_tables(vh_background *b)
{
    int G = b->G, d = b->d;
    for (int m = 0; m < G; m++) {
        double *E = b->E + vh_row(m, G);
        b->top[m] = -INFINITY;
        for (int l = 0; l < G; l++) {
            E[l] = b->log_all[l];
            for (int k = 0; k < d; k++) {
                size_t of_m = vh_ij(k, G, m), of_l = vh_ij(k, G, l);
                double away = b->mu_by[of_m] - b->mu_by[of_l];
                E[l] -= 0.5 * (away * away + b->cov[vh_ij(m, d, k)]) * b->inv_by[of_l];
            }
            b->top[m] = fmax(b->top[m], E[l]);
            b->half[vh_ij(m, G, l)] = vh_background_product(b, m, l, 0.5);
            b->one[vh_ij(m, G, l)] = vh_background_product(b, m, l, 1);
        }
        for (int l = 0; l < G; l++)
            b->rel[vh_ij(m, G, l)] = exp(E[l] - b->top[m]);
    }
}

vhem_status vh_background_new(vhem_ctx *ctx, int G, int d, const double *mu, const double *cov,
                              vh_background **out)
{
    VH_OWN(vh_background) *b = NULL;
    size_t n = vh_cells(G, d), GG = vh_cells(G, G);

    for (size_t e = 0; e < n; e++)
        VH_CHECK(
            isfinite(mu[e]) && cov[e] > 0 && isfinite(cov[e]), VHEM_EINVAL,
            "background: Gaussian %zu, column %zu has mean %g and variance %g; they must be finite, and the "
            "variance more than 0",
            e / (size_t)d, e % (size_t)d, mu[e], cov[e]);
    VH_NEW(b, 1);
    b->G = G;
    b->d = d;
    VH_NEW(b->mu, 5 * n + 2 * (size_t)G + 4 * GG);
    b->cov = b->mu + n;
    b->mu_by = b->cov + n;
    b->inv_by = b->mu_by + n;
    b->log_by = b->inv_by + n;
    b->log_all = b->log_by + n;
    b->top = b->log_all + G;
    b->E = b->top + G;
    b->rel = b->E + GG;
    b->half = b->rel + GG;
    b->one = b->half + GG;
    memcpy(b->mu, mu, sizeof *mu * n);
    memcpy(b->cov, cov, sizeof *cov * n);
    lay_by_column(b);
    fill_tables(b);
    *out = vh_take(b);
    return VHEM_OK;
}

void vh_background_density(const vh_background *b, const double *y, double *out)
{
    int G = b->G;
    bool gaps = false;
    for (int k = 0; k < b->d; k++)
        gaps = gaps || isnan(y[k]);
    for (int l = 0; l < G; l++)
        out[l] = gaps ? 0 : b->log_all[l];
    for (int k = 0; k < b->d; k++) {
        const double *mu = b->mu_by + vh_row(k, G), *inv = b->inv_by + vh_row(k, G),
                     *constant = b->log_by + vh_row(k, G), x = y[k];
        if (isnan(x))
            continue;
        for (int l = 0; gaps && l < G; l++)
            out[l] += constant[l];
#pragma omp simd
        for (int l = 0; l < G; l++)
            out[l] -= 0.5 * (x - mu[l]) * (x - mu[l]) * inv[l];
    }
}
