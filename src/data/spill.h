/* SPDX-License-Identifier: BSD-3-Clause */
/* spill.h - a growing array of numbers, in memory up to a limit and then in an unnamed file.
 *
 * The file is created in $TMPDIR or else /var/tmp and unlinked at once, so that nothing remains however the
 * program ends.  It is written with write(2), so that a full disk is an error message, and read through a
 * mapping: released parts cost no memory. */
#ifndef VH_DATA_SPILL_H
#define VH_DATA_SPILL_H

#include "core/ctx.h"

#include <stddef.h>

typedef struct {
    const char *name;              /* begins error messages: the file being read; NULL: none */
    int64_t limit;                 /* bytes kept in memory; 0: no limit */
    int64_t n;                     /* number of values in all */
    int64_t n_missing, n_infinite; /* number of NaN, of infinite values */
    double *y;                     /* in memory: all values, or those not yet in the file */
    size_t held, cap;              /* number of values in y, and its capacity */
    double *map;                   /* the mapped file, after vh_spill_values */
    int fd;
    bool in_file; /* the file exists; fd is open until it is mapped */
} vh_spill;       /* empty when all zero except name and limit */

/* Appends y [n]; must not be called after vh_spill_values. */
vhem_status vh_spill_put(vhem_ctx *ctx, vh_spill *s, const double *y, int64_t n);
/* Returns all values as one array [n], never NULL, owned by s. */
vhem_status vh_spill_values(vhem_ctx *ctx, vh_spill *s, const double **y);
/* Appends n values of `from`, starting at `first`, and releases them there. */
vhem_status vh_spill_copy(vhem_ctx *ctx, vh_spill *s, vh_spill *from, int64_t first, int64_t n);
/* Keeps columns place [n] of rows of d values, in that order. */
vhem_status vh_spill_pick(vhem_ctx *ctx, vh_spill *s, int d, const int *place, int n);
/* Releases the n values at y, part of the array, from memory if they can be read again.  Thread-safe; the
 * values do not change. */
void vh_spill_release(const vh_spill *s, const double *y, int64_t n);
/* True if releasing a also releases b. */
bool vh_spill_together(const vh_spill *s, const double *a, const double *b);
void vh_spill_free(vh_spill *s);
/* Folder of the files. */
const char *vh_spill_folder(void);

#endif
