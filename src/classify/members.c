/* SPDX-License-Identifier: BSD-3-Clause */
/* members.c - see members.h. */
#include "classify/members.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "core/object.h"
#include "core/names.h"
#include "fit/sets.h"
#include "vhem/classes.h"
#include "core/text.h"

#include <string.h>

/* ---- class membership ---------------------------------------------------------------------------------- */

void vh_tags_clear(void *record)
{
    vhem_tags *tags = record;
    for (int64_t i = 0; tags->item && i < tags->n; i++)
        free(tags->item[i]);
    for (int c = 0; tags->tag && c < tags->C; c++)
        free(tags->tag[c]);
    free(tags->item);
    free(tags->tag);
    free(tags->has);
}

static vhem_status members_empty(vhem_ctx *ctx, const vh_sets *t, int C, vhem_tags **out)
{
    VH_OWN(vhem_tags) *m = NULL;

    VH_NEW_OBJECT(m, vh_tags_clear);
    VH_NEW(m->item, t->n);
    VH_NEW(m->tag, C);
    VH_NEW(m->has, vh_cells(t->n, C));
    m->n = t->n;
    m->C = C;
    for (int64_t i = 0; i < t->n; i++)
        VH_DUP(m->item[i], t->name[i]);
    *out = vh_take(m);
    return VHEM_OK;
}

static int by_version(const void *a, const void *b)
{
    return vh_compare_versions(*(char *const *)a, *(char *const *)b); /* "2" before "10" */
}

static vhem_status members_from_labels(vhem_ctx *ctx, const vh_sets *t, vhem_tags **out)
{
    VH_CLEANUP(vh_names_free) vh_names names = { 0 };
    VH_OWN(vhem_tags) *m = NULL;
    int64_t index, none = 0;
    bool is_new;

    for (int64_t i = 0; i < t->n; i++) {
        VH_CHECK(t->label[i], VHEM_EINVAL,
                 "the sequences of group '%.100s' have different labels, must have "
                 "one",
                 t->name[i]);
        if (t->label[i][0])
            VH_TRY(vh_names_put(ctx, &names, t->label[i], strlen(t->label[i]), &index, &is_new));
        none += !t->label[i][0];
    }
    VH_CHECK(names.n > 0, VHEM_EINVAL, "the data has no labels: name the column with the classes");
    if (none > 0)
        vh_log(ctx, VHEM_LOG_WARN, "%lld of %lld have no label and are left out", (long long)none,
               (long long)t->n);
    VH_TRY(members_empty(ctx, t, (int)names.n, &m));
    for (int64_t c = 0; c < names.n; c++)
        VH_DUP(m->tag[c], names.text[c]);
    qsort(m->tag, (size_t)m->C, sizeof *m->tag, by_version);
    for (int64_t i = 0; i < t->n; i++) {
        char *const *found =
            t->label[i][0] ? bsearch(&t->label[i], m->tag, (size_t)m->C, sizeof *m->tag, by_version) : NULL;
        if (found)
            m->has[vh_ij(i, m->C, found - m->tag)] = 1;
    }
    *out = vh_take(m);
    return VHEM_OK;
}

static vhem_status members_from_tags(vhem_ctx *ctx, const vh_sets *t, const vhem_tags *tags, vhem_tags **out)
{
    VH_CLEANUP(vh_names_free) vh_names names = { 0 };
    VH_OWN(vhem_tags) *m = NULL;
    int64_t index, found = 0;
    bool is_new;

    for (int64_t i = 0; i < tags->n; i++) {
        VH_TRY(vh_names_put(ctx, &names, tags->item[i], strlen(tags->item[i]), &index, &is_new));
        VH_CHECK(is_new, VHEM_EINVAL, "'%.100s' appears twice in the tags, in rows %lld and %lld",
                 tags->item[i], (long long)index, (long long)i);
    }
    VH_TRY(members_empty(ctx, t, tags->C, &m));
    for (int c = 0; c < tags->C; c++)
        VH_DUP(m->tag[c], tags->tag[c]);
    for (int64_t i = 0; i < t->n; i++) {
        index = vh_names_find(&names, t->name[i], strlen(t->name[i]));
        if (index < 0)
            continue;
        memcpy(m->has + vh_row(i, m->C), tags->has + vh_row(index, m->C), (size_t)m->C);
        found++;
    }
    VH_CHECK(found > 0, VHEM_EINVAL,
             "none of the names of the tags is in the data: the tags begin with "
             "'%.100s', the data with '%.100s'",
             tags->n > 0 ? tags->item[0] : "", t->n > 0 ? t->name[0] : "");
    if (found < t->n)
        vh_log(ctx, VHEM_LOG_WARN, "%lld of %lld names in the data have no tags and are left out",
               (long long)(t->n - found), (long long)t->n);
    if (found < tags->n)
        vh_log(ctx, VHEM_LOG_WARN, "%lld of %lld names with tags have no sequences and are left out",
               (long long)tags->n - found, (long long)tags->n);
    *out = vh_take(m);
    return VHEM_OK;
}

/* Drops classes with too few items. */
static vhem_status drop_small(vhem_ctx *ctx, int min_items, vhem_tags *m)
{
    int kept = 0, C = m->C;
    VH_AUTOFREE int *count = NULL;

    VH_NEW(count, C);
    for (int64_t i = 0; i < m->n; i++)
        for (int c = 0; c < C; c++)
            count[c] += m->has[vh_ij(i, C, c)];
    int least = min_items > 1 ? min_items : 1;
    for (int c = 0; c < C; c++)
        kept += count[c] >= least;
    VH_CHECK(kept > 0, VHEM_EINVAL, "none of %d classes has %d example%s", C, least, least == 1 ? "" : "s");
    for (int64_t i = 0; i < m->n; i++) /* compacts rows in place: reading stays ahead of writing */
        for (int c = 0, k = 0; c < C; c++)
            if (count[c] >= least)
                m->has[vh_ij(i, kept, k++)] = m->has[vh_ij(i, C, c)];
    for (int c = 0, k = 0; c < C; c++) {
        char *tag = m->tag[c];
        m->tag[c] = NULL;
        if (count[c] >= least)
            m->tag[k++] = tag;
        else
            free(tag);
    }
    m->C = kept;
    return VHEM_OK;
}

vhem_status vh_members_new(vhem_ctx *ctx, const vh_sets *t, const vhem_tags *tags, int min_items,
                           vhem_tags **out)
{
    VH_OWN(vhem_tags) *m = NULL;

    VH_TRY(tags ? members_from_tags(ctx, t, tags, &m) : members_from_labels(ctx, t, &m));
    VH_TRY(drop_small(ctx, min_items, m));
    *out = vh_take(m);
    return VHEM_OK;
}
