/* SPDX-License-Identifier: BSD-3-Clause */
/* info.h - the facts about a file, and how they are printed. */
#ifndef VHEM_CLI_INFO_H
#define VHEM_CLI_INFO_H

#include "cli.h"

enum { INFO_FIRST = 10 }; /* models of a set on disk that are listed unless all are asked for */

/* all: every model is listed; detailed: of so many HMMs, from the first, the parameters of channels. */
json_t *info_models(const char *path, const vhem_models *models, bool all, int64_t detailed);
json_t *info_clusters(cli *c, const char *path, const vhem_tree *tree);
json_t *info_classes(const char *path, const vhem_classes *classes);
json_t *info_data(const char *path, const vhem_data *data);
void info_tell(FILE *f, json_t *facts, bool all); /* for people; releases the facts */

#endif
