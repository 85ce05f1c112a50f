/* SPDX-License-Identifier: BSD-3-Clause */
/* hash.h - fingerprints of data and options: keys are equal if and only if the inputs are. */
#ifndef VH_CORE_HASH_H
#define VH_CORE_HASH_H

#include "core/ctx.h"

#include <stddef.h>

typedef struct {
    char text[33]; /* 128 bits in hexadecimal */
} vh_key;

typedef struct vh_hash vh_hash;

vhem_status vh_hash_new(vhem_ctx *ctx, vh_hash **out);
void vh_hash_free(vh_hash *hash);
VH_OWNED(vh_hash, vh_hash_free)
void vh_hash_bytes(vh_hash *hash, const void *bytes, size_t n);
void vh_hash_text(vh_hash *hash, const char *text); /* includes the NUL; NULL counts as "" */
void vh_hash_number(vh_hash *hash, double x);
void vh_hash_key(const vh_hash *hash, vh_key *out);
/* 64-bit hash of h and the bytes; for a checksum of several pieces, start with h = 0. */
uint64_t vh_hash_chain(uint64_t h, const void *bytes, size_t n);
/* 64-bit hash of a text: a seed for a named item. */
uint64_t vh_hash_name(const char *text);

#endif
