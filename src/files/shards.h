/* SPDX-License-Identifier: BSD-3-Clause */
/* shards.h - a set of HMMs on disk: one file (shard.h), or a folder of them with a manifest.
 *
 * HMMs are numbered 0 .. K-1 over the whole set; callers do not see the boundaries between files. */
#ifndef VH_FILES_SHARDS_H
#define VH_FILES_SHARDS_H

#include "core/own.h"
#include "files/shard.h"

#define VH_MANIFEST "manifest.json"

typedef struct vh_shards {
    char *path;
    int64_t K;     /* total number of HMMs */
    int64_t bytes; /* size of their numbers */
    int S, M;      /* largest */
    int S_least, M_least;
    int n;
    vh_shard **shard; /* [n]  ordered by HMM number */
} vh_shards;

/* The smaller size; so_far is 0 at first. */
static inline int vh_least(int so_far, int size)
{
    return so_far == 0 || size < so_far ? size : so_far;
}

/* True if the path is a folder with a manifest. */
bool vh_shards_is_folder(const char *path);
/* Extensions of the files in a folder without a manifest if all look like models: VH_LOOSE_H5, VH_LOOSE_JSON
 * or both; else 0. */
enum { VH_LOOSE_H5 = 1, VH_LOOSE_JSON = 2 };
int vh_shards_loose(const char *path);
/* Opens every file of the folder and checks it against the manifest. */
vhem_status vh_shards_open(vhem_ctx *ctx, const char *path, vh_shards **out);
/* Makes a set of one file that was opened alone; takes ownership, also on failure. */
vhem_status vh_shards_of(vhem_ctx *ctx, vh_shard *shard, vh_shards **out);
/* Joins files opened alone into the set they are shards of, with its order and weights; warns which HMMs are
 * missing.  *out is unchanged if they are not shards of one set. */
vhem_status vh_shards_join(vhem_ctx *ctx, int n, const vh_shard *const *parts, vh_shards **out);
void vh_shards_free(vh_shards *set);
VH_OWNED(vh_shards, vh_shards_free)

/* To build a set: add the next file, taking ownership also on failure; then check that all weights sum to
 * 1. */
vhem_status vh_shards_add(vhem_ctx *ctx, vh_shards *set, vh_shard *shard);
vhem_status vh_shards_check_weights(vhem_ctx *ctx, const vh_shards *set);

/* Reads HMMs first .. first+n-1 as a set with their weights in the whole; texts: with names, labels and
 * unknown keys.  Thread-safe. */
vhem_status vh_shards_read(vhem_ctx *ctx, const vh_shards *set, int64_t first, int64_t n, bool texts,
                           vh_h3m **out);
/* States and components of an HMM, without reading it. */
void vh_shards_shape(const vh_shards *set, int64_t number, int *S, int *M);
/* Advises the system that these HMMs will be read soon. */
void vh_shards_expect(const vh_shards *set, int64_t first, int64_t n);

/* Writes K HMMs as a folder of n files, atomically: everything is first written beside it.  Rejects an
 * existing folder.  read: reads HMMs first .. first+n-1. */
typedef vhem_status vh_read_hmms(vhem_ctx *ctx, const void *arg, int64_t first, int64_t n, vh_h3m **out);
vhem_status vh_shards_save(vhem_ctx *ctx, int64_t K, vh_read_hmms *read, const void *arg, int n,
                           const char *path);

/* Hash of all files of a set, never 0; *out is 0 if set is NULL. */
vhem_status vh_shards_fingerprint(vhem_ctx *ctx, const vh_shards *set, int64_t *out);

#endif
