/* SPDX-License-Identifier: BSD-3-Clause */
/* baum_welch.h - maximum likelihood for one HMM on its sequences, several starts side by side. */
#ifndef VH_FIT_BAUM_WELCH_H
#define VH_FIT_BAUM_WELCH_H

#include "fit/estep.h"
#include "fit/job.h"

/* Without a prior (job->prior) runs end at the highest likelihood; with one at the highest lower bound of the
 * evidence, and the models are the means of the posteriors.
 *
 * runs holds R started HMMs of the same shape; each is iterated until it converges, run [R] says how it went.
 * The restarts share every table of the E-step.  VHEM_ESTOPPED leaves the models as they were at the last
 * iteration, with their likelihood; n_iter is -1 where there was none. */
vhem_status vh_baum_welch(vhem_ctx *ctx, const vh_job *job, vh_h3m *runs, vh_workers *workers,
                          vhem_fit_run *run);

#endif
