/* SPDX-License-Identifier: BSD-3-Clause */
/* sets.c - see sets.h. */
#include "fit/sets.h"

#include "core/alloc.h"

#include <string.h>

typedef struct {
    const char *name;
    int64_t place;
} named_place;

static int by_name_then_place(const void *a, const void *b)
{
    const named_place *p = a, *q = b;
    int c = strcmp(p->name, q->name);
    return c != 0 ? c : (p->place > q->place) - (p->place < q->place);
}

/* Fills item [N] with each sequence's group number, in order of first appearance; *n is the number of
 * groups. */
static vhem_status number_groups(vhem_ctx *ctx, const vhem_data *data, int64_t *item, int64_t *n)
{
    VH_AUTOFREE named_place *by_name = NULL;

    VH_NEW(by_name, data->N);
    for (int64_t i = 0; i < data->N; i++)
        by_name[i] = (named_place){ data->group[i], i };
    qsort(by_name, (size_t)data->N, sizeof *by_name, by_name_then_place);
    for (int64_t i = 0, head = 0; i < data->N; i++) {
        if (strcmp(by_name[i].name, by_name[head].name) != 0 || !by_name[i].name[0])
            head = i;                                 /* no group: a set of its own */
        item[by_name[i].place] = by_name[head].place; /* the first sequence represents the group */
    }
    *n = 0;
    for (int64_t i = 0; i < data->N; i++) /* heads come before their followers */
        item[i] = item[i] == i ? (*n)++ : item[item[i]];
    return VHEM_OK;
}

vhem_status vh_sets_new(vhem_ctx *ctx, const vhem_data *data, bool by_group, vh_sets *out)
{
    VH_AUTOFREE int64_t *item = NULL;
    int64_t n = data->N;

    VH_NEW(item, data->N);
    for (int64_t i = 0; i < data->N; i++)
        item[i] = i;
    if (by_group)
        VH_TRY(number_groups(ctx, data, item, &n));
    return vh_sets_from(ctx, data->N, item, n, out);
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
