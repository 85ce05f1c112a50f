/* SPDX-License-Identifier: BSD-3-Clause */
/* estep_cpu.h - the driver that CPU backends share for jobs of sequences: chunks, batches, threads, sums. */
#ifndef VH_FIT_ESTEP_CPU_H
#define VH_FIT_ESTEP_CPU_H

#include "fit/estep.h"

/* The functions of vh_seq_kernels, based on `kernel` of the context's backend. */
vhem_status vh_cpu_sequences_open(vhem_ctx *ctx, const vh_sequences *in, void **state);
vhem_status vh_cpu_sequences_run(vhem_ctx *ctx, void *state, const vh_seq_step *step, vh_seq_sums *out);
void vh_cpu_sequences_close(void *state);

/* Place of the first sequence of set g. */
static inline int64_t vh_seq_place(const vh_sequences *in, int64_t g)
{
    return in->first ? in->first[g] : g;
}

/* Views the sums stored at block, which keeps its owner; block NULL: only their sizes. */
vh_seq_sums vh_seq_sums_at(const vh_packed *pk, int mixtures, double *block);
/* For set g, whose sequences have loglik [sequences][K]: computes log_z [K] and its share of J [mixtures]. */
void vh_seq_assign(const vh_sequences *in, const vh_seq_step *step, int64_t g, const double *loglik,
                   double *log_z, double *J);

#endif
