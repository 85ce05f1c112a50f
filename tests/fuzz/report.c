/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - a report of whatever tree can be read: it is written whole, and no text of the file becomes an
 * element of the page. */
#include "cluster/tree_file.h"

#include "document.h"
#include "vhem.h"
#include "vhem/analysis.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    vhem_tree *tree = NULL;
    vh_parsed_file doc;
    vhem_report_input in;
    size_t n = 0;
    if (!fuzz_document((const char *)bytes, size, &doc))
        return 0;
    vhem_status st = vh_tree_from_parsed(fuzz_ctx(), &doc, &tree);
    vh_parsed_file_close(&doc);
    if (st != VHEM_OK)
        return 0;
    VHEM_INIT(VHEM_REPORT_INPUT, &in);
    in.tree = tree;
    st = vhem_report_write(fuzz_ctx(), &in, fuzz_path("out.html"));
    if (st != VHEM_OK) {
        fuzz_check_failure(st, NULL, NULL);
    } else {
        char *page = fuzz_read(fuzz_path("out.html"), &n);
        fuzz_require(strstr(page, "</html>"), "the page is cut short");
        fuzz_require(!strstr(page, "<fuzz"), "a text of the file is an element of the page");
        free(page);
    }
    vhem_free(tree);
    return 0;
}
