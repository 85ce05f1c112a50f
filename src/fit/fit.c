/* SPDX-License-Identifier: BSD-3-Clause */
/* fit.c - see fit.h: one HMM for each sequence or group of sequences.
 *
 *   1. the request
 *   2. one item: starts, Baum-Welch, the best restart; or a stored model
 *   3. all items, in parallel over items if there are many, else inside each
 *   4. the prior
 *
 * With a prior every item has two fits: the first, with large variances or by maximum likelihood, initialises
 * variational Bayes.  If no prior is given, it is learned from the first fits of some items. */
#include "core/alloc.h"
#include "core/hash.h"
#include "core/array2.h"
#include "parallel/map.h"
#include "fit/baum_welch.h"
#include "fit/fit.h"
#include "fit/family.h"
#include "fit/fit_prior.h"
#include "fit/start.h"
#include "fit/lengths.h"
#include "fit/options.h"
#include "fit/sets.h"
#include "hmm/topology.h"
#include "math/blas.h"
#include "math/logsum.h"
#include "hmm/convert.h"
#include "files/hmm_file.h"
#include "emission/layout.h"
#include "hmm/missing_columns.h"
#include "files/prior_columns.h"
#include "files/prior_json.h"
#include "core/object.h"
#include "core/options.h"

#include <math.h>
#include <string.h>

/* Restarts often reach the same optimum with the states in another order, and then differ only by rounding.
 * The first is kept, so that the result does not depend on the last digit.  In nats per frame: a share of the
 * bound would depend on units, and on columns that never vary. */
#define TIE 1e-9

/* ---- 1. the request ------------------------------------------------------------------------------------ */

typedef struct { /* shared by all items */
    const vhem_data *data;
    const vh_emission *family; /* its statistics handle all of the data */
    vh_h3m *pooled;       /* one component for all frames: the prior of families without a conjugate prior */
    vhem_fit_options opt; /* with the shape of the start, if any */
    vh_sets sets;         /* the sequences of each HMM */
    vh_fit_scale scale;   /* deviations and smallest variances */
    vh_h3m *out;
    vhem_fit_report *report;
    unsigned char *begun; /* [K] */
    vh_workers workers;
    vh_prior_choice choice;
    vh_prior *prior;           /* NULL: none, or not learned yet */
    bool *still;               /* [d]  columns that never vary, */
    double *still_at;          /* [d]  and their values */
    double *broad;             /* [d]  smallest variances of first fits; NULL: none */
    vh_h3m **first;            /* [K]  first fits already made */
    double **coords;           /* [K]  coordinates of these items, for reuse */
    int64_t n_sample, *sample; /* [n_sample]  items to learn the prior from */
    vh_scatters scatters;      /* of their states, item by item */
    const vh_fitted *fitted;   /* stored models; NULL: none */
} fit;

/* Maximum number of models with fingerprints; for millions of small models the text would be too large. */
enum { MOST_FINGERPRINTS = 10000 };

/* A given start determines shape and family; it must match the data. */
static vhem_status check_start(vhem_ctx *ctx, const vhem_data *data, const vh_h3m *start, int64_t K)
{
    VH_CHECK(start, VHEM_EINVAL, "the start holds dynamic textures, must hold HMMs");
    VH_CHECK(start->d == data->d, VHEM_EINVAL, "the start has dimension %d, but the data has %d", start->d,
             data->d);
    VH_CHECK(!vh_h3m_lacks_columns(start), VHEM_EINVAL, "the start has HMMs that lack a column");
    VH_CHECK(start->K == 1 || start->K == K, VHEM_EINVAL,
             "the start has %lld HMMs, must have 1 or one for each of the %lld to fit", (long long)start->K,
             (long long)K);
    for (int64_t i = 1; i < start->K; i++)
        VH_CHECK(start->hmm[i].S == start->hmm[0].S && start->hmm[i].M == start->hmm[0].M, VHEM_EINVAL,
                 "the start has HMMs of different size (HMM %lld)", (long long)i);
    return VHEM_OK;
}

static vhem_status name_model(vhem_ctx *ctx, const fit *f, int64_t i, vh_hmm *h)
{
    const char *name = vh_sets_name(&f->sets, f->data, i, f->opt.by_group);
    const char *label = vh_sets_label(&f->sets, f->data, i);
    if (name[0])
        VH_TRY(vh_h3m_set_text(ctx, &h->name, name));
    if (label[0])
        VH_TRY(vh_h3m_set_text(ctx, &h->label, label));
    if (f->sets.n <= MOST_FINGERPRINTS) {
        int64_t at = f->sets.first[i], n = f->sets.first[i + 1] - at;
        VH_TRY(vh_hmm_set_fingerprint(ctx, h, vh_fingerprint(f->data, f->sets.seq + at, n)));
    }
    return VHEM_OK;
}

/* ---- 2. one item --------------------------------------------------------------------------------------- */

typedef struct { /* an item and what it owns */
    vh_fit_item item;
    const vh_hmm *given; /* the given start; NULL: as in the options */
    vh_topology topo;
    double *xs; /* [2][d]  its coordinates */
    vhem_fit_run *run;
    const double *frame[VH_MAX_PARAM]; /* the component that supplies pseudo-frames */
} open_sets_of;

/* Number of item i in random seeds.  With a prior, a hash of its name: a sequence gets the same HMM whatever
 * the other data.  32 bits leave room for restart and iteration. */
static uint64_t number_of(const fit *f, int64_t i)
{
    const char *name = vh_sets_name(&f->sets, f->data, i, f->opt.by_group);
    return name[0] ? vh_hash_name(name) & UINT32_MAX : (uint64_t)i;
}

static vhem_status begin_item(vhem_ctx *ctx, const fit *f, int64_t i, open_sets_of *out)
{
    int d = f->data->d;
    const vh_h3m *start = vh_fit_start(&f->opt);
    vh_fit_item *item = &out->item;

    *out = (open_sets_of){ .given = start ? &start->hmm[start->K == 1 ? 0 : i] : NULL,
                           .run = f->report->run + vh_row(i, f->report->R) };
    *item = (vh_fit_item){ .data = f->data,
                           .seq = f->sets.seq + f->sets.first[i],
                           .n = f->sets.first[i + 1] - f->sets.first[i],
                           .opt = &f->opt,
                           .number = (uint64_t)i };
    item->frames = vh_sets_frames(&f->sets, f->data, i, &item->mass);
    item->family = vh_family_of_some(vh_fit_family(f->data, &f->opt), f->family, f->data, item->seq, item->n);
    VH_TRY(vh_family_require(ctx, f->data, item->seq, item->n, item->family, &f->out->shape));
    if (f->coords)
        out->xs = vh_take(f->coords[i]);
    if (!out->xs) {
        VH_NEW(out->xs, 2 * (size_t)d);
        vh_data_coords(f->family, &f->out->shape, f->data, item->seq, item->n, f->scale.spread, out->xs);
    }
    item->origin = out->xs;
    item->scale = out->xs + d;
    VH_TRY(vh_topology_new(ctx, &f->opt, f->opt.S, out->given, &out->topo));
    item->limits = (vh_limits){ .fixed_pi = out->topo.pi,
                                .fixed_A = out->topo.A,
                                .floor = f->scale.floor,
                                .scale = item->scale,
                                .unit = 1.0 };
    for (int p = 0; f->pooled && p < f->family->n_param; p++)
        out->frame[p] = vh_hmm_param(f->pooled, &f->pooled->hmm[0], p);
    item->limits.frame = f->pooled ? out->frame : NULL;
    item->limits.frames = f->choice.nu0;
    item->limits.count = f->pooled ? f->choice.count : 0;
    item->ordered = out->topo.ordered;
    if (!f->choice.none)
        item->number = number_of(f, i);
    return VHEM_OK;
}

static void end_item(open_sets_of *x)
{
    vh_data_release(x->item.data, x->item.seq, x->item.n);
    vh_topology_free(&x->topo);
    free(x->xs);
}

/* With a prior: fits the initial models of variational Bayes from the starts of the item. */
static vhem_status first_fit(vhem_ctx *ctx, const fit *f, const open_sets_of *x, vh_workers *workers,
                             vh_h3m *runs)
{
    vh_fit_item item = x->item;

    item.limits.floor = f->broad;
    item.prior = NULL;
    if (x->given || !f->broad)
        return VHEM_OK;
    VH_TRY(vh_fit_prior_widen(ctx, f->broad, runs));
    return vh_baum_welch(ctx, &item, runs, workers, x->run);
}

static int best_run(const vhem_fit_run *run, int R, double mass)
{
    int best = 0;
    for (int r = 1; r < R; r++)
        if (run[r].bound > run[best].bound + TIE * mass)
            best = r;
    return best;
}

/* Hashes everything an HMM depends on: its own sequences, and the influence of the others. */
static vhem_status key_of_item(vhem_ctx *ctx, const fit *f, const vh_fit_item *item, vh_key *out)
{
    const size_t size = sizeof *f->scale.spread * (size_t)f->data->d;
    vhem_fit_options o = f->opt;
    VH_OWN(vh_hash) *hash = NULL;

    o.prior = f->choice.none ? "none" : f->choice.text;
    VH_TRY(vh_hash_new(ctx, &hash));
    vh_hash_text(hash, "HMM " VH_PIECE_RECIPE);
    vh_hash_bytes(hash, &ctx->opt.seed, sizeof ctx->opt.seed);
    vh_hash_bytes(hash, &item->number, sizeof item->number);
    vh_fit_options_hash(hash, &o);
    vh_hash_bytes(hash, f->scale.spread, size);
    vh_hash_bytes(hash, f->scale.within, size);
    if (f->scale.floor)
        vh_hash_bytes(hash, f->scale.floor, size);
    if (f->prior && f->prior->still) /* depends on the other sequences */
        vh_hash_bytes(hash, f->still, sizeof *f->still * (size_t)f->data->d);
    vh_hash_columns(hash, f->data);
    vh_hash_sequences(hash, f->data, item->seq, item->n);
    vh_hash_key(hash, out);
    return VHEM_OK;
}

static vhem_status take_stored(vhem_ctx *ctx, fit *f, const vh_key *key, int64_t i)
{
    VH_OWN(vhem_models) *kept = NULL;
    vh_hmm *h = &f->out->hmm[i];

    VH_TRY(f->fitted->get(ctx, f->fitted->store, key, &kept));
    const vh_hmm *from = kept && kept->h3m && kept->h3m->K == 1 ? &kept->h3m->hmm[0] : NULL;
    if (!from || from->S != h->S || from->M != h->M || from->n_theta != h->n_theta)
        return VHEM_OK;
    vh_hmm_copy(h, from);
    f->begun[i] = 1;
    return VHEM_OK;
}

static vhem_status put_stored(vhem_ctx *ctx, const fit *f, const vh_key *key, int64_t i)
{
    VH_OWN(vh_h3m) *one = NULL;

    VH_TRY(vh_h3m_subset(ctx, f->out, &i, 1, &one));
    const vhem_models models = vh_models_of_hmms(one);
    return f->fitted->put(ctx, f->fitted->store, key, &models);
}

static vhem_status fit_item(vhem_ctx *ctx, fit *f, int64_t i, vh_workers *workers)
{
    VH_CLEANUP(end_item) open_sets_of x = { .item.data = f->data };
    VH_OWN(vh_h3m) *runs = NULL;
    vh_key key;

    VH_TRY(begin_item(ctx, f, i, &x));
    x.item.prior = f->prior;
    if (f->fitted) {
        VH_TRY(key_of_item(ctx, f, &x.item, &key));
        VH_TRY(take_stored(ctx, f, &key, i));
        if (f->begun[i])
            return VHEM_OK;
    }
    if (f->first && f->first[i]) {
        runs = f->first[i];
        f->first[i] = NULL;
    } else {
        VH_TRY(vh_starts(ctx, &x.item, x.given, f->report->R, &runs));
        vhem_status fitted = f->prior ? first_fit(ctx, f, &x, workers, runs) : VHEM_OK;
        if (fitted != VHEM_OK && fitted != VHEM_ESTOPPED)
            return fitted;
    }
    vhem_status st = vh_baum_welch(ctx, &x.item, runs, workers, x.run);
    if (st != VHEM_OK && st != VHEM_ESTOPPED)
        return st;
    int best = best_run(x.run, f->report->R, x.item.mass);
    f->report->best[i] = best;
    vh_hmm_copy(&f->out->hmm[i], &runs->hmm[best]);
    vh_family_forget(f->data, x.item.seq, x.item.n, f->out, &f->out->hmm[i]);
    f->report->frames[i] = x.item.frames;
    /* Stopped before the prior was used: the model would be only the first fit. */
    f->begun[i] = x.run[best].n_iter >= (f->prior && st != VHEM_OK);
    for (int r = 0; r < f->report->R; r++)
        x.run[r].n_iter = x.run[r].n_iter < 0 ? 0 : x.run[r].n_iter;
    if (f->fitted && st == VHEM_OK)
        VH_TRY(put_stored(ctx, f, &key, i));
    return st;
}

/* ---- 3. all items -------------------------------------------------------------------------------------- */

static vhem_status run_numbered(vhem_ctx *ctx, void *arg, int64_t i, int worker)
{
    fit *f = arg;
    vh_workers own = { ctx->threads, &f->workers.scratch[worker] };
    return fit_item(ctx, f, i, &own);
}

/* Serializes the result of fit_item for item i. */
static void walk_item(vhem_ctx *ctx, void *arg, int64_t i, vh_serial *w)
{
    fit *f = arg;
    vh_hmm *h = &f->out->hmm[i];
    vhem_fit_report *r = f->report;
    vh_serial_bytes(ctx, w, &f->begun[i], sizeof f->begun[i]);
    vh_serial_int(ctx, w, &r->best[i]);
    vh_serial_int64(ctx, w, &r->frames[i]);
    vh_serial_bytes(ctx, w, r->run + vh_row(i, r->R), sizeof *r->run * (size_t)r->R);
    vh_serial_reals(ctx, w, h->pi, vh_hmm_numbers(h));
}

static vhem_status fit_items(vhem_ctx *ctx, fit *f)
{
    const vh_work work = { .n = f->sets.n,
                           .what = "fit",
                           .inside = true,
                           .logs = true,
                           .run = run_numbered,
                           .walk = walk_item,
                           .arg = f };
    int64_t failed = -1;
    vhem_status st = vh_map(ctx, &work, &failed);
    if (failed >= 0)
        vh_h3m_prefix(ctx, f->out, failed);
    return st;
}

/* ---- 4. the prior -------------------------------------------------------------------------------------- */

/* Gathers scatters of the states of a sample item: after its first fit or, once there is a prior, after
 * variational Bayes from there. */
static vhem_status look_at_item(vhem_ctx *ctx, void *arg, int64_t k, int worker)
{
    fit *f = arg;
    vh_workers own = { ctx->threads, &f->workers.scratch[worker] };
    size_t at = vh_row(k, f->opt.S * f->opt.M);
    int64_t i = f->sample[k];
    vhem_fit_run run = { 0 };
    VH_CLEANUP(end_item) open_sets_of x = { .item.data = f->data };
    VH_OWN(vh_h3m) *one = NULL;

    VH_TRY(begin_item(ctx, f, i, &x));
    if (!f->first[i]) {
        VH_TRY(vh_starts(ctx, &x.item, x.given, f->report->R, &f->first[i]));
        VH_TRY(first_fit(ctx, f, &x, &own, f->first[i]));
    }
    int64_t best = x.given ? 0 : best_run(x.run, f->report->R, x.item.mass);
    VH_TRY(vh_h3m_subset(ctx, f->first[i], &best, 1, &one));
    x.item.prior = f->prior;
    if (f->prior)
        VH_TRY(vh_baum_welch(ctx, &x.item, one, &own, &run));
    VH_TRY(vh_fit_prior_gather(ctx, &x.item, one, &own, f->scatters.frames + at,
                               f->scatters.seen ? f->scatters.seen + at * (size_t)one->d : NULL,
                               f->scatters.scatter + at * vh_scatter_size(one->family, one->d)));
    f->coords[i] = vh_take(x.xs);
    return VHEM_OK;
}

/* Serializes the scatters; first fits stay on their process and are repeated where missing. */
static void walk_look(vhem_ctx *ctx, void *arg, int64_t k, vh_serial *w)
{
    fit *f = arg;
    size_t n = (size_t)(f->opt.S * f->opt.M), at = vh_row(k, f->opt.S * f->opt.M), d = (size_t)f->out->d;
    size_t one = vh_scatter_size(f->out->family, f->out->d);
    vh_serial_reals(ctx, w, f->scatters.frames + at, n);
    if (f->scatters.seen)
        vh_serial_reals(ctx, w, f->scatters.seen + at * d, n * d);
    vh_serial_reals(ctx, w, f->scatters.scatter + at * one, n * one);
}

/* Runs look_at_item for all items of the sample. */
static vhem_status look_at_sample(vhem_ctx *ctx, fit *f)
{
    const vh_work work = { .n = f->n_sample,
                           .what = "prior",
                           .inside = true,
                           .logs = true,
                           .run = look_at_item,
                           .walk = walk_look,
                           .arg = f };
    int64_t failed = -1;
    vhem_status st = vh_map(ctx, &work, &failed);
    if (failed >= 0)
        vh_h3m_prefix(ctx, f->out, f->sample[failed]);
    return st;
}

/* Chooses the items to learn the prior from, and allocates their scatters. */
static vhem_status choose_sample(vhem_ctx *ctx, fit *f)
{
    size_t one = (size_t)(f->opt.S * f->opt.M) * vh_scatter_size(f->out->family, f->out->d);
    int most = one * VH_PRIOR_SETS <= VH_PRIOR_ROOM ? VH_PRIOR_SETS : (int)(VH_PRIOR_ROOM / one);

    most = most < VH_PRIOR_LEAST ? VH_PRIOR_LEAST : most;
    f->n_sample = f->sets.n < most ? f->sets.n : most;
    f->scatters.n = f->n_sample * f->opt.S * f->opt.M;
    VH_NEW(f->sample, f->n_sample);
    VH_NEW(f->first, f->sets.n);
    VH_NEW(f->coords, f->sets.n);
    VH_NEW(f->scatters.frames, f->scatters.n);
    if (f->family->seen == VH_SEEN_COLUMNS)
        VH_NEW(f->scatters.seen, vh_cells(f->scatters.n, f->out->d));
    VH_NEW(f->scatters.scatter, (size_t)f->scatters.n * vh_scatter_size(f->out->family, f->out->d));
    for (int64_t k = 0; k < f->n_sample; k++)
        f->sample[k] = f->sets.n * k / f->n_sample;
    return VHEM_OK;
}

/* Finds the columns that never vary, and their values. */
static vhem_status find_still(vhem_ctx *ctx, fit *f)
{
    int d = f->data->d, n = 0;
    VH_AUTOFREE double *deviation = NULL;

    VH_NEW(f->still, d);
    VH_NEW(f->still_at, d);
    for (int k = 0; k < d; k++)
        n += f->still[k] = f->scale.spread[k] == 0;
    if (n == 0)
        return VHEM_OK;
    VH_NEW(deviation, d);
    vh_spread(f->data, NULL, f->data->N, f->still_at, deviation);
    return VHEM_OK;
}

/* Constant columns are the same in all states of all HMMs. */
static vhem_status set_still(vhem_ctx *ctx, fit *f, bool given)
{
    bool any = false;
    for (int k = 0; k < f->data->d; k++)
        any = any || f->still[k];
    return any ? vh_prior_set_still(ctx, f->still, f->still_at, given, f->prior) : VHEM_OK;
}

/* Broad states take frames from each other, so the first scale is too large where states are far apart: it is
 * re-estimated from fits with the first prior, and then fixed. */
static vhem_status learn_prior(vhem_ctx *ctx, fit *f)
{
    int d = f->data->d;
    const double *sd = f->scale.spread;
    VH_AUTOFREE double *mean = NULL;
    double *variance, rho = 0;

    VH_TRY(choose_sample(ctx, f));
    VH_NEW(mean, 3 * (size_t)d);
    variance = mean + d;
    vh_spread(f->data, NULL, f->data->N, mean, variance + d);
    for (int k = 0; k < d; k++)
        variance[k] = vh_prior_digits(sd[k] * sd[k], sd[k] * sd[k]);
    f->choice.within = f->scale.within;
    f->choice.least = f->opt.cov_floor > 0 ? f->opt.cov_floor : 1e-13;
    if (f->choice.effective)
        rho = vh_fit_prior_correlation(f->data, &f->sets, f->still, f->sample, f->n_sample);
    for (int round = 0; round < VH_PRIOR_ROUNDS; round++) {
        VH_TRY(look_at_sample(ctx, f));
        free(f->choice.text);
        f->choice.text = NULL;
        VH_TRY(vh_prior_learn(ctx, &f->choice, f->out->family, d, mean, variance, rho, &f->scatters,
                              &f->choice.text));
        vh_prior_free(f->prior);
        f->prior = NULL;
        VH_TRY(vh_fit_prior_given(ctx, &f->choice, d, f->opt.emission, &f->prior));
        VH_TRY(set_still(ctx, f, false));
    }
    return VHEM_OK;
}

/* For families other than Gaussians: each component gets pseudo-frames from the one component for all the
 * data, and pi, A and c get pseudo-counts.  If that is a conjugate prior, fits use variational Bayes. */
static vhem_status set_made_up_frames(vhem_ctx *ctx, fit *f)
{
    VH_CLEANUP(vh_frames_prior_free) vh_frames_prior p = { f->choice.nu0, f->choice.count, NULL };
    bool given = f->choice.text != NULL;
    char why[256];

    VH_CHECK(!f->choice.estimate, VHEM_EINVAL,
             "a prior is estimated (eb) for Gaussian emissions alone; for %s it is " VH_OPT(
                 "prior=vb") ", none or a file",
             f->family->name);
    VH_CHECK(!f->choice.gaussian, VHEM_EINVAL,
             "prior: %s is a setting for Gaussians alone; for %s models there are nu0 and count",
             f->choice.gaussian, f->family->name);
    if (f->choice.text) {
        VH_TRY(vh_frames_prior_read(ctx, f->choice.text, &p));
        VH_CHECK(p.model->d == f->data->d, VHEM_EINVAL, "the prior has dimension %d, but the data has %d",
                 p.model->d, f->data->d);
        VH_CHECK(strcmp(p.model->family->name, f->family->name) == 0, VHEM_EINVAL,
                 "the prior is for %s models, not for %s", p.model->family->name, f->family->name);
        VH_CHECK(!*vh_layout_differs(&f->out->shape, &p.model->shape, why, sizeof why), VHEM_EINVAL,
                 "the data does not suit the prior: %s", why);
    } else {
        VH_TRY(vh_family_pooled(ctx, f->family, f->data, f->scale.floor, &p.model));
        VH_TRY(vh_frames_prior_text(ctx, &p, &f->choice.text));
    }
    f->choice.nu0 = p.frames;
    f->choice.count = p.count;
    if (vh_prior_exists(p.model->family, &p.model->shape)) {
        VH_TRY(vh_prior_from_frames(ctx, &p, &f->prior));
        VH_TRY(set_still(ctx, f, given));
    } else {
        f->pooled = p.model;
        p.model = NULL;
    }
    return vh_h3m_set_text(ctx, &f->out->prior, f->choice.text);
}

static vhem_status set_prior(vhem_ctx *ctx, fit *f)
{
    bool broad = f->choice.broad;
    int d = f->data->d;

    if (f->choice.none)
        return VHEM_OK;
    if (f->choice.text && !f->data->unnamed)
        VH_TRY(vh_prior_check_columns(ctx, f->choice.text, (const char *const *)f->data->column, d));
    VH_TRY(find_still(ctx, f));
    if (!vh_prior_normal(f->family))
        return set_made_up_frames(ctx, f);
    if (f->choice.text) {
        VH_TRY(vh_fit_prior_given(ctx, &f->choice, d, f->opt.emission, &f->prior));
        VH_TRY(set_still(ctx, f, true));
        vh_fit_prior_scale(f->prior, f->opt.cov_floor, &f->scale);
        broad = f->prior->broad;
    } else {
        vh_fit_prior_step(d, f->opt.cov_floor, &f->scale); /* rounded as if read from the prior */
    }
    VH_NEW(f->broad, d);
    for (int k = 0; k < d; k++) {
        const double sd = broad ? f->scale.spread[k] : f->scale.within[k];
        f->broad[k] = (broad ? VH_BROAD : fmax(f->opt.cov_floor, 1e-6)) * (sd > 0 ? sd * sd : 1);
    }
    if (!f->choice.text)
        VH_TRY(learn_prior(ctx, f));
    return vh_h3m_set_text(ctx, &f->out->prior, f->choice.text);
}

/* Such an HMM has states that no frame can be in: most likely the sequences are wrong.  When several numbers
 * of states are tried, none that large will be chosen. */
static void warn_of_few_frames(vhem_ctx *ctx, const fit *f)
{
    int64_t few = 0, K = f->opt.S_max > 0 ? 0 : f->sets.n;
    for (int64_t i = 0; i < K; i++)
        few += vh_sets_frames(&f->sets, f->data, i, NULL) < f->opt.S;
    if (few > 0)
        vh_log(ctx, VHEM_LOG_WARN, "%lld of %lld %s%s %s fewer frames than the %d states%s", (long long)few,
               (long long)K, f->opt.by_group ? "group" : "sequence", K == 1 ? "" : "s",
               few == 1 ? "has" : "have", f->opt.S,
               f->opt.by_group ? "" : "; did you mean " VH_OPT("group") "?");
}

static vhem_status prepare_fit(vhem_ctx *ctx, const vhem_fit_options *opt, fit *f)
{
    const vh_shape shape = vh_fit_shape(f->data);
    int64_t K;
    int R;

    VH_TRY(vh_fit_resolve(ctx, f->data, opt, &f->opt));
    VH_TRY(vh_prior_choose(ctx, f->opt.prior, f->opt.start != NULL, &f->choice));
    VH_TRY(vh_sets_new(ctx, f->data, f->opt.by_group, &f->sets));
    K = f->sets.n;
    if (f->opt.start) {
        const vh_h3m *start = vh_fit_start(&f->opt);
        VH_TRY(check_start(ctx, f->data, start, K));
        f->opt.S = start->hmm[0].S;
        f->opt.M = start->hmm[0].M;
        f->opt.emission = start->family->name;
        f->opt.restarts = 1; /* all would be the same */
    }
    R = f->opt.restarts > 0 ? f->opt.restarts : VH_FIT_RESTARTS;
    VH_TRY(vh_family_for(ctx, vh_fit_family(f->data, &f->opt), &shape, f->data, NULL, 0, &f->family));
    warn_of_few_frames(ctx, f);
    VH_TRY(vh_fit_scale_of(ctx, f->data, &f->sets, f->opt.S * f->opt.M, f->opt.cov_floor, &f->scale));
    VH_TRY(vh_h3m_new(ctx, vh_fit_family(f->data, &f->opt), shape, K, &f->out));
    VH_TRY(vh_lengths_of(ctx, f->data, &f->out->lengths));
    VH_TRY(vh_lengths_of_sets(ctx, f->data, &f->sets, &f->out->lengths));
    VH_TRY(vh_fit_report_new(ctx, K, R, &f->report));
    VH_NEW(f->begun, K);
    for (int64_t i = 0; i < K; i++) {
        VH_TRY(vh_h3m_shape(ctx, f->out, i, f->opt.S, f->opt.M));
        VH_TRY(name_model(ctx, f, i, &f->out->hmm[i]));
    }
    return VHEM_OK;
}

/* After a stop: keeps only the models that were begun, in their order, with equal weights. */
static void keep_begun(fit *f)
{
    int64_t n = 0;
    vh_h3m *h = f->out;
    vhem_fit_report *r = f->report;
    for (int64_t i = 0; i < h->K; i++) {
        if (!f->begun[i])
            continue;
        vh_hmm swap = h->hmm[n];
        h->hmm[n] = h->hmm[i];
        h->hmm[i] = swap;
        r->best[n] = r->best[i];
        r->frames[n] = r->frames[i];
        memmove(r->run + vh_row(n, r->R), r->run + vh_row(i, r->R), sizeof *r->run * (size_t)r->R);
        n++;
    }
    vh_h3m_truncate(h, n);
    r->K = n;
}

static void tear_down(fit *f)
{
    for (int64_t i = 0; f->first && i < f->sets.n; i++)
        vh_h3m_free(f->first[i]);
    for (int64_t i = 0; f->coords && i < f->sets.n; i++)
        free(f->coords[i]);
    free(f->coords);
    vh_h3m_free(f->out);
    vh_h3m_free(f->pooled);
    vh_object_free(f->report);
    vh_workers_free(&f->workers);
    vh_sets_free(&f->sets);
    vh_prior_choice_free(&f->choice);
    vh_prior_free(f->prior);
    free(f->first);
    free(f->sample);
    free(f->scatters.frames);
    free(f->scatters.seen);
    free(f->scatters.scatter);
    free(f->broad);
    free(f->still);
    free(f->still_at);
    vh_fit_scale_free(&f->scale);
    free(f->begun);
}

vhem_status vh_fit_prior_text(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, char **out)
{
    VH_BLAS_SERIAL;
    VH_CLEANUP(tear_down) fit f = { .data = data };

    VH_TRY(prepare_fit(ctx, opt, &f));
    VH_TRY(vh_workers_new(ctx, ctx->threads, &f.workers));
    vhem_status st = set_prior(ctx, &f);
    if (st == VHEM_ESTOPPED)
        vh_fail(ctx, st, "stopped while the prior was being learnt");
    VH_TRY(st);
    *out = f.choice.text;
    f.choice.text = NULL;
    return VHEM_OK;
}

vhem_status vh_fit_each(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, vh_h3m **out,
                        vhem_fit_report **report)
{
    return vh_fit_each_stored(ctx, data, opt, NULL, out, report);
}

vhem_status vh_fit_each_stored(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt,
                               const vh_fitted *fitted, vh_h3m **out, vhem_fit_report **report)
{
    VH_BLAS_SERIAL;
    VH_CLEANUP(tear_down) fit f = { .data = data, .fitted = fitted };

    VH_TRY(prepare_fit(ctx, opt, &f));
    VH_TRY(vh_workers_new(ctx, ctx->threads, &f.workers));
    vhem_status st = set_prior(ctx, &f);
    VH_CHECK(st != VHEM_ESTOPPED, st, /* first fits are broad and have no prior: not what was requested */
             "stopped while the prior was being learnt, before any of %lld HMMs was fitted",
             (long long)f.sets.n);
    if (st == VHEM_OK)
        st = fit_items(ctx, &f);
    if (st != VHEM_OK && st != VHEM_ESTOPPED)
        return st;
    if (st == VHEM_ESTOPPED) {
        keep_begun(&f);
        vh_fail(ctx, VHEM_ESTOPPED, "stopped; %lld of %lld HMMs were fitted", (long long)f.out->K,
                (long long)f.sets.n);
        if (f.out->K == 0)
            return st;
    }
    vh_h3m_settle_family(f.out);
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

/* ---- what a fit reports -------------------------------------------------------------------------------- */

static void clear_report(void *record)
{
    vhem_fit_report *report = record;
    free(report->best);
    free(report->frames);
    free(report->run);
}

vhem_status vh_fit_report_new(vhem_ctx *ctx, int64_t K, int R, vhem_fit_report **out)
{
    VH_OWN(vhem_fit_report) *report = NULL;

    VH_NEW_OBJECT(report, clear_report);
    report->K = K;
    report->R = R;
    VH_NEW(report->best, K);
    VH_NEW(report->frames, K);
    VH_NEW(report->run, vh_cells(K, R));
    *out = vh_take(report);
    return VHEM_OK;
}

/* ---- the key of a fit ---------------------------------------------------------------------------------- */

/* Hashes symbols and background by content. */
static void hash_layout(vh_hash *hash, const vh_layout *layout)
{
    const vh_background *b = layout->background;
    for (int c = 0; c < layout->n_channel; c++)
        for (int v = 0; v < layout->channel[c].shape.V; v++)
            vh_hash_text(hash, layout->channel[c].symbol[v]);
    if (b) {
        size_t size = sizeof *b->mu * (size_t)b->G * (size_t)b->d;
        vh_hash_bytes(hash, b->mu, size);
        vh_hash_bytes(hash, b->cov, size);
    }
}

void vh_hash_columns(vh_hash *hash, const vhem_data *data)
{
    vh_hash_number(hash, data->d);
    if (data->layout)
        hash_layout(hash, data->layout);
}

void vh_hash_sequences(vh_hash *hash, const vhem_data *data, const int64_t *seq, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t T = vh_data_length(data, seq[i]);
        vh_hash_text(hash, data->name ? data->name[seq[i]] : "");
        vh_hash_number(hash, vh_data_weight(data, seq[i]));
        vh_hash_number(hash, (double)T);
        vh_hash_bytes(hash, vh_data_frames(data, seq[i]), (size_t)(T * data->d) * sizeof *data->y);
    }
}

/* Without a prior, hashes are the same as in versions before there were priors. */
static bool is_no_prior(const vh_option *row, const vhem_fit_options *opt)
{
    return strcmp(row->shown.name, "prior") == 0 && strcmp(opt->prior, "none") == 0;
}

void vh_fit_options_hash(vh_hash *hash, const vhem_fit_options *opt)
{
    const char *path;
    vhem_fit_options o = *opt;
    const vh_emission *of_file = o.emission ? vh_emission_of_file(o.emission, &path) : NULL;
    if (of_file) /* hash the contents of the file, not its path: see hash_layout */
        o.emission = of_file->name;
    for (const vh_option *row = vh_options(VHEM_FIT_OPTIONS); row->shown.name; row++)
        if (vh_option_in_files(row, &o) && !is_no_prior(row, &o))
            vh_options_hash(hash, row, &o);
}
