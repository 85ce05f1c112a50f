/* SPDX-License-Identifier: BSD-3-Clause */
/* hints.h - what is probably wrong with a table, for sentences about it. */
#ifndef VH_DATA_FORMATS_HINTS_H
#define VH_DATA_FORMATS_HINTS_H

#include "data/formats/table.h"

/* For a cell that should be a number and is written in another way, "1,5", "3,5%", "1.100,5", "yes": how to
 * write it, to be put behind a sentence.  NULL for other texts. */
const char *vh_number_hint(const char *cell);

typedef struct {                      /* the cells of a column that are not missing */
    int64_t n_number, n_code, n_text; /* n_code: of the numbers, those written like codes (vh_is_code) */
    const char *path;                 /* where the first text is, */
    int64_t line;
    char example[64]; /* and what it is */
} vh_cell_counts;
void vh_count_number(vh_cell_counts *c, const vh_field *cell); /* NULL: it does not matter if it is a code */
void vh_count_text(vh_cell_counts *c, const vh_table *t, const vh_field *cell);
/* Is a column with text one of symbols?  Text among numbers is a mistake, unless some of these are codes. */
bool vh_are_symbols(const vh_cell_counts *c);
/* Fails with what the first text is, and what can be done about it.  where: "field 2"; NULL: by the
 * name of the column.  choice: the column may be left out. */
vhem_status vh_refuse_text(vhem_ctx *ctx, const vh_cell_counts *c, const char *where, const char *column,
                           bool choice);

/* Is a cell of text one of a column of symbols, and no number written in another way or that failed? */
bool vh_may_be_symbol(const char *cell);

#endif
