/* SPDX-License-Identifier: BSD-3-Clause */
/* set_util.h - helpers for sets of models, HMMs or dynamic textures. */
#ifndef VH_HMM_SET_UTIL_H
#define VH_HMM_SET_UTIL_H

#include "core/ctx.h"

#include <stdbool.h>
#include <stddef.h>

/* The text, or NULL for an empty one. */
const char *vh_model_text(const char *text);
/* Prefixes the current error message with "HMM i: " and the model's name, if it has one; kind is the word
 * "HMM". */
void vh_model_prefix(vhem_ctx *ctx, const char *kind, int64_t i, const char *name);
/* Largest relative difference of a and b [n]; NaN equals NaN, otherwise NaN counts as infinite. */
double vh_model_difference(const double *a, const double *b, size_t n);
#endif
