/* SPDX-License-Identifier: BSD-3-Clause */
/* row_order.c - see row_order.h. */
#include "data/formats/row_order.h"

#include "core/alloc.h"
#include "data/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* One of these words, perhaps with a unit behind it: time, time_ms, "Time [s]". */
bool vh_says_time(const char *name)
{
    static const char *const word[] = { "time",           "timestamp", "frame", "frames", "fixation",
                                        "fixation_index", "index",     "order", "sample" };
    if (strcasecmp(name, "t") == 0)
        return true;
    for (size_t i = 0; i < sizeof word / sizeof *word; i++) {
        size_t n = strlen(word[i]);
        if (strncasecmp(name, word[i], n) != 0)
            continue;
        const char *rest = name + n;
        if (!*rest || strchr(" ([", *rest) || strcasecmp(rest, "_s") == 0 || strcasecmp(rest, "_ms") == 0
            || strcasecmp(rest, "_us") == 0)
            return true;
    }
    return false;
}

void vh_row_order_init(const vh_table *t, int column, vh_row_order *o)
{
    *o = (vh_row_order){ .column = column, .watched = -1 };
    for (int k = 0; k < t->n_columns && column < 0 && o->watched < 0; k++)
        if (vh_says_time(t->column[k]))
            o->watched = k;
}

static vhem_status watch(vhem_ctx *ctx, vh_row_order *o, const vh_table *t, int64_t n)
{
    const vh_field *f = &t->field[o->watched];
    double v;

    for (; o->n_last <= n; o->n_last++) {
        VH_TRY(vh_grow(ctx, &o->last, &o->cap_last, (size_t)o->n_last + 1, sizeof *o->last));
        o->last[o->n_last] = -INFINITY;
    }
    if (vh_number_parse(f->at, f->n, &v) != VH_NUMBER)
        return VHEM_OK;
    if (v < o->last[n] && o->fell_line == 0) {
        o->fell_line = t->line;
        o->fell_from = o->last[n];
        o->fell_to = v;
    }
    o->last[n] = v;
    return VHEM_OK;
}

vhem_status vh_row_order_put(vhem_ctx *ctx, vh_row_order *o, const vh_table *t, int64_t row, int64_t n)
{
    if (o->watched >= 0)
        return watch(ctx, o, t, n);
    if (o->column < 0)
        return VHEM_OK;
    VH_TRY(vh_grow(ctx, &o->at, &o->cap_at, (size_t)row + 1, sizeof *o->at));
    VH_TRY(vh_grow(ctx, &o->line, &o->cap_line, (size_t)row + 1, sizeof *o->line));
    const vh_field *f = &t->field[o->column];
    VH_CHECK(vh_number_parse(f->at, f->n, &o->at[row]) == VH_NUMBER, VHEM_EFORMAT,
             "%s: line %lld: --order sorts by column '%s', which has '%s' here, must be a number", t->path,
             (long long)t->line, t->column[o->column], VH_SHOW(f->at, f->n));
    o->line[row] = t->line;
    return VHEM_OK;
}

typedef struct {
    double at;
    int64_t row;
} placed;

static int by_place(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at ? 1 : x->row < y->row ? -1 : 1;
}

vhem_status vh_row_order_sort(vhem_ctx *ctx, const vh_row_order *o, const vh_table *t, int64_t *row,
                              int64_t n)
{
    VH_AUTOFREE placed *p = NULL;

    if (o->column < 0)
        return VHEM_OK;
    VH_NEW(p, n);
    for (int64_t i = 0; i < n; i++)
        p[i] = (placed){ o->at[row[i]], row[i] };
    qsort(p, (size_t)n, sizeof *p, by_place);
    for (int64_t i = 0; i < n; i++) {
        VH_CHECK(
            i == 0 || p[i].at > p[i - 1].at, VHEM_EFORMAT,
            "%s: lines %lld and %lld are of one sequence and both have %g in column '%s', so --order cannot "
            "tell which comes first",
            t->path, (long long)o->line[p[i - 1].row], (long long)o->line[p[i].row], p[i].at,
            t->column[o->column]);
        row[i] = p[i].row;
    }
    return VHEM_OK;
}

void vh_row_order_judge(vhem_ctx *ctx, const vh_row_order *o, const vh_table *t)
{
    if (o->fell_line > 0)
        vh_log(
            ctx, VHEM_LOG_WARN,
            "%s: line %lld: column '%s' falls from %g to %g within a sequence; if it says the order of the "
            "rows, add --order '%s'",
            t->path, (long long)o->fell_line, t->column[o->watched], o->fell_from, o->fell_to,
            t->column[o->watched]);
}

void vh_row_order_free(vh_row_order *o)
{
    free(o->at);
    free(o->line);
    free(o->last);
    *o = (vh_row_order){ .column = -1, .watched = -1 };
}
