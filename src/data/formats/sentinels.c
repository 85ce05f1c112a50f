/* SPDX-License-Identifier: BSD-3-Clause */
/* sentinels.c - see sentinels.h. */
#include "data/formats/sentinels.h"

#include "core/alloc.h"
#include "data/values.h"

#include <math.h>

typedef struct { /* the least value of a column, how often it comes, and the next above it; and the largest */
    double least, second, most, next;
    int64_t n_least, n_most;
} ends;

/* 99, 999, 9999, ... with or without a minus. */
static bool is_nines(double y)
{
    double nines = 99;
    for (y = fabs(y); nines < y && nines < 1e12;)
        nines = 10 * nines + 9;
    return y == nines;
}

static void look_at(double v, ends *e)
{
    if (v < e->least) {
        e->second = e->least;
        e->least = v;
        e->n_least = 0;
    } else if (v > e->least && v < e->second) {
        e->second = v;
    }
    if (v > e->most) {
        e->next = e->most;
        e->most = v;
        e->n_most = 0;
    } else if (v < e->most && v > e->next) {
        e->next = v;
    }
    e->n_least += v == e->least;
    e->n_most += v == e->most;
}

/* e [d]: one pass in the order of memory, as columns one by one would fetch every frame d times. */
static void look(const vhem_data *data, ends *e)
{
    for (int k = 0; k < data->d; k++)
        e[k] = (ends){ INFINITY, INFINITY, -INFINITY, -INFINITY, 0, 0 };
    for (int64_t n = 0; n < data->N; n++) {
        const double *y = vh_data_frames(data, n);
        for (int64_t t = 0; t < vh_data_length(data, n); t++, y += data->d)
            for (int k = 0; k < data->d; k++)
                look_at(y[k], &e[k]);
    }
}

/* Which end is no measurement; 0: neither.  Below zero nines need not be far away where nothing else is. */
static double sentinel_of(const ends *e, int64_t *count, double range[2])
{
    enum { FAR = 3, OFTEN = 2 }; /* times the range of the other values; times that it comes */
    if (e->n_least >= OFTEN && e->least < 0 && isfinite(e->second) && is_nines(e->least)
        && (e->second >= 0 || e->second - e->least > FAR * (e->most - e->second))) {
        *count = e->n_least;
        range[0] = e->second;
        range[1] = e->most;
        return e->least;
    }
    if (e->n_most >= OFTEN && isfinite(e->next) && is_nines(e->most)
        && e->most - e->next > FAR * (e->next - e->least)) {
        *count = e->n_most;
        range[0] = e->least;
        range[1] = e->next;
        return e->most;
    }
    return 0;
}

vhem_status vh_warn_of_sentinels(vhem_ctx *ctx, const char *path, bool text, const vhem_data *data)
{
    enum { TOLD = 3 }; /* columns: a table with many has one cause */
    VH_AUTOFREE ends *e = NULL;
    int told = 0;

    if (data->hold.map)
        return VHEM_OK;
    VH_NEW(e, data->d);
    look(data, e);
    for (int k = 0; k < data->d && told < TOLD; k++) {
        char number[VH_NUMBER_SIZE];
        double range[2] = { 0 };
        int64_t count = 0;
        if (data->symbols && data->symbols[k].n > 0)
            continue;
        double v = sentinel_of(&e[k], &count, range);
        if (v == 0)
            continue;
        number[vh_number_short(v, number)] = '\0';
        vh_log(ctx, VHEM_LOG_WARN,
               "%s: column '%.80s' is %s in %lld frames and from %g to %g in all others; if that stands for "
               "a missing value, %s%s",
               path, data->column[k], number, (long long)count, range[0], range[1],
               text ? "add --missing=" : "make it NaN", text ? number : "");
        told++;
    }
    return VHEM_OK;
}
