/* SPDX-License-Identifier: BSD-3-Clause */
/* choose.h - which HMM of a set explains each sequence. */
#ifndef VHEM_CLI_CHOOSE_H
#define VHEM_CLI_CHOOSE_H

#include "cli.h"

typedef struct {
    int *hmm;        /* [N] which HMM explains sequence n */
    const char *how; /* it was chosen */
    int most_S;      /* states of the largest HMM */
} choice;

/* which: a name or number for all sequences, "best", or NULL: by name where every sequence or its group has
 * its HMM, else the most likely one of each sequence.  ch->hmm comes from malloc. */
int choose_hmms(cli *c, const char *which, const vhem_h3m *h3m, const vhem_data *data, choice *ch);

#endif
