/* SPDX-License-Identifier: BSD-3-Clause */
/* em_h3m.c - the EM-H3M loop: expect, assign, maximise.  Smyth 1997; with sets it is the EM that VHEM-H3M
 * approximates (paper, Section 3.1), one assignment variable for all samples of a base HMM.
 *
 *   1. the E-step and its assignments
 *   2. the M-step
 *   3. repairs: the paper does not treat empty clusters, which stay empty if left alone
 *   4. the best so far
 *   5. the loop
 *
 * All restarts run together, as the HMMs of one packed set: they share the statistics of the frames and one
 * matrix product.  A restart leaves the set when it converges or fails. */
#include "fit/em_h3m.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "fit/baum_welch.h"
#include "fit/start.h"
#include "hmm/convert.h"

#include <math.h>
#include <string.h>

#define EMPTY 1e-3 /* a cluster with less than this many sets is empty */
enum {
    MAX_RESEED = 3,   /* times K: clusters that keep emptying are not needed */
    EARLY = 10,       /* number of first iterations in which states are revived */
    PROOF = 5,        /* iterations a repair needs to pay off */
    SEED_ITER = 3,    /* of Baum-Welch, for the HMM of a re-seeded cluster */
    FRAMES_EACH = 10, /* per component: with fewer, Baum-Welch makes it collapse */
};

typedef struct {
    const vh_mixture *mix;
    int n;
    int64_t K;      /* restarts still running, HMMs per restart */
    int *run_of;    /* [n]      restart numbers */
    int64_t *index; /* [n K]    their HMMs */
    vh_packed *pk;
    vh_seq_sums sums;  /* of the E-step, for n mixtures */
    double *loglik;    /* [N][n K] */
    double *log_omega; /* [n K] */
    double *log_share; /* [R K]  log omega of every HMM, even where omega underflows */
    double *z;         /* [sets][n K] */
    bool *repaired;    /* [R]  repairs followed the last M-step: J may fall once */
    int members;       /* number of sets that have sequences */
} mixture_state;

/* ---- 1. the E-step ------------------------------------------------------------------------------------- */

/* L_gk = sum_n w_n log p(y_n | HMM k) of set g, whose sequences have loglik [sequences][n_hmm]. */
static double set_loglik(const vh_mixture *mix, int64_t g, const double *loglik, int64_t n_hmm, int k)
{
    const vh_sets *sets = mix->sets;
    double sum = 0;
    for (int64_t i = sets->first[g]; i < sets->first[g + 1]; i++) {
        double w = vh_data_weight(mix->item.data, sets->seq[i]);
        if (w > 0) /* skip weight 0, even if impossible: 0 times -inf is NaN */
            sum += w * loglik[vh_ij(i - sets->first[g], n_hmm, k)];
    }
    return sum;
}

/* Packs the remaining restarts; reallocates only if some have left. */
static vhem_status repack(vhem_ctx *ctx, const vh_h3m *all, mixture_state *s)
{
    for (int a = 0; a < s->n; a++)
        for (int64_t j = 0; j < s->K; j++) {
            s->index[a * s->K + j] = s->run_of[a] * s->K + j;
            s->log_omega[a * s->K + j] = s->log_share[s->run_of[a] * s->K + j];
        }
    if (!s->pk || s->pk->K != s->n * s->K) {
        vh_pack_free(s->pk);
        s->pk = NULL;
        vh_seq_sums_free(&s->sums);
        VH_TRY(vh_pack_new(ctx, all, s->index, s->n * s->K, s->mix->item.origin, s->mix->item.scale, &s->pk));
        VH_TRY(vh_seq_sums_new(ctx, s->pk, s->n, &s->sums));
        s->sums.loglik = s->loglik;
        s->sums.z = s->z;
    }
    return vh_pack_update(ctx, all, s->index, s->pk);
}

static vhem_status open_state(vhem_ctx *ctx, const vh_mixture *mix, const vh_h3m *all, int R,
                              mixture_state *s)
{
    size_t n_hmm = (size_t)all->K, sets = (size_t)mix->sets->n;

    *s = (mixture_state){ .mix = mix, .n = R, .K = all->K / R };
    VH_NEW(s->run_of, R);
    VH_NEW(s->repaired, R);
    VH_NEW(s->index, n_hmm);
    VH_NEW(s->log_omega, n_hmm);
    VH_NEW(s->log_share, n_hmm);
    for (size_t i = 0; i < n_hmm; i++)
        s->log_share[i] = log(all->omega[i]);
    VH_NEW(s->loglik, (size_t)mix->item.n * n_hmm);
    VH_NEW(s->z, sets * n_hmm);
    for (int r = 0; r < R; r++)
        s->run_of[r] = r;
    for (int64_t g = 0; g < mix->sets->n; g++)
        s->members += mix->sets->first[g] < mix->sets->first[g + 1];
    return VHEM_OK;
}

static void close_state(mixture_state *s)
{
    vh_pack_free(s->pk);
    vh_seq_sums_free(&s->sums);
    free(s->run_of);
    free(s->repaired);
    free(s->index);
    free(s->log_omega);
    free(s->log_share);
    free(s->loglik);
    free(s->z);
}

/* The E-step for the current models. */
static vhem_status expect_sets(vhem_ctx *ctx, mixture_state *s, bool statistics)
{
    const vh_seq_step step = {
        .pk = s->pk, .statistics = statistics, .mixtures = s->n, .log_omega = s->log_omega
    };
    return vh_sequences_run(ctx, s->mix->seqs, &step, &s->sums);
}

vhem_status vh_em_assign(vhem_ctx *ctx, const vh_mixture *mix, const vh_h3m *h3m, double *z, double *L,
                         double *J)
{
    const vh_sets *sets = mix->sets;
    int64_t K = h3m->K;
    VH_CLEANUP(close_state) mixture_state s = { 0 };

    VH_TRY(open_state(ctx, mix, h3m, 1, &s));
    VH_TRY(repack(ctx, h3m, &s));
    VH_TRY(expect_sets(ctx, &s, false));
    if (J)
        *J = s.sums.J[0];
    if (z)
        memcpy(z, s.z, sizeof *z * vh_cells(sets->n, K));
    for (int64_t g = 0; L && g < sets->n; g++)
        for (int64_t j = 0; j < K; j++)
            L[vh_ij(g, K, j)] = set_loglik(mix, g, s.loglik + vh_row(sets->first[g], K), K, j);
    return VHEM_OK;
}

/* ---- 2. the M-step ------------------------------------------------------------------------------------- */

/* omega_j = sum_g z_gj / sets, and each HMM from its statistics; a cluster without members keeps its HMM. */
static vhem_status maximise_mixture(vhem_ctx *ctx, const mixture_state *s, int a, vh_h3m *all, vh_em_run *run)
{
    run->n_floored = 0;
    for (int64_t j = 0; j < s->K; j++) {
        int k = a * s->K + j, floored;
        int64_t i = s->index[k];
        all->omega[i] = s->sums.sum_z[k] / s->members;
        s->log_share[i] = s->sums.log_sum_z[k] - log(s->members);
        VH_TRY(vh_mstep(ctx, &s->mix->limits[j], s->pk, k, &s->sums.stats, all, &all->hmm[i], &floored));
        run->n_floored += floored;
    }
    return VHEM_OK;
}

/* ---- 3. repairs ---------------------------------------------------------------------------------------- */

vhem_status vh_em_seed(vhem_ctx *ctx, const vh_mixture *mix, const vh_em_seeding *from, vh_rng *rng,
                       vh_h3m *h3m, vh_hmm *h)
{
    vhem_fit_options opt = *mix->item.opt;
    vh_fit_item item = mix->item;
    VH_OWN(vh_h3m) *one = NULL;
    vhem_fit_run run = { 0 };
    VH_AUTOFREE int64_t *some = NULL;

    opt.max_iter = from->iterations;
    opt.tol = 0;
    opt.repair = 0;
    item.opt = &opt;
    item.seq = from->seq;
    item.n = from->n;
    item.limits = *from->limits;
    item.frames = 0;
    item.mass = 0;
    for (int64_t i = 0; i < item.n; i++) {
        item.frames += vh_data_length(item.data, item.seq[i]);
        item.mass += (double)vh_data_length(item.data, item.seq[i]) * vh_data_weight(item.data, item.seq[i]);
    }
    VH_TRY(vh_h3m_new(ctx, h3m->family, h3m->shape, 1, &one));
    VH_TRY(vh_h3m_shape(ctx, one, 0, h->S, h->M));
    vh_fit_item thin = item;
    VH_TRY(vh_start_thin(ctx, &thin, &some));
    VH_TRY(vh_start_hmm(ctx, &thin, rng, 1, one, &one->hmm[0]));
    vh_start_obey(from->limits, &one->hmm[0]);
    vh_hmm_copy(h, &one->hmm[0]);
    /* With few frames a covariance may collapse: then use the start alone. */
    bool enough = from->iterations > 0 && item.frames >= (int64_t)FRAMES_EACH * h->S * h->M;
    vhem_status fit = enough ? vh_baum_welch(ctx, &item, one, mix->workers, &run) : VHEM_ENUMERIC;
    if (fit == VHEM_OK && isfinite(run.loglik))
        vh_hmm_copy(h, &one->hmm[0]);
    return fit == VHEM_ENOMEM ? fit : VHEM_OK;
}

/* Finds the set that its own cluster explains worst per frame, among clusters with more than one set; -1 if
 * none.  taken [sets]: skip these. */
static int64_t worst_set(const mixture_state *s, int a, const bool *taken)
{
    const vh_sets *sets = s->mix->sets;
    int64_t worst = -1, n_hmm = s->n * s->K;
    double low = INFINITY;
    for (int64_t g = 0; g < sets->n; g++) {
        const double *z = s->z + vh_row(g, n_hmm) + a * s->K;
        double mass;
        int j = 0;
        for (int q = 1; q < s->K; q++)
            j = z[q] > z[j] ? q : j;
        vh_sets_frames(sets, s->mix->item.data, g, &mass);
        if (taken[g] || !(mass > 0) || s->sums.sum_z[a * s->K + j] < 1.5)
            continue;
        double per_frame =
            set_loglik(s->mix, g, s->loglik + vh_row(sets->first[g], n_hmm), n_hmm, a * s->K + j) / mass;
        if (per_frame < low) {
            low = per_frame;
            worst = g;
        }
    }
    return worst;
}

static vhem_status reseed(vhem_ctx *ctx, const mixture_state *s, int a, vh_rng *rng, vh_h3m *all,
                          vh_em_run *run)
{
    const vh_sets *sets = s->mix->sets;
    double *omega = all->omega + s->run_of[a] * s->K, share = 1.0 / s->members;
    double *log_share = s->log_share + s->run_of[a] * s->K;
    VH_AUTOFREE bool *taken = NULL;

    VH_NEW(taken, sets->n);
    for (int64_t j = 0; j < s->K && run->n_empty < MAX_RESEED * s->K; j++) {
        int64_t g = s->sums.sum_z[a * s->K + j] < EMPTY ? worst_set(s, a, taken) : -1;
        if (g < 0)
            continue;
        taken[g] = true;
        const vh_em_seeding from = { &s->mix->limits[j], sets->seq + sets->first[g],
                                     sets->first[g + 1] - sets->first[g], SEED_ITER };
        VH_TRY(vh_em_seed(ctx, s->mix, &from, rng, all, &all->hmm[s->run_of[a] * s->K + j]));
        for (int q = 0; q < s->K; q++) {
            omega[q] *= 1 - share;
            log_share[q] += log1p(-share);
        }
        omega[j] += share;
        log_share[j] = log(omega[j]);
        run->n_empty++;
    }
    return VHEM_OK;
}

static vhem_status repair_mixture(vhem_ctx *ctx, mixture_state *s, int a, vh_h3m *all, vh_em_run *run)
{
    const vhem_fit_options *opt = s->mix->item.opt;
    int before = run->n_empty + run->n_revived;
    vh_rng rng;

    s->repaired[s->run_of[a]] = false;
    if (!opt->repair || opt->max_iter - run->n_iter <= PROOF)
        return VHEM_OK;
    vh_rng_init(&rng, run->seed, VH_RNG_REVIVE, (uint64_t)run->n_iter);
    VH_TRY(reseed(ctx, s, a, &rng, all, run));
    for (int64_t j = 0; j < s->K && run->n_iter < EARLY; j++) {
        int k = a * s->K + j;
        vh_hmm *h = &all->hmm[s->index[k]];
        if (s->sums.sum_z[k] < EMPTY || run->n_revived >= 2 * s->K * h->S * h->M)
            continue;
        int revived = vh_revive(&s->mix->limits[j], s->pk, k, &s->sums.stats, all, h, &rng);
        VH_CHECK(revived >= 0, VHEM_ENOMEM, "out of memory: no room to revive a state");
        run->n_revived += revived;
    }
    s->repaired[s->run_of[a]] = run->n_empty + run->n_revived > before;
    return VHEM_OK;
}

/* ---- 4. the best so far -------------------------------------------------------------------------------- */

static vhem_status keep(vhem_ctx *ctx, const mixture_state *s, const vh_h3m *all, int a,
                        vh_mixture_result *best)
{
    const vh_sets *sets = s->mix->sets;
    size_t K = (size_t)s->K, n_hmm = (size_t)s->n * K, cells = (size_t)sets->n * K;

    if (!best->z)
        VH_NEW(best->z, cells);
    if (!best->L)
        VH_NEW(best->L, cells);
    if (!best->h3m)
        VH_TRY(vh_h3m_subset(ctx, all, s->index + (size_t)a * K, s->K, &best->h3m));
    for (int j = 0; j < s->K; j++) {
        int64_t i = s->index[a * s->K + j];
        vh_hmm_copy(&best->h3m->hmm[j], &all->hmm[i]);
        best->h3m->omega[j] = all->omega[i];
    }
    for (int g = 0; g < sets->n; g++) {
        const double *loglik = s->loglik + (size_t)sets->first[g] * n_hmm;
        memcpy(best->z + (size_t)g * K, s->z + (size_t)g * n_hmm + (size_t)a * K, sizeof *best->z * K);
        for (int j = 0; j < s->K; j++)
            best->L[vh_ij(g, s->K, j)] = set_loglik(s->mix, g, loglik, (int)n_hmm, a * s->K + j);
    }
    return VHEM_OK;
}

/* After an E-step: keeps its best mixture, if that beats the best so far. */
static vhem_status keep_best(vhem_ctx *ctx, const mixture_state *s, const vh_h3m *all, int first, int iter,
                             vh_mixture_result *best)
{
    int top = -1;
    double J = best->h3m ? best->J : -INFINITY;
    for (int a = 0; a < s->n; a++)
        if (isfinite(s->sums.J[a]) && s->sums.J[a] > J) {
            J = s->sums.J[a];
            top = a;
        }
    if (top < 0)
        return VHEM_OK;
    VH_TRY(keep(ctx, s, all, top, best));
    best->J = J;
    best->best = first + s->run_of[top];
    best->iter = iter;
    return VHEM_OK;
}

/* ---- 5. the loop --------------------------------------------------------------------------------------- */

/* True if converged at iteration iter with objective J; also counts decreases of J. */
static bool has_converged(vhem_ctx *ctx, const vh_mixture *mix, double J, bool repaired, int iter,
                          vh_em_run *run)
{
    const vhem_fit_options *opt = mix->item.opt;
    double gain = iter > 0 ? J - run->J[iter - 1] : INFINITY;
    double size = mix->relative ? fabs(J) : mix->item.mass;

    if (!repaired && gain < -1e-8 * (fabs(J) + mix->item.mass)) {
        run->n_fell++;
        vh_log(ctx, VHEM_LOG_DEBUG, "the likelihood fell from %.12g to %.12g in iteration %d",
               run->J[iter - 1], J, iter);
    }
    run->J[iter] = J;
    run->n_iter = iter;
    run->converged = !repaired && opt->tol > 0 && gain <= opt->tol * size;
    return run->converged || iter == opt->max_iter || vh_stopped(ctx);
}

/* Removes restart r from the set. */
static void leave(mixture_state *s, int r)
{
    int left = 0;
    for (int a = 0; a < s->n; a++)
        if (s->run_of[a] != r)
            s->run_of[left++] = s->run_of[a];
    s->n = left;
}

/* Packs the set for the next E-step, without restarts whose covariances have become singular. */
static vhem_status repack_sound(vhem_ctx *ctx, const vh_h3m *all, mixture_state *s, vh_em_run *run)
{
    vhem_status st = VHEM_OK;
    while (s->n > 0 && (st = repack(ctx, all, s)) == VHEM_ENUMERIC && s->pk && s->pk->at_fault >= 0) {
        int r = s->pk->at_fault / s->K;
        run[r].st = st;
        leave(s, r);
    }
    return s->n > 0 ? st : VHEM_OK;
}

/* Processes the restart at place a after its E-step: updates its model and sets *goes_on, unless finished. */
static vhem_status advance(vhem_ctx *ctx, mixture_state *s, int a, int iter, vh_h3m *all, vh_em_run *run,
                           bool *goes_on)
{
    double J = s->sums.J[a];

    *goes_on = false;
    VH_CHECK(
        isfinite(J), VHEM_ENUMERIC,
        "the log-likelihood of the mixture is %g; a floor (" VH_OPT("cov_floor") ") or fewer states help", J);
    if (has_converged(ctx, s->mix, J, s->repaired[s->run_of[a]], iter, run))
        return VHEM_OK;
    VH_TRY(maximise_mixture(ctx, s, a, all, run));
    VH_TRY(repair_mixture(ctx, s, a, all, run));
    *goes_on = true;
    return VHEM_OK;
}

vhem_status vh_em_h3m(vhem_ctx *ctx, const vh_mixture *mix, vh_h3m *all, int R, int first, vh_em_run *run,
                      vh_mixture_result *best)
{
    int max_iter = mix->item.opt->max_iter;
    VH_CLEANUP(close_state) mixture_state s = { 0 };

    VH_TRY(open_state(ctx, mix, all, R, &s));
    for (int r = 0; r < R; r++) {
        VH_NEW(run[r].J, max_iter + 1);
        run[r].st = VHEM_ESTOPPED; /* until its first E-step */
    }
    for (int iter = 0; s.n > 0; iter++) {
        int left = 0;
        VH_TRY(repack_sound(ctx, all, &s, run));
        if (s.n == 0)
            break;
        VH_TRY(expect_sets(ctx, &s, iter < max_iter));
        VH_TRY(keep_best(ctx, &s, all, first, iter, best));
        for (int a = 0; a < s.n; a++) {
            int r = s.run_of[a];
            bool goes_on;
            run[r].st = advance(ctx, &s, a, iter, all, &run[r], &goes_on);
            if (run[r].st != VHEM_ENUMERIC)
                VH_TRY(run[r].st);
            if (goes_on)
                s.run_of[left++] = r;
        }
        s.n = left;
    }
    return vh_stopped(ctx) ? VHEM_ESTOPPED : VHEM_OK;
}
