/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.h - tables of statistics after clustering, for vhem stats and vhem report. */
#ifndef CLI_STATS_H
#define CLI_STATS_H

#include "cli.h"

/* who: what the persons are called, "subject". */
void stats_put_persons(FILE *f, const vhem_statistics *s, const char *who);
void stats_put_tests(FILE *f, const vhem_statistics *s);
json_t *stats_json(const cli *c, const vhem_statistics *s, const char *who);
/* The tests in words, and the warning where scores are of those who were clustered. */
void stats_say(cli *c, const vhem_statistics *s);

#endif
