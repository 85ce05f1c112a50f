/* SPDX-License-Identifier: BSD-3-Clause */
/* options_json.h - options in files, by the table of core/options.h. */
#ifndef VH_FILES_OPTIONS_JSON_H
#define VH_FILES_OPTIONS_JSON_H

#include "core/options.h"

#include <jansson.h>

/* What the object has of the options of a record; texts go into the list, which must outlive the record.  A
 * size of 0, as older files have it, is the default. */
vhem_status vh_options_read(vhem_ctx *ctx, json_t *object, vhem_option_set set, vh_texts *texts,
                            void *record);

#endif
