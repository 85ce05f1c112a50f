/* SPDX-License-Identifier: BSD-3-Clause */
/* views.c - see views.h.
 *
 * Differences tell a rise from a fall at the same height; standardised sequences have the same shape whatever
 * their size and place.  Which of them matters is for the judge to say, not for the user. */
#include "search/views.h"

#include "core/alloc.h"
#include "core/array2.h"

#include <math.h>

#define SAME     0.01 /* means and deviations that differ by less, as a share of a deviation, are equal */
#define ROUNDING 1e-9 /* deviations below this share of the largest value are those of rounding */

const char *vh_view_name(vh_view view)
{
    static const char *const names[] = { "", "with differences", "each standardised" };
    return names[view];
}

/* Central differences of column k, one-sided at both ends. */
static void differences(const double *y, int64_t T, int d, int k, double *out, int width)
{
    for (int64_t t = 0; t < T; t++) {
        int64_t lo = t > 0 ? t - 1 : 0, hi = t + 1 < T ? t + 1 : t;
        out[t * width] = hi > lo ? (y[hi * d + k] - y[lo * d + k]) / (double)(hi - lo) : 0;
    }
}

/* Mean and deviation of column k; the deviation is 0 if the column is the same throughout. */
static void measure(const double *y, int64_t T, int d, int k, double *mean, double *deviation)
{
    double n = 0, sum = 0, square = 0, top = 0;
    for (int64_t t = 0; t < T; t++)
        if (!isnan(y[t * d + k])) {
            n++;
            sum += y[t * d + k];
            top = fmax(top, fabs(y[t * d + k]));
        }
    *mean = n > 0 ? sum / n : 0;
    for (int64_t t = 0; t < T; t++)
        if (!isnan(y[t * d + k]))
            square += (y[t * d + k] - *mean) * (y[t * d + k] - *mean);
    *deviation = n > 0 ? sqrt(square / n) : 0;
    *deviation = *deviation > ROUNDING * top ? *deviation : 0;
}

static void standardise(const double *y, int64_t T, int d, int k, double *out)
{
    double mean, deviation;
    measure(y, T, d, k, &mean, &deviation);
    for (int64_t t = 0; t < T; t++)
        out[t * d] = isnan(y[t * d + k]) ? NAN : deviation > 0 ? (y[t * d + k] - mean) / deviation : 0;
}

bool vh_view_is_same(const vhem_data *data)
{
    for (int k = 0; k < data->d; k++) {
        double mean, deviation, first_mean = 0, first = 0;
        for (int64_t n = 0; n < data->N; n++) {
            measure(vh_data_frames(data, n), vh_data_length(data, n), data->d, k, &mean, &deviation);
            if (n == 0) {
                first_mean = mean;
                first = deviation;
            }
            if (fabs(mean - first_mean) > SAME * first || fabs(deviation - first) > SAME * first)
                return false;
        }
    }
    return true;
}

/* Fills in the frames of one sequence, out [T][width]. */
static void show(vh_view view, const double *y, int64_t T, int d, int width, double *out)
{
    for (int k = 0; k < d; k++) {
        if (view == VH_EACH_STANDARDISED) {
            standardise(y, T, d, k, out + k);
        } else {
            for (int64_t t = 0; t < T; t++)
                out[t * width + k] = y[t * d + k];
            if (view == VH_WITH_DIFFERENCES)
                differences(y, T, d, k, out + d + k, width);
        }
    }
}

vhem_status vh_view_make(vhem_ctx *ctx, vh_view view, const vhem_data *data, vhem_data **out)
{
    VH_OWN(vh_builder) *b = NULL;
    VH_AUTOFREE double *frames = NULL;
    int width = view == VH_WITH_DIFFERENCES ? 2 * data->d : data->d;
    int64_t longest = 0;

    for (int64_t n = 0; n < data->N; n++)
        longest = vh_data_length(data, n) > longest ? vh_data_length(data, n) : longest;
    VH_NEW(frames, vh_cells(longest, width));
    VH_TRY(vh_builder_new(ctx, width, &b));
    for (int64_t n = 0; n < data->N; n++) {
        int64_t T = vh_data_length(data, n);
        show(view, vh_data_frames(data, n), T, data->d, width, frames);
        VH_TRY(vh_builder_frames(b, frames, T));
        VH_TRY(vh_builder_end(b, data->name ? data->name[n] : NULL, NULL, data->group ? data->group[n] : NULL,
                              vh_data_weight(data, n)));
        vh_data_passed(data, n);
    }
    return vh_builder_finish(b, "view", out);
}
