/* SPDX-License-Identifier: BSD-3-Clause */
/* tree.c - clusterings and trees: saved and read again they are saved as the same bytes. */
#include "cluster/tree_file.h"

#include "document.h"
#include "vhem.h"

#include <string.h>
#include <unistd.h>

static vhem_tree *parse(const char *text, size_t size)
{
    vhem_tree *tree = (vhem_tree *)fuzz_untouched;
    vh_parsed_file doc;
    if (!fuzz_document(text, size, &doc))
        return NULL;
    vhem_status st = vh_tree_from_parsed(fuzz_ctx(), &doc, &tree);
    vh_parsed_file_close(&doc);
    if (st == VHEM_OK)
        return tree;
    fuzz_check_failure(st, tree, fuzz_untouched);
    return NULL;
}

/* The file that a tree is saved as; NULL after a failure, which left none. */
static char *save(const vhem_tree *tree, size_t *size)
{
    const char *path = fuzz_path("out.json");
    unlink(path);
    vhem_status st = vhem_tree_save(fuzz_ctx(), tree, NULL, path);
    if (st == VHEM_OK)
        return fuzz_read(path, size);
    fuzz_check_failure(st, NULL, NULL);
    fuzz_require(!fuzz_exists(path), "a failed save left a file");
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    size_t n = 0, m = 0;
    vhem_tree *tree = parse((const char *)bytes, size);
    char *text = tree ? save(tree, &n) : NULL;
    if (text) {
        vhem_tree *again = parse(text, n);
        fuzz_require(again, "what was saved is not read: %s\n%s", vhem_ctx_error(fuzz_ctx()), text);
        char *second = save(again, &m);
        fuzz_require(second && n == m && memcmp(text, second, n) == 0, "%s\nbecame\n%s", text, second);
        vhem_free(again);
        free(second);
    }
    free(text);
    vhem_free(tree);
    return 0;
}
