/* SPDX-License-Identifier: BSD-3-Clause */
/* recursion.c - forward, backward and posterior recursions in logs.  Rabiner 1989, section III; nothing is
 * scaled, because a log cannot underflow.  O(T S^2) exps: the price of being the reference. */
#include "backend/ref/recursion.h"

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

void vh_log_posterior(const vh_chain *c, const double *alpha, const double *beta, double loglik,
                      double weight, double *gamma, double *xi)
{
    int S = c->S;
    int64_t T = c->T;
    const double *A = c->A, *log_b = c->log_b;
    for (int64_t t = 0; xi && t + 1 < T && !gives_up(c, t); t++)
        for (int s = 0; s < S; s++)
            for (int q = 0; q < S; q++)
                if (A[s * S + q] > 0)
                    /* log A: where A is below 1e-308, the exp of the rest alone overflows */
                    xi[s * S + q] += weight
                                     * exp(log(A[s * S + q]) + alpha[t * S + s] + log_b[(t + 1) * S + q]
                                           + beta[(t + 1) * S + q] - loglik);
    for (int64_t k = 0; k < T * S && !gives_up(c, k); k++)
        gamma[k] = exp(alpha[k] + beta[k] - loglik);
}
