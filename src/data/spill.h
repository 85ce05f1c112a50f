/* SPDX-License-Identifier: BSD-3-Clause */
/* spill.h - numbers that grow in memory and, past a limit, in a file without a name.
 *
 * The file is made in $TMPDIR, or else /var/tmp, and unlinked at once: whatever ends the program, nothing is
 * left behind.  It is written with write(2), so that a full disk is a sentence, and read through a mapping:
 * what was looked at and let go again costs no memory. */
#ifndef VH_DATA_SPILL_H
#define VH_DATA_SPILL_H

#include "core/ctx.h"

#include <stddef.h>

typedef struct {
    const char *name;              /* begins its sentences: the file that is read; NULL: none */
    int64_t limit;                 /* bytes kept in memory; 0: no limit */
    int64_t n;                     /* numbers in all */
    int64_t n_missing, n_infinite; /* of them NaN, and infinite */
    double *y;                     /* in memory: all of them, or those that are not in the file yet */
    size_t held, cap;              /* how many these are, for how many there is space */
    double *map;                   /* the file as an array, once it was asked for */
    int fd;
    bool in_file; /* there is a file, open while nobody asked for the array */
} vh_spill;       /* zeroed, but for name and limit: no numbers yet */

/* Appends y [n]; not after vh_spill_values. */
vhem_status vh_spill_put(vhem_ctx *ctx, vh_spill *s, const double *y, int64_t n);
/* All of them as one array [n], never NULL; it lives as long as s does. */
vhem_status vh_spill_values(vhem_ctx *ctx, vh_spill *s, const double **y);
/* Appends n numbers of another, from place `first` on; what was read there is let go. */
vhem_status vh_spill_copy(vhem_ctx *ctx, vh_spill *s, vh_spill *from, int64_t first, int64_t n);
/* Keeps columns place [n] of rows of d numbers, in that order. */
vhem_status vh_spill_pick(vhem_ctx *ctx, vh_spill *s, int d, const int *place, int n);
/* The n numbers at y, which are in its array, are not needed for now: they leave memory if they can be read
 * again.  Nothing changes; any thread may do this while others read. */
void vh_spill_release(const vh_spill *s, const double *y, int64_t n);
/* Would that let go of both? */
bool vh_spill_together(const vh_spill *s, const double *a, const double *b);
void vh_spill_free(vh_spill *s);
/* Where such files are made. */
const char *vh_spill_folder(void);

#endif
