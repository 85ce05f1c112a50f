/* SPDX-License-Identifier: BSD-3-Clause */
/* examples.c - a few sequences of each cluster, and the states of its centre that most likely made them. */
#include "cluster/tree.h"
#include "core/array2.h"
#include "core/object.h"
#include "data/data.h"
#include "estimate/score.h"

#include <math.h>
#include <string.h>

/* ---- which sequences ----------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    int64_t i;
} entry;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->name, ((const entry *)b)->name);
}

/* cluster [N] of level 0 by the name of the sequence or its group, -1 for none; n_found have one. */
static vhem_status match_names(vhem_ctx *ctx, const vhem_tree *tree, const vhem_data *data, int *cluster,
                               int *n_found)
{
    const vh_clustering *c = tree->level[0];
    size_t n = 0;
    VH_AUTOFREE entry *names = NULL;

    VH_NEW(names, c->Kb);
    for (int64_t i = 0; i < c->Kb; i++)
        if (c->name && c->name[i] && *c->name[i])
            names[n++] = (entry){ c->name[i], i };
    qsort(names, n, sizeof *names, by_name);
    *n_found = 0;
    for (int64_t k = 0; k < vh_data_size(data); k++) {
        vhem_seq_view seq;
        VH_TRY(vhem_data_view(data, k, &seq));
        entry own = { seq.name, 0 }, group = { seq.group, 0 };
        const entry *e = *seq.name ? bsearch(&own, names, n, sizeof *names, by_name) : NULL;
        if (!e && *seq.group)
            e = bsearch(&group, names, n, sizeof *names, by_name);
        cluster[k] = e ? tree->base_labels[0][e->i] : -1;
        *n_found += e != NULL;
    }
    return VHEM_OK;
}

/* When no sequence has the name of an item, all find their clusters as new ones do. */
static vhem_status find_clusters(vhem_ctx *ctx, const vhem_tree *tree, const vhem_data *data, int *cluster)
{
    int64_t N = vh_data_size(data);
    int found;
    VH_AUTOFREE int *label = NULL;
    const vhem_source source = { .data = data };

    VH_TRY(match_names(ctx, tree, data, cluster, &found));
    if (found > 0)
        return VHEM_OK;
    VH_NEW(label, vh_cells(N, tree->n));
    VH_TRY(vhem_assign(ctx, tree, &source, label, NULL, NULL));
    for (int64_t n = 0; n < N; n++)
        cluster[n] = label[vh_row(n, tree->n)];
    return VHEM_OK;
}

/* ---- their states -------------------------------------------------------------------------------------- */

/* The record callers see, and the same arrays as its owner may write them. */
typedef struct {
    vhem_examples seen;
    int64_t *sequence; /* [room] */
    int *cluster;      /* [room] */
    int **path;        /* [room] */
} examples;

VH_OWNED(examples, vhem_free)

static void clear(void *record)
{
    examples *e = record;
    for (int64_t k = 0; k < e->seen.n; k++)
        free(e->path[k]);
    free(e->sequence);
    free(e->cluster);
    free(e->path);
}

/* Sequence n, which is in cluster j, decoded by itself. */
static vhem_status add(vhem_ctx *ctx, const vhem_tree *tree, const vhem_data *data, int64_t n, int j,
                       examples *e)
{
    vhem_seq_view seq;
    VH_OWN(vhem_data) *alone = NULL;
    VH_AUTOFREE int *path = NULL;
    double logprob;

    VH_TRY(vhem_data_view(data, n, &seq));
    VH_NEW(path, seq.T);
    VH_TRY(vh_data_subset(ctx, data, &n, 1, &alone));
    VH_TRY(vh_h3m_viterbi(ctx, tree->level[0]->centers, j, alone, 0, path, &logprob));
    e->sequence[e->seen.n] = n;
    e->cluster[e->seen.n] = j;
    e->path[e->seen.n++] = vh_take(path);
    return VHEM_OK;
}

/* e has room for each of the clusters; cluster [N]. */
static vhem_status choose(vhem_ctx *ctx, const vhem_tree *tree, const vhem_data *data, int each,
                          const int *cluster, examples *e)
{
    VH_AUTOFREE int *shown = NULL;
    int64_t N = vh_data_size(data);

    VH_NEW(shown, tree->level[0]->Kr);
    for (int64_t n = 0; n < N; n++) {
        int64_t before = e->seen.n;
        if (cluster[n] < 0 || shown[cluster[n]] == each)
            continue;
        VH_TRY(add(ctx, tree, data, n, cluster[n], e));
        shown[cluster[n]] += e->seen.n > before;
    }
    return VHEM_OK;
}

/* The centres of the lowest level are HMMs. */
static vhem_status fill(vhem_ctx *ctx, const vhem_tree *tree, const vhem_data *data, int each, examples *e)
{
    const vh_clustering *c = tree->level[0];
    VH_AUTOFREE int *cluster = NULL;
    int64_t N = vh_data_size(data);
    size_t all = vh_cells(each, c->Kr), room = all < (size_t)N ? all : (size_t)N;

    VH_CHECK(c->centers->shape.layout || c->centers->d == vh_data_dim(data), VHEM_EINVAL,
             "the sequences have dimension %d, but the centres have %d", vh_data_dim(data), c->centers->d);
    VH_NEW(cluster, N);
    VH_TRY(find_clusters(ctx, tree, data, cluster));
    VH_NEW(e->sequence, room);
    VH_NEW(e->cluster, room);
    VH_NEW(e->path, room);
    VH_TRY(choose(ctx, tree, data, each, cluster, e));
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

    VH_CHECK(tree->n > 0, VHEM_EINVAL, "the tree has no level to show examples of");
    VH_CHECK(each >= 1, VHEM_EINVAL, "%d examples of each cluster, must be 1 or more", each);
    VH_NEW_OBJECT(e, clear);
    if (tree->level[0]->centers)
        VH_TRY(fill(ctx, tree, data, each, e));
    *out = &vh_take(e)->seen;
    return VHEM_OK;
}
