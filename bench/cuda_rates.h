/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_rates.h - what a GPU can do at best, measured: the limits that its kernels are held against. */
#ifndef BENCH_CUDA_RATES_H
#define BENCH_CUDA_RATES_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {                      /* of the whole device, per second */
    double multiply_adds, exps, logs; /* in double precision; exp and log as the kernels have them */
    double bytes;                     /* read plus written by a copy */
} bench_gpu;

const char *bench_gpu_measure(bench_gpu *out); /* NULL, or what went wrong */

#ifdef __cplusplus
}
#endif

#endif
