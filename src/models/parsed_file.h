/* SPDX-License-Identifier: BSD-3-Clause */
/* parsed_file.h - a vhem file, opened and parsed once, from which its parts are then read. */
#ifndef VH_MODELS_PARSED_FILE_H
#define VH_MODELS_PARSED_FILE_H

#include "models/models.h"

#include "files/json_scan.h"

typedef struct {
    const char *name;    /* file name in messages */
    const char *format;  /* "vhem-tree"; "" if not given */
    json_t *root;        /* of a JSON file, else NULL */
    vh_json_items hmms;  /* models that are not in the tree: unparsed */
    char *text;          /* the text that hmms points into */
    vhem_models *models; /* of an HDF5 file, which holds only models; else NULL */
} vh_parsed_file;        /* must be zeroed before use */

/* Opens a file ("-": stdin).  what: the expected kind, for messages: "a model file". */
vhem_status vh_parsed_file_open(vhem_ctx *ctx, const char *path, const char *what, vh_parsed_file *out);
/* The same for JSON text [size], which must outlive doc; doc->name must be set.  Close doc even after a
 * failure. */
vhem_status vh_parsed_file_parse(vhem_ctx *ctx, const char *text, size_t size, const char *what,
                                 vh_parsed_file *doc);
void vh_parsed_file_close(vh_parsed_file *doc);
/* Returns its models, owned by the caller; error messages begin with the file name. */
vhem_status vh_parsed_file_models(vhem_ctx *ctx, vh_parsed_file *doc, vhem_models **out);

#endif
