/* SPDX-License-Identifier: BSD-3-Clause */
/* document.h - JSON documents for the targets that read them from memory. */
#ifndef VH_TESTS_FUZZ_DOCUMENT_H
#define VH_TESTS_FUZZ_DOCUMENT_H

#include "fuzz.h"

#include "model/document.h"
#include "model/json.h"

/* The document in a text; false after a failure, which is checked.  vh_document_close releases it. */
static inline bool fuzz_document(const char *text, size_t size, vh_document *doc)
{
    *doc = (vh_document){ .name = "in.json", .format = "" };
    vhem_status st = vh_json_parse(fuzz_ctx(), text, size, &doc->root);
    if (st != VHEM_OK)
        fuzz_check_failure(st, doc->root, NULL);
    else if (!json_is_object(doc->root))
        vh_document_close(doc);
    const char *format = json_string_value(json_object_get(doc->root, "format"));
    doc->format = format ? format : "";
    return doc->root != NULL;
}

#endif
