/* SPDX-License-Identifier: BSD-3-Clause */
/* independent_columns.h - what families have in common whose columns are independent and have no location:
 * counts, bits, positive numbers, angles. Their statistics count for each column how often it was
 * observed, so that a cell that is missing, NaN, adds nothing. */
#ifndef VH_EMISSION_INDEPENDENT_COLUMNS_H
#define VH_EMISSION_INDEPENDENT_COLUMNS_H

#include "emission/emission.h"

#include <math.h>

/* Less weight than this is rounding, and dividing by it makes noise. */
#define VH_NOTHING 1e-200

/* The largest count and rate, 2^53: above it doubles skip whole numbers. */
#define VH_MOST_COUNT 9007199254740992.0

/* The smallest count of a prior: exp psi of much less underflows to 0, and a component would rule out what it
 * has not seen. */
#define VH_LEAST_COUNT 0.002

/* log of a probability or rate.  That of 0 is finite, so that 0 log 0 is 0; sums of it over many frames,
 * times numbers of virtual samples, are finite too. */
static inline double vh_log_or_never(double p)
{
    return p > 0 ? log(p) : -1e250;
}

/* out [n] = the sum over the columns of density(a_k, y_k), y [n][d]. */
void vh_columns_log_density(int d, const double *a, const double *y, int64_t n,
                            double (*density)(double a, double y), double *out);

/* The probability of the most likely value, and a draw that searches from there. */
double vh_poisson_mode_density(double rate);
double vh_draw_poisson(vh_rng *rng, double rate, double mode_density);
double vh_draw_gamma(vh_rng *rng, double shape);                  /* rate 1 */
double vh_draw_von_mises(vh_rng *rng, double mean, double kappa); /* in [-pi, pi] */

#endif
