/* SPDX-License-Identifier: BSD-3-Clause */
/* write_ts.c - the text format of aeon and sktime.  It keeps frames and labels; it cannot hold names, groups,
 * weights and dimension names. */
#include "core/alloc.h"
#include "core/atomic_file.h"
#include "core/names.h"
#include "data/values.h"
#include "data/formats/write.h"

#include <math.h>
#include <string.h>

/* Collects the classes.  The header lists them separated by blanks, and each follows ':' at the end of a
 * line. */
static vhem_status list_classes(vhem_ctx *ctx, const vhem_data *data, const char *path, vh_names *classes)
{
    int64_t index;
    bool is_new;

    for (int64_t n = 0; data->label && n < data->N; n++) {
        const char *label = data->label[n];
        VH_CHECK(!strpbrk(label, " \t\r\n\f\v:") && strcmp(label, "?") != 0, VHEM_EINVAL,
                 "%s: the label '%s' cannot be written as .ts, which has no blanks and no ':' in a class; "
                 "use .csv",
                 path, VH_SHOW(label, strlen(label)));
        if (*label)
            VH_TRY(vh_names_put(ctx, classes, label, strlen(label), &index, &is_new));
    }
    return VHEM_OK;
}

static void write_header(FILE *f, const vhem_data *data, const vh_names *classes)
{
    int64_t T = vh_data_length(data, 0);
    bool equal = true;
    for (int64_t n = 1; n < data->N; n++)
        equal &= vh_data_length(data, n) == T;
    fprintf(f, "@problemName sequences\n@timeStamps false\n@missing %s\n@univariate %s\n",
            data->n_missing ? "true" : "false", data->d == 1 ? "true" : "false");
    if (data->d > 1)
        fprintf(f, "@dimensions %d\n", data->d);
    fprintf(f, "@equalLength %s\n", equal ? "true" : "false");
    if (equal)
        fprintf(f, "@seriesLength %lld\n", (long long)T);
    fprintf(f, "@classLabel %s", data->label ? "true" : "false");
    for (int64_t i = 0; i < classes->n; i++)
        fprintf(f, " %s", classes->text[i]);
    fputs("\n@data\n", f);
}

static vhem_status write_case(vhem_ctx *ctx, FILE *f, const vhem_data *data, int64_t n)
{
    const double *y = vh_data_frames(data, n);
    int64_t T = vh_data_length(data, n);
    char text[VH_NUMBER_SIZE];
    for (int c = 0; c < data->d; c++) {
        if (c > 0)
            putc(':', f);
        for (int64_t t = 0; t < T; t++) {
            double v = y[t * data->d + c];
            VH_CHECK(t % VH_WRITE_STRETCH != 0 || !vh_stopped(ctx), VHEM_ESTOPPED, "stopped while writing");
            if (t > 0)
                putc(',', f);
            if (isnan(v))
                putc('?', f);
            else
                fwrite(text, 1, vh_number_short(v, text), f);
        }
    }
    if (data->label)
        fprintf(f, ":%s", *data->label[n] ? data->label[n] : "?");
    putc('\n', f);
    vh_data_passed(data, n);
    return VHEM_OK;
}

vhem_status vh_write_ts(vhem_ctx *ctx, const vhem_data *data, const char *path)
{
    VH_CLEANUP(vh_atomic_file_close) vh_atomic_file out = { 0 };
    VH_CLEANUP(vh_names_free) vh_names classes = { 0 };

    VH_TRY(list_classes(ctx, data, path, &classes));
    VH_TRY(vh_atomic_file_open(ctx, path, &out));
    write_header(out.f, data, &classes);
    for (int64_t n = 0; n < data->N; n++)
        VH_TRY(write_case(ctx, out.f, data, n));
    return vh_atomic_file_commit(ctx, &out);
}
