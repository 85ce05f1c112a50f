/* SPDX-License-Identifier: BSD-3-Clause */
/* shard.h - a model file as arrays: version 2 of the HDF5 format, docs/formats.md.
 *
 * All HMMs of one shape (S, M) share one array per parameter, so that the file has no per-HMM objects and a
 * range of HMMs is a few contiguous reads.  Opening a shard reads only its description; HMMs are read on
 * demand, a chunk at a time, from any number of threads. */
#ifndef VH_FILES_SHARD_H
#define VH_FILES_SHARD_H

#include "core/own.h"
#include "core/hash.h"
#include "hmm/hmm_set.h"
#include "files/hdf5.h"

enum {
    VH_SHARD_CHUNK = 512, /* HMMs that share a checksum and are read together */
    VH_SHARD_VERSION = 2,
    VH_SHARD_ARRAYS = 3 + VH_MAX_PARAM /* pi, A, c and the parameters of the family */
};

typedef enum { VH_SHARD_REAL, VH_SHARD_INT, VH_SHARD_OFFSET, VH_SHARD_BYTE } vh_shard_type;

typedef struct { /* an array in the file */
    char name[64];
    vh_shard_type type;
    int64_t at;  /* file offset of its data; -1: only the HDF5 library can read it */
    size_t size; /* bytes per row; 0: the array is absent */
} vh_shard_array;

typedef struct { /* the HMMs of one shape */
    int S, M;
    int64_t n;
    vh_shard_array array[VH_SHARD_ARRAYS]; /* rows of pi, A, c, then each parameter */
} vh_shard_shape;

typedef struct {
    char *path;
    int64_t K;          /* HMMs in the file */
    int64_t first, all; /* index of its first HMM in the whole set; size of that set */
    int64_t at;         /* the same index, also if opened alone (first is 0 then) */
    char *set, *before; /* of a shard after the first: key of the first, of all before it; NULL: unknown */
    double omega_sum;   /* sum of the weights in the file */
    double scale;       /* divisor of weights: 1, or omega_sum if opened alone */
    int64_t bytes;      /* size of all numbers */
    vh_h3m *head;       /* family, d, lengths, prior, provenance, extra; its HMMs have no shape */
    int64_t n_chunk;
    int n_shape;
    vh_shard_shape *shape; /* [n_shape] */
    int *of;               /* [K]  shape of each HMM; NULL: only one */
    int64_t *row;          /* [n_chunk+1][n_shape]  HMMs of each shape before a chunk; NULL: only one */
    uint64_t *check;       /* [2][n_chunk]  checksums of numbers and of texts; NULL: none */
    vh_shard_array omega, name_offset, name_bytes, code;
    uint64_t n_bytes; /* size of all names */
    int64_t n_label;
    char **label; /* [n_label] */
    char *extras; /* JSON object: unknown keys of HMMs, by index; or NULL */
} vh_shard;

typedef struct {              /* place of a shard in its set */
    int64_t first, all;       /* its HMMs are first .. first+K-1 of all */
    const char *set, *before; /* as in vh_shard; NULL: none */
} vh_shard_place;
vhem_status vh_shard_save(vhem_ctx *ctx, const vh_h3m *h3m, const vh_shard_place *place, const char *path);
/* Opens a file; whole: as a set of its own, with weights that sum to 1. */
vhem_status vh_shard_open(vhem_ctx *ctx, const char *path, bool whole, vh_shard **out);
/* The same for an open file; error messages do not name it yet. */
vhem_status vh_shard_describe(vhem_ctx *ctx, hid_t file, size_t limit, const char *path, bool whole,
                              vh_shard **out);
void vh_shard_free(vh_shard *s);
VH_OWNED(vh_shard, vh_shard_free)
/* Key of the file for the manifest: a hash of all checksums. */
vhem_status vh_shard_key(vhem_ctx *ctx, const vh_shard *s, vh_key *out);
/* `before` of the next shard: a hash of `before` (NULL for the first) and key of this one. */
vhem_status vh_shard_chain(vhem_ctx *ctx, const char *before, const char *key, vh_key *out);

/* Reads and checks HMMs first .. first+n-1 of the file into slots at .. at+n-1 of a set; texts: with names,
 * labels and unknown keys.  Error messages name the chunk or the HMM's index in the whole set, not the
 * file. */
vhem_status vh_shard_read(vhem_ctx *ctx, const vh_shard *s, int64_t first, int64_t n, bool texts,
                          vh_h3m *into, int64_t at);
/* Reads all of a file that was opened alone into memory.  Error messages do not name the file. */
vhem_status vh_shard_load(vhem_ctx *ctx, const vh_shard *s, vh_h3m **out);
/* Creates a set of n empty slots with the head of the file. */
vhem_status vh_shard_slots(vhem_ctx *ctx, const vh_shard *s, int64_t n, vh_h3m **out);
/* Advises the system that these HMMs will be read soon. */
void vh_shard_expect(const vh_shard *s, int64_t first, int64_t n);

/* Write and read the head of an HDF5 model file, of either version: hmm_hdf5.c. */
bool vh_model_put_head(const vh_h5_writer *w, const vh_h3m *h3m, int version);
vhem_status vh_model_get_head(vhem_ctx *ctx, hid_t file, size_t limit, int64_t K, vh_h3m **out);

#endif
