/* SPDX-License-Identifier: BSD-3-Clause */
/* clustering.h - storage of a clustering: what a method fills in, and how callers of the library see it. */
#ifndef VH_METHODS_CLUSTERING_H
#define VH_METHODS_CLUSTERING_H

#include "core/own.h"
#include "core/text.h"
#include "models/models.h"

#include <stddef.h>

enum { VH_DEFAULT_TAU = 10 }; /* frames of a virtual sample where a file does not say, as in the presets */

typedef struct { /* what every method returns; what it does not have is NULL */
    const char *method;
    int64_t Kb;
    int Kr;
    bool by_group;     /* groups of sequences were clustered */
    const char *items; /* what was: "models", "sequences", "groups" */
    int n_iter, converged;
    int n_empty, n_revived, n_fell;
    int *label;            /* [Kb] */
    double *z, *L_hmm;     /* [Kb][Kr] */
    double *share;         /* [Kb] of the runs that are as good: those where the item is in this group */
    int *lacking;          /* [Kb] columns that the item, an HMM, lacks: its L_hmm is over fewer values than
                              those of others; NULL: none lacks any */
    double *bound;         /* [n_iter+1] */
    int *state_map;        /* for each input model, [its S] */
    int64_t *state_map_at; /* [Kb+1] */
    int n_run;
    vhem_cluster_run *run; /* [n_run] */
    char **name;           /* [Kb]  of the items, in name_block; "" for none, NULL until it is shown */
    vh_text_block name_block;
    uint64_t *fingerprint; /* [Kb]  of the data that the items were fitted to, 0: not known; NULL: of none */
    vh_h3m *centers;       /* Kr of them, */
    vh_dtm *textures;      /* or of these */
    vhem_cluster_options options; /* as they were used; start is NULL; texts are kept */
    char *posterior, *prior;      /* of vbhem: JSON objects as text, or NULL */
    double value;                 /* of vbhem: the bound whatever the names of clusters and states */
    int K_max;                    /* clusters before pruning; 0: as many as now */
    char *provenance;             /* JSON object as text, or NULL */

    vh_texts kept;
    double *place; /* [Kr][dim]  where the centres lie; NULL: unknown */
    int64_t dim;
    vhem_models as_models; /* the centres, for shown */
    vhem_clustering shown; /* what callers see, once it is a level of a tree */
} vh_clustering;

/* An empty clustering of Kb models: labels and names are there, all else is NULL or 0. */
vhem_status vh_clustering_new(vhem_ctx *ctx, int64_t Kb, vh_clustering **out);
void vh_clustering_free(vh_clustering *c);
VH_OWNED(vh_clustering, vh_clustering_free)
/* Text that lives as long as the clustering; *slot points to it. */
vhem_status vh_clustering_keep(vhem_ctx *ctx, vh_clustering *c, const char *text, const char **slot);
/* The centres, whatever they are; NULL when there are none. */
const vhem_models *vh_clustering_centers(vh_clustering *c);
/* Their weights, [Kr]; NULL when there are none. */
const double *vh_clustering_omega(const vh_clustering *c);
/* label_i = argmax_j z_ij; ties to the lowest index. */
void vh_label_by_z(vh_clustering *c);
/* Where the centres lie, for methods whose trees go on from there: a table [Kr][dim] that belongs to the
 * clustering and goes into no file.  Takes over the table (free()); place is NULL when there is none. */
void vh_clustering_set_place(vh_clustering *c, int64_t dim, double *place);
const double *vh_clustering_place(const vh_clustering *c, int64_t *dim);
vhem_status vh_clustering_set_name(vhem_ctx *ctx, vh_clustering *c, int64_t i, const char *name);
vhem_status vh_clustering_set_fingerprint(vhem_ctx *ctx, vh_clustering *c, int64_t i, uint64_t fingerprint);
/* share [Kb] of out, whose label are those that were kept, over all of n partitions [Kb] into at most K
 * groups, with clusters matched.  Fewer than two partitions, or more than VH_MOST_MATCHED groups: none. */
enum { VH_MOST_MATCHED = 1000 };
vhem_status vh_count_share(vhem_ctx *ctx, const int *kept, int K, int n, const int *const *label,
                           vh_clustering *out);
struct vh_search;
/* What the clustering has from the search; the tables of the winner move over.  Its centres stay. */
vhem_status vh_clustering_take_search(vhem_ctx *ctx, struct vh_search *s, vh_clustering *out);
/* Fills c->shown; base_label and parent are those of the tree. */
void vh_clustering_show(vh_clustering *c, const int *base_label, const int *parent);

#endif
