/* SPDX-License-Identifier: BSD-3-Clause */
/* pieces.c - see pieces.h. */
#include "annotate/pieces.h"

#include "annotate/settings.h"
#include "core/alloc.h"
#include "core/jobs.h"
#include "core/rng.h"
#include "math/linalg.h"

#include <string.h>

/* ---- cutting ------------------------------------------------------------------------------------------- */

void vh_hash_things(vh_hash *hash, const vhem_data *data, const vh_things *t, const int *thing, int n)
{
    vh_hash_number(hash, data->d);
    for (int k = 0; k < n; k++) {
        int first = t->first[thing[k]], end = t->first[thing[k] + 1];
        for (int i = first; i < end; i++) {
            int s = t->seq[i];
            int64_t T = vh_data_length(data, s);
            vh_hash_text(hash, data->name ? data->name[s] : "");
            vh_hash_number(hash, vh_data_weight(data, s));
            vh_hash_number(hash, (double)T);
            vh_hash_bytes(hash, vh_data_frames(data, s), (size_t)(T * data->d) * sizeof *data->y);
        }
        vh_data_release(data, t->seq + first, end - first);
    }
}

static vhem_status key_of(vhem_ctx *ctx, const vhem_data *data, const vh_things *t, const vhem_classes *k,
                          vh_piece *p)
{
    vhem_status st = VHEM_OK;
    vh_hash *hash = NULL;

    VH_TRY(vh_hash_new(ctx, &hash));
    vh_hash_text(hash, "piece " VHEM_VERSION);
    vh_hash_bytes(hash, &k->seed, sizeof k->seed);
    vh_settings_hash(hash, vh_fit_settings, &k->opt.piece);
    vh_hash_things(hash, data, t, p->thing, p->n);
    vh_hash_key(hash, &p->key);
done:
    vh_hash_free(hash);
    return st;
}

/* A new piece of n things; it is *out, or the one with the same key that is there already: of equal sequences
 * without a name one is fitted. */
static vhem_status add_piece(vhem_ctx *ctx, const vhem_data *data, const vh_things *t, const vhem_classes *k,
                             const int *thing, int n, vh_pieces *all, const vh_piece **out)
{
    vhem_status st = VHEM_OK;
    vh_piece p = { .n = n };
    int index;
    bool is_new;

    VH_NEW(p.thing, n);
    memcpy(p.thing, thing, (size_t)n * sizeof *thing);
    VH_TRY(key_of(ctx, data, t, k, &p));
    VH_TRY(vh_names_put(ctx, &all->keys, p.key.text, strlen(p.key.text), &index, &is_new));
    if (is_new) {
        VH_TRY(vh_grow(ctx, &all->piece, &all->cap, (size_t)all->n + 1, sizeof *all->piece));
        all->piece[all->n++] = p;
        p.thing = NULL;
    }
    *out = &all->piece[index];
done:
    free(p.thing);
    return st;
}

/* The class has this piece.  Equal pieces count as often as one run has them; another run that has them again
 * is taken to be the same data. */
static vhem_status give(vhem_ctx *ctx, vhem_classes *k, const char *class_name, const vh_piece *p)
{
    vhem_status st = VHEM_OK;
    vh_class *c;
    vh_part *part;

    VH_TRY(vh_classes_put(ctx, k, class_name, &c));
    VH_TRY(vh_class_put(ctx, c, &p->key, &part));
    part->given += p->n;
    if (part->given > part->things) { /* what there was is no longer true */
        c->things += k->opt.bootstrap > 0 ? 0 : part->given - part->things; /* subsamples share things */
        part->things = part->given;
        vh_h3m_free(c->model);
        c->model = NULL;
    }
done:
    return st;
}

/* Every thing is a piece, for all of its classes. */
static vhem_status cut_each(vhem_ctx *ctx, const vhem_data *data, const vh_things *t, const vhem_tags *m,
                            vhem_classes *k, vh_pieces *all)
{
    vhem_status st = VHEM_OK;

    VH_NEW(all->of, t->n);
    for (int i = 0; i < t->n; i++) {
        const unsigned char *has = m->has + (size_t)i * (size_t)m->C;
        const vh_piece *p = NULL;
        for (int c = 0; c < m->C; c++) {
            if (has[c] && !p)
                VH_TRY(add_piece(ctx, data, t, k, &i, 1, all, &p));
            if (has[c])
                VH_TRY(give(ctx, k, m->tag[c], p));
        }
        all->of[i] = p ? (int)(p - all->piece) : -1;
    }
done:
    return st;
}

/* b of the n things in own, each at most once, ascending. */
static void draw(vh_rng *rng, const int *own, int n, int b, int *out)
{
    for (int i = 0, k = 0; k < b; i++) /* each is taken with (still wanted) / (still there) */
        if (vh_rng_below(rng, n - i) < b - k)
            out[k++] = own[i];
}

/* Subsamples of one class; which things they have follows from the seed and the name of the class. */
static vhem_status cut_samples(vhem_ctx *ctx, const vhem_data *data, const vh_things *t, const char *name,
                               const int *own, int n, vhem_classes *k, vh_pieces *all)
{
    vhem_status st = VHEM_OK;
    int b = k->opt.sample < n ? k->opt.sample : n, *some = NULL;
    const vh_piece *p;
    vh_class *c;

    VH_NEW(some, b);
    for (int i = 0; i < k->opt.bootstrap; i++) {
        vh_rng rng;
        vh_rng_init(&rng, k->seed ^ vh_hash_name(name), VH_RNG_CLASS, (uint64_t)i);
        draw(&rng, own, n, b, some);
        VH_TRY(add_piece(ctx, data, t, k, some, b, all, &p));
        VH_TRY(give(ctx, k, name, p));
    }
    VH_TRY(vh_classes_put(ctx, k, name, &c));
    c->things = n;
done:
    free(some);
    return st;
}

static vhem_status cut_classes(vhem_ctx *ctx, const vhem_data *data, const vh_things *t, const vhem_tags *m,
                               vhem_classes *k, vh_pieces *all)
{
    vhem_status st = VHEM_OK;
    int *own = NULL, chunk = k->opt.chunk;
    const vh_piece *p;

    VH_NEW(own, t->n);
    for (int c = 0; c < m->C; c++) {
        int n = 0;
        for (int i = 0; i < t->n; i++)
            if (m->has[(size_t)i * (size_t)m->C + (size_t)c])
                own[n++] = i;
        if (k->opt.bootstrap > 0 && n > 0)
            VH_TRY(cut_samples(ctx, data, t, m->tag[c], own, n, k, all));
        for (int i = 0; k->opt.bootstrap == 0 && i < n; i += chunk) {
            VH_TRY(add_piece(ctx, data, t, k, own + i, n - i < chunk ? n - i : chunk, all, &p));
            VH_TRY(give(ctx, k, m->tag[c], p));
        }
    }
done:
    free(own);
    return st;
}

vhem_status vh_pieces_cut(vhem_ctx *ctx, const vhem_data *data, const vh_things *t, const vhem_tags *m,
                          vhem_classes *k, vh_pieces *out)
{
    bool each = k->opt.chunk == 1 && k->opt.bootstrap == 0;
    return (each ? cut_each : cut_classes)(ctx, data, t, m, k, out);
}

void vh_pieces_free(vh_pieces *all)
{
    for (int p = 0; p < all->n; p++)
        free(all->piece[p].thing);
    free(all->piece);
    free(all->of);
    vh_names_free(&all->keys);
    *all = (vh_pieces){ 0 };
}

/* ---- fitting ------------------------------------------------------------------------------------------- */

/* One HMM for the whole of the data, as if it were one group. */
static vhem_status fit_one(vhem_ctx *ctx, vhem_data *data, const vhem_fit_options *opt, vh_h3m **out)
{
    vhem_status st = VHEM_OK;
    vhem_fit_options o = *opt;

    if (!data->group)
        VH_NEW(data->group, data->N);
    for (int s = 0; s < data->N; s++) {
        free(data->group[s]);
        VH_DUP(data->group[s], "piece");
    }
    o.by_group = 1;
    st = vh_fit_each(ctx, data, &o, out, NULL);
done:
    return st;
}

static vhem_status fit_piece(vhem_ctx *ctx, const vhem_data *data, const vh_things *t,
                             const vhem_fit_options *opt, const vh_piece *p, vh_store *store)
{
    vhem_status st = VHEM_OK;
    vhem_data *own = NULL;
    vh_h3m *h3m = NULL;

    VH_TRY(vh_things_data(ctx, data, t, p->thing, p->n, &own));
    vhem_fit_options o = *opt;
    o.K = o.K < own->N ? o.K : own->N;
    o.by_group = 0; /* fragments of a song may be of different kinds */
    VH_TRY(o.K == 1 ? fit_one(ctx, own, &o, &h3m) : vh_fit_mixture(ctx, own, &o, &h3m, NULL));
    VH_TRY(vh_store_put(ctx, store, &p->key, h3m));
done:
    vhem_data_free(own);
    vh_h3m_free(h3m);
    return st;
}

typedef struct { /* what all jobs share */
    const vhem_data *data;
    const vh_things *things;
    const vhem_classes *classes;
    const vh_pieces *all;
    const int *todo; /* [jobs]  which pieces */
    vh_store *store;
    atomic_llong done; /* frames fitted since memory was tidied up */
} fits;

enum { TIDY = 1 << 21 }; /* numbers of frames after which it is */

static vhem_status fit_job(vhem_ctx *ctx, void *arg, int k, int worker)
{
    fits *f = arg;
    const vh_piece *p = &f->all->piece[f->todo[k]];
    long long frames = 0;
    (void)worker;
    ctx->opt.seed = f->classes->seed;
    for (int i = 0; i < p->n; i++)
        for (int s = f->things->first[p->thing[i]]; s < f->things->first[p->thing[i] + 1]; s++)
            frames += vh_data_length(f->data, f->things->seq[s]);
    vhem_status st = fit_piece(ctx, f->data, f->things, &f->classes->opt.piece, p, f->store);
    if ((atomic_fetch_add(&f->done, frames) + frames) * f->data->d > TIDY) {
        atomic_store(&f->done, 0);
        vh_alloc_trim();
    }
    return st;
}

vhem_status vh_pieces_fit(vhem_ctx *ctx, const vhem_data *data, const vh_things *t,
                          const vhem_classes *classes, const vh_pieces *all, vh_store *store)
{
    vhem_status st = VHEM_OK;
    int n = 0, failed = -1, *todo = NULL;
    char who[128];

    vh_blas_enter();
    VH_NEW(todo, all->n);
    for (int p = 0; p < all->n; p++) {
        bool has;
        VH_TRY(vh_store_has(ctx, store, &all->piece[p].key, &has));
        if (!has)
            todo[n++] = p;
    }
    fits f = { .data = data, .things = t, .classes = classes, .all = all, .todo = todo, .store = store };
    const vh_jobs jobs = { .n = n, .what = "pieces", .inside = true, .run = fit_job, .arg = &f };
    st = vh_run_jobs(ctx, &jobs, &failed);
    const char *name = failed >= 0 ? t->name[all->piece[todo[failed]].thing[0]] : "";
    if (*name) {
        snprintf(who, sizeof who, "'%.100s'", name);
        vh_error_prefix(ctx, who);
    }
    if (st == VHEM_ESTOPPED)
        vh_fail(ctx, st, "stopped; some of %d pieces are not fitted yet", n);
done:
    vh_blas_leave();
    free(todo);
    return st;
}
