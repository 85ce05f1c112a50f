/* SPDX-License-Identifier: BSD-3-Clause */
/* hash.c - see hash.h; 128-bit XXH3. */
#include "core/hash.h"

#include "core/alloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

struct vh_hash {
    XXH3_state_t *state;
};

vhem_status vh_hash_new(vhem_ctx *ctx, vh_hash **out)
{
    VH_OWN(vh_hash) *hash = NULL;

    VH_NEW(hash, 1);
    hash->state = XXH3_createState();
    VH_CHECK(hash->state, VHEM_ENOMEM, "out of memory: no room for a fingerprint");
    XXH3_128bits_reset(hash->state);
    *out = vh_take(hash);
    return VHEM_OK;
}

void vh_hash_free(vh_hash *hash)
{
    if (hash)
        XXH3_freeState(hash->state);
    free(hash);
}

void vh_hash_bytes(vh_hash *hash, const void *bytes, size_t n)
{
    XXH3_128bits_update(hash->state, bytes, n);
}

void vh_hash_text(vh_hash *hash, const char *text)
{
    vh_hash_bytes(hash, text ? text : "", text ? strlen(text) + 1 : 1);
}

void vh_hash_number(vh_hash *hash, double x)
{
    vh_hash_bytes(hash, &x, sizeof x);
}

void vh_hash_key(const vh_hash *hash, vh_key *out)
{
    XXH128_hash_t h = XXH3_128bits_digest(hash->state);
    snprintf(out->text, sizeof out->text, "%016" PRIx64 "%016" PRIx64, h.high64, h.low64);
}

uint64_t vh_hash_chain(uint64_t h, const void *bytes, size_t n)
{
    return XXH3_64bits_withSeed(bytes, n, h);
}

uint64_t vh_hash_name(const char *text)
{
    return XXH3_64bits(text, strlen(text));
}
