/* SPDX-License-Identifier: BSD-3-Clause */
/* fit_report.h - what vhem fit tells about its runs. */
#ifndef VHEM_CLI_FIT_REPORT_H
#define VHEM_CLI_FIT_REPORT_H

#include "cli.h"

/* JSON text from malloc for the model file.  Neither threads, output, time nor host is in it: the same seed
 * gives the same bytes wherever and as whatever they are written.  without: options that mean nothing to the
 * kind of model, ended by NULL. */
char *fit_provenance(const cli *c, const cli_usage *usage, const vhem_fit_report *report,
                     const char *const *without, bool stopped);
/* Every restart of every model. */
json_t *fit_report_json(const cli *c, const cli_models *m, const vhem_fit_report *report, bool mixture,
                        const char *output, bool stopped);
/* The lines on standard error at the end. */
void fit_summary(cli *c, const vhem_data *data, const vhem_h3m *h3m, const vhem_fit_report *report,
                 bool mixture, const char *output, bool stopped);

/* fit_pieces.c: vhem fit --store; the exit status. */
int fit_pieces(cli *c, const cli_usage *usage, const vhem_data *data, const vhem_fit_options *opt,
               const char *store, const char *output);

#endif
