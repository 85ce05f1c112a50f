/* ranking.c - how well tags are given and things are found: precision, recall, F, average precision, P@k; the
 * paper's Section 6, where MAP averages the precision at each rank where a thing with the tag stands. */
#include "core/alloc.h"

#include <math.h>

typedef struct {
    double score;
    int    at;
} ranked;

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
static void measure_ranking(int n, int C, int c, const double *score, const unsigned char *truth, int n_k,
                            const int *k, ranked *work, vhem_tag_measure *m, double *p_at)
{
    double sum = 0;
    int found = 0;
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

vhem_status vhem_rank(vhem_ctx *ctx, int n, int C, const double *score, const unsigned char *truth, int top,
                      int n_k, const int *k, vhem_tag_measure *out, double *p_at)
{
    vhem_status st = VHEM_OK;
    ranked *work = NULL;

    VH_CHECK(n >= 0 && C >= 1 && top >= 0, VHEM_EINVAL, "%d things, %d tags and the best %d of them make no "
             "ranking", n, C, top);
    for (int j = 0; j < n_k; j++)
        VH_CHECK(k[j] >= 1, VHEM_EINVAL, "precision among the first %d, must be at least 1", k[j]);
    VH_NEW(work, n > C ? n : C);
    for (int c = 0; c < C; c++)
        out[c] = (vhem_tag_measure){ 0 };
    count_given(n, C, score, truth, top, work, out);
    for (int c = 0; c < C; c++) {
        vhem_tag_measure *m = &out[c];
        measure_ranking(n, C, c, score, truth, n_k, k, work, m,
                        p_at ? p_at + (size_t)c * (size_t)n_k : NULL);
        m->precision = m->given > 0 ? (double)m->right / m->given : 0;
        m->recall = m->n > 0 ? (double)m->right / m->n : 0;
        m->F = m->right > 0 ? 2 * m->precision * m->recall / (m->precision + m->recall) : 0;
    }
done:
    free(work);
    return st;
}
