/* SPDX-License-Identifier: BSD-3-Clause */
/* names.h - a set of byte strings, each with the number it was given when first put in: 0, 1, 2, ... */
#ifndef VH_CORE_NAMES_H
#define VH_CORE_NAMES_H

#include "core/ctx.h"

#include <stddef.h>

typedef struct {
    int64_t n;
    char **text;   /* [n] with a NUL after each */
    size_t *size;  /* [n] */
    int64_t *slot; /* open addressing: index + 1, or 0 */
    size_t n_slots, cap_text, cap_size;
} vh_names; /* zeroed is empty */

/* The number of s [n], which is added if it is new. */
vhem_status vh_names_put(vhem_ctx *ctx, vh_names *names, const char *s, size_t n, int64_t *index,
                         bool *is_new);
/* The number of s [n], -1 when it is not there. */
int64_t vh_names_find(const vh_names *names, const char *s, size_t n);
void vh_names_free(vh_names *names);

#endif
