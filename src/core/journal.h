/* SPDX-License-Identifier: BSD-3-Clause */
/* journal.h - a file of results that survives a killed run: finished work is looked up by its key.
 *
 * Records are only appended.  Opening the file truncates it at the first incomplete record; a record with a
 * wrong checksum counts as missing. */
#ifndef VH_CORE_JOURNAL_H
#define VH_CORE_JOURNAL_H

#include "core/own.h"
#include "core/hash.h"

typedef struct vh_journal vh_journal; /* thread-safe */

/* Opens or creates the file.  VHEM_EIO if another run has it open, VHEM_EFORMAT if it is not a journal. */
vhem_status vh_journal_open(vhem_ctx *ctx, const char *path, vh_journal **out);
void vh_journal_free(vh_journal *j); /* NULL is allowed */
VH_OWNED(vh_journal, vh_journal_free)

/* Reads the n numbers of a key into x; false if there are none, and x may be overwritten. */
bool vh_journal_find(vh_journal *j, const vh_key *key, size_t n, double *x);
/* Appends a record.  The first failed write logs a warning and ends the journal; the run goes on. */
void vh_journal_add(vhem_ctx *ctx, vh_journal *j, const vh_key *key, size_t n, const double *x);

#endif
