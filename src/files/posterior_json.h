/* SPDX-License-Identifier: BSD-3-Clause */
/* posterior_json.h - the posterior of an H3M as JSON text. */
#ifndef VH_FILES_POSTERIOR_JSON_H
#define VH_FILES_POSTERIOR_JSON_H

#include "prior/posterior_set.h"

/* Convert to and from the JSON object of docs/formats.md; the caller frees the text. */
vhem_status vh_posteriors_text(vhem_ctx *ctx, const vh_posteriors *post, char **out);
vhem_status vh_posteriors_read(vhem_ctx *ctx, const char *text, vh_posteriors **out);

#endif
