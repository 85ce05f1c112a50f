/* SPDX-License-Identifier: BSD-3-Clause */
/* fit_dtm.h - vhem fit --model dtm. */
#ifndef VHEM_CLI_FIT_DTM_H
#define VHEM_CLI_FIT_DTM_H

#include "cli.h"

/* Options of vhem fit that mean nothing here; NULL ends them. */
extern const char *const fit_of_hmms[];

/* Fits, saves and reports; the exit status. */
int fit_textures(cli *c, const cli_usage *usage, const vhem_data *data, const vhem_dtm_fit_options *opt,
                 const char *output);

#endif
