/* expect.h - the E-step: cutting sequences into batches and running a backend over them on all threads. */
#ifndef VH_ESTIMATE_EXPECT_H
#define VH_ESTIMATE_EXPECT_H

#include "backend/backend.h"

typedef struct {                         /* scratch of each thread that may work */
    int         n;
    vh_scratch *scratch;                 /* [n] */
} vh_workers;

vhem_status vh_workers_new(vhem_ctx *ctx, int n, vh_workers *out);
void        vh_workers_free(vh_workers *workers);

/* All HMMs of the set against n sequences seq [n] of the data: loglik [n][K]; total (NULL: not wanted) is
 * overwritten with the sum of the expected statistics.  The sum does not depend on the number of workers. */
vhem_status vh_expect(vhem_ctx *ctx, const vh_packed *pk, const vhem_data *data, const int *seq, int n,
                      vh_workers *workers, double *loglik, vh_stats *total);

#endif
