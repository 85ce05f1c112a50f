/* SPDX-License-Identifier: BSD-3-Clause */
/* forward_backward.c - forward-backward in plain C, straight from its definition; the right answer, never
 * tuned. */
#include "fit/forward_backward.h"

#include "fit/recursion.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "math/logsum.h"

#include <math.h>
#include <string.h>

enum { STRETCH = 1024 }; /* frames between two looks at a stop */

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
                 VHEM_ENUMERIC, "a covariance became singular; a floor (--cov-floor) helps");
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

/* All pairs of the batch; w [n][K] (NULL: the weights of the sequences) says which of them count. */
static vhem_status all_pairs(vhem_ctx *ctx, const vh_seq_batch *batch, const double *w, vh_scratch *scratch,
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

static vhem_status forward_backward(vhem_ctx *ctx, const vh_seq_batch *batch, vh_scratch *scratch,
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
