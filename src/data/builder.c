/* SPDX-License-Identifier: BSD-3-Clause */
/* builder.c - builds a sequence set for the readers; see data.h. */
#include "core/alloc.h"
#include "data/data.h"
#include "data/values.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    int64_t T;
    char *name, *label, *group;
    double weight;
    char *file;
    int64_t line;
} built_sequence;

struct vh_builder {
    vhem_ctx *ctx;
    int d;
    vh_spill hold;       /* the frames [n][d] */
    int64_t n, n_cut;    /* number of frames; of frames assigned to a sequence */
    built_sequence *seq; /* [N] */
    size_t N, cap_seq;
    char **column;
    vhem_symbols *symbols; /* [d] */
    char *path;
};

vhem_status vh_builder_new(vhem_ctx *ctx, int d, vh_builder **out)
{
    vh_builder *b = NULL;

    VH_CHECK(d >= 1, VHEM_EFORMAT, "a frame has %d values, needs at least one", d);
    VH_NEW(b, 1);
    b->ctx = ctx;
    b->d = d;
    *out = b;
    return VHEM_OK;
}

vhem_status vh_builder_source(vh_builder *b, const char *path)
{
    char *copy = vh_strdup(b->ctx, path);
    if (!copy)
        return VHEM_ENOMEM;
    free(b->path);
    b->hold.name = b->path = copy;
    return VHEM_OK;
}

vhem_status vh_builder_open(vhem_ctx *ctx, const char *path, const vhem_data_options *opt, int d,
                            vh_builder **out)
{
    VH_OWN(vh_builder) *b = NULL;

    VH_TRY(vh_builder_new(ctx, d, &b));
    VH_TRY(vh_builder_source(b, path));
    b->hold.limit = opt->memory;
    *out = vh_take(b);
    return VHEM_OK;
}

vhem_status vh_builder_frames(vh_builder *b, const double *y, int64_t n)
{
    vhem_status st = vh_spill_put(b->ctx, &b->hold, y, n * b->d);
    b->n += st == VHEM_OK ? n : 0;
    return st;
}

vhem_status vh_builder_copy(vh_builder *b, vh_spill *from, int64_t first, int64_t n)
{
    vhem_status st = vh_spill_copy(b->ctx, &b->hold, from, first * b->d, n * b->d);
    b->n += st == VHEM_OK ? n : 0;
    return st;
}

vhem_status vh_builder_frame(vh_builder *b, const double *y)
{
    return vh_builder_frames(b, y, 1);
}

void vh_builder_take(vh_builder *b, vh_spill *from)
{
    assert(b->n == 0 && from->n % b->d == 0);
    vh_spill_free(&b->hold);
    b->hold = *from;
    b->n = from->n / b->d;
    *from = (vh_spill){ 0 };
}

static char *copy_text(vhem_ctx *ctx, const char *text)
{
    return vh_strdup(ctx, text ? text : "");
}

vhem_status vh_builder_cut(vh_builder *b, int64_t T, const char *name, const char *label, const char *group,
                           double weight)
{
    vhem_ctx *ctx = b->ctx;
    vhem_status st = VHEM_OK;
    const char *file = b->path ? b->path : "", *colon = b->path ? ": " : "";

    assert(T <= b->n - b->n_cut);
    if (T < 1 && name && *name)
        st = vh_fail(ctx, VHEM_EFORMAT, "%s%ssequence '%s' has no frames, needs at least one", file, colon,
                     VH_SHOW(name, strlen(name)));
    else if (T < 1)
        st = vh_fail(ctx, VHEM_EFORMAT, "%s%ssequence %zu has no frames, needs at least one", file, colon,
                     b->N);
    VH_TRY(st);
    VH_CHECK(isfinite(weight) && weight > 0, VHEM_EFORMAT,
             "%s%ssequence %zu: the weight is %g, must be a positive number", file, colon, b->N, weight);
    VH_TRY(vh_grow(ctx, &b->seq, &b->cap_seq, b->N + 1, sizeof *b->seq));
    built_sequence *s = &b->seq[b->N++];
    *s = (built_sequence){ .T = T, .weight = weight };
    s->name = copy_text(ctx, name);
    s->label = copy_text(ctx, label);
    s->group = copy_text(ctx, group);
    if (!s->name || !s->label || !s->group)
        return VHEM_ENOMEM;
    b->n_cut += T;
    return VHEM_OK;
}

vhem_status vh_builder_end(vh_builder *b, const char *name, const char *label, const char *group,
                           double weight)
{
    return vh_builder_cut(b, b->n - b->n_cut, name, label, group, weight);
}

vhem_status vh_builder_at(vh_builder *b, const char *file, int64_t line)
{
    vhem_ctx *ctx = b->ctx;
    built_sequence *s = &b->seq[b->N - 1];
    s->line = line;
    if (file)
        VH_DUP(s->file, file);
    return VHEM_OK;
}

vhem_status vh_builder_columns(vh_builder *b, const char *const *column)
{
    vhem_ctx *ctx = b->ctx;
    if (!b->column)
        VH_NEW(b->column, b->d);
    for (int k = 0; k < b->d; k++) {
        free(b->column[k]);
        VH_DUP(b->column[k], column[k]);
    }
    return VHEM_OK;
}

vhem_status vh_builder_symbols(vh_builder *b, int k, char **name, int n)
{
    vhem_ctx *ctx = b->ctx;
    if (!b->symbols)
        VH_NEW(b->symbols, b->d);
    b->symbols[k] = (vhem_symbols){ n, name };
    return VHEM_OK;
}

void vh_symbols_free(vhem_symbols *symbols, int d)
{
    for (int k = 0; symbols && k < d; k++) {
        for (int v = 0; v < symbols[k].n; v++)
            free(symbols[k].name[v]);
        free(symbols[k].name);
    }
    free(symbols);
}

/* Moves one text of each sequence into the set, [N]; NULL when all are empty. */
static vhem_status take_texts(vh_builder *b, size_t offset, char ***out)
{
    vhem_ctx *ctx = b->ctx;
    bool any = false;
    char **text = NULL;

    for (size_t n = 0; n < b->N; n++)
        any |= **(char **)((char *)&b->seq[n] + offset) != '\0';
    if (!any)
        return VHEM_OK;
    VH_NEW(text, b->N);
    for (size_t n = 0; n < b->N; n++) {
        char **from = (char **)((char *)&b->seq[n] + offset);
        text[n] = *from;
        *from = NULL;
    }
    *out = text;
    return VHEM_OK;
}

static vhem_status hand_over_weights(vh_builder *b, vhem_data *data)
{
    vhem_ctx *ctx = b->ctx;
    bool any = false;

    for (size_t n = 0; n < b->N; n++)
        any |= b->seq[n].weight != 1;
    if (!any)
        return VHEM_OK;
    VH_NEW(data->weight, b->N);
    for (size_t n = 0; n < b->N; n++)
        data->weight[n] = b->seq[n].weight;
    return VHEM_OK;
}

static vhem_status hand_over_origin(vh_builder *b, vhem_data *data)
{
    vhem_ctx *ctx = b->ctx;
    bool lines = false, files = true;

    for (size_t n = 0; n < b->N; n++) {
        lines |= b->seq[n].line > 0;
        files &= b->seq[n].file != NULL;
    }
    if (lines)
        VH_NEW(data->origin.line, b->N);
    if (files)
        VH_NEW(data->origin.file, b->N);
    for (size_t n = 0; n < b->N; n++) {
        if (lines)
            data->origin.line[n] = b->seq[n].line;
        if (files) {
            data->origin.file[n] = b->seq[n].file;
            b->seq[n].file = NULL;
        }
    }
    return VHEM_OK;
}

vhem_status vh_builder_finish(vh_builder *b, const char *format, vhem_data **out)
{
    vhem_ctx *ctx = b->ctx;
    VH_OWN(vhem_data) *data = NULL;

    assert(b->n_cut == b->n);
    VH_CHECK(b->N > 0, VHEM_EFORMAT, "%s%sno sequences", b->path ? b->path : "", b->path ? ": " : "");
    VH_TRY(vh_data_new(ctx, &data));
    data->N = (int64_t)b->N;
    data->d = b->d;
    snprintf(data->format, sizeof data->format, "%s", format);
    VH_NEW(data->start, b->N + 1);
    for (size_t n = 0; n < b->N; n++)
        data->start[n + 1] = data->start[n] + b->seq[n].T;
    VH_TRY(take_texts(b, offsetof(built_sequence, name), &data->name));
    VH_TRY(take_texts(b, offsetof(built_sequence, label), &data->label));
    VH_TRY(take_texts(b, offsetof(built_sequence, group), &data->group));
    VH_TRY(hand_over_weights(b, data));
    VH_TRY(hand_over_origin(b, data));
    VH_TRY(vh_spill_values(ctx, &b->hold, &data->y));
    data->hold = b->hold;
    data->hold.name = NULL;
    data->n_missing = b->hold.n_missing;
    b->hold = (vh_spill){ 0 };
    data->column = b->column;
    b->column = NULL;
    VH_TRY(vh_data_name_columns(ctx, data));
    data->symbols = b->symbols;
    b->symbols = NULL;
    b->n = b->n_cut = 0;
    *out = vh_take(data);
    return VHEM_OK;
}

void vh_builder_free(vh_builder *b)
{
    if (!b)
        return;
    vh_symbols_free(b->symbols, b->d);
    for (size_t n = 0; n < b->N; n++) {
        free(b->seq[n].name);
        free(b->seq[n].label);
        free(b->seq[n].group);
        free(b->seq[n].file);
    }
    for (int k = 0; b->column && k < b->d; k++)
        free(b->column[k]);
    free(b->column);
    free(b->seq);
    free(b->path);
    vh_spill_free(&b->hold);
    free(b);
}
