/* SPDX-License-Identifier: BSD-3-Clause */
/* info.h - the facts about a file, and how they are printed. */
#ifndef VHEM_CLI_INFO_H
#define VHEM_CLI_INFO_H

#include "cli.h"

enum { INFO_FIRST = 10 }; /* models of a set on disk that are listed unless all are asked for */

/* all: every model is listed; detailed: of so many HMMs, from the first, the parameters of channels. */
json_t *info_models(const char *path, const vhem_models *models, bool all, int64_t detailed);
json_t *info_channels(const vhem_models *models); /* of a product: what each is */
json_t *info_names(const vhem_models *models);    /* of the symbols of the first column; NULL: it has none */
json_t *info_parameters(const json_t *channels, const vhem_hmm_view *h, int s, int m); /* of a component */
json_t *info_clusters(cli *c, const char *path, const vhem_tree *tree);
json_t *info_classes(const char *path, const vhem_classes *classes);
json_t *info_data(const char *path, const vhem_data *data);
json_t *info_symbols(const vhem_data *data, const vhem_data_facts *facts, int k); /* of column k */
void info_tell(FILE *f, json_t *facts, bool all); /* for people; releases the facts */
void info_clean(json_t *facts);                   /* without control characters */

/* Pieces that info_tell.c and info_clusters.c share: "" and 0 where the object has no such key. */
const char *info_text(const json_t *object, const char *key);
long long info_int(const json_t *object, const char *key);
double info_real(const json_t *object, const char *key);
void info_tell_symbols(FILE *f, const json_t *columns, bool all); /* of the columns that have some */
void info_tell_names(FILE *f, const json_t *names, bool all);     /* of symbols of models; NULL: none */
void info_put_text(FILE *f, int width, const char *text);         /* and a blank, in a column this wide */
void info_tell_channels(FILE *f, const json_t *channels);
void info_tell_parameters(FILE *f, const json_t *channels,
                          const json_t *states); /* a column for each state */
void info_tell_provenance(FILE *f, const json_t *made);
void info_tell_clusters(FILE *f, json_t *facts, bool all);

#endif
