/* SPDX-License-Identifier: BSD-3-Clause */
/* methods.h - the table of clustering methods. */
#ifndef VH_METHODS_METHODS_H
#define VH_METHODS_METHODS_H

#include "methods/clustering.h"
#include "data/data.h"
#include "vhem/distributed.h"

enum { VH_MODELS = 1, VH_DATA = 2, VH_TEXTURES = 4 }; /* kinds of input of a method */
enum {
    VH_CLIMBS = 1,  /* it maximises a bound */
    VH_BY_PART = 2, /* it can sum over parts of the models: on disk, or in other processes */
    VH_FINDS_K = 4, /* K is an upper limit; it finds the number of clusters */
    VH_KEEPS = 8    /* its partition is kept: z is that of centres made for it, and may differ */
};                  /* properties of a method */

typedef struct { /* input: Kb HMMs, textures, or sets of sequences, and K */
    int64_t Kb;
    int64_t K;               /* number of clusters; 0: as many as the given start, or it is chosen */
    const vh_h3m *models;    /* exactly one of models, textures, data is set */
    const vh_shards *shards; /* HMMs on disk: the whole set, of which models are the first; else NULL */
    const vh_dtm *textures;
    const vhem_data *data;
    const int64_t *item;           /* [N]  for data: the set of each sequence */
    bool by_group;                 /* for data: the sets are its groups */
    int n_choice;                  /* for data, where K is 0: the numbers of clusters to choose from; 0: */
    const int64_t *choice;         /* [n_choice]  those that suit the data.  Ascending */
    const vh_clustering *below;    /* level below in a tree, whose nonempty centres are the models;
                                      else NULL */
    bool centers_only;             /* compute centres only, no tables of the members */
    const vhem_executor *executor; /* computes sums over all models; NULL: this process */
    bool tables;                   /* keep z and L_hmm, however large */
} vh_input;

/* Fills its results into out, which has only its sizes, its method and options; seed starts its random
 * numbers. VHEM_ESTOPPED leaves the best result so far in out. */
typedef vhem_status vh_method_run(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *opt,
                                  uint64_t seed, vh_clustering *out);

/* Fills in unset options whose defaults depend on the method; tau is set. */
typedef void vh_method_defaults(const vh_input *in, vhem_cluster_options *o);

typedef struct {
    const char *name;
    int takes; /* any of VH_MODELS, VH_DATA, VH_TEXTURES */
    double nv; /* default of the option; 0: from the preset */
    int tau;
    int traits; /* any of VH_CLIMBS, VH_BY_PART, VH_FINDS_K */
    vh_method_run *run;
    vh_method_defaults *defaults; /* NULL: common defaults */
    const char *about;
    const char *inits; /* supported words of init, "auto|far|dealt"; NULL: all, or init is unused */
} vh_method;

extern const vh_method vh_methods[];               /* ends with a NULL name */
const vh_method *vh_method_find(const char *name); /* NULL if unknown */
const vh_method *vh_method_usual(int takes); /* the default for one of VH_MODELS, VH_DATA, VH_TEXTURES */

vh_method_run vh_method_vhem, vh_method_vbhem, vh_method_auto, vh_method_em_h3m, vh_method_shem,
    vh_method_hem_gmm, vh_method_hem_dtm;
vh_method_defaults vh_vbhem_defaults, vh_auto_defaults, vh_em_defaults, vh_hem_gmm_defaults;
vh_method_run vh_method_distance; /* all methods that use distances only */

/* Runs a clustering with its own seed: levels of a tree and halves of a set must use different random
 * numbers. */
vhem_status vh_cluster(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *opt, uint64_t seed,
                       vh_clustering **out);
/* Makes an input from the sequences, one item per sequence or per group.  The caller frees *item [N], which
 * in points to, with free(). */
vhem_status vh_input_data(vhem_ctx *ctx, const vhem_data *data, bool by_group, int64_t **item, vh_input *in);
/* Makes an input from the whole set of models, into K clusters. */
static inline vh_input vh_input_models(const vh_h3m *h3m, int64_t K)
{
    return (vh_input){ .Kb = h3m->K, .K = K, .models = h3m };
}
/* The same of models in memory, of either kind. */
static inline vh_input vh_input_of(const vhem_models *m, int64_t K)
{
    return (vh_input){ .Kb = vh_models_size(m), .K = K, .models = m->h3m, .textures = m->dtm };
}
/* Initialises a VHEM search for HMMs; the caller opens and runs it. */
struct vh_hmm_search;
void vh_input_search(const vh_input *in, const vhem_cluster_options *opt, struct vh_hmm_search *s);
/* Makes an input from a source of either kind, K unset; *item as above, NULL for models.  Models stay on disk
 * if they exceed the memory option and the method can process one chunk at a time. */
vhem_status vh_input_source(vhem_ctx *ctx, const vhem_source *source, const vhem_cluster_options *opt,
                            int64_t **item, vh_input *in);
/* The models of a given start; NULL if there is none, or if it is of the other kind. */
static inline const vh_h3m *vh_start_hmms(const vhem_cluster_options *opt)
{
    return opt->start ? opt->start->h3m : NULL;
}
static inline const vh_dtm *vh_start_textures(const vhem_cluster_options *opt)
{
    return opt->start ? opt->start->dtm : NULL;
}

#endif
