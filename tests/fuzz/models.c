/* SPDX-License-Identifier: BSD-3-Clause */
/* models.c - model files in JSON, HMMs and textures: printed and read again they give the same text. */
#include "fuzz.h"

#include "files/json.h"
#include "vhem.h"

#include <string.h>

static vhem_models *parse(const char *text, size_t size)
{
    vhem_models *m = (vhem_models *)fuzz_untouched;
    json_t *root = NULL;
    vh_json_items hmms;
    vhem_status st = vh_json_parse_models(fuzz_ctx(), text, size, &hmms, &root);
    if (st == VHEM_OK)
        st = vh_models_from_json(fuzz_ctx(), root, &hmms, &m);
    json_decref(root);
    if (st == VHEM_OK) {
        fuzz_check_models(m);
        return m;
    }
    fuzz_check_failure(st, m, fuzz_untouched);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    vhem_models *m = parse((const char *)bytes, size), *again;
    if (!m)
        return 0;
    char *text = fuzz_print_models(m);
    again = parse(text, strlen(text));
    fuzz_require(again, "what was printed is not read: %s\n%s", vhem_ctx_error(fuzz_ctx()), text);
    char *second = fuzz_print_models(again);
    fuzz_require(strcmp(text, second) == 0, "%s\nbecame\n%s", text, second);
    fuzz_require(vhem_models_compare(m, again) == 0, "the models differ");
    free(text);
    free(second);
    vhem_free(m);
    vhem_free(again);
    return 0;
}
