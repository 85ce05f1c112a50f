/* SPDX-License-Identifier: BSD-3-Clause */
/* posterior_json.h - what is known of a whole H3M as JSON text. */
#ifndef VH_FILES_POSTERIOR_JSON_H
#define VH_FILES_POSTERIOR_JSON_H

#include "prior/posterior_set.h"

/* The JSON object of docs/formats.md, and back; the text is free()d by the caller. */
vhem_status vh_posteriors_text(vhem_ctx *ctx, const vh_posteriors *post, char **out);
vhem_status vh_posteriors_read(vhem_ctx *ctx, const char *text, vh_posteriors **out);

#endif
