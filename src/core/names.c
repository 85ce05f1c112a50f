/* SPDX-License-Identifier: BSD-3-Clause */
/* names.c - see names.h. */
#include "core/names.h"

#include "core/alloc.h"

#include <limits.h>
#include <string.h>

static uint64_t hash(const char *s, size_t n)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a, then mixed: open addressing uses the low bits */
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)s[i]) * 1099511628211u;
    return h ^ h >> 29;
}

/* Returns the slot of s [n], or the empty slot where it belongs. */
static size_t find_slot(const vh_names *names, const char *s, size_t n)
{
    size_t mask = names->n_slots - 1, i = hash(s, n) & mask;
    for (; names->slot[i]; i = (i + 1) & mask) {
        int64_t k = names->slot[i] - 1;
        if (names->size[k] == n && memcmp(names->text[k], s, n) == 0)
            break;
    }
    return i;
}

static vhem_status rehash(vhem_ctx *ctx, vh_names *names)
{
    size_t n_slots = names->n_slots ? 2 * names->n_slots : 64;
    int64_t *slot = NULL;

    VH_NEW(slot, n_slots);
    free(names->slot);
    names->slot = slot;
    names->n_slots = n_slots;
    for (int64_t k = 0; k < names->n; k++)
        names->slot[find_slot(names, names->text[k], names->size[k])] = k + 1;
    return VHEM_OK;
}

vhem_status vh_names_put(vhem_ctx *ctx, vh_names *names, const char *s, size_t n, int64_t *index,
                         bool *is_new)
{
    if (2 * ((size_t)names->n + 1) > names->n_slots)
        VH_TRY(rehash(ctx, names));
    size_t i = find_slot(names, s, n);
    *is_new = names->slot[i] == 0;
    if (*is_new) {
        VH_TRY(vh_grow(ctx, &names->text, &names->cap_text, (size_t)names->n + 1, sizeof *names->text));
        VH_TRY(vh_grow(ctx, &names->size, &names->cap_size, (size_t)names->n + 1, sizeof *names->size));
        names->text[names->n] = vh_strndup(ctx, s, n);
        if (!names->text[names->n])
            return VHEM_ENOMEM;
        names->size[names->n] = n;
        names->slot[i] = ++names->n;
    }
    *index = names->slot[i] - 1;
    return VHEM_OK;
}

int64_t vh_names_find(const vh_names *names, const char *s, size_t n)
{
    return names->n_slots ? names->slot[find_slot(names, s, n)] - 1 : -1;
}

void vh_names_free(vh_names *names)
{
    for (int64_t k = 0; k < names->n; k++)
        free(names->text[k]);
    free(names->text);
    free(names->size);
    free(names->slot);
    *names = (vh_names){ 0 };
}
