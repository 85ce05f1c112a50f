/* SPDX-License-Identifier: BSD-3-Clause */
/* parsed_file.h - a file of ours, opened and parsed once: what it holds is asked for afterwards. */
#ifndef VH_MODELS_PARSED_FILE_H
#define VH_MODELS_PARSED_FILE_H

#include "models/models.h"

#include "files/json_scan.h"

typedef struct {
    const char *name;    /* what sentences call the file */
    const char *format;  /* "vhem-tree"; "" when it does not say */
    json_t *root;        /* of JSON, else NULL */
    vh_json_items hmms;  /* of a set of models, that are not in the tree */
    char *text;          /* they are in here */
    vhem_models *models; /* of HDF5, which holds models and nothing else; else NULL */
} vh_parsed_file;        /* zero it before use */

/* "-" is stdin.  what: the word for sentences about files that hold something else, "a model file". */
vhem_status vh_parsed_file_open(vhem_ctx *ctx, const char *path, const char *what, vh_parsed_file *out);
/* The same of a text [size] of JSON, which must stay; doc has a name, and is released after a failure too. */
vhem_status vh_parsed_file_parse(vhem_ctx *ctx, const char *text, size_t size, const char *what,
                                 vh_parsed_file *doc);
void vh_parsed_file_close(vh_parsed_file *doc);
/* Its models, which are the caller's; the name of the file is put before sentences. */
vhem_status vh_parsed_file_models(vhem_ctx *ctx, vh_parsed_file *doc, vhem_models **out);

#endif
