/* SPDX-License-Identifier: BSD-3-Clause */
/* shard.h - a model file as arrays: version 2 of the HDF5 format, docs/formats.md.
 *
 * All HMMs of one shape (S, M) share an array for each parameter, so that nothing in the file is per HMM and
 * a run of HMMs is a few runs of bytes.  Opening a shard reads its description alone; HMMs are read when they
 * are wanted, a chunk at a time, by any number of threads. */
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

typedef struct { /* an array of the file */
    char name[64];
    vh_shard_type type;
    int64_t at;  /* where its bytes begin; -1: only the HDF5 library can read it */
    size_t size; /* bytes in a row; 0: the file has no such array */
} vh_shard_array;

typedef struct { /* the HMMs of one shape */
    int S, M;
    int64_t n;
    vh_shard_array array[VH_SHARD_ARRAYS]; /* rows of pi, A, c, then each parameter */
} vh_shard_shape;

typedef struct {
    char *path;
    int64_t K;          /* HMMs in the file, */
    int64_t first, all; /* of which the first has this number in the whole set of so many */
    int64_t at;         /* the same number, whether it was opened by itself (first is 0 then) or not */
    char *set,
        *before;      /* of a shard after the first: key of the first, and of all before it; NULL: unknown */
    double omega_sum; /* of the weights in the file */
    double scale;     /* what weights are divided by: 1, or omega_sum when the file is read by itself */
    int64_t bytes;    /* of all numbers */
    vh_h3m *head;     /* family, d, lengths, prior, provenance, extra; no HMM has a shape */
    int64_t n_chunk;
    int n_shape;
    vh_shard_shape *shape; /* [n_shape] */
    int *of;               /* [K]  shape of each HMM; NULL: there is one */
    int64_t *row;          /* [n_chunk+1][n_shape]  HMMs of each shape before a chunk; NULL: there is one */
    uint64_t *check;       /* [2][n_chunk]  checksums of numbers and of texts; NULL: the file has none */
    vh_shard_array omega, name_offset, name_bytes, code;
    uint64_t n_bytes; /* of all names */
    int64_t n_label;
    char **label; /* [n_label] */
    char *extras; /* JSON object: the unknown keys of HMMs, by index; NULL */
} vh_shard;

typedef struct {              /* what a shard keeps of its set */
    int64_t first, all;       /* the numbers of its HMMs are first .. first+K-1 of so many */
    const char *set, *before; /* as those of vh_shard; NULL: none */
} vh_shard_place;
vhem_status vh_shard_save(vhem_ctx *ctx, const vh_h3m *h3m, const vh_shard_place *place, const char *path);
/* whole: the file is opened by itself, as a set whose weights sum to 1. */
vhem_status vh_shard_open(vhem_ctx *ctx, const char *path, bool whole, vh_shard **out);
/* The same for a file that is open; sentences do not name it yet. */
vhem_status vh_shard_describe(vhem_ctx *ctx, hid_t file, size_t limit, const char *path, bool whole,
                              vh_shard **out);
void vh_shard_free(vh_shard *s);
VH_OWNED(vh_shard, vh_shard_free)
/* What a manifest has to say of the file: it follows from all checksums. */
vhem_status vh_shard_key(vhem_ctx *ctx, const vh_shard *s, vh_key *out);
/* What the next shard has for `before`: it follows from that of this one, NULL for the first, and its key. */
vhem_status vh_shard_chain(vhem_ctx *ctx, const char *before, const char *key, vh_key *out);

/* HMMs first .. first+n-1 of the file into slots at .. at+n-1 of a set, checked; texts: with names, labels
 * and unknown keys.  Sentences name the chunk, or the HMM by its number in the whole set, not the file. */
vhem_status vh_shard_read(vhem_ctx *ctx, const vh_shard *s, int64_t first, int64_t n, bool texts,
                          vh_h3m *into, int64_t at);
/* All of a file that was opened by itself, as a set in memory.  Sentences do not name the file. */
vhem_status vh_shard_load(vhem_ctx *ctx, const vh_shard *s, vh_h3m **out);
/* A set of n empty slots with what the head of the file says. */
vhem_status vh_shard_slots(vhem_ctx *ctx, const vh_shard *s, int64_t n, vh_h3m **out);
/* Asks the system to have these HMMs at hand soon. */
void vh_shard_expect(const vh_shard *s, int64_t first, int64_t n);

/* The top of a model file in HDF5, of either version: hmm_hdf5.c. */
bool vh_model_put_head(const vh_h5_writer *w, const vh_h3m *h3m, int version);
vhem_status vh_model_get_head(vhem_ctx *ctx, hid_t file, size_t limit, int64_t K, vh_h3m **out);

#endif
