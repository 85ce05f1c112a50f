/* SPDX-License-Identifier: BSD-3-Clause */
/* symbols.h - columns whose cells are symbols: texts become numbers in the order in which they are met. */
#ifndef VH_DATA_SYMBOLS_H
#define VH_DATA_SYMBOLS_H

#include "data/data.h"
#include "data/names.h"
#include "data/table.h"

/* Is the column in the list of an option, "place,state" or "*"?  NULL: none is. */
bool vh_is_symbols(const char *list, const char *column);
/* The number of the symbol in a cell, NaN when it is missing (vh_cell_parse); "1.0" is "1". */
vhem_status vh_symbol_code(vhem_ctx *ctx, vh_names *names, const vh_field *cell, const char *missing,
                           double *out);
/* The symbols become those of column k of a set; names is empty afterwards. */
vhem_status vh_symbols_hand_over(vh_names *names, vh_builder *b, int k);

#endif
