/* SPDX-License-Identifier: BSD-3-Clause */
/* write_csv.c - long CSV and TSV: columns id, label, group, weight (the last three if the set has them), then
 * the dimensions. */
#include "core/alloc.h"
#include "core/atomic_file.h"
#include "core/names.h"
#include "data/values.h"
#include "data/formats/write.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <strings.h>

void vh_write_field(FILE *f, const char *text, char delim)
{
    size_t n = strlen(text);
    bool quote = n > 0 && (*text == ' ' || *text == '#' || text[n - 1] == ' ');
    for (const char *p = text; *p && !quote; p++)
        quote = *p == delim || *p == '"' || *p == '\n' || *p == '\r' || *p == '\t' || *p == ',' || *p == ';';
    if (!quote) {
        fwrite(text, 1, n, f);
        return;
    }
    putc('"', f);
    for (const char *p = text; *p; p++) {
        if (*p == '"')
            putc('"', f);
        putc(*p, f);
    }
    putc('"', f);
}

const char *vh_write_name(const vhem_data *data, int64_t n, char number[24])
{
    if (data->name && *data->name[n])
        return data->name[n];
    snprintf(number, 24, "%lld", (long long)n);
    return number;
}

/* Duplicate names would merge two sequences when read back. */
static vhem_status can_use_names(vhem_ctx *ctx, const vhem_data *data, const char *path, bool *can)
{
    VH_CLEANUP(vh_names_free) vh_names seen = { 0 };
    int64_t index;

    *can = true;
    for (int64_t n = 0; n < data->N && *can; n++) {
        char number[24];
        const char *name = vh_write_name(data, n, number);
        VH_TRY(vh_names_put(ctx, &seen, name, strlen(name), &index, can));
        if (!*can)
            vh_log(ctx, VHEM_LOG_WARN,
                   "%s: more than one sequence is named '%s'; column id numbers them instead", path,
                   VH_SHOW(name, strlen(name)));
    }
    return VHEM_OK;
}

/* True if a reader would give the dimension another role. */
static bool is_reserved(const char *column)
{
    static const char *const word[] = { "id", "seq", "label", "group", "weight" };
    for (int i = 0; i < 5; i++)
        if (strcasecmp(column, word[i]) == 0)
            return true;
    return false;
}

static void write_header(vhem_ctx *ctx, FILE *f, const vhem_data *data, const char *path, char delim)
{
    fputs("id", f);
    if (data->label)
        fprintf(f, "%clabel", delim);
    if (data->group)
        fprintf(f, "%cgroup", delim);
    if (data->weight)
        fprintf(f, "%cweight", delim);
    for (int k = 0; k < data->d; k++) {
        putc(delim, f);
        vh_write_field(f, data->column[k], delim);
        if (is_reserved(data->column[k])) {
            putc('_', f);
            vh_log(ctx, VHEM_LOG_WARN, "%s: dimension '%s' is written as column '%s_'", path, data->column[k],
                   data->column[k]);
        }
    }
    putc('\n', f);
}

/* Symbol of value y in column k; NULL: a plain number. */
static const char *symbol_of(const vhem_data *data, int k, double y)
{
    const vhem_symbols *s = data->symbols ? &data->symbols[k] : NULL;
    return s && y >= 0 && y < s->n ? s->name[(int)y] : NULL;
}

static vhem_status write_sequence(vhem_ctx *ctx, FILE *f, const vhem_data *data, int64_t n, const char *name,
                                  char delim)
{
    const double *y = vh_data_frames(data, n);
    char text[VH_NUMBER_SIZE];
    for (int64_t t = 0; t < vh_data_length(data, n); t++) {
        VH_CHECK(t % VH_WRITE_STRETCH != 0 || !vh_stopped(ctx), VHEM_ESTOPPED, "stopped while writing");
        vh_write_field(f, name, delim);
        if (data->label) {
            putc(delim, f);
            vh_write_field(f, data->label[n], delim);
        }
        if (data->group) {
            putc(delim, f);
            vh_write_field(f, data->group[n], delim);
        }
        if (data->weight) {
            putc(delim, f);
            fwrite(text, 1, vh_number_short(data->weight[n], text), f);
        }
        for (int k = 0; k < data->d; k++, y++) {
            const char *symbol = symbol_of(data, k, *y);
            putc(delim, f);
            if (symbol)
                vh_write_field(f, symbol, delim);
            else
                fwrite(text, 1, vh_number_short(*y, text), f);
        }
        putc('\n', f);
    }
    vh_data_passed(data, n);
    return VHEM_OK;
}

static vhem_status write_long(vhem_ctx *ctx, const vhem_data *data, const char *path, char delim)
{
    VH_CLEANUP(vh_atomic_file_close) vh_atomic_file out = { 0 };
    bool names;
    char number[24];

    VH_TRY(can_use_names(ctx, data, path, &names));
    VH_TRY(vh_atomic_file_open(ctx, path, &out));
    write_header(ctx, out.f, data, path, delim);
    for (int64_t n = 0; n < data->N; n++) {
        snprintf(number, sizeof number, "%lld", (long long)n);
        VH_TRY(write_sequence(ctx, out.f, data, n, names ? vh_write_name(data, n, number) : number, delim));
    }
    return vh_atomic_file_commit(ctx, &out);
}

vhem_status vh_write_csv(vhem_ctx *ctx, const vhem_data *data, const char *path)
{
    return write_long(ctx, data, path, ',');
}

vhem_status vh_write_tsv(vhem_ctx *ctx, const vhem_data *data, const char *path)
{
    return write_long(ctx, data, path, '\t');
}
