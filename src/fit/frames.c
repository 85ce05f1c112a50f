/* SPDX-License-Identifier: BSD-3-Clause */
/* frames.c - see frames.h.
 *
 *   1. columns                    3. symbols of the models      5. the calls
 *   2. symbols of the data        4. casting cells */
#include "fit/frames.h"

#include "core/alloc.h"
#include "core/names.h"
#include "data/values.h"
#include "fit/angle_units.h"
#include "fit/frames_layout.h"
#include "fit/options.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- 1. columns ---------------------------------------------------------------------------------------- */

/* Column k of the layout is not in the data: reports the columns of both, and solutions. */
static vhem_status refuse_columns(vhem_ctx *ctx, const vhem_data *data, const vh_layout *layout, int k)
{
    char has[256], needs[256];
    vh_show_list(data->column, data->d, ", ", has, sizeof has);
    vh_show_list(layout->column, layout->d, ", ", needs, sizeof needs);
    return vh_fail(
        ctx, VHEM_EINVAL,
        "the data has no column '%s'; its columns are %s, but the models were fitted to %s; rename "
        "the columns of the data, or fit models to its columns",
        VH_SHOW(layout->column[k], strlen(layout->column[k])), has, needs);
}

/* Computes place [layout->d], the columns of the layout in the data; by order if either side has no names. */
static vhem_status find_columns(vhem_ctx *ctx, const vhem_data *data, const vh_layout *layout, int *place)
{
    bool by_name = layout->column && !data->unnamed;

    VH_CHECK(by_name || data->d == layout->d, VHEM_EINVAL,
             "the models have dimension %d, but the data has %d", layout->d, data->d);
    for (int k = 0; k < layout->d; k++) {
        place[k] = k;
        if (by_name && vh_frames_column(ctx, data, layout->column[k], &place[k]) != VHEM_OK)
            VH_TRY(refuse_columns(ctx, data, layout, k));
    }
    return VHEM_OK;
}

/* ---- 2. symbols of the data ---------------------------------------------------------------------------- */

/* Rejects symbols where numbers are needed. */
static vhem_status require_numbers(vhem_ctx *ctx, const vhem_data *data, int k)
{
    if (!data->symbols || data->symbols[k].n == 0)
        return VHEM_OK;
    return vh_fail(ctx, VHEM_EINVAL,
                   "%s%scolumn '%.80s' holds text ('%s'), but this emission needs numbers; " VH_OPT(
                       "emission=categorical") " takes text",
                   data->origin.path ? data->origin.path : "", data->origin.path ? ": " : "", data->column[k],
                   VH_SHOW(data->symbols[k].name[0], strlen(data->symbols[k].name[0])));
}

static vhem_status require_all_numbers(vhem_ctx *ctx, const vhem_data *data)
{
    for (int k = 0; k < data->d; k++)
        VH_TRY(require_numbers(ctx, data, k));
    return VHEM_OK;
}

/* ---- 3. symbols of the models -------------------------------------------------------------------------- */

/* The symbols of a channel, to be found by text, else by number. */
typedef struct {
    vh_names text;   /* symbol v is text v */
    vh_names number; /* as vh_number_short writes it, */
    int *of;         /* [number.n]  of this symbol; -1: ambiguous */
} symbol_index;      /* zero it to start empty */

/* Converts a name to a number; *exact: it has so few digits that no other integer is written the same. */
static bool number_of(const char *name, char number[VH_NUMBER_SIZE], bool *exact)
{
    double y;
    if (vh_number_parse(name, strlen(name), &y) != VH_NUMBER)
        return false;
    number[vh_number_short(y, number)] = '\0';
    *exact = fabs(y) < 1e15;
    return true;
}

static bool exact_number(const char *name, char number[VH_NUMBER_SIZE])
{
    bool exact;
    return number_of(name, number, &exact) && exact;
}

/* True if a number with many digits is written as rounded, 1.2345678901234567e+19 as in earlier versions, or
 * with trailing zeros.  Else it is a code, in which every digit counts. */
static bool is_rounded(const char *name)
{
    enum { MOST_DIGITS = 17 };
    size_t n = strspn(name, "+-0123456789");
    if (name[n] != '\0')
        return true;
    while (n > 0 && name[n - 1] == '0')
        n--;
    return name[n] == '0' && n <= MOST_DIGITS;
}

static vhem_status index_symbols(vhem_ctx *ctx, const vh_channel *c, symbol_index *index)
{
    VH_NEW(index->of, c->shape.V + 1);
    for (int v = 0; v < c->shape.V; v++) {
        char number[VH_NUMBER_SIZE];
        const char *name = c->symbol[v];
        int64_t at;
        bool is_new, exact;
        VH_TRY(vh_names_put(ctx, &index->text, name, strlen(name), &at, &is_new));
        if (!number_of(name, number, &exact))
            continue;
        VH_TRY(vh_names_put(ctx, &index->number, number, strlen(number), &at, &is_new));
        index->of[at] = is_new && (exact || is_rounded(name)) ? v : -1;
    }
    for (int64_t i = 0; i < index->number.n; i++) {
        char number[VH_NUMBER_SIZE];
        int64_t v = vh_names_find(&index->text, index->number.text[i], index->number.size[i]);
        if (v >= 0 && exact_number(index->number.text[i], number))
            index->of[i] = (int)v;
    }
    return VHEM_OK;
}

/* Returns the symbol of a cell, -1 for none: the symbol with the same text, else the one with the same
 * number, so `1.0` matches `1`, and `07` matches `7` if the models have no `07`.  A code with many digits
 * matches the number it rounds to, as in models of earlier versions, unless several codes do. */
static int find_symbol(const symbol_index *index, const char *name)
{
    char number[VH_NUMBER_SIZE];
    bool exact;
    int64_t v = vh_names_find(&index->text, name, strlen(name));
    if (v >= 0 || !number_of(name, number, &exact))
        return (int)v;
    v = vh_names_find(&index->number, number, strlen(number));
    return v >= 0 ? index->of[v] : -1;
}

static void free_index(symbol_index *index)
{
    vh_names_free(&index->text);
    vh_names_free(&index->number);
    free(index->of);
    *index = (symbol_index){ 0 };
}

/* True for tables, which have symbols as written even if all are numbers. */
static bool is_table(const vhem_data *data)
{
    static const char *const format[] = { "csv", "tsv", "xlsx", "dir" };
    for (size_t i = 0; i < sizeof format / sizeof *format; i++)
        if (strcmp(data->format, format[i]) == 0)
            return true;
    return false;
}

/* True if the symbol is a plainly written number, not x1 or 007, so that data can have it without a text. */
static bool is_plain(const char *name, char number[VH_NUMBER_SIZE])
{
    return exact_number(name, number) && strcmp(number, name) == 0;
}

/* Where some symbol is text, files without texts hold indices into a list of symbols, which may equal other
 * symbols. */
/* Rejects column k of data with numbers without texts, such as an array, unless all symbols of the channel
 * are plain. */
static vhem_status check_texts(vhem_ctx *ctx, const vhem_data *data, int k, const vh_channel *ch)
{
    char number[VH_NUMBER_SIZE];
    int v = 0;
    if (is_table(data) || (data->symbols && data->symbols[k].n > 0))
        return VHEM_OK;
    while (v < ch->shape.V && is_plain(ch->symbol[v], number))
        v++;
    if (v == ch->shape.V)
        return VHEM_OK;
    return vh_fail(
        ctx, VHEM_EINVAL,
        "%s%scolumn '%.80s' has numbers without texts, which do not say which symbols they are: the "
        "models have '%s'; give a table, such as .csv, with the symbols as they are",
        data->origin.path ? data->origin.path : "", data->origin.path ? ": " : "", data->column[k],
        VH_SHOW(ch->symbol[v], strlen(ch->symbol[v])));
}

/* ---- 4. casting cells ---------------------------------------------------------------------------------- */

typedef struct {
    const vhem_data *data;
    const vh_layout *layout;
    int *place;          /* [d]  column of the data */
    int *channel;        /* [d]  channel of symbols, -1 for none */
    symbol_index *index; /* [n_channel]  the symbols of each channel */
    double *frame;       /* [d] */
    double *last;        /* [n_channel][2]  the previous cell and its symbol: cells often repeat */
} cast;

static vhem_status no_symbol(vhem_ctx *ctx, const cast *c, int64_t n, int64_t t, int k, const char *name)
{
    const vh_channel *ch = &c->layout->channel[c->channel[k]];
    char list[160];
    vh_show_list(ch->symbol, ch->shape.V, "|", list, sizeof list);
    return vh_fail(ctx, VHEM_EINVAL, "%s is '%s', which the models have no symbol for; theirs are %s",
                   vh_data_location(c->data, n, t, c->place[k], (char[VH_PLACE_SIZE]){ "" }),
                   VH_SHOW(name, strlen(name)), list);
}

static vhem_status cast_cell(vhem_ctx *ctx, cast *c, int64_t n, int64_t t, int k, double y)
{
    int ch = c->channel[k];
    double *last = &c->last[2 * (ch < 0 ? 0 : ch)];
    char number[VH_NUMBER_SIZE];

    c->frame[k] = y;
    if (ch < 0 || isnan(y))
        return VHEM_OK;
    if (y != last[0]) {
        const char *name = vh_frames_cell(c->data, c->place[k], y, number);
        int v = find_symbol(&c->index[ch], name);
        if (v < 0)
            return no_symbol(ctx, c, n, t, k, name);
        last[0] = y;
        last[1] = v;
    }
    c->frame[k] = last[1];
    return VHEM_OK;
}

static vhem_status cast_sequence(vhem_ctx *ctx, cast *c, int64_t n, vh_builder *b)
{
    const vhem_data *data = c->data;
    const double *y = vh_data_frames(data, n);

    for (int64_t t = 0; t < vh_data_length(data, n); t++, y += data->d) {
        for (int k = 0; k < c->layout->d; k++)
            VH_TRY(cast_cell(ctx, c, n, t, k, y[c->place[k]]));
        VH_TRY(vh_builder_frame(b, c->frame));
    }
    return vh_builder_end(b, data->name ? data->name[n] : NULL, data->label ? data->label[n] : NULL,
                          data->group ? data->group[n] : NULL, vh_data_weight(data, n));
}

static vhem_status cast_open(vhem_ctx *ctx, const vhem_data *data, const vh_layout *layout, bool fresh,
                             cast *c)
{
    *c = (cast){ .data = data, .layout = layout };
    VH_NEW(c->place, layout->d);
    VH_NEW(c->channel, layout->d);
    VH_NEW(c->index, layout->n_channel);
    VH_NEW(c->frame, layout->d);
    VH_NEW(c->last, 2 * layout->n_channel);
    VH_TRY(find_columns(ctx, data, layout, c->place));
    for (int i = 0; i < layout->n_channel; i++) {
        const vh_channel *ch = &layout->channel[i];
        for (int k = 0; k < ch->shape.d; k++)
            c->channel[ch->column + k] = ch->shape.V > 0 ? i : -1;
        c->last[2 * i] = NAN;
        VH_TRY(index_symbols(ctx, ch, &c->index[i]));
    }
    for (int k = 0; k < layout->d; k++)
        if (c->channel[k] < 0)
            VH_TRY(require_numbers(ctx, data, c->place[k]));
        else if (!fresh)
            VH_TRY(check_texts(ctx, data, c->place[k], &layout->channel[c->channel[k]]));
    return VHEM_OK;
}

static void cast_close(cast *c)
{
    for (int i = 0; c->index && i < c->layout->n_channel; i++)
        free_index(&c->index[i]);
    free(c->index);
    free(c->place);
    free(c->channel);
    free(c->frame);
    free(c->last);
}

/* True if the columns are in place and hold no symbols. */
static bool as_it_is(const cast *c)
{
    if (c->data->d != c->layout->d)
        return false;
    for (int k = 0; k < c->layout->d; k++)
        if (c->place[k] != k || c->channel[k] >= 0)
            return false;
    return true;
}

/* Converts sequences to out->layout, which is already set.  fresh: the layout was made from this data. */
static vhem_status cast_data(vhem_ctx *ctx, const vhem_data *data, const int64_t *seq, int64_t n, bool fresh,
                             vh_frames *out)
{
    VH_OWN(vh_builder) *b = NULL;
    VH_CLEANUP(cast_close) cast c = { 0 };

    VH_TRY(cast_open(ctx, data, out->layout, fresh, &c));
    vh_warn_of_angle_units(ctx, data, out->layout->family, out->layout, c.place);
    out->data = data;
    if (as_it_is(&c) && !vh_emission_needs_layout(out->layout->family))
        return VHEM_OK;
    VH_TRY(vh_builder_open(ctx, "frames", &(vhem_data_options){ .memory = data->hold.limit }, out->layout->d,
                           &b));
    for (int64_t i = 0; i < n; i++)
        VH_TRY(cast_sequence(ctx, &c, seq ? seq[i] : i, b));
    if (out->layout->column)
        VH_TRY(vh_builder_columns(b, (const char *const *)out->layout->column));
    VH_TRY(vh_builder_finish(b, data->format, &out->own));
    VH_TRY(vh_origin_some(ctx, &data->origin, seq, n, &out->own->origin));
    out->own->layout = out->layout;
    out->data = out->own;
    return VHEM_OK;
}

/* ---- 5. the calls -------------------------------------------------------------------------------------- */

/* Converts frames to the family named by `emission`; family NULL: a family by columns or from a file. */
static vhem_status cast_to(vhem_ctx *ctx, const vhem_data *data, const char *emission,
                           const vh_emission *family, const vh_layout *known, vh_frames *out)
{
    const vh_layout_source from = { data, known };
    vh_layout *layout = NULL;

    VH_CHECK(!family || !family->tied, VHEM_EINVAL,
             "emission is %s; name the file of its background, as in gaussian-tied:background.json",
             emission);
    VH_CHECK(!family || !vh_param_is_channels(&family->param[0]), VHEM_EINVAL,
             "emission is %s; name the columns and their families, as in 'step:gamma,turn:von-mises'",
             emission);
    const char *path;
    const vh_emission *tied = vh_emission_of_file(emission, &path);
    VH_TRY(tied     ? vh_layout_of_background(ctx, tied, path, &layout)
           : family ? vh_layout_of_family(ctx, &from, family, &layout)
                    : vh_layout_of_columns(ctx, &from, emission, &layout));
    out->layout = layout;
    return cast_data(ctx, data, NULL, data->N, !known, out);
}

vhem_status vh_frames_to_fit(vhem_ctx *ctx, const vhem_data *data, const char *emission, const vh_h3m *start,
                             const vh_layout *known, vh_frames *out)
{
    out->data = data;
    if (data->layout)
        return VHEM_OK;
    if (start)
        return vh_frames_for(ctx, data, NULL, data->N, start, out);
    const vh_emission *family = emission ? vh_emission_find(emission) : NULL;
    if (family && !vh_emission_needs_layout(family))
        vh_warn_of_angle_units(ctx, data, family, NULL, NULL);
    if (!emission || (family && !vh_emission_needs_layout(family)))
        return require_all_numbers(ctx, data);
    vhem_status st = cast_to(ctx, data, emission, family, known, out);
    if (st != VHEM_OK)
        vh_frames_free(out);
    return st;
}

static vhem_status cast_for(vhem_ctx *ctx, const vhem_data *data, const int64_t *seq, int64_t n,
                            const vh_h3m *h3m, vh_frames *out)
{
    char why[256];

    if (data->layout) {
        const vh_shape shape = { .d = data->layout->d, .V = data->layout->V, .layout = data->layout };
        VH_CHECK(!*vh_layout_differs(&shape, &h3m->shape, why, sizeof why), VHEM_EINVAL,
                 "the frames do not suit the models: %s", why);
        return VHEM_OK;
    }
    if (!h3m->shape.layout) {
        VH_TRY(require_all_numbers(ctx, data));
        vh_warn_of_angle_units(ctx, data, h3m->family, NULL, NULL);
        return VHEM_OK;
    }
    out->layout = vh_layout_keep(h3m->shape.layout);
    return cast_data(ctx, data, seq, n, false, out);
}

vhem_status vh_frames_for(vhem_ctx *ctx, const vhem_data *data, const int64_t *seq, int64_t n,
                          const vh_h3m *h3m, vh_frames *out)
{
    out->data = data;
    vhem_status st = cast_for(ctx, data, seq, n, h3m, out);
    if (st != VHEM_OK)
        vh_frames_free(out);
    return st;
}

void vh_frames_free(vh_frames *frames)
{
    vh_object_free(frames->own);
    vh_layout_drop(frames->layout);
    *frames = (vh_frames){ 0 };
}

vhem_status vh_frames_name(vhem_ctx *ctx, const vhem_data *data, vh_h3m *h3m)
{
    vh_layout *layout = NULL;

    if (h3m->shape.layout || data->unnamed)
        return VHEM_OK;
    VH_TRY(vh_layout_of_family(ctx, &(vh_layout_source){ data, NULL }, h3m->family, &layout));
    h3m->shape.layout = layout;
    return VHEM_OK;
}

/* Converts cells of column k from symbol indices to the numbers that the symbols represent; false if a symbol
 * is text, or a number in another notation, such as 007. */
static bool to_numbers(const vh_channel *c, vhem_data *data, double *number)
{
    for (int v = 0; v < c->shape.V; v++) {
        char plain[VH_NUMBER_SIZE];
        if (!is_plain(c->symbol[v], plain))
            return false;
        vh_number_parse(plain, strlen(plain), &number[v]);
    }
    double *y = (double *)data->y + c->column; /* the data was generated in memory */
    for (int64_t t = 0; t < data->start[data->N]; t++, y += data->d)
        *y = isnan(*y) ? NAN : number[(int)*y];
    return true;
}

/* Fills symbols [d] of columns that have any; names the columns as in the layout. */
static vhem_status detach_symbols(vhem_ctx *ctx, vhem_data *data, vhem_symbols *symbols)
{
    const vh_layout *layout = data->layout;
    VH_AUTOFREE double *number = NULL;

    VH_NEW(number, layout->V + 1);
    for (int i = 0; i < layout->n_channel; i++) {
        const vh_channel *c = &layout->channel[i];
        if (c->shape.V == 0 || to_numbers(c, data, number))
            continue;
        VH_NEW(symbols[c->column].name, c->shape.V);
        symbols[c->column].n = c->shape.V;
        for (int v = 0; v < c->shape.V; v++)
            VH_DUP(symbols[c->column].name[v], c->symbol[v]);
    }
    if (layout->column)
        VH_TRY(
            vh_data_describe(ctx, data, &(vhem_data_text){ .column = (const char *const *)layout->column }));
    return VHEM_OK;
}

vhem_status vh_frames_detach(vhem_ctx *ctx, vhem_data *data)
{
    vhem_symbols *symbols = NULL;

    VH_NEW(symbols, data->d);
    vhem_status st = detach_symbols(ctx, data, symbols);
    if (st != VHEM_OK) {
        vh_symbols_free(symbols, data->d);
        return st;
    }
    data->symbols = symbols;
    data->layout = NULL;
    return VHEM_OK;
}
