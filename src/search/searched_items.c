/* SPDX-License-Identifier: BSD-3-Clause */
/* searched_items.c - see searched_items.h.
 *
 * Samples, starts of k-means and ties of ranks depend on the order of the items.  So they are put in the
 * order of their mean, over frames and standardised columns: that of a file says nothing.
 *
 *   1. columns of noise      2. the items in order */
#include "search/searched_items.h"

#include "core/alloc.h"
#include "core/rng.h"
#include "emission/layout.h"
#include "fit/lengths.h"
#include "prior/prior.h"

#include <math.h>
#include <string.h>

/* ---- 1. columns that are nothing but noise ------------------------------------------------------------- */

/* What they add to a distance blurs it.  With z_t the values of a column, standardised over all frames, each
 * of these is about a standard normal number if they are independent and alike:
 *
 *   after one another     sum z_t z_t+1 / sqrt(pairs), and the same of z^2 - 1
 *   between sequences     sum_n T_n mean_n(z)^2 against chi-square, and the same of z^2 - 1
 *   along sequences       sum_b T_b mean_b(z)^2 against chi-square, b a tenth of the sequence */

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

/* noise [d]: true for a column whose values could as well be drawn one by one from one distribution: they do
 * not depend on the value before, on the sequence, or on the place in it, by tests that few real columns
 * pass. All false if there are too few frames to tell, or if all would be true.  Columns must be numbers, of
 * this mean [d] and deviation [d] (vh_spread); one that never varies is no noise. */
static vhem_status columns_noise(vhem_ctx *ctx, const vhem_data *data, const double *mean,
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

/* ---- 2. the items in order ----------------------------------------------------------------------------- */

typedef struct {
    double mean;
    const char *name;
    int64_t item;
} placed;

static int by_mean(const void *a, const void *b)
{
    const placed *p = a, *q = b;
    if (p->mean != q->mean)
        return p->mean < q->mean ? -1 : 1;
    int names = strcmp(p->name, q->name);
    return names ? names : p->item < q->item ? -1 : p->item > q->item;
}

/* Mean of item i over its values, standardised by column. */
static double mean_value(const vh_graph_source *all, const bool *noise, const double *mean,
                         const double *deviation, int64_t i)
{
    double sum = 0, n = 0;
    for (int64_t e = all->sets->first[i]; e < all->sets->first[i + 1]; e++) {
        const double *y = vh_data_frames(all->data, all->sets->seq[e]);
        int64_t T = vh_data_length(all->data, all->sets->seq[e]);
        int d = all->data->d;
        for (int64_t t = 0; t < T; t++)
            for (int k = 0; k < d; k++)
                if (!noise[k] && deviation[k] > 0 && !isnan(y[t * d + k])) {
                    sum += (y[t * d + k] - mean[k]) / deviation[k];
                    n++;
                }
    }
    return n > 0 ? sum / n : 0;
}

/* pick [n] of the items, in order. */
static vhem_status pick_items(vhem_ctx *ctx, const vh_graph_source *all, const bool *noise,
                              const double *mean, const double *deviation, uint64_t seed,
                              vh_searched_items *out)
{
    int64_t n_all = all->sets->n;
    VH_AUTOFREE placed *order = NULL;
    vh_rng rng;

    VH_NEW(order, n_all);
    for (int64_t i = 0; i < n_all; i++)
        order[i] = (placed){ mean_value(all, noise, mean, deviation, i),
                             vh_sets_name(all->sets, all->data, i, all->by_group), i };
    qsort(order, (size_t)n_all, sizeof *order, by_mean);
    VH_NEW(out->pick, out->n);
    vh_rng_init(&rng, seed, VH_RNG_SPLIT, 0);
    vh_rng_spread(&rng, n_all, (int)out->n, out->pick);
    for (int64_t i = 0; i < out->n; i++)
        out->pick[i] = order[out->pick[i]].item;
    return VHEM_OK;
}

/* Their sequences, with all columns. */
static vhem_status take_sequences(vhem_ctx *ctx, const vh_graph_source *all, vh_searched_items *out)
{
    VH_AUTOFREE int64_t *seq = NULL, *item = NULL;
    int64_t N = 0;

    VH_NEW(seq, all->data->N);
    VH_NEW(item, all->data->N);
    for (int64_t i = 0; i < out->n; i++)
        for (int64_t e = all->sets->first[out->pick[i]]; e < all->sets->first[out->pick[i] + 1]; e++) {
            seq[N] = all->sets->seq[e];
            item[N++] = i;
        }
    VH_TRY(vh_data_subset(ctx, all->data, seq, N, &out->full));
    return vh_sets_from(ctx, N, item, out->n, &out->sets);
}

/* Copies the sequences without columns of noise. */
static vhem_status drop_columns(vhem_ctx *ctx, const vhem_data *data, const bool *noise, vhem_data **out)
{
    VH_OWN(vh_builder) *b = NULL;
    VH_AUTOFREE double *frame = NULL;
    int left = 0;

    for (int k = 0; k < data->d; k++)
        left += !noise[k];
    VH_NEW(frame, left);
    VH_TRY(vh_builder_new(ctx, left, &b));
    for (int64_t n = 0; n < data->N; n++) {
        const double *y = vh_data_frames(data, n);
        for (int64_t t = 0; t < vh_data_length(data, n); t++) {
            int at = 0;
            for (int k = 0; k < data->d; k++)
                if (!noise[k])
                    frame[at++] = y[t * data->d + k];
            VH_TRY(vh_builder_frame(b, frame));
        }
        VH_TRY(vh_builder_end(b, data->name ? data->name[n] : NULL, NULL, data->group ? data->group[n] : NULL,
                              vh_data_weight(data, n)));
    }
    return vh_builder_finish(b, "memory", out);
}

/* noise [d]; none where columns are not plain numbers. */
static vhem_status find_noise(vhem_ctx *ctx, const vh_graph_source *all, const double *mean,
                              const double *deviation, bool *noise, int *found)
{
    const vh_emission *family = vh_emission_find(all->emission);

    *found = 0;
    if (all->data->layout || !family || !vh_prior_normal(family))
        return VHEM_OK;
    VH_TRY(columns_noise(ctx, all->data, mean, deviation, noise));
    for (int k = 0; k < all->data->d; k++) {
        *found += noise[k];
        if (noise[k])
            vh_log(
                ctx, VHEM_LOG_WARN,
                "column '%s' is nothing but noise, and the groups are found without it; it may be left out",
                vh_data_column(all->data, k));
    }
    return VHEM_OK;
}

vhem_status vh_searched_items_new(vhem_ctx *ctx, const vh_graph_source *all, int64_t most, uint64_t seed,
                                  vh_searched_items *out)
{
    VH_AUTOFREE bool *noise = NULL;
    VH_AUTOFREE double *mean = NULL, *deviation = NULL;
    int found;

    out->n = most < all->sets->n ? most : all->sets->n;
    VH_NEW(noise, all->data->d);
    VH_NEW(mean, all->data->d);
    VH_NEW(deviation, all->data->d);
    vh_spread(all->data, NULL, all->data->N, mean, deviation);
    VH_TRY(find_noise(ctx, all, mean, deviation, noise, &found));
    VH_TRY(pick_items(ctx, all, noise, mean, deviation, seed, out));
    VH_TRY(take_sequences(ctx, all, out));
    return found > 0 ? drop_columns(ctx, out->full, noise, &out->plain) : VHEM_OK;
}

void vh_searched_items_free(vh_searched_items *x)
{
    free(x->pick);
    vh_sets_free(&x->sets);
    vh_object_free(x->full);
    vh_object_free(x->plain);
}
