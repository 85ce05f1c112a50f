/* SPDX-License-Identifier: BSD-3-Clause */
/* xlsx.h - a sheet of an Excel workbook as CSV text, which the reader of tables then reads. */
#ifndef VH_DATA_FORMATS_XLSX_H
#define VH_DATA_FORMATS_XLSX_H

#include "core/ctx.h"

#include <stdio.h>

/* Writes the rows of one sheet to f, line n for row n of the sheet, so that sentences about a line name the
 * row.  sheet: its name, or its number from 1; NULL: the first that is not hidden, with a warning when there
 * are others.  Cells are as they are stored: of a formula its last value, of a date the number of days, of
 * TRUE 1; #N/A is empty. */
vhem_status vh_xlsx_to_csv(vhem_ctx *ctx, const char *path, const char *sheet, FILE *f);
/* Fails with the sentence for a file in TMPDIR that cannot be made or written; errno says why. */
vhem_status vh_xlsx_no_room(vhem_ctx *ctx, const char *path);

#endif
