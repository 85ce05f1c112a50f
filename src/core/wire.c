/* SPDX-License-Identifier: BSD-3-Clause */
/* wire.c - see wire.h. */
#include "core/wire.h"

#include "core/alloc.h"
#include "core/hash.h"

#include <limits.h>
#include <string.h>

enum { MARK = 8, CHECK = 8 };

vhem_status vh_wire_open(vhem_ctx *ctx, const void *bytes, size_t n, const char *mark, const char *what,
                         vh_wire *out)
{
    uint64_t check;

    VH_CHECK(bytes && n >= MARK + CHECK && memcmp(bytes, mark, MARK) == 0, VHEM_EFORMAT,
             "%zu bytes that should be %s do not begin with %.8s", n, what, mark);
    memcpy(&check, (const char *)bytes + n - CHECK, CHECK);
    VH_CHECK(check == vh_hash_chain(0, bytes, n - CHECK), VHEM_EFORMAT,
             "%s of %zu bytes was damaged on its way: its checksum is wrong", what, n);
    *out = (vh_wire){ .reads = true, .data = (unsigned char *)bytes, .n = n - CHECK, .at = MARK };
    return VHEM_OK;
}

void vh_wire_bytes(vhem_ctx *ctx, vh_wire *w, void *x, size_t n)
{
    if (w->st != VHEM_OK || n == 0)
        return;
    if (!w->reads) {
        w->st = vh_grow(ctx, &w->data, &w->cap, w->n + n, 1);
        if (w->st == VHEM_OK)
            memcpy(w->data + w->n, x, n);
        w->n += w->st == VHEM_OK ? n : 0;
    } else if (n > w->n - w->at) {
        w->st = vh_fail(ctx, VHEM_EFORMAT, "%zu bytes from another process end too soon", w->n);
    } else {
        memcpy(x, w->data + w->at, n);
        w->at += n;
    }
}

void vh_wire_begin(vhem_ctx *ctx, vh_wire *w, const char *mark)
{
    char text[MARK] = { 0 };
    memcpy(text, mark, MARK);
    vh_wire_bytes(ctx, w, text, MARK);
}

void vh_wire_end(vhem_ctx *ctx, vh_wire *w)
{
    uint64_t check = w->st == VHEM_OK ? vh_hash_chain(0, w->data, w->n) : 0;
    vh_wire_bytes(ctx, w, &check, CHECK);
}

void vh_wire_int64(vhem_ctx *ctx, vh_wire *w, int64_t *x)
{
    vh_wire_bytes(ctx, w, x, sizeof *x);
}

void vh_wire_check(vhem_ctx *ctx, vh_wire *w, const char *what, int64_t x, int64_t least, int64_t most)
{
    if (w->st == VHEM_OK && (x < least || x > most))
        w->st = vh_fail(ctx, VHEM_EFORMAT,
                        "bytes from another process have %s of %lld, must be from %lld to %lld", what,
                        (long long)x, (long long)least, (long long)most);
}

void vh_wire_int(vhem_ctx *ctx, vh_wire *w, int *x)
{
    int64_t wide = *x;
    vh_wire_int64(ctx, w, &wide);
    vh_wire_check(ctx, w, "a number", wide, INT_MIN, INT_MAX);
    if (w->st == VHEM_OK)
        *x = (int)wide;
}

void vh_wire_flag(vhem_ctx *ctx, vh_wire *w, bool *x)
{
    int wide = *x;
    vh_wire_int(ctx, w, &wide);
    *x = wide != 0;
}

void vh_wire_real(vhem_ctx *ctx, vh_wire *w, double *x)
{
    vh_wire_bytes(ctx, w, x, sizeof *x);
}

void vh_wire_reals(vhem_ctx *ctx, vh_wire *w, double *x, size_t n)
{
    vh_wire_bytes(ctx, w, x, sizeof *x * n);
}

void vh_wire_text(vhem_ctx *ctx, vh_wire *w, char *x, size_t size)
{
    int n = w->reads ? 0 : (int)strlen(x);
    vh_wire_int(ctx, w, &n);
    vh_wire_check(ctx, w, "a text", n, 0, (int64_t)size - 1);
    if (w->st != VHEM_OK)
        return;
    vh_wire_bytes(ctx, w, x, (size_t)n);
    x[n] = 0;
}

size_t vh_wire_left(const vh_wire *w)
{
    return w->n - w->at;
}
