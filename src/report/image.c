/* SPDX-License-Identifier: BSD-3-Clause */
/* image.c - embeds a PNG or JPEG file, unchanged, in the page. */
#include "report/figures.h"

#include "core/alloc.h"
#include "core/atomic_file.h"

#include <string.h>

enum { MOST_BYTES = 8 << 20 };

static int word(const unsigned char *p)
{
    return p[0] << 8 | p[1];
}

/* The first chunk holds width and height. */
static bool png_size(vh_image *m)
{
    static const unsigned char magic[] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n' };
    if (m->n < 33 || memcmp(m->bytes, magic, sizeof magic) != 0 || memcmp(m->bytes + 12, "IHDR", 4) != 0)
        return false;
    if (word(m->bytes + 16) || word(m->bytes + 20)) /* more than 65535 pixels */
        return false;
    m->width = word(m->bytes + 18);
    m->height = word(m->bytes + 22);
    m->type = "image/png";
    return true;
}

/* Walks the segments to the frame header. */
static bool jpeg_size(vh_image *m)
{
    size_t at = 2;
    if (m->n < 4 || m->bytes[0] != 0xFF || m->bytes[1] != 0xD8)
        return false;
    while (at + 9 < m->n && m->bytes[at] == 0xFF) {
        int marker = m->bytes[at + 1];
        bool frame = marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
        if (frame) {
            m->height = word(m->bytes + at + 5);
            m->width = word(m->bytes + at + 7);
            m->type = "image/jpeg";
            return true;
        }
        at += 2 + (size_t)word(m->bytes + at + 2);
    }
    return false;
}

vhem_status vh_image_load(vhem_ctx *ctx, const char *path, vh_image *out)
{
    VH_CLEANUP(vh_image_free) vh_image m = { 0 };
    char *text = NULL;

    VH_TRY(vh_read_all(ctx, path, &text, &m.n));
    m.bytes = (unsigned char *)text;
    VH_CHECK(m.n <= MOST_BYTES, VHEM_EINVAL, "%s has %zu bytes, an image in a report may have %d", path, m.n,
             MOST_BYTES);
    VH_CHECK((png_size(&m) || jpeg_size(&m)) && m.width > 0 && m.height > 0, VHEM_EFORMAT,
             "%s is neither a PNG nor a JPEG image", path);
    *out = m;
    m = (vh_image){ 0 };
    return VHEM_OK;
}

void vh_image_free(vh_image *image)
{
    free(image->bytes);
}

static void put_base64(FILE *f, const unsigned char *p, size_t n)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t k = 0; k < n; k += 3) {
        unsigned v =
            (unsigned)p[k] << 16 | (k + 1 < n ? (unsigned)p[k + 1] << 8 : 0) | (k + 2 < n ? p[k + 2] : 0);
        putc(digit[v >> 18], f);
        putc(digit[v >> 12 & 63], f);
        putc(k + 1 < n ? digit[v >> 6 & 63] : '=', f);
        putc(k + 2 < n ? digit[v & 63] : '=', f);
    }
}

void vh_image_define(FILE *f, const vh_image *image)
{
    if (image->n == 0)
        return;
    fprintf(f,
            "<svg width=\"0\" height=\"0\" class=\"defs\" aria-hidden=\"true\"><defs><image id=\"stimulus\" "
            "width=\"%d\" height=\"%d\" href=\"data:%s;base64,",
            image->width, image->height, image->type);
    put_base64(f, image->bytes, image->n);
    fputs("\"/></defs></svg>\n", f);
}
