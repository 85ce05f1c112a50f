/* SPDX-License-Identifier: BSD-3-Clause */
/* choose.h - the rows of vhem choose: as a table, and what they recommend. */
#ifndef VHEM_CLI_CHOOSE_H
#define VHEM_CLI_CHOOSE_H

#include "cli.h"

typedef struct {            /* a table of choices */
    const vhem_choice *row; /* the table, then the path */
    int n;      /* rows of the table and steps of the path; those that were not reached have K = 0 */
    bool bayes; /* the clusterings of the table are by variational Bayes: of K clusters they have K_used */
} choose_rows;

enum { N_CHOOSE_COLUMNS = 12 };

typedef struct { /* a number of a row, in tables and in JSON */
    const char *name;
    size_t at;
    int digits; /* in a table */
} choose_column;

extern const choose_column choose_columns[N_CHOOSE_COLUMNS];

cli_rows choose_table(const choose_rows *t);
/* {"best": ..., "choices": ..., "path": ...} */
json_t *choose_json(const choose_rows *t);

enum { CHOOSE_REASONS = 8 };
typedef char choose_reason[200];

typedef struct {     /* what the rows together recommend */
    int64_t K;       /* 0: nothing */
    int S, S_needed; /* S_needed: states of the largest centre that are needed, of S */
    bool needed;     /* by variational Bayes, too */
    choose_reason why[CHOOSE_REASONS], doubt[CHOOSE_REASONS]; /* "" after the last */
    choose_reason none;                                       /* why nothing is recommended, where K = 0 */
} choose_advice;

choose_advice choose_advise(const choose_rows *t);

/* Tries these numbers of groups of sequences, none: those that suit them; writes a table of how good they
 * are, and says which is recommended. */
int choose_of_sequences(cli *c, const vhem_source *from, const vhem_cluster_options *opt,
                        const cli_list *asked, const char *output);

/* "1 at 10, 3 at 31.6": the clusters that are needed for each number of virtual frames; "" without a path. */
const char *choose_path_text(const choose_rows *t, char *text, size_t size);

#endif
