/* SPDX-License-Identifier: BSD-3-Clause */
/* prior_json.h - priors as JSON text (docs/formats.md), in files and inside of models.
 *
 * A prior of made-up frames stands where other priors do, with its component as a model of one state:
 *
 *   {"format": "vhem-prior", "version": 1, "emission": ..., "d": ..., "frames": ..., "count": ..., "model":
 *   {...}}
 *
 * Priors of clusters have alpha, eta, eps and kappa too, each in place of count. */
#ifndef VH_FILES_PRIOR_JSON_H
#define VH_FILES_PRIOR_JSON_H

#include "prior/prior.h"

/* The JSON object of docs/formats.md, and back; the text is free()d by the caller.  It holds W, not B: who
 * wants the same numbers now and when the file is read takes those of the text. */
vhem_status vh_prior_text(vhem_ctx *ctx, const vh_prior *prior, char **out);
vhem_status vh_prior_read(vhem_ctx *ctx, const char *text, vh_prior **out);
/* The same where it must be one of this dimension and family; what has them: "the data". */
vhem_status vh_prior_read_for(vhem_ctx *ctx, const char *text, const char *what, int d, const char *emission,
                              vh_prior **out);
/* The prior in a file, its own or that of a model or clustering file, as JSON text. */
vhem_status vh_prior_load(vhem_ctx *ctx, const char *path, char **text);

/* The same of made-up frames; free() the text. */
vhem_status vh_frames_prior_text(vhem_ctx *ctx, const vh_frames_prior *p, char **out);
vhem_status vh_frames_prior_read(vhem_ctx *ctx, const char *text, vh_frames_prior *out);
/* That in a parsed object. */
struct json_t;
vhem_status vh_frames_prior_from_json(vhem_ctx *ctx, struct json_t *root, vh_frames_prior *out);
/* Is the text such a prior?  False also where it is no JSON. */
bool vh_frames_prior_is(vhem_ctx *ctx, const char *text);

#endif
