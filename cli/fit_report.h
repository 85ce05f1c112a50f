/* SPDX-License-Identifier: BSD-3-Clause */
/* fit_report.h - what vhem fit says about its runs. */
#ifndef VHEM_CLI_FIT_REPORT_H
#define VHEM_CLI_FIT_REPORT_H

#include "cli.h"

typedef struct {
    const vhem_models *models;
    const vhem_data *data;
    const vhem_fit_report *report; /* NULL, or of models from a store: only their number is told */
    const char *output, *store;    /* store may be NULL */
    bool mixture, stopped;
    bool unasked;     /* the emission is the default */
    int most;         /* states that each model may have had to choose from; 0: their number was given */
    const char *read; /* " --missing lost": how DATA was read, for the next command */
} fit_result;

/* With --json every restart of every model on standard output, and the summary on standard error. */
void fit_tell(cli *c, const fit_result *r);

#endif
