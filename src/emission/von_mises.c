/* SPDX-License-Identifier: BSD-3-Clause */
/* von_mises.c - angles in radians: independent von Mises distributions, mean and kappa [d].
 *
 *   T(y) = (1, cos y, sin y, o)        3d + 1 numbers; o_k = 1 where y_k was observed
 *   theta = (0, kappa cos mean, kappa sin mean, -log 2 pi I0(kappa))
 *   E[cos y] = A(kappa) cos mean,  A = I1 / I0 */
#include "emission/independent_columns.h"
#include "math/bessel.h"
#include "math/logsum.h"

#include <float.h>
#include <math.h>

#define MOST        1e6 /* the largest kappa: angles that are all alike would have none */
#define LARGE_KAPPA 1e8 /* draws at a larger kappa are those of a normal distribution */
#define PI          3.14159265358979323846

static void stat(const vh_column *c, double y, double *s)
{
    (void)c;
    s[0] = cos(y);
    s[1] = sin(y);
    s[2] = 1;
}

static void mean_stat(const vh_column *c, double *s)
{
    double length = vh_bessel_ratio(c->par[1]);
    s[0] = length * cos(c->par[0]);
    s[1] = length * sin(c->par[0]);
    s[2] = 1;
}

static double constant(const vh_column *c)
{
    return -VH_LOG_2PI - vh_log_bessel0(c->par[1]);
}

static double theta(const vh_column *c, double *theta)
{
    double kappa = c->par[1];
    theta[0] = kappa * cos(c->par[0]);
    theta[1] = kappa * sin(c->par[0]);
    theta[2] = constant(c) - kappa;
    return 2 * kappa;
}

static double log_p(const vh_column *c, double y)
{
    double s = sin((y - c->par[0]) / 2); /* cos u - 1 = -2 sin^2(u/2) */
    return c->constant - 2 * c->par[1] * s * s;
}

static double expected(const vh_column *r, const vh_column *b)
{
    return r->constant + r->par[1] * (vh_bessel_ratio(b->par[1]) * cos(b->par[0] - r->par[0]) - 1);
}

/* kappa with A(kappa) = R: Newton's method with A' = 1 - A^2 - A / kappa. */
static double kappa_from(double R)
{
    if (!(R < 1 - 0.5 / MOST))
        return MOST;
    double kappa = R * (2 - R * R) / (1 - R * R);
    for (int i = 0; i < 50 && kappa > 0; i++) {
        double A = vh_bessel_ratio(kappa), step = (A - R) / (1 - A * A - A / kappa);
        double next = kappa - step;
        next = next > 0 ? next : kappa / 2;
        bool rests = !(fabs(next - kappa) > 1e-15 * kappa);
        kappa = next;
        if (rests)
            break;
    }
    return fmin(kappa, MOST);
}

static int maximise(vh_column *c, const double *s, const double *floor)
{
    double x = s[0] / s[2], y = s[1] / s[2], R = hypot(x, y);
    if (!(s[2] > VH_UNSEEN))
        return 0;
    if (R > 0)
        c->par[0] = atan2(y, x);
    c->par[1] = kappa_from(R);
    bool narrow = floor && c->par[1] * *floor > 1; /* the variance of narrow ones is 1 / kappa */
    if (narrow)
        c->par[1] = 1 / *floor;
    return narrow || c->par[1] >= MOST;
}

/* (p q)^lambda is a von Mises density again, whose kappa is lambda |kappa e^(i mean) + kappa' e^(i
 * mean')|. */
static double log_product(const vh_column *p, const vh_column *q, double lambda)
{
    double a = p->par[1], b = q->par[1], u = p->par[0] - q->par[0];
    double both = lambda * sqrt(fmax((a - b) * (a - b) + 2 * a * b * (1 + cos(u)), 0));
    return (1 - 2 * lambda) * VH_LOG_2PI + vh_log_bessel0(both) + both
           - lambda * (vh_log_bessel0(a) + a + vh_log_bessel0(b) + b);
}

/* Best and Fisher 1979: rejection from a wrapped Cauchy distribution.  Its r - f loses all digits where kappa
 * is large, and the distribution is as good as normal there. */
static double draw(vh_rng *rng, const vh_column *column)
{
    double kappa = column->par[1], angle;
    if (kappa < 1e-8) {
        angle = PI * (2 * vh_rng_uniform(rng) - 1);
    } else if (kappa > LARGE_KAPPA) {
        angle = vh_rng_normal(rng) / sqrt(kappa);
    } else {
        double tau = 1 + sqrt(1 + 4 * kappa * kappa);
        double rho = (tau - sqrt(2 * tau)) / (2 * kappa), r = (1 + rho * rho) / (2 * rho), f, c;
        do {
            double z = cos(PI * vh_rng_uniform(rng));
            f = (1 + r * z) / (r + z);
            c = kappa * (r - f);
        } while (!(log(c) - c + 1 >= -vh_rng_exponential(rng)));
        angle = acos(fmin(fmax(f, -1), 1)) * (vh_rng_uniform(rng) < 0.5 ? -1 : 1);
    }
    return remainder(column->par[0] + angle, 2 * PI);
}

static const char *refuse(double y)
{
    return isfinite(y) ? NULL : "a finite angle";
}

static const vh_columns columns = {
    .family = &vh_von_mises,
    .range = { { -DBL_MAX, DBL_MAX, "must be finite" },
               { 0, DBL_MAX, "must be a finite number of 0 or more" } },
    .n_stat = 3,
    .n_feature = 2,
    .stat = stat,
    .mean_stat = mean_stat,
    .theta = theta,
    .constant = constant,
    .log_p = log_p,
    .expected = expected,
    .maximise = maximise,
    .log_product = log_product,
    .draw = draw,
    .refuse = refuse,
};

const vh_emission vh_von_mises = {
    VH_INDEPENDENT_COLUMNS,
    .name = "von-mises",
    .values = VH_ANGLES,
    .no_prior = "the concentration of a von Mises distribution has no conjugate prior in closed form",
    .n_param = 2,
    .param = { { "mean", 1, { VH_PER_COLUMN } }, { "kappa", 1, { VH_PER_COLUMN } } },
    .with_gaps = &vh_von_mises,
    .n_feature = columns_n_feature,
    .features = columns_features,
};
