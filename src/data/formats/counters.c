/* SPDX-License-Identifier: BSD-3-Clause */
/* counters.c - see counters.h. */
#include "data/formats/counters.h"

#include "core/alloc.h"
#include "data/formats/row_order.h"
#include "data/values.h"

#include <string.h>

typedef enum { GOES_ANYHOW, RISES, COUNTS } course;

/* How dimension k goes in every sequence: up, or from 0 or 1 by one from frame to frame.  In a few frames
 * both may be chance. */
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
            if (!(step > 0)) /* or one of them is missing */
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
            vh_log(ctx, VHEM_LOG_WARN, "%s: column '%.80s' %s; leave it out with --columns%s%s%s%s", path,
                   data->column[k],
                   goes[k] == COUNTS ? "counts the rows of each sequence"
                                     : "is a time, which rises in each sequence",
                   *list ? " " : "", strpbrk(list, " ;&|()") ? "'" : "", list,
                   strpbrk(list, " ;&|()") ? "'" : "");
    return VHEM_OK;
}
