/* SPDX-License-Identifier: BSD-3-Clause */
/* data.c - the sequence set: wraps memory, checks values, selects sequences; and where these come from. */
#include "data/data.h"

#include "core/hash.h"
#include "core/options.h"
#include "core/object.h"
#include "data/values.h"
#include "vhem.h"
#include "core/alloc.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

vhem_status vhem_data_wrap(vhem_ctx *ctx, int64_t N, const int64_t *T, int d, const double *y,
                           const vhem_data_text *text, vhem_data **out)
{
    VH_ENTER(out);
    VH_OWN(vhem_data) *data = NULL;

    VH_CHECK(N >= 1 && d >= 1, VHEM_EINVAL,
             "there are %lld sequences of dimension %d, both must be at least 1", (long long)N, d);
    VH_CHECK(T && y, VHEM_EINVAL, "the %s of the sequences are NULL", T ? "frames" : "lengths");
    const int64_t most = INT64_MAX / (int64_t)sizeof *y / d; /* largest number of frames */
    VH_TRY(vh_data_new(ctx, &data));
    data->N = N;
    data->d = d;
    data->y = y;
    snprintf(data->format, sizeof data->format, "memory");
    VH_NEW(data->start, N + 1);
    for (int64_t n = 0; n < N; n++) {
        VH_CHECK(T[n] >= 1, VHEM_EINVAL, "sequence %lld has %lld frames, needs at least one", (long long)n,
                 (long long)T[n]);
        VH_CHECK(T[n] <= most - data->start[n], VHEM_EINVAL,
                 "sequence %lld has %lld frames, with which there are more than fit into memory",
                 (long long)n, (long long)T[n]);
        data->start[n + 1] = data->start[n] + T[n];
    }
    for (int64_t i = 0; i < data->start[N] * d; i++)
        data->n_missing += isnan(y[i]);
    VH_TRY(vh_data_name_columns(ctx, data));
    if (text)
        VH_TRY(vh_data_describe(ctx, data, text));
    *out = vh_take(data);
    return VHEM_OK;
}

typedef struct { /* symbols of d columns */
    vhem_symbols *column;
    int d;
} symbol_columns;

static void drop_symbols(symbol_columns *symbols)
{
    vh_symbols_free(symbols->column, symbols->d);
}

/* Copies n texts; *out stays unchanged if text is NULL. */
static vhem_status copy_texts(vhem_ctx *ctx, const char *const *text, int64_t n, char ***out)
{
    VH_CLEANUP(vh_texts_free) vh_texts copy = { .n = n };

    if (!text)
        return VHEM_OK;
    VH_NEW(copy.text, n);
    for (int64_t i = 0; i < n; i++)
        VH_DUP(copy.text[i], text[i] ? text[i] : "");
    *out = vh_take(copy.text);
    return VHEM_OK;
}

/* Replaces the old list unless the new one is NULL. */
static void replace_texts(char ***place, char ***text, int64_t n)
{
    if (!*text)
        return;
    vh_list_free(*place, n);
    *place = *text;
    *text = NULL;
}

/* Rejects values that are not symbol indices of their column. */
static vhem_status require_codes(vhem_ctx *ctx, const vhem_data *data, const vhem_symbols *symbols)
{
    for (int k = 0; symbols && k < data->d; k++)
        for (int64_t n = 0; symbols[k].n > 0 && n < data->N; n++) {
            const double *y = vh_data_frames(data, n) + k;
            for (int64_t t = 0; t < vh_data_length(data, n); t++) {
                double v = y[t * data->d];
                VH_CHECK(isnan(v) || (v >= 0 && v < symbols[k].n && v == floor(v)), VHEM_EINVAL,
                         "sequence %lld, frame %lld, column %d: %g is not a symbol number, must be a whole "
                         "number from 0 to %d",
                         (long long)n, (long long)t, k, v, symbols[k].n - 1);
            }
        }
    return VHEM_OK;
}

vhem_status vh_data_describe(vhem_ctx *ctx, vhem_data *data, const vhem_data_text *text)
{
    int64_t N = data->N;
    int d = data->d;
    VH_CLEANUP(vh_texts_free) vh_texts names = { .n = N }, labels = { .n = N }, groups = { .n = N };
    VH_CLEANUP(vh_texts_free) vh_texts columns = { .n = d };
    VH_CLEANUP(drop_symbols) symbol_columns symbols = { .d = d };
    const double *weight = text->weight;
    double *weights = NULL;

    for (int64_t n = 0; weight && n < N; n++)
        VH_CHECK(isfinite(weight[n]) && weight[n] > 0, VHEM_EINVAL,
                 "sequence %lld: the weight is %g, must be a positive number", (long long)n, weight[n]);
    VH_TRY(copy_texts(ctx, text->name, N, &names.text));
    VH_TRY(copy_texts(ctx, text->label, N, &labels.text));
    VH_TRY(copy_texts(ctx, text->group, N, &groups.text));
    VH_TRY(copy_texts(ctx, text->column, d, &columns.text));
    VH_TRY(require_codes(ctx, data, text->symbols));
    VH_TRY(vh_symbols_copy(ctx, text->symbols, d, &symbols.column));
    if (weight) {
        VH_NEW(weights, N);
        memcpy(weights, weight, (size_t)N * sizeof *weights);
        free(data->weight);
        data->weight = weights;
    }
    replace_texts(&data->name, &names.text, N);
    replace_texts(&data->label, &labels.text, N);
    replace_texts(&data->group, &groups.text, N);
    data->unnamed = data->unnamed && !columns.text;
    replace_texts(&data->column, &columns.text, d);
    if (symbols.column) {
        vh_symbols_free(data->symbols, d);
        data->symbols = vh_take(symbols.column);
    }
    return VHEM_OK;
}

vhem_status vh_data_name_columns(vhem_ctx *ctx, vhem_data *data)
{
    char name[16];

    if (data->column)
        return VHEM_OK;
    data->unnamed = true;
    VH_NEW(data->column, data->d);
    for (int k = 0; k < data->d; k++) {
        snprintf(name, sizeof name, "y%d", k);
        VH_DUP(data->column[k], name);
    }
    return VHEM_OK;
}

void vhem_data_info(const vhem_data *data, vhem_data_facts *out)
{
    *out = (vhem_data_facts){ 0 };
    if (!data)
        return;
    *out = (vhem_data_facts){ .N = data->N,
                              .frames = data->start[data->N],
                              .missing = data->n_missing,
                              .d = data->d,
                              .format = data->format,
                              .column = (const char *const *)data->column,
                              .symbols = data->symbols,
                              .n_id = data->n_id,
                              .id_column = (const char *const *)data->id_column,
                              .id_separator = data->id_separator,
                              .n_text = data->n_text,
                              .text_column = (const char *const *)data->text_column };
}

vhem_status vhem_data_view(const vhem_data *data, int64_t n, vhem_seq_view *out)
{
    if (!data || n < 0 || n >= data->N)
        return VHEM_EINVAL;
    *out = (vhem_seq_view){
        .name = data->name ? data->name[n] : "",
        .label = data->label ? data->label[n] : "",
        .group = data->group ? data->group[n] : "",
        .weight = vh_data_weight(data, n),
        .T = vh_data_length(data, n),
        .y = vh_data_frames(data, n),
    };
    return VHEM_OK;
}

static void clear_data(void *object)
{
    vhem_data *data = object;
    vh_list_free(data->name, data->N);
    vh_list_free(data->label, data->N);
    vh_list_free(data->group, data->N);
    vh_list_free(data->column, data->d);
    vh_list_free(data->id_column, data->n_id);
    vh_list_free(data->text_column, data->n_text);
    vh_symbols_free(data->symbols, data->d);
    vh_origin_free(&data->origin, data->N);
    free(data->weight);
    free(data->start);
    if (!data->at) /* a subset borrows it */
        vh_spill_free(&data->hold);
    free(data->at);
}

vhem_status vh_data_new(vhem_ctx *ctx, vhem_data **out)
{
    VH_NEW_OBJECT(*out, clear_data);
    return VHEM_OK;
}

/* True if releasing sequence b also releases a. */
static bool go_together(const vhem_data *data, int64_t a, int64_t b)
{
    const double *y = vh_data_frames(data, a), *next = vh_data_frames(data, b);
    const double *last = y + vh_data_length(data, a) * data->d - 1;
    return vh_spill_together(&data->hold, y, next) && vh_spill_together(&data->hold, last, next);
}

static void let_go(const vhem_data *data, int64_t n)
{
    vh_spill_release(&data->hold, vh_data_frames(data, n), vh_data_length(data, n) * data->d);
}

void vh_data_release(const vhem_data *data, const int64_t *seq, int64_t n)
{
    for (int64_t i = 0; data->hold.map && i < n; i++)
        if (i + 1 == n || !go_together(data, seq ? seq[i] : i, seq ? seq[i + 1] : i + 1))
            let_go(data, seq ? seq[i] : i);
}

void vh_data_passed(const vhem_data *data, int64_t n)
{
    if (data->hold.map && (n + 1 == data->N || !go_together(data, n, n + 1)))
        let_go(data, n);
}

const char *vh_data_location(const vhem_data *data, int64_t n, int64_t t, int k, char out[VH_PLACE_SIZE])
{
    const char *name = data->name ? data->name[n] : "";
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)n);
    snprintf(out, VH_PLACE_SIZE, "%ssequence %s%s%s: frame %lld (counted from 0), column '%.80s'",
             vh_origin_tell(&data->origin, n, t, (char[VH_PLACE_SIZE]){ "" }), *name ? "'" : "",
             *name ? VH_SHOW(name, strlen(name)) : number, *name ? "'" : "", (long long)t, data->column[k]);
    return out;
}

/* Error message for value i of sequence n, with its frame and column. */
static vhem_status bad_value(vhem_ctx *ctx, const vhem_data *data, vhem_status status, int64_t n, int64_t i,
                             const char *what)
{
    return vh_fail(ctx, status, "%s is %s",
                   vh_data_location(data, n, i / data->d, (int)(i % data->d), (char[VH_PLACE_SIZE]){ "" }),
                   what);
}

static const char infinite[] = "infinite, every value must be finite";
static const char missing[] =
    "missing, which dynamic textures cannot do without; drop such rows or fill them in first, or fit HMMs";

/* Counts NaN of sequence n into *n_missing, or rejects NaN if that is NULL; rejects infinity. */
static vhem_status look_at_one(vhem_ctx *ctx, const vhem_data *data, vhem_status status, int64_t n,
                               int64_t *n_missing)
{
    const double *y = vh_data_frames(data, n);
    for (int64_t i = 0; i < vh_data_length(data, n) * data->d; i++) {
        if (isfinite(y[i]))
            continue;
        if (!isnan(y[i]) || !n_missing)
            return bad_value(ctx, data, status, n, i, isnan(y[i]) ? missing : infinite);
        ++*n_missing;
    }
    return VHEM_OK;
}

static vhem_status look_through(vhem_ctx *ctx, const vhem_data *data, vhem_status status, int64_t *n_missing)
{
    for (int64_t n = 0; n < data->N; n++) {
        VH_TRY(look_at_one(ctx, data, status, n, n_missing));
        vh_data_passed(data, n);
    }
    return VHEM_OK;
}

vhem_status vh_data_scan(vhem_ctx *ctx, vhem_data *data)
{
    if (data->hold.map && data->hold.n_infinite == 0) /* the file cannot have changed since */
        return VHEM_OK;
    data->n_missing = 0;
    return look_through(ctx, data, VHEM_EFORMAT, &data->n_missing);
}

vhem_status vh_data_require_complete(vhem_ctx *ctx, const vhem_data *data, const int64_t *seq, int64_t n)
{
    if (data->hold.map && data->hold.n_infinite == 0 && data->hold.n_missing == 0)
        return VHEM_OK;
    if (!seq)
        return look_through(ctx, data, VHEM_EINVAL, NULL);
    for (int64_t i = 0; i < n; i++)
        VH_TRY(look_at_one(ctx, data, VHEM_EINVAL, seq[i], NULL));
    return VHEM_OK;
}

/* look_at_one for a family that does not accept every number. */
static vhem_status suits_one(vhem_ctx *ctx, const vhem_data *data, int64_t n, vh_refuse refuse,
                             const void *arg, int64_t *n_missing)
{
    const double *y = vh_data_frames(data, n);
    for (int64_t i = 0; i < vh_data_length(data, n) * data->d; i++) {
        const char *must = isnan(y[i]) ? NULL : refuse(arg, (int)(i % data->d), y[i]);
        char what[120];
        *n_missing += isnan(y[i]);
        if (!must)
            continue;
        snprintf(what, sizeof what, "%g, must be %s", y[i], must);
        return bad_value(ctx, data, VHEM_EINVAL, n, i, what);
    }
    return VHEM_OK;
}

vhem_status vh_data_suits(vhem_ctx *ctx, const vhem_data *data, const int64_t *seq, int64_t n,
                          vh_refuse refuse, const void *arg, int64_t *n_missing)
{
    *n_missing = 0;
    if (!refuse && data->hold.map && data->hold.n_infinite == 0 && (!seq || data->hold.n_missing == 0)) {
        *n_missing = data->hold.n_missing;
        return VHEM_OK;
    }
    for (int64_t i = 0; i < (seq ? n : data->N); i++) {
        int64_t k = seq ? seq[i] : i;
        VH_TRY(refuse ? suits_one(ctx, data, k, refuse, arg, n_missing)
                      : look_at_one(ctx, data, VHEM_EINVAL, k, n_missing));
        if (!seq)
            vh_data_passed(data, k);
    }
    return VHEM_OK;
}

vhem_status vh_symbols_copy(vhem_ctx *ctx, const vhem_symbols *from, int d, vhem_symbols **out)
{
    VH_CLEANUP(drop_symbols) symbol_columns copy = { .d = d };

    if (!from)
        return VHEM_OK;
    VH_NEW(copy.column, d);
    for (int k = 0; k < d; k++) {
        VH_TRY(copy_texts(ctx, (const char *const *)from[k].name, from[k].n, &copy.column[k].name));
        copy.column[k].n = from[k].n;
    }
    *out = vh_take(copy.column);
    return VHEM_OK;
}

/* Moves texts and weight of sequence `from` to `to` <= from. */
static void move_texts(vhem_data *data, int64_t to, int64_t from)
{
    char **text[] = { data->name, data->label, data->group };
    for (int i = 0; i < 3 && to < from; i++)
        if (text[i]) {
            free(text[i][to]);
            text[i][to] = text[i][from];
            text[i][from] = NULL;
        }
    if (data->weight)
        data->weight[to] = data->weight[from];
}

/* Keeps only sequences keep [n], in ascending order. */
static vhem_status keep_some(vhem_ctx *ctx, const char *path, const int64_t *keep, int64_t n, vhem_data *data)
{
    VH_CLEANUP(vh_spill_free) vh_spill kept = { .name = path, .limit = data->hold.limit };
    VH_CLEANUP(vh_origin_drop) vh_origin origin = { .n = n };
    int64_t N = data->N;
    int d = data->d;

    VH_TRY(vh_origin_some(ctx, &data->origin, keep, n, &origin));
    for (int64_t k = 0; k < n; k++)
        VH_TRY(vh_spill_copy(ctx, &kept, &data->hold, data->start[keep[k]] * d,
                             vh_data_length(data, keep[k]) * d));
    for (int64_t k = 0; k < n; k++) { /* k + 1 <= keep[k + 1]: entries still to be read are intact */
        int64_t T = vh_data_length(data, keep[k]);
        move_texts(data, k, keep[k]);
        data->start[k + 1] = data->start[k] + T;
    }
    char **all[] = { data->name, data->label, data->group };
    for (int i = 0; i < 3; i++)
        for (int64_t k = n; all[i] && k < N; k++)
            free(all[i][k]);
    vh_origin_free(&data->origin, N);
    data->origin = origin;
    origin = (vh_origin){ 0 };
    data->N = n;
    vh_spill_free(&data->hold);
    data->hold = kept;
    kept = (vh_spill){ 0 };
    VH_TRY(vh_spill_values(ctx, &data->hold, &data->y));
    data->n_missing = data->hold.n_missing;
    data->hold.name = NULL;
    return VHEM_OK;
}

vhem_status vh_data_keep_where(vhem_ctx *ctx, const char *path, const char *where, vhem_data *data)
{
    const char *equals = strchr(where, '=');
    size_t n = equals ? (size_t)(equals - where) : 0;
    int64_t kept = 0;
    VH_AUTOFREE int64_t *keep = NULL;
    char **text = NULL;

    if (n == 5 && memcmp(where, "label", n) == 0)
        text = data->label;
    else if (n == 5 && memcmp(where, "group", n) == 0)
        text = data->group;
    else if (n == 4 && memcmp(where, "name", n) == 0)
        text = data->name;
    else
        VH_CHECK(0, VHEM_EINVAL,
                 "%s: " VH_OPT(
                     "where='%s'") ": expected label=VALUE, group=VALUE or name=VALUE; this kind of data has "
                                   "no other columns",
                 path, VH_SHOW(where, strlen(where)));
    VH_NEW(keep, data->N);
    for (int64_t k = 0; k < data->N; k++)
        if (strcmp(text ? text[k] : "", equals + 1) == 0)
            keep[kept++] = k;
    VH_CHECK(kept > 0, VHEM_EINVAL, "%s: no sequence has the %.*s '%s'", path, (int)n, where,
             VH_SHOW(equals + 1, strlen(equals + 1)));
    if (kept < data->N)
        VH_TRY(keep_some(ctx, path, keep, kept, data));
    return VHEM_OK;
}

/* Copies the texts of sequences seq [n]; leaves *out alone if text is NULL. */
static vhem_status some_texts(vhem_ctx *ctx, char *const *text, const int64_t *seq, int64_t n, char ***out)
{
    if (!text)
        return VHEM_OK;
    VH_NEW(*out, n);
    for (int64_t k = 0; k < n; k++)
        VH_DUP((*out)[k], text[seq[k]]);
    return VHEM_OK;
}

vhem_status vh_data_subset(vhem_ctx *ctx, const vhem_data *data, const int64_t *seq, int64_t n,
                           vhem_data **out)
{
    VH_OWN(vhem_data) *own = NULL;

    VH_TRY(vh_data_new(ctx, &own));
    own->N = n;
    own->d = data->d;
    own->y = data->y;
    own->layout = data->layout;
    own->unnamed = data->unnamed;
    memcpy(own->format, data->format, sizeof own->format);
    VH_NEW(own->at, n);
    own->hold = data->hold; /* borrowed: clear_data frees it only when at is NULL */
    VH_NEW(own->start, n + 1);
    if (data->weight)
        VH_NEW(own->weight, n);
    for (int64_t k = 0; k < n; k++) {
        own->at[k] = data->at ? data->at[seq[k]] : data->start[seq[k]];
        own->start[k + 1] = own->start[k] + vh_data_length(data, seq[k]);
        if (data->weight)
            own->weight[k] = data->weight[seq[k]];
    }
    VH_TRY(some_texts(ctx, data->name, seq, n, &own->name));
    VH_TRY(some_texts(ctx, data->label, seq, n, &own->label));
    VH_TRY(some_texts(ctx, data->group, seq, n, &own->group));
    VH_TRY(copy_texts(ctx, (const char *const *)data->column, data->d, &own->column));
    VH_TRY(vh_symbols_copy(ctx, data->symbols, data->d, &own->symbols));
    VH_TRY(vh_origin_some(ctx, &data->origin, seq, n, &own->origin));
    *out = vh_take(own);
    return VHEM_OK;
}

/* Hashes absent lists too, so that labels and groups never collide. */
static uint64_t hash_texts(uint64_t h, char *const *text, int64_t n)
{
    int64_t there = text ? n : -1;
    h = vh_hash_chain(h, &there, sizeof there);
    for (int64_t k = 0; k < there; k++)
        h = vh_hash_chain(h, text[k], strlen(text[k]) + 1);
    return h;
}

uint64_t vh_data_fingerprint(const vhem_data *data)
{
    char *const *const lists[] = { data->name, data->label, data->group };
    uint64_t h = vh_hash_chain((uint64_t)data->d, &data->N, sizeof data->N);
    for (int64_t n = 0; n < data->N; n++) {
        size_t size = (size_t)vh_data_length(data, n) * (size_t)data->d;
        double weight = vh_data_weight(data, n);
        h = vh_hash_chain(h + size, vh_data_frames(data, n), size * sizeof *data->y);
        h = vh_hash_chain(h, &weight, sizeof weight);
        vh_data_passed(data, n);
    }
    for (int k = 0; k < 3; k++)
        h = hash_texts(h, lists[k], data->N);
    h = hash_texts(h, data->column, data->d);
    for (int k = 0; data->symbols && k < data->d; k++)
        h = hash_texts(h, data->symbols[k].name, data->symbols[k].n);
    return h;
}

/* ---- where sequences come from ------------------------------------------------------------------------- */

void vh_origin_free(vh_origin *origin, int64_t N)
{
    for (int64_t n = 0; origin->file && n < N; n++)
        free(origin->file[n]);
    free(origin->file);
    free(origin->line);
    free(origin->path);
    *origin = (vh_origin){ 0 };
}

vhem_status vh_origin_some(vhem_ctx *ctx, const vh_origin *from, const int64_t *seq, int64_t n,
                           vh_origin *out)
{
    VH_CLEANUP(vh_origin_drop) vh_origin copy = { .n = n };

    if (from->path)
        VH_DUP(copy.path, from->path);
    if (from->file)
        VH_NEW(copy.file, n);
    if (from->line)
        VH_NEW(copy.line, n);
    for (int64_t k = 0; k < n; k++) {
        int64_t i = seq ? seq[k] : k;
        if (from->file)
            VH_DUP(copy.file[k], from->file[i]);
        if (from->line)
            copy.line[k] = from->line[i];
    }
    *out = copy;
    copy = (vh_origin){ 0 };
    return VHEM_OK;
}

const char *vh_origin_tell(const vh_origin *origin, int64_t n, int64_t t, char out[VH_PLACE_SIZE])
{
    const char *file = origin->file ? origin->file[n] : origin->path;
    int64_t line = origin->line ? origin->line[n] : 0;
    out[0] = '\0';
    if (file && line > 0)
        snprintf(out, VH_PLACE_SIZE, "%.400s: line %lld: ", file, (long long)(line + t));
    else if (file)
        snprintf(out, VH_PLACE_SIZE, "%.400s: ", file);
    return out;
}
