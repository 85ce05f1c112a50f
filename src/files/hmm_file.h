/* SPDX-License-Identifier: BSD-3-Clause */
/* hmm_file.h - reads and writes sets of HMMs, with helpers that files of textures share.
 *
 *   1. a whole file, of either format      2. each format      3. parts, for files that contain models */
#ifndef VH_FILES_HMM_FILE_H
#define VH_FILES_HMM_FILE_H

#include "files/named_array.h"
#include "hmm/hmm_set.h"

#include <stdio.h>

/* ---- 1. a whole file ----------------------------------------------------------------------------------- */

vhem_status vh_h3m_load(vhem_ctx *ctx, const char *path, vh_h3m **out); /* .json or .h5; "-": stdin */
vhem_status vh_h3m_save(vhem_ctx *ctx, const vh_h3m *h3m, const char *path);
/* Sets the provenance at slot to json, an object as text, or NULL. */
vhem_status vh_model_set_provenance(vhem_ctx *ctx, char **slot, const char *json);
/* True if the path names an HDF5 file. */
bool vh_model_is_hdf5(const char *path);
/* Reads the text of a model file; *text is NULL, without an error, if it is HDF5 by name or content. */
vhem_status vh_model_read(vhem_ctx *ctx, const char *path, char **text, size_t *size);

/* ---- 2. each format ------------------------------------------------------------------------------------ */

/* name: the file name in error messages. */
vhem_status vh_model_read_json(vhem_ctx *ctx, const char *text, size_t size, const char *name, vh_h3m **out);
vhem_status vh_model_write_json(vhem_ctx *ctx, const vh_h3m *h3m, const char *path);
vhem_status vh_model_load_hdf5(vhem_ctx *ctx, const char *path, vh_h3m **out);
vhem_status vh_model_save_hdf5(vhem_ctx *ctx, const vh_h3m *h3m, const char *path);

/* ---- 3. parts ------------------------------------------------------------------------------------------ */

/* For files that contain models: print one as a JSON object (errors stay in f), read one from a parsed
 * object. Models with NaN or infinity are rejected before anything is written. */
struct json_t;
struct vh_json_items;
vhem_status vh_model_print_json(vhem_ctx *ctx, const vh_h3m *h3m, FILE *f);
vhem_status vh_model_from_json(vhem_ctx *ctx, struct json_t *root, const struct vh_json_items *hmms,
                               vh_h3m **out);

/* "lengths" of a model file: an object with min, median, max and optional frames, as text in HDF5; text needs
 * VH_LENGTHS_SIZE bytes. */
enum { VH_LENGTHS_SIZE = 160 };
void vh_lengths_text(const vh_lengths *lengths, char *text);
vhem_status vh_lengths_read(vhem_ctx *ctx, const char *text, vh_lengths *out);

/* Name and shape of a parameter of all components of an HMM. */
vh_named_array vh_param_array(const vh_param *param, const vh_shape *shape, int S, int M);

/* Checks that text, called `what` in messages, is a JSON object. */
vhem_status vh_model_check_object(vhem_ctx *ctx, const char *what, const char *text);
/* Fingerprint of the data that an HMM was fitted to (fit/lengths.h); 0: unknown.  In files it is the key
 * "fingerprint", 16 hexadecimal digits, kept among the unknown keys. */
vhem_status vh_hmm_set_fingerprint(vhem_ctx *ctx, vh_hmm *h, uint64_t fingerprint);
uint64_t vh_hmm_fingerprint(const vh_hmm *h);
bool vh_fingerprint_read(const char *text, uint64_t *out); /* false if invalid */
/* Collects the members of the JSON object text that are not keys of the format, as an object in text; *out is
 * NULL if there are none.  family NULL: keys of the file, else keys of an HMM. */
vhem_status vh_model_unknown_keys(vhem_ctx *ctx, const vh_emission *family, const char *what,
                                  const char *text, char **out);

#endif
