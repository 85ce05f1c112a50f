/* SPDX-License-Identifier: BSD-3-Clause */
/* prior_json.h - priors as JSON text (docs/formats.md), in files and in models.
 *
 * A prior of pseudo-frames is stored like other priors, with its component as a model of one state:
 *
 *   {"format": "vhem-prior", "version": 1, "emission": ..., "d": ..., "frames": ..., "count": ..., "model":
 *   {...}}
 *
 * Priors of clusters also have alpha, eta, eps and kappa, each in place of count. */
#ifndef VH_FILES_PRIOR_JSON_H
#define VH_FILES_PRIOR_JSON_H

#include "prior/prior.h"

/* Convert to and from the JSON object of docs/formats.md; the caller frees the text.  It stores W, not B: for
 * the same numbers before and after saving, use the prior read from the text. */
vhem_status vh_prior_text(vhem_ctx *ctx, const vh_prior *prior, char **out);
vhem_status vh_prior_read(vhem_ctx *ctx, const char *text, vh_prior **out);
/* The same; rejects another dimension or emission than that of `what`: "the data". */
vhem_status vh_prior_read_for(vhem_ctx *ctx, const char *text, const char *what, int d, const char *emission,
                              vh_prior **out);
/* Reads the prior in a file of priors, models or clusterings as JSON text. */
vhem_status vh_prior_load(vhem_ctx *ctx, const char *path, char **text);

/* The same for pseudo-frames; the caller frees the text. */
vhem_status vh_frames_prior_text(vhem_ctx *ctx, const vh_frames_prior *p, char **out);
vhem_status vh_frames_prior_read(vhem_ctx *ctx, const char *text, vh_frames_prior *out);
/* The same from a parsed object. */
struct json_t;
/* True if the text is such a prior; false also if it is not JSON. */
bool vh_frames_prior_is(vhem_ctx *ctx, const char *text);

#endif
