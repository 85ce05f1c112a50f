/* SPDX-License-Identifier: BSD-3-Clause */
/* ranking.c - quality of classification, tagging and retrieval: accuracy, precision, recall, F, average
 * precision, P@k; the paper's Section 6, where MAP averages the precision at the rank of each item with the
 * tag. */
#include "core/options.h"
#include "core/array2.h"
#include "core/object.h"
#include "vhem/classes.h"
#include "math/order.h"

#include <limits.h>
#include <math.h>
#include <string.h>

typedef struct { /* input of a ranking */
    int64_t n;
    int C;
    const double *score;        /* [n][C] */
    const unsigned char *truth; /* [n][C] */
    const int64_t *k;           /* P@k */
} table;

/* Ranks n scores, `stride` apart. */
static void rank(int64_t n, const double *score, int stride, vh_ranked *out)
{
    for (int64_t i = 0; i < n; i++) {
        double x = score[vh_row(i, stride)];
        out[i] = (vh_ranked){ isnan(x) ? -INFINITY : x, i };
    }
    vh_rank_descending((size_t)n, out);
}

static void count_given(const table *t, int top, vh_ranked *work, vhem_tag_measure *out)
{
    int64_t n = t->n;
    int C = t->C;
    for (int64_t i = 0; i < n; i++) {
        rank(C, t->score + vh_row(i, C), 1, work);
        for (int r = 0; r < top && r < C; r++) {
            out[work[r].i].given++;
            out[work[r].i].right += t->truth[vh_ij(i, C, work[r].i)] != 0;
        }
    }
}

/* Ranks all items by tag c. */
static void measure_ranking(const table *t, int c, vh_ranked *work, vhem_judgement *j)
{
    double sum = 0, *p_at = j->tag_p_at + vh_row(c, j->n_k);
    vhem_tag_measure *m = &j->tag[c];
    int64_t found = 0, n = t->n;
    int C = t->C;
    const int64_t *k = t->k;
    rank(n, t->score + c, C, work);
    for (int64_t r = 0; r < n; r++) {
        if (t->truth[vh_ij(work[r].i, C, c)])
            sum += (double)++found / (double)(r + 1);
        for (int i = 0; i < j->n_k; i++)
            if (r + 1 == k[i])
                p_at[i] = (double)found / (double)k[i];
    }
    for (int i = 0; i < j->n_k; i++)
        if (k[i] > n)
            p_at[i] = (double)found / (double)k[i];
    m->n = found;
    m->average_precision = found > 0 ? sum / (double)found : 0;
}

/* Precision, recall and F of a tag from its counts among n items. */
static void measure_given(int64_t n, bool base_rate, vhem_tag_measure *m)
{
    double never = base_rate && n > 0 ? (double)m->n / n : 0;
    m->precision = m->given > 0 ? (double)m->right / m->given : never;
    m->recall = m->n > 0 ? (double)m->right / m->n : 0;
    m->F = m->right > 0 ? 2 * m->precision * m->recall / (m->precision + m->recall) : 0;
}

/* ---- judgements ---------------------------------------------------------------------------------------- */

static void clear_judgement(void *record)
{
    vhem_judgement *j = record;
    free(j->p_at);
    free(j->tag);
    free(j->tag_p_at);
    free(j->confusion);
}

static vhem_status resolve(vhem_ctx *ctx, const vhem_rank_options *asked, vhem_rank_options *o)
{
    VH_TRY(vh_options_take(ctx, VHEM_RANK_OPTIONS, asked, o));
    VH_TRY(vh_options_check(ctx, VHEM_RANK_OPTIONS, o));
    vh_options_fill(VHEM_RANK_OPTIONS, o);
    o->top = o->top < 0 ? 10 : o->top;
    o->n_k = o->n_k < 0 || !o->k ? 0 : o->n_k;
    for (int i = 0; i < o->n_k; i++)
        VH_CHECK(o->k[i] >= 1, VHEM_EINVAL, "precision among the first %lld, must be at least 1",
                 (long long)o->k[i]);
    return VHEM_OK;
}

/* Fills the confusion matrix and the accuracy from the best class of each item. */
static void count_best(const double *score, const unsigned char *truth, vhem_judgement *j)
{
    int64_t right = 0, C = j->C;
    for (int64_t i = 0; i < j->n; i++) {
        const double *x = score + i * C;
        int64_t best = 0;
        for (int64_t c = 1; c < C; c++)
            best = x[c] > x[best] ? c : best;
        for (int64_t c = 0; c < C; c++)
            j->confusion[c * C + best] += truth[i * C + c] != 0;
        right += truth[i * C + best] != 0;
    }
    j->accuracy = j->n > 0 ? (double)right / (double)j->n : NAN;
}

/* Means over the classes or tags that occur. */
static void take_means(vhem_judgement *j)
{
    int occur = 0;
    j->precision = j->recall = j->F = j->MAP = 0;
    for (int c = 0; c < j->C; c++) {
        const vhem_tag_measure *m = &j->tag[c];
        if (m->n == 0)
            continue;
        occur++;
        j->precision += m->precision;
        j->recall += m->recall;
        j->F += m->F;
        j->MAP += m->average_precision;
        for (int k = 0; k < j->n_k; k++)
            j->p_at[k] += j->tag_p_at[vh_ij(c, j->n_k, k)];
    }
    double share = occur > 0 ? occur : NAN;
    j->precision /= share;
    j->recall /= share;
    j->F /= share;
    j->MAP /= share;
    for (int k = 0; k < j->n_k; k++)
        j->p_at[k] /= share;
}

vhem_status vhem_rank(vhem_ctx *ctx, int64_t n, int C, const double *score, const unsigned char *truth,
                      const vhem_rank_options *opt, vhem_judgement **out)
{
    VH_ENTER(out);
    if (n > 0)
        VH_ENTER(score, truth);
    vhem_rank_options o;
    VH_OWN(vhem_judgement) *j = NULL;
    VH_AUTOFREE vh_ranked *work = NULL;

    VH_TRY(resolve(ctx, opt, &o));
    VH_CHECK(n >= 0 && C >= 1, VHEM_EINVAL, "%lld items and %d tags make no ranking", (long long)n, C);
    VH_NEW_OBJECT(j, clear_judgement);
    j->n = n;
    j->C = C;
    j->n_k = o.n_k;
    VH_NEW(j->p_at, o.n_k);
    VH_NEW(j->tag, C);
    VH_NEW(j->tag_p_at, vh_cells(C, o.n_k));
    VH_NEW(j->confusion, vh_cells(C, C));
    VH_NEW(work, n > C ? n : C);
    const table t = { n, C, score, truth, o.k };
    count_given(&t, o.top, work, j->tag);
    for (int c = 0; c < C; c++) {
        measure_ranking(&t, c, work, j);
        measure_given(n, strcmp(o.never_given, "base-rate") == 0, &j->tag[c]);
    }
    count_best(score, truth, j);
    take_means(j);
    *out = vh_take(j);
    return VHEM_OK;
}
