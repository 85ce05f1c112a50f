/* SPDX-License-Identifier: BSD-3-Clause */
/* items.c - vhem_source_items: the items of a source, models or sets of sequences. */

#include "core/alloc.h"
#include "core/object.h"
#include "fit/sets.h"
#include "models/models.h"
#include "vhem.h"

static void clear_items(void *record)
{
    vhem_items *items = record;
    for (int64_t i = 0; i < items->n; i++) {
        if (items->name)
            free(items->name[i]);
        if (items->label)
            free(items->label[i]);
    }
    free(items->name);
    free(items->label);
    free(items->sequences);
    free(items->item);
}

static vhem_status room(vhem_ctx *ctx, int64_t n, vhem_items **out)
{
    VH_OWN(vhem_items) *items = NULL;

    VH_NEW_OBJECT(items, clear_items);
    items->n = n;
    VH_NEW(items->name, n);
    VH_NEW(items->label, n);
    VH_NEW(items->sequences, n);
    *out = vh_take(items);
    return VHEM_OK;
}

static vhem_status set_texts(vhem_ctx *ctx, vhem_items *items, int64_t i, const char *name, const char *label)
{
    VH_DUP(items->name[i], name ? name : "");
    VH_DUP(items->label[i], label ? label : "");
    return VHEM_OK;
}

static vhem_status items_of_data(vhem_ctx *ctx, const vhem_data *data, bool by_group, vhem_items **out)
{
    VH_CLEANUP(vh_sets_free) vh_sets found = { 0 };
    VH_OWN(vhem_items) *items = NULL;

    VH_TRY(vh_sets_new(ctx, data, by_group, &found));
    VH_TRY(room(ctx, found.n, &items));
    VH_NEW(items->item, data->N);
    for (int64_t g = 0; g < found.n; g++) {
        VH_TRY(set_texts(ctx, items, g, found.name[g], found.label[g]));
        items->sequences[g] = found.first[g + 1] - found.first[g];
        for (int64_t k = found.first[g]; k < found.first[g + 1]; k++)
            items->item[found.seq[k]] = g;
    }
    *out = vh_take(items);
    return VHEM_OK;
}

vhem_status vhem_source_items(vhem_ctx *ctx, const vhem_source *source, vhem_items **out)
{
    VH_ENTER(source, out);
    VH_OWN(vhem_items) *items = NULL;

    VH_CHECK(!source->models != !source->data, VHEM_EINVAL,
             "a source has models or sequences, this one has %s", source->models ? "both" : "neither");
    if (source->data)
        return items_of_data(ctx, source->data, source->by_group > 0, out);
    VH_TRY(vh_models_gather(ctx, source->models));
    VH_TRY(room(ctx, vh_models_size(source->models), &items));
    for (int64_t i = 0; i < items->n; i++)
        VH_TRY(set_texts(ctx, items, i, *vh_models_name(source->models, i),
                         *vh_models_label(source->models, i)));
    *out = vh_take(items);
    return VHEM_OK;
}
