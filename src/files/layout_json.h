/* SPDX-License-Identifier: BSD-3-Clause */
/* layout_json.h - reads and writes the layout of a model file. */
#ifndef VH_FILES_LAYOUT_JSON_H
#define VH_FILES_LAYOUT_JSON_H

#include "emission/layout.h"

#include <jansson.h>
#include <stdio.h>

/* Reads the layout of an object; *out is NULL if there is none and the family needs none. */
vhem_status vh_layout_from_json(vhem_ctx *ctx, json_t *root, const vh_emission *family, int d,
                                vh_layout **out);
/* Prints its members, each after the lead; nothing for NULL.  Errors stay in the FILE. */
void vh_layout_print(FILE *f, const char *lead, const vh_layout *layout);
/* Returns it as an object in text, freed by the caller; NULL: out of memory. */
char *vh_layout_text(const vh_layout *layout);
/* Reads the layout from such a text; NULL is an empty object. */
vhem_status vh_layout_from_text(vhem_ctx *ctx, const char *text, const vh_emission *family, int d,
                                vh_layout **out);

#endif
