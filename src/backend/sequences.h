/* SPDX-License-Identifier: BSD-3-Clause */
/* sequences.h - HMMs against sequences: what the E-step of Baum-Welch and of EM-H3M asks of a backend. */
#ifndef VH_BACKEND_SEQUENCES_H
#define VH_BACKEND_SEQUENCES_H

#include "core/scratch.h"
#include "data/data.h"
#include "model/stats.h"

typedef struct vh_batch { /* some whole sequences of a data set */
    const vhem_data *data;
    const int *seq; /* [n]  their indices */
    int n;
    int64_t frames; /* all together */
    /* How much each pair of a sequence and an HMM counts in the statistics, w [n][K], said once loglik [n][K]
     * is known.  NULL: a pair counts with the weight of its sequence. */
    void (*weigh)(const struct vh_batch *, const double *loglik, double *w);
    bool known;      /* weigh needs no loglik: pairs of weight zero are then left out altogether, and their
                        loglik stays as it was */
    const void *arg; /* what weigh needs to know, */
    int first;       /* and the place of seq[0] in the list that was cut into batches */
} vh_batch;

/* Frames a batch should have so that the tables of a chunk stay in the second-level cache. */
int vh_batch_frames(const vh_packed *pk);

#endif
