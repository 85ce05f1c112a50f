/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce.h - base HMMs against reduced ones: what the variational E-step asks of a backend. */
#ifndef VH_BACKEND_REDUCE_H
#define VH_BACKEND_REDUCE_H

#include "core/scratch.h"
#include "model/stats.h"

typedef struct {           /* base against reduced HMMs, for virtual samples of tau frames */
    const vh_packed *base; /* from vh_pack_base; HMMs of one shape side by side */
    const vh_packed *reduced;
    int tau;
    bool soft; /* most pairs will have weight: what score finds on its way may be kept in its scratch memory
                  for accumulate of the same HMMs */
} vh_estep;

enum { VH_ESTEP_BLOCK = 64 }; /* base HMMs that are scored and accumulated together */

#endif
