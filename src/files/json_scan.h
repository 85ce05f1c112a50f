/* SPDX-License-Identifier: BSD-3-Clause */
/* json_scan.h - scans JSON text without allocating, to verify what Jansson parsed.
 *
 * When memory runs out, Jansson may say "invalid token", or drop a character of a number or string.  Its
 * allocator would reveal this, but belongs to the program that uses the library.
 *
 * Also locates the models in a text too large to parse as a tree. */
#ifndef VH_FILES_JSON_SCAN_H
#define VH_FILES_JSON_SCAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct vh_json_items { /* objects of a long array, parsed one by one; n = 0: they are in the tree */
    const char *text;
    size_t size;          /* of the whole text */
    const char *at, *end; /* next object; end of the array */
    int64_t n;            /* number of objects */
} vh_json_items;

/* True if the text is a valid JSON array or object. */
bool vh_json_is_valid(const char *text, size_t size);
/* True if no number or string that made Jansson's buffer grow lost a character; root was parsed from the
 * text, which is valid. */
bool vh_json_is_whole(const char *text, size_t size, json_t *root);

/* Finds the objects of the array `key` in a text whose root is an object of this format.  False: the text is
 * invalid, of another format, or has no objects. */
bool vh_json_find_items(const char *text, size_t size, const char *format, const char *key,
                        vh_json_items *out);
/* Returns the text [size] of the next object. */
const char *vh_json_next_item(vh_json_items *items, size_t *size);

#endif
