/* SPDX-License-Identifier: BSD-3-Clause */
/* fit.c - see fit.h: fits a dynamic texture to each sequence or group, or a mixture to all.
 *
 *   1. options                  3. a mixture
 *   2. a texture for each set   4. the whole */
#include "core/alloc.h"
#include "parallel/map.h"
#include "core/rng.h"
#include "dtm/svd.h"
#include "dtm/em.h"
#include "dtm/fit.h"
#include "fit/fit.h"
#include "fit/options.h"
#include "math/blas.h"
#include "hmm/hmm_set.h"
#include "vhem.h"

#include <math.h>
#include <string.h>

enum { RESTARTS = 4 }; /* of a mixture, by default */

typedef struct {
    const vhem_data *data;
    vhem_fit_options opt; /* resolved */
    vh_sets sets;
    vh_dt_limits limits;
    vh_fit_scale scale;
    bool em;
    int R; /* restarts */
    vh_dtm *out;
    vhem_fit_report *report;
    vh_workers workers;
    const vh_fitted *fitted; /* textures already fitted; NULL if none */
} dtm_fit_state;

static void fit_free(dtm_fit_state *f)
{
    vh_dtm_free(f->out);
    vh_object_free(f->report);
    vh_sets_free(&f->sets);
    vh_workers_free(&f->workers);
    vh_fit_scale_free(&f->scale);
}

static void run_free(vh_em_run *run)
{
    free(run->J);
}

/* ---- 1. options ---------------------------------------------------------------------------------------- */

static vhem_status resolve(vhem_ctx *ctx, const vhem_fit_options *asked, dtm_fit_state *f)
{
    vhem_fit_options *o = &f->opt, of_textures;

    VHEM_INIT(VHEM_FIT_OPTIONS, &of_textures);
    if (asked)
        of_textures = *asked;
    of_textures.model = "dtm";
    VH_TRY(vh_fit_resolve(ctx, f->data, &of_textures, o));
    VH_TRY(vh_data_require_complete(ctx, f->data, NULL, 0));
    f->em = strcmp(o->learn, "em") == 0 || o->K > 0;
    f->limits.isotropic = strcmp(o->noise, "isotropic") == 0;
    VH_CHECK(o->cov_floor > 0, VHEM_EINVAL,
             "cov_floor is %g, must be above 0: a texture has noise in every dimension", o->cov_floor);
    VH_CHECK(!o->prior || strcmp(o->prior, "none") == 0, VHEM_EINVAL,
             "prior '%.80s' is for HMMs, dynamic textures have none", o->prior);
    VH_CHECK(!o->start, VHEM_EINVAL, "textures are not fitted from a given start");
    f->R = o->K == 0 ? 1 : o->restarts > 0 ? o->restarts : RESTARTS;
    return VHEM_OK;
}

static vhem_status prepare_fit(vhem_ctx *ctx, const vhem_fit_options *asked, dtm_fit_state *f)
{
    int64_t K, rows;

    VH_TRY(resolve(ctx, asked, f));
    VH_TRY(vh_sets_new(ctx, f->data, f->opt.by_group, &f->sets));
    VH_CHECK(f->opt.K <= f->sets.n, VHEM_EINVAL, "K is %lld, but there are only %lld %ss",
             (long long)f->opt.K, (long long)f->sets.n, f->opt.by_group ? "group" : "sequence");
    VH_TRY(vh_fit_scale_of(ctx, f->data, NULL, 1, f->opt.cov_floor, &f->scale));
    f->limits.floor = f->scale.floor;
    K = f->opt.K > 0 ? f->opt.K : f->sets.n;
    rows = f->opt.K > 0 ? 1 : K;
    VH_TRY(vh_dtm_new(ctx, f->data->d, K, &f->out));
    for (int64_t i = 0; i < K; i++)
        VH_TRY(vh_dt_shape(ctx, f->data->d, f->opt.S, &f->out->dt[i]));
    VH_TRY(vh_fit_report_new(ctx, rows, f->R, &f->report));
    return vh_workers_new(ctx, ctx->threads, &f->workers);
}

static vhem_fit_run told(const vh_em_run *run, int n_stable)
{
    return (vhem_fit_run){ .loglik = run->J[run->n_iter],
                           .bound = run->J[run->n_iter],
                           .n_iter = run->n_iter,
                           .converged = run->converged,
                           .n_revived = n_stable,
                           .n_floored = run->n_floored };
}

/* ---- 2. a texture for each set ------------------------------------------------------------------------- */

static vhem_status key_of_set(vhem_ctx *ctx, const dtm_fit_state *f, int64_t i, vh_key *out)
{
    const vh_sets *sets = &f->sets;
    VH_OWN(vh_hash) *hash = NULL;

    VH_TRY(vh_hash_new(ctx, &hash));
    vh_hash_text(hash, "texture " VH_PIECE_RECIPE);
    vh_fit_options_hash(hash, &f->opt);
    vh_hash_bytes(hash, f->scale.floor, sizeof *f->scale.floor * (size_t)f->data->d);
    vh_hash_columns(hash, f->data);
    vh_hash_sequences(hash, f->data, sets->seq + sets->first[i], sets->first[i + 1] - sets->first[i]);
    vh_hash_key(hash, out);
    return VHEM_OK;
}

static vhem_status take_stored(vhem_ctx *ctx, dtm_fit_state *f, const vh_key *key, int64_t i, bool *taken)
{
    VH_OWN(vhem_models) *kept = NULL;
    vh_dt *dt = &f->out->dt[i];

    VH_TRY(f->fitted->get(ctx, f->fitted->store, key, &kept));
    *taken = kept && kept->dtm && kept->dtm->K == 1 && kept->dtm->dt[0].size == dt->size
             && kept->dtm->dt[0].n == dt->n;
    if (*taken)
        vh_dt_copy(dt, &kept->dtm->dt[0]);
    return VHEM_OK;
}

static vhem_status put_stored(vhem_ctx *ctx, const dtm_fit_state *f, const vh_key *key, int64_t i)
{
    VH_OWN(vh_dtm) *one = NULL;

    VH_TRY(vh_dtm_subset(ctx, f->out, &i, 1, &one));
    const vhem_models models = vh_models_of_textures(one);
    return f->fitted->put(ctx, f->fitted->store, key, &models);
}

/* Fits set i in closed form, then by EM if requested; otherwise the EM loop only computes the likelihood. */
static vhem_status fit_one(vhem_ctx *ctx, void *arg, int64_t i, int worker)
{
    dtm_fit_state *f = arg;
    const vh_sets *sets = &f->sets;
    bool taken = false;
    vh_key key;
    vh_em_dtm_task task = { .data = f->data,
                            .sets = sets,
                            .first = i,
                            .last = i + 1,
                            .limits = f->limits,
                            .max_iter = f->em ? f->opt.max_iter : 0,
                            .tol = f->opt.tol };
    vh_dtm one = { .d = f->data->d, .K = 1, .omega = (double[]){ 1 }, .dt = &f->out->dt[i] };
    VH_CLEANUP(run_free) vh_em_run run = { 0 };
    int n_floored, n_stable;

    if (f->fitted) {
        VH_TRY(key_of_set(ctx, f, i, &key));
        VH_TRY(take_stored(ctx, f, &key, i, &taken));
    }
    if (taken) {
        f->report->frames[i] = vh_sets_frames(sets, f->data, i, NULL);
        return VHEM_OK;
    }
    VH_TRY(vh_dt_svd(ctx, f->data, sets->seq + sets->first[i], sets->first[i + 1] - sets->first[i],
                     &f->limits, &f->out->dt[i], &n_floored, &n_stable));
    run.n_floored = n_floored;
    VH_TRY(vh_em_dtm(ctx, &task, &f->workers.scratch[worker], 1, &one, &run));
    f->report->run[i] = told(&run, f->em ? 0 : n_stable);
    f->report->frames[i] = vh_sets_frames(sets, f->data, i, NULL);
    if (f->fitted && !vh_stopped(ctx))
        VH_TRY(put_stored(ctx, f, &key, i));
    return VHEM_OK;
}

/* Serializes the result of fit_one for set i, for other processes. */
static void walk_one(vhem_ctx *ctx, void *arg, int64_t i, vh_serial *w)
{
    dtm_fit_state *f = arg;
    vh_serial_reals(ctx, w, f->out->dt[i].A, f->out->dt[i].size);
    vh_serial_bytes(ctx, w, &f->report->run[i], sizeof f->report->run[i]);
    vh_serial_int64(ctx, w, &f->report->frames[i]);
}

static vhem_status fit_each(vhem_ctx *ctx, dtm_fit_state *f)
{
    vhem_status st = VHEM_OK;
    int64_t K = f->out->K, failed = -1;
    int64_t count = 0;
    const vh_work work = { .n = K, .what = "fit", .logs = true, .run = fit_one, .walk = walk_one, .arg = f };

    for (int64_t i = 0; i < K; i++) {
        const char *name = vh_sets_name(&f->sets, f->data, i, f->opt.by_group);
        const char *label = vh_sets_label(&f->sets, f->data, i);
        VH_TRY(vh_h3m_set_text(ctx, &f->out->dt[i].name, *name ? name : NULL));
        VH_TRY(vh_h3m_set_text(ctx, &f->out->dt[i].label, *label ? label : NULL));
    }
    st = vh_map(ctx, &work, &failed);
    if (failed >= 0)
        vh_dtm_prefix(ctx, f->out, failed);
    for (int64_t i = 0; i < K; i++)
        count += f->report->frames[i] > 0;
    if (st == VHEM_ESTOPPED)
        vh_fail(ctx, st, "stopped; %lld of %lld textures were fitted", (long long)count, (long long)K);
    return st;
}

/* ---- 3. a mixture -------------------------------------------------------------------------------------- */

/* Starts restart r from the textures of K distinct random sets. */
static vhem_status start_mixture(vhem_ctx *ctx, const dtm_fit_state *f, int r, vh_dtm *dtm)
{
    VH_AUTOFREE int64_t *order = NULL;
    int64_t n = f->sets.n;
    int n_floored, n_stable;
    vh_rng rng;

    VH_NEW(order, n);
    for (int64_t g = 0; g < n; g++)
        order[g] = g;
    vh_rng_init(&rng, vh_rng_seed(ctx->opt.seed, (uint64_t)r), VH_RNG_INIT, 0);
    for (int64_t j = 0; j < dtm->K; j++) {
        int64_t pick = j + vh_rng_below(&rng, n - j), g = order[pick];
        order[pick] = order[j];
        order[j] = g;
        VH_TRY(vh_dt_shape(ctx, dtm->d, f->opt.S, &dtm->dt[j]));
        VH_TRY(vh_dt_svd(ctx, f->data, f->sets.seq + f->sets.first[g],
                         f->sets.first[g + 1] - f->sets.first[g], &f->limits, &dtm->dt[j], &n_floored,
                         &n_stable));
        dtm->omega[j] = 1.0 / dtm->K;
    }
    return VHEM_OK;
}

/* Runs one restart; if it is the best so far, swaps *dtm with the previous best. */
static vhem_status run_restart(vhem_ctx *ctx, dtm_fit_state *f, int r, vh_dtm **dtm)
{
    vh_em_dtm_task task = { .data = f->data,
                            .sets = &f->sets,
                            .last = f->sets.n,
                            .limits = f->limits,
                            .max_iter = f->opt.max_iter,
                            .tol = f->opt.tol };
    VH_CLEANUP(run_free) vh_em_run run = { 0 };
    vhem_fit_report *report = f->report;
    int *best = &report->best[0];

    VH_TRY(vh_dtm_new(ctx, f->data->d, f->opt.K, dtm));
    VH_TRY(start_mixture(ctx, f, r, *dtm));
    vhem_status st = vh_em_dtm(ctx, &task, f->workers.scratch, ctx->threads, *dtm, &run);
    if (st != VHEM_OK && st != VHEM_ESTOPPED)
        return st;
    report->run[report->R] = told(&run, 0);
    if (report->R == 0 || run.J[run.n_iter] > report->run[*best].loglik) {
        vh_dtm *swap = f->out;
        f->out = *dtm;
        *dtm = swap;
        *best = report->R;
    }
    report->R++;
    return st;
}

/* Runs all restarts.  A failed restart does not stop the others. */
static vhem_status fit_mixture(vhem_ctx *ctx, dtm_fit_state *f)
{
    vhem_status st = VHEM_OK;
    vh_dtm *dtm = NULL;
    int failed = 0;

    f->report->R = 0;
    f->report->frames[0] = f->data->start[f->data->N];
    for (int r = 0; r < f->R && st == VHEM_OK; r++) {
        vh_progress(ctx, "fit", r, f->R);
        st = run_restart(ctx, f, r, &dtm);
        vh_dtm_free(dtm);
        dtm = NULL;
        failed += st == VHEM_ENUMERIC;
        if (st == VHEM_ENUMERIC && (r + 1 < f->R || f->report->R > 0))
            st = VHEM_OK;
    }
    if (failed > 0 && f->report->R > 0)
        vh_log(ctx, VHEM_LOG_WARN, "%d of %d restarts failed: %s", failed, f->R, ctx->error);
    for (int64_t j = 0; f->report->R > 0 && j < f->out->K; j++) {
        vhem_status named = vh_h3m_set_cluster(ctx, &f->out->dt[j].name, j);
        st = named == VHEM_OK ? st : named;
    }
    vh_progress(ctx, "fit", f->R, f->R);
    if (st == VHEM_ESTOPPED)
        vh_fail(ctx, st, "stopped; the best mixture so far is kept");
    return st;
}

/* ---- 4. the whole -------------------------------------------------------------------------------------- */

/* After a stop: keeps only the fitted textures, in order, with equal weights. */
static vhem_status keep_fitted(vhem_ctx *ctx, dtm_fit_state *f)
{
    VH_AUTOFREE int64_t *index = NULL;
    int64_t n = 0;
    vh_dtm *some = NULL;
    vhem_fit_report *r = f->report;

    VH_NEW(index, f->out->K);
    for (int64_t i = 0; i < f->out->K; i++)
        if (r->frames[i] > 0) {
            r->run[n] = r->run[i];
            r->frames[n] = r->frames[i];
            index[n++] = i;
        }
    VH_CHECK(n > 0, VHEM_ESTOPPED, "stopped; no texture was fitted");
    VH_TRY(vh_dtm_subset(ctx, f->out, index, n, &some));
    vh_dtm_free(f->out);
    f->out = some;
    r->K = n;
    return VHEM_OK;
}

vhem_status vh_dtm_fit(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, vh_dtm **out,
                       vhem_fit_report **report)
{
    return vh_dtm_fit_stored(ctx, data, opt, NULL, out, report);
}

vhem_status vh_dtm_fit_stored(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt,
                              const vh_fitted *fitted, vh_dtm **out, vhem_fit_report **report)
{
    VH_BLAS_SERIAL;
    VH_CLEANUP(fit_free) dtm_fit_state f = { .data = data, .fitted = fitted };

    VH_TRY(prepare_fit(ctx, opt, &f));
    vhem_status st = f.opt.K > 0 ? fit_mixture(ctx, &f) : fit_each(ctx, &f);
    if (st == VHEM_ESTOPPED && f.opt.K == 0)
        VH_TRY(keep_fitted(ctx, &f));
    else if (st != VHEM_OK && (st != VHEM_ESTOPPED || f.report->R == 0))
        return st;
    st = vh_stopped(ctx) ? VHEM_ESTOPPED : VHEM_OK;
    *out = f.out;
    f.out = NULL;
    if (fitted)
        f.report->K = 0;
    if (report) {
        *report = f.report;
        f.report = NULL;
    }
    return st;
}
