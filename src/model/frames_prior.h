/* SPDX-License-Identifier: BSD-3-Clause */
/* frames_prior.h - a prior of made-up frames: for families without a conjugate prior, and what the conjugate
 * ones of families other than Gaussians are made from (prior.h).
 *
 * Every component sees `frames` frames of one component, that of all the data, and every entry of pi, A and c
 * counts `count` more.  As JSON text it stands where other priors do (prior.h), with the component as a model
 * of one state:
 *
 *   {"format": "vhem-prior", "version": 1, "emission": ..., "d": ..., "frames": ..., "count": ..., "model":
 *   {...}}
 *
 * Priors of clusters have alpha, eta, eps and kappa too, each in place of count. */
#ifndef VH_MODEL_FRAMES_PRIOR_H
#define VH_MODEL_FRAMES_PRIOR_H

#include "model/h3m.h"

typedef struct {
    double frames, count;
    vh_h3m *model; /* one state, one component */
} vh_frames_prior; /* zero it before use */

void vh_frames_prior_free(vh_frames_prior *p);
/* free() the text. */
vhem_status vh_frames_prior_text(vhem_ctx *ctx, const vh_frames_prior *p, char **out);
vhem_status vh_frames_prior_read(vhem_ctx *ctx, const char *text, vh_frames_prior *out);
/* That in a parsed object. */
struct json_t;
vhem_status vh_frames_prior_from_json(vhem_ctx *ctx, struct json_t *root, vh_frames_prior *out);
/* Is the text such a prior?  False also where it is no JSON. */
bool vh_frames_prior_is(vhem_ctx *ctx, const char *text);

#endif
