/* SPDX-License-Identifier: BSD-3-Clause */
/* json_scan.h - a second look at JSON text, which needs no memory, at what Jansson made of it.
 *
 * When memory runs out, Jansson may say "invalid token", or read a number or a string without one of its
 * characters.  Its allocator could tell, but belongs to the program that uses the library.
 *
 * And a first look at text of which a tree would be too large: where the models are in it. */
#ifndef VH_FILES_JSON_SCAN_H
#define VH_FILES_JSON_SCAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct
    vh_json_items { /* the objects of a long array, which are parsed one by one; n = 0: they are in a tree */
    const char *text;
    size_t size;          /* of the whole text */
    const char *at, *end; /* the next object; the end of the array */
    int64_t n;            /* of them in all */
} vh_json_items;

/* Is the text an array or an object by the grammar of JSON? */
bool vh_json_is_valid(const char *text, size_t size);
/* Has each number and string that made Jansson's buffer grow kept all of its characters?  root is what was
 * read of the text, which is valid. */
bool vh_json_is_whole(const char *text, size_t size, json_t *root);

/* The objects of the array `key` of a text whose root is an object of this format.  False: the text is not
 * valid, or not of this kind, or there are none. */
bool vh_json_find_items(const char *text, size_t size, const char *format, const char *key,
                        vh_json_items *out);
/* The text [size] of the next object. */
const char *vh_json_next_item(vh_json_items *items, size_t *size);

#endif
