/* SPDX-License-Identifier: BSD-3-Clause */
/* shards_join.c - joins the shards of one set without their manifest.
 *
 * A shard stores the place of its HMMs in the set and their weights in the whole, so the set is restored to
 * the last bit, whatever the order of the files. */
#include "core/alloc.h"
#include "files/shards.h"

#include <string.h>

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static int by_number(const void *a, const void *b)
{
    int64_t x = (*(const vh_shard *const *)a)->at, y = (*(const vh_shard *const *)b)->at;
    return (x > y) - (x < y);
}

/* True if part [n], sorted by number, may be shards of one set.  Shards of two similar sets overlap, or
 * differ in provenance or prior. */
static bool belong_together(int n, vh_shard *const *part)
{
    for (int p = 0; p < n; p++) {
        int64_t before = p ? part[p - 1]->at + part[p - 1]->K : 0;
        if (part[p]->all == part[p]->K || part[p]->all != part[0]->all || part[p]->at < before
            || part[p]->at + part[p]->K > part[p]->all
            || !same_text(part[p]->head->provenance, part[0]->head->provenance)
            || !same_text(part[p]->head->prior, part[0]->head->prior))
            return false;
    }
    return true;
}

/* Key of the first shard of its set; "" if unknown. */
static vhem_status set_of(vhem_ctx *ctx, const vh_shard *s, vh_key *key)
{
    *key = (vh_key){ "" };
    if (s->at > 0)
        snprintf(key->text, sizeof key->text, "%s", s->set ? s->set : "");
    return s->at > 0 ? VHEM_OK : vh_shard_key(ctx, s, key);
}

/* Rejects shards of several sets and duplicate shards.  Files of an older version store less and pass
 * unchecked. */
static vhem_status check_sets(vhem_ctx *ctx, int n, vh_shard *const *part)
{
    vh_key set[2], key, last = { "" };
    const vh_shard *known = NULL, *before = NULL; /* last shard whose set is known; last shard */

    for (int p = 0; p < n; p++) {
        const vh_shard *s = part[p];
        if (s->all == s->K)
            continue;
        VH_TRY(vh_shard_key(ctx, s, &key));
        VH_CHECK(!before || before->at != s->at || strcmp(key.text, last.text) != 0, VHEM_EINVAL,
                 "%s and %s are the same shard: give each once", before->path, s->path);
        VH_TRY(set_of(ctx, s, &set[1]));
        VH_CHECK(!known || !*set[1].text || strcmp(set[0].text, set[1].text) == 0, VHEM_EINVAL,
                 "%s and %s are shards of two sets; to merge the sets, give all of both, by their folders",
                 known->path, s->path);
        if (before && before->at + before->K == s->at && s->before) {
            vh_key chain;
            VH_TRY(vh_shard_chain(ctx, before->before, last.text, &chain));
            VH_CHECK(strcmp(chain.text, s->before) == 0, VHEM_EINVAL,
                     "%s is not the shard before %s, but one of another set", before->path, s->path);
        }
        if (*set[1].text) {
            set[0] = set[1];
            known = s;
        }
        before = s;
        last = key;
    }
    return VHEM_OK;
}

/* Lists the numbers that no part has, "0 to 99, 300 to 399"; "" if none is missing. */
static void list_missing(int n, vh_shard *const *part, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int p = 0; p <= n && used < size; p++) {
        int64_t from = p ? part[p - 1]->at + part[p - 1]->K : 0, to = p < n ? part[p]->at : part[0]->all;
        if (from < to && used > size - 64) {
            snprintf(text + used, size - used, " and others");
            return;
        }
        if (from < to)
            used += (size_t)snprintf(text + used, size - used, "%s%lld to %lld", used ? ", " : "",
                                     (long long)from, (long long)(to - 1));
    }
}

/* Reopens the files as parts of the whole, with their new numbers. */
static vhem_status open_parts(vhem_ctx *ctx, int n, vh_shard *const *part, vh_shards *set)
{
    double sum = 0;
    bool whole = true;

    for (int p = 0; p < n; p++) {
        vh_shard *shard = NULL;
        VH_TRY(vh_shard_open(ctx, part[p]->path, false, &shard));
        whole = whole && shard->first == set->K;
        shard->first = set->K;
        sum += shard->omega_sum;
        VH_TRY(vh_shards_add(ctx, set, shard));
    }
    whole = whole && set->K == part[0]->all;
    VH_CHECK(sum > 0, VHEM_EFORMAT, "%s: no HMM has any weight", set->path);
    for (int p = 0; p < n && !whole; p++)
        set->shard[p]->scale = sum;
    return VHEM_OK;
}

vhem_status vh_shards_join(vhem_ctx *ctx, int n, const vh_shard *const *parts, vh_shards **out)
{
    VH_AUTOFREE vh_shard **part = NULL;
    VH_OWN(vh_shards) *set = NULL;
    char missing[256];

    VH_NEW(part, n);
    memcpy(part, parts, sizeof *part * (size_t)n);
    qsort(part, (size_t)n, sizeof *part, by_number);
    VH_TRY(check_sets(ctx, n, part));
    if (!belong_together(n, part))
        return VHEM_OK;
    VH_NEW(set, 1);
    VH_NEW(set->shard, n);
    VH_DUP(set->path, part[0]->path);
    VH_TRY(open_parts(ctx, n, part, set));
    VH_TRY(vh_shards_check_weights(ctx, set));
    list_missing(n, part, missing, sizeof missing);
    if (*missing)
        vh_log(ctx, VHEM_LOG_WARN,
               "the files are shards of one set of %lld HMMs, of which %s are missing: the weights of the "
               "others are scaled to sum to 1",
               (long long)part[0]->all, missing);
    *out = vh_take(set);
    return VHEM_OK;
}
