/* SPDX-License-Identifier: BSD-3-Clause */
/* student.c - see student.h.  The incomplete beta function uses its continued fraction (Abramowitz and Stegun
 * 26.5.8), evaluated by the method of Lentz 1976. */
#include "math/student.h"

#include "core/alloc.h"
#include "math/gamma.h"

#include <math.h>

enum { MAX_TERMS = 10000, HALVINGS = 100 };
#define SMALL 1e-300

static double not_zero(double x)
{
    return fabs(x) < SMALL ? SMALL : x;
}

/* 1 / (1 + d_1 / (1 + d_2 / (1 + ...))); converges fast for x < (a + 1) / (a + b + 2). */
static double fraction(double a, double b, double x)
{
    double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), value = d;
    for (int m = 1; m < MAX_TERMS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
               odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / not_zero(1 + even * d);
        c = not_zero(1 + even / c);
        value *= c * d;
        d = 1 / not_zero(1 + odd * d);
        c = not_zero(1 + odd / c);
        value *= c * d;
        if (fabs(c * d - 1) < 1e-16)
            break;
    }
    return value;
}

double vh_incomplete_beta(double a, double b, double x)
{
    if (!(x > 0))
        return 0;
    if (!(x < 1))
        return 1;
    double front = exp(vh_lgamma(a + b) - vh_lgamma(a) - vh_lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * fraction(a, b, x) / a;
    return 1 - front * fraction(b, a, 1 - x) / b;
}

double vh_student_two_sided(double t, double freedom)
{
    return vh_incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

/* P(s <= x), where s^2 freedom has a chi-squared distribution. */
static double below(double x, double freedom)
{
    return x > 0 ? vh_incomplete_gamma(freedom / 2, freedom / 2 * x * x) : 0;
}

/* For large t, Phi(t s - delta) is a step that Simpson's rule misses, but P(s <= (z + delta) / t) hardly
 * changes with z.  Averages it over the normal z by the trapezoidal rule, whose error here falls faster than
 * any power. */
static double far_out(double t, double freedom, double delta)
{
    enum { REACH = 18, EACH = 2 }; /* 9 standard deviations on both sides, in halves */
    double sum = 0, weights = 0;
    for (int i = -REACH; i <= REACH; i++) {
        double z = (double)i / EACH, w = exp(-z * z / 2);
        sum += w * below((z + delta) / t, freedom);
        weights += w;
    }
    return t > 0 ? 1 - sum / weights : sum / weights;
}

/* P(T <= t) = integral of Phi(t s - delta) f(s) ds, where s^2 freedom has a chi-squared distribution, by
 * Simpson's rule over ten standard deviations of s on both sides.  For large delta the series of Lenth 1989
 * needs thousands of terms, each an incomplete beta function; this costs the same everywhere.  The weights
 * f(s) do not depend on delta.
 *
 * If the range excludes s = 0 the integrand is smooth, and the error falls as exp(-2 pi^2 (w / h)^2) with
 * step h and w the width of the narrower of f and Phi(t s): h = w / 4 is already large. */
vhem_status vh_noncentral_new(vhem_ctx *ctx, double t, double freedom, vh_noncentral *out)
{
    enum { LEAST_STEPS = 1000, MOST_STEPS = 10000, SMOOTH_STEPS = 80 };
    double reach = 10 / sqrt(2 * freedom), lo = fmax(0, 1 - reach), hi = 1 + reach;
    double wanted = fmax(20 * (hi - lo) * fabs(t), LEAST_STEPS); /* Phi rises within 1 / t */

    *out = (vh_noncentral){ .t = t, .freedom = freedom };
    if (lo > 0)
        wanted = SMOOTH_STEPS * sqrt(1 + t * t / (2 * freedom));
    if (!(wanted <= MOST_STEPS))
        return VHEM_OK;
    out->n = 2 * (int)wanted;
    out->lo = lo;
    out->step = (hi - lo) / out->n;
    VH_NEW(out->weight, out->n + 1);
    double front = log(2) + freedom / 2 * log(freedom / 2) - vh_lgamma(freedom / 2);
    for (int i = 0; i <= out->n; i++) {
        double s = lo + i * out->step, weight = i == 0 || i == out->n ? 1 : i % 2 ? 4 : 2;
        double power = freedom == 1 ? 0 : (freedom - 1) * log(s); /* -inf at s = 0: density 0 */
        out->weight[i] = weight * exp(front + power - freedom * s * s / 2);
    }
    return VHEM_OK;
}

void vh_noncentral_free(vh_noncentral *x)
{
    free(x->weight);
    x->weight = NULL;
}

double vh_noncentral_below(const vh_noncentral *x, double delta)
{
    double sum = 0;
    if (!x->weight)
        return far_out(x->t, x->freedom, delta);
    for (int i = 0; i <= x->n; i++)
        if (x->weight[i] > 1e-30) /* the density is 0 in most of the tails */
            sum += x->weight[i] * erfc((delta - x->t * (x->lo + i * x->step)) / sqrt(2));
    return sum * x->step / 6;
}

/* z with Phi(z) = p, to a few digits. */
static double rough_quantile(double p)
{
    double lo = -40, hi = 40;
    for (int k = 0; k < 30; k++) {
        double middle = (lo + hi) / 2;
        if (erfc(-middle / sqrt(2)) / 2 < p)
            lo = middle;
        else
            hi = middle;
    }
    return (lo + hi) / 2;
}

/* The probability falls as delta grows.  T is roughly normal with mean delta: starts from there and takes
 * five or six secant steps; a step outside the known bracket is replaced by bisection or doubling. */
double vh_noncentral_delta(const vh_noncentral *x, double p)
{
    enum { MOST = 200, SECANTS = 30 };
    double sd = sqrt(1 + x->t * x->t / (2 * x->freedom)), z = rough_quantile(p), lo = -INFINITY,
           hi = INFINITY;
    double at = x->t - z * sd, last = NAN, last_p = NAN, reach = 2 * sd;

    for (int k = 0; k < MOST; k++) {
        double now = vh_noncentral_below(x, at), next;
        if (now > p)
            lo = at;
        else
            hi = at;
        next = k == 0 ? at + (now - p) * sd * sqrt(2 * acos(-1)) * exp(z * z / 2)
                      : at - (now - p) * (at - last) / (now - last_p);
        if (!(next > lo && next < hi) || k > SECANTS) {
            next = isfinite(lo) && isfinite(hi) ? (lo + hi) / 2 : isfinite(lo) ? lo + reach : hi - reach;
            reach *= 2;
        }
        last = at;
        last_p = now;
        at = next;
        if (now == p || fabs(at - last) <= 1e-12 * (1 + fabs(at)))
            return now == p ? last : at;
    }
    return at;
}

/* I_x(a, b) grows with x: bisection. */
double vh_beta_quantile(double a, double b, double p)
{
    double lo = 0, hi = 1;
    for (int k = 0; k < HALVINGS && hi > lo; k++) {
        double mid = (lo + hi) / 2;
        if (vh_incomplete_beta(a, b, mid) < p)
            lo = mid;
        else
            hi = mid;
    }
    return (lo + hi) / 2;
}

double vh_student_beyond(double p, double freedom)
{
    double x = vh_beta_quantile(freedom / 2, 0.5, p);
    return sqrt(freedom * (1 - x) / x);
}

/* Below a + 1 its series, above it the continued fraction of the complement (Abramowitz and Stegun 6.5.29,
 * 6.5.31). */
double vh_incomplete_gamma(double a, double x)
{
    if (!(x > 0))
        return 0;
    double front = exp(a * log(x) - x - vh_lgamma(a));
    if (x < a + 1) {
        double sum = 1 / a, term = sum;
        for (int n = 1; n < MAX_TERMS && term > 1e-17 * sum; n++)
            sum += term *= x / (a + n);
        return front * sum;
    }
    double b = x + 1 - a, c = 1 / SMALL, d = 1 / not_zero(b), value = d;
    for (int n = 1; n < MAX_TERMS; n++) {
        double up = -n * (n - a);
        b += 2;
        d = 1 / not_zero(b + up * d);
        c = not_zero(b + up / c);
        value *= c * d;
        if (fabs(c * d - 1) < 1e-16)
            break;
    }
    return 1 - front * value;
}

/* P(a, x) grows with x: bisection on log x, from far below to far above the distribution. */
double vh_gamma_quantile(double a, double p)
{
    double lo = (log(p) + vh_lgamma(a + 1)) / a, hi = log(a + 40 * sqrt(a) + 800);
    lo = fmin(lo, hi); /* P(a, x) <= x^a / Gamma(a + 1) */
    for (int k = 0; k < HALVINGS && hi > lo; k++) {
        double mid = (lo + hi) / 2;
        if (vh_incomplete_gamma(a, exp(mid)) < p)
            lo = mid;
        else
            hi = mid;
    }
    return exp((lo + hi) / 2);
}
