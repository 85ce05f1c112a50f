/* SPDX-License-Identifier: BSD-3-Clause */
/* symbols.h - columns of symbols: texts become numbers in order of first appearance. */
#ifndef VH_DATA_FORMATS_SYMBOLS_H
#define VH_DATA_FORMATS_SYMBOLS_H

#include "data/data.h"
#include "core/names.h"
#include "data/formats/table.h"

/* True if the option asks for text columns: "?" or "??". */
bool vh_finds_symbols(const char *list);
/* True if it asks for them only where no column holds numbers: "??". */
bool vh_finds_symbols_alone(const char *list);
/* True if the column is in the option's list, "place,state" or "*"; false for NULL. */
bool vh_is_symbols(const char *list, const char *column);
/* True if a number is a code and its text is its name: it has leading zeros, 007, or is an integer with more
 * digits than a double holds. */
bool vh_is_code(const char *s, size_t n);
/* Returns the index of the symbol in a cell, or NaN if it is missing (vh_cell_parse); "1.0" equals "1", but
 * "007" is its own symbol. */
vhem_status vh_symbol_code(vhem_ctx *ctx, vh_names *names, const vh_field *cell, const char *missing,
                           double *out);
/* Moves the symbols into column k of the builder; names is empty afterwards. */
vhem_status vh_symbols_hand_over(vh_names *names, vh_builder *b, int k);

#endif
