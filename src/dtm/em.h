/* SPDX-License-Identifier: BSD-3-Clause */
/* em.h - EM for a mixture of dynamic textures on sets of sequences (EM-DTM), or for a single texture.
 *
 *   z_gj ~ omega_j prod_{n in g} p(y_n | j)^{w_n}
 *   J = sum_g log sum_j omega_j prod_{n in g} p(y_n | j)^{w_n} */
#ifndef VH_DTM_EM_H
#define VH_DTM_EM_H

#include "dtm/kalman.h"
#include "fit/em_h3m.h"

typedef struct {
    const vhem_data *data;
    const vh_sets *sets;
    int64_t first, last; /* uses sets first to last - 1 */
    vh_dt_limits limits;
    int max_iter;
    double tol; /* nats per frame; 0: never converges */
} vh_em_dtm_task;

/* dtm is the start and receives the mixture; fills J and the counts of run.  scratch [n_threads]; the
 * result does not depend on n_threads. VHEM_ESTOPPED leaves dtm at the last complete iteration. */
vhem_status vh_em_dtm(vhem_ctx *ctx, const vh_em_dtm_task *task, vh_scratch *scratch, int n_threads,
                      vh_dtm *dtm, vh_em_run *run);

#endif
