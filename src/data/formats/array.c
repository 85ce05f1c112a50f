/* SPDX-License-Identifier: BSD-3-Clause */
/* array.c - see array.h. */
#include "data/formats/array.h"

#include "core/alloc.h"
#include "data/data.h"
#include "data/values.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>

const char *const vh_stacked_key[VH_N_STACKED] = { "X",      "lengths", "names",  "labels",
                                                   "groups", "weights", "columns" };

void vh_array_free(vh_array *a)
{
    for (int64_t i = 0; a->text && i < a->count; i++)
        free(a->text[i]);
    free(a->text);
    vh_spill_free(&a->hold);
    *a = (vh_array){ 0 };
}

vhem_status vh_array_frames(vhem_ctx *ctx, const char *path, const char *key, const vh_array *a, int *d)
{
    VH_CHECK(!a->text, VHEM_EFORMAT, "%s: array '%s' holds text, expected numbers", path, key);
    VH_CHECK(a->ndim == 1 || a->ndim == 2, VHEM_EFORMAT,
             "%s: array '%s' has %d dimensions, expected 2: time and channels", path, key, a->ndim);
    VH_CHECK(a->count > 0, VHEM_EFORMAT, "%s: array '%s' is empty", path, key);
    VH_CHECK(a->ndim == 1 || a->shape[1] <= INT_MAX, VHEM_EFORMAT,
             "%s: array '%s' has %lld columns, expected at most %d", path, key, (long long)a->shape[1],
             INT_MAX);
    *d = a->ndim == 2 ? (int)a->shape[1] : 1;
    return VHEM_OK;
}

/* Moves the frames of a into a new builder. */
static vhem_status open_builder(vhem_ctx *ctx, const char *path, const vhem_data_options *opt, int d,
                                vh_array *a, vh_builder **b)
{
    VH_TRY(vh_builder_open(ctx, path, opt, d, b));
    vh_builder_take(*b, &a->hold);
    a->y = NULL;
    return VHEM_OK;
}

vhem_status vh_array_build(vhem_ctx *ctx, const char *path, const vhem_data_options *opt, const char *format,
                           const char *name, vh_array *a, vhem_data **out)
{
    VH_OWN(vh_builder) *b = NULL;
    int d;

    if (a->ndim != 3) {
        VH_TRY(vh_array_frames(ctx, path, name, a, &d));
        VH_TRY(open_builder(ctx, path, opt, d, a, &b));
        VH_TRY(vh_builder_cut(b, a->shape[0], name, NULL, NULL, 1));
    } else {
        VH_CHECK(!a->text && a->count > 0, VHEM_EFORMAT, "%s: array '%s' %s", path, name,
                 a->text ? "holds text, expected numbers" : "is empty");
        VH_CHECK(a->shape[2] <= INT_MAX, VHEM_EFORMAT, "%s: array '%s' has %lld columns, expected at most %d",
                 path, name, (long long)a->shape[2], INT_MAX);
        VH_TRY(open_builder(ctx, path, opt, (int)a->shape[2], a, &b));
        for (int64_t n = 0; n < a->shape[0]; n++) {
            char number[24];
            snprintf(number, sizeof number, "%lld", (long long)n);
            VH_TRY(vh_builder_cut(b, a->shape[1], number, NULL, NULL, 1));
        }
    }
    return vh_builder_finish(b, format, out);
}

static vhem_status check_side(vhem_ctx *ctx, const char *path, const vh_array a[VH_N_STACKED], int k,
                              int64_t n)
{
    const vh_array *s = &a[k];

    if (s->ndim == 0 && !s->y && !s->text)
        return VHEM_OK;
    VH_CHECK(s->ndim == 1 && s->count == n, VHEM_EFORMAT,
             "%s: '%s' has %lld values in %d dimensions, expected %lld in one", path, vh_stacked_key[k],
             (long long)s->count, s->ndim, (long long)n);
    VH_CHECK(s->text || k != VH_COLUMNS, VHEM_EFORMAT, "%s: 'columns' holds numbers, expected text", path);
    VH_CHECK(s->y || (k != VH_WEIGHTS && k != VH_LENGTHS), VHEM_EFORMAT,
             "%s: '%s' holds text, expected numbers", path, vh_stacked_key[k]);
    return VHEM_OK;
}

/* Text n of a side array; numbers in their shortest form. */
static const char *side_text(const vh_array *a, int64_t n, char number[32])
{
    if (a->text)
        return a->text[n];
    if (!a->y)
        return NULL;
    vh_number_short(a->y[n], number);
    return number;
}

vhem_status vh_stacked_build(vhem_ctx *ctx, const char *path, const vhem_data_options *opt,
                             const char *format, vh_array a[VH_N_STACKED], vhem_data **out)
{
    VH_OWN(vh_builder) *b = NULL;
    int d;
    int64_t rows, N = a[VH_LENGTHS].count, used = 0;

    VH_TRY(vh_array_frames(ctx, path, "X", &a[VH_X], &d));
    rows = a[VH_X].shape[0];
    for (int k = VH_LENGTHS; k < VH_N_STACKED; k++)
        VH_TRY(check_side(ctx, path, a, k, k == VH_COLUMNS ? d : N));
    VH_TRY(open_builder(ctx, path, opt, d, &a[VH_X], &b));
    if (a[VH_COLUMNS].text)
        VH_TRY(vh_builder_columns(b, (const char *const *)a[VH_COLUMNS].text));
    for (int64_t n = 0; n < N; n++) {
        double T = a[VH_LENGTHS].y[n];
        char name[32], label[32], group[32], number[24];
        VH_CHECK(
            T >= 1 && T == floor(T) && T <= (double)(rows - used), VHEM_EFORMAT,
            "%s: lengths[%lld] is %g, expected a whole number from 1 to the %lld rows of X that are left",
            path, (long long)n, T, (long long)(rows - used));
        snprintf(number, sizeof number, "%lld", (long long)n);
        const char *given = side_text(&a[VH_NAMES], n, name);
        VH_TRY(vh_builder_cut(b, (int64_t)T, given ? given : number, side_text(&a[VH_LABELS], n, label),
                              side_text(&a[VH_GROUPS], n, group), a[VH_WEIGHTS].y ? a[VH_WEIGHTS].y[n] : 1));
        used += (int64_t)T;
    }
    VH_CHECK(used == rows, VHEM_EFORMAT, "%s: the lengths add up to %lld, but X has %lld rows", path,
             (long long)used, (long long)rows);
    return vh_builder_finish(b, format, out);
}

vhem_status vh_array_text_limit(vhem_ctx *ctx, const char *name, int64_t count, int64_t bytes, int64_t memory)
{
    const int64_t each = 40, least = (int64_t)1 << 30; /* a pointer and malloc's overhead; enough for names */
    if (memory <= 0 || count <= (memory > least ? memory : least) / (bytes + each))
        return VHEM_OK;
    return vh_fail(
        ctx, VHEM_ENOMEM,
        "%s: %lld texts of %lld bytes need more memory than is allowed; allow more with " VH_OPT("memory"),
        name, (long long)count, (long long)bytes);
}
