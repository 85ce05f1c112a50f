/* SPDX-License-Identifier: BSD-3-Clause */
/* independent_columns.h - families whose columns are independent: counts, bits, positive numbers, angles.
 *
 * Such a family is the mathematics of one column, a vh_columns. Its file includes this one, calls its record
 * `columns`, and has VH_INDEPENDENT_COLUMNS in its vh_emission: the entries below, which go over the columns.
 * They are compiled with each family, so that its functions are inlined and a cell costs no call.
 *
 *   T = (1, s_0 of each column, s_1 of each column, ..., the sum of log base measures)
 *
 * A missing cell, NaN, adds nothing to T. Neither does a column that a model lacks (hmm/missing_columns.h),
 * whose parameters are NaN. No function of a family is called for either; only maximise is, with statistics
 * that say that nothing was seen.
 *
 *   1. what a family fills in    2. statistics    3. densities and the M-step    4. files, data, draws */
#ifndef VH_EMISSION_INDEPENDENT_COLUMNS_H
#define VH_EMISSION_INDEPENDENT_COLUMNS_H

#include "emission/emission.h"

#include <math.h>
#include <stdio.h>

/* ---- 1. what a family fills in ------------------------------------------------------------------------ */

enum { VH_MAX_COLUMN_STAT = 4 };

typedef struct {              /* one column of a component */
    double par[VH_MAX_PARAM]; /* its parameters */
    double constant;          /* for log_p and expected: what `constant` said; for draw: what `root` did */
    double origin, scale;     /* of the coordinates in which T is taken */
} vh_column;

typedef struct {
    const vh_emission *family; /* whose columns these are */
    struct {
        double least, most;
        const char *must; /* "must be from 0 to 1": what is said of a parameter that is not */
    } range[VH_MAX_PARAM];
    int n_stat;    /* numbers of a cell, VH_MAX_COLUMN_STAT at most */
    int n_feature; /* k-means sees so many of them, in the user's coordinates; 0: the cell itself */
    /* s [n_stat] of a cell, and its mean under a component. */
    void (*stat)(const vh_column *c, double y, double *s);
    void (*mean_stat)(const vh_column *c, double *s);
    /* log of the base measure of a cell, and its mean under a component; the sum over all columns is one more
     * statistic, whose theta is 1.  NULL: the base measure is 1. */
    double (*log_base)(double y);
    double (*mean_log_base)(const vh_column *c);
    /* theta [n_stat]; returns what vh_emission.natural does: the loss of digits, negative where the column is
     * singular. */
    double (*theta)(const vh_column *c, double *theta);
    /* What log_p and expected need of a component, once for all cells; NaN where it is singular.  NULL:
     * nothing. */
    double (*constant)(const vh_column *c);
    /* log p(y), and E_b[log p(y | r)]: from the definition, in a form that loses no digits. */
    double (*log_p)(const vh_column *c, double y);
    double (*expected)(const vh_column *r, const vh_column *b);
    /* The best parameters for the mean statistics s, as vh_emission.maximise; floor is NULL or one number. */
    int (*maximise)(vh_column *c, const double *s, const double *floor);
    /* log int p^lambda q^lambda; NaN where there is no such number. */
    double (*log_product)(const vh_column *p, const vh_column *q, double lambda);
    double (*root)(const vh_column *c); /* NULL: draw needs nothing prepared */
    double (*draw)(vh_rng *rng, const vh_column *c);
    const char *(*refuse)(double y); /* what a cell must be, where y is not */
} vh_columns;

static const vh_columns columns; /* the family's, which it fills in */

/* ---- 2. statistics ------------------------------------------------------------------------------------ */

/* Column k; x NULL: in the user's coordinates. */
static inline vh_column column_at(const vh_coords *x, const double *const *par, int k)
{
    vh_column c = { .origin = x ? x->origin[k] : 0, .scale = x ? x->scale[k] : 1 };
    for (int p = 0; par && p < columns.family->n_param; p++)
        c.par[p] = par[p][k];
    return c;
}

static inline bool column_lacks(const double *const *par, int k)
{
    return isnan(par[0][k]);
}

static inline int columns_n_stat(const vh_shape *shape)
{
    return 1 + columns.n_stat * shape->d + (columns.log_base != NULL);
}

static inline double columns_n_free(const vh_shape *shape)
{
    return (double)columns.family->n_param * shape->d;
}

static inline int columns_n_feature(const vh_shape *shape)
{
    return columns.n_feature * shape->d;
}

static inline void columns_features(const vh_shape *shape, const double *y, int64_t n, double *X)
{
    int d = shape->d;
    for (int64_t t = 0; t < n; t++, y += d, X += columns.n_feature * d)
        for (int k = 0; k < d; k++) {
            const vh_column c = column_at(NULL, NULL, k);
            double s[VH_MAX_COLUMN_STAT] = { NAN, NAN, NAN, NAN };
            if (!isnan(y[k]))
                columns.stat(&c, y[k], s);
            for (int j = 0; j < columns.n_feature; j++)
                X[j * d + k] = s[j];
        }
}

static inline void columns_stats_of_obs(const vh_coords *x, const double *y, int64_t n, double *T)
{
    int d = x->shape.d, n_stat = columns_n_stat(&x->shape);
    for (int64_t t = 0; t < n; t++, y += d, T += n_stat) {
        double base = 0;
        for (int k = 0; k < d; k++) {
            const vh_column c = column_at(x, NULL, k);
            double s[VH_MAX_COLUMN_STAT] = { 0 };
            if (!isnan(y[k]))
                columns.stat(&c, y[k], s);
            if (columns.log_base && !isnan(y[k]))
                base += columns.log_base(y[k]);
            for (int j = 0; j < columns.n_stat; j++)
                T[1 + j * d + k] = s[j];
        }
        T[0] = 1;
        if (columns.log_base)
            T[n_stat - 1] = base;
    }
}

static inline void columns_stats_of_component(const vh_coords *x, const double *const *par, double *T)
{
    int d = x->shape.d;
    double base = 0;
    for (int k = 0; k < d; k++) {
        const vh_column c = column_at(x, par, k);
        double s[VH_MAX_COLUMN_STAT] = { 0 };
        if (!column_lacks(par, k))
            columns.mean_stat(&c, s);
        if (columns.log_base && !column_lacks(par, k))
            base += columns.mean_log_base(&c);
        for (int j = 0; j < columns.n_stat; j++)
            T[1 + j * d + k] = s[j];
    }
    T[0] = 1;
    if (columns.log_base)
        T[columns_n_stat(&x->shape) - 1] = base;
}

static inline double columns_natural(const vh_coords *x, const double *const *par, double *theta,
                                     double *work)
{
    int d = x->shape.d;
    double loss = 0;
    (void)work;
    theta[0] = 0;
    for (int k = 0; k < d; k++) {
        const vh_column c = column_at(x, par, k);
        double s[VH_MAX_COLUMN_STAT] = { 0 }, lost = column_lacks(par, k) ? 0 : columns.theta(&c, s);
        if (lost < 0)
            return -1;
        loss += lost;
        for (int j = 0; j < columns.n_stat; j++)
            theta[1 + j * d + k] = s[j];
    }
    if (columns.log_base)
        theta[columns_n_stat(&x->shape) - 1] = 1;
    return loss;
}

/* ---- 3. densities and the M-step ---------------------------------------------------------------------- */

/* The constants of the columns that a component has. */
static inline void columns_constants(int d, const double *const *par, double *constant)
{
    for (int k = 0; columns.constant && k < d; k++) {
        const vh_column c = column_at(NULL, par, k);
        constant[k] = column_lacks(par, k) ? 0 : columns.constant(&c);
    }
}

static inline bool columns_log_density(const vh_shape *shape, const double *const *par, const double *y,
                                       int64_t n, double *out, double *work)
{
    int d = shape->d;
    columns_constants(d, par, work);
    for (int k = 0; columns.constant && k < d; k++)
        if (isnan(work[k]))
            return false;
    for (int64_t t = 0; t < n; t++, y += d) {
        out[t] = 0;
        for (int k = 0; k < d; k++) {
            vh_column c = column_at(NULL, par, k);
            c.constant = columns.constant ? work[k] : 0;
            if (!isnan(y[k]) && !column_lacks(par, k))
                out[t] += columns.log_p(&c, y[k]);
        }
    }
    return true;
}

/* Over the columns that both have. */
static inline bool columns_expected_density(const vh_shape *shape, const double *const *r,
                                            const double *const *b, int n, double *out, int step,
                                            double *work)
{
    columns_constants(shape->d, r, work);
    for (int m = 0; m < n; m++, b += VH_MAX_PARAM) {
        double sum = 0;
        for (int k = 0; k < shape->d; k++) {
            vh_column at_r = column_at(NULL, r, k), at_b = column_at(NULL, b, k);
            at_r.constant = columns.constant ? work[k] : 0;
            if (column_lacks(r, k) || column_lacks(b, k))
                continue;
            if (isnan(at_r.constant))
                return false;
            sum += columns.expected(&at_r, &at_b);
        }
        out[m * step] = sum;
    }
    return true;
}

static inline int columns_maximise(const vh_coords *x, const double *stat, const double *floor,
                                   double *const *par, double *work)
{
    int d = x->shape.d, held = 0;
    (void)work;
    for (int k = 0; k < d; k++) {
        vh_column c = column_at(x, (const double *const *)par, k);
        double s[VH_MAX_COLUMN_STAT];
        for (int j = 0; j < columns.n_stat; j++)
            s[j] = stat[1 + j * d + k];
        int one = columns.maximise(&c, s, floor ? floor + k : NULL);
        if (one < 0)
            return -1;
        held |= one;
        for (int p = 0; p < columns.family->n_param; p++)
            par[p][k] = c.par[p];
    }
    return held;
}

/* Over the columns that both have. */
static inline bool columns_log_product(const vh_shape *shape, const double *const *p, const double *const *q,
                                       double lambda, double *out, double *work)
{
    double sum = 0;
    (void)work;
    for (int k = 0; k < shape->d; k++) {
        const vh_column at_p = column_at(NULL, p, k), at_q = column_at(NULL, q, k);
        if (!column_lacks(p, k) && !column_lacks(q, k))
            sum += columns.log_product(&at_p, &at_q, lambda);
    }
    if (isnan(sum))
        return false;
    *out = sum;
    return true;
}

/* ---- 4. files, data, draws ---------------------------------------------------------------------------- */

static inline bool columns_root(const vh_shape *shape, const double *const *par, double *root, double *work)
{
    (void)work;
    for (int k = 0; columns.root && k < shape->d; k++) {
        const vh_column c = column_at(NULL, par, k);
        root[k] = column_lacks(par, k) ? NAN : columns.root(&c);
    }
    return true;
}

static inline void columns_draw(vh_rng *rng, const vh_shape *shape, const double *const *par,
                                const double *root, double *y)
{
    for (int k = 0; k < shape->d; k++) {
        vh_column c = column_at(NULL, par, k);
        c.constant = columns.root ? root[k] : 0;
        y[k] = column_lacks(par, k) ? NAN : columns.draw(rng, &c);
    }
}

static inline bool columns_validate(const vh_shape *shape, const double *const *par, char *why, size_t size,
                                    double *work)
{
    (void)work;
    for (int k = 0; k < shape->d; k++)
        for (int p = 0; p < columns.family->n_param; p++)
            if (!(par[p][k] >= columns.range[p].least && par[p][k] <= columns.range[p].most)) {
                snprintf(why, size, "%s[%d] is %g, %s", columns.family->param[p].name, k, par[p][k],
                         columns.range[p].must);
                return false;
            }
    return true;
}

static inline const char *columns_refuse(const vh_shape *shape, int k, double y)
{
    (void)shape;
    (void)k;
    return columns.refuse(y);
}

/* What every such family has in its vh_emission. */
#define VH_INDEPENDENT_COLUMNS                                                                              \
    .slim = true, .n_free = columns_n_free, .n_stat = columns_n_stat, .stats_of_obs = columns_stats_of_obs, \
    .stats_of_component = columns_stats_of_component, .natural = columns_natural,                           \
    .log_density = columns_log_density, .expected_density = columns_expected_density,                       \
    .maximise = columns_maximise, .log_product = columns_log_product, .root = columns_root,                 \
    .draw = columns_draw, .validate = columns_validate, .refuse = columns_refuse

#endif
