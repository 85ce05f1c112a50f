/* SPDX-License-Identifier: BSD-3-Clause */
/* clustering.h - storage of a clustering: filled by a method, viewed by callers of the library. */
#ifndef VH_METHODS_CLUSTERING_H
#define VH_METHODS_CLUSTERING_H

#include "core/own.h"
#include "core/text.h"
#include "models/models.h"

#include <stddef.h>

enum { VH_DEFAULT_TAU = 10 }; /* frames of a virtual sample, if a file does not say; as in the presets */

typedef struct { /* result of any method; missing parts are NULL */
    const char *method;
    int64_t Kb;
    int Kr;
    bool by_group;     /* the items are groups of sequences */
    const char *items; /* kind of items: "models", "sequences", "groups" */
    int n_iter, converged;
    int n_empty, n_revived, n_fell;
    int *label;            /* [Kb] */
    double *z, *L_hmm;     /* [Kb][Kr] */
    double *share;         /* [Kb]  share of the equally good runs in which the item is in this group */
    int *lacking;          /* [Kb]  number of columns the item, an HMM, lacks; its L_hmm is over fewer values;
                              NULL: none lacks any */
    double *bound;         /* [n_iter+1] */
    int *state_map;        /* the maps of all input models, each [S] */
    int64_t *state_map_at; /* [Kb+1] */
    int n_run;
    vhem_cluster_run *run; /* [n_run] */
    int n_choice;
    vhem_choice *choice;          /* [n_choice]  if the number of clusters was chosen */
    char **name;                  /* [Kb]  of the items, in the blocks; "" for none, NULL until shown */
    vh_text_block *name_blocks;   /* the last of them */
    uint64_t *fingerprint;        /* [Kb]  of the data of each item, 0 if unknown; NULL: none known */
    vh_h3m *centers;              /* Kr centres, */
    vh_dtm *textures;             /* or Kr textures */
    vhem_cluster_options options; /* as used; start is NULL; owns its texts */
    char *posterior, *prior;      /* of vbhem: JSON text, or NULL */
    double value;                 /* of vbhem: the bound including symmetries */
    int K_max;                    /* clusters before pruning; 0: Kr */
    char *provenance;             /* JSON text, or NULL */

    vh_texts kept;
    double *place; /* [Kr][dim]  coordinates of the centres; NULL if unknown */
    int64_t dim;
    vhem_models as_models; /* the centres, for shown */
    vhem_clustering shown; /* the callers' view, once it is a level of a tree */
} vh_clustering;

/* Creates a clustering of Kb items, with labels and names allocated; the rest is NULL or 0. */
vhem_status vh_clustering_new(vhem_ctx *ctx, int64_t Kb, vh_clustering **out);
void vh_clustering_free(vh_clustering *c);
VH_OWNED(vh_clustering, vh_clustering_free)
/* Copies text, to be freed with the clustering; *slot points to the copy. */
vhem_status vh_clustering_keep(vhem_ctx *ctx, vh_clustering *c, const char *text, const char **slot);
/* The centres, of either kind: both are NULL if there are none. */
vhem_models vh_clustering_models(const vh_clustering *c);
/* The same as a pointer, valid as long as c; NULL if there are none. */
const vhem_models *vh_clustering_centers(vh_clustering *c);
/* Weights of the centres, [Kr]; NULL if there are none. */
const double *vh_clustering_omega(const vh_clustering *c);
/* label_i = argmax_j z_ij; ties to the lowest index. */
void vh_label_by_z(vh_clustering *c);
/* Sets the coordinates of the centres, [Kr][dim], for methods whose trees continue from them; not saved in
 * files.  Takes ownership of the table (free()); NULL: none. */
void vh_clustering_set_place(vh_clustering *c, int64_t dim, double *place);
const double *vh_clustering_place(const vh_clustering *c, int64_t *dim);
vhem_status vh_clustering_set_name(vhem_ctx *ctx, vh_clustering *c, int64_t i, const char *name);
vhem_status vh_clustering_set_fingerprint(vhem_ctx *ctx, vh_clustering *c, int64_t i, uint64_t fingerprint);
/* Computes share [Kb] of out: for each item, the fraction of n partitions label[r] [Kb] that put it in the
 * group it has in kept, after matching their groups, at most K each.  Does nothing for fewer than two
 * partitions or more than VH_MOST_MATCHED groups. */
vhem_status vh_count_share(vhem_ctx *ctx, const int *kept, int K, int n, const int *const *label,
                           vh_clustering *out);
/* A row of a choice of which nothing is known yet. */
vhem_choice vh_choice_new(int64_t K);
struct vh_search;
/* Fills the clustering from the search and takes over the tables of its best run, but not the centres. */
vhem_status vh_clustering_take_search(vhem_ctx *ctx, struct vh_search *s, vh_clustering *out);
/* Fills c->shown; base_label and parent are those of the tree. */
void vh_clustering_show(vh_clustering *c, const int *base_label, const int *parent);

#endif
