/* SPDX-License-Identifier: BSD-3-Clause */
/* piece_prior.c - the prior of all pieces: learnt once, kept in the store and in the file of the classes. */
#include "annotate/pieces.h"
#include "annotate/settings.h"
#include "core/alloc.h"
#include "core/hash.h"
#include "estimate/fit_prior.h"

#include <string.h>

static vhem_status own(vhem_ctx *ctx, vhem_classes *k, const char *text)
{
    k->opt.piece.prior = text;
    return vh_settings_own(ctx, vh_fit_settings, &k->names, &k->opt.piece);
}

static vhem_status key_of(vhem_ctx *ctx, const vhem_classes *k, vh_key *out)
{
    vhem_status st = VHEM_OK;
    vh_hash *hash = NULL;

    VH_TRY(vh_hash_new(ctx, &hash));
    vh_hash_text(hash, "prior " VHEM_VERSION);
    vh_hash_bytes(hash, &k->seed, sizeof k->seed);
    vh_hash_number(hash, k->opt.by_group);
    vh_settings_hash(hash, vh_fit_settings, &k->opt.piece);
    vh_hash_key(hash, out);
done:
    vh_hash_free(hash);
    return st;
}

/* A store holds models: the prior is kept with the one that it expects, before any frame. */
static vhem_status put(vhem_ctx *ctx, vh_store *store, const vh_key *key, const char *text)
{
    vhem_status st = VHEM_OK;
    vh_h3m *h3m = NULL;
    vh_prior *p = NULL;

    VH_TRY(vh_prior_read(ctx, text, &p));
    VH_TRY(vh_h3m_new(ctx, p->family, p->d, 1, &h3m));
    VH_TRY(vh_h3m_shape(ctx, h3m, 0, 1, 1));
    h3m->hmm[0].pi[0] = h3m->hmm[0].A[0] = vh_hmm_c(&h3m->hmm[0])[0] = 1;
    memcpy(vh_hmm_param(h3m, &h3m->hmm[0], 0), p->m, sizeof *p->m * (size_t)p->d);
    for (size_t e = 0; e < vh_prior_size(p); e++)
        vh_hmm_param(h3m, &h3m->hmm[0], 1)[e] = p->B[e] / p->nu;
    VH_TRY(vh_h3m_set_text(ctx, &h3m->prior, text));
    VH_TRY(vh_store_put(ctx, store, key, h3m));
done:
    vh_h3m_free(h3m);
    vh_prior_free(p);
    return st;
}

vhem_status vh_pieces_prior(vhem_ctx *ctx, const vhem_data *data, vh_store *store, vhem_classes *k)
{
    vhem_status st = VHEM_OK;
    vhem_fit_options opt = k->opt.piece;
    vh_prior_choice choice = { 0 };
    vh_h3m *kept = NULL;
    vh_key key;
    char *text = NULL;
    uint64_t seed = ctx->opt.seed;

    VH_TRY(vh_prior_choose(ctx, opt.prior, false, &choice));
    if (choice.none || choice.text) {
        VH_TRY(own(ctx, k, choice.none ? "none" : choice.text));
        goto done;
    }
    VH_TRY(key_of(ctx, k, &key));
    VH_TRY(vh_store_get(ctx, store, &key, &kept));
    if (!kept || !kept->prior) {
        opt.by_group = k->opt.by_group;
        ctx->opt.seed = k->seed;
        VH_TRY(vh_fit_prior_text(ctx, data, &opt, &text));
        VH_TRY(put(ctx, store, &key, text));
    }
    VH_TRY(own(ctx, k, text ? text : kept->prior));
done:
    ctx->opt.seed = seed;
    vh_prior_choice_free(&choice);
    vh_h3m_free(kept);
    free(text);
    return st;
}
