/* SPDX-License-Identifier: BSD-3-Clause */
/* refine.h - base HMMs cut finer, for a tighter bound. */
#ifndef VH_VHEM_REFINE_H
#define VH_VHEM_REFINE_H

#include "hmm/hmm_set.h"

enum { VH_MAX_SPLITS = 32 };

/* The same HMMs in other words: every component becomes a state of its own, and every component that overlaps
 * another one is cut into Q cuts of equal probability, each a state with the exact mean and covariance of
 * its cut.  The distribution of the sequences stays what it was, so L_hmm of the refined HMMs is still a
 * lower bound on the expected log-likelihood, and never a looser one.  1 <= Q <= VH_MAX_SPLITS; Q = 1 only
 * gives components states of their own.  Names, labels and weights come along.  Gaussian emissions only. */
vhem_status vh_refine(vhem_ctx *ctx, const vh_h3m *h3m, int Q, vh_h3m **out);

/* Mean and variance of cut q of Q of a standard normal variable. */
void vh_split_moments(int Q, int q, double *mean, double *var);

#endif
