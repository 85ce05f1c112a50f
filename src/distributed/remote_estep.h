/* SPDX-License-Identifier: BSD-3-Clause */
/* remote_estep.h - sums over all base HMMs computed by an executor, in any number of processes. */
#ifndef VH_DISTRIBUTED_REMOTE_ESTEP_H
#define VH_DISTRIBUTED_REMOTE_ESTEP_H

#include "vhem/base.h"
#include "vhem/distributed.h"

/* Lets an executor compute the sums of a base; NULL: this process computes them. */
vh_remote vh_remote_of(const vhem_executor *executor);

#endif
