/* SPDX-License-Identifier: BSD-3-Clause */
/* frames_layout.h - the layout of models to be fitted to given data: their columns and symbols. */
#ifndef VH_FIT_FRAMES_LAYOUT_H
#define VH_FIT_FRAMES_LAYOUT_H

#include "core/number.h"
#include "data/data.h"
#include "hmm/hmm_set.h"
#include "emission/layout.h"

typedef struct { /* sources of a layout */
    const vhem_data *data;
    const vh_layout *known; /* symbols for columns of the same name; NULL: those in the data */
} vh_layout_source;

/* One channel for all columns. */
vhem_status vh_layout_of_family(vhem_ctx *ctx, const vh_layout_source *from, const vh_emission *family,
                                vh_layout **out);
/* Channels by column, "step:gamma,x+y:gaussian-full". */
vhem_status vh_layout_of_columns(vhem_ctx *ctx, const vh_layout_source *from, const char *spec,
                                 vh_layout **out);
/* The Gaussians of a model file: its background, or its only HMM with a single state. */
vhem_status vh_layout_of_background(vhem_ctx *ctx, const vh_emission *family, const char *path,
                                    vh_layout **out);

/* Finds the column of the data with this name. */
vhem_status vh_frames_column(vhem_ctx *ctx, const vhem_data *data, const char *name, int *out);
/* The text of cell y in column k, a symbol or a number. */
const char *vh_frames_cell(const vhem_data *data, int k, double y, char number[VH_NUMBER_SIZE]);

#endif
