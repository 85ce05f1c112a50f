/* SPDX-License-Identifier: BSD-3-Clause */
/* csv.h - a small table of text, all of it in memory: matrices of distances, choices, classes. */
#ifndef VHEM_CLI_CSV_H
#define VHEM_CLI_CSV_H

#include "cli.h"

typedef struct {
    char *text;        /* the file; cells point into it */
    char **cell;       /* [rows][columns] */
    int *line;         /* [rows] of the file, the first is 1 */
    int rows, columns; /* the first row is the header, if there is one */
} csv;

/* Tab, comma or semicolon, whichever the first line has; quotes as in RFC 4180.  Every row has as many cells
 * as the first.  Fewer than least rows are refused: 2 asks for one below the header. */
int csv_load(cli *c, const char *path, int least, csv *t);
void csv_free(csv *t);
char *csv_cell(const csv *t, int row, int column);
/* The column of one of these names; -1: none.  NULL ends them. */
int csv_column(const csv *t, const char *const *names);
/* The number in a cell, "" and "-" are NaN; false: none. */
bool csv_number(const csv *t, int row, int column, double *x);

#endif
