/* json.h - what the readers of our JSON files share. */
#ifndef VH_MODEL_JSON_H
#define VH_MODEL_JSON_H

#include "core/ctx.h"

#include <jansson.h>
#include <stddef.h>

/* What a value is, for sentences: "an object", "text". */
const char *vh_json_kind(const json_t *v);
/* The tree of a JSON text; NULL and a sentence when it is not one. */
json_t     *vh_json_parse(vhem_ctx *ctx, const char *text, size_t size);
/* v as compact text into *slot, which is replaced. */
vhem_status vh_json_keep(vhem_ctx *ctx, json_t *v, char **slot);

#endif
