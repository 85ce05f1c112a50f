/* SPDX-License-Identifier: BSD-3-Clause */
/* serialize.c - see serialize.h. */
#include "parallel/serialize.h"

#include "core/alloc.h"
#include "core/hash.h"

#include <limits.h>
#include <string.h>

enum { MARK = 8, CHECK = 8 };

vhem_status vh_serial_open(vhem_ctx *ctx, const void *bytes, size_t n, const char *mark, const char *what,
                           vh_serial *out)
{
    uint64_t check;

    VH_CHECK(bytes && n >= MARK + CHECK && memcmp(bytes, mark, MARK) == 0, VHEM_EFORMAT,
             "%zu bytes that should be %s do not begin with %.8s", n, what, mark);
    memcpy(&check, (const char *)bytes + n - CHECK, CHECK);
    VH_CHECK(check == vh_hash_chain(0, bytes, n - CHECK), VHEM_EFORMAT,
             "%s of %zu bytes was damaged on its way: its checksum is wrong", what, n);
    *out = (vh_serial){ .reads = true, .data = (unsigned char *)bytes, .n = n - CHECK, .at = MARK };
    return VHEM_OK;
}

void vh_serial_bytes(vhem_ctx *ctx, vh_serial *w, void *x, size_t n)
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

void vh_serial_begin(vhem_ctx *ctx, vh_serial *w, const char *mark)
{
    char text[MARK] = { 0 };
    memcpy(text, mark, MARK);
    vh_serial_bytes(ctx, w, text, MARK);
}

void vh_serial_end(vhem_ctx *ctx, vh_serial *w)
{
    uint64_t check = w->st == VHEM_OK ? vh_hash_chain(0, w->data, w->n) : 0;
    vh_serial_bytes(ctx, w, &check, CHECK);
}

void vh_serial_int64(vhem_ctx *ctx, vh_serial *w, int64_t *x)
{
    vh_serial_bytes(ctx, w, x, sizeof *x);
}

void vh_serial_check(vhem_ctx *ctx, vh_serial *w, const char *what, int64_t x, int64_t least, int64_t most)
{
    if (w->st == VHEM_OK && (x < least || x > most))
        w->st = vh_fail(ctx, VHEM_EFORMAT,
                        "bytes from another process have %s of %lld, must be from %lld to %lld", what,
                        (long long)x, (long long)least, (long long)most);
}

void vh_serial_int(vhem_ctx *ctx, vh_serial *w, int *x)
{
    int64_t wide = *x;
    vh_serial_int64(ctx, w, &wide);
    vh_serial_check(ctx, w, "a number", wide, INT_MIN, INT_MAX);
    if (w->st == VHEM_OK)
        *x = (int)wide;
}

void vh_serial_flag(vhem_ctx *ctx, vh_serial *w, bool *x)
{
    int wide = *x;
    vh_serial_int(ctx, w, &wide);
    *x = wide != 0;
}

void vh_serial_real(vhem_ctx *ctx, vh_serial *w, double *x)
{
    vh_serial_bytes(ctx, w, x, sizeof *x);
}

void vh_serial_reals(vhem_ctx *ctx, vh_serial *w, double *x, size_t n)
{
    vh_serial_bytes(ctx, w, x, sizeof *x * n);
}

void vh_serial_text(vhem_ctx *ctx, vh_serial *w, char *x, size_t size)
{
    int n = w->reads ? 0 : (int)strlen(x);
    vh_serial_int(ctx, w, &n);
    vh_serial_check(ctx, w, "a text", n, 0, (int64_t)size - 1);
    if (w->st != VHEM_OK)
        return;
    vh_serial_bytes(ctx, w, x, (size_t)n);
    x[n] = 0;
}

size_t vh_serial_left(const vh_serial *w)
{
    return w->n - w->at;
}
