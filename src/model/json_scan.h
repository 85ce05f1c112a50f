/* SPDX-License-Identifier: BSD-3-Clause */
/* json_scan.h - a second look at JSON text, which needs no memory, at what Jansson made of it.
 *
 * When memory runs out, Jansson may say "invalid token", or read a number or a string without one of its
 * characters.  Its allocator could tell, but belongs to the program that uses the library. */
#ifndef VH_MODEL_JSON_SCAN_H
#define VH_MODEL_JSON_SCAN_H

#include <jansson.h>
#include <stdbool.h>

/* Is the text an array or an object by the grammar of JSON? */
bool vh_json_is_valid(const char *text, size_t size);
/* Has each number and string that made Jansson's buffer grow kept all of its characters?  root is what was
 * read of the text, which is valid. */
bool vh_json_is_whole(const char *text, size_t size, json_t *root);

#endif
