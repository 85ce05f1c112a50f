/* SPDX-License-Identifier: BSD-3-Clause */
/* xlsx.h - converts a sheet of an Excel workbook to CSV text for the table reader. */
#ifndef VH_DATA_FORMATS_XLSX_H
#define VH_DATA_FORMATS_XLSX_H

#include "core/ctx.h"

#include <stdio.h>

/* Writes the rows of one sheet to f, row n on line n, so that line numbers in messages are row numbers.
 * sheet: its name, or its number from 1; NULL: the first visible sheet, with a warning if there are others.
 * Cells have their stored values: the last result of a formula, a date as a number of days, 1 for TRUE; #N/A
 * is empty. */
vhem_status vh_xlsx_to_csv(vhem_ctx *ctx, const char *path, const char *sheet, FILE *f);
/* Fails with the message that the file in TMPDIR cannot be created or written; reads errno. */
vhem_status vh_xlsx_no_room(vhem_ctx *ctx, const char *path);

#endif
