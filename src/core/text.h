/* SPDX-License-Identifier: BSD-3-Clause */
/* text.h - text output, UTF-8, and storage for texts. */
#ifndef VH_CORE_TEXT_H
#define VH_CORE_TEXT_H

#include "core/ctx.h"

#include <stddef.h>
#include <stdio.h>

/* Writes the text as a quoted JSON string.  Bytes that are not UTF-8 become U+FFFD, so the file stays
 * readable.  Errors stay in the FILE. */
void vh_text_json(FILE *f, const char *text);

/* Bytes of the UTF-8 character at s; 0 if invalid: overlong, a surrogate, past U+10FFFF, truncated. */
int vh_utf8_length(const unsigned char *s);

/* Makes the text safe for a terminal and a log, in place: bytes that are not UTF-8, newlines and other
 * control characters become '?'.  Names from files may contain any of them, even terminal escapes. */
void vh_text_clean(char *text);

/* Spells the options that VH_OPT has marked in a sentence, in place; what does not fit is cut off. */
void vh_text_spell(vhem_words words, char *text, size_t size);

/* Like strcmp, but numbers in the texts compare as numbers, "2" before "10": the order of strverscmp. */
int vh_compare_versions(const char *a, const char *b);

/* True if the word is not empty and in the list, "kl|ppk". */
bool vh_has_word(const char *list, char separator, const char *word);
/* Rewrites "kl|ppk" as "kl, ppk", truncated to the buffer; returns out. */
const char *vh_list_words(const char *words, char *out, size_t size);

/* Texts with the lifetime of their owner. */
typedef struct {
    char **text; /* NULL: none, whatever n is */
    int64_t n;
    size_t cap; /* for vh_texts_keep */
} vh_texts;     /* zero it to start empty */

/* The same for very many short texts, in a few large blocks. */
typedef struct vh_text_block vh_text_block;
/* Copies the text into the last block, to which *last points, or into a new one; *last is NULL at first. */
vhem_status vh_text_block_add(vhem_ctx *ctx, vh_text_block **last, const char *text, char **slot);
void vh_text_blocks_free(vh_text_block *last);

/* Copies the text and points *slot to the copy. */
vhem_status vh_texts_keep(vhem_ctx *ctx, vh_texts *texts, const char *text, const char **slot);
void vh_texts_free(vh_texts *texts);

/* vh_memory_close, with an error message. */
vhem_status vh_text_close(vhem_ctx *ctx, FILE *f, char **text, size_t *size);

#endif
