/* SPDX-License-Identifier: BSD-3-Clause */
/* models.h - a set of models of either kind, and the operations on both. */
#ifndef VH_MODELS_MODELS_H
#define VH_MODELS_MODELS_H

#include "dtm/dtm.h"
#include "hmm/models_record.h"
#include "files/shards.h"
#include "data/data.h"

enum { VH_MODELS_EAGER = 1 << 24 }; /* smaller sets on disk, in bytes, are loaded when opened */

/* Loads h3m if it is on disk; m may be NULL.  m is const because its contents do not change. */
vhem_status vh_models_gather(vhem_ctx *ctx, const vhem_models *m);
/* Returns the first HMMs of a set on disk, at most n, owned by the set; all callers get the same ones. */
vhem_status vh_models_sample(vhem_ctx *ctx, const vhem_models *m, int64_t n, const vh_h3m **out);
/* Copies HMMs first .. first+n-1 with all their attributes; weights are those in the whole set. */
vhem_status vh_models_range(vhem_ctx *ctx, const vhem_models *m, int64_t first, int64_t n, vh_h3m **out);

/* The HMMs in memory; NULL: none, or still on disk.  Safe while another thread gathers. */
static inline vh_h3m *vh_models_hmms(const vhem_models *m)
{
    return __atomic_load_n(&m->h3m, __ATOMIC_ACQUIRE);
}
/* A set of HMMs that holds everything but the single HMMs, in memory or on disk; NULL: textures. */
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
/* Address of the name or the label of model i; NULL inside: none. */
static inline char **vh_models_name(const vhem_models *m, int64_t i)
{
    return m->h3m ? &m->h3m->hmm[i].name : &m->dtm->dt[i].name;
}
static inline char **vh_models_label(const vhem_models *m, int64_t i)
{
    return m->h3m ? &m->h3m->hmm[i].label : &m->dtm->dt[i].label;
}
/* "HMM" or "texture", for messages. */
const char *vh_models_word(const vhem_models *m);

/* Wrap the set and take ownership; on failure it is freed. */
vhem_status vh_models_take_hmms(vhem_ctx *ctx, vh_h3m *h3m, vhem_models **out);
vhem_status vh_models_take_textures(vhem_ctx *ctx, vh_dtm *dtm, vhem_models **out);
/* The same; small sets are gathered at once. */
vhem_status vh_models_take_shards(vhem_ctx *ctx, vh_shards *shards, vhem_models **out);
/* Copies n models, index [n] (NULL: the first n), with weights scaled to sum to 1. */
vhem_status vh_models_subset(vhem_ctx *ctx, const vhem_models *m, const int64_t *index, int64_t n,
                             vhem_models **out);
/* Copies the models with positive weight; fails if there are none. */
vhem_status vh_models_with_weight(vhem_ctx *ctx, const vhem_models *m, vhem_models **out);
/* Concatenates the models of n sets; weights of part p are omega share[p] (share NULL: omega).  Names are not
 * copied.  All sets must have one kind, family and dimension. */
vhem_status vh_models_pool(vhem_ctx *ctx, const vhem_models *const *part, const double *share, int64_t n,
                           vhem_models **out);

struct json_t;
struct vh_json_items;
vhem_status vh_models_print_json(vhem_ctx *ctx, const vhem_models *m, FILE *f);
/* Reads the models of a parsed object; of a clustering or tree, the centres of the lowest level. */
vhem_status vh_models_from_json(vhem_ctx *ctx, struct json_t *root, const struct vh_json_items *hmms,
                                vhem_models **out);

/* Fits HMMs or textures, one per item or as a mixture, as the options say; ignores the store. */
vhem_status vh_fit(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, vhem_models **out,
                   vhem_fit_report **report);

#endif
