/* SPDX-License-Identifier: BSD-3-Clause */
/* decode_choice.h - which HMM of a set decodes each sequence. */
#ifndef VHEM_CLI_DECODE_CHOICE_H
#define VHEM_CLI_DECODE_CHOICE_H

#include "cli.h"

typedef struct {
    int64_t *hmm;    /* [N] which HMM decodes sequence n; from malloc */
    const char *how; /* it was chosen */
} decode_choice;

/* which: a name or number for all sequences, "best", or NULL: by name where every sequence or its group has
 * its HMM, else the most likely one of each sequence. */
int decode_choose(cli *c, const char *which, const vhem_models *models, const vhem_data *data,
                  decode_choice *out);

#endif
