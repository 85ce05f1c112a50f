/* SPDX-License-Identifier: BSD-3-Clause */
/* groups.h - reduced HMMs on the device, grouped by shape (estep_kernels.h), and their log-weights. */
#ifndef VH_CUDA_GROUPS_H
#define VH_CUDA_GROUPS_H

#include "cuda/estep_kernels.h"
#include "vhem/estep.h"

typedef struct {
    int n;
    vh_cuda_centers *group; /* [n] */
    double *log_omega;      /* [Kr], on the device */
    char *memory;           /* on the device */
} vh_cuda_groups;

vhem_status vh_cuda_groups_new(vhem_ctx *ctx, const vh_packed *reduced, const double *log_omega,
                               vh_cuda_groups *out);
void vh_cuda_groups_free(vh_cuda_groups *groups); /* accepts a zeroed record */
/* Centres first .. first+n-1 of a group. */
vh_cuda_centers vh_cuda_part(const vh_cuda_centers *group, int first, int n, int n_stat);

#endif
