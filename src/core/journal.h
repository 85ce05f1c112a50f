/* SPDX-License-Identifier: BSD-3-Clause */
/* journal.h - a file of numbers that outlives a run which was killed: what has been computed is found again
 * by its key.
 *
 * Records are only ever added.  One that was not finished, and all after it, are cut off when the file is
 * opened; one whose checksum is wrong counts as missing. */
#ifndef VH_CORE_JOURNAL_H
#define VH_CORE_JOURNAL_H

#include "core/own.h"
#include "core/hash.h"

typedef struct vh_journal vh_journal; /* may be used by several threads */

/* Begins the file where there is none.  VHEM_EIO when another run has it open, VHEM_EFORMAT when it is
 * something else. */
vhem_status vh_journal_open(vhem_ctx *ctx, const char *path, vh_journal **out);
void vh_journal_free(vh_journal *j); /* NULL is allowed */
VH_OWNED(vh_journal, vh_journal_free)

/* The n numbers under a key into x; false: there are none, and x may be overwritten. */
bool vh_journal_find(vh_journal *j, const vh_key *key, size_t n, double *x);
/* What cannot be written is left out, with a warning the first time: the run itself can go on. */
void vh_journal_add(vhem_ctx *ctx, vh_journal *j, const vh_key *key, size_t n, const double *x);

#endif
