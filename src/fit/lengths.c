/* SPDX-License-Identifier: BSD-3-Clause */
/* lengths.c - see lengths.h. */
#include "fit/lengths.h"

#include "core/alloc.h"
#include "core/hash.h"

#include <math.h>

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

vhem_status vh_lengths_of(vhem_ctx *ctx, const vhem_data *data, vh_lengths *out)
{
    VH_AUTOFREE int64_t *T = NULL;

    VH_NEW(T, data->N);
    for (int64_t n = 0; n < data->N; n++)
        T[n] = vh_data_length(data, n);
    qsort(T, (size_t)data->N, sizeof *T, ascending);
    *out = (vh_lengths){ .min = T[0], .median = T[(data->N - 1) / 2], .max = T[data->N - 1] };
    return VHEM_OK;
}

vhem_status vh_lengths_of_sets(vhem_ctx *ctx, const vhem_data *data, const vh_sets *sets, vh_lengths *out)
{
    VH_AUTOFREE int64_t *T = NULL;

    if (sets->n < 1 || sets->n == data->N)
        return VHEM_OK;
    VH_NEW(T, sets->n);
    for (int64_t g = 0; g < sets->n; g++)
        for (int64_t k = sets->first[g]; k < sets->first[g + 1]; k++)
            T[g] += vh_data_length(data, sets->seq[k]);
    qsort(T, (size_t)sets->n, sizeof *T, ascending);
    out->frames = T[(sets->n - 1) / 2];
    return VHEM_OK;
}

/* Zeros and NaNs have several patterns of bits each; a value that is missing is a NaN. */
static uint64_t hash_frames(const double *y, int64_t n)
{
    enum { PIECE = 256 };
    double piece[PIECE];
    uint64_t h = vh_hash_chain(0, &n, sizeof n);
    for (int64_t at = 0; at < n; at += PIECE) {
        int size = (int)(n - at < PIECE ? n - at : PIECE);
        for (int k = 0; k < size; k++)
            piece[k] = isnan(y[at + k]) ? (double)NAN : y[at + k] == 0 ? 0 : y[at + k];
        h = vh_hash_chain(h, piece, sizeof *piece * (size_t)size);
    }
    return h;
}

uint64_t vh_fingerprint(const vhem_data *data, const int64_t *seq, int64_t n)
{
    uint64_t sum = 0;
    for (int64_t k = 0; k < n; k++)
        sum += hash_frames(vh_data_frames(data, seq[k]), vh_data_length(data, seq[k]) * data->d);
    return sum ? sum : 1;
}
