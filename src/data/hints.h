/* SPDX-License-Identifier: BSD-3-Clause */
/* hints.h - what is probably wrong with a table, for sentences about it. */
#ifndef VH_DATA_HINTS_H
#define VH_DATA_HINTS_H

#include "data/table.h"

/* For a cell that should be a number and is written in another way, "1,5", "3,5%", "1.100,5", "yes": how to
 * write it, to be put behind a sentence.  NULL for other texts. */
const char *vh_number_hint(const char *cell);
/* Is a cell of text one of a column of symbols, and no number written in another way or that failed? */
bool vh_may_be_symbol(const char *cell);
/* Warns, once, of a name s [n] in the current record that is not UTF-8. */
void vh_warn_encoding(vhem_ctx *ctx, const vh_table *t, const char *s, size_t n, bool *told);

#endif
