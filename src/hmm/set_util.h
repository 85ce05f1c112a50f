/* SPDX-License-Identifier: BSD-3-Clause */
/* set_util.h - what sets of models share, be they HMMs or dynamic textures. */
#ifndef VH_HMM_SET_UTIL_H
#define VH_HMM_SET_UTIL_H

#include "core/ctx.h"

#include <stdbool.h>
#include <stddef.h>

/* The text, or NULL for an empty one. */
const char *vh_model_text(const char *text);
/* Puts "HMM i: ", with its name if it has one, before the current error sentence; kind is the word. */
void vh_model_prefix(vhem_ctx *ctx, const char *kind, int64_t i, const char *name);
/* Largest relative difference of a and b [n]; infinity where one is not a number. */
double vh_model_difference(const double *a, const double *b, size_t n);
#endif
