/* SPDX-License-Identifier: BSD-3-Clause */
/* names.h - a set of byte strings, numbered 0, 1, 2, ... in order of insertion. */
#ifndef VH_CORE_NAMES_H
#define VH_CORE_NAMES_H

#include "core/ctx.h"

#include <stddef.h>

typedef struct {
    int64_t n;
    char **text;   /* [n]  each NUL-terminated */
    size_t *size;  /* [n] */
    int64_t *slot; /* open addressing: index + 1, or 0 */
    size_t n_slots, cap_text, cap_size;
} vh_names; /* zero it to start empty */

/* Gets the number of s [n]; adds s if it is new. */
vhem_status vh_names_put(vhem_ctx *ctx, vh_names *names, const char *s, size_t n, int64_t *index,
                         bool *is_new);
/* Returns the number of s [n], or -1. */
int64_t vh_names_find(const vh_names *names, const char *s, size_t n);
void vh_names_free(vh_names *names);

#endif
