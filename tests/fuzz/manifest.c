/* SPDX-License-Identifier: BSD-3-Clause */
/* manifest.c - the manifest of a folder of shards.  The bytes are the manifest; the two files beside it are
 * sound.  What is opened is the whole set, in its order, and is the same after it was merged into one
 * file. */
#include "fuzz.h"
#include "vhem.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char model_text[] =
    "{\"format\": \"vhem-h3m\", \"version\": 1, \"emission\": \"gaussian-diag\", \"d\": 1,"
    " \"omega\": [0.25, 0.5, 0.25], \"hmms\": ["
    "{\"S\": 1, \"M\": 1, \"pi\": [1], \"A\": [[1]], \"c\": [[1]], \"mu\": [[[0.5]]], \"cov\": [[[2]]]},"
    "{\"S\": 1, \"M\": 1, \"pi\": [1], \"A\": [[1]], \"c\": [[1]], \"mu\": [[[1.5]]], \"cov\": [[[2]]]},"
    "{\"S\": 1, \"M\": 1, \"pi\": [1], \"A\": [[1]], \"c\": [[1]], \"mu\": [[[2.5]]], \"cov\": [[[2]]]}]}";

static vhem_models *whole;
static char manifest[600];

/* The folder, made once. */
static const char *folder(void)
{
    const char *path = fuzz_path("shards");
    if (whole)
        return path;
    fuzz_require(vhem_models_load(fuzz_ctx(), fuzz_file("m.json", model_text, sizeof model_text - 1), &whole)
                     == VHEM_OK,
                 "%s", vhem_ctx_error(fuzz_ctx()));
    vhem_status st = vhem_models_merge(fuzz_ctx(), 1, (const vhem_models *const *)&whole, 2, NULL, path);
    fuzz_require(st == VHEM_OK, "%s", vhem_ctx_error(fuzz_ctx()));
    snprintf(manifest, sizeof manifest, "%s/manifest.json", path);
    return path;
}

static void write_manifest(const uint8_t *bytes, size_t size)
{
    FILE *f = fopen(manifest, "wb");
    fuzz_require(f && fwrite(bytes, 1, size, f) == size && fclose(f) == 0, "%s", manifest);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    vhem_ctx *ctx = fuzz_ctx();
    vhem_models *m = (vhem_models *)fuzz_untouched;
    const char *path = folder();

    write_manifest(bytes, size);
    vhem_status st = vhem_models_load(ctx, path, &m);
    if (st != VHEM_OK) {
        fuzz_check_failure(st, m, fuzz_untouched);
        return 0;
    }
    fuzz_check_models(m);
    char *text = fuzz_print_models(m), *must = fuzz_print_models(whole);
    fuzz_require(strcmp(text, must) == 0, "%s\nbecame\n%s", must, text);
    free(text);
    free(must);
    vhem_free(m);
    return 0;
}
