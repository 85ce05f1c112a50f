/* SPDX-License-Identifier: BSD-3-Clause */
/* info.h - the facts about a file, and how they are printed. */
#ifndef VHEM_CLI_INFO_H
#define VHEM_CLI_INFO_H

#include "cli.h"

enum { INFO_FIRST = 10 }; /* models of a set on disk that are listed unless all are asked for */

/* all: every model is listed. */
json_t *info_models(const char *path, const vhem_models *models, bool all);
json_t *info_clusters(cli *c, const char *path, const vhem_tree *tree);
json_t *info_classes(const char *path, const vhem_classes *classes);
json_t *info_data(const char *path, const vhem_data *data);
void info_tell(FILE *f, json_t *facts, bool all); /* for people; releases the facts */
void info_clean(json_t *facts);                   /* without control characters */

/* Pieces that info_tell.c and info_clusters.c share: "" and 0 where the object has no such key. */
const char *info_text(const json_t *object, const char *key);
long long info_int(const json_t *object, const char *key);
double info_real(const json_t *object, const char *key);
void info_tell_provenance(FILE *f, const json_t *made);
void info_tell_clusters(FILE *f, json_t *facts, bool all);

#endif
