/* SPDX-License-Identifier: BSD-3-Clause */
/* examples.c - a few sequences of each cluster, decoded into the states of its centre. */
#include "core/alloc.h"
#include "core/array2.h"
#include "core/names.h"
#include "core/object.h"
#include "vhem/analysis.h"
#include "vhem.h"

#include <math.h>
#include <string.h>

/* The record callers see, its inputs, and its arrays as writable pointers of their owner. */
typedef struct {
    vhem_examples seen;
    const vhem_tree *tree;
    const vhem_clustering *c; /* level 0 */
    const vhem_data *data;
    int64_t N;         /* sequences */
    int each;          /* most sequences per cluster */
    int64_t *sequence; /* [room] */
    int *cluster;      /* [room] */
    int **path;        /* [room] */
} examples;

VH_OWNED(examples, vh_object_free)

static void clear(void *record)
{
    examples *e = record;
    for (int64_t k = 0; k < e->seen.n; k++)
        free(e->path[k]);
    free(e->sequence);
    free(e->cluster);
    free(e->path);
}

/* ---- choosing sequences -------------------------------------------------------------------------------- */

/* cluster [N] of level 0 by the name of the sequence or its group, -1 if none; n_found: number of matches. */
static vhem_status match_names(vhem_ctx *ctx, const examples *e, int *cluster, int *n_found)
{
    const vhem_clustering *c = e->c;
    VH_CLEANUP(vh_names_free) vh_names names = { 0 };
    VH_AUTOFREE int64_t *item = NULL; /* [names]  the first of each name */
    bool is_new;
    int64_t at;

    VH_NEW(item, c->Kb);
    for (int64_t i = 0; i < c->Kb; i++) {
        if (!*c->name[i])
            continue;
        VH_TRY(vh_names_put(ctx, &names, c->name[i], strlen(c->name[i]), &at, &is_new));
        item[at] = is_new ? i : item[at];
    }
    *n_found = 0;
    for (int64_t k = 0; k < e->N; k++) {
        vhem_seq_view seq;
        VH_TRY(vhem_data_view(e->data, k, &seq));
        at = vh_names_find(&names, seq.name, strlen(seq.name));
        if (at < 0)
            at = vh_names_find(&names, seq.group, strlen(seq.group));
        cluster[k] = at >= 0 ? c->base_label[item[at]] : -1;
        *n_found += at >= 0;
    }
    return VHEM_OK;
}

/* If no sequence has the name of an item, assigns all of them as new sequences. */
static vhem_status find_clusters(vhem_ctx *ctx, const examples *e, int *cluster)
{
    int found;
    VH_AUTOFREE int *label = NULL;
    const vhem_source source = { .data = e->data };
    vhem_tree_facts facts;

    VH_TRY(match_names(ctx, e, cluster, &found));
    if (found > 0)
        return VHEM_OK;
    vhem_tree_info(e->tree, &facts);
    VH_NEW(label, vh_cells(e->N, facts.levels));
    VH_TRY(vhem_assign(ctx, e->tree, &source, label, NULL, NULL));
    for (int64_t n = 0; n < e->N; n++)
        cluster[n] = label[vh_row(n, facts.levels)];
    return VHEM_OK;
}

/* ---- decoding ------------------------------------------------------------------------------------------ */

/* Adds sequence n of cluster j, decoded. */
static vhem_status add(vhem_ctx *ctx, examples *e, int64_t n, int64_t j)
{
    vhem_seq_view seq;
    VH_AUTOFREE int *path = NULL;

    VH_TRY(vhem_data_view(e->data, n, &seq));
    VH_NEW(path, seq.T);
    VH_TRY(vhem_decode(ctx, e->c->centers, &j, e->data, n, 1, &(vhem_decoding){ .path = path }));
    e->sequence[e->seen.n] = n;
    e->cluster[e->seen.n] = (int)j;
    e->path[e->seen.n++] = vh_take(path);
    return VHEM_OK;
}

/* Requires room in e for each cluster; cluster [N]. */
static vhem_status choose(vhem_ctx *ctx, examples *e, const int *cluster)
{
    VH_AUTOFREE int *shown = NULL;

    VH_NEW(shown, e->c->Kr);
    for (int64_t n = 0; n < e->N; n++) {
        if (cluster[n] < 0 || shown[cluster[n]] == e->each)
            continue;
        VH_TRY(add(ctx, e, n, cluster[n]));
        shown[cluster[n]]++;
    }
    return VHEM_OK;
}

/* Without column names, frames and centres must have the same number of columns. */
static vhem_status check_columns(vhem_ctx *ctx, const vhem_models *centers, int d)
{
    vhem_hmm_view h;

    VH_TRY(vhem_models_hmm(centers, 0, &h));
    VH_CHECK(h.layout || h.d == d, VHEM_EINVAL, "the sequences have dimension %d, but the centres have %d", d,
             h.d);
    return VHEM_OK;
}

/* Requires HMMs as centres of the lowest level. */
static vhem_status find_examples(vhem_ctx *ctx, examples *e)
{
    VH_AUTOFREE int *cluster = NULL;
    size_t all = vh_cells(e->each, e->c->Kr), room = all < (size_t)e->N ? all : (size_t)e->N;

    VH_NEW(cluster, e->N);
    VH_TRY(find_clusters(ctx, e, cluster));
    VH_NEW(e->sequence, room);
    VH_NEW(e->cluster, room);
    VH_NEW(e->path, room);
    VH_TRY(choose(ctx, e, cluster));
    e->seen.sequence = e->sequence;
    e->seen.cluster = e->cluster;
    e->seen.path = (const int *const *)e->path;
    return VHEM_OK;
}

vhem_status vhem_examples_find(vhem_ctx *ctx, const vhem_tree *tree, const vhem_data *data, int each,
                               vhem_examples **out)
{
    VH_ENTER(tree, data, out);
    VH_OWN(examples) *e = NULL;
    const vhem_clustering *c = vhem_tree_level(tree, 0);
    vhem_data_facts facts;
    vhem_tree_facts centers;

    VH_CHECK(c, VHEM_EINVAL, "the tree has no level to show examples of");
    VH_CHECK(each >= 1, VHEM_EINVAL, "%d examples of each cluster, must be 1 or more", each);
    vhem_data_info(data, &facts);
    vhem_tree_info(tree, &centers);
    VH_NEW_OBJECT(e, clear);
    e->tree = tree;
    e->c = c;
    e->data = data;
    e->N = facts.N;
    e->each = each;
    if (c->centers && centers.kind == VHEM_HMMS) {
        VH_TRY(check_columns(ctx, c->centers, facts.d));
        VH_TRY(find_examples(ctx, e));
    }
    *out = &vh_take(e)->seen;
    return VHEM_OK;
}
