/* SPDX-License-Identifier: BSD-3-Clause */
/* spread.c - see spread.h.  Two passes, so that nothing cancels: the mean first, as a sum of differences from
 * the first frame, which is exact where nothing varies; then squares about the mean. */
#include "estimate/spread.h"

#include <math.h>
#include <string.h>

/* sum [d] += y - about, or its square. */
static void add_pass(const vhem_data *data, const int64_t *seq, int64_t n, const double *about, bool squared,
                     double *sum)
{
    int d = data->d;
    for (int64_t i = 0; i < n; i++) {
        int64_t s = seq ? seq[i] : i;
        const double *y = vh_data_frames(data, s), *end = y + vh_data_length(data, s) * d;
        for (; y < end; y += d)
            for (int k = 0; k < d; k++)
                sum[k] += squared ? (y[k] - about[k]) * (y[k] - about[k]) : y[k] - about[k];
        if (!seq && n > 1) /* all of the data: it may not fit into memory */
            vh_data_passed(data, s);
    }
}

/* Column k by itself, whose values may be missing; 0 and 0 where all are. */
static void spread_with_gaps(const vhem_data *data, const int64_t *seq, int64_t n, int k, double *mean,
                             double *deviation)
{
    double first = NAN, sum = 0, square = 0, seen = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < n; i++) {
            int64_t s = seq ? seq[i] : i;
            const double *y = vh_data_frames(data, s) + k, *end = y + vh_data_length(data, s) * data->d;
            for (; y < end; y += data->d) {
                if (isnan(*y))
                    continue;
                first = isnan(first) ? *y : first;
                sum += pass == 0 ? *y - first : 0;
                seen += pass == 0;
                square += pass == 1 ? (*y - *mean) * (*y - *mean) : 0;
            }
        }
        *mean = seen > 0 ? first + sum / seen : 0;
    }
    *deviation = seen > 0 ? sqrt(square / seen) : 0;
}

static void no_rounding(int d, const double *mean, double *deviation)
{
    for (int k = 0; k < d; k++)
        if (deviation[k] < 1e-14 * fabs(mean[k])) /* rounding of the mean, not a spread */
            deviation[k] = 0;
}

void vh_spread(const vhem_data *data, const int64_t *seq, int64_t n, double *mean, double *deviation)
{
    double frames = 0;
    const double *first = vh_data_frames(data, seq ? seq[0] : 0);
    for (int64_t i = 0; i < n; i++)
        frames += (double)vh_data_length(data, seq ? seq[i] : i);
    memset(mean, 0, sizeof *mean * (size_t)data->d);
    memset(deviation, 0, sizeof *deviation * (size_t)data->d);
    add_pass(data, seq, n, first, false, mean);
    for (int k = 0; k < data->d; k++)
        mean[k] = first[k] + mean[k] / frames;
    add_pass(data, seq, n, mean, true, deviation);
    for (int k = 0; k < data->d; k++)
        deviation[k] = sqrt(deviation[k] / frames);
    for (int k = 0; k < data->d; k++)
        if (isnan(mean[k])) /* values are missing */
            spread_with_gaps(data, seq, n, k, &mean[k], &deviation[k]);
    no_rounding(data->d, mean, deviation);
}

void vh_spread_scale(const vhem_data *data, const int64_t *seq, int64_t n, const double *whole,
                     double *origin, double *scale)
{
    vh_spread(data, seq, n, origin, scale);
    for (int k = 0; k < data->d; k++)
        if (!(scale[k] > 0) || isinf(scale[k]))
            scale[k] = whole && whole[k] > 0 ? whole[k] : 1;
}

void vh_data_coords(const vh_emission *family, const vh_shape *shape, const vhem_data *data,
                    const int64_t *seq, int64_t n, const double *whole, double *xs)
{
    if (family->location)
        vh_spread_scale(data, seq, n, whole, xs, xs + data->d);
    for (int k = 0; k < data->d; k++)
        if (!vh_located(family, shape, k)) {
            xs[k] = 0;
            xs[data->d + k] = 1;
        }
}
