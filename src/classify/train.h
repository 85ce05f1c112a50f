/* SPDX-License-Identifier: BSD-3-Clause */
/* train.h - models of classes from items that have them. */
#ifndef VH_CLASSIFY_TRAIN_H
#define VH_CLASSIFY_TRAIN_H

#include "classify/classes.h"
#include "classify/members.h"
#include "fit/frames.h"
#include "models/store.h"
#include "vhem/classes.h"

vhem_status vh_train_check(vhem_ctx *ctx, const vh_train_options *opt);
/* The sequences as the models of the classes see them, or, with none yet (k NULL), as new ones will. */
vhem_status vh_train_frames(vhem_ctx *ctx, const vhem_data *data, const vhem_classes *k,
                            const vh_train_options *opt, vh_frames *out);
/* Adds what the members are to the classes, and makes every model that is missing.  Classes without a single
 * member stay as they are. */
vhem_status vh_train(vhem_ctx *ctx, const vhem_data *data, const vh_items *items, const vhem_tags *members,
                     vh_store *store, vhem_classes *classes);

#endif
