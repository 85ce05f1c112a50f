/* SPDX-License-Identifier: BSD-3-Clause */
/* shards.h - a set of HMMs that stays on disk: one file (shard.h), or a folder of them with a manifest.
 *
 * HMMs have numbers in the whole set, from 0 to K-1; where one file ends and the next begins makes no
 * difference to anybody who asks for them by number. */
#ifndef VH_FILES_SHARDS_H
#define VH_FILES_SHARDS_H

#include "core/own.h"
#include "files/shard.h"

#define VH_MANIFEST "manifest.json"

typedef struct vh_shards {
    char *path;
    int64_t K;     /* HMMs in all */
    int64_t bytes; /* of their numbers */
    int S, M;      /* the largest */
    int S_least, M_least;
    int n;
    vh_shard **shard; /* [n]  in the order of their numbers */
} vh_shards;

/* The smallest size so far, 0 when there is none yet. */
static inline int vh_least(int so_far, int size)
{
    return so_far == 0 || size < so_far ? size : so_far;
}

/* Is the path a folder with a manifest? */
bool vh_shards_is_folder(const char *path);
/* What the files of a folder without a manifest end in when all of them look like models: VH_LOOSE_H5,
 * VH_LOOSE_JSON or both; else 0. */
enum { VH_LOOSE_H5 = 1, VH_LOOSE_JSON = 2 };
int vh_shards_loose(const char *path);
/* Opens every file of the folder and checks it against the manifest. */
vhem_status vh_shards_open(vhem_ctx *ctx, const char *path, vh_shards **out);
/* One file, opened by itself, as a set; takes it over, also on failure. */
vhem_status vh_shards_of(vhem_ctx *ctx, vh_shard *shard, vh_shards **out);
/* Files that were opened by themselves, as the set that they are shards of, with its order and weights; a
 * warning tells which HMMs are missing.  *out stays as it was when they are not shards of one set. */
vhem_status vh_shards_join(vhem_ctx *ctx, int n, const vh_shard *const *parts, vh_shards **out);
void vh_shards_free(vh_shards *set);
VH_OWNED(vh_shards, vh_shards_free)

/* While a set is made: the next of its files, which it owns from here on, also on failure; and whether the
 * weights of all sum to 1. */
vhem_status vh_shards_add(vhem_ctx *ctx, vh_shards *set, vh_shard *shard);
vhem_status vh_shards_check_weights(vhem_ctx *ctx, const vh_shards *set);

/* HMMs first .. first+n-1 as a set of their own, with their weights in the whole; texts: with names, labels
 * and unknown keys.  May be called by several threads. */
vhem_status vh_shards_read(vhem_ctx *ctx, const vh_shards *set, int64_t first, int64_t n, bool texts,
                           vh_h3m **out);
/* Its states and components, without reading it. */
void vh_shards_shape(const vh_shards *set, int64_t number, int *S, int *M);
/* Asks the system to have these HMMs at hand soon. */
void vh_shards_expect(const vh_shards *set, int64_t first, int64_t n);

typedef struct { /* where HMMs to be written come from */
    int64_t K;
    vhem_status (*read)(vhem_ctx *ctx, const void *arg, int64_t first, int64_t n, vh_h3m **out);
    const void *arg;
} vh_shards_source;

/* Writes a folder of n files.  It is complete or not there: everything is written beside it first.  A folder
 * that already exists is refused. */
vhem_status vh_shards_save(vhem_ctx *ctx, const vh_shards_source *from, int n, const char *path);

/* Follows from what all files of a set say of themselves, and is never 0; 0 where there is no set. */
vhem_status vh_shards_fingerprint(vhem_ctx *ctx, const vh_shards *set, int64_t *out);

#endif
