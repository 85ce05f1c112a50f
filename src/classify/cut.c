/* SPDX-License-Identifier: BSD-3-Clause */
/* cut.c - see cut.h. */
#include "classify/cut.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "core/rng.h"
#include "vhem/classes.h"

#include <string.h>

/* Gives a piece to a class.  Equal pieces within a run count separately; the same ones in a later run are
 * assumed to be the same data. */
static vhem_status give(vhem_ctx *ctx, vhem_classes *k, const char *class_name, const vh_piece *p)
{
    vh_class *c;
    vh_class_part *part;

    VH_TRY(vh_classes_put(ctx, k, class_name, &c));
    VH_TRY(vh_class_put(ctx, c, &p->key, &part));
    part->given += p->n;
    if (part->given > part->items) {                                          /* the model is out of date */
        c->items += k->opt.all.bootstrap > 0 ? 0 : part->given - part->items; /* subsamples share items */
        part->items = part->given;
        vh_object_free(c->model);
        c->model = NULL;
    }
    return VHEM_OK;
}

/* Makes each item a piece of all its classes. */
static vhem_status cut_each(vhem_ctx *ctx, const vh_piecework *w, const vhem_tags *m, vhem_classes *k,
                            vh_pieces *all)
{
    for (int64_t i = 0; i < w->items->n; i++) {
        const unsigned char *has = m->has + vh_row(i, m->C);
        const vh_piece *p = NULL;
        for (int c = 0; c < m->C; c++) {
            if (has[c] && !p)
                VH_TRY(vh_pieces_add(ctx, w, &i, 1, all, &p));
            if (has[c])
                VH_TRY(give(ctx, k, m->tag[c], p));
        }
    }
    return VHEM_OK;
}

/* Draws b of the n items in own without replacement, in ascending order. */
static void draw_sample(vh_rng *rng, const int64_t *own, int64_t n, int64_t b, int64_t *out)
{
    for (int64_t i = 0, k = 0; k < b; i++) /* select with probability (still needed) / (remaining) */
        if (vh_rng_below(rng, n - i) < b - k)
            out[k++] = own[i];
}

/* Draws the subsamples of one class, which depend only on the seed and the name of the class. */
static vhem_status cut_samples(vhem_ctx *ctx, const vh_piecework *w, const char *name, const int64_t *own,
                               int64_t n, vhem_classes *k, vh_pieces *all)
{
    int64_t b = k->opt.all.sample < n ? k->opt.all.sample : n;
    VH_AUTOFREE int64_t *some = NULL;
    const vh_piece *p;
    vh_class *c;

    VH_NEW(some, b);
    for (int i = 0; i < k->opt.all.bootstrap; i++) {
        vh_rng rng;
        vh_rng_init(&rng, k->seed ^ vh_hash_name(name), VH_RNG_CLASS, (uint64_t)i);
        draw_sample(&rng, own, n, b, some);
        VH_TRY(vh_pieces_add(ctx, w, some, b, all, &p));
        VH_TRY(give(ctx, k, name, p));
    }
    VH_TRY(vh_classes_put(ctx, k, name, &c));
    c->items = n;
    return VHEM_OK;
}

static vhem_status cut_classes(vhem_ctx *ctx, const vh_piecework *w, const vhem_tags *m, vhem_classes *k,
                               vh_pieces *all)
{
    VH_AUTOFREE int64_t *own = NULL;
    int chunk = k->opt.all.chunk;
    const vh_piece *p;

    VH_NEW(own, w->items->n);
    for (int c = 0; c < m->C; c++) {
        int64_t n = 0;
        for (int64_t i = 0; i < w->items->n; i++)
            if (m->has[vh_ij(i, m->C, c)])
                own[n++] = i;
        if (k->opt.all.bootstrap > 0 && n > 0)
            VH_TRY(cut_samples(ctx, w, m->tag[c], own, n, k, all));
        for (int64_t i = 0; k->opt.all.bootstrap == 0 && i < n; i += chunk) {
            VH_TRY(vh_pieces_add(ctx, w, own + i, n - i < chunk ? n - i : chunk, all, &p));
            VH_TRY(give(ctx, k, m->tag[c], p));
        }
    }
    return VHEM_OK;
}

vhem_status vh_classes_cut(vhem_ctx *ctx, const vh_piecework *w, const vhem_tags *m, vhem_classes *k,
                           vh_pieces *out)
{
    bool each = k->opt.all.chunk == 1 && k->opt.all.bootstrap == 0;
    return (each ? cut_each : cut_classes)(ctx, w, m, k, out);
}
