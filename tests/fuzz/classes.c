/* SPDX-License-Identifier: BSD-3-Clause */
/* classes.c - models of classes: saved and read again they are saved as the same bytes. */
#include "classify/classes_json.h"

#include "document.h"
#include "vhem.h"
#include "vhem/classes.h"

#include <string.h>
#include <unistd.h>

static vhem_classes *parse(const char *text, size_t size)
{
    vhem_classes *k = (vhem_classes *)fuzz_untouched;
    vh_parsed_file doc;
    if (!fuzz_document(text, size, &doc))
        return NULL;
    vhem_status st = vh_classes_from_parsed(fuzz_ctx(), &doc, &k);
    vh_parsed_file_close(&doc);
    if (st == VHEM_OK)
        return k;
    fuzz_check_failure(st, k, fuzz_untouched);
    return NULL;
}

static char *save(const vhem_classes *k, size_t *size)
{
    const char *path = fuzz_path("out.json");
    unlink(path);
    vhem_status st = vhem_classes_save(fuzz_ctx(), k, NULL, path);
    fuzz_require(st == VHEM_OK, "what was read is not saved: %s", vhem_ctx_error(fuzz_ctx()));
    return fuzz_read(path, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    size_t n = 0, m = 0;
    vhem_classes *k = parse((const char *)bytes, size);
    if (!k)
        return 0;
    char *text = save(k, &n);
    vhem_classes *again = parse(text, n);
    fuzz_require(again, "what was saved is not read: %s\n%s", vhem_ctx_error(fuzz_ctx()), text);
    char *second = save(again, &m);
    fuzz_require(n == m && memcmp(text, second, n) == 0, "%s\nbecame\n%s", text, second);
    vhem_free(k);
    vhem_free(again);
    free(text);
    free(second);
    return 0;
}
