/* SPDX-License-Identifier: BSD-3-Clause */
/* merge.c - merges sets of HMMs into one, written as a file or a folder of shards.  Only the contents of one
 * output file are in memory at a time. */
#include "core/alloc.h"
#include "files/hmm_file.h"
#include "emission/layout.h"
#include "models/models.h"
#include "vhem.h"

#include <limits.h>
#include <string.h>

typedef struct {
    int n;
    const vhem_models *const *set; /* [n] */
    int64_t *first;                /* [n+1]  index of the first HMM of each set */
    const char *provenance;
} sets;

/* Writes HMMs first .. first+n-1 of a set to out at `at`, their weights scaled by share. */
static vhem_status append(vhem_ctx *ctx, const vhem_models *m, int64_t first, int64_t n, double share,
                          vh_h3m *out, int64_t at)
{
    VH_OWN(vh_h3m) *part = NULL;

    VH_TRY(vh_models_range(ctx, m, first, n, &part));
    for (int64_t k = 0; k < n; k++) {
        vh_hmm *to = &out->hmm[at + k];
        *to = part->hmm[k]; /* moves */
        part->hmm[k] = (vh_hmm){ 0 };
        out->omega[at + k] = share == 1 ? part->omega[k] : part->omega[k] * share;
    }
    vh_h3m_move_blocks(part, out);
    return VHEM_OK;
}

typedef struct {
    int64_t median, weight; /* median of a set, number of its HMMs */
} midst;

static int ascending(const void *a, const void *b)
{
    int64_t x = ((const midst *)a)->median, y = ((const midst *)b)->median;
    return (x > y) - (x < y);
}

/* Weighted median of the medians. */
static int64_t middle(int n, midst *each, int64_t models)
{
    int64_t seen = 0, median = 0;
    qsort(each, (size_t)n, sizeof *each, ascending);
    for (int p = 0; p < n && 2 * seen < models; seen += each[p++].weight)
        median = each[p].median;
    return median;
}

/* Pools the sequence lengths of all sets: minimum, maximum, and the median of the medians weighted by the
 * number of HMMs.  Unknown if any set's are unknown. */
static vhem_status pool_lengths(vhem_ctx *ctx, const sets *s, vh_lengths *out)
{
    vh_lengths all = { 0 };
    VH_AUTOFREE midst *each = NULL;
    midst *frames;
    bool known = false; /* some models have more than one sequence */

    VH_NEW(each, 2 * (size_t)s->n);
    frames = each + s->n;
    for (int p = 0; p < s->n; p++) {
        vh_lengths one = vh_models_head(s->set[p])->lengths;
        if (one.max == 0)
            return VHEM_OK;
        each[p] = (midst){ one.median, s->first[p + 1] - s->first[p] };
        frames[p] = (midst){ one.frames > 0 ? one.frames : one.median, each[p].weight };
        known |= one.frames > 0;
        all.min = p == 0 || one.min < all.min ? one.min : all.min;
        all.max = one.max > all.max ? one.max : all.max;
    }
    all.median = middle(s->n, each, s->first[s->n]);
    all.frames = known ? middle(s->n, frames, s->first[s->n]) : 0;
    *out = all;
    return VHEM_OK;
}

/* Reads a range of the merged set; a callback of vh_shards_save. */
static vhem_status read_range(vhem_ctx *ctx, const void *arg, int64_t first, int64_t n, vh_h3m **out)
{
    const sets *s = arg;
    const vh_h3m *head = vh_models_head(s->set[0]);
    VH_OWN(vh_h3m) *all = NULL;
    int p = 0;

    VH_TRY(vh_h3m_new(ctx, head->family, head->shape, n, &all));
    VH_TRY(pool_lengths(ctx, s, &all->lengths));
    VH_TRY(vh_h3m_set_text(ctx, &all->prior, s->n == 1 ? head->prior : NULL));
    VH_TRY(vh_h3m_set_text(ctx, &all->extra, head->extra));
    VH_TRY(vh_h3m_set_text(ctx, &all->provenance,
                           s->provenance ? s->provenance
                           : s->n == 1   ? head->provenance
                                         : NULL));
    for (int64_t i = first; i < first + n;) {
        while (s->first[p + 1] <= i)
            p++;
        int64_t end = first + n < s->first[p + 1] ? first + n : s->first[p + 1];
        double share = s->n == 1 ? 1 : (double)(s->first[p + 1] - s->first[p]) / (double)s->first[s->n];
        VH_TRY(append(ctx, s->set[p], i - s->first[p], end - i, share, all, i - first));
        i = end;
    }
    *out = vh_take(all);
    return VHEM_OK;
}

static vhem_status check_sets(vhem_ctx *ctx, const sets *s)
{
    vhem_models_facts first, f;
    char why[256];

    vhem_models_info(s->set[0], &first);
    for (int p = 0; p < s->n; p++) {
        vhem_models_info(s->set[p], &f);
        VH_CHECK(f.kind == VHEM_HMMS, VHEM_EINVAL, "dynamic textures cannot be merged or cut into shards");
        VH_CHECK(strcmp(f.emission, first.emission) == 0 && f.d == first.d, VHEM_EINVAL,
                 "%s of dimension %d and %s of dimension %d do not make one set", first.emission, first.d,
                 f.emission, f.d);
        VH_CHECK(!*vh_layout_differs(&vh_models_head(s->set[p])->shape, &vh_models_head(s->set[0])->shape,
                                     why, sizeof why),
                 VHEM_EINVAL, "input %d cannot be merged with input 1: %s", p + 1, why);
        s->first[p + 1] = s->first[p] + f.K;
    }
    return VHEM_OK;
}

/* Joins the shards of one set; *out stays NULL if they are something else. */
static vhem_status join_shards(vhem_ctx *ctx, int n, const vhem_models *const *set, vh_shards **out)
{
    VH_AUTOFREE const vh_shard **part = NULL;

    VH_NEW(part, n);
    for (int p = 0; p < n; p++) {
        if (!set[p]->shards || set[p]->shards->n != 1)
            return VHEM_OK;
        part[p] = set[p]->shards->shard[0];
    }
    return vh_shards_join(ctx, n, part, out);
}

vhem_status vhem_models_merge(vhem_ctx *ctx, int n, const vhem_models *const *set, int shards,
                              const char *provenance, const char *path)
{
    VH_ENTER(set, path);
    VH_AUTOFREE int64_t *first = NULL;
    VH_OWN(vh_shards) *joined = NULL;
    VH_OWN(vh_h3m) *all = NULL;
    sets s = { .n = n, .set = set, .provenance = provenance };
    vhem_models whole = { .kind = VHEM_HMMS };
    const vhem_models *one = &whole;

    VH_CHECK(n >= 1, VHEM_EINVAL, "there are %d sets, must be at least 1", n);
    VH_CHECK(shards >= 0, VHEM_EINVAL, "there are %d shards, must be 0 or more", shards);
    if (provenance)
        VH_TRY(vh_model_check_object(ctx, "provenance", provenance));
    VH_TRY(join_shards(ctx, n, set, &joined));
    if (joined) {
        whole.shards = joined;
        s.n = 1;
        s.set = &one;
    }
    VH_NEW(first, s.n + 1);
    s.first = first;
    VH_TRY(check_sets(ctx, &s));
    if (shards > 0)
        return vh_shards_save(ctx, s.first[s.n], read_range, &s, shards, path);
    VH_TRY(read_range(ctx, &s, 0, s.first[s.n], &all));
    return vh_h3m_save(ctx, all, path);
}
