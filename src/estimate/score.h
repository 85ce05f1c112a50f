/* SPDX-License-Identifier: BSD-3-Clause */
/* score.h - log-likelihoods of sequences, for other computations. */
#ifndef VH_ESTIMATE_SCORE_H
#define VH_ESTIMATE_SCORE_H

#include "model/h3m.h"

/* vh_h3m_score; `what` is what progress is reported as, NULL: it is not.  On failure, or after a stop, some of
 * loglik is filled in: there is no second table. */
vhem_status vh_score(vhem_ctx *ctx, const vh_h3m *h3m, const vhem_data *data, const char *what,
                     double *loglik);

#endif
