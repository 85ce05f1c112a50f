/* SPDX-License-Identifier: BSD-3-Clause */
/* frames.h - sequences as models see them: columns by name, cells of symbols as symbol indices.
 *
 * Data that has a layout is left alone, and so is data whose columns are in place and have no symbols: a copy
 * is made only if needed. */
#ifndef VH_FIT_FRAMES_H
#define VH_FIT_FRAMES_H

#include "data/data.h"
#include "hmm/hmm_set.h"
#include "emission/layout.h"
#include "core/number.h"
#include "core/names.h"

typedef struct {
    const vhem_data *data;   /* with the layout of the models, or without one if they have none */
    vhem_data *own;          /* the same if it is a copy; the caller's data must outlive it */
    const vh_layout *layout; /* shared */
} vh_frames;                 /* zero it before use */

/* Gets frames to fit models to, for an emission: the name of a family, or families by column,
 * "x+y:gaussian-full,n:poisson".  With a start: its emission.  known: a layout whose symbols apply to columns
 * of the same name, whichever symbols occur; NULL: the symbols of the data. */
vhem_status vh_frames_to_fit(vhem_ctx *ctx, const vhem_data *data, const char *emission, const vh_h3m *start,
                             const vh_layout *known, vh_frames *out);
/* Gets frames for existing models, of sequences seq [n] (NULL: all) only. */
vhem_status vh_frames_for(vhem_ctx *ctx, const vhem_data *data, const int64_t *seq, int64_t n,
                          const vh_h3m *h3m, vh_frames *out);
void vh_frames_free(vh_frames *frames);

/* Converts frames with a layout to the form of a file: column names, and names or numbers for symbols. */
vhem_status vh_frames_detach(vhem_ctx *ctx, vhem_data *data);

/* Gives new models without a layout the column names of their data, if it has any. */
vhem_status vh_frames_name(vhem_ctx *ctx, const vhem_data *data, vh_h3m *h3m);

#endif
