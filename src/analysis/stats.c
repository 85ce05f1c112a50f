/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.c - statistics that laboratories report after clustering: tests between centres and between groups of
 * persons, on the scores of vhem_score_persons.
 *
 * 1. Groups of persons.
 * 2. Tests. */
#include "core/alloc.h"
#include "core/array2.h"
#include "core/options.h"
#include "analysis/significance.h"
#include "vhem/analysis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_GROUPS = 500 }; /* most groups compared in pairs */

VH_OWNED(vhem_statistics, vh_object_free)

/* ---- 1. groups ---- */

/* Groups by label if there are at least two, otherwise by cluster. */
static vhem_status find_groups(vhem_ctx *ctx, vhem_statistics *s)
{
    int n_label = 0;

    VH_TRY(vhem_number_names(ctx, s->n, (const char *const *)s->label, s->group_of, &n_label));
    if (n_label < 2)
        memcpy(s->group_of, s->cluster, (size_t)s->n * sizeof *s->group_of);
    int n = n_label < 2 ? s->K : n_label;
    VH_NEW(s->group, n);
    s->n_group = n;
    for (int64_t i = 0; n_label >= 2 && i < s->n; i++)
        if (s->group_of[i] >= 0 && !s->group[s->group_of[i]])
            VH_DUP(s->group[s->group_of[i]], s->label[i]);
    for (int g = 0; g < n; g++) {
        char text[32];
        snprintf(text, sizeof text, "cluster %d", g);
        if (!s->group[g])
            VH_DUP(s->group[g], text);
    }
    return VHEM_OK;
}

/* ---- 2. tests ---- */

typedef struct {    /* the persons of each of G groups, in order; group -1 is skipped */
    int64_t *first; /* [G+1] */
    int64_t *who;   /* [first[G]] */
} members;

static vhem_status members_new(vhem_ctx *ctx, int64_t n, const int *of, int G, members *out)
{
    VH_NEW(out->first, G + 2);
    VH_NEW(out->who, n);
    for (int64_t i = 0; i < n; i++)
        if (of[i] >= 0)
            out->first[of[i] + 2]++;
    for (int g = 0; g < G; g++)
        out->first[g + 2] += out->first[g + 1];
    for (int64_t i = 0; i < n; i++)
        if (of[i] >= 0)
            out->who[out->first[of[i] + 1]++] = i;
    return VHEM_OK;
}

static void members_free(members *x)
{
    free(x->first);
    free(x->who);
}

/* Copies column j of table [n][K] for the persons of group g to out; returns their number. */
static int64_t column_of_group(const members *x, int g, const double *table, int K, int j, double *out)
{
    int64_t n = x->first[g + 1] - x->first[g];
    for (int64_t i = 0; i < n; i++)
        out[i] = table[vh_ij(x->who[x->first[g] + i], K, j)];
    return n;
}

/* Tests whether the persons of each cluster fit their own centre better than every other one. */
static vhem_status test_centres(vhem_ctx *ctx, vhem_statistics *s, double confidence, double *x, double *y)
{
    VH_CLEANUP(members_free) members in = { 0 };

    VH_TRY(members_new(ctx, s->n, s->cluster, s->K, &in));
    for (int g = 0; g < s->K; g++)
        for (int k = 0; k < s->K; k++) {
            int64_t n = column_of_group(&in, g, s->loglik, s->K, g, x);
            if (k == g || n == 0)
                continue;
            column_of_group(&in, g, s->loglik, s->K, k, y);
            vhem_test *t = &s->test[s->n_test++];
            *t = (vhem_test){ .kind = "paired-t", .measure = "loglik", .centre = g, .other = k };
            VH_TRY(vh_test_paired(ctx, n, x, y, confidence, t));
        }
    return VHEM_OK;
}

/* Tests whether two groups differ in the scale of a centre, or in entropy. */
static vhem_status test_pair(vhem_ctx *ctx, vhem_statistics *s, double confidence, const vhem_test *what,
                             const members *of, const int pair[2], double *x)
{
    bool scale = what->centre >= 0;
    const double *table = scale ? s->scale : s->entropy;
    int K = scale ? s->K : 1, j = scale ? what->centre : 0;
    int64_t n = column_of_group(of, pair[0], table, K, j, x);
    int64_t m = column_of_group(of, pair[1], table, K, j, x + n);

    if (n == 0 || m == 0)
        return VHEM_OK;
    vhem_test *t = &s->test[s->n_test++], *u = &s->test[s->n_test++];
    *t = *u = *what;
    t->kind = "t";
    u->kind = "mann-whitney";
    t->a = u->a = s->group[pair[0]];
    t->b = u->b = s->group[pair[1]];
    VH_TRY(vh_test_groups(ctx, n, x, m, x + n, confidence, t));
    VH_TRY(vh_test_ranks(ctx, n, x, m, x + n, u));
    if (t->n_a == 0 && t->n_b == 0) /* no one has this value */
        s->n_test -= 2;
    return VHEM_OK;
}

/* x [2 n]  scratch */
static vhem_status test_groups(vhem_ctx *ctx, const vhem_stats_input *in, vhem_statistics *s, int scales,
                               double *x)
{
    VH_CLEANUP(members_free) members of = { 0 };

    VH_TRY(members_new(ctx, s->n, s->group_of, s->n_group, &of));
    for (int a = 0; a < s->n_group; a++)
        for (int b = a + 1; b < s->n_group; b++)
            for (int j = 0; j < scales + (in->models != NULL); j++) {
                const vhem_test scale = { .measure = "scale", .centre = j, .other = -1 };
                const vhem_test entropy = { .measure = "entropy", .centre = -1, .other = -1 };
                const vhem_test *what = j < scales ? &scale : &entropy;
                VH_TRY(test_pair(ctx, s, in->confidence, what, &of, (const int[]){ a, b }, x));
            }
    return VHEM_OK;
}

static vhem_status run_tests(vhem_ctx *ctx, const vhem_stats_input *in, vhem_statistics *s)
{
    VH_AUTOFREE double *x = NULL, *y = NULL;
    size_t K = (size_t)s->K, G = (size_t)s->n_group;
    int scales = K < 3 ? (int)K - 1 : s->K; /* with two scales, one is minus the other */

    if (G > MOST_GROUPS) {
        vh_log(ctx, VHEM_LOG_WARN,
               "%zu groups make %zu pairs, too many to compare (at most %d groups are compared); give labels "
               "that name fewer",
               G, G * (G - 1) / 2, MOST_GROUPS);
        G = 0;
    }
    VH_NEW(s->test, K * K + (G > 0 ? G * (G - 1) * ((size_t)scales + (in->models != NULL)) : 0));
    VH_NEW(x, 2 * (size_t)s->n);
    VH_NEW(y, (size_t)s->n);
    VH_TRY(test_centres(ctx, s, in->confidence, x, y));
    for (int k = 0; k < s->n_test; k++)
        s->test[k].a = NULL;
    if (G > 0)
        VH_TRY(test_groups(ctx, in, s, scales, x));
    return vh_tests_adjust(ctx, s->n_test, s->test, in->correction);
}

/* ---- vhem_stats --- */

/* Sets and checks the options of the tests. */
static vhem_status set_tests(vhem_ctx *ctx, vhem_stats_input *in)
{
    static const char *const known[] = { "holm", "bonferroni", "bh", "none" };
    bool found = false;

    in->correction = in->correction ? in->correction : known[0];
    in->confidence = in->confidence < 0 ? 0.95 : in->confidence;
    VH_CHECK(in->confidence > 0 && in->confidence < 1, VHEM_EINVAL,
             "the confidence is %g, must be between 0 and 1", in->confidence);
    for (int k = 0; k < 4; k++)
        found |= strcmp(in->correction, known[k]) == 0;
    VH_CHECK(found, VHEM_EINVAL, "the correction is '%s', must be holm, bonferroni, bh or none",
             in->correction);
    return VHEM_OK;
}

vhem_status vhem_stats(vhem_ctx *ctx, const vhem_stats_input *in, vhem_statistics **out)
{
    VH_ENTER(in, out);
    VH_OWN(vhem_statistics) *s = NULL;
    vhem_stats_input full;

    VH_TRY(vh_options_take(ctx, VHEM_STATS_INPUT, in, &full));
    VH_TRY(set_tests(ctx, &full));
    VH_TRY(vhem_score_persons(ctx, &full, &s));
    VH_TRY(find_groups(ctx, s));
    VH_TRY(run_tests(ctx, &full, s));
    *out = vh_take(s);
    return VHEM_OK;
}
