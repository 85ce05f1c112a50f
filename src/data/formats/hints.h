/* SPDX-License-Identifier: BSD-3-Clause */
/* hints.h - likely causes of errors in tables, for messages. */
#ifndef VH_DATA_FORMATS_HINTS_H
#define VH_DATA_FORMATS_HINTS_H

#include "data/formats/table.h"

/* Suggests how to write a number found in another notation, "1,5", "3,5%", "1.100,5", "yes"; to be appended
 * to a message.  NULL for other texts. */
const char *vh_number_hint(const char *cell);

typedef struct {                      /* counts of the non-missing cells of a column */
    int64_t n_number, n_code, n_text; /* n_code: numbers written like codes (vh_is_code) */
    const char *path;                 /* file and line of the first text */
    int64_t line;
    char example[64]; /* the first text */
} vh_cell_counts;
void vh_count_number(vh_cell_counts *c, const vh_field *cell); /* NULL: do not check for codes */
void vh_count_text(vh_cell_counts *c, const vh_table *t, const vh_field *cell);
/* True if a column with text holds symbols.  Text among numbers is an error unless some of these are
 * codes. */
bool vh_are_symbols(const vh_cell_counts *c);
/* Fails with the first text and possible remedies.  where: "field 2", or NULL: the column name.  choice: the
 * column may be left out. */
vhem_status vh_refuse_text(vhem_ctx *ctx, const vh_cell_counts *c, const char *where, const char *column,
                           bool choice);

#endif
