/* SPDX-License-Identifier: BSD-3-Clause */
/* estep_cpu.h - the E-step driver shared by CPU backends: chunks, threads, sums. */
#ifndef VH_VHEM_ESTEP_CPU_H
#define VH_VHEM_ESTEP_CPU_H

#include "vhem/estep.h"

/* The whole-job entries of vh_reduce_kernels, around the kernel of the context's backend. */
vhem_status vh_cpu_reduce_open(vhem_ctx *ctx, const vh_base_source *source, void **state);
vhem_status vh_cpu_reduce_run(vhem_ctx *ctx, const void *state, const vh_reduce_step *step,
                              const vh_workers *workers, bool stops, vh_reduce_sums *out);
void vh_cpu_reduce_close(void *state);

#endif
