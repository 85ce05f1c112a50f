/* SPDX-License-Identifier: BSD-3-Clause */
/* json.h - what the readers and writers of our JSON files share. */
#ifndef VH_FILES_JSON_H
#define VH_FILES_JSON_H

#include "core/ctx.h"
#include "files/json_scan.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

VH_OWNED(json_t, json_decref)

enum { VH_JSON_MAX_RANK = 4 };

typedef struct { /* an array of numbers that is being read */
    const char *key;
    int rank;
    bool nulls; /* a number may be null, which becomes NaN */
    struct {
        const char *name;
        int64_t n;
    } dim[VH_JSON_MAX_RANK];      /* "S" and what it is here */
    int64_t at[VH_JSON_MAX_RANK]; /* where in the array we are */
} vh_json_array;

/* What a value is, for sentences: "an object", "text". */
const char *vh_json_kind(const json_t *v);
/* The tree of a JSON text. */
vhem_status vh_json_parse(vhem_ctx *ctx, const char *text, size_t size, json_t **out);
/* The same; of a model file the HMMs are left out, to be read one by one: where they are goes to *hmms, and
 * the text must stay. */
vhem_status vh_json_parse_models(vhem_ctx *ctx, const char *text, size_t size, vh_json_items *hmms,
                                 json_t **out);
/* The tree of the next of them. */
vhem_status vh_json_next(vhem_ctx *ctx, vh_json_items *items, json_t **out);
/* v as compact text into *slot, which is replaced. */
vhem_status vh_json_keep(vhem_ctx *ctx, json_t *v, char **slot);
/* The object in text, called what in the sentence. */
vhem_status vh_json_object(vhem_ctx *ctx, const char *what, const char *text, json_t **out);
/* The members of object that are not known, a list ended by NULL, into *slot; it stays NULL when there are
 * none. */
vhem_status vh_json_unknown(vhem_ctx *ctx, json_t *object, const char *const *known, char **slot);

/* The array a->key of the object; only checks its shape when out is NULL. */
vhem_status vh_json_numbers(vhem_ctx *ctx, json_t *object, vh_json_array *a, double *out);
vhem_status vh_json_count(vhem_ctx *ctx, json_t *object, const char *key, int *out); /* whole, at least 1 */
/* Text into *slot if it is there; text that must be there. */
vhem_status vh_json_text(vhem_ctx *ctx, json_t *object, const char *key, char **slot);
vhem_status vh_json_required_text(vhem_ctx *ctx, json_t *root, const char *key, const char **out);
/* Refuses versions past the newest that is known. */
vhem_status vh_json_version(vhem_ctx *ctx, json_t *root, int newest);

/* "key": "text", with a comma after it; nothing when there is no text. */
void vh_json_print_text(FILE *f, const char *key, const char *text);
/* "key": an array of the given rank and sizes n; and the members of an object in text, each after a comma. 
 * Errors stay in the FILE. */
void vh_json_print_array(FILE *f, const char *lead, const char *key, int rank, const int64_t *n,
                         const double *x);
/* The same, whose parts x[i][j] lie step numbers apart. */
void vh_json_print_apart(FILE *f, const char *lead, const char *key, int rank, const int64_t *n,
                         const double *x, size_t step);
void vh_json_print_members(FILE *f, const char *lead, const char *object);

#endif
