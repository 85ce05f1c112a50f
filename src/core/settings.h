/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.h - several values in one option, "nu=5,lambda=0.01". */
#ifndef VH_CORE_SETTINGS_H
#define VH_CORE_SETTINGS_H

#include "core/ctx.h"

/* Handles one setting; fails with an error if the key is unknown or the value invalid. */
typedef vhem_status vh_setting(vhem_ctx *ctx, void *arg, const char *key, const char *value);

/* Calls take for each setting in the text until one fails.  Errors begin with `what` and show the example. */
vhem_status vh_settings_read(vhem_ctx *ctx, const char *what, const char *example, const char *text,
                             vh_setting *take, void *arg);
/* Reads a value as a positive number. */
vhem_status vh_setting_positive(vhem_ctx *ctx, const char *what, const char *key, const char *value,
                                double *out);

#endif
