/* SPDX-License-Identifier: BSD-3-Clause */
/* piece_prior.c - the prior shared by all pieces: learnt once, kept in the store and in the file of the
 * classes. */
#include "core/alloc.h"
#include "fit/fit.h"
#include "fit/fit_prior.h"
#include "fit/options.h"
#include "models/pieces.h"
#include "files/prior_json.h"

#include <string.h>

/* Hashes everything the prior depends on, including the sequences: a store may serve several data sets. */
static vhem_status prior_key(vhem_ctx *ctx, const vh_piecework *w, const int64_t *item, int64_t n,
                             vh_key *out)
{
    VH_OWN(vh_hash) *hash = NULL;

    VH_TRY(vh_hash_new(ctx, &hash));
    vh_hash_text(hash, "prior " VH_PIECE_RECIPE);
    vh_hash_bytes(hash, &w->seed, sizeof w->seed);
    vh_hash_number(hash, w->by_group);
    vh_fit_options_hash(hash, w->opt);
    vh_hash_items(hash, w->data, w->items, item, n);
    vh_hash_key(hash, out);
    return VHEM_OK;
}

/* The model that a conjugate prior expects a priori. */
static vhem_status expected_model(vhem_ctx *ctx, const char *text, vh_h3m **out)
{
    VH_OWN(vh_h3m) *h3m = NULL;
    VH_OWN(vh_prior) *p = NULL;

    VH_TRY(vh_prior_read(ctx, text, &p));
    VH_TRY(vh_h3m_new(ctx, p->family, (vh_shape){ .d = p->d }, 1, &h3m));
    VH_TRY(vh_h3m_shape(ctx, h3m, 0, 1, 1));
    h3m->hmm[0].pi[0] = h3m->hmm[0].A[0] = vh_hmm_c(&h3m->hmm[0])[0] = 1;
    memcpy(vh_hmm_param(h3m, &h3m->hmm[0], 0), p->m, sizeof *p->m * (size_t)p->d);
    for (size_t e = 0; e < vh_prior_size(p); e++)
        vh_hmm_param(h3m, &h3m->hmm[0], 1)[e] = p->B[e] / p->nu;
    *out = vh_take(h3m);
    return VHEM_OK;
}

/* A store holds models, so the prior is stored with its expected model. */
static vhem_status put_prior(vhem_ctx *ctx, vh_store *store, const vh_key *key, const char *text)
{
    VH_CLEANUP(vh_frames_prior_free) vh_frames_prior frames = { 0 };
    VH_OWN(vh_h3m) *h3m = NULL;

    if (vh_frames_prior_is(ctx, text)) {
        VH_TRY(vh_frames_prior_read(ctx, text, &frames));
        h3m = frames.model;
        frames.model = NULL;
    } else {
        VH_TRY(expected_model(ctx, text, &h3m));
    }
    VH_TRY(vh_h3m_set_text(ctx, &h3m->prior, text));
    const vhem_models kept = vh_models_of_hmms(h3m);
    return vh_store_put(ctx, store, key, &kept);
}

/* Restores the text of a stored prior: the store replaced its line ends, and keys that hash the text must not
 * depend on that. */
static vhem_status text_of_store(vhem_ctx *ctx, const char *kept, char **out)
{
    VH_CLEANUP(vh_frames_prior_free) vh_frames_prior frames = { 0 };

    if (vh_frames_prior_is(ctx, kept)) {
        VH_TRY(vh_frames_prior_read(ctx, kept, &frames));
        VH_TRY(vh_frames_prior_text(ctx, &frames, out));
    } else {
        VH_DUP(*out, kept);
    }
    return VHEM_OK;
}

/* Learns the prior from the data and stores it. */
static vhem_status learn_prior(vhem_ctx *ctx, const vh_piecework *w, const vhem_data *data, const vh_key *key,
                               vh_store *store, char **text)
{
    vhem_fit_options opt = *w->opt;

    opt.by_group = w->by_group;
    VH_TRY(vh_fit_prior_text(ctx, data, &opt, text));
    if (*text)
        VH_TRY(put_prior(ctx, store, key, *text));
    return VHEM_OK;
}

/* Reads the prior from the store, or learns it from n of the items. */
static vhem_status find_prior(vhem_ctx *ctx, const vh_piecework *w, const int64_t *item, int64_t n,
                              vh_store *store, char **out)
{
    VH_OWN(vhem_models) *kept = NULL;
    VH_OWN(vhem_data) *own = NULL;
    VH_AUTOFREE char *text = NULL;
    int64_t before = ctx->opt.seed;
    vh_key key;

    VH_TRY(prior_key(ctx, w, item, n, &key));
    VH_TRY(vh_store_get(ctx, store, &key, &kept));
    if (kept && kept->h3m && kept->h3m->prior) {
        VH_TRY(text_of_store(ctx, kept->h3m->prior, &text));
    } else {
        if (n < w->items->n)
            VH_TRY(vh_sets_data(ctx, w->data, w->items, item, n, &own));
        ctx->opt.seed = (int64_t)w->seed;
        vhem_status st = learn_prior(ctx, w, own ? own : w->data, &key, store, &text);
        ctx->opt.seed = before;
        VH_TRY(st);
    }
    *out = vh_take(text);
    return VHEM_OK;
}

vhem_status vh_pieces_prior(vhem_ctx *ctx, const vh_piecework *w, const int64_t *item, int64_t n,
                            vh_store *store, char **out)
{
    VH_CLEANUP(vh_prior_choice_free) vh_prior_choice choice = { 0 };

    *out = NULL;
    if (vh_fit_wants_textures(w->opt))
        return VHEM_OK;
    VH_TRY(vh_prior_choose(ctx, w->opt->prior, false, &choice));
    if (choice.none || choice.text)
        VH_DUP(*out, choice.none ? "none" : choice.text);
    else
        VH_TRY(find_prior(ctx, w, item, n, store, out));
    return VHEM_OK;
}
