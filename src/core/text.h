/* SPDX-License-Identifier: BSD-3-Clause */
/* text.h - text on its way into a file, and texts that are kept. */
#ifndef VH_CORE_TEXT_H
#define VH_CORE_TEXT_H

#include "core/ctx.h"

#include <stddef.h>
#include <stdio.h>

/* The text as a JSON string, quotes included.  Bytes that are not UTF-8 become U+FFFD, so that the file stays
 * readable whatever a name was made of.  Errors stay in the FILE. */
void vh_text_json(FILE *f, const char *text);

/* Bytes of the UTF-8 character at s; 0 when it is none: overlong, a surrogate, past U+10FFFF, cut short. */
int vh_utf8_length(const unsigned char *s);

/* Makes the text fit for a terminal and a log, in place: bytes that are not UTF-8, line ends and other
 * control characters become '?'.  A file may hold any of them in a name, escape sequences of terminals among
 * them. */
void vh_text_clean(char *text);

/* Spells the options that VH_OPT has marked in a sentence, in place; what does not fit is cut off. */
void vh_text_spell(vhem_words words, char *text, size_t size);

/* Is the word, which is not empty, one of those in the list, "kl|ppk"? */
bool vh_has_word(const char *list, char separator, const char *word);
/* "kl|ppk" as "kl, ppk", cut where the room ends; returns out. */
const char *vh_list_words(const char *words, char *out, size_t size);

/* Texts that live as long as what owns them. */
typedef struct {
    char **text;
    size_t n, cap;
} vh_texts; /* zeroed is empty */

/* The same for very many short texts: in a few large pieces of memory. */
typedef struct vh_text_piece vh_text_piece;
typedef struct {
    vh_text_piece *last;
} vh_text_block; /* zeroed is empty */

vhem_status vh_text_block_add(vhem_ctx *ctx, vh_text_block *block, const char *text, char **slot);
void vh_text_block_free(vh_text_block *block);

/* A copy of the text, which *slot then points to. */
vhem_status vh_texts_keep(vhem_ctx *ctx, vh_texts *texts, const char *text, const char **slot);
void vh_texts_free(vh_texts *texts);

/* Closes a stream of open_memstream and checks that its text is there: the GNU C library closes it well and
 * leaves NULL when its last step lacks memory. */
vhem_status vh_text_close(vhem_ctx *ctx, FILE *f, char **text);

#endif
