/* SPDX-License-Identifier: BSD-3-Clause */
/* svd.h - fits a dynamic texture by principal components and regression.  Doretto et al., 2003. */
#ifndef VH_DTM_SVD_H
#define VH_DTM_SVD_H

#include "data/data.h"
#include "dtm/stats.h"

/* Fits dt, with n set, to n_seq sequences; *n_floored: variances held at the floor; *n_stable: 1 if A was
 * unstable, else 0.  Any frame may be first: mu and Sigma describe all states. */
vhem_status vh_dt_svd(vhem_ctx *ctx, const vhem_data *data, const int64_t *seq, int64_t n_seq,
                      const vh_dt_limits *lim, vh_dt *dt, int *n_floored, int *n_stable);

#endif
