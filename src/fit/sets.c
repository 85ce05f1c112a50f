/* SPDX-License-Identifier: BSD-3-Clause */
/* sets.c - see sets.h. */
#include "fit/sets.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "core/names.h"

#include <string.h>

/* Fills item [N] with each sequence's group number, in order of first appearance; a sequence without a group
 * is one of its own.  *n is the number of groups. */
static vhem_status number_groups(vhem_ctx *ctx, const vhem_data *data, int64_t *item, int64_t *n)
{
    VH_CLEANUP(vh_names_free) vh_names groups = { 0 };
    VH_AUTOFREE int64_t *number = NULL; /* of each name */

    VH_NEW(number, data->N);
    *n = 0;
    for (int64_t i = 0; i < data->N; i++) {
        const char *name = data->group[i];
        bool is_new = true;
        int64_t k = 0;
        if (*name)
            VH_TRY(vh_names_put(ctx, &groups, name, strlen(name), &k, &is_new));
        item[i] = is_new ? (*n)++ : number[k];
        if (*name)
            number[k] = item[i];
    }
    return VHEM_OK;
}

vhem_status vh_sets_new(vhem_ctx *ctx, const vhem_data *data, bool by_group, vh_sets *out)
{
    VH_CLEANUP(vh_sets_free) vh_sets s = { 0 };
    VH_AUTOFREE int64_t *item = NULL;
    int64_t n = data->N;

    VH_CHECK(!by_group || data->group, VHEM_EINVAL, "groups were asked for, but the data has no groups");
    VH_NEW(item, data->N);
    for (int64_t i = 0; i < data->N; i++)
        item[i] = i;
    if (by_group)
        VH_TRY(number_groups(ctx, data, item, &n));
    VH_TRY(vh_sets_from(ctx, data->N, item, n, &s));
    VH_NEW(s.name, n);
    VH_NEW(s.label, n);
    for (int64_t g = 0; g < n; g++) {
        const char *label = vh_sets_label(&s, data, g);
        bool differ = false;
        for (int64_t k = s.first[g]; data->label && !label[0] && k < s.first[g + 1]; k++)
            differ = differ || data->label[s.seq[k]][0];
        s.name[g] = vh_sets_name(&s, data, g, by_group);
        s.label[g] = differ ? NULL : label;
    }
    *out = s;
    s = (vh_sets){ 0 };
    return VHEM_OK;
}

vhem_status vh_sets_from(vhem_ctx *ctx, int64_t N, const int64_t *item, int64_t n, vh_sets *out)
{
    VH_CLEANUP(vh_sets_free) vh_sets s = { .n = n };
    VH_AUTOFREE int64_t *next = NULL;

    VH_NEW(s.seq, N);
    VH_NEW(s.first, n + 1);
    VH_NEW(next, n);
    for (int64_t i = 0; i < N; i++)
        s.first[item[i] + 1]++;
    for (int64_t g = 0; g < n; g++) {
        s.first[g + 1] += s.first[g];
        next[g] = s.first[g];
    }
    for (int64_t i = 0; i < N; i++)
        s.seq[next[item[i]]++] = i;
    *out = s;
    s = (vh_sets){ 0 };
    return VHEM_OK;
}

void vh_sets_free(vh_sets *sets)
{
    free(sets->seq);
    free(sets->first);
    free(sets->name);
    free(sets->label);
    *sets = (vh_sets){ 0 };
}

const char *vh_sets_name(const vh_sets *sets, const vhem_data *data, int64_t g, bool by_group)
{
    if (sets->first[g] == sets->first[g + 1])
        return "";
    int64_t n = sets->seq[sets->first[g]];
    if (by_group && data->group[n][0])
        return data->group[n];
    return data->name ? data->name[n] : "";
}

const char *vh_sets_label(const vh_sets *sets, const vhem_data *data, int64_t g)
{
    const char *label = "";
    for (int64_t k = sets->first[g]; data->label && k < sets->first[g + 1]; k++) {
        if (k == sets->first[g])
            label = data->label[sets->seq[k]];
        else if (strcmp(data->label[sets->seq[k]], label) != 0)
            return "";
    }
    return label;
}

int64_t vh_sets_frames(const vh_sets *sets, const vhem_data *data, int64_t g, double *mass)
{
    int64_t frames = 0;
    if (mass)
        *mass = 0;
    for (int64_t k = sets->first[g]; k < sets->first[g + 1]; k++) {
        int64_t T = vh_data_length(data, sets->seq[k]);
        frames += T;
        if (mass)
            *mass += (double)T * vh_data_weight(data, sets->seq[k]);
    }
    return frames;
}

vhem_status vh_sets_data(vhem_ctx *ctx, const vhem_data *data, const vh_sets *sets, const int64_t *pick,
                         int64_t n, vhem_data **out)
{
    VH_AUTOFREE int64_t *seq = NULL;
    int64_t N = 0;

    for (int64_t k = 0; k < n; k++)
        N += sets->first[pick[k] + 1] - sets->first[pick[k]];
    VH_NEW(seq, N);
    N = 0;
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = sets->first[pick[k]]; i < sets->first[pick[k] + 1]; i++)
            seq[N++] = sets->seq[i];
    return vh_data_subset(ctx, data, seq, N, out);
}

void vh_sets_sum(const vh_sets *sets, int64_t K, const double *loglik, double *total)
{
    memset(total, 0, sizeof *total * vh_cells(sets->n, K));
    for (int64_t g = 0; g < sets->n; g++)
        for (int64_t q = sets->first[g]; q < sets->first[g + 1]; q++)
            for (int64_t i = 0; i < K; i++)
                total[vh_ij(g, K, i)] += loglik[vh_ij(sets->seq[q], K, i)];
}
