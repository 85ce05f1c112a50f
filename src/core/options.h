/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h - the options of every record as one table: names, types, ranges, defaults and help.  Checks,
 * files, fingerprints and the command line all walk it; an option is a field of its record and a row here. */
#ifndef VH_CORE_OPTIONS_H
#define VH_CORE_OPTIONS_H

#include "core/ctx.h"
#include "core/hash.h"
#include "core/text.h"

#include <stdio.h>

enum {
    VH_IN_FILES = 1, /* in files and fingerprints */
    VH_IF_SET = 2,   /* only if it is set: files of older versions lack it */
};

typedef struct {
    vhem_option shown;
    int use;
} vh_option;

/* Converts a caller's record (NULL, or of another version) to this version in `full`; VHEM_EINVAL if it was
 * not filled with VHEM_INIT. */
vhem_status vh_options_take(vhem_ctx *ctx, vhem_option_set set, const void *given, void *full);

/* For public functions: replaces opt by such a record. */
#define VH_OPTIONS(set, type, opt)                        \
    type opt##_full_;                                     \
    VH_TRY(vh_options_take(ctx, set, opt, &opt##_full_)); \
    (opt) = &opt##_full_

/* Rows of a record, ended by a NULL name; empty for sets that vhem_option_info does not know. */
const vh_option *vh_options(vhem_option_set set);
/* True if the option is left at its default. */
bool vh_option_unset(const vh_option *row, const void *record);
double vh_option_number(const vh_option *row, const void *record); /* of an int, int64, real or flag */
void vh_option_set_number(const vh_option *row, double x, void *record);
const char **vh_option_text(const vh_option *row, void *record);
/* Checks that every option that is set is in its range, and every choice one of its words. */
vhem_status vh_options_check(vhem_ctx *ctx, vhem_option_set set, const void *record);
/* Checks that the method uses every option that is set; a flag may be set to its default. */
vhem_status vh_options_check_uses(vhem_ctx *ctx, vhem_option_set set, const void *record, const char *method);
/* Resets the options that the method does not use, before they are passed to another method. */
void vh_options_drop_unused(vhem_option_set set, const char *method, void *record);
/* Fills in the defaults that are a single number or word, independent of method and input. */
void vh_options_fill(vhem_option_set set, void *record);

/* Copies the texts of the record into `texts`. */
vhem_status vh_options_own(vhem_ctx *ctx, vhem_option_set set, vh_texts *texts, void *record);

void vh_options_hash(vh_hash *hash, const vh_option *row, const void *record);
/* Prints ', "name": value', or '"name": value' for the first.  flags: as true and false, else as numbers. */
void vh_option_print(FILE *f, const char *lead, const vh_option *row, const void *record, bool flags);
/* True if the option belongs in a file with its current value. */
bool vh_option_in_files(const vh_option *row, const void *record);

#endif
