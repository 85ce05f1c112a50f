/* SPDX-License-Identifier: BSD-3-Clause */
/* start.c - see start.h. */
#include "dtm/start.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "dtm/hem_dtm.h"

#include <math.h>
#include <string.h>

const char *const vh_dtm_starts[] = { "base", "far", NULL };

#define LITTLE 0.1 /* scale of the effect of an added state, relative to the noise */

void vh_dt_from_base(const vh_dt *b, int d, vh_rng *rng, vh_dt *center)
{
    int n = center->n, m = b->n < n ? b->n : n;

    memset(center->A, 0, sizeof *center->A * center->size);
    memcpy(center->ybar, b->ybar, sizeof *b->ybar * (size_t)d);
    memcpy(center->R, b->R, sizeof *b->R * (size_t)d);
    memcpy(center->mu, b->mu, sizeof *b->mu * (size_t)m);
    for (int i = 0; i < m; i++) {
        memcpy(center->A + i * n, b->A + i * b->n, sizeof *b->A * (size_t)m);
        memcpy(center->Q + i * n, b->Q + i * b->n, sizeof *b->Q * (size_t)m);
        memcpy(center->Sigma + i * n, b->Sigma + i * b->n, sizeof *b->Sigma * (size_t)m);
    }
    for (int k = 0; k < d; k++) {
        double *row = center->C + vh_row(k, n);
        memcpy(row, b->C + vh_row(k, b->n), sizeof *row * (size_t)m);
        for (int i = m; i < n; i++)
            row[i] = LITTLE * sqrt(b->R[k]) * vh_rng_normal(rng);
    }
    for (int i = m; i < n; i++) {
        center->A[i * n + i] = 0.5;
        center->Q[i * n + i] = 0.75;
        center->Sigma[i * n + i] = 1;
    }
}

/* Draws the next texture by weight, times how badly the centres so far explain it. */
static int64_t pick(const vh_dtm *base, const double *loss, const bool *taken, vh_rng *rng)
{
    double sum = 0, at;
    int64_t last = 0;
    for (int64_t i = 0; i < base->K; i++)
        sum += taken[i] ? 0 : base->omega[i] * loss[i];
    at = vh_rng_uniform(rng) * sum;
    for (int64_t i = 0; i < base->K; i++) {
        double p = taken[i] ? 0 : base->omega[i] * loss[i];
        if (!taken[i] && (p > 0 || !(sum > 0)))
            last = i;
        at -= p;
        if (at < 0 && p > 0)
            return i;
    }
    return last;
}

vhem_status vh_dtm_start(vhem_ctx *ctx, const char *name, const vh_dtm *base, int tau, vh_rng *rng,
                         vh_scratch *scratch, vh_dtm *centers)
{
    bool far = strcmp(name, "far") == 0;
    VH_AUTOFREE bool *taken = NULL;
    VH_AUTOFREE double *loss = NULL, *L = NULL;
    int64_t Kb = base->K;
    VH_OWN(vh_dtm) *one = NULL;

    VH_NEW(taken, Kb);
    VH_NEW(loss, Kb);
    VH_NEW(L, Kb);
    for (int64_t i = 0; i < Kb; i++)
        loss[i] = 1;
    for (int64_t j = 0; j < centers->K; j++) {
        int64_t seed = pick(base, loss, taken, rng);
        taken[seed] = true;
        vh_dt_from_base(&base->dt[seed], base->d, rng, &centers->dt[j]);
        centers->omega[j] = 1.0 / centers->K;
        if (!far || j + 1 == centers->K)
            continue;
        VH_TRY(vh_dtm_subset(ctx, base, &seed, 1, &one));
        vhem_status scored = vh_hem_dtm_score(ctx, base, one, tau, &(vh_workers){ 1, scratch }, L);
        vh_dtm_free(one);
        one = NULL;
        if (scored == VHEM_ESTOPPED) { /* stopped: use the losses computed so far */
            far = false;
            continue;
        }
        VH_TRY(scored);
        double top = L[seed]; /* how well a texture explains itself, as the reference */
        for (int64_t i = 0; i < Kb; i++) {
            double now = fmax(top - L[i], 0);
            loss[i] = j == 0 ? now : fmin(loss[i], now);
        }
    }
    return VHEM_OK;
}

void vh_dtm_scale(const vh_dtm *base, double *scale)
{
    double sum = 0;
    for (int64_t i = 0; i < base->K; i++)
        sum += base->omega[i];
    for (int k = 0; k < base->d; k++) {
        double mean = 0, var = 0;
        for (int64_t i = 0; i < base->K; i++)
            mean += base->omega[i] / sum * base->dt[i].ybar[k];
        for (int64_t i = 0; i < base->K; i++) {
            const vh_dt *b = &base->dt[i];
            const double *c = b->C + vh_row(k, b->n);
            double off = b->ybar[k] - mean, own = b->R[k];
            for (int p = 0; p < b->n; p++)
                for (int q = 0; q < b->n; q++)
                    own += c[p] * b->Sigma[p * b->n + q] * c[q];
            var += base->omega[i] / sum * (off * off + fmax(own, b->R[k]));
        }
        scale[k] = sqrt(var);
    }
}
