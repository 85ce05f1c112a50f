/* SPDX-License-Identifier: BSD-3-Clause */
/* hmm_file.h - sets of HMMs in files, and what files of textures share with them.
 *
 *   1. a whole file, of either format      2. each format      3. parts, for files that hold models inside */
#ifndef VH_FILES_HMM_FILE_H
#define VH_FILES_HMM_FILE_H

#include "hmm/hmm_set.h"

#include <stdio.h>

/* ---- 1. a whole file ----------------------------------------------------------------------------------- */

vhem_status vh_h3m_load(vhem_ctx *ctx, const char *path, vh_h3m **out); /* .json or .h5; "-" */
vhem_status vh_h3m_save(vhem_ctx *ctx, const vh_h3m *h3m, const char *path);
vhem_status vh_h3m_set_provenance(vhem_ctx *ctx, vh_h3m *h3m, const char *json);
/* json, an object as text, or NULL, becomes the provenance at slot. */
vhem_status vh_model_set_provenance(vhem_ctx *ctx, char **slot, const char *json);
/* Does the path name an HDF5 file? */
bool vh_model_is_hdf5(const char *path);
/* The text of a model file; NULL, and no failure, when it is HDF5 by its name or content. */
vhem_status vh_model_read(vhem_ctx *ctx, const char *path, char **text, size_t *size);

/* ---- 2. each format ------------------------------------------------------------------------------------ */

/* name is what error sentences call the file. */
vhem_status vh_model_read_json(vhem_ctx *ctx, const char *text, size_t size, const char *name, vh_h3m **out);
vhem_status vh_model_write_json(vhem_ctx *ctx, const vh_h3m *h3m, const char *path);
vhem_status vh_model_load_hdf5(vhem_ctx *ctx, const char *path, vh_h3m **out);
vhem_status vh_model_save_hdf5(vhem_ctx *ctx, const vh_h3m *h3m, const char *path);

/* ---- 3. parts ------------------------------------------------------------------------------------------ */

/* For files that hold models inside: the model file as a JSON object on a stream (stream errors stay in f),
 * and the model in a parsed object.  Models with NaN or infinity are refused before the first byte. */
struct json_t;
struct vh_json_items;
vhem_status vh_model_print_json(vhem_ctx *ctx, const vh_h3m *h3m, FILE *f);
vhem_status vh_model_from_json(vhem_ctx *ctx, struct json_t *root, const struct vh_json_items *hmms,
                               vh_h3m **out);

/* "lengths" of a model file: an object with min, median, max and perhaps frames, as text in HDF5; the text
 * needs VH_LENGTHS_SIZE bytes. */
enum { VH_LENGTHS_SIZE = 160 };
void vh_lengths_text(const vh_lengths *lengths, char *text);
vhem_status vh_lengths_read(vhem_ctx *ctx, const char *text, vh_lengths *out);

/* Is the text, called what in the sentence, a JSON object? */
vhem_status vh_model_check_object(vhem_ctx *ctx, const char *what, const char *text);
/* Of the data that an HMM was fitted to (fit/lengths.h); 0: not known.  In files it is its key
 * "fingerprint", 16 digits in hexadecimal, which is kept with those that this program does not know. */
vhem_status vh_hmm_set_fingerprint(vhem_ctx *ctx, vh_hmm *h, uint64_t fingerprint);
uint64_t vh_hmm_fingerprint(const vh_hmm *h);
bool vh_fingerprint_read(const char *text, uint64_t *out); /* is it one? */
/* The members of the JSON object text that are no keys of the format, as an object in text; *out is NULL when
 * there are none.  family NULL: keys of the file, else keys of an HMM. */
vhem_status vh_model_unknown_keys(vhem_ctx *ctx, const vh_emission *family, const char *what,
                                  const char *text, char **out);

#endif
