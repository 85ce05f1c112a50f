/* SPDX-License-Identifier: BSD-3-Clause */
/* background.h - the Gaussians that all HMMs of a set share (gaussian-tied), and what follows from
 * them once for all: tables G x G, after which a pair of HMMs costs nothing that grows with the number of
 * columns. */
#ifndef VH_EMISSION_BACKGROUND_H
#define VH_EMISSION_BACKGROUND_H

#include "core/ctx.h"
#include "emission/emission.h"

#include <stdint.h>

enum { VH_MAX_GAUSSIANS = 8192 }; /* four tables of G x G */

typedef struct {
    int G, d;
    double *mu, *cov;       /* [G][d] */
    double *mu_by, *inv_by; /* [d][G]  means and 1/variances, columns first */
    double *log_by;         /* [d][G]  -1/2 log 2 pi v */
    double *log_all;        /* [G]  the sums of these over columns */
    double *E;              /* [G][G]  E(m, l): expected log density of l under m */
    double *top;            /* [G]  max_l E(m, l) */
    double *rel;            /* [G][G]  exp(E(m, l) - top(m)) */
    double *half, *one;     /* [G][G]  int (N_m N_l)^lambda, lambda 1/2 and 1 */
} vh_background;

/* mu and cov [G][d] are copied. */
vhem_status vh_background_new(vhem_ctx *ctx, int G, int d, const double *mu, const double *cov,
                              vh_background **out);
/* Can Gaussians of a background be taken from components of the family? */
bool vh_background_takes(const vh_emission *family);
void vh_background_free(vh_background *b);
VH_OWNED(vh_background, vh_background_free)

/* out [G] = log N_l(y), over the cells that are not NaN. */
void vh_background_density(const vh_background *b, const double *y, double *out);
/* int (N_m N_l)^lambda. */
double vh_background_product(const vh_background *b, int m, int l, double lambda);

#endif
