/* SPDX-License-Identifier: BSD-3-Clause */
/* cut.h - the pieces that classes are learnt from. */
#ifndef VH_CLASSIFY_CUT_H
#define VH_CLASSIFY_CUT_H

#include "classify/classes.h"
#include "models/pieces.h"
#include "vhem/classes.h"

/* Creates the pieces of all classes and adds them to the classes: one per item of a class; or chunks of its
 * items in order; or subsamples of its items. */
vhem_status vh_classes_cut(vhem_ctx *ctx, const vh_piecework *work, const vhem_tags *members,
                           vhem_classes *classes, vh_pieces *out);

#endif
