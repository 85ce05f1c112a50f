/* SPDX-License-Identifier: BSD-3-Clause */
/* classes_json.h - files of class models. */
#ifndef VH_ANNOTATE_CLASSES_JSON_H
#define VH_ANNOTATE_CLASSES_JSON_H

#include "annotate/classes.h"
#include "model/document.h"

/* The class models of a file that is open. */
vhem_status vh_classes_from_document(vhem_ctx *ctx, vh_document *doc, vhem_classes **out);

#endif
