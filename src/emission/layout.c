/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.c - see layout.h. */
#include "emission/layout.h"

#include "core/alloc.h"
#include "core/array2.h"

#include <stdio.h>
#include <string.h>

vhem_status vh_layout_new(vhem_ctx *ctx, int n_channel, vh_layout **out)
{
    VH_OWN(vh_layout) *layout = NULL;

    VH_CHECK(n_channel >= 1, VHEM_EINVAL, "there are no channels, must be at least one");
    VH_NEW(layout, 1);
    atomic_init(&layout->owners, 1);
    VH_NEW(layout->channel, n_channel);
    layout->n_channel = n_channel;
    *out = vh_take(layout);
    return VHEM_OK;
}

const vh_layout *vh_layout_keep(const vh_layout *layout)
{
    if (layout)
        atomic_fetch_add(&((vh_layout *)layout)->owners, 1);
    return layout;
}

static void free_texts(char **text, int n)
{
    for (int i = 0; text && i < n; i++)
        free(text[i]);
    free(text);
}

void vh_layout_drop(const vh_layout *kept)
{
    vh_layout *layout = (vh_layout *)kept;
    if (!layout || atomic_fetch_sub(&layout->owners, 1) > 1)
        return;
    for (int c = 0; layout->channel && c < layout->n_channel; c++)
        free_texts(layout->channel[c].symbol, layout->channel[c].shape.V);
    free_texts(layout->column, layout->d);
    vh_background_free(layout->background);
    free(layout->channel);
    free(layout);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Copies of text [n], which must all be different, into a layout, which owns them from the first on. */
static vhem_status copy_texts(vhem_ctx *ctx, const char *what, const char *const *text, int n, char ***copy)
{
    VH_AUTOFREE const char **order = NULL;

    VH_NEW(order, n);
    for (int i = 0; i < n; i++) {
        VH_CHECK(text[i][0] != '\0', VHEM_EINVAL, "%s %d has no name", what, i);
        order[i] = text[i];
    }
    qsort(order, (size_t)n, sizeof *order, by_text);
    for (int i = 1; i < n; i++)
        VH_CHECK(strcmp(order[i - 1], order[i]) != 0, VHEM_EINVAL, "two %ss are called '%.80s'", what,
                 order[i]);
    VH_NEW(*copy, n);
    for (int i = 0; i < n; i++)
        VH_DUP((*copy)[i], text[i]);
    return VHEM_OK;
}

vhem_status vh_layout_symbols(vhem_ctx *ctx, vh_layout *layout, int channel, const char *const *symbol, int n)
{
    vh_channel *c = &layout->channel[channel];

    VH_CHECK(n >= 1, VHEM_EINVAL, "there are no symbols, must be at least one");
    c->shape.V = n;
    return copy_texts(ctx, "symbol", symbol, n, &c->symbol);
}

vhem_status vh_layout_columns(vhem_ctx *ctx, vh_layout *layout, const char *const *column)
{
    layout->d = 0;
    for (int c = 0; c < layout->n_channel; c++)
        layout->d += layout->channel[c].shape.d;
    return copy_texts(ctx, "column", column, layout->d, &layout->column);
}

vhem_status vh_layout_background(vhem_ctx *ctx, vh_layout *layout, int G, const double *mu, const double *cov)
{
    layout->channel[0].shape.G = G;
    return vh_background_new(ctx, G, layout->channel[0].shape.d, mu, cov, &layout->background);
}

void vh_layout_close(vh_layout *layout)
{
    layout->d = layout->V = layout->size = 0;
    for (int c = 0; c < layout->n_channel; c++) {
        vh_channel *ch = &layout->channel[c];
        ch->column = layout->d;
        ch->at = layout->size;
        layout->d += ch->shape.d;
        layout->V += ch->shape.V;
        for (int p = 0; p < ch->family->n_param; p++)
            layout->size += (int)vh_param_size(ch->family, p, &ch->shape);
    }
}

const vh_channel *vh_layout_channel(const vh_layout *layout, int k)
{
    int low = 0, high = layout->n_channel - 1; /* the last whose first column is at most k */
    while (low < high) {
        int middle = low + (high - low + 1) / 2;
        if (layout->channel[middle].column <= k)
            low = middle;
        else
            high = middle - 1;
    }
    return &layout->channel[low];
}

vh_shape vh_layout_shape(const vh_layout *layout)
{
    return (vh_shape){
        .d = layout->d, .V = layout->V, .layout = layout, .G = layout->background ? layout->background->G : 0
    };
}

/* of: "channel 2: ", nothing where there is only one. */
static const char *channel_differs(const vh_channel *a, const vh_channel *must, const char *of, char *why,
                                   size_t size)
{
    bool same =
        a->family == must->family || a->family->wider == must->family || must->family->wider == a->family;
    if (!same) {
        snprintf(why, size, "%sthe emission is %s, must be %s", of, a->family->name, must->family->name);
        return why;
    }
    bool columns = a->shape.d != must->shape.d;
    if (columns || a->shape.V != must->shape.V) {
        snprintf(why, size, "%sthe number of %s is %d, must be %d", of, columns ? "columns" : "symbols",
                 columns ? a->shape.d : a->shape.V, columns ? must->shape.d : must->shape.V);
        return why;
    }
    for (int v = 0; v < a->shape.V; v++)
        if (strcmp(a->symbol[v], must->symbol[v]) != 0) {
            snprintf(why, size, "%ssymbol %d is '%.60s', must be '%.60s'", of, v, a->symbol[v],
                     must->symbol[v]);
            return why;
        }
    return "";
}

static const char *background_differs(const vh_background *a, const vh_background *must, char *why,
                                      size_t size)
{
    if (!a || !must || a == must)
        return "";
    size_t bytes = sizeof *a->mu * vh_cells(a->G, a->d);
    if (a->G == must->G && a->d == must->d && memcmp(a->mu, must->mu, bytes) == 0
        && memcmp(a->cov, must->cov, bytes) == 0)
        return "";
    snprintf(why, size, "their backgrounds, of %d and %d Gaussians, are not the same", a->G, must->G);
    return why;
}

const char *vh_layout_differs(const vh_shape *a, const vh_shape *must, char *why, size_t size)
{
    const vh_layout *x = a->layout, *y = must->layout;
    if (a->d != must->d) {
        snprintf(why, size, "there are %d columns, must be %d", a->d, must->d);
        return why;
    }
    if (!x || !y || x == y)
        return "";
    if (x->n_channel != y->n_channel) {
        snprintf(why, size, "there are %d channels, must be %d", x->n_channel, y->n_channel);
        return why;
    }
    if (*background_differs(x->background, y->background, why, size))
        return why;
    for (int c = 0; c < x->n_channel; c++) {
        char of[32] = "";
        if (x->n_channel > 1)
            snprintf(of, sizeof of, "channel %d: ", c);
        if (*channel_differs(&x->channel[c], &y->channel[c], of, why, size))
            return why;
    }
    for (int k = 0; x->column && y->column && k < x->d; k++)
        if (strcmp(x->column[k], y->column[k]) != 0) {
            snprintf(why, size, "column %d is '%.60s', must be '%.60s'", k, x->column[k], y->column[k]);
            return why;
        }
    return "";
}

void vh_channel_par(const vh_channel *c, double *const *all, double **par)
{
    double *at = all[0] + c->at;
    for (int p = 0; p < c->family->n_param; p++) {
        par[p] = at;
        at += vh_param_size(c->family, p, &c->shape);
    }
}
