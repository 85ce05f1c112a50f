/* SPDX-License-Identifier: BSD-3-Clause */
/* columns.c - see columns.h.
 *
 * With z_t the values of a column, standardised over all frames, each of these is about a standard normal
 * number if they are independent and alike:
 *
 *   after one another     sum z_t z_t+1 / sqrt(pairs), and the same of z^2 - 1
 *   between sequences     sum_n T_n mean_n(z)^2 against chi-square, and the same of z^2 - 1
 *   along sequences       sum_b T_b mean_b(z)^2 against chi-square, b a tenth of the sequence */
#include "search/columns.h"

#include "core/alloc.h"

#include <math.h>
#include <string.h>

enum {
    LEAST_FRAMES = 2000, /* fewer would pass for noise too easily */
    TENTHS = 10,
};
#define LIMIT 4.0 /* standard deviations */

typedef struct { /* sums over some frames of z and of z^2 - 1, and how many there are */
    double z, square, n;
} part;

/* (sum_i n_i mean_i^2 - parts) / sqrt(2 parts), where the mean of the squares is `spread`. */
typedef struct {
    double sum, n;
} chi_square;

static void add_mean(chi_square *x, double sum, double n, double spread)
{
    if (n > 0) {
        x->sum += sum * sum / (n * spread);
        x->n++;
    }
}

static double deviates(const chi_square *x)
{
    return x->n > 1 ? (x->sum - (x->n - 1)) / sqrt(2 * (x->n - 1)) : 0;
}

/* Mean of z^4, the values standardised; *n: how many there are. */
static double kurtosis(const vhem_data *data, int k, double mean, double deviation, double *n)
{
    double sum = 0;
    *n = 0;
    for (int64_t s = 0; s < data->N; s++) {
        const double *y = vh_data_frames(data, s) + k;
        for (int64_t t = 0; t < vh_data_length(data, s); t++) {
            double z = (y[t * data->d] - mean) / deviation;
            if (!isnan(z)) {
                sum += z * z * z * z;
                ++*n;
            }
        }
    }
    return sum / *n;
}

static bool is_noise(const vhem_data *data, int k, double mean, double deviation)
{
    double n, spread = kurtosis(data, k, mean, deviation, &n) - 1;
    double pairs = 0, after = 0, after_square = 0;
    if (n < LEAST_FRAMES || !(spread > 0) || isinf(spread))
        return false;
    part tenth[TENTHS] = { { 0 } };
    chi_square between = { 0 }, between_square = { 0 }, along = { 0 };
    for (int64_t s = 0; s < data->N; s++) {
        const double *y = vh_data_frames(data, s) + k;
        int64_t T = vh_data_length(data, s);
        part all = { 0 };
        double before = NAN;
        for (int64_t t = 0; t < T; t++) {
            double z = (y[t * data->d] - mean) / deviation;
            if (!isnan(z)) {
                part *p = &tenth[t * TENTHS / T];
                p->z += z;
                p->n++;
                all.z += z;
                all.square += z * z - 1;
                all.n++;
            }
            if (!isnan(z) && !isnan(before)) {
                pairs++;
                after += z * before;
                after_square += (z * z - 1) * (before * before - 1);
            }
            before = z;
        }
        add_mean(&between, all.z, all.n, 1);
        add_mean(&between_square, all.square, all.n, spread);
    }
    for (int b = 0; b < TENTHS; b++)
        add_mean(&along, tenth[b].z, tenth[b].n, 1);
    return pairs > 0 && fabs(after) < LIMIT * sqrt(pairs) && fabs(after_square) < LIMIT * spread * sqrt(pairs)
           && fabs(deviates(&between)) < LIMIT && fabs(deviates(&between_square)) < LIMIT
           && fabs(deviates(&along)) < LIMIT;
}

vhem_status vh_columns_noise(vhem_ctx *ctx, const vhem_data *data, const double *mean,
                             const double *deviation, bool *noise)
{
    int left = 0;
    for (int k = 0; k < data->d; k++) {
        VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "stopped");
        noise[k] = deviation[k] > 0 && is_noise(data, k, mean[k], deviation[k]);
        left += !noise[k];
    }
    if (left == 0)
        memset(noise, 0, sizeof *noise * (size_t)data->d);
    return VHEM_OK;
}
