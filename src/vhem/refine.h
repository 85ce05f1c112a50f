/* SPDX-License-Identifier: BSD-3-Clause */
/* refine.h - splits the components of base HMMs for a tighter bound. */
#ifndef VH_VHEM_REFINE_H
#define VH_VHEM_REFINE_H

#include "hmm/hmm_set.h"

enum { VH_MAX_SPLITS = 32 };

/* Rewrites the HMMs: every component becomes a state of its own, and every component that overlaps another is
 * cut into Q parts of equal probability, each a state with the exact mean and covariance of its part
 * (symbols: the likeliest and the rest).  The distribution of sequences is unchanged, so L_hmm of the refined
 * HMMs is still a lower bound on the expected log-likelihood, and never a looser one.  1 <= Q <=
 * VH_MAX_SPLITS; Q = 1 only separates the components.  Copies names, labels and weights.  Gaussian and
 * categorical emissions only. */
vhem_status vh_refine(vhem_ctx *ctx, const vh_h3m *h3m, int Q, vh_h3m **out);

/* Mean and variance of cut q of Q of a standard normal variable. */
void vh_split_moments(int Q, int q, double *mean, double *var);

#endif
