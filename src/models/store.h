/* SPDX-License-Identifier: BSD-3-Clause */
/* store.h - fitted models on disk, under keys that hash their data and options.
 *
 * Stored models need not be fitted again: after an interruption, when data is added, or when a song has
 * several tags.  The file is append-only, one line per model, so a killed run leaves valid lines; an
 * incomplete last line is dropped when the file is reopened. */
#ifndef VH_MODELS_STORE_H
#define VH_MODELS_STORE_H

#include "core/own.h"
#include "core/hash.h"
#include "models/models.h"

typedef struct vh_store vh_store;

/* Opens a store; path NULL: in memory, for this run only.  A missing file is created; a file open in another
 * run is rejected. */
vhem_status vh_store_open(vhem_ctx *ctx, const char *path, vh_store **out);
/* Flushes everything to disk and frees the store. */
vhem_status vh_store_close(vhem_ctx *ctx, vh_store *store);
void vh_store_free(vh_store *store); /* without flushing */
VH_OWNED(vh_store, vh_store_free)
const char *vh_store_path(const vh_store *store); /* "" if in memory */

/* Thread-safe: */
/* Sets *has if the model under the key can be read. */
vhem_status vh_store_has(vhem_ctx *ctx, vh_store *store, const vh_key *key, bool *has);
/* *out stays NULL if there is no model under the key. */
vhem_status vh_store_get(vhem_ctx *ctx, vh_store *store, const vh_key *key, vhem_models **out);
vhem_status vh_store_put(vhem_ctx *ctx, vh_store *store, const vh_key *key, const vhem_models *models);

/* Frees models read from a store, up to the first NULL. */
void vh_stored_free(vhem_models ***each);

#endif
