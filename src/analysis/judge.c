/* SPDX-License-Identifier: BSD-3-Clause */
/* judge.c - judges predictions: selects the items that count, finds the truth, and ranks. */
#include "core/alloc.h"
#include "core/array2.h"
#include "core/options.h"
#include "core/names.h"
#include "vhem/classes.h"

#include <string.h>

static int64_t find_name(const vh_names *names, const char *name)
{
    return vh_names_find(names, name, strlen(name));
}

/* Indexes n names; the first of equal names wins. */
static vhem_status number_names(vhem_ctx *ctx, int64_t n, char *const *name, vh_names *out)
{
    int64_t index;
    bool is_new;

    for (int64_t i = 0; i < n; i++)
        VH_TRY(vh_names_put(ctx, out, name[i], strlen(name[i]), &index, &is_new));
    return VHEM_OK;
}

/* truth [n][C], zeroed by the caller: from the labels of the items. */
static void truth_of_labels(const vhem_prediction *p, const vh_names *classes, unsigned char *truth)
{
    for (int64_t i = 0; i < p->n; i++) {
        int c = find_name(classes, p->label[i]);
        if (c >= 0)
            truth[i * p->C + c] = 1;
    }
}

/* The same from tags, matched by the names of items and classes. */
static vhem_status truth_of_tags(vhem_ctx *ctx, const vhem_prediction *p, const vhem_tags *tags,
                                 const vh_names *classes, unsigned char *truth)
{
    VH_CLEANUP(vh_names_free) vh_names rows = { 0 };

    VH_TRY(number_names(ctx, tags->n, tags->item, &rows));
    VH_CHECK(rows.n == tags->n, VHEM_EINVAL, "an item appears twice in the tags");
    for (int64_t i = 0; i < p->n; i++) {
        int64_t row = find_name(&rows, p->name[i]);
        for (int e = 0; row >= 0 && e < tags->C; e++) {
            int c = tags->has[(int64_t)row * tags->C + e] ? find_name(classes, tags->tag[e]) : -1;
            if (c >= 0)
                truth[i * p->C + c] = 1;
        }
    }
    return VHEM_OK;
}

/* Keeps the held-out items with a known class; *unknown counts the other held-out items. */
static void keep_known(const vhem_prediction *p, const double *score, unsigned char *truth, double *kept,
                       int64_t *n, int64_t *unknown)
{
    size_t C = (size_t)p->C;
    for (int64_t i = 0; i < p->n; i++) {
        const unsigned char *has = truth + (size_t)i * C;
        if (p->fold && p->fold[i] < 0)
            continue;
        if (!memchr(has, 1, C)) {
            ++*unknown;
            continue;
        }
        memcpy(kept + (size_t)*n * C, score + (size_t)i * C, C * sizeof *kept);
        memmove(truth + (size_t)*n * C, has, C);
        ++*n;
    }
}

vhem_status vhem_judge(vhem_ctx *ctx, const vhem_prediction *p, const vhem_tags *tags,
                       const vhem_rank_options *opt, vhem_judgement **out)
{
    VH_ENTER(p, out);
    VH_CLEANUP(vh_names_free) vh_names classes = { 0 };
    VH_AUTOFREE unsigned char *truth = NULL;
    VH_AUTOFREE double *score = NULL;
    int64_t n = 0, unknown = 0;
    vhem_rank_options o;

    VH_TRY(vh_options_take(ctx, VHEM_RANK_OPTIONS, opt, &o));
    o.top = o.top < 0 && !tags ? 1 : o.top;
    VH_NEW(truth, vh_cells(p->n, p->C));
    VH_NEW(score, vh_cells(p->n, p->C));
    VH_TRY(number_names(ctx, p->C, p->class_name, &classes));
    if (tags)
        VH_TRY(truth_of_tags(ctx, p, tags, &classes, truth));
    else
        truth_of_labels(p, &classes, truth);
    keep_known(p, p->log_posterior, truth, score, &n, &unknown);
    VH_CHECK(n > 0 || unknown > 0, VHEM_EINVAL, "nothing to judge: nothing was held out");
    VH_CHECK(n > 0, VHEM_EINVAL, "nothing to judge: no item has a %s that the models know",
             tags ? "tag" : "label");
    VH_TRY(vhem_rank(ctx, n, p->C, score, truth, &o, out));
    (*out)->unknown = unknown;
    return VHEM_OK;
}
