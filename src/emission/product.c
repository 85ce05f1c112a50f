/* SPDX-License-Identifier: BSD-3-Clause */
/* product.c - channels that are independent given state and component, each of a family of its own.
 *
 *   T(y) = (1, T_0(y_0) less its constant, T_1(y_1) less its constant, ...)      theta likewise, constants
 *   added
 *
 * Everything is left to the families of the channels.  The one parameter holds theirs, one channel after the
 * other.  The table for missing cells asks each channel's own table for those.
 *
 *   1. channels      2. statistics      3. densities and kernels      4. the rest */
#include "emission/layout.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- 1. channels --------------------------------------------------------------------------------------- */

static const vh_emission *table_of(const vh_channel *c, bool gaps)
{
    return gaps ? c->family->with_gaps : c->family;
}

static const vh_channel *first_of(const vh_shape *shape)
{
    return shape->layout->channel;
}

static const vh_channel *end_of(const vh_shape *shape)
{
    return shape->layout->channel + shape->layout->n_channel;
}

static vh_coords coords_of(const vh_channel *c, const vh_coords *x)
{
    return (vh_coords){ c->shape, x->origin + c->column, x->scale + c->column };
}

static void par_of(const vh_channel *c, const double *const *all, const double **par)
{
    double *first = (double *)all[0], *to[VH_MAX_PARAM];
    vh_channel_par(c, &first, to);
    for (int p = 0; p < c->family->n_param; p++)
        par[p] = to[p];
}

/* The cells of a channel in m frames of d columns, side by side. */
static void copy_cells(const vh_channel *c, int d, const double *y, int m, double *cells)
{
    for (int i = 0; i < m; i++)
        memcpy(cells + i * c->shape.d, y + i * d + c->column, sizeof *y * (size_t)c->shape.d);
}

static bool takes_gaps(const vh_shape *shape)
{
    for (const vh_channel *c = first_of(shape); c < end_of(shape); c++) {
        if (!vh_emission_with_gaps(c->family, &c->shape))
            return false;
    }
    return true;
}

/* Does what a frame adds hang on the component, in any channel? */
static bool gathers(const vh_shape *shape)
{
    for (const vh_channel *c = first_of(shape); c < end_of(shape); c++)
        if (c->family->with_gaps->gather)
            return true;
    return false;
}

static const char *refuse(const vh_shape *shape, int k, double y)
{
    const vh_channel *c = vh_layout_channel(shape->layout, k);
    return c->family->refuse ? c->family->refuse(&c->shape, k - c->column, y) : NULL;
}

static bool never_zero(const vh_shape *shape, const double *const *par, int k)
{
    const vh_channel *c = vh_layout_channel(shape->layout, k);
    const double *of[VH_MAX_PARAM];
    par_of(c, par, of);
    return c->family->never_zero && c->family->never_zero(&c->shape, of, k - c->column);
}

static double n_free(const vh_shape *shape)
{
    double n = 0;
    for (const vh_channel *c = first_of(shape); c < end_of(shape); c++)
        n += c->family->n_free(&c->shape);
    return n;
}

/* ---- 2. statistics ------------------------------------------------------------------------------------- */

static int count_stat(const vh_shape *shape, bool gaps)
{
    int n = 1;
    for (const vh_channel *c = first_of(shape); c < end_of(shape); c++)
        n += table_of(c, gaps)->n_stat(&c->shape) - 1;
    return n;
}

/* A channel writes its statistics where they belong; the constant before them is put back. */
static void frames_to_stats(const vh_coords *x, const double *y, int64_t n, double *T, bool gaps)
{
    int n_stat = count_stat(&x->shape, gaps);
    for (int64_t t = 0; t < n; t++, y += x->shape.d, T += n_stat) {
        double *at = T;
        for (const vh_channel *c = first_of(&x->shape); c < end_of(&x->shape); c++) {
            const vh_coords xc = coords_of(c, x);
            double before = *at;
            table_of(c, gaps)->stats_of_obs(&xc, y + c->column, 1, at);
            *at = before;
            at += table_of(c, gaps)->n_stat(&c->shape) - 1;
        }
        T[0] = 1;
    }
}

static void component_to_stats(const vh_coords *x, const double *const *par, double *T, bool gaps)
{
    double *at = T;
    for (const vh_channel *c = first_of(&x->shape); c < end_of(&x->shape); c++) {
        const vh_coords xc = coords_of(c, x);
        const double *of[VH_MAX_PARAM];
        double before = *at;
        par_of(c, par, of);
        table_of(c, gaps)->stats_of_component(&xc, of, at);
        *at = before;
        at += table_of(c, gaps)->n_stat(&c->shape) - 1;
    }
    T[0] = 1;
}

static double theta_of(const vh_coords *x, const double *const *par, double *theta, double *work, bool gaps)
{
    double *at = theta, constant = 0, loss = 0;
    for (const vh_channel *c = first_of(&x->shape); c < end_of(&x->shape); c++) {
        const vh_coords xc = coords_of(c, x);
        const double *of[VH_MAX_PARAM];
        double before = *at;
        par_of(c, par, of);
        double lost = table_of(c, gaps)->natural(&xc, of, at, work);
        loss = lost < 0 || loss < 0 ? -1 : loss + lost;
        constant += *at;
        *at = before;
        at += table_of(c, gaps)->n_stat(&c->shape) - 1;
    }
    theta[0] = constant;
    return loss;
}

static int maximise_each(const vh_coords *x, const double *stat, const double *floor, double *const *par,
                         double *work, bool gaps)
{
    int held = 0;
    for (const vh_channel *c = first_of(&x->shape); c < end_of(&x->shape); c++) {
        const vh_coords xc = coords_of(c, x);
        int n = table_of(c, gaps)->n_stat(&c->shape);
        double *to[VH_MAX_PARAM];
        vh_channel_par(c, par, to);
        work[0] = 1;
        memcpy(work + 1, stat + 1, sizeof *work * (size_t)(n - 1));
        int one = table_of(c, gaps)->maximise(&xc, work, floor ? floor + c->column : NULL, to, work + n);
        held = one < 0 || held < 0 ? -1 : held | one;
        stat += n - 1;
    }
    return held;
}

static int n_stat(const vh_shape *shape)
{
    return count_stat(shape, false);
}
static int n_stat_gaps(const vh_shape *shape)
{
    return count_stat(shape, true);
}
static void stats_of_obs(const vh_coords *x, const double *y, int64_t n, double *T)
{
    frames_to_stats(x, y, n, T, false);
}
static void stats_of_obs_gaps(const vh_coords *x, const double *y, int64_t n, double *T)
{
    frames_to_stats(x, y, n, T, true);
}
static void stats_of_component(const vh_coords *x, const double *const *par, double *T)
{
    component_to_stats(x, par, T, false);
}
static void stats_of_component_gaps(const vh_coords *x, const double *const *par, double *T)
{
    component_to_stats(x, par, T, true);
}
static double natural(const vh_coords *x, const double *const *par, double *theta, double *work)
{
    return theta_of(x, par, theta, work, false);
}
static double natural_gaps(const vh_coords *x, const double *const *par, double *theta, double *work)
{
    return theta_of(x, par, theta, work, true);
}
static int maximise(const vh_coords *x, const double *stat, const double *floor, double *const *par,
                    double *work)
{
    return maximise_each(x, stat, floor, par, work, false);
}
static int maximise_gaps(const vh_coords *x, const double *stat, const double *floor, double *const *par,
                         double *work)
{
    return maximise_each(x, stat, floor, par, work, true);
}

/* sum += w_t E[T(y_t)] of m frames in one channel, whose cells stand side by side; sum[0] is left alone. */
static void gather_channel(const vh_channel *c, const vh_coords *x, const double *const *par,
                           const double *cells, const double *w, int m, double *sum, double *work)
{
    const vh_emission *table = c->family->with_gaps;
    int size = table->n_stat(&c->shape);
    double before = sum[0];
    if (table->gather)
        table->gather(x, par, cells, w, m, sum, work);
    for (int i = 0; !table->gather && i < m; i++) {
        table->stats_of_obs(x, cells + i * c->shape.d, 1, work);
        for (int e = 1; e < size; e++)
            sum[e] += w[i] * work[e];
    }
    sum[0] = before;
}

/* A channel whose missing cells hang on the component gathers its own part. */
static void gather(const vh_coords *x, const double *const *par, const double *y, const double *w, int64_t n,
                   double *sum, double *work)
{
    double *at = sum, *cells = work, *more = cells + VH_CHANNEL_BLOCK * x->shape.d;
    for (const vh_channel *c = first_of(&x->shape); c < end_of(&x->shape); c++) {
        const vh_coords xc = coords_of(c, x);
        const double *of[VH_MAX_PARAM];
        par_of(c, par, of);
        for (int64_t t = 0; t < n; t += VH_CHANNEL_BLOCK) {
            int m = n - t < VH_CHANNEL_BLOCK ? (int)(n - t) : VH_CHANNEL_BLOCK;
            copy_cells(c, x->shape.d, y + t * x->shape.d, m, cells);
            gather_channel(c, &xc, of, cells, w + t, m, at, more);
        }
        at += table_of(c, true)->n_stat(&c->shape) - 1;
    }
    for (int64_t t = 0; t < n; t++)
        sum[0] += w[t];
}

/* ---- 3. densities and kernels -------------------------------------------------------------------------- */

/* out [n] = the sum over channels, VH_CHANNEL_BLOCK frames at a time: a channel wants its columns side by
 * side. */
static bool density_of(const vh_shape *shape, const double *const *par, const double *y, int64_t n,
                       double *out, double *work, bool gaps)
{
    double *cells = work, *one = cells + VH_CHANNEL_BLOCK * shape->d;
    memset(out, 0, sizeof *out * (size_t)n);
    for (const vh_channel *c = first_of(shape); c < end_of(shape); c++) {
        const double *of[VH_MAX_PARAM];
        par_of(c, par, of);
        for (int64_t t = 0; t < n; t += VH_CHANNEL_BLOCK) {
            int m = n - t < VH_CHANNEL_BLOCK ? (int)(n - t) : VH_CHANNEL_BLOCK;
            copy_cells(c, shape->d, y + t * shape->d, m, cells);
            if (!table_of(c, gaps)->log_density(&c->shape, of, cells, m, one, one + VH_CHANNEL_BLOCK))
                return false;
            for (int i = 0; i < m; i++)
                out[t + i] += one[i];
        }
    }
    return true;
}

static bool log_density(const vh_shape *shape, const double *const *par, const double *y, int64_t n,
                        double *out, double *work)
{
    return density_of(shape, par, y, n, out, work, false);
}
static bool log_density_gaps(const vh_shape *shape, const double *const *par, const double *y, int64_t n,
                             double *out, double *work)
{
    return density_of(shape, par, y, n, out, work, true);
}

static bool expected_of(const vh_shape *shape, const double *const *r, const double *const *b, double *out,
                        double *work, bool gaps)
{
    *out = 0;
    for (const vh_channel *c = first_of(shape); c < end_of(shape); c++) {
        const double *of_r[VH_MAX_PARAM], *of_b[VH_MAX_PARAM];
        double one;
        par_of(c, r, of_r);
        par_of(c, b, of_b);
        if (!table_of(c, gaps)->expected_density(&c->shape, of_r, of_b, 1, &one, 1, work))
            return false;
        *out += one;
    }
    return true;
}

static bool expected_density(const vh_shape *shape, const double *const *r, const double *const *b, int n,
                             double *out, int step, double *work)
{
    bool ok = true;
    for (int m = 0; ok && m < n; m++, b += VH_MAX_PARAM)
        ok = expected_of(shape, r, b, &out[m * step], work, false);
    return ok;
}
static bool expected_density_gaps(const vh_shape *shape, const double *const *r, const double *const *b,
                                  int n, double *out, int step, double *work)
{
    bool ok = true;
    for (int m = 0; ok && m < n; m++, b += VH_MAX_PARAM)
        ok = expected_of(shape, r, b, &out[m * step], work, true);
    return ok;
}

static bool product_of(const vh_shape *shape, const double *const *p, const double *const *q, double lambda,
                       double *out, double *work, bool gaps)
{
    double sum = 0;
    for (const vh_channel *c = first_of(shape); c < end_of(shape); c++) {
        const double *of_p[VH_MAX_PARAM], *of_q[VH_MAX_PARAM];
        double one;
        par_of(c, p, of_p);
        par_of(c, q, of_q);
        if (!table_of(c, gaps)->log_product(&c->shape, of_p, of_q, lambda, &one, work))
            return false;
        sum += one;
    }
    *out = sum;
    return true;
}

static bool log_product(const vh_shape *shape, const double *const *p, const double *const *q, double lambda,
                        double *out, double *work)
{
    return product_of(shape, p, q, lambda, out, work, false);
}
static bool log_product_gaps(const vh_shape *shape, const double *const *p, const double *const *q,
                             double lambda, double *out, double *work)
{
    return product_of(shape, p, q, lambda, out, work, true);
}

/* ---- 4. the rest --------------------------------------------------------------------------------------- */

/* What a channel prepares for drawing lies where its last parameter does. */
static const double *root_at(const vh_channel *c, const double *r)
{
    const double *of[VH_MAX_PARAM];
    par_of(c, &r, of);
    return of[c->family->n_param - 1];
}

static bool root(const vh_shape *shape, const double *const *par, double *r, double *work)
{
    for (const vh_channel *c = first_of(shape); c < end_of(shape); c++) {
        const double *of[VH_MAX_PARAM];
        par_of(c, par, of);
        if (!c->family->with_gaps->root(&c->shape, of, (double *)root_at(c, r), work))
            return false;
    }
    return true;
}

static void draw(vh_rng *rng, const vh_shape *shape, const double *const *par, const double *r, double *y)
{
    for (const vh_channel *c = first_of(shape); c < end_of(shape); c++) {
        const double *of[VH_MAX_PARAM];
        par_of(c, par, of);
        c->family->with_gaps->draw(rng, &c->shape, of, root_at(c, r), y + c->column);
    }
}

static bool validate(const vh_shape *shape, const double *const *par, char *why, size_t size, double *work)
{
    for (const vh_channel *c = first_of(shape); c < end_of(shape); c++) {
        const double *of[VH_MAX_PARAM];
        int n = snprintf(why, size, "channel %d: ", (int)(c - shape->layout->channel));
        par_of(c, par, of);
        if (isnan(of[0][0])) /* lacking as a whole: hmm/missing_columns.c has looked at the rest of it */
            continue;
        if (!c->family->validate(&c->shape, of, why + n, size - (size_t)n, work))
            return false;
    }
    return true;
}

static int n_feature(const vh_shape *shape)
{
    int n = 0;
    for (const vh_channel *c = first_of(shape); c < end_of(shape); c++)
        n += vh_features(c->family, &c->shape);
    return n;
}

static void features(const vh_shape *shape, const double *y, int64_t n, double *X)
{
    for (int64_t t = 0; t < n; t++, y += shape->d)
        for (const vh_channel *c = first_of(shape); c < end_of(shape); c++) {
            const double *cell = y + c->column;
            if (c->family->features)
                c->family->features(&c->shape, cell, 1, X);
            for (int k = 0; !c->family->features && k < c->shape.d; k++)
                X[k] = cell[k];
            X += vh_features(c->family, &c->shape);
        }
}

static void features_from(const vh_shape *shape, const double *T, double *X, bool gaps)
{
    for (const vh_channel *c = first_of(shape); c < end_of(shape); c++) {
        int n = vh_features(c->family, &c->shape);
        if (c->family->mean_features)
            c->family->mean_features(&c->shape, T, X);
        else
            memcpy(X, T + 1, sizeof *X * (size_t)n);
        X += n;
        T += table_of(c, gaps)->n_stat(&c->shape) - 1;
    }
}
static void mean_features(const vh_shape *shape, const double *T, double *X)
{
    features_from(shape, T, X, false);
}
static void mean_features_gaps(const vh_shape *shape, const double *T, double *X)
{
    features_from(shape, T, X, true);
}

/* Columns without a unit have mean 0 and variance 1: they stay as they are. */
static void moments(const vh_shape *shape, const double *const *par, double *mean, double *var)
{
    for (const vh_channel *c = first_of(shape); c < end_of(shape); c++) {
        const double *of[VH_MAX_PARAM];
        par_of(c, par, of);
        if (c->family->moments)
            c->family->moments(&c->shape, of, mean + c->column, var + c->column);
        for (int k = c->column; !c->family->moments && k < c->column + c->shape.d; k++) {
            mean[k] = 0;
            var[k] = 1;
        }
    }
}

static void widen(const vh_shape *shape, const double *add, double *const *par)
{
    for (const vh_channel *c = first_of(shape); c < end_of(shape); c++)
        if (c->family->location) {
            double *to[VH_MAX_PARAM];
            vh_channel_par(c, par, to);
            c->family->location->widen(&c->shape, add + c->column, to);
        }
}

static bool moves(const vh_shape *shape, int k)
{
    for (const vh_channel *c = first_of(shape); c < end_of(shape); c++)
        if (k < c->column + c->shape.d)
            return vh_located(c->family, &c->shape, k - c->column);
    return false;
}

static bool measures(const vh_shape *shape, int k)
{
    const vh_channel *c = vh_layout_channel(shape->layout, k);
    return vh_measured(c->family, &c->shape, k - c->column);
}

static const vh_location location = { .widen = widen, .moves = moves };

/* The shift of a channel where all cells are always observed is a constant. */
static void shift_each(const vh_shape *shape, const double *shift, double *theta, bool gaps)
{
    double constant = theta[0], *at = theta;
    for (const vh_channel *c = first_of(shape); c < end_of(shape); c++) {
        const vh_emission *table = table_of(c, gaps);
        double before = *at;
        if (table->shift)
            table->shift(&c->shape, shift + c->column, at);
        *at = before;
        for (int k = 0; !table->shift && k < c->shape.d; k++)
            constant += shift[c->column + k];
        at += table->n_stat(&c->shape) - 1;
    }
    theta[0] = constant;
}
static void shift(const vh_shape *shape, const double *shift, double *theta)
{
    shift_each(shape, shift, theta, false);
}
static void shift_gaps(const vh_shape *shape, const double *shift, double *theta)
{
    shift_each(shape, shift, theta, true);
}

static const vh_emission product_gaps;

#define COMMON                                                                                    \
    .name = "product", .n_param = 1, .param = { { "channels", 1, { VH_PER_CHANNEL } } },          \
    .prior = VH_PRIOR_CHANNELS, .seen = VH_SEEN_CELLS, .location = &location, .moments = moments, \
    .measures = measures, .with_gaps = &product_gaps, .takes_gaps = takes_gaps, .refuse = refuse, \
    .never_zero = never_zero, .sparse = true, .n_free = n_free, .n_feature = n_feature,           \
    .features = features, .uneven = true, .root = root, .draw = draw, .validate = validate

static const vh_emission product_gaps = {
    COMMON,
    .shift = shift_gaps,
    .mean_features = mean_features_gaps,
    .n_stat = n_stat_gaps,
    .stats_of_obs = stats_of_obs_gaps,
    .stats_of_component = stats_of_component_gaps,
    .natural = natural_gaps,
    .log_density = log_density_gaps,
    .expected_density = expected_density_gaps,
    .maximise = maximise_gaps,
    .log_product = log_product_gaps,
    .gathers = gathers,
    .gather = gather,
};

const vh_emission vh_product_of_channels = {
    COMMON,
    .shift = shift,
    .mean_features = mean_features,
    .n_stat = n_stat,
    .stats_of_obs = stats_of_obs,
    .stats_of_component = stats_of_component,
    .natural = natural,
    .log_density = log_density,
    .expected_density = expected_density,
    .maximise = maximise,
    .log_product = log_product,
};

const vh_emission *vh_product_family(void)
{
    return &vh_product_of_channels;
}
