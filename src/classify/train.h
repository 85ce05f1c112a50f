/* SPDX-License-Identifier: BSD-3-Clause */
/* train.h - trains models of classes. */
#ifndef VH_CLASSIFY_TRAIN_H
#define VH_CLASSIFY_TRAIN_H

#include "classify/classes.h"
#include "classify/members.h"
#include "fit/frames.h"
#include "models/store.h"
#include "vhem/classes.h"

vhem_status vh_train_check(vhem_ctx *ctx, const vh_train_options *opt);
/* Converts the sequences to the frames of the classes' models, or, if there are none yet (k NULL), of new
 * ones. */
vhem_status vh_train_frames(vhem_ctx *ctx, const vhem_data *data, const vhem_classes *k,
                            const vh_train_options *opt, vh_frames *out);
/* Adds the members to the classes and trains every missing model.  Classes without members are unchanged. */
vhem_status vh_train(vhem_ctx *ctx, const vhem_data *data, const vh_sets *items, const vhem_tags *members,
                     vh_store *store, vhem_classes *classes);

#endif
