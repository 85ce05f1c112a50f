/* SPDX-License-Identifier: BSD-3-Clause */
/* options_json.h - reads options from files, by the table of core/options.h. */
#ifndef VH_FILES_OPTIONS_JSON_H
#define VH_FILES_OPTIONS_JSON_H

#include "core/options.h"

#include <jansson.h>

/* Reads the options present in the object into record; strings are owned by texts, which must outlive it. A
 * size of 0, as in older files, is the default. */
vhem_status vh_options_read(vhem_ctx *ctx, json_t *object, vhem_option_set set, vh_texts *texts,
                            void *record);

#endif
