/* SPDX-License-Identifier: BSD-3-Clause */
/* estep_cpu.h - the driver that CPU backends share for jobs of sequences: chunks, batches, threads,
 * sums. */
#ifndef VH_FIT_ESTEP_CPU_H
#define VH_FIT_ESTEP_CPU_H

#include "fit/estep.h"

/* The entries of vh_seq_kernels, around the kernel `batch` of the context's backend. */
vhem_status vh_cpu_sequences_open(vhem_ctx *ctx, const vh_sequences *in, void **state);
vhem_status vh_cpu_sequences_run(vhem_ctx *ctx, void *state, const vh_seq_step *step, vh_seq_sums *out);
void vh_cpu_sequences_close(void *state);

/* Place of the first sequence of set g. */
static inline int64_t vh_seq_place(const vh_sequences *in, int64_t g)
{
    return in->first ? in->first[g] : g;
}

/* The sums that lie at block, which stays its owner's; block NULL: only their sizes are wanted. */
vh_seq_sums vh_seq_sums_at(const vh_packed *pk, int mixtures, double *block);
/* Set g, whose sequences have loglik [sequences][K]: log_z [K] and what it adds to J [mixtures]. */
void vh_seq_assign(const vh_sequences *in, const vh_seq_step *step, int64_t g, const double *loglik,
                   double *log_z, double *J);

#endif
