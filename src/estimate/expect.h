/* SPDX-License-Identifier: BSD-3-Clause */
/* expect.h - the E-step: cutting sequences into batches and running a backend over them on all threads. */
#ifndef VH_ESTIMATE_EXPECT_H
#define VH_ESTIMATE_EXPECT_H

#include "backend/backend.h"
#include "estimate/sets.h"

typedef struct { /* scratch of each thread that may work */
    int n;
    vh_scratch *scratch; /* [n] */
} vh_workers;

vhem_status vh_workers_new(vhem_ctx *ctx, int n, vh_workers *out);
void vh_workers_free(vh_workers *workers);

/* All HMMs of the set against n sequences seq [n] of the data: loglik [n][K]; total (NULL: not wanted) is
 * overwritten with the sum of the expected statistics.  The sum does not depend on the number of workers. */
vhem_status vh_expect(vhem_ctx *ctx, const vh_packed *pk, const vhem_data *data, const int *seq, int n,
                      vh_workers *workers, double *loglik, vh_stats *total);

typedef struct { /* sequences that count by set: those of a set belong together */
    const vh_sets *sets;
    /* Set g, once the log-likelihoods of its sequences are known, loglik [its sequences][K]: how much each
     * pair counts, w likewise.  Called by several threads, for different sets. */
    void (*weigh)(void *arg, int g, const double *loglik, double *w);
    void *arg;
} vh_weighing;

/* The same for all sequences, in the order of the sets, loglik [N][K]: the statistics of each pair count as
 * weigh says, which is called once for every set, with or without total. */
vhem_status vh_expect_sets(vhem_ctx *ctx, const vh_packed *pk, const vhem_data *data, const vh_weighing *how,
                           vh_workers *workers, double *loglik, vh_stats *total);

#endif
