/* SPDX-License-Identifier: BSD-3-Clause */
/* lengths.c - see lengths.h. */
#include "fit/lengths.h"

#include "core/alloc.h"
#include "core/hash.h"
#include "core/array2.h"

#include <math.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

vhem_status vh_lengths_of(vhem_ctx *ctx, const vhem_data *data, vh_lengths *out)
{
    VH_AUTOFREE int64_t *T = NULL;

    VH_NEW(T, data->N);
    for (int64_t n = 0; n < data->N; n++)
        T[n] = vh_data_length(data, n);
    qsort(T, (size_t)data->N, sizeof *T, ascending);
    *out = (vh_lengths){ .min = T[0], .median = T[(data->N - 1) / 2], .max = T[data->N - 1] };
    return VHEM_OK;
}

vhem_status vh_lengths_of_sets(vhem_ctx *ctx, const vhem_data *data, const vh_sets *sets, vh_lengths *out)
{
    VH_AUTOFREE int64_t *T = NULL;

    if (sets->n < 1 || sets->n == data->N)
        return VHEM_OK;
    VH_NEW(T, sets->n);
    for (int64_t g = 0; g < sets->n; g++)
        for (int64_t k = sets->first[g]; k < sets->first[g + 1]; k++)
            T[g] += vh_data_length(data, sets->seq[k]);
    qsort(T, (size_t)sets->n, sizeof *T, ascending);
    out->frames = T[(sets->n - 1) / 2];
    return VHEM_OK;
}

/* Normalises zeros and NaNs, which have several bit patterns each; a missing value is a NaN. */
static uint64_t hash_frames(const double *y, int64_t n)
{
    enum { PIECE = 256 };
    double piece[PIECE];
    uint64_t h = vh_hash_chain(0, &n, sizeof n);
    for (int64_t at = 0; at < n; at += PIECE) {
        int size = (int)(n - at < PIECE ? n - at : PIECE);
        for (int k = 0; k < size; k++)
            piece[k] = isnan(y[at + k]) ? (double)NAN : y[at + k] == 0 ? 0 : y[at + k];
        h = vh_hash_chain(h, piece, sizeof *piece * (size_t)size);
    }
    return h;
}

uint64_t vh_fingerprint(const vhem_data *data, const int64_t *seq, int64_t n)
{
    uint64_t sum = 0;
    for (int64_t k = 0; k < n; k++)
        sum += hash_frames(vh_data_frames(data, seq[k]), vh_data_length(data, seq[k]) * data->d);
    return sum ? sum : 1;
}

/* ---- mean and deviation of sequences ------------------------------------------------------------------- */

/* 1. the deviation of all frames      2. that within states
 *
 * Two passes avoid cancellation: first the mean, as a sum of differences from the first frame, exact if
 * nothing varies; then squares about the mean. */

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

/* Column k alone, with missing values; 0 and 0 if all are missing. */
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

/* The scale of a constant column: so small that pseudo-frames, which have this deviation, leave its variance
 * at the floor of a variance of 1 in all states. */
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

/* The sorted values of a column of one set are cut into n groups, each time where the cut most reduces the
 * squares about the group means; then the cuts are moved as in k-means.  What remains is the variance within
 * states, as far as one column shows it: states far apart do not count, nor does a sentinel, which forms its
 * own group; and it is the mean over all states, not the narrowest, which may be a sensor at rest.  For
 * normal data 1 / (.37 n^2 + .64 n - .01) of the variance remains (Max 1960, to 1 %), so for a single state
 * the result is its full variance.
 *
 * Groups of fewer than ENOUGH values would fit the noise: short sets are cut into fewer. */
enum { VALUES = 512 /* maximum per set and column */, ENOUGH = 8, MOVES = 20 };
#define ROUNDING 1e-9 /* relative to the total deviation: less than that is no spread */

typedef struct {
    int n;            /* number of values */
    double *y;        /* [n]    sorted, centred at their median */
    double *sum, *sq; /* [n+1]  of the first i, and of their squares */
    int *cut;         /* [n_group+1]  group g: cut[g] .. cut[g+1]-1 */
} sorted_column;

/* Sum of squares about the mean of the values i .. j-1. */
static double squares(const sorted_column *x, int i, int j)
{
    double s = x->sum[j] - x->sum[i];
    return j > i ? fmax(0, x->sq[j] - x->sq[i] - s * s / (j - i)) : 0;
}

/* Finds the best cut of i .. j-1 in two; returns its gain, 0: none. */
static double best_cut(const sorted_column *x, int i, int j, int *at)
{
    double all = squares(x, i, j), most = 0;
    *at = i;
    for (int m = i + 1; m < j; m++) {
        double gain = all - squares(x, i, m) - squares(x, m, j);
        if (gain > most) {
            most = gain;
            *at = m;
        }
    }
    return most;
}

/* Cuts until there are n groups, or no cut helps; returns the number of groups. */
static int cut_up(sorted_column *x, int n)
{
    int made = 1;

    x->cut[0] = 0;
    x->cut[1] = x->n;
    for (; made < n; made++) {
        int group = -1, at = 0, place;
        double most = 0;
        for (int g = 0; g < made; g++) {
            double gain = best_cut(x, x->cut[g], x->cut[g + 1], &place);
            if (gain > most) {
                most = gain;
                group = g;
                at = place;
            }
        }
        if (group < 0)
            break;
        memmove(x->cut + group + 2, x->cut + group + 1, sizeof *x->cut * (size_t)(made - group));
        x->cut[group + 1] = at;
    }
    return made;
}

/* Assigns each value to the nearer of the means beside its cut: the squares never increase. */
static void move_cuts(sorted_column *x, int n)
{
    bool moved = true;
    for (int k = 0; k < MOVES && moved; k++) {
        moved = false;
        for (int g = 1; g < n; g++) {
            int a = x->cut[g - 1], b = x->cut[g], c = x->cut[g + 1];
            double edge = 0.5 * ((x->sum[b] - x->sum[a]) / (b - a) + (x->sum[c] - x->sum[b]) / (c - b));
            while (b > a + 1 && x->y[b - 1] > edge)
                b--;
            while (b < c - 1 && x->y[b] <= edge)
                b++;
            moved |= b != x->cut[g];
            x->cut[g] = b;
        }
    }
}

static int compare_spread(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Gathers the values of column k in the sequences seq [n] of a set: all, or VALUES at equal distances. */
static void gather_values(const vhem_data *data, const int64_t *seq, int64_t n, int k, double deviation,
                          sorted_column *x)
{
    int64_t frames = 0, at = 0;
    for (int64_t i = 0; i < n; i++)
        frames += vh_data_length(data, seq[i]);
    int64_t every = (frames + VALUES - 1) / VALUES;
    x->n = 0;
    for (int64_t i = 0; i < n; i++) {
        const double *y = vh_data_frames(data, seq[i]);
        int64_t T = vh_data_length(data, seq[i]);
        for (int64_t t = (every - at % every) % every; t < T; t += every)
            if (!isnan(y[t * data->d + k]))
                x->y[x->n++] = y[t * data->d + k];
        at += T;
    }
    qsort(x->y, (size_t)x->n, sizeof *x->y, compare_spread);
    double middle = x->n > 0 ? x->y[x->n / 2] : 0;
    for (int i = 0; i < x->n; i++) {
        x->y[i] = (x->y[i] - middle) / deviation;
        x->sum[i + 1] = x->sum[i] + x->y[i];
        x->sq[i + 1] = x->sq[i] + x->y[i] * x->y[i];
    }
}

/* Variance within n_state states, corrected by the fraction that remains of normal data. */
static double variance_within(sorted_column *x, int n_state)
{
    int most = x->n / ENOUGH, n = n_state < most ? n_state : most;
    double left = 0;

    n = cut_up(x, n < 1 ? 1 : n);
    move_cuts(x, n);
    for (int g = 0; g < n; g++) { /* not as differences of sums, which cancel */
        int a = x->cut[g], b = x->cut[g + 1];
        double mean = (x->sum[b] - x->sum[a]) / (b - a);
        for (int i = a; i < b; i++)
            left += (x->y[i] - mean) * (x->y[i] - mean);
    }
    return left / x->n * (0.37 * n * n + 0.64 * n - 0.01);
}

vhem_status vh_spread_within(vhem_ctx *ctx, const vhem_data *data, const vh_sets *sets, int n_state,
                             const double *deviation, double *within)
{
    VH_AUTOFREE double *memory = NULL, *sum = NULL;
    VH_AUTOFREE int *cut = NULL;
    enum { ROOM = VALUES + 1 };
    int d = data->d;

    VH_NEW(memory, 3 * ROOM);
    VH_NEW(cut, (n_state < VALUES ? n_state : VALUES) + 2);
    VH_NEW(sum, 2 * (size_t)d); /* variances times counts; counts */
    sorted_column x = { .y = memory, .sum = memory + ROOM, .sq = memory + 2 * ROOM, .cut = cut };
    for (int64_t g = 0; g < sets->n; g++) {
        const int64_t *seq = sets->seq + sets->first[g], n = sets->first[g + 1] - sets->first[g];
        for (int k = 0; k < d; k++) {
            if (!(deviation[k] > 0))
                continue;
            gather_values(data, seq, n, k, deviation[k], &x);
            if (x.n > 0)
                sum[k] += x.n * variance_within(&x, n_state);
            sum[d + k] += x.n;
        }
        vh_data_release(data, seq, n);
    }
    for (int k = 0; k < d; k++) {
        double share = sum[d + k] > 0 ? sqrt(sum[k] / sum[d + k]) : 0;
        within[k] = deviation[k] * (share > ROUNDING ? fmin(1, share) : 1);
    }
    return VHEM_OK;
}
