/* SPDX-License-Identifier: BSD-3-Clause */
/* forward_backward.c - forward-backward in plain C, straight from its definition: the untuned reference. */
#include "fit/forward_backward.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "math/logsum.h"

#include <math.h>
#include <string.h>

enum { STRETCH = 1024 }; /* frames between checks of the stop flag */

/* log p(y_t | state), eq. 1, and of its components, eq. 2. */
vhem_status vh_ref_emissions(vhem_ctx *ctx, const vh_seq_pair *pair, vh_scratch *scratch, double *comp,
                             double *log_b)
{
    const vh_packed *pk = pair->pk;
    int S = pk->S[pair->k], M = pk->M[pair->k], C = S * M;
    int64_t T = pair->T;
    double *row, *work;

    VH_SCRATCH(row, 0, T);
    VH_SCRATCH(work, 1, vh_emission_room(pk->family, &pk->shape));
    for (int q = 0; q < C; q++) {
        int r = pk->comp0[pair->k] + q;
        bool never = pk->log_c[r] == VH_NEVER;
        VH_CHECK(!vh_overdue(ctx), VHEM_ESTOPPED, "stopped");
        VH_CHECK(never
                     || pk->family->log_density(&pk->shape, pk->par + (size_t)r * VH_MAX_PARAM, pair->y, T,
                                                row, work),
                 VHEM_ENUMERIC, "a covariance became singular; a floor (" VH_OPT("cov_floor") ") helps");
        for (int64_t t = 0; t < T; t++)
            comp[t * C + q] =
                never ? VH_NEVER : pk->log_c[r] + row[t] + vh_pack_seen_shift(pk, r, pair->y + t * pk->d);
    }
    for (int64_t t = 0; t < T; t++)
        for (int s = 0; s < S; s++)
            log_b[t * S + s] = vh_logsum(M, comp + t * C + s * M, 1);
    return VHEM_OK;
}

/* Adds w times the posterior statistics of the emissions: T_r += w sum_t gamma_t(s) p(m | s, y_t) T(y_t). */
static vhem_status add_emissions(vhem_ctx *ctx, const vh_seq_pair *pair, const double *comp,
                                 const double *log_b, const double *gamma, vh_scratch *scratch, double *sum)
{
    const vh_packed *pk = pair->pk;
    int S = pk->S[pair->k], M = pk->M[pair->k], C = S * M;
    double *stat, *work;

    VH_SCRATCH(stat, 0, pk->n_stat);
    VH_SCRATCH(work, 1, vh_emission_room(pk->family, &pk->shape));
    for (int64_t t = 0; t < pair->T; t++) {
        VH_CHECK(t % STRETCH != 0 || !vh_overdue(ctx), VHEM_ESTOPPED, "stopped");
        for (int q = 0; q < C; q++) {
            int r = pk->comp0[pair->k] + q, s = q / M;
            double weight = pair->w * gamma[t * S + s] * exp(comp[t * C + q] - log_b[t * S + s]);
            if (!(weight > 0))
                continue;
            double *to = sum + vh_row(r, pk->n_stat);
            if (vh_emission_gathers(pk->family, &pk->shape)) {
                pk->family->gather(&pk->about[r], pk->par + (size_t)r * VH_MAX_PARAM, pair->y + t * pk->d,
                                   &weight, 1, to, work);
                continue;
            }
            pk->family->stats_of_obs(&pk->about[r], pair->y + t * pk->d, 1, stat);
            for (int e = 0; e < pk->n_stat; e++)
                to[e] += weight * stat[e];
        }
    }
    return VHEM_OK;
}

vhem_status vh_ref_pair(vhem_ctx *ctx, const vh_seq_pair *pair, vh_scratch *scratch, double *loglik,
                        vh_stats *stats)
{
    const vh_packed *pk = pair->pk;
    int k = pair->k, S = pk->S[k];
    int64_t T = pair->T;
    double *comp, *log_b, *alpha, *beta, w = pair->w;

    VH_SCRATCH(comp, 2, T * S * pk->M[k]);
    VH_SCRATCH(log_b, 3, T * S);
    VH_SCRATCH(alpha, 4, T * S);
    VH_TRY(vh_ref_emissions(ctx, pair, scratch, comp, log_b));
    const vh_chain c = { S, T, pk->pi + pk->state0[k], pk->A + pk->trans0[k], log_b, ctx };
    *loglik = vh_log_forward(&c, alpha);
    VH_CHECK(!vh_overdue(ctx), VHEM_ESTOPPED, "stopped");
    VH_CHECK(!isnan(*loglik), VHEM_ENUMERIC, "the log-likelihood is not a number");
    if (!stats)
        return VHEM_OK;

    VH_SCRATCH(beta, 5, T * S);
    vh_log_backward(&c, beta);
    vh_log_posterior(&c, alpha, beta, w, alpha, stats->xi + pk->trans0[k]);
    VH_CHECK(!vh_overdue(ctx), VHEM_ESTOPPED, "stopped");
    for (int s = 0; s < S; s++)
        stats->nu1[pk->state0[k] + s] += w * alpha[s];
    stats->loglik[k] += w * *loglik;
    return add_emissions(ctx, pair, comp, log_b, alpha, scratch, stats->T);
}

/* Runs all pairs of the batch; w [n][K] are their weights (NULL: the weights of the sequences), and pairs of
 * weight 0 are skipped. */
static vhem_status all_pairs(vhem_ctx *ctx, const vh_seq_chunk *batch, const double *w, vh_scratch *scratch,
                             double *loglik, vh_stats *stats)
{
    const vh_packed *pk = batch->step->pk;
    const vhem_data *data = batch->in->data;
    for (int n = 0; n < batch->n; n++)
        for (int k = 0; k < pk->K; k++) {
            int64_t seq = batch->in->seq[batch->first + n], at = n * pk->K + k;
            const vh_seq_pair pair = { .pk = pk,
                                       .k = k,
                                       .y = vh_data_frames(data, seq),
                                       .T = vh_data_length(data, seq),
                                       .w = w ? w[at] : vh_data_weight(data, seq) };
            if (!w || pair.w > 0)
                VH_TRY(vh_ref_pair(ctx, &pair, scratch, &loglik[at], stats));
        }
    return VHEM_OK;
}

static vhem_status forward_backward(vhem_ctx *ctx, const vh_seq_chunk *batch, vh_scratch *scratch,
                                    double *loglik, vh_stats *stats)
{
    VH_AUTOFREE double *w = NULL;

    if (!stats || batch->step->mixtures == 0)
        return all_pairs(ctx, batch, NULL, scratch, loglik, stats);
    VH_NEW(w, vh_cells(batch->n, batch->step->pk->K));
    if (!batch->known)
        VH_TRY(all_pairs(ctx, batch, NULL, scratch, loglik, NULL));
    vh_seq_weigh(batch, loglik, stats, w);
    return all_pairs(ctx, batch, w, scratch, loglik, stats);
}

const vh_seq_kernels vh_seq_ref = { .kernel = forward_backward };

/* ---- the chain of one HMM and one sequence, in logs ---------------------------------------------------- */

/* Forward, backward and posterior recursions in logs.  Rabiner 1989, section III; no scaling, because a log
 * cannot underflow.  O(T S^2) exps: the price of being the reference. */

enum { CHAIN_STRETCH = 4096 }; /* frames between checks of the stop flag */

static bool gives_up(const vh_chain *c, int64_t t)
{
    return t % CHAIN_STRETCH == 0 && vh_overdue(c->ctx);
}

/* log sum_s exp(x_s + log a_s), with elements of a `stride` apart. */
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
            /* maximum and sum over the next state, as in log_mix, without copying log_b + beta */
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

/* Adds the expected transitions from frame t to the next, scaled to sum to weight. */
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

/* Normalises posteriors frame by frame: if the log-likelihood is 1e30, alpha + beta is off by 1e14, and
 * dividing its exp by that of the log-likelihood would give 0 or infinity. */
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
