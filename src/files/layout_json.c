/* SPDX-License-Identifier: BSD-3-Clause */
/* layout_json.c - "columns", "symbols" and "channels" in the head of a model file; in HDF5, the same as one
 * text. */
#include "files/layout_json.h"

#include "os/stream.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "core/text.h"
#include "files/json.h"

#include <limits.h>
#include <string.h>

/* Reads a list of n texts (n < 0: any number), called `what` in messages; the caller owns the array, not the
 * texts. */
static vhem_status read_text_list(vhem_ctx *ctx, json_t *list, const char *what, int n, const char ***out,
                                  int *found)
{
    VH_AUTOFREE const char **text = NULL;
    json_t *v;
    size_t i;

    VH_CHECK(list, VHEM_EFORMAT, "%s is missing", what);
    VH_CHECK(json_is_array(list) && json_array_size(list) > 0 && json_array_size(list) < INT_MAX,
             VHEM_EFORMAT, "%s is %s, must be an array of at least one text", what,
             json_is_array(list) ? "an empty array" : vh_json_kind(list));
    *found = (int)json_array_size(list);
    VH_CHECK(n < 0 || n == *found, VHEM_EFORMAT, "%s has %d entries, must have %d", what, *found, n);
    VH_NEW(text, *found);
    json_array_foreach(list, i, v)
    {
        text[i] = json_string_value(v);
        VH_CHECK(text[i], VHEM_EFORMAT, "%s[%zu] is %s, must be text", what, i, vh_json_kind(v));
        VH_CHECK(strlen(text[i]) == json_string_length(v), VHEM_EFORMAT, "%s[%zu] has a NUL byte", what, i);
    }
    *out = vh_take(text);
    return VHEM_OK;
}

/* Reads the symbols of channel c from its object. */
static vhem_status read_symbols(vhem_ctx *ctx, json_t *object, vh_layout *layout, int c)
{
    VH_AUTOFREE const char **text = NULL;
    int n = 0;

    if (layout->channel[c].family->param[0].dim[0] != VH_PER_SYMBOL)
        return VHEM_OK;
    VH_CHECK(layout->channel[c].shape.d == 1, VHEM_EFORMAT, "%s has %d columns, must have one",
             layout->channel[c].family->name, layout->channel[c].shape.d);
    VH_TRY(read_text_list(ctx, json_object_get(object, "symbols"), "symbols", -1, &text, &n));
    return vh_layout_symbols(ctx, layout, c, text, n);
}

static vhem_status read_channel(vhem_ctx *ctx, json_t *object, vh_layout *layout, int c,
                                const char ***columns)
{
    vh_channel *channel = &layout->channel[c];
    const char *emission = "";

    VH_CHECK(json_is_object(object), VHEM_EFORMAT, "is %s, must be an object", vh_json_kind(object));
    VH_TRY(vh_json_required_text(ctx, object, "emission", &emission));
    channel->family = vh_emission_find(emission);
    VH_CHECK(channel->family && !vh_param_is_channels(&channel->family->param[0]) && !channel->family->tied,
             VHEM_EFORMAT, "emission is '%.80s', which cannot be a channel", emission);
    VH_TRY(
        read_text_list(ctx, json_object_get(object, "columns"), "columns", -1, columns, &channel->shape.d));
    return read_symbols(ctx, object, layout, c);
}

typedef struct { /* column names of n channels */
    int n;
    const char ***of; /* [n][d of the channel] */
} channel_columns;

static void free_columns(channel_columns *columns)
{
    for (int c = 0; columns->of && c < columns->n; c++)
        free(columns->of[c]);
    free(columns->of);
}

/* Reads all channels and concatenates the names of their columns. */
static vhem_status read_channels(vhem_ctx *ctx, json_t *list, vh_layout *layout)
{
    VH_CLEANUP(free_columns) channel_columns columns = { .n = layout->n_channel };
    VH_AUTOFREE const char **all = NULL;
    int d = 0;

    VH_NEW(columns.of, layout->n_channel);
    for (int c = 0; c < layout->n_channel; c++) {
        char who[32];
        snprintf(who, sizeof who, "channels[%d]", c);
        VH_TRY(vh_error_in(ctx, read_channel(ctx, json_array_get(list, (size_t)c), layout, c, &columns.of[c]),
                           who));
        d += layout->channel[c].shape.d;
    }
    VH_NEW(all, d);
    for (int c = 0, k = 0; c < layout->n_channel; k += layout->channel[c++].shape.d)
        memcpy(all + k, columns.of[c], sizeof *all * (size_t)layout->channel[c].shape.d);
    return vh_layout_columns(ctx, layout, all);
}

/* Reads the background of gaussian-tied: mu and cov [G][d]. */
static vhem_status read_background(vhem_ctx *ctx, json_t *root, vh_layout *layout)
{
    json_t *object = json_object_get(root, "background"), *list = json_object_get(object, "mu");
    int G = (int)json_array_size(list), d = layout->channel[0].shape.d;
    VH_AUTOFREE double *both = NULL;

    if (!layout->family->tied)
        return VHEM_OK;
    VH_CHECK(object, VHEM_EFORMAT, "background is missing");
    VH_CHECK(json_is_object(object), VHEM_EFORMAT, "background is %s, must be an object",
             vh_json_kind(object));
    VH_CHECK(json_is_array(list) && G > 0 && json_array_size(list) <= VH_MAX_GAUSSIANS, VHEM_EFORMAT,
             "background: mu is %s, must be an array of 1 to %d means",
             !list                 ? "missing"
             : json_is_array(list) ? "an array of another length"
                                   : vh_json_kind(list),
             VH_MAX_GAUSSIANS);
    VH_NEW(both, 2 * vh_cells(G, d));
    vh_named_array mu = { .name = "mu", .rank = 2, .dim = { { "G", G }, { "d", d } } };
    vh_named_array cov = { .name = "cov", .rank = 2, .dim = { { "G", G }, { "d", d } } };
    VH_TRY(vh_json_numbers(ctx, object, &mu, both));
    VH_TRY(vh_json_numbers(ctx, object, &cov, both + vh_cells(G, d)));
    return vh_layout_background(ctx, layout, G, both, both + vh_cells(G, d));
}

static vhem_status read_columns(vhem_ctx *ctx, json_t *root, vh_layout *layout)
{
    json_t *list = json_object_get(root, "columns");
    VH_AUTOFREE const char **text = NULL;
    int n = 0;

    if (!list || json_is_null(list))
        return VHEM_OK;
    VH_TRY(read_text_list(ctx, list, "columns", layout->channel[0].shape.d, &text, &n));
    return vh_layout_columns(ctx, layout, text);
}

static vhem_status read_layout(vhem_ctx *ctx, json_t *root, const vh_emission *family, int d, vh_layout **out)
{
    VH_OWN(vh_layout) *layout = NULL;
    bool product = vh_param_is_channels(&family->param[0]);
    json_t *channels = json_object_get(root, "channels");
    int n = product ? (int)json_array_size(channels) : 1;

    *out = NULL;
    if (!vh_emission_needs_layout(family) && !json_object_get(root, "columns"))
        return VHEM_OK;
    VH_CHECK(!product || (json_is_array(channels) && n > 0), VHEM_EFORMAT,
             "channels is %s, must be an array of at least one channel",
             json_is_array(channels) ? "an empty array"
             : channels              ? vh_json_kind(channels)
                                     : "missing");
    VH_TRY(vh_layout_new(ctx, n, &layout));
    layout->family = family;
    if (product) {
        VH_TRY(read_channels(ctx, channels, layout));
    } else {
        layout->channel[0].family = family;
        layout->channel[0].shape.d = d;
        VH_TRY(read_symbols(ctx, root, layout, 0));
        VH_TRY(read_background(ctx, root, layout));
        VH_TRY(read_columns(ctx, root, layout));
    }
    vh_layout_close(layout);
    VH_CHECK(layout->d == d, VHEM_EFORMAT, "d is %d, but the channels have %d columns", d, layout->d);
    *out = vh_take(layout);
    return VHEM_OK;
}

vhem_status vh_layout_from_json(vhem_ctx *ctx, json_t *root, const vh_emission *family, int d,
                                vh_layout **out)
{
    vhem_status st = read_layout(ctx, root, family, d, out);
    return st == VHEM_EINVAL ? VHEM_EFORMAT : st;
}

vhem_status vh_layout_from_text(vhem_ctx *ctx, const char *text, const vh_emission *family, int d,
                                vh_layout **out)
{
    VH_OWN(json_t) *root = NULL;

    VH_TRY(vh_json_object(ctx, "layout", text ? text : "{}", &root));
    return vh_layout_from_json(ctx, root, family, d, out);
}

static void print_texts(FILE *f, const char *key, char *const *text, int n)
{
    fprintf(f, "\"%s\": [", key);
    for (int i = 0; i < n; i++) {
        fputs(i ? ", " : "", f);
        vh_text_json(f, text[i]);
    }
    putc(']', f);
}

static void print_background(FILE *f, const char *lead, const vh_background *b)
{
    const int64_t n[] = { b->G, b->d };
    fprintf(f, "%s\"background\": {", lead);
    vh_json_print_array(f, "", "mu", 2, n, b->mu);
    vh_json_print_array(f, ", ", "cov", 2, n, b->cov);
    putc('}', f);
}

void vh_layout_print(FILE *f, const char *lead, const vh_layout *layout)
{
    if (!layout)
        return;
    if (!vh_param_is_channels(&layout->family->param[0])) {
        const vh_channel *c = &layout->channel[0];
        fputs(layout->column ? lead : "", f);
        if (layout->column)
            print_texts(f, "columns", layout->column, layout->d);
        fputs(c->symbol ? lead : "", f);
        if (c->symbol)
            print_texts(f, "symbols", c->symbol, c->shape.V);
        if (layout->background)
            print_background(f, lead, layout->background);
        return;
    }
    fprintf(f, "%s\"channels\": [", lead);
    for (int i = 0; i < layout->n_channel; i++) {
        const vh_channel *c = &layout->channel[i];
        fprintf(f, "%s{\"emission\": \"%s\", ", i ? ", " : "", c->family->name);
        print_texts(f, "columns", layout->column + c->column, c->shape.d);
        if (c->symbol) {
            fputs(", ", f);
            print_texts(f, "symbols", c->symbol, c->shape.V);
        }
        putc('}', f);
    }
    putc(']', f);
}

char *vh_layout_text(const vh_layout *layout)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = vh_memory_open(&text, &size);

    if (!f)
        return NULL;
    fprintf(f, "{\"d\": %d", layout->d);
    vh_layout_print(f, ", ", layout);
    putc('}', f);
    vh_memory_close(f, &text, &size); /* NULL on failure */
    return text;
}
