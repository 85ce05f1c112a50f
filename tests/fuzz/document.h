/* SPDX-License-Identifier: BSD-3-Clause */
/* document.h - JSON documents for the targets that read them from memory. */
#ifndef VH_TESTS_FUZZ_DOCUMENT_H
#define VH_TESTS_FUZZ_DOCUMENT_H

#include "fuzz.h"

#include "models/parsed_file.h"

/* The document in a text; false after a failure, which is checked.  vh_parsed_file_close releases it. */
static inline bool fuzz_document(const char *text, size_t size, vh_parsed_file *doc)
{
    *doc = (vh_parsed_file){ .name = "in.json", .format = "" };
    vhem_status st = vh_parsed_file_parse(fuzz_ctx(), text, size, "a document", doc);
    if (st == VHEM_OK)
        return true;
    fuzz_check_failure(st, NULL, NULL);
    vh_parsed_file_close(doc);
    return false;
}

#endif
