/* SPDX-License-Identifier: BSD-3-Clause */
/* fit.c - vhem_fit: fits models of either kind, per item or as mixtures, optionally resuming from a store.
 *
 * With pieces, each item gets its own mixture, the input of hierarchical estimation. */
#include "models/models.h"

#include "core/alloc.h"
#include "core/options.h"
#include "parallel/ranks.h"
#include "dtm/fit.h"
#include "fit/frames.h"
#include "fit/lengths.h"
#include "fit/options.h"
#include "models/pieces.h"
#include "fit/fit_prior.h"
#include "files/prior_columns.h"
#include "files/prior_json.h"
#include "vhem.h"

#include <stdio.h>
#include <string.h>

/* True if the number of states is to be selected. */
static bool chooses(const vhem_fit_options *opt)
{
    return opt && (opt->S == VHEM_AUTO || opt->S_max > 0);
}

vhem_status vh_fit(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, vhem_models **out,
                   vhem_fit_report **report)
{
    vhem_status st, wrapped = VHEM_OK;
    vh_h3m *h3m = NULL;
    vh_dtm *dtm = NULL;
    vhem_models *models = NULL;
    bool mixture = opt && opt->K > 0;

    if (opt && vh_fit_wants_textures(opt))
        st = vh_dtm_fit(ctx, data, opt, &dtm, report);
    else
        st = (mixture        ? vh_fit_mixture
              : chooses(opt) ? vh_fit_states
                             : vh_fit_each)(ctx, data, opt, &h3m, report);
    if (h3m)
        wrapped = vh_models_take_hmms(ctx, h3m, &models);
    else if (dtm)
        wrapped = vh_models_take_textures(ctx, dtm, &models);
    if (models)
        *out = models;
    return wrapped == VHEM_OK ? st : wrapped;
}

/* ---- pieces -------------------------------------------------------------------------------------------- */

/* Gives model j the name and label of its item. */
static vhem_status name_model(vhem_ctx *ctx, const vh_sets *t, int64_t item, int64_t j, bool single,
                              const vhem_models *all, int64_t at)
{
    char name[256];

    snprintf(name, sizeof name, single ? "%.200s" : "%.200s/%lld", t->name[item], (long long)j);
    if (t->name[item][0])
        VH_TRY(vh_h3m_set_text(ctx, vh_models_name(all, at), name));
    if (t->label[item] && t->label[item][0])
        VH_TRY(vh_h3m_set_text(ctx, vh_models_label(all, at), t->label[item]));
    return VHEM_OK;
}

/* Pools the models of all items; key [items] finds each in the store. */
static vhem_status pool_items(vhem_ctx *ctx, const vh_sets *t, const vh_key *key, vh_store *store,
                              vhem_models **out)
{
    VH_OWN(vhem_models) *all = NULL;
    VH_AUTOFREE double *share = NULL;
    VH_CLEANUP(vh_stored_free) vhem_models **each = NULL;
    int64_t K = 0;

    VH_NEW(each, t->n + 1);
    VH_NEW(share, t->n);
    for (int64_t i = 0; i < t->n; i++) {
        VH_TRY(vh_store_get(ctx, store, &key[i], &each[i]));
        VH_CHECK(each[i], VHEM_EIO, "the model of '%.100s' cannot be read back from the store: run again",
                 t->name[i]);
        share[i] = 1.0 / t->n;
    }
    VH_TRY(vh_models_pool(ctx, (const vhem_models *const *)each, share, t->n, &all));
    for (int64_t i = 0; i < t->n; i++)
        for (int64_t j = 0; j < vh_models_size(each[i]); j++, K++)
            VH_TRY(name_model(ctx, t, i, j, vh_models_size(each[i]) == 1, all, K));
    *out = vh_take(all);
    return VHEM_OK;
}

static vhem_status fit_pieces(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt,
                              vhem_models **out)
{
    vhem_status st = VHEM_OK;
    vhem_fit_options of_piece = vh_piece_options(opt);
    VH_CLEANUP(vh_sets_free) vh_sets items = { 0 };
    VH_CLEANUP(vh_pieces_free) vh_pieces pieces = { 0 };
    VH_OWN(vh_store) *store = NULL;
    VH_OWN(vhem_models) *pooled = NULL;
    VH_AUTOFREE vh_key *key = NULL;
    VH_AUTOFREE char *prior = NULL;
    VH_AUTOFREE int64_t *all = NULL; /* [items] */
    const vh_piece *p;

    VH_CHECK(!opt->start && !opt->fixed_pi && !opt->fixed_A, VHEM_EINVAL,
             "the models of pieces take no given start and no fixed entries");
    VH_TRY(vh_sets_new(ctx, data, opt->by_group > 0, &items));
    const vh_piecework work = { data, &items, &of_piece, (uint64_t)ctx->opt.seed, opt->by_group > 0 };
    VH_NEW(key, items.n);
    VH_NEW(all, items.n);
    for (int64_t i = 0; i < items.n; i++)
        all[i] = i;
    VH_TRY(vh_store_open(ctx, opt->store, &store));
    VH_TRY(vh_pieces_prior(ctx, &work, all, items.n, store, &prior));
    of_piece.prior = prior;
    for (int64_t i = 0; i < items.n; i++) {
        VH_TRY(vh_pieces_add(ctx, &work, &all[i], 1, &pieces, &p));
        key[i] = p->key;
    }
    VH_TRY(vh_pieces_fit(ctx, &work, &pieces, store));
    VH_TRY(pool_items(ctx, &items, key, store, &pooled));
    if (pooled->h3m)
        VH_TRY(vh_lengths_of(ctx, data, &pooled->h3m->lengths));
    if (prior && strcmp(prior, "none") != 0)
        VH_TRY(vh_h3m_set_text(ctx, &pooled->h3m->prior, prior));
    st = vh_store_close(ctx, store);
    store = NULL;
    VH_TRY(st);
    *out = vh_take(pooled);
    return VHEM_OK;
}

/* Fits one model per item with a store, which also keeps their common prior. */
static vhem_status fit_stored(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt,
                              vhem_models **out, vhem_fit_report **report)
{
    vhem_fit_options o = *opt, of_piece = vh_piece_options(opt);
    VH_CLEANUP(vh_sets_free) vh_sets items = { 0 };
    VH_OWN(vh_store) *store = NULL;
    vh_h3m *h3m = NULL;
    vh_dtm *dtm = NULL;
    VH_AUTOFREE char *prior = NULL;
    VH_AUTOFREE int64_t *all = NULL; /* [items] */

    VH_CHECK(!opt->start && !opt->fixed_pi && !opt->fixed_A, VHEM_EINVAL,
             "with a store there is no given start and no fixed entries");
    VH_TRY(vh_sets_new(ctx, data, opt->by_group > 0, &items));
    const vh_piecework work = { data, &items, &of_piece, (uint64_t)ctx->opt.seed, opt->by_group > 0 };
    VH_NEW(all, items.n);
    for (int64_t i = 0; i < items.n; i++)
        all[i] = i;
    VH_TRY(vh_store_open(ctx, opt->store, &store));
    VH_TRY(vh_pieces_prior(ctx, &work, all, items.n, store, &prior));
    o.prior = prior;
    const vh_fitted fitted = { store, vh_store_get, vh_store_put };
    vhem_status st = vh_fit_wants_textures(&o) ? vh_dtm_fit_stored(ctx, data, &o, &fitted, &dtm, report)
                                               : vh_fit_each_stored(ctx, data, &o, &fitted, &h3m, report);
    vhem_status wrapped = h3m   ? vh_models_take_hmms(ctx, h3m, out)
                          : dtm ? vh_models_take_textures(ctx, dtm, out)
                                : VHEM_OK;
    if (st == VHEM_OK)
        st = vh_store_close(ctx, vh_take(store));
    return wrapped == VHEM_OK ? st : wrapped;
}

/* Reads the prior given before the fit, and its pseudo-frames if it has that form.  A file is read once,
 * here: opt->prior is its text afterwards. */
static vhem_status read_prior(vhem_ctx *ctx, vhem_fit_options *opt, vh_prior_choice *choice,
                              vh_frames_prior *frames)
{
    VH_TRY(vh_prior_choose(ctx, opt->prior, opt->start != NULL, choice));
    if (!choice->text)
        return VHEM_OK;
    opt->prior = choice->text;
    return vh_frames_prior_is(ctx, choice->text) ? vh_frames_prior_read(ctx, choice->text, frames) : VHEM_OK;
}

/* Names the columns of the models and of their prior. */
static vhem_status name_columns(vhem_ctx *ctx, const vhem_data *data, vh_h3m *h3m)
{
    VH_TRY(vh_frames_name(ctx, data, h3m));
    const vh_layout *layout = h3m->shape.layout;
    if (h3m->prior && layout && layout->column)
        VH_TRY(vh_prior_add_columns(ctx, (const char *const *)layout->column, h3m->d, &h3m->prior));
    return VHEM_OK;
}

/* Options that exclude each other. */
static vhem_status check_together(vhem_ctx *ctx, const vhem_fit_options *o)
{
    VH_CHECK(o->pieces <= 0 || o->K > 0, VHEM_EINVAL, "pieces need K, the number of models of each");
    VH_CHECK(!o->store || o->K <= 0 || o->pieces > 0, VHEM_EINVAL,
             "a store keeps the models of items, and a mixture for all of the data is not one of them");
    VH_CHECK(!o->store || vh_ranks(ctx) == 1, VHEM_EINVAL,
             "a store is written by one process, and there are %d: fit without a store, or with one process",
             vh_ranks(ctx));
    VH_CHECK(!chooses(o) || (o->K <= 0 && !o->store && !vh_fit_wants_textures(o)), VHEM_EINVAL,
             "the number of states can be chosen for one HMM per sequence or group, not for %s",
             o->store   ? "a store"
             : o->K > 0 ? "a mixture"
                        : "dynamic textures");
    return VHEM_OK;
}

static vhem_status fit_data(vhem_ctx *ctx, const vhem_data *data, vhem_fit_options *o, vhem_models **out,
                            vhem_fit_report **report)
{
    VH_CLEANUP(vh_prior_choice_free) vh_prior_choice choice = { 0 };
    VH_CLEANUP(vh_frames_prior_free) vh_frames_prior made_up = { 0 };
    VH_CLEANUP(vh_frames_free) vh_frames frames = { 0 };
    VH_OWN(vhem_fit_report) *made = NULL;
    VH_OWN(vhem_models) *models = NULL;

    VH_TRY(vh_options_check(ctx, VHEM_FIT_OPTIONS, o));
    VH_TRY(vh_models_gather(ctx, o->start));
    VH_TRY(vh_ranks_call(ctx, "fit", VHEM_FIT_OPTIONS, o, vh_ranks(ctx) > 1 ? vh_data_fingerprint(data) : 0));
    VH_TRY(check_together(ctx, o));
    frames.data = data;
    if (!vh_fit_wants_textures(o)) {
        VH_TRY(read_prior(ctx, o, &choice, &made_up));
        const vh_layout *layout = made_up.model ? made_up.model->shape.layout : NULL;
        VH_TRY(vh_frames_to_fit(ctx, data, o->emission, vh_fit_start(o), layout, &frames));
    }
    VH_TRY(vh_fit_require_values(ctx, frames.data));
    bool pieces = o->pieces > 0;
    if (pieces && report)
        VH_TRY(vh_fit_report_new(ctx, 0, 0, &made));
    vhem_status st = VHEM_OK;
    if (pieces)
        VH_TRY(fit_pieces(ctx, frames.data, o, &models));
    else
        st = (o->store ? fit_stored : vh_fit)(ctx, frames.data, o, &models, report ? &made : NULL);
    if (st != VHEM_OK && st != VHEM_ESTOPPED)
        return st;
    if (models && models->h3m)
        VH_TRY(name_columns(ctx, data, models->h3m));
    if (models)
        *out = vh_take(models);
    if (made)
        *report = vh_take(made);
    return st;
}

vhem_status vhem_fit(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, vhem_models **out,
                     vhem_fit_report **report)
{
    VH_ENTER(data, out);
    VH_OWN(vhem_models) *models = NULL;
    VH_OWN(vhem_fit_report) *made = NULL;
    vhem_fit_options o;

    VH_TRY(vh_options_take(ctx, VHEM_FIT_OPTIONS, opt, &o));
    vhem_status st = vh_ranks_end(ctx, fit_data(ctx, data, &o, &models, report ? &made : NULL));
    if (st != VHEM_OK && st != VHEM_ESTOPPED)
        return st;
    if (models)
        *out = vh_take(models);
    if (made)
        *report = vh_take(made);
    return st;
}
