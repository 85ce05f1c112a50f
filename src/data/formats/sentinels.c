/* SPDX-License-Identifier: BSD-3-Clause */
/* sentinels.c - see sentinels.h. */
#include "data/formats/sentinels.h"

#include "core/alloc.h"
#include "data/values.h"
#include "data/formats/table.h"

#include <math.h>
#include <string.h>

typedef struct { /* smallest value of a column, its count, and the next larger; the same for the largest */
    double least, second, most, next;
    int64_t n_least, n_most;
} ends;

/* True for 99, 999, 9999, ... with or without a minus. */
static bool is_nines(double y)
{
    double nines = 99;
    for (y = fabs(y); nines < y && nines < 1e12;)
        nines = 10 * nines + 9;
    return y == nines;
}

static void note_value(double v, ends *e)
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

/* Fills e [d] in one pass in memory order; column by column would fetch every frame d times. */
static void look_at_cells(const vhem_data *data, ends *e)
{
    for (int k = 0; k < data->d; k++)
        e[k] = (ends){ INFINITY, INFINITY, -INFINITY, -INFINITY, 0, 0 };
    for (int64_t n = 0; n < data->N; n++) {
        const double *y = vh_data_frames(data, n);
        for (int64_t t = 0; t < vh_data_length(data, n); t++, y += data->d)
            for (int k = 0; k < data->d; k++)
                note_value(y[k], &e[k]);
    }
}

/* Returns the extreme that is a sentinel, or 0.  Negative nines among non-negative values need not be far
 * away. */
static double sentinel_of(const ends *e, int64_t *count, double range[2])
{
    enum { FAR = 3, OFTEN = 2 }; /* multiples of the other values' range; least count */
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
    enum { TOLD = 3 }; /* columns reported: many have one cause */
    VH_AUTOFREE ends *e = NULL;
    int told = 0;

    if (data->hold.map)
        return VHEM_OK;
    VH_NEW(e, data->d);
    look_at_cells(data, e);
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
               "a missing value, %s%s%s",
               path, data->column[k], number, (long long)count, range[0], range[1],
               text ? "add \1missing=" : "make it NaN", text ? number : "", text ? "\2" : "");
        told++;
    }
    return VHEM_OK;
}

/* ---- columns that count or date the frames ------------------------------------------------------------- */

typedef enum { GOES_ANYHOW, RISES, COUNTS } course;

/* Classifies dimension k over all sequences: rises, or counts from 0 or 1 in steps of one.  In a few frames
 * either may be chance. */
static course course_of(const vhem_data *data, int k)
{
    enum { ENOUGH = 4 };
    int64_t steps = 0;
    bool counts = true;

    for (int64_t n = 0; n < data->N; n++) {
        const double *y = vh_data_frames(data, n) + k;
        counts = counts && (y[0] == 0 || y[0] == 1);
        for (int64_t i = 1; i < vh_data_length(data, n); i++, steps++) {
            double step = y[i * data->d] - y[(i - 1) * data->d];
            if (!(step > 0)) /* or a value is missing */
                return GOES_ANYHOW;
            counts = counts && step == 1;
        }
        vh_data_passed(data, n);
    }
    return steps < ENOUGH ? GOES_ANYHOW : counts ? COUNTS : RISES;
}

vhem_status vh_warn_of_counters(vhem_ctx *ctx, const char *path, const vhem_data_options *opt,
                                const vhem_data *data)
{
    VH_AUTOFREE char **others = NULL;
    char list[256];
    VH_AUTOFREE course *goes = NULL;
    int n = 0;

    if (opt->columns || data->d < 2)
        return VHEM_OK;
    VH_NEW(others, data->d);
    VH_NEW(goes, data->d);
    for (int k = 0; k < data->d; k++) {
        bool symbol = data->symbols && data->symbols[k].n > 0;
        goes[k] = symbol ? GOES_ANYHOW : course_of(data, k);
        if (goes[k] == RISES && !vh_says_time(vh_data_column(data, k)))
            goes[k] = GOES_ANYHOW;
        if (goes[k] == GOES_ANYHOW && !symbol)
            others[n++] = data->column[k];
    }
    if (!vh_join(others, n, ",", list, sizeof list))
        list[0] = '\0';
    for (int k = 0; n > 0 && k < data->d; k++)
        if (goes[k] != GOES_ANYHOW)
            vh_log(ctx, VHEM_LOG_WARN, "%s: column '%.80s' %s; leave it out with " VH_OPT("columns%s%s%s%s"),
                   path, data->column[k],
                   goes[k] == COUNTS ? "counts the rows of each sequence"
                                     : "is a time, which rises in each sequence",
                   *list ? "=" : "", strpbrk(list, " ;&|()") ? "'" : "", list,
                   strpbrk(list, " ;&|()") ? "'" : "");
    return VHEM_OK;
}
