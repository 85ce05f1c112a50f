/* methods.h - the table of clustering methods. */
#ifndef VH_CLUSTER_METHODS_H
#define VH_CLUSTER_METHODS_H

#include "cluster/clustering.h"
#include "model/h3m.h"

typedef struct {
    const char *name;
    bool        needs_models;            /* else it starts from sequences */
    /* Fills what it has of out, which is empty but for Kb, names and options; seed is where its random
     * numbers come from.  VHEM_ESTOPPED leaves the best result so far in out. */
    vhem_status (*run)(vhem_ctx *ctx, const vhem_h3m *h3m, const vhem_cluster_options *opt, uint64_t seed,
                       vhem_clustering *out);
} vh_method;

extern const vh_method vh_methods[];     /* ended by a NULL name */
const vh_method *vh_method_find(const char *name);           /* NULL when there is none */

vhem_status vh_method_vhem(vhem_ctx *ctx, const vhem_h3m *h3m, const vhem_cluster_options *opt, uint64_t seed,
                           vhem_clustering *out);

/* vhem_cluster with a seed of its own: levels of a tree and halves of a set must not repeat each other. */
vhem_status vh_cluster(vhem_ctx *ctx, const vhem_h3m *h3m, const vhem_cluster_options *opt, uint64_t seed,
                       vhem_clustering **out);
/* Seed number k under a seed; number 0 is the seed itself, the others fit into 53 bits, so that
 * any reader of JSON can hold them. */
uint64_t vh_cluster_seed(uint64_t seed, uint64_t k);

#endif
