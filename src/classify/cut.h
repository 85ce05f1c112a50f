/* SPDX-License-Identifier: BSD-3-Clause */
/* cut.h - which pieces the classes are learned from. */
#ifndef VH_CLASSIFY_CUT_H
#define VH_CLASSIFY_CUT_H

#include "classify/classes.h"
#include "models/pieces.h"
#include "vhem/classes.h"

/* The pieces of all classes, which are added to the classes: every item that has a class; or chunks of the
 * items of a class in their order; or subsamples of the items of each class. */
vhem_status vh_classes_cut(vhem_ctx *ctx, const vh_piecework *work, const vhem_tags *members,
                           vhem_classes *classes, vh_pieces *out);

#endif
