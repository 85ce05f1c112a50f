/* SPDX-License-Identifier: BSD-3-Clause */
/* report_input.h - what vhem report shows besides the clusters, read from files. */
#ifndef VHEM_CLI_REPORT_INPUT_H
#define VHEM_CLI_REPORT_INPUT_H

#include "cli.h"

/* Each fills what comes last with malloc; names are those of the clustering. */

/* --distances: a square matrix with a header, as 'vhem compare --kind' writes it. */
int report_distances(cli *c, const char *path, const vhem_clustering *cl, double **D);
/* --choice: the table of 'vhem choose', as text or as JSON. */
int report_choice(cli *c, const char *path, vhem_choice **rows, int *n);

#endif
