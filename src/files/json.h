/* SPDX-License-Identifier: BSD-3-Clause */
/* json.h - helpers for reading and writing JSON files. */
#ifndef VH_FILES_JSON_H
#define VH_FILES_JSON_H

#include "core/ctx.h"
#include "files/json_scan.h"
#include "files/named_array.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

VH_OWNED(json_t, json_decref)

/* Kind of a value for messages: "an object", "text". */
const char *vh_json_kind(const json_t *v);
/* Parses a JSON text. */
vhem_status vh_json_parse(vhem_ctx *ctx, const char *text, size_t size, json_t **out);
/* The same, but leaves out the HMMs of a model file, to be parsed one by one from *hmms, which points into
 * text. */
vhem_status vh_json_parse_models(vhem_ctx *ctx, const char *text, size_t size, vh_json_items *hmms,
                                 json_t **out);
/* Parses the next item. */
vhem_status vh_json_next(vhem_ctx *ctx, vh_json_items *items, json_t **out);
/* Replaces *slot with v as compact text. */
vhem_status vh_json_keep(vhem_ctx *ctx, json_t *v, char **slot);
/* Parses an object; what: its name in messages. */
vhem_status vh_json_object(vhem_ctx *ctx, const char *what, const char *text, json_t **out);
/* Collects the members of object not in `known`, a list ended by NULL, in *slot; NULL if there are none. */
vhem_status vh_json_unknown(vhem_ctx *ctx, json_t *object, const char *const *known, char **slot);

/* Reads the array a->name of the object; out NULL: only checks its shape. */
vhem_status vh_json_numbers(vhem_ctx *ctx, json_t *object, const vh_named_array *a, double *out);
vhem_status vh_json_count(vhem_ctx *ctx, json_t *object, const char *key, int *out); /* an integer >= 1 */
/* Read an optional text into *slot; a required text. */
vhem_status vh_json_text(vhem_ctx *ctx, json_t *object, const char *key, char **slot);
vhem_status vh_json_required_text(vhem_ctx *ctx, json_t *root, const char *key, const char **out);
/* Rejects versions newer than `newest`. */
vhem_status vh_json_version(vhem_ctx *ctx, json_t *root, int newest);

/* Prints "key": "text" and a comma; nothing for NULL. */
void vh_json_print_text(FILE *f, const char *key, const char *text);
/* Prints "key": an array of the given rank and sizes n.  Errors stay in the FILE. */
void vh_json_print_array(FILE *f, const char *lead, const char *key, int rank, const int64_t *n,
                         const double *x);
/* The same for elements x[i][j] that are step numbers apart. */
void vh_json_print_apart(FILE *f, const char *lead, const char *key, int rank, const int64_t *n,
                         const double *x, size_t step);
void vh_json_print_members(FILE *f, const char *lead, const char *object);

#endif
