/* SPDX-License-Identifier: BSD-3-Clause */
/* store.h - finished models on disk, each under a key that follows from its data and options.
 *
 * A model that is there need not be fitted again: after an interruption, when data is added, or when a song
 * has many tags.  The file only ever grows, by one line for each model, so that whenever a run is killed the
 * lines before are good; a line that was cut off is dropped when the file is opened again. */
#ifndef VH_MODELS_STORE_H
#define VH_MODELS_STORE_H

#include "core/own.h"
#include "core/hash.h"
#include "models/models.h"

typedef struct vh_store vh_store;

/* NULL: a store in memory, of this run alone.  A file that is not there is begun; one that another run holds
 * open is refused. */
vhem_status vh_store_open(vhem_ctx *ctx, const char *path, vh_store **out);
/* Makes sure that what was put is on disk. */
vhem_status vh_store_close(vhem_ctx *ctx, vh_store *store);
void vh_store_free(vh_store *store); /* without that */
VH_OWNED(vh_store, vh_store_free)
const char *vh_store_path(const vh_store *store); /* "" in memory */

/* All threads may call these at once. */
/* Whether a model can be read back from under the key. */
vhem_status vh_store_has(vhem_ctx *ctx, vh_store *store, const vh_key *key, bool *has);
/* *out stays NULL when there is none under the key. */
vhem_status vh_store_get(vhem_ctx *ctx, vh_store *store, const vh_key *key, vhem_models **out);
vhem_status vh_store_put(vhem_ctx *ctx, vh_store *store, const vh_key *key, const vhem_models *models);

typedef struct { /* models that were read back */
    int64_t n;
    vhem_models **each; /* [n]  with NULL among them, or NULL */
} vh_stored;

void vh_stored_free(vh_stored *stored);

#endif
