/* SPDX-License-Identifier: BSD-3-Clause */
/* base.h - the input of a reduction, prepared once: base HMMs packed for the engine and opened by the
 * backend. */
#ifndef VH_REDUCE_BASE_H
#define VH_REDUCE_BASE_H

#include "backend/backend.h"

typedef struct {
    const vh_h3m *h3m;
    int Kb;
    int *order;    /* [Kb]  place in the packed set -> HMM: by chunk, and within a chunk by shape */
    double *omega; /* [Kb]  weights, by place */
    vh_packed *packed;
    vh_reduce_job *job;     /* NULL when only packed */
    double *origin, *scale; /* [d]  mean and deviation of the base models together; 0 and 1: no location */
    double *mean; /* [n_stat]  mean statistics of all base components, each counted with omega c / S */
} vh_base;

vhem_status vh_base_new(vhem_ctx *ctx, const vh_h3m *h3m, vh_base **out);
/* The same without a job, for those who want the packed set alone. */
vhem_status vh_base_pack(vhem_ctx *ctx, const vh_h3m *h3m, vh_base **out);
void vh_base_free(vh_base *base);

#endif
