/* SPDX-License-Identifier: BSD-3-Clause */
/* pieces.c - see pieces.h. */
#include "models/pieces.h"

#include "core/alloc.h"
#include "parallel/map.h"
#include "fit/fit.h"
#include "models/models.h"
#include "fit/options.h"
#include "math/blas.h"
#include "os/system.h"

#include <string.h>

/* ---- keys ---------------------------------------------------------------------------------------------- */

void vh_hash_items(vh_hash *hash, const vhem_data *data, const vh_sets *t, const int64_t *item, int64_t n)
{
    vh_hash_columns(hash, data);
    for (int64_t k = 0; k < n; k++) {
        const int64_t *seq = t->seq + t->first[item[k]], n_seq = t->first[item[k] + 1] - t->first[item[k]];
        vh_hash_sequences(hash, data, seq, n_seq);
        vh_data_release(data, seq, n_seq);
    }
}

static vhem_status piece_key(vhem_ctx *ctx, const vh_piecework *w, vh_piece *p)
{
    VH_OWN(vh_hash) *hash = NULL;

    VH_TRY(vh_hash_new(ctx, &hash));
    vh_hash_text(hash, "piece " VH_PIECE_RECIPE);
    vh_hash_bytes(hash, &w->seed, sizeof w->seed);
    vh_fit_options_hash(hash, w->opt);
    vh_hash_items(hash, w->data, w->items, p->item, p->n);
    vh_hash_key(hash, &p->key);
    return VHEM_OK;
}

vhem_fit_options vh_piece_options(const vhem_fit_options *asked)
{
    vhem_fit_options o = vh_fit_filled(asked);
    o.K = o.K > 0 ? o.K : 1;
    o.by_group = 0;
    o.pieces = 0;
    o.store = NULL;
    if (!vh_fit_wants_textures(&o)) /* options of textures do not affect HMMs */
        o.model = o.learn = o.noise = NULL;
    return o;
}

vhem_status vh_pieces_add(vhem_ctx *ctx, const vh_piecework *w, const int64_t *item, int64_t n,
                          vh_pieces *all, const vh_piece **out)
{
    VH_AUTOFREE int64_t *own = NULL;
    vh_piece p = { .n = n };
    int64_t index;
    bool is_new;

    VH_NEW(own, n);
    p.item = own;
    memcpy(own, item, (size_t)n * sizeof *item);
    VH_TRY(piece_key(ctx, w, &p));
    VH_TRY(vh_names_put(ctx, &all->keys, p.key.text, strlen(p.key.text), &index, &is_new));
    if (is_new) {
        VH_TRY(vh_grow(ctx, &all->piece, &all->cap, (size_t)all->n + 1, sizeof *all->piece));
        all->piece[all->n++] = p;
        own = NULL;
    }
    *out = &all->piece[index];
    return VHEM_OK;
}

void vh_pieces_free(vh_pieces *all)
{
    for (int64_t p = 0; p < all->n; p++)
        free(all->piece[p].item);
    free(all->piece);
    vh_names_free(&all->keys);
    *all = (vh_pieces){ 0 };
}

/* ---- fitting ------------------------------------------------------------------------------------------- */

/* Fits one model to all data, as a single group. */
static vhem_status fit_one(vhem_ctx *ctx, vhem_data *data, const vhem_fit_options *opt, vhem_models **out)
{
    vhem_fit_options o = *opt;

    if (!data->group)
        VH_NEW(data->group, data->N);
    for (int64_t s = 0; s < data->N; s++) {
        free(data->group[s]);
        VH_DUP(data->group[s], "piece");
    }
    o.by_group = 1;
    o.K = 0;
    return vh_fit(ctx, data, &o, out, NULL);
}

static vhem_status fit_and_store(vhem_ctx *ctx, const vh_piecework *w, const vh_piece *p, vh_store *store)
{
    VH_OWN(vhem_data) *own = NULL;
    VH_OWN(vhem_models) *models = NULL;

    VH_TRY(vh_sets_data(ctx, w->data, w->items, p->item, p->n, &own));
    vhem_fit_options o = *w->opt;
    o.K = o.K < own->N ? o.K : own->N;
    o.by_group = 0; /* fragments of a song may differ in kind */
    VH_TRY(o.K == 1 ? fit_one(ctx, own, &o, &models) : vh_fit(ctx, own, &o, &models, NULL));
    return vh_store_put(ctx, store, &p->key, models);
}

typedef struct { /* shared by all items */
    const vh_piecework *work;
    const vh_pieces *all;
    const int64_t *todo; /* [items]  indices of pieces */
    vh_store *store;
    atomic_llong done; /* frames fitted since memory was last trimmed */
} fits;

enum { TIDY = 1 << 21 }; /* numbers fitted between trims */

static vhem_status fit_piece(vhem_ctx *ctx, void *arg, int64_t k, int worker)
{
    fits *f = arg;
    const vh_piecework *w = f->work;
    const vh_piece *p = &f->all->piece[f->todo[k]];
    long long frames = 0;
    (void)worker;
    ctx->opt.seed = (int64_t)w->seed;
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t s = w->items->first[p->item[i]]; s < w->items->first[p->item[i] + 1]; s++)
            frames += vh_data_length(w->data, w->items->seq[s]);
    vhem_status st = fit_and_store(ctx, w, p, f->store);
    if ((atomic_fetch_add(&f->done, frames) + frames) * w->data->d > TIDY) {
        atomic_store(&f->done, 0);
        vh_memory_trim();
    }
    return st;
}

vhem_status vh_pieces_fit(vhem_ctx *ctx, const vh_piecework *w, const vh_pieces *all, vh_store *store)
{
    VH_BLAS_SERIAL;
    VH_AUTOFREE int64_t *todo = NULL;
    int64_t n = 0, failed = -1;
    char who[128];

    VH_NEW(todo, all->n);
    for (int64_t p = 0; p < all->n; p++) {
        bool has;
        VH_TRY(vh_store_has(ctx, store, &all->piece[p].key, &has));
        if (!has)
            todo[n++] = p;
    }
    fits f = { .work = w, .all = all, .todo = todo, .store = store };
    const vh_work work = { .n = n, .what = "pieces", .inside = true, .run = fit_piece, .arg = &f };
    vhem_status st = vh_map(ctx, &work, &failed);
    const char *name = failed >= 0 ? w->items->name[all->piece[todo[failed]].item[0]] : "";
    if (*name) {
        snprintf(who, sizeof who, "'%.100s'", name);
        vh_error_prefix(ctx, who);
    }
    if (st == VHEM_ESTOPPED)
        vh_fail(ctx, st, "stopped; some of %lld pieces are not fitted yet", (long long)n);
    return st;
}
