/* SPDX-License-Identifier: BSD-3-Clause */
/* baum_welch.c - the Baum-Welch loop: expect, look, maximise.
 *
 * All restarts of a job go through the loop together, as the HMMs of one packed set: the statistics of the
 * frames and the matrix product are made once for all of them, and the recursions of as many restarts as a
 * register has lanes go side by side.  A restart that has converged leaves the set. */
#include "estimate/baum_welch.h"

#include "core/alloc.h"

#include <math.h>

typedef struct {
    int n;
    int *index; /* [n]  restarts still running */
    vh_packed *pk;
    vh_stats stats;
    double *loglik; /* [sequences][n] */
    bool *repaired; /* [R]  the last M-step revived something: its likelihood may fall once */
} active_set;

static void active_free(active_set *a)
{
    vh_pack_free(a->pk);
    vh_stats_free(&a->stats);
    free(a->loglik);
    free(a->index);
    free(a->repaired);
}

/* Space for the restarts that are left; the old space when none has left. */
static vhem_status repack(vhem_ctx *ctx, const vh_job *job, const vh_h3m *runs, active_set *a)
{
    vhem_status st = VHEM_OK;
    if (!a->pk || a->pk->K != a->n) {
        vh_pack_free(a->pk);
        a->pk = NULL;
        vh_stats_free(&a->stats);
        VH_TRY(vh_pack_new(ctx, runs, a->index, a->n, job->origin, job->scale, &a->pk));
        VH_TRY(vh_stats_new(ctx, a->pk, &a->stats));
    }
    VH_TRY(vh_pack_update(ctx, runs, a->index, a->pk));
done:
    return st;
}

/* Has restart i come to its end?  Called with the likelihood of its present model. */
static bool finished(vhem_ctx *ctx, const vh_job *job, vhem_fit_run *run, double loglik, bool repaired,
                     int iter)
{
    double gain = loglik - run->loglik;
    if (iter > 0 && !repaired && gain < -1e-8 * (fabs(loglik) + job->mass))
        vh_log(ctx, VHEM_LOG_WARN, "the likelihood fell from %.10g to %.10g in iteration %d", run->loglik,
               loglik, iter);
    run->loglik = loglik;
    run->n_iter = iter;
    run->converged = iter > 0 && !repaired && gain <= job->opt->tol * job->mass && job->opt->tol > 0;
    return run->converged || iter == job->opt->max_iter || vh_stopped(ctx);
}

static vhem_status maximise(vhem_ctx *ctx, const vh_job *job, const active_set *a, int k, vh_h3m *runs,
                            vhem_fit_run *run, bool *repaired)
{
    vhem_status st = VHEM_OK;
    int i = a->index[k], left = job->opt->max_iter - run->n_iter;
    vh_hmm *h = &runs->hmm[i];

    VH_TRY(vh_mstep(ctx, &job->limits, a->pk, k, &a->stats, runs, h, &run->n_floored));
    *repaired = false;
    /* A repair needs some iterations to prove itself, and what dies again and again is not needed. */
    if (job->opt->repair && left > 5 && run->n_revived < 2 * h->S * h->M) {
        vh_rng rng;
        vh_rng_init(&rng, ctx->opt.seed, VH_RNG_REVIVE,
                    job->item << 32 | (uint64_t)i << 16 | (uint64_t)run->n_iter);
        int revived = vh_revive(&job->limits, a->pk, k, &a->stats, runs, h, &rng);
        run->n_revived += revived;
        *repaired = revived > 0;
    }
done:
    return st;
}

vhem_status vh_baum_welch(vhem_ctx *ctx, const vh_job *job, vh_h3m *runs, vh_workers *workers,
                          vhem_fit_run *run)
{
    vhem_status st = VHEM_OK;
    active_set a = { .n = runs->K };

    VH_NEW(a.index, runs->K);
    VH_NEW(a.repaired, runs->K);
    VH_NEW(a.loglik, (size_t)job->n * (size_t)runs->K);
    for (int i = 0; i < runs->K; i++)
        a.index[i] = i;
    for (int iter = 0; a.n > 0; iter++) {
        bool last = iter == job->opt->max_iter; /* only the likelihood is still wanted */
        int left = 0;
        VH_TRY(repack(ctx, job, runs, &a));
        VH_TRY(vh_expect(ctx, a.pk, job->data, job->seq, job->n, workers, a.loglik, last ? NULL : &a.stats));
        for (int k = 0; k < a.n; k++) {
            int i = a.index[k];
            double loglik = 0;
            for (int n = 0; n < job->n; n++)
                loglik +=
                    vh_data_weight(job->data, job->seq[n]) * a.loglik[(size_t)n * (size_t)a.n + (size_t)k];
            if (finished(ctx, job, &run[i], loglik, a.repaired[i], iter))
                continue;
            VH_TRY(maximise(ctx, job, &a, k, runs, &run[i], &a.repaired[i]));
            a.index[left++] = i;
        }
        a.n = left;
    }
    st = vh_stopped(ctx) ? VHEM_ESTOPPED : VHEM_OK;
done:
    active_free(&a);
    return st;
}
