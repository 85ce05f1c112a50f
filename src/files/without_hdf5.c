/* SPDX-License-Identifier: BSD-3-Clause */
/* without_hdf5.c - replaces all files that read and write HDF5 models in builds without HDF5 (VHEM_HDF5=OFF).
 * Functions on open files are never called. */
#include "files/hmm_file.h"
#include "files/shard.h"

static vhem_status cannot_read(vhem_ctx *ctx, const char *path)
{
    return vh_fail(ctx, VHEM_EFORMAT,
                   "%s: an HDF5 file, and this vhem was built without HDF5; it reads models as JSON", path);
}

static vhem_status cannot_write(vhem_ctx *ctx, const char *path)
{
    return vh_fail(ctx, VHEM_EFORMAT, "%s: this vhem was built without HDF5; it writes models as .json",
                   path);
}

vhem_status vh_h5_load(vhem_ctx *ctx, const char *path, vh_h5_get *get, void *out)
{
    (void)get, (void)out;
    return cannot_read(ctx, path);
}

vhem_status vh_model_load_hdf5(vhem_ctx *ctx, const char *path, vh_h3m **out)
{
    (void)out;
    return cannot_read(ctx, path);
}

vhem_status vh_model_save_hdf5(vhem_ctx *ctx, const vh_h3m *h3m, const char *path)
{
    (void)h3m;
    return cannot_write(ctx, path);
}

vhem_status vh_shard_open(vhem_ctx *ctx, const char *path, bool whole, vh_shard **out)
{
    (void)whole, (void)out;
    return cannot_read(ctx, path);
}

vhem_status vh_shard_save(vhem_ctx *ctx, const vh_h3m *h3m, const vh_shard_place *place, const char *path)
{
    (void)h3m, (void)place;
    return cannot_write(ctx, path);
}

/* ---- functions on open files --------------------------------------------------------------------------- */

vhem_status vh_model_get_hdf5(vhem_ctx *ctx, hid_t file, size_t limit, const char *path, void *out)
{
    (void)file, (void)limit, (void)out;
    return cannot_read(ctx, path);
}

vhem_status vh_shard_describe(vhem_ctx *ctx, hid_t file, size_t limit, const char *path, bool whole,
                              vh_shard **out)
{
    (void)file, (void)limit, (void)whole, (void)out;
    return cannot_read(ctx, path);
}

vhem_status vh_h5_text(vhem_ctx *ctx, hid_t at, const char *name, size_t limit, char **slot)
{
    (void)at, (void)limit, (void)slot;
    return cannot_read(ctx, name);
}

vhem_status vh_h5_head(vhem_ctx *ctx, hid_t file, size_t limit, const char *format, int newest, int *version)
{
    (void)file, (void)limit, (void)newest, (void)version;
    return cannot_read(ctx, format);
}

vhem_status vh_shard_key(vhem_ctx *ctx, const vh_shard *s, vh_key *out)
{
    (void)out;
    return cannot_read(ctx, s->path);
}

vhem_status vh_shard_chain(vhem_ctx *ctx, const char *before, const char *key, vh_key *out)
{
    (void)before, (void)out;
    return cannot_read(ctx, key);
}

vhem_status vh_shard_read(vhem_ctx *ctx, const vh_shard *s, int64_t first, int64_t n, bool texts,
                          vh_h3m *into, int64_t at)
{
    (void)first, (void)n, (void)texts, (void)into, (void)at;
    return cannot_read(ctx, s->path);
}

vhem_status vh_shard_load(vhem_ctx *ctx, const vh_shard *s, vh_h3m **out)
{
    (void)out;
    return cannot_read(ctx, s->path);
}

vhem_status vh_shard_slots(vhem_ctx *ctx, const vh_shard *s, int64_t n, vh_h3m **out)
{
    (void)n, (void)out;
    return cannot_read(ctx, s->path);
}

void vh_shard_expect(const vh_shard *s, int64_t first, int64_t n)
{
    (void)s, (void)first, (void)n;
}

void vh_shard_free(vh_shard *s)
{
    (void)s;
}
