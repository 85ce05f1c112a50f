/* SPDX-License-Identifier: BSD-3-Clause */
/* strange.c - see strange.h. */
#include "methods/strange.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "fit/family.h"
#include "fit/lengths.h"
#include "fit/options.h"
#include "math/order.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAMED = 4, LEAST_MEMBERS = 5 };
#define FAR    8.0    /* deviations below the median of the cluster */
#define NORMAL 1.4826 /* median absolute deviation to standard deviation */

typedef struct { /* "a, b, c, ..." */
    char text[256];
    int64_t n;
} names;

static void list(const vhem_data *data, const vh_sets *sets, int64_t i, bool by_group, names *l)
{
    size_t at = strlen(l->text);
    const char *name = vh_sets_name(sets, data, i, by_group);
    char number[32];
    snprintf(number, sizeof number, "%lld", (long long)i);
    if (l->n < NAMED)
        snprintf(l->text + at, sizeof l->text - at, "%s%.40s", l->n > 0 ? ", " : "", *name ? name : number);
    else if (l->n == NAMED)
        snprintf(l->text + at, sizeof l->text - at, ", ...");
    l->n++;
}

/* Where models are compared, a column that one of them lacks does not count for any. */
static void tell_lacking(vhem_ctx *ctx, const vh_graph_source *from, int k)
{
    const vh_sets *sets = from->sets;
    names who = { .n = 0 };

    for (int64_t i = 0; i < sets->n; i++)
        if (vh_fit_lacks(from->data, sets->seq + sets->first[i], sets->first[i + 1] - sets->first[i], k))
            list(from->data, sets, i, from->by_group, &who);
    if (who.n > 0)
        vh_log(ctx, VHEM_LOG_WARN,
               "column '%.80s' has no value in %lld of %lld (%s): models are compared without it",
               vh_data_column(from->data, k), (long long)who.n, (long long)sets->n, who.text);
}

vhem_status vh_check_items(vhem_ctx *ctx, const vh_graph_source *from)
{
    const vh_shape shape = vh_fit_shape(from->data);
    const vhem_fit_options fit = { .emission = from->emission };
    const vh_emission *family = vh_fit_family(from->data, &fit), *gaps;
    const vh_sets *sets = from->sets;
    char who[160];

    VH_TRY(vh_fit_require_values(ctx, from->data));
    VH_TRY(vh_family_for(ctx, family, &shape, from->data, NULL, from->data->N, &gaps));
    for (int64_t i = 0; i < sets->n; i++) {
        int64_t *seq = sets->seq + sets->first[i], n = sets->first[i + 1] - sets->first[i];
        const vh_emission *own = vh_family_of_some(family, gaps, from->data, seq, n);
        const char *name = vh_sets_name(sets, from->data, i, from->by_group);
        snprintf(who, sizeof who, *name ? "%s %lld ('%.80s')" : "%s %lld%s",
                 from->by_group ? "group" : "sequence", (long long)i, name);
        VH_TRY(vh_error_in(ctx, vh_family_require(ctx, from->data, seq, n, own, &shape), who));
    }
    for (int k = 0; gaps != family && k < from->data->d; k++)
        tell_lacking(ctx, from, k);
    return VHEM_OK;
}

typedef struct {
    uint64_t print; /* fingerprint */
    int64_t item;
} printed;

static int by_print(const void *a, const void *b)
{
    const printed *p = a, *q = b;
    if (p->print != q->print)
        return p->print < q->print ? -1 : 1;
    return p->item < q->item ? -1 : p->item > q->item;
}

static vhem_status tell_copies(vhem_ctx *ctx, const vhem_data *data, const vh_sets *sets, bool by_group)
{
    VH_AUTOFREE printed *all = NULL;
    names copies = { .n = 0 };

    VH_NEW(all, sets->n);
    for (int64_t i = 0; i < sets->n; i++)
        all[i] =
            (printed){ vh_fingerprint(data, sets->seq + sets->first[i], sets->first[i + 1] - sets->first[i]),
                       i };
    qsort(all, (size_t)sets->n, sizeof *all, by_print);
    for (int64_t i = 1; i < sets->n; i++)
        if (all[i].print == all[i - 1].print)
            list(data, sets, all[i].item, by_group, &copies);
    if (copies.n > 0 && copies.n == sets->n - 1)
        vh_log(ctx, VHEM_LOG_WARN, "all %lld are exact copies of each other: their groups mean nothing",
               (long long)sets->n);
    else if (copies.n > 0)
        vh_log(ctx, VHEM_LOG_WARN, "%lld of %lld %s: %s", (long long)copies.n, (long long)sets->n,
               copies.n == 1 ? "is an exact copy of another" : "are exact copies of others", copies.text);
    return VHEM_OK;
}

/* far [n]: how many deviations the log-likelihood of a frame is below the median of cluster j, for its
 * members. */
static vhem_status measure_cluster(vhem_ctx *ctx, const vh_clustering *c, int j, const double *score,
                                   double *far)
{
    VH_AUTOFREE double *x = NULL;
    size_t n = 0;

    VH_NEW(x, c->Kb + 1);
    for (int64_t i = 0; i < c->Kb; i++)
        if (c->label[i] == j)
            x[n++] = score[i];
    if (n < LEAST_MEMBERS)
        return VHEM_OK;
    double middle = vh_median(n, x);
    for (size_t k = 0; k < n; k++)
        x[k] = fabs(x[k] - middle);
    double deviation = NORMAL * vh_median(n, x);
    for (int64_t i = 0; i < c->Kb; i++)
        if (c->label[i] == j && deviation > 0)
            far[i] = (middle - score[i]) / deviation;
    return VHEM_OK;
}

static vhem_status tell_unexplained(vhem_ctx *ctx, const vhem_data *data, const vh_sets *sets,
                                    const vh_clustering *c)
{
    VH_AUTOFREE double *score = NULL, *far = NULL;
    names who = { .n = 0 };

    VH_NEW(score, c->Kb);
    VH_NEW(far, c->Kb);
    for (int64_t i = 0; i < c->Kb; i++)
        score[i] = c->L_hmm[vh_ij(i, c->Kr, c->label[i])] / (double)vh_sets_frames(sets, data, i, NULL);
    for (int j = 0; j < c->Kr; j++)
        VH_TRY(measure_cluster(ctx, c, j, score, far));
    for (int64_t i = 0; i < c->Kb; i++)
        if (far[i] > FAR)
            list(data, sets, i, c->by_group, &who);
    if (who.n > 0)
        vh_log(ctx, VHEM_LOG_WARN,
               "%lld of %lld %s no cluster well, and may be of a kind of %s own or broken: %s",
               (long long)who.n, (long long)c->Kb, who.n == 1 ? "fits" : "fit", who.n == 1 ? "its" : "their",
               who.text);
    return VHEM_OK;
}

vhem_status vh_tell_strange(vhem_ctx *ctx, const vhem_data *data, const vh_sets *sets, const vh_clustering *c)
{
    VH_TRY(tell_copies(ctx, data, sets, c->by_group));
    return tell_unexplained(ctx, data, sets, c);
}
