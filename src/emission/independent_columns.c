/* SPDX-License-Identifier: BSD-3-Clause */
/* independent_columns.c - see independent_columns.h. */
#include "emission/independent_columns.h"

#include "math/gamma.h"

#define PI          3.14159265358979323846
#define LARGE_RATE  1e9
#define LARGE_KAPPA 1e8

void vh_columns_log_density(int d, const double *a, const double *y, int64_t n,
                            double (*density)(double a, double y), double *out)
{
    for (int64_t t = 0; t < n; t++, y += d) {
        out[t] = 0;
        for (int k = 0; k < d; k++)
            out[t] += density(a[k], y[k]);
    }
}

/* ---- draws --------------------------------------------------------------------------------------------- */

double vh_poisson_mode_density(double rate)
{
    double mode = floor(rate);
    return exp((mode > 0 ? mode * log(rate) : 0) - rate - vh_lgamma(mode + 1));
}

/* Inversion, taking the values in the order mode, mode + 1, mode - 1, mode + 2, ...: about sqrt(rate) steps.
 * Where those are many the distribution is as good as normal: its skewness is 1 / sqrt(rate). */
double vh_draw_poisson(vh_rng *rng, double rate, double mode_density)
{
    if (rate > LARGE_RATE)
        return fmin(round(rate + sqrt(rate) * vh_rng_normal(rng)), VH_MOST_COUNT);
    double u = vh_rng_uniform(rng) - mode_density, up = floor(rate), down = up, p_up = mode_density,
           p_down = p_up;
    if (u < 0)
        return up;
    for (;;) {
        p_up *= rate / ++up;
        if ((u -= p_up) < 0)
            return up;
        if (down > 0) {
            p_down *= down-- / rate;
            if ((u -= p_down) < 0)
                return down;
        }
        if (p_up < 1e-300 && (down == 0 || p_down < 1e-300))
            return floor(rate); /* rounding has used up all probability */
    }
}

/* Marsaglia and Tsang 2000; a shape below 1 by that of shape + 1 and a power of a uniform number. */
double vh_draw_gamma(vh_rng *rng, double shape)
{
    double boost = 1;
    if (shape < 1) {
        boost = exp(-vh_rng_exponential(rng) / shape);
        shape += 1;
    }
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = vh_rng_normal(rng), v = 1 + c * x;
        if (v <= 0)
            continue;
        v = v * v * v;
        if (-vh_rng_exponential(rng) < 0.5 * x * x + d - d * v + d * log(v))
            return boost * d * v;
    }
}

/* Best and Fisher 1979: rejection from a wrapped Cauchy distribution.  Its r - f loses all digits where kappa
 * is large, and the distribution is as good as normal there. */
double vh_draw_von_mises(vh_rng *rng, double mean, double kappa)
{
    double angle;
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
    return remainder(mean + angle, 2 * PI);
}
