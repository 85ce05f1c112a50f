/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_sequences.h - forward-backward on a GPU and on all cores. */
#ifndef BENCH_CUDA_SEQUENCES_H
#define BENCH_CUDA_SEQUENCES_H

/* A share of the full numbers of sequences; prints a line for each shape. */
void bench_sequences(double share);

#endif
