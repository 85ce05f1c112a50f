/* data.c - the sequence set: loading through the table of formats, wrapping memory, reading and checking. */
#include "data/data.h"

#include "core/alloc.h"
#include "data/readers.h"
#include "data/roles.h"
#include "data/values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void vhem_data_options_init(vhem_data_options *opt)
{
    memset(opt, 0, sizeof *opt);
}

vhem_status vhem_data_load(vhem_ctx *ctx, const char *path, const vhem_data_options *opt, vhem_data **out)
{
    vhem_status st = VHEM_OK;
    vh_locale locale = vh_locale_enter();
    vhem_data *data = NULL;
    vhem_data_options defaults;
    const vh_reader *reader;

    vhem_data_options_init(&defaults);
    opt = opt ? opt : &defaults;
    VH_TRY(vh_reader_find(ctx, path, opt->format, &reader));
    VH_TRY(reader->read(ctx, path, opt, &data));
    if (opt->columns && !reader->picks_columns)
        VH_TRY(vh_data_keep_columns(ctx, path, opt->columns, data));
    st = vh_data_scan(ctx, data);
    if (st != VHEM_OK)
        vh_error_prefix(ctx, path);
    VH_TRY(st);
    *out = data;
    data = NULL;
done:
    vhem_data_free(data);
    vh_locale_leave(locale);
    return st;
}

vhem_status vhem_data_wrap(vhem_ctx *ctx, int N, const int *T, int d, const double *y, vhem_data **out)
{
    vhem_status st = VHEM_OK;
    vhem_data *data = NULL;

    VH_CHECK(N >= 1 && d >= 1, VHEM_EINVAL, "there are %d sequences of dimension %d, both must be at least 1",
             N, d);
    VH_CHECK(T && y, VHEM_EINVAL, "the %s of the sequences are NULL", T ? "frames" : "lengths");
    VH_NEW(data, 1);
    data->N = N;
    data->d = d;
    data->y = y;
    snprintf(data->format, sizeof data->format, "memory");
    VH_NEW(data->start, N + 1);
    for (int n = 0; n < N; n++) {
        VH_CHECK(T[n] >= 1, VHEM_EINVAL, "sequence %d has %d frames, needs at least one", n, T[n]);
        data->start[n + 1] = data->start[n] + T[n];
    }
    VH_TRY(vh_data_name_columns(ctx, data));
    for (int64_t i = 0; i < data->start[N] * d; i++)
        data->n_missing += isnan(y[i]);
    *out = data;
    data = NULL;
done:
    vhem_data_free(data);
    return st;
}

/* A copy of n texts, NULL when there are none to copy. */
static vhem_status copy_texts(vhem_ctx *ctx, const char *const *text, int n, char ***out)
{
    vhem_status st = VHEM_OK;
    char **copy = NULL;

    if (!text)
        return VHEM_OK;
    VH_NEW(copy, n);
    for (int i = 0; i < n; i++)
        VH_DUP(copy[i], text[i] ? text[i] : "");
    *out = copy;
    copy = NULL;
done:
    vh_list_free(copy, n);
    return st;
}

/* Puts a new list in the place of the old one, when there is a new one. */
static void replace_texts(char ***place, char ***text, int n)
{
    if (!*text)
        return;
    vh_list_free(*place, n);
    *place = *text;
    *text = NULL;
}

vhem_status vhem_data_describe(vhem_ctx *ctx, vhem_data *data, const char *const *name,
                               const char *const *label, const char *const *group, const double *weight,
                               const char *const *column)
{
    vhem_status st = VHEM_OK;
    int N = data->N, d = data->d;
    char **names = NULL, **labels = NULL, **groups = NULL, **columns = NULL;
    double *weights = NULL;

    for (int n = 0; weight && n < N; n++)
        VH_CHECK(isfinite(weight[n]) && weight[n] > 0, VHEM_EINVAL,
                 "sequence %d: the weight is %g, must be a positive number", n, weight[n]);
    VH_TRY(copy_texts(ctx, name, N, &names));
    VH_TRY(copy_texts(ctx, label, N, &labels));
    VH_TRY(copy_texts(ctx, group, N, &groups));
    VH_TRY(copy_texts(ctx, column, d, &columns));
    if (weight) {
        VH_NEW(weights, N);
        memcpy(weights, weight, (size_t)N * sizeof *weights);
        free(data->weight);
        data->weight = weights;
    }
    replace_texts(&data->name, &names, N);
    replace_texts(&data->label, &labels, N);
    replace_texts(&data->group, &groups, N);
    replace_texts(&data->column, &columns, d);
done:
    vh_list_free(names, N);
    vh_list_free(labels, N);
    vh_list_free(groups, N);
    vh_list_free(columns, d);
    return st;
}

vhem_status vh_data_name_columns(vhem_ctx *ctx, vhem_data *data)
{
    vhem_status st = VHEM_OK;
    char name[16];

    if (data->column)
        return VHEM_OK;
    VH_NEW(data->column, data->d);
    for (int k = 0; k < data->d; k++) {
        snprintf(name, sizeof name, "y%d", k);
        VH_DUP(data->column[k], name);
    }
done:
    return st;
}

int vhem_data_size(const vhem_data *data)
{
    return data->N;
}

int vhem_data_dim(const vhem_data *data)
{
    return data->d;
}

const char *vhem_data_column(const vhem_data *data, int k)
{
    return k >= 0 && k < data->d ? data->column[k] : "";
}

const char *vhem_data_format(const vhem_data *data)
{
    return data->format;
}

int64_t vhem_data_missing(const vhem_data *data)
{
    return data->n_missing;
}

vhem_status vhem_data_view(const vhem_data *data, int n, vhem_seq_view *out)
{
    if (n < 0 || n >= data->N)
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

void vhem_data_free(vhem_data *data)
{
    if (!data)
        return;
    vh_list_free(data->name, data->N);
    vh_list_free(data->label, data->N);
    vh_list_free(data->group, data->N);
    vh_list_free(data->column, data->d);
    free(data->weight);
    free(data->start);
    free(data->own_y);
    free(data);
}

/* The sentence for value i of y, told by its sequence, frame and column. */
static vhem_status bad_value(vhem_ctx *ctx, const vhem_data *data, vhem_status status, int64_t i,
                             const char *what)
{
    int64_t t = i / data->d;
    int n = 0;
    while (data->start[n + 1] <= t)
        n++;
    const char *name = data->name ? data->name[n] : "";
    char number[24];
    snprintf(number, sizeof number, "%d", n);
    return vh_fail(ctx, status, "sequence %s%s%s: frame %lld (counted from 0), column '%s' is %s",
                   *name ? "'" : "", *name ? VH_SHOW(name, strlen(name)) : number, *name ? "'" : "",
                   (long long)(t - data->start[n]), data->column[i % data->d], what);
}

static const char infinite[] = "infinite, every value must be finite";
static const char missing[] =
    "missing; drop such rows or fill them in first: missing values are not supported";

vhem_status vh_data_scan(vhem_ctx *ctx, vhem_data *data)
{
    int64_t n_values = data->start[data->N] * data->d;
    data->n_missing = 0;
    for (int64_t i = 0; i < n_values; i++) {
        if (isfinite(data->y[i]))
            continue;
        if (!isnan(data->y[i]))
            return bad_value(ctx, data, VHEM_EFORMAT, i, infinite);
        data->n_missing++;
    }
    return VHEM_OK;
}

vhem_status vh_data_require_complete(vhem_ctx *ctx, const vhem_data *data)
{
    int64_t n_values = data->start[data->N] * data->d;
    for (int64_t i = 0; i < n_values; i++)
        if (!isfinite(data->y[i]))
            return bad_value(ctx, data, VHEM_EINVAL, i,
                             isnan(data->y[i]) ? missing : infinite);
    return VHEM_OK;
}

vhem_status vh_data_keep_columns(vhem_ctx *ctx, const char *path, const char *list, vhem_data *data)
{
    vhem_status st = VHEM_OK;
    int *place = NULL, d = 0, old_d = data->d;
    char **column = NULL;
    double *frame = NULL;

    VH_TRY(vh_columns_pick(ctx, path, list, data->column, old_d, &place, &d));
    VH_NEW(column, d);
    VH_NEW(frame, d);
    for (int64_t t = 0; t < data->start[data->N]; t++) {
        for (int k = 0; k < d; k++)
            frame[k] = data->own_y[t * old_d + place[k]];
        memcpy(data->own_y + t * d, frame, (size_t)d * sizeof *frame);
    }
    for (int k = 0; k < d; k++) {
        column[k] = data->column[place[k]];
        data->column[place[k]] = NULL;
    }
    vh_list_free(data->column, old_d);
    data->column = column;
    data->d = d;
done:
    free(frame);
    free(place);
    return st;
}

/* Moves sequence `from` to place `to`, which is not behind it. */
static void move_sequence(vhem_data *data, int to, int from)
{
    int64_t T = vh_data_length(data, from);
    char **text[] = { data->name, data->label, data->group };
    memmove(data->own_y + data->start[to] * data->d, vh_data_frames(data, from),
            (size_t)(T * data->d) * sizeof *data->own_y);
    for (int i = 0; i < 3 && to < from; i++)
        if (text[i]) {
            free(text[i][to]);
            text[i][to] = text[i][from];
            text[i][from] = NULL;
        }
    if (data->weight)
        data->weight[to] = data->weight[from];
    data->start[to + 1] = data->start[to] + T;
}

vhem_status vh_data_keep_where(vhem_ctx *ctx, const char *path, const char *where, vhem_data *data)
{
    const char *equals = strchr(where, '=');
    size_t n = equals ? (size_t)(equals - where) : 0;
    char **text = NULL;
    if (n == 5 && memcmp(where, "label", n) == 0)
        text = data->label;
    else if (n == 5 && memcmp(where, "group", n) == 0)
        text = data->group;
    else if (n == 4 && memcmp(where, "name", n) == 0)
        text = data->name;
    else
        return vh_fail(ctx, VHEM_EINVAL,
                       "%s: --where '%s': expected label=VALUE, group=VALUE or name=VALUE; this "
                       "kind of data has no other columns",
                       path, VH_SHOW(where, strlen(where)));
    int kept = 0, N = data->N;
    /* to + 1 <= from whenever a start is given another value, so those still to be read are intact. */
    for (int from = 0, to = 0; from < N; from++) {
        if (strcmp(text ? text[from] : "", equals + 1) != 0)
            continue;
        move_sequence(data, to, from);
        kept = ++to;
    }
    if (kept == 0)
        return vh_fail(ctx, VHEM_EINVAL, "%s: no sequence has the %.*s '%s'", path, (int)n, where,
                       VH_SHOW(equals + 1, strlen(equals + 1)));
    char **all[] = { data->name, data->label, data->group };
    for (int i = 0; i < 3; i++)
        for (int k = kept; all[i] && k < N; k++)
            free(all[i][k]);
    data->N = kept;
    return VHEM_OK;
}
