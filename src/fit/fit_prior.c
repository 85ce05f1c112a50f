/* SPDX-License-Identifier: BSD-3-Clause */
/* fit_prior.c - see fit_prior.h. */
#include "fit/fit_prior.h"

#include "core/alloc.h"
#include "prior/posterior.h"
#include "files/prior_json.h"

#include <math.h>
#include <string.h>

vhem_status vh_fit_prior_given(vhem_ctx *ctx, const vh_prior_choice *choice, int d, const char *emission,
                               vh_prior **out)
{
    return vh_prior_read_for(ctx, choice->text, "the data", d, emission, out);
}

void vh_fit_prior_scale(const vh_prior *p, double share, vh_fit_scale *scale)
{
    const double *within = p->within ? p->within : p->variance; /* older files have no other */

    if (!p->variance)
        return;
    for (int k = 0; k < p->d; k++) {
        scale->spread[k] = sqrt(p->variance[k]);
        scale->within[k] = sqrt(within[k]);
    }
    vh_fit_scale_floor(p->d, share, scale);
}

void vh_fit_prior_round(int d, double share, vh_fit_scale *scale)
{
    for (int k = 0; k < d; k++) {
        double all = scale->spread[k] * scale->spread[k], within = scale->within[k] * scale->within[k];
        scale->spread[k] = sqrt(vh_prior_round(all, all));
        scale->within[k] = sqrt(vh_prior_round(within, within));
    }
    vh_fit_scale_floor(d, share, scale);
}

vhem_status vh_fit_prior_widen(vhem_ctx *ctx, const double *floor, vh_h3m *runs)
{
    int d = runs->d;
    VH_AUTOFREE double *work = NULL;

    VH_NEW(work, vh_posterior_work(runs->family, d));
    for (int64_t i = 0; i < runs->K; i++)
        for (int q = 0; q < runs->hmm[i].S * runs->hmm[i].M; q++) {
            double *par[VH_MAX_PARAM];
            vh_hmm_component(runs, &runs->hmm[i], q / runs->hmm[i].M, q % runs->hmm[i].M, par);
            VH_CHECK(vh_posterior_put(runs->family, d, floor, par[0], par[1], 1, par, work) >= 0,
                     VHEM_ENUMERIC, "the start has a singular covariance");
        }
    return VHEM_OK;
}

vhem_status vh_fit_prior_gather(vhem_ctx *ctx, const vh_job *job, const vh_h3m *hmm, vh_workers *workers,
                                double *frames, double *seen, double *scatter)
{
    VH_OWN(vh_packed) *pk = NULL;
    VH_CLEANUP(vh_stats_free) vh_stats stats = { 0 };
    VH_AUTOFREE double *loglik = NULL, *mean = NULL;
    size_t size = vh_scatter_size(hmm->family, hmm->d);

    VH_NEW(loglik, job->n);
    VH_NEW(mean, hmm->d);
    VH_TRY(vh_pack_new(ctx, hmm, NULL, 1, job->origin, job->scale, &pk));
    VH_TRY(vh_pack_update(ctx, hmm, NULL, pk));
    VH_TRY(vh_stats_new(ctx, pk, &stats));
    const vh_sequences in = { .data = job->data, .seq = job->seq, .n = job->n, .workers = workers };
    VH_TRY(vh_expect(ctx, pk, &in, loglik, &stats));
    for (int q = 0; q < pk->n_comp; q++) {
        frames[q] = vh_posterior_moments(pk, q, &stats, mean, scatter + (size_t)q * size);
        if (hmm->family->seen == VH_SEEN_FRAMES)
            frames[q] = vh_posterior_seen(pk, q, &stats, 0);
        for (int k = 0; seen && k < hmm->d; k++)
            seen[q * hmm->d + k] = vh_posterior_seen(pk, q, &stats, k);
    }
    return VHEM_OK;
}

typedef struct {        /* sums over sequences in one dimension */
    double both, own;   /* products of neighbours, squares */
    double pairs, seen; /* terms of each */
} products;

static void add_products(const vhem_data *data, int64_t seq, int k, products *x)
{
    int d = data->d;
    const double *y = vh_data_frames(data, seq) + k;
    int64_t T = vh_data_length(data, seq), n = 0;
    double mean = 0;
    for (int64_t t = 0; t < T; t++)
        n += !isnan(y[t * d]);
    for (int64_t t = 0; t < T; t++)
        mean += isnan(y[t * d]) ? 0 : y[t * d] / (double)n;
    for (int64_t t = 0; t < T; t++) {
        if (isnan(y[t * d]))
            continue;
        x->own += (y[t * d] - mean) * (y[t * d] - mean);
        x->seen++;
        if (t + 1 < T && !isnan(y[(t + 1) * d])) {
            x->both += (y[t * d] - mean) * (y[(t + 1) * d] - mean);
            x->pairs++;
        }
    }
}

/* Correlation in dimension k; NaN where nothing varies.  Of n frames that are all there, n - 1 pairs are. */
static double correlation(const vhem_data *data, const vh_sets *sets, const int64_t *which, int64_t n, int k)
{
    products x = { 0 };
    double frames = 0, pairs = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t s = sets->first[which[i]]; s < sets->first[which[i] + 1]; s++) {
            add_products(data, sets->seq[s], k, &x);
            frames += (double)vh_data_length(data, sets->seq[s]);
            pairs += (double)vh_data_length(data, sets->seq[s]) - 1;
        }
    double lost = x.seen < frames && x.pairs > 0 ? pairs / frames * x.seen / x.pairs : 1;
    return x.own > 0 ? lost * x.both / x.own : NAN;
}

double vh_fit_prior_correlation(const vhem_data *data, const vh_sets *sets, const bool *still,
                                const int64_t *which, int64_t n)
{
    double sum = 0;
    int used = 0;
    for (int k = 0; k < data->d; k++) {
        double rho = still[k] ? NAN : correlation(data, sets, which, n, k); /* rounding correlates, too */
        used += !isnan(rho);
        sum += isnan(rho) ? 0 : rho;
    }
    return used > 0 ? sum / used : 0;
}
