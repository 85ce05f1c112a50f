/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.h - the options of a training by name: one table to fingerprint, write and read them by. */
#ifndef VH_ANNOTATE_SETTINGS_H
#define VH_ANNOTATE_SETTINGS_H

#include "core/hash.h"
#include "data/names.h"

#include <jansson.h>
#include <stdio.h>

typedef struct {
    const char *name;
    enum { VH_SET_INT, VH_SET_REAL, VH_SET_TEXT } kind;
    size_t at; /* within the struct */
} vh_setting;

extern const vh_setting vh_fit_settings[], vh_reduce_settings[],
    vh_train_settings[]; /* ended by a NULL name */

void vh_settings_hash(vh_hash *hash, const vh_setting *set, const void *options);
void vh_settings_print(FILE *f, const vh_setting *set, const void *options); /* a JSON object */
/* What the object has of them; texts go into names, which must outlive the options. */
vhem_status vh_settings_read(vhem_ctx *ctx, json_t *object, const vh_setting *set, vh_names *names,
                             void *options);
/* Its texts become texts of names. */
vhem_status vh_settings_own(vhem_ctx *ctx, const vh_setting *set, vh_names *names, void *options);

#endif
