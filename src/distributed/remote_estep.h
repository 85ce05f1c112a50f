/* SPDX-License-Identifier: BSD-3-Clause */
/* remote_estep.h - sums over all base HMMs that an executor has made for us, in as many processes as it
 * likes. */
#ifndef VH_DISTRIBUTED_REMOTE_ESTEP_H
#define VH_DISTRIBUTED_REMOTE_ESTEP_H

#include "vhem/base.h"
#include "vhem/distributed.h"

/* What a base needs to have its sums made by the executor; NULL: by nobody else. */
vh_remote vh_remote_of(const vhem_executor *executor);

#endif
