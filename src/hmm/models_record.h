/* SPDX-License-Identifier: BSD-3-Clause */
/* models_record.h - what stands behind vhem_models, for those who look at the HMMs in it and leave the rest
 * to models.h. */
#ifndef VH_HMM_MODELS_RECORD_H
#define VH_HMM_MODELS_RECORD_H

#include "hmm/hmm_set.h"

struct vh_dtm;    /* dtm/dtm.h */
struct vh_shards; /* files/shards.h */

struct vhem_models {
    vhem_kind kind;
    vh_h3m *h3m; /* one of the two; the other is NULL */
    struct vh_dtm *dtm;
    struct vh_shards *shards; /* of HMMs that are on disk: h3m is NULL until somebody gathers them */
    vh_h3m **block; /* [chunks of VH_SHARD_CHUNK]  those that somebody has looked at; NULL: none yet */
    vh_h3m *sample; /* the first few, for vh_models_sample; NULL: nobody has asked */
};

/* A set that belongs to somebody else, as models. */
static inline vhem_models vh_models_of_hmms(const vh_h3m *h3m)
{
    return (vhem_models){ .kind = VHEM_HMMS, .h3m = (vh_h3m *)h3m };
}
static inline vhem_models vh_models_of_textures(const struct vh_dtm *dtm)
{
    return (vhem_models){ .kind = VHEM_TEXTURES, .dtm = (struct vh_dtm *)dtm };
}

#endif
