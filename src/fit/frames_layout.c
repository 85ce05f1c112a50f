/* SPDX-License-Identifier: BSD-3-Clause */
/* frames_layout.c - see frames_layout.h. */
#include "fit/frames_layout.h"

#include "core/alloc.h"
#include "core/text.h"
#include "core/names.h"
#include "data/values.h"
#include "fit/options.h"
#include "files/hmm_file.h"

#include <math.h>
#include <string.h>

vhem_status vh_frames_column(vhem_ctx *ctx, const vhem_data *data, const char *name, int *out)
{
    char list[256];
    for (*out = 0; *out < data->d; ++*out)
        if (strcmp(data->column[*out], name) == 0)
            return VHEM_OK;
    vh_show_list(data->column, data->d, ", ", list, sizeof list);
    return vh_fail(ctx, VHEM_EINVAL, "the data has no column '%s'; its columns are %s",
                   VH_SHOW(name, strlen(name)), list);
}

const char *vh_frames_cell(const vhem_data *data, int k, double y, char number[VH_NUMBER_SIZE])
{
    if (data->symbols && data->symbols[k].n > 0)
        return data->symbols[k].name[(int)y];
    number[vh_number_short(y, number)] = '\0';
    return number;
}

typedef struct {
    char *name;
    double number; /* NaN: text */
} symbol;

/* Orders numbers by value and then by notation, before texts. */
static int compare_symbols(const void *a, const void *b)
{
    const symbol *x = a, *y = b;
    if (isnan(x->number) || isnan(y->number))
        return isnan(x->number) && isnan(y->number) ? strcmp(x->name, y->name) : isnan(x->number) ? 1 : -1;
    return x->number < y->number ? -1 : x->number > y->number ? 1 : strcmp(x->name, y->name);
}

/* Collects the distinct cells of column k, named as by vh_frames_cell. */
static vhem_status find_cells(vhem_ctx *ctx, const vhem_data *data, int k, vh_names *names)
{
    vhem_status st = VHEM_OK;
    double last = NAN;

    for (int64_t n = 0; n < data->N; n++) {
        const double *y = vh_data_frames(data, n) + k;
        for (int64_t t = 0; t < vh_data_length(data, n); t++) {
            double v = y[t * data->d];
            char number[VH_NUMBER_SIZE];
            int64_t at;
            bool is_new;
            if (isnan(v) || v == last)
                continue;
            bool whole = (data->symbols && data->symbols[k].n > 0) || v == floor(v);
            VH_CHECK(whole, VHEM_EINVAL,
                     "%scolumn '%s', sequence %lld, frame %lld: %g is not a symbol, must be text or a whole "
                     "number",
                     vh_origin_tell(&data->origin, n, t, (char[VH_PLACE_SIZE]){ "" }), data->column[k],
                     (long long)n, (long long)t, v);
            const char *name = vh_frames_cell(data, k, v, number);
            VH_TRY(vh_names_put(ctx, names, name, strlen(name), &at, &is_new));
            last = v;
        }
        vh_data_passed(data, n);
    }
    if (names->n == 0)
        st = vh_fit_no_values(ctx, data, k, data->d > 1);
    return st;
}

/* The symbol channel in a known layout for column k of the data; NULL: none. */
static const vh_channel *known_channel(const vh_layout *known, const vhem_data *data, int k)
{
    for (int c = 0; known && c < known->n_channel; c++) {
        const vh_channel *ch = &known->channel[c];
        bool named = known->column && !data->unnamed;
        if (ch->shape.V > 0
            && (named ? strcmp(known->column[ch->column], data->column[k]) == 0 : ch->column == k))
            return ch;
    }
    return NULL;
}

/* Sets the symbols of a channel: known ones, else those of column k of the data, sorted. */
static vhem_status take_symbols(vhem_ctx *ctx, const vh_layout_source *from, int k, vh_layout *layout,
                                int channel)
{
    const vhem_data *data = from->data;
    const vh_channel *ch = known_channel(from->known, data, k);
    VH_CLEANUP(vh_names_free) vh_names names = { 0 };
    VH_AUTOFREE symbol *all = NULL;
    VH_AUTOFREE const char **text = NULL;

    if (ch)
        return vh_layout_symbols(ctx, layout, channel, (const char *const *)ch->symbol, ch->shape.V);
    VH_TRY(find_cells(ctx, data, k, &names));
    VH_NEW(all, names.n);
    VH_NEW(text, names.n);
    for (int64_t v = 0; v < names.n; v++) {
        all[v] = (symbol){ names.text[v], NAN };
        if (vh_number_parse(names.text[v], names.size[v], &all[v].number) != VH_NUMBER)
            all[v].number = NAN;
    }
    qsort(all, (size_t)names.n, sizeof *all, compare_symbols);
    for (int64_t v = 0; v < names.n; v++)
        text[v] = all[v].name;
    return vh_layout_symbols(ctx, layout, channel, text, names.n);
}

static bool has_symbols(const vh_emission *f)
{
    return f->param[0].dim[0] == VH_PER_SYMBOL;
}

vhem_status vh_layout_of_family(vhem_ctx *ctx, const vh_layout_source *from, const vh_emission *family,
                                vh_layout **out)
{
    const vhem_data *data = from->data;
    VH_OWN(vh_layout) *layout = NULL;
    char list[256];

    vh_show_list(data->column, data->d, ", ", list, sizeof list);
    VH_CHECK(data->d == 1 || !has_symbols(family), VHEM_EINVAL,
             "%s takes one column, the data has %d (%s); choose one with " VH_OPT(
                 "columns") ", or name "
                            "each: " VH_OPT("emission='%s:%s,...'"),
             family->name, data->d, list, data->column[0], family->name);
    VH_TRY(vh_layout_new(ctx, 1, &layout));
    layout->family = layout->channel[0].family = family;
    layout->channel[0].shape.d = data->d;
    if (has_symbols(family))
        VH_TRY(take_symbols(ctx, from, 0, layout, 0));
    if (!data->unnamed)
        VH_TRY(vh_layout_columns(ctx, layout, (const char *const *)data->column));
    vh_layout_close(layout);
    *out = vh_take(layout);
    return VHEM_OK;
}

static int count(const char *s, size_t n, char c)
{
    int found = 1;
    for (size_t i = 0; i < n; i++)
        found += s[i] == c;
    return found;
}

static const char *last_colon(const char *s, size_t n)
{
    while (n > 0 && s[n - 1] != ':')
        n--;
    return n > 0 ? s + n - 1 : NULL;
}

/* Parses one channel, "x+y:gaussian-full" [n]: its family, and its columns, appended at all[*d]. */
static vhem_status channel_from(vhem_ctx *ctx, const vh_layout_source *from, const char *s, size_t n,
                                vh_layout *layout, int c, char **all, int *d)
{
    const char *colon = last_colon(s, n);
    vh_channel *ch = &layout->channel[c];
    VH_AUTOFREE char *family = NULL;

    VH_CHECK(colon && colon > s && colon + 1 < s + n, VHEM_EINVAL,
             "'%s' in the emission must be COLUMN:FAMILY or COLUMN+COLUMN:FAMILY", VH_SHOW(s, n));
    family = vh_strndup(ctx, colon + 1, (size_t)(s + n - colon - 1));
    VH_CHECK(family, VHEM_ENOMEM, "out of memory");
    ch->family = vh_emission_find(family);
    VH_CHECK(ch->family && !vh_param_is_channels(&ch->family->param[0]) && !ch->family->tied, VHEM_EINVAL,
             "emission '%s' is unknown; a column can have any of %s except the last two",
             VH_SHOW(family, strlen(family)), vh_emission_names());
    for (const char *p = s; p < colon;) {
        const char *plus = memchr(p, '+', (size_t)(colon - p)), *end = plus ? plus : colon;
        VH_CHECK(end > p, VHEM_EINVAL, "'%s' in the emission has an empty name", VH_SHOW(s, n));
        all[*d] = vh_strndup(ctx, p, (size_t)(end - p));
        VH_CHECK(all[*d], VHEM_ENOMEM, "out of memory");
        int k;
        VH_TRY(vh_frames_column(ctx, from->data, all[*d], &k));
        ++*d;
        ch->shape.d++;
        if (has_symbols(ch->family)) {
            VH_CHECK(ch->shape.d == 1 && end == colon, VHEM_EINVAL,
                     "'%s' in the emission: each column of symbols is a channel of its own", VH_SHOW(s, n));
            VH_TRY(take_symbols(ctx, from, k, layout, c));
        }
        p = end + 1;
    }
    return VHEM_OK;
}

vhem_status vh_layout_of_columns(vhem_ctx *ctx, const vh_layout_source *from, const char *spec,
                                 vh_layout **out)
{
    VH_OWN(vh_layout) *layout = NULL;
    size_t n = strlen(spec);
    int d = 0, c = 0;
    VH_CLEANUP(vh_texts_free) vh_texts names = { .n = count(spec, n, '+') + count(spec, n, ',') };

    VH_NEW(names.text, names.n);
    VH_TRY(vh_layout_new(ctx, count(spec, n, ','), &layout));
    layout->family = vh_product_family();
    for (const char *p = spec; c < layout->n_channel; c++) {
        size_t size = strcspn(p, ",");
        VH_TRY(channel_from(ctx, from, p, size, layout, c, names.text, &d));
        p += size + 1;
    }
    VH_TRY(vh_layout_columns(ctx, layout, (const char *const *)names.text));
    vh_layout_close(layout);
    *out = vh_take(layout);
    return VHEM_OK;
}

vhem_status vh_layout_of_background(vhem_ctx *ctx, const vh_emission *family, const char *path,
                                    vh_layout **out)
{
    VH_OWN(vh_h3m) *h3m = NULL;
    VH_OWN(vh_layout) *layout = NULL;

    VH_TRY(vh_h3m_load(ctx, path, &h3m));
    const vh_layout *from = h3m->shape.layout;
    const vh_background *b = from ? from->background : NULL;
    VH_CHECK(
        b || (vh_background_takes(h3m->family) && h3m->K == 1 && h3m->hmm[0].S == 1), VHEM_EINVAL,
        "%s holds no background: it has %lld %s HMMs, must have one gaussian-diag HMM of one state, as vhem "
        "background writes it",
        path, (long long)h3m->K, h3m->family->name);
    VH_TRY(vh_layout_new(ctx, 1, &layout));
    layout->family = layout->channel[0].family = family;
    layout->channel[0].shape.d = h3m->d;
    const double *mu = b ? b->mu : vh_hmm_param(h3m, &h3m->hmm[0], 0);
    const double *cov = b ? b->cov : vh_hmm_param(h3m, &h3m->hmm[0], 1);
    VH_TRY(vh_layout_background(ctx, layout, b ? b->G : h3m->hmm[0].M, mu, cov));
    if (from && from->column)
        VH_TRY(vh_layout_columns(ctx, layout, (const char *const *)from->column));
    vh_layout_close(layout);
    *out = vh_take(layout);
    return VHEM_OK;
}
