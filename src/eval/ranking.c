/* SPDX-License-Identifier: BSD-3-Clause */
/* ranking.c - how well tags are given and things are found: precision, recall, F, average precision, P@k; the
 * paper's Section 6, where MAP averages the precision at each rank where a thing with the tag stands. */
#include "core/alloc.h"

#include <math.h>
#include <string.h>

typedef struct {
    double score;
    int at;
} ranked;

void vhem_rank_options_init(vhem_rank_options *opt)
{
    *opt = (vhem_rank_options){ .top = 10, .never_given = "zero" };
}

/* Best first; ties and what has no score at all by index. */
static int best_first(const void *a, const void *b)
{
    const ranked *p = a, *q = b;
    if (p->score != q->score)
        return (p->score < q->score) - (p->score > q->score);
    return (p->at > q->at) - (p->at < q->at);
}

/* n scores `stride` apart, ranked. */
static void rank(int n, const double *score, int stride, ranked *out)
{
    for (int i = 0; i < n; i++) {
        double x = score[(size_t)i * (size_t)stride];
        out[i] = (ranked){ isnan(x) ? -INFINITY : x, i };
    }
    qsort(out, (size_t)n, sizeof *out, best_first);
}

static void count_given(int n, int C, const double *score, const unsigned char *truth, int top, ranked *work,
                        vhem_tag_measure *out)
{
    for (int i = 0; i < n; i++) {
        rank(C, score + (size_t)i * (size_t)C, 1, work);
        for (int r = 0; r < top && r < C; r++) {
            out[work[r].at].given++;
            out[work[r].at].right += truth[(size_t)i * (size_t)C + (size_t)work[r].at] != 0;
        }
    }
}

/* The ranking of all things by tag c. */
static void measure_ranking(int n, int C, int c, const double *score, const unsigned char *truth,
                            const vhem_rank_options *opt, ranked *work, vhem_tag_measure *m, double *p_at)
{
    double sum = 0;
    int found = 0, n_k = opt->n_k;
    const int *k = opt->k;
    rank(n, score + c, C, work);
    for (int r = 0; r < n; r++) {
        if (truth[(size_t)work[r].at * (size_t)C + (size_t)c])
            sum += (double)++found / (r + 1);
        for (int j = 0; p_at && j < n_k; j++)
            if (r + 1 == k[j])
                p_at[j] = (double)found / k[j];
    }
    for (int j = 0; p_at && j < n_k; j++)
        if (k[j] > n)
            p_at[j] = (double)found / k[j];
    m->n = found;
    m->average_precision = found > 0 ? sum / found : 0;
}

/* Precision, recall and F of a tag from its counts among n things. */
static void measure_given(int n, bool base_rate, vhem_tag_measure *m)
{
    double never = base_rate && n > 0 ? (double)m->n / n : 0;
    m->precision = m->given > 0 ? (double)m->right / m->given : never;
    m->recall = m->n > 0 ? (double)m->right / m->n : 0;
    m->F = m->right > 0 ? 2 * m->precision * m->recall / (m->precision + m->recall) : 0;
}

vhem_status vh_rank_tags(vhem_ctx *ctx, int n, int C, const double *score, const unsigned char *truth,
                         const vhem_rank_options *opt, vhem_tag_measure *out, double *p_at)
{
    vhem_status st = VHEM_OK;
    ranked *work = NULL;
    bool base_rate = strcmp(opt->never_given, "base-rate") == 0;

    VH_CHECK(n >= 0 && C >= 1 && opt->top >= 0, VHEM_EINVAL,
             "%d things, %d tags and the best %d of them "
             "make no ranking",
             n, C, opt->top);
    for (int j = 0; j < opt->n_k; j++)
        VH_CHECK(opt->k[j] >= 1, VHEM_EINVAL, "precision among the first %d, must be at least 1", opt->k[j]);
    VH_CHECK(base_rate || strcmp(opt->never_given, "zero") == 0, VHEM_EINVAL,
             "the precision of a tag never "
             "given is '%.80s', must be zero or base-rate",
             opt->never_given);
    VH_NEW(work, n > C ? n : C);
    for (int c = 0; c < C; c++)
        out[c] = (vhem_tag_measure){ 0 };
    count_given(n, C, score, truth, opt->top, work, out);
    for (int c = 0; c < C; c++) {
        measure_ranking(n, C, c, score, truth, opt, work, &out[c],
                        p_at ? p_at + (size_t)c * (size_t)opt->n_k : NULL);
        measure_given(n, base_rate, &out[c]);
    }
done:
    free(work);
    return st;
}
