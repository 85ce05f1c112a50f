/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.h - tables of statistics after clustering, for vhem stats and vhem report. */
#ifndef CLI_STATS_H
#define CLI_STATS_H

#include "cli.h"
#include "vhem/analysis.h"

typedef struct {
    const vhem_statistics *s;
    const char *who;            /* what the persons are called, "subject" */
    const vhem_data *sequences; /* where each is a sequence; NULL: groups of them */
} stats_table;

cli_rows stats_persons(const stats_table *t);
cli_rows stats_tests(const stats_table *t);
json_t *stats_json(const cli *c, const stats_table *t);
/* The tests in words, and the warning where scores are of those who were clustered. */
void stats_say(cli *c, const vhem_statistics *s);
/* Without a group each sequence is a person: warns where persons, or other groups, were clustered. */
void stats_check_persons(cli *c, const vhem_statistics *s, const vhem_tree *tree, const vhem_data *data,
                         const char *group);

#endif
