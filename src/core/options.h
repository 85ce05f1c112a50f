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
    VH_IF_SET = 2,   /* only when it is not left at its default: files of older versions do not have it */
};

typedef struct {
    vhem_option shown;
    int use;
} vh_option;

/* A record that a caller gave, NULL or one of another version, as one of this version; VHEM_EINVAL when it
 * was not filled with VHEM_INIT. */
vhem_status vh_options_take(vhem_ctx *ctx, vhem_option_set set, const void *given, void *full);

/* In a public function: opt from now on is such a record. */
#define VH_OPTIONS(set, type, opt)                        \
    type opt##_full_;                                     \
    VH_TRY(vh_options_take(ctx, set, opt, &opt##_full_)); \
    (opt) = &opt##_full_

/* The rows of a record, ended by a NULL name; none of those that vhem_option_info does not know. */
const vh_option *vh_options(vhem_option_set set);
/* Is the option left at its default? */
bool vh_option_unset(const vh_option *row, const void *record);
double vh_option_number(const vh_option *row, const void *record); /* of an int, int64, real or flag */
void vh_option_set_number(const vh_option *row, double x, void *record);
const char **vh_option_text(const vh_option *row, void *record);
/* Every option that is set is in its range, and a choice is one of its words. */
vhem_status vh_options_check(vhem_ctx *ctx, vhem_option_set set, const void *record);
/* Every option that is set is one that the method uses; a flag may be set to its default. */
vhem_status vh_options_check_uses(vhem_ctx *ctx, vhem_option_set set, const void *record, const char *method);
/* What the method does not use becomes the default again: before options are handed on to another method. */
void vh_options_drop_unused(vhem_option_set set, const char *method, void *record);
/* Fills in the defaults that are one number or one word, whatever the method and the input. */
void vh_options_fill(vhem_option_set set, void *record);

/* The texts of the record become texts of the list. */
vhem_status vh_options_own(vhem_ctx *ctx, vhem_option_set set, vh_texts *texts, void *record);

/* Numbers below the least, as -1 for a size, are defaults; this is how files and fingerprints have always
 * written them. */
double vh_option_written(const vh_option *row, const void *record);
void vh_options_hash(vh_hash *hash, const vh_option *row, const void *record);
/* ', "name": value' or '"name": value' when it is the first.  flags: as true and false, else as numbers. */
void vh_option_print(FILE *f, const char *lead, const vh_option *row, const void *record, bool flags);
/* Does it belong in a file, such as it is? */
bool vh_option_in_files(const vh_option *row, const void *record);

#endif
