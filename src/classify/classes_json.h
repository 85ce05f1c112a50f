/* SPDX-License-Identifier: BSD-3-Clause */
/* classes_json.h - reads class model files. */
#ifndef VH_CLASSIFY_CLASSES_JSON_H
#define VH_CLASSIFY_CLASSES_JSON_H

#include "classify/classes.h"
#include "models/parsed_file.h"

/* Reads the class models of an open file. */
vhem_status vh_classes_from_parsed(vhem_ctx *ctx, vh_parsed_file *doc, vhem_classes **out);

#endif
