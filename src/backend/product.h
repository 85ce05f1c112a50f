/* SPDX-License-Identifier: BSD-3-Clause */
/* product.h - HMMs against HMMs: what the probability product kernel asks of a backend. */
#ifndef VH_BACKEND_PRODUCT_H
#define VH_BACKEND_PRODUCT_H

#include "core/scratch.h"
#include "model/pack.h"

typedef struct {                   /* the probability product kernel between two sets of HMMs */
    const vh_packed *a, *b;        /* from vh_pack_base, HMMs of one shape side by side; may be the same */
    const double *self_a, *self_b; /* [n_comp]  log int p^2 of each component, which tells |Sigma| */
    int tau;
    double lambda; /* > 0 */
} vh_product;

#endif
