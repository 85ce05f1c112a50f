/* SPDX-License-Identifier: BSD-3-Clause */
/* baum_welch.c - the Baum-Welch loop: E-step, convergence check, M-step.  With a prior it is variational
 * Bayes: the same loop on posteriors, by way of their expected models (posterior.h).
 *
 * All restarts of an item run together, as the HMMs of one packed set: they share the statistics of the
 * frames and one matrix product, and as many restarts as a register has lanes run their recursions in
 * parallel.  A converged restart leaves the set. */
#include "fit/baum_welch.h"

#include "core/alloc.h"
#include "hmm/convert.h"
#include "prior/posterior.h"

#include <math.h>

typedef struct {
    int64_t n;
    int64_t *index; /* [n]  restarts still running */
    vh_packed *pk;
    vh_opened_sequences *seqs;
    vh_seq_sums sums; /* of the E-step */
    double *work;     /* [vh_emission_work] */
    bool *repaired;   /* [R]  the last M-step revived something: the likelihood may fall once */
    int64_t n_post;
    vh_posterior *post; /* [R]  with a prior; zero before the first update of a restart */
    vh_h3m *known; /* [R]  without a prior: the last models of known likelihood, while new ones are tried */
} active_set;

static void active_free(active_set *a)
{
    for (int64_t i = 0; i < a->n_post; i++)
        vh_posterior_free(&a->post[i]);
    free(a->post);
    vh_h3m_free(a->known);
    vh_pack_free(a->pk);
    vh_sequences_close(a->seqs);
    vh_seq_sums_free(&a->sums);
    free(a->index);
    free(a->work);
    free(a->repaired);
}

/* Packs the remaining restarts; reallocates only if some have left. */
static vhem_status repack(vhem_ctx *ctx, const vh_fit_item *item, const vh_h3m *runs, active_set *a)
{
    if (!a->pk || a->pk->K != a->n) {
        vh_pack_free(a->pk);
        a->pk = NULL;
        vh_seq_sums_free(&a->sums);
        VH_TRY(vh_pack_new(ctx, runs, a->index, a->n, item->origin, item->scale, &a->pk));
        VH_TRY(vh_seq_sums_new(ctx, a->pk, 0, &a->sums));
    }
    VH_TRY(vh_pack_update(ctx, runs, a->index, a->pk));
    for (int k = 0; k < a->n && a->n_post > 0; k++)
        if (a->post[a->index[k]].S > 0)
            vh_posterior_shift(&a->post[a->index[k]], a->pk, k);
    return VHEM_OK;
}

/* The objective of the restart at place k: its log-likelihood, or the evidence lower bound. */
static vhem_status objective(vhem_ctx *ctx, const vh_fit_item *item, const vh_h3m *runs, const active_set *a,
                             int k, double *out)
{
    *out = a->sums.total[k] + vh_mstep_log_prior(&item->limits, runs, &runs->hmm[a->index[k]], a->work);
    if (a->n_post > 0 && a->post[a->index[k]].S > 0) {
        double kl = vh_posterior_kl(item->prior, &item->limits, &a->post[a->index[k]]);
        VH_CHECK(!isnan(kl), VHEM_ENUMERIC, "the scatter of a state became singular");
        *out -= kl;
    }
    return VHEM_OK;
}

/* Name of the objective, for messages. */
static const char *name_of_objective(const vh_fit_item *item)
{
    return item->prior ? "bound" : item->limits.frame ? "posterior density" : "likelihood";
}

/* True if restart i is finished, given the objective of its current model. */
static bool finished(vhem_ctx *ctx, const vh_fit_item *item, vhem_fit_run *run, double loglik, bool repaired,
                     int iter)
{
    double gain = loglik - run->loglik;
    if (iter > 0 && !repaired && gain < -1e-8 * (fabs(loglik) + item->mass))
        vh_log(ctx, VHEM_LOG_WARN, "the %s fell from %.10g to %.10g in iteration %d", name_of_objective(item),
               run->loglik, loglik, iter);
    run->loglik = loglik;
    run->n_iter = iter;
    run->converged = iter > 0 && !repaired && gain <= item->opt->tol * item->mass && item->opt->tol > 0;
    return run->converged || iter == item->opt->max_iter || vh_stopped(ctx);
}

/* The update of variational Bayes.  The first starts from a model, whose likelihood is not a bound. */
static vhem_status learn(vhem_ctx *ctx, const vh_fit_item *item, const active_set *a, int k, vh_h3m *runs,
                         bool *repaired)
{
    vh_hmm *h = &runs->hmm[a->index[k]];
    vh_posterior *post = &a->post[a->index[k]];

    *repaired = post->S == 0;
    if (post->S == 0)
        VH_TRY(vh_posterior_new(ctx, item->prior, h->S, h->M, post));
    vh_posterior_update(item->prior, a->pk, k, &a->sums.stats, post);
    vh_posterior_expect(item->prior, &item->limits, post, runs, h);
    return VHEM_OK;
}

static vhem_status maximise_runs(vhem_ctx *ctx, const vh_fit_item *item, const active_set *a, int k,
                                 vh_h3m *runs, vhem_fit_run *run, bool *repaired)
{
    int64_t i = a->index[k];
    int left = item->opt->max_iter - run->n_iter;
    vh_hmm *h = &runs->hmm[i];

    if (item->prior)
        return learn(ctx, item, a, k, runs, repaired);
    VH_TRY(vh_mstep(ctx, &item->limits, a->pk, k, &a->sums.stats, runs, h, &run->n_floored));
    *repaired = false;
    /* A repair needs some iterations to pay off, and states that keep dying are not needed. */
    if (item->opt->repair && left > 5 && run->n_revived < 2 * h->S * h->M) {
        vh_rng rng;
        vh_rng_init(&rng, ctx->opt.seed, VH_RNG_REVIVE,
                    item->number << 32 | (uint64_t)i << 16 | (uint64_t)run->n_iter);
        int revived = vh_revive(&item->limits, a->pk, k, &a->sums.stats, runs, h, &rng);
        VH_CHECK(revived >= 0, VHEM_ENOMEM, "out of memory: no room to revive a state");
        run->n_revived += revived;
        *repaired = revived > 0;
    }
    return VHEM_OK;
}

/* After an E-step abandoned by an overdue stop: restarts in it return to the previous model.  A restart
 * without one is discarded. */
static void fall_back(const active_set *a, vh_h3m *runs, vhem_fit_run *run)
{
    for (int k = 0; k < a->n; k++) {
        int64_t i = a->index[k];
        if (run[i].n_iter < 0)
            run[i].loglik = -INFINITY;
        else if (a->known)
            vh_hmm_copy(&runs->hmm[i], &a->known->hmm[i]);
    }
}

/* Converts posteriors to models, their means, and computes the likelihood of these.  If a stop is overdue,
 * that pass is skipped: the bound of each model stands in for its likelihood. */
static vhem_status posteriors_to_models(vhem_ctx *ctx, const vh_fit_item *item, active_set *a, vh_h3m *runs,
                                        vhem_fit_run *run)
{
    a->n = runs->K;
    for (int64_t i = 0; i < runs->K; i++) {
        a->index[i] = i;
        if (a->post[i].S > 0)
            VH_TRY(vh_posterior_mean(ctx, item->prior, &item->limits, &a->post[i], runs, &runs->hmm[i],
                                     &run[i].n_floored));
        vh_posterior_free(&a->post[i]);
    }
    VH_TRY(repack(ctx, item, runs, a));
    VH_TRY(vh_sequences_run(ctx, a->seqs, &(vh_seq_step){ .pk = a->pk }, &a->sums));
    for (int64_t i = 0; i < runs->K; i++)
        VH_TRY(objective(ctx, item, runs, a, i, &run[i].loglik));
    return VHEM_OK;
}

static vhem_status open_set(vhem_ctx *ctx, const vh_fit_item *item, const vh_h3m *runs, vh_workers *workers,
                            active_set *a)
{
    const vh_sequences in = { .data = item->data,
                              .seq = item->seq,
                              .n = item->n,
                              .family = runs->family,
                              .x = { runs->shape, item->origin, item->scale },
                              .workers = workers };

    a->n = runs->K;
    VH_NEW(a->index, runs->K);
    VH_NEW(a->repaired, runs->K);
    VH_NEW(a->work, vh_emission_room(runs->family, &runs->shape));
    VH_TRY(vh_sequences_open(ctx, &in, &a->seqs));
    if (item->prior) {
        VH_NEW(a->post, runs->K);
        a->n_post = runs->K;
    } else {
        VH_TRY(vh_h3m_subset(ctx, runs, NULL, runs->K, &a->known));
    }
    for (int i = 0; i < runs->K; i++)
        a->index[i] = i;
    return VHEM_OK;
}

vhem_status vh_baum_welch(vhem_ctx *ctx, const vh_fit_item *item, vh_h3m *runs, vh_workers *workers,
                          vhem_fit_run *run)
{
    vhem_status st = VHEM_OK;
    VH_CLEANUP(active_free) active_set a = { 0 };

    VH_TRY(open_set(ctx, item, runs, workers, &a));
    for (int64_t i = 0; i < runs->K; i++)
        run[i].n_iter = -1;
    for (int iter = 0; a.n > 0; iter++) {
        bool last = iter == item->opt->max_iter; /* only the likelihood is still needed */
        int left = 0;
        VH_TRY(repack(ctx, item, runs, &a));
        const vh_seq_step step = { .pk = a.pk, .statistics = !last };
        st = vh_sequences_run(ctx, a.seqs, &step, &a.sums);
        if (st == VHEM_ESTOPPED) {
            fall_back(&a, runs, run);
            break;
        }
        VH_TRY(st);
        for (int64_t k = 0; k < a.n; k++) {
            int64_t i = a.index[k];
            double loglik;
            VH_TRY(objective(ctx, item, runs, &a, k, &loglik));
            if (finished(ctx, item, &run[i], loglik, a.repaired[i], iter))
                continue;
            if (a.known)
                vh_hmm_copy(&a.known->hmm[i], &runs->hmm[i]);
            VH_TRY(maximise_runs(ctx, item, &a, k, runs, &run[i], &a.repaired[i]));
            a.index[left++] = i;
        }
        a.n = left;
    }
    for (int64_t i = 0; i < runs->K; i++) {
        run[i].bound = run[i].loglik;
        run[i].loglik -= vh_mstep_log_prior(&item->limits, runs, &runs->hmm[i], a.work);
    }
    if (item->prior)
        VH_TRY(posteriors_to_models(ctx, item, &a, runs, run));
    return vh_stopped(ctx) ? VHEM_ESTOPPED : VHEM_OK;
}
