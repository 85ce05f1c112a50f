/* SPDX-License-Identifier: BSD-3-Clause */
/* spread.c - see spread.h.
 *
 *   1. the deviation of all frames      2. that within states
 *
 * Two passes, so that nothing cancels: the mean first, as a sum of differences from the first frame, which is
 * exact where nothing varies; then squares about the mean. */
#include "estimate/spread.h"

#include "core/alloc.h"
#include "core/index.h"
#include "core/rng.h"

#include <math.h>
#include <string.h>

/* ---- 1. all frames ------------------------------------------------------------------------------------- */

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

/* The scale of a column that is the same everywhere: so small that made-up frames, which have this deviation,
 * leave its variance at the floor of a variance of 1 in all states. */
#define STILL 1e-4

void vh_spread_scale(const vhem_data *data, const int64_t *seq, int64_t n, const double *whole,
                     double *origin, double *scale)
{
    vh_spread(data, seq, n, origin, scale);
    for (int k = 0; k < data->d; k++)
        if (!(scale[k] > 0) || isinf(scale[k]))
            scale[k] = !whole || isinf(scale[k]) ? 1 : whole[k] > 0 ? whole[k] : STILL;
}

void vh_data_coords(const vh_emission *family, const vh_shape *shape, const vhem_data *data,
                    const int64_t *seq, int64_t n, const double *whole, double *xs)
{
    if (family->moments)
        vh_spread_scale(data, seq, n, whole, xs, xs + data->d);
    for (int k = 0; k < data->d; k++) {
        xs[k] = vh_located(family, shape, k) ? xs[k] : 0;
        xs[data->d + k] = vh_measured(family, shape, k) ? xs[data->d + k] : 1;
    }
}

/* ---- 2. within states ---------------------------------------------------------------------------------- */

/* Of two frames of an HMM with n states, picked at random, at least one pair in n is in one state: sum p_s^2
 * >= 1/n.  So the distance that one pair in 2 n stays below is one within a state, however far apart the
 * states are and however often they change; of normal numbers it is 2 erfinv(1 / 2n) deviations.  Jumps and
 * sentinels do not move it.  Values that are equal, as those of a sensor that was held, tell nothing of a
 * spread. */
enum {
    PAIRS = 4096, /* of a set at most, and no more than it has frames */
    COLUMNS = 64, /* counted at a time */
    STEPS = 8,    /* bins from one power of 2 to the next: a distance to 6 % */
    LOWEST = -36, /* powers of 2 of a distance, over the deviation of all */
    EQUAL = -44,  /* below this it is rounding */
    BINS = STEPS * (4 - LOWEST)
};

typedef struct {
    const vhem_data *data;
    const int64_t *seq; /* [n]  of one set */
    const int64_t *end; /* [n]  frames of the sequences up to and with each */
    int64_t n;
} joined;

static const double *frame_at(const joined *x, int64_t t)
{
    int64_t lo = 0, hi = x->n - 1;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (t < x->end[mid])
            hi = mid;
        else
            lo = mid + 1;
    }
    return vh_data_frames(x->data, x->seq[lo]) + (t - (lo > 0 ? x->end[lo - 1] : 0)) * x->data->d;
}

/* The bin of a distance; -1: it tells nothing. */
static int bin_of(double ratio)
{
    int power;
    if (!(ratio > 0) || isinf(ratio)) /* NaN: a value is missing */
        return -1;
    double part = frexp(ratio, &power); /* in [0.5, 1) */
    int bin = (power - 1 - LOWEST) * STEPS + (int)((part - 0.5) * 2 * STEPS);
    return power <= EQUAL ? -1 : bin < 0 ? 0 : bin < BINS ? bin : BINS - 1;
}

/* count [m][BINS] += distances in the columns k .. k+m-1.  The same frames whatever else there is. */
static void count_pairs(const joined *x, int k, int m, const double *deviation, int64_t *count)
{
    int64_t T = x->end[x->n - 1];
    vh_rng rng;

    vh_rng_init(&rng, 0, VH_RNG_INIT, (uint64_t)T);
    for (int64_t p = 0; T > 1 && p < T && p < PAIRS; p++) {
        int64_t i = vh_rng_below(&rng, T), j = vh_rng_below(&rng, T - 1);
        const double *a = frame_at(x, i) + k, *b = frame_at(x, j + (j >= i)) + k;
        for (int e = 0; e < m; e++) {
            int bin = bin_of(fabs(a[e] - b[e]) / deviation[k + e]);
            if (bin >= 0)
                count[e * BINS + bin]++;
        }
    }
}

/* The distance, over the deviation, that a share of the pairs stays below; INFINITY where there are none. */
static double quantile(const int64_t *count, double share)
{
    int64_t n = 0, below = 0;
    for (int b = 0; b < BINS; b++)
        n += count[b];
    for (int b = 0; n > 0 && b < BINS; b++) {
        below += count[b];
        if ((double)below >= share * (double)n)
            return ldexp(1 + (b % STEPS + 0.5) / STEPS, b / STEPS + LOWEST);
    }
    return INFINITY;
}

vhem_status vh_spread_within(vhem_ctx *ctx, const vhem_data *data, const vh_sets *sets, int n_state,
                             const double *deviation, double *within)
{
    const double q = 0.5 / n_state, pi = 3.14159265358979324;
    const double erfinv = sqrt(pi) / 2 * (q + pi / 12 * q * q * q); /* q is 0.5 at most: to 1 % */
    VH_AUTOFREE int64_t *end = NULL, *count = NULL;
    int d = data->d;

    VH_NEW(end, data->N);
    VH_NEW(count, COLUMNS * BINS);
    for (int k = 0; k < d; k += COLUMNS) {
        int m = d - k < COLUMNS ? d - k : COLUMNS;
        memset(count, 0, sizeof *count * COLUMNS * BINS);
        for (int64_t g = 0; g < sets->n; g++) {
            const joined x = { data, sets->seq + sets->first[g], end, sets->first[g + 1] - sets->first[g] };
            for (int64_t i = 0, frames = 0; i < x.n; i++)
                end[i] = frames += vh_data_length(data, x.seq[i]);
            if (x.n > 0)
                count_pairs(&x, k, m, deviation, count);
            vh_data_release(data, x.seq, x.n);
        }
        for (int e = 0; e < m; e++)
            within[k + e] = deviation[k + e] * fmin(1, quantile(count + e * BINS, q) / (2 * erfinv));
    }
    return VHEM_OK;
}
