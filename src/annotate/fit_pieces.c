/* SPDX-License-Identifier: BSD-3-Clause */
/* fit_pieces.c - an H3M for each sequence or group of sequences, pooled: what hierarchical estimation
 * reduces. */
#include "annotate/pieces.h"
#include "annotate/train.h"
#include "core/alloc.h"
#include "estimate/lengths.h"
#include "model/convert.h"

#include <stdio.h>
#include <string.h>

/* Everybody is in one class: all are wanted. */
static vhem_status everybody(vhem_ctx *ctx, int n, vhem_tags **out)
{
    vhem_status st = VHEM_OK;
    vhem_tags *m = NULL;

    VH_NEW(m, 1);
    VH_NEW(m->tag, 1);
    m->C = 1;
    VH_DUP(m->tag[0], "all");
    VH_NEW(m->has, n);
    m->n = n;
    memset(m->has, 1, (size_t)n);
    *out = m;
    m = NULL;
done:
    vhem_free(m);
    return st;
}

/* HMM j of the model of a thing takes its name and label along. */
static vhem_status name_hmm(vhem_ctx *ctx, const vh_things *t, int thing, int j, bool single, vh_hmm *h)
{
    vhem_status st = VHEM_OK;
    char name[256];

    snprintf(name, sizeof name, single ? "%.200s" : "%.200s/%d", t->name[thing], j);
    if (t->name[thing][0])
        VH_TRY(vh_h3m_set_text(ctx, &h->name, name));
    if (t->label[thing] && t->label[thing][0])
        VH_TRY(vh_h3m_set_text(ctx, &h->label, t->label[thing]));
done:
    return st;
}

static vhem_status pool(vhem_ctx *ctx, const vh_things *t, const vh_pieces *pieces, vh_store *store,
                        vh_h3m **out)
{
    vhem_status st = VHEM_OK;
    vh_h3m **each = NULL, *all = NULL;
    const vh_h3m **of = NULL;
    double *share = NULL;
    int K = 0;

    VH_NEW(each, pieces->n);
    VH_NEW(of, t->n);
    VH_NEW(share, t->n);
    for (int p = 0; p < pieces->n; p++) {
        VH_TRY(vh_store_get(ctx, store, &pieces->piece[p].key, &each[p]));
        VH_CHECK(each[p], VHEM_EIO, "the model of '%.100s' cannot be read back from the store: run again",
                 t->name[pieces->piece[p].thing[0]]);
    }
    for (int i = 0; i < t->n; i++) {
        of[i] = each[pieces->of[i]];
        share[i] = 1.0 / t->n;
    }
    VH_TRY(vh_h3m_pool(ctx, of, share, t->n, &all));
    for (int i = 0; i < t->n; i++)
        for (int j = 0; j < of[i]->K; j++, K++)
            VH_TRY(name_hmm(ctx, t, i, j, of[i]->K == 1, &all->hmm[K]));
    *out = all;
    all = NULL;
done:
    for (int p = 0; each && p < pieces->n; p++)
        vh_h3m_free(each[p]);
    free(each);
    free(of);
    free(share);
    vh_h3m_free(all);
    return st;
}

vhem_status vh_fit_pieces(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, const char *path,
                          vh_h3m **out)
{
    vhem_status st = VHEM_OK;
    vhem_train_options train;
    vhem_classes *one = NULL;
    vhem_tags *members = NULL;
    vh_things things = { 0 };
    vh_pieces pieces = { 0 };
    vh_store *store = NULL;
    vh_h3m *pooled = NULL;

    vhem_train_options_init(&train);
    if (opt)
        train.piece = *opt;
    train.piece.K = train.piece.K > 0 ? train.piece.K : 1;
    VH_TRY(vh_train_check(ctx, &train));
    VH_TRY(vh_classes_new(ctx, &train, &one));
    VH_TRY(vh_things_new(ctx, data, train.piece.by_group, &things));
    VH_TRY(everybody(ctx, things.n, &members));
    VH_TRY(vh_store_open(ctx, path, &store));
    one->opt.by_group = train.piece.by_group;
    VH_TRY(vh_pieces_prior(ctx, data, store, one));
    VH_TRY(vh_pieces_cut(ctx, data, &things, members, one, &pieces));
    VH_TRY(vh_pieces_fit(ctx, data, &things, one, &pieces, store));
    VH_TRY(pool(ctx, &things, &pieces, store, &pooled));
    VH_TRY(vh_lengths_of(ctx, data, &pooled->lengths));
    if (strcmp(one->opt.piece.prior, "none") != 0)
        VH_TRY(vh_h3m_set_text(ctx, &pooled->prior, one->opt.piece.prior));
    st = vh_store_close(ctx, store);
    store = NULL;
    VH_TRY(st);
    *out = pooled;
    pooled = NULL;
done:
    vh_h3m_free(pooled);
    vh_store_free(store);
    vh_pieces_free(&pieces);
    vhem_free(members);
    vh_things_free(&things);
    vhem_classes_free(one);
    return st;
}
