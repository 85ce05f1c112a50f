/* SPDX-License-Identifier: BSD-3-Clause */
/* write.h - writers of data, one per extension.  Numbers read back to the same double; NaN is kept. */
#ifndef VH_DATA_FORMATS_WRITE_H
#define VH_DATA_FORMATS_WRITE_H

#include "data/data.h"

#include <stdio.h>

typedef vhem_status vh_write_fn(vhem_ctx *ctx, const vhem_data *data, const char *path);

vh_write_fn vh_write_csv, vh_write_tsv, vh_write_npy, vh_write_npz, vh_write_ts, vh_write_hdf5;

enum { VH_WRITE_STRETCH = 4096 }; /* rows written between checks for a stop request */

/* Writes a field of a table, quoted if needed.  Errors stay in the FILE. */
void vh_write_field(FILE *f, const char *text, char delim);

/* Name of sequence n, or its number, written to `number`, if it has none. */
const char *vh_write_name(const vhem_data *data, int64_t n, char number[24]);

#endif
