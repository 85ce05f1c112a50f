/* SPDX-License-Identifier: BSD-3-Clause */
/* shards_hdf5.c - a file of a folder of shards.  The manifest beside it says of it what the file says of
 * itself, so that whatever opens is also read, model by model; what can be read is the same after it was
 * written as one file. */
#include "files/shards.h"

#include "fuzz.h"
#include "vhem.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void path_in(const char *folder, const char *name, char *out, size_t size)
{
    snprintf(out, size, "%s/%s", folder, name);
}

static void write_file(const char *folder, const char *name, const void *bytes, size_t size)
{
    char path[600];
    path_in(folder, name, path, sizeof path);
    FILE *f = fopen(path, "wb");
    fuzz_require(f && fwrite(bytes, 1, size, f) == size && fclose(f) == 0, "%s", path);
}

/* False after a failure, which is checked. */
static bool write_manifest(const char *folder)
{
    vh_shard *s = (vh_shard *)fuzz_untouched;
    vh_key key;
    char path[600], text[400];
    path_in(folder, "00000.h5", path, sizeof path);
    vhem_status st = vh_shard_open(fuzz_ctx(), path, false, &s);
    if (st != VHEM_OK) {
        fuzz_check_failure(st, s, fuzz_untouched);
        return false;
    }
    fuzz_require(vh_shard_key(fuzz_ctx(), s, &key) == VHEM_OK, "%s", vhem_ctx_error(fuzz_ctx()));
    int n = snprintf(
        text, sizeof text,
        "{\"format\": \"vhem-shards\", \"version\": 1, \"K\": %lld, \"files\": [{\"file\": \"00000.h5\", "
        "\"first\": %lld, \"n\": %lld, \"check\": \"%s\"}]}",
        (long long)s->K, (long long)s->first, (long long)s->K, key.text);
    write_file(folder, VH_MANIFEST, text, (size_t)n);
    vh_shard_free(s);
    return true;
}

static void check_set(vhem_models *m)
{
    vhem_ctx *ctx = fuzz_ctx();
    const char *copy = fuzz_path("out.h5");
    vhem_models_facts facts;
    vhem_models_info(m, &facts);
    vhem_status st = vhem_models_read(ctx, m, 0, facts.K);
    if (st != VHEM_OK) {
        fuzz_check_failure(st, NULL, NULL);
        return;
    }
    fuzz_check_models(m);
    unlink(copy);
    st = vhem_models_merge(ctx, 1, (const vhem_models *const *)&m, 0, NULL, copy);
    fuzz_require(st == VHEM_OK, "what was read is not written: %s", vhem_ctx_error(ctx));
    fuzz_check_copy(m, copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *folder = fuzz_path("shards");
    vhem_models *m = (vhem_models *)fuzz_untouched;
    mkdir(folder, 0700);
    write_file(folder, "00000.h5", bytes, size);
    if (!write_manifest(folder))
        return 0;
    vhem_status st = vhem_models_load(fuzz_ctx(), folder, &m);
    if (st != VHEM_OK) {
        fuzz_check_failure(st, m, fuzz_untouched);
        return 0;
    }
    check_set(m);
    vhem_free(m);
    return 0;
}
