/* SPDX-License-Identifier: BSD-3-Clause */
/* methods.h - the table of clustering methods. */
#ifndef VH_METHODS_METHODS_H
#define VH_METHODS_METHODS_H

#include "methods/clustering.h"
#include "data/data.h"
#include "vhem/distributed.h"

enum { VH_MODELS = 1, VH_DATA = 2, VH_TEXTURES = 4 }; /* what a method can start from */
enum {
    VH_CLIMBS = 1, /* it climbs a bound */
    VH_BY_PART =
        2,         /* its sums can be made over a part of the models at a time: on disk, by other processes */
    VH_FINDS_K = 4 /* the number of clusters asked for is the most there may be */
};                 /* what kind of method it is */

typedef struct { /* what is clustered, and into how many: Kb HMMs, textures, or sets of sequences */
    int64_t Kb;
    int64_t K;            /* clusters; 0: as many as a given start has */
    const vh_h3m *models; /* of the three one is not NULL */
    const vh_shards
        *shards; /* of HMMs that stay on disk: where; models are the first of them then.  Else NULL */
    const vh_dtm *textures;
    const vhem_data *data;
    const int64_t *item;           /* [N]  of data: the set a sequence belongs to */
    bool by_group;                 /* of data: the sets are its groups */
    const vh_clustering *below;    /* the level below when a tree is built, whose used centres are the models;
                                     else NULL */
    bool centers_only;             /* the centres are all that is wanted: no tables of the members */
    const vhem_executor *executor; /* who makes sums over all models; NULL: this process */
    bool tables;                   /* z and L_hmm are wanted, however large they are */
} vh_input;

/* Fills what it has of out, which is empty but for Kb, names and options; seed is where its random
 * numbers come from.  VHEM_ESTOPPED leaves the best result so far in out. */
typedef vhem_status vh_method_run(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *opt,
                                  uint64_t seed, vh_clustering *out);

/* Fills in what the user left open and the method decides otherwise than others; tau is known. */
typedef void vh_method_defaults(const vh_input *in, vhem_cluster_options *o);

typedef struct {
    const char *name;
    int takes; /* any of VH_MODELS, VH_DATA, VH_TEXTURES */
    double nv; /* default of options; 0: as the preset says */
    int tau;
    int traits; /* any of VH_CLIMBS, VH_BY_PART, VH_FINDS_K */
    vh_method_run *run;
    vh_method_defaults *defaults; /* NULL: those of all methods */
    const char *about;
    const char *inits; /* words of init that it knows, "auto|far|dealt"; NULL: all, or it does not use init */
} vh_method;

extern const vh_method vh_methods[];               /* ended by a NULL name */
const vh_method *vh_method_find(const char *name); /* NULL when there is none */
const vh_method *vh_method_usual(int takes); /* the default for one of VH_MODELS, VH_DATA, VH_TEXTURES */

vh_method_run vh_method_vhem, vh_method_vbhem, vh_method_em_h3m, vh_method_shem, vh_method_hem_gmm,
    vh_method_hem_dtm;
vh_method_defaults vh_vbhem_defaults, vh_em_defaults, vh_hem_gmm_defaults;
vh_method_run vh_method_distance; /* all that see models through their distances alone, by name */

/* A clustering with a seed of its own: levels of a tree and halves of a set must not repeat each other. */
vhem_status vh_cluster(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *opt, uint64_t seed,
                       vh_clustering **out);
/* The sequences, each by itself or by group, as input; *item [N], which in then points to, is free()d by the
 * caller. */
vhem_status vh_input_data(vhem_ctx *ctx, const vhem_data *data, bool by_group, int64_t **item, vh_input *in);
/* The whole set of models as input, into K clusters. */
static inline vh_input vh_input_models(const vh_h3m *h3m, int64_t K)
{
    return (vh_input){ .Kb = h3m->K, .K = K, .models = h3m };
}
static inline vh_input vh_input_textures(const vh_dtm *dtm, int K)
{
    return (vh_input){ .Kb = dtm->K, .K = K, .textures = dtm };
}
/* HMMs as input for the search by VHEM, which is opened and run by the caller. */
struct vh_hmm_problem;
void vh_input_problem(const vh_input *in, const vhem_cluster_options *opt, struct vh_hmm_problem *t);
/* A source of either kind as input, without K yet; *item as above, NULL for models.  Models on disk stay
 * there when they are more than the options allow in memory and the method can do with a chunk at a time. */
vhem_status vh_input_source(vhem_ctx *ctx, const vhem_source *source, const vhem_cluster_options *opt,
                            int64_t **item, vh_input *in);
/* The models of a given start; NULL when there is none, or it is of the other kind. */
static inline const vh_h3m *vh_start_hmms(const vhem_cluster_options *opt)
{
    return opt->start ? opt->start->h3m : NULL;
}
static inline const vh_dtm *vh_start_textures(const vhem_cluster_options *opt)
{
    return opt->start ? opt->start->dtm : NULL;
}

#endif
