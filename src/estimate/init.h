/* init.h - where Baum-Welch starts. */
#ifndef VH_ESTIMATE_INIT_H
#define VH_ESTIMATE_INIT_H

#include "estimate/job.h"

typedef vhem_status (*vh_start)(vhem_ctx *ctx, const vh_job *job, vh_rng *rng, int restart, vhem_h3m *h3m,
                                vh_hmm *h);

/* The start with this name, "kmeans", "random" or "segment"; NULL when there is none. */
vh_start vh_start_find(const char *name);

#endif
