/* SPDX-License-Identifier: BSD-3-Clause */
/* without_xlsx.c - replaces read_xlsx.c and xlsx.c in builds without expat (VHEM_XLSX=OFF). */
#include "data/formats/formats.h"

vhem_status vh_read_xlsx(vhem_ctx *ctx, const char *path, const vhem_data_options *opt, vhem_data **out)
{
    (void)opt, (void)out;
    return vh_fail(
        ctx, VHEM_EFORMAT,
        "%s: an Excel workbook, and this vhem was built without expat, which reads it; save the sheet "
        "as CSV",
        path);
}
