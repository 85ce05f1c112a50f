/* SPDX-License-Identifier: BSD-3-Clause */
/* train.h - models of classes from things that have them. */
#ifndef VH_ANNOTATE_TRAIN_H
#define VH_ANNOTATE_TRAIN_H

#include "annotate/classes.h"
#include "annotate/store.h"
#include "annotate/things.h"

vhem_status vh_train_check(vhem_ctx *ctx, const vhem_train_options *opt);
/* Adds what the members are to the classes, and makes every model that is missing.  Classes without a single
 * member stay as they are. */
vhem_status vh_train(vhem_ctx *ctx, const vhem_data *data, const vh_things *things, const vhem_tags *members,
                     vh_store *store, vhem_classes *classes);

#endif
