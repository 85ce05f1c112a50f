/* SPDX-License-Identifier: BSD-3-Clause */
/* models.h - a set of models of either kind behind one type, and what can be done with it whatever the kind.
 */
#ifndef VH_MODELS_MODELS_H
#define VH_MODELS_MODELS_H

#include "dtm/dtm.h"
#include "hmm/models_record.h"
#include "files/shards.h"

enum { VH_MODELS_EAGER = 1 << 24 }; /* sets on disk of fewer bytes are gathered when they are opened */

/* Sees to it that h3m or dtm is there, for those who work on whole sets in memory.  NULL is allowed.  The set
 * counts as const: what it holds does not change by being read. */
vhem_status vh_models_gather(vhem_ctx *ctx, const vhem_models *m);
/* The first of the HMMs of a set on disk, at most n, which stay the set's; the same for everybody. */
vhem_status vh_models_sample(vhem_ctx *ctx, const vhem_models *m, int64_t n, const vh_h3m **out);
/* HMMs first .. first+n-1 with all that the files say of them, and their weights in the whole. */
vhem_status vh_models_range(vhem_ctx *ctx, const vhem_models *m, int64_t first, int64_t n, vh_h3m **out);

/* The HMMs in memory; NULL: none, or they are on disk.  Another thread may be gathering them just now. */
static inline vh_h3m *vh_models_hmms(const vhem_models *m)
{
    return __atomic_load_n(&m->h3m, __ATOMIC_ACQUIRE);
}
/* A set of HMMs, in memory or on disk, with all that does not belong to one of them; NULL: textures. */
static inline const vh_h3m *vh_models_head(const vhem_models *m)
{
    const vh_h3m *h3m = vh_models_hmms(m);
    return h3m ? h3m : m->shards ? m->shards->shard[0]->head : NULL;
}
static inline int64_t vh_models_size(const vhem_models *m)
{
    return m->shards ? m->shards->K : m->h3m ? m->h3m->K : m->dtm->K;
}
static inline int vh_models_dim(const vhem_models *m)
{
    return m->dtm ? m->dtm->d : vh_models_head(m)->d;
}
static inline double *vh_models_omega(const vhem_models *m) /* [K] */
{
    return m->h3m ? m->h3m->omega : m->dtm->omega;
}
/* Where the name and the label of model i are; NULL inside: none. */
static inline char **vh_models_name(const vhem_models *m, int64_t i)
{
    return m->h3m ? &m->h3m->hmm[i].name : &m->dtm->dt[i].name;
}
static inline char **vh_models_label(const vhem_models *m, int64_t i)
{
    return m->h3m ? &m->h3m->hmm[i].label : &m->dtm->dt[i].label;
}
/* "HMM" or "texture", for sentences. */
const char *vh_models_word(const vhem_models *m);

/* Models that take over the set; on failure it is freed. */
vhem_status vh_models_take_hmms(vhem_ctx *ctx, vh_h3m *h3m, vhem_models **out);
vhem_status vh_models_take_textures(vhem_ctx *ctx, vh_dtm *dtm, vhem_models **out);
/* A small set is gathered at once. */
vhem_status vh_models_take_shards(vhem_ctx *ctx, vh_shards *shards, vhem_models **out);
/* A copy of n of the models, index [n] (NULL: the first n), their weights scaled to sum to 1. */
vhem_status vh_models_subset(vhem_ctx *ctx, const vhem_models *m, const int64_t *index, int64_t n,
                             vhem_models **out);
/* Those that have weight; it is a failure when none has. */
vhem_status vh_models_with_weight(vhem_ctx *ctx, const vhem_models *m, vhem_models **out);
/* The models of n sets one after the other, those of part p with the weights omega share[p] (NULL: omega);
 * names stay behind.  All must be of one kind, family and dimension. */
vhem_status vh_models_pool(vhem_ctx *ctx, const vhem_models *const *part, const double *share, int64_t n,
                           vhem_models **out);

struct json_t;
struct vh_json_items;
vhem_status vh_models_print_json(vhem_ctx *ctx, const vhem_models *m, FILE *f);
/* The models in a parsed object: of a clustering or a tree the centres of the lowest level. */
vhem_status vh_models_from_json(vhem_ctx *ctx, struct json_t *root, const struct vh_json_items *hmms,
                                vhem_models **out);

#endif
