/* SPDX-License-Identifier: BSD-3-Clause */
/* models_record.h - definition of vhem_models, for code that accesses its HMMs directly; see models.h. */
#ifndef VH_HMM_MODELS_RECORD_H
#define VH_HMM_MODELS_RECORD_H

#include "hmm/hmm_set.h"

struct vh_dtm;    /* dtm/dtm.h */
struct vh_shards; /* files/shards.h */

struct vhem_models {
    vhem_kind kind;
    vh_h3m *h3m; /* HMMs or textures; the other is NULL */
    struct vh_dtm *dtm;
    struct vh_shards *shards; /* HMMs on disk: h3m is NULL until they are loaded */
    vh_h3m **block;           /* [chunks of VH_SHARD_CHUNK]  chunks read so far; or NULL */
    vh_h3m *sample;           /* the first few, for vh_models_sample; NULL until requested */
};

/* Wraps a set as models, without taking ownership. */
static inline vhem_models vh_models_of_hmms(const vh_h3m *h3m)
{
    return (vhem_models){ .kind = VHEM_HMMS, .h3m = (vh_h3m *)h3m };
}
static inline vhem_models vh_models_of_textures(const struct vh_dtm *dtm)
{
    return (vhem_models){ .kind = VHEM_TEXTURES, .dtm = (struct vh_dtm *)dtm };
}

#endif
