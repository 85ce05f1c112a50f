/* SPDX-License-Identifier: BSD-3-Clause */
/* recursion.c - forward, backward and posterior recursions in logs.  Rabiner 1989, section III; nothing is
 * scaled, because a log cannot underflow.  O(T S^2) exps: the price of being the reference. */
#include "fit/recursion.h"

#include <math.h>

enum { STRETCH = 4096 }; /* frames between two looks at a stop */

static bool gives_up(const vh_chain *c, int64_t t)
{
    return t % STRETCH == 0 && vh_overdue(c->ctx);
}

/* log sum_s exp(x_s + log a_s), terms `stride` apart in a. */
static double log_mix(int S, const double *x, const double *a, int stride)
{
    double top = -INFINITY, sum = 0;
    for (int s = 0; s < S; s++)
        if (a[s * stride] > 0 && x[s] > top)
            top = x[s];
    if (isinf(top))
        return top;
    for (int s = 0; s < S; s++)
        if (a[s * stride] > 0)
            sum += exp(x[s] - top) * a[s * stride];
    return top + log(sum);
}

/* log p(y_1:T | HMM), eq. 6, without the sum over all state sequences. */
double vh_log_forward(const vh_chain *c, double *alpha)
{
    int S = c->S;
    int64_t T = c->T;
    const double *log_b = c->log_b;
    double top = -INFINITY, sum = 0;
    for (int s = 0; s < S; s++)
        alpha[s] = log(c->pi[s]) + log_b[s];
    for (int64_t t = 1; t < T; t++) {
        if (gives_up(c, t))
            return top;
        for (int s = 0; s < S; s++)
            alpha[t * S + s] = log_mix(S, alpha + (t - 1) * S, c->A + s, S) + log_b[t * S + s];
    }
    for (int s = 0; s < S; s++)
        top = fmax(top, alpha[(T - 1) * S + s]);
    if (isinf(top))
        return top;
    for (int s = 0; s < S; s++)
        sum += exp(alpha[(T - 1) * S + s] - top);
    return top + log(sum);
}

void vh_log_backward(const vh_chain *c, double *beta)
{
    int S = c->S;
    int64_t T = c->T;
    const double *A = c->A, *log_b = c->log_b;
    for (int s = 0; s < S; s++)
        beta[(T - 1) * S + s] = 0;
    for (int64_t t = T - 2; t >= 0 && !gives_up(c, t); t--) {
        double *now = beta + t * S, *next = now + S;
        for (int s = 0; s < S; s++) {
            /* top and sum over the next state, as in log_mix, without a copy of log_b + beta */
            double top = -INFINITY, sum = 0;
            for (int q = 0; q < S; q++)
                if (A[s * S + q] > 0)
                    top = fmax(top, log_b[(t + 1) * S + q] + next[q]);
            for (int q = 0; q < S && !isinf(top); q++)
                if (A[s * S + q] > 0)
                    sum += A[s * S + q] * exp(log_b[(t + 1) * S + q] + next[q] - top);
            now[s] = isinf(top) ? top : top + log(sum);
        }
    }
}

/* log p(s_t = s, s_t+1 = q, y).  log A: where A is below 1e-308, the exp of the rest alone overflows. */
static double log_pair(const vh_chain *c, const double *alpha, const double *beta, int64_t t, int s, int q)
{
    int S = c->S;
    return log(c->A[s * S + q]) + alpha[t * S + s] + c->log_b[(t + 1) * S + q] + beta[(t + 1) * S + q];
}

/* Adds the transitions from frame t to the next, which sum to weight. */
static void add_transitions(const vh_chain *c, const double *alpha, const double *beta, int64_t t,
                            double weight, double *xi)
{
    int S = c->S;
    double top = -INFINITY, sum = 0;
    for (int e = 0; e < S * S; e++)
        if (c->A[e] > 0)
            top = fmax(top, log_pair(c, alpha, beta, t, e / S, e % S));
    for (int e = 0; e < S * S && !isinf(top); e++)
        if (c->A[e] > 0)
            sum += exp(log_pair(c, alpha, beta, t, e / S, e % S) - top);
    for (int e = 0; e < S * S && !isinf(top); e++)
        if (c->A[e] > 0)
            xi[e] += weight / sum * exp(log_pair(c, alpha, beta, t, e / S, e % S) - top);
}

/* Posteriors are normalised frame by frame: where the log-likelihood is 1e30, alpha + beta is off by 1e14,
 * and its exp over that of the log-likelihood would be 0 or infinite. */
void vh_log_posterior(const vh_chain *c, const double *alpha, const double *beta, double weight,
                      double *gamma, double *xi)
{
    int S = c->S;
    for (int64_t t = 0; xi && t + 1 < c->T && !gives_up(c, t); t++)
        add_transitions(c, alpha, beta, t, weight, xi);
    for (int64_t t = 0; t < c->T && !gives_up(c, t); t++) {
        double top = -INFINITY, sum = 0;
        for (int s = 0; s < S; s++)
            top = fmax(top, alpha[t * S + s] + beta[t * S + s]);
        for (int s = 0; s < S; s++)
            sum += gamma[t * S + s] = isinf(top) ? 0 : exp(alpha[t * S + s] + beta[t * S + s] - top);
        for (int s = 0; s < S && sum > 0; s++)
            gamma[t * S + s] /= sum;
    }
}
