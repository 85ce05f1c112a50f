/* SPDX-License-Identifier: BSD-3-Clause */
/* svd.h - a dynamic texture in closed form: principal components for states, then regression.  Doretto et
 * al., 2003. */
#ifndef VH_DTM_SVD_H
#define VH_DTM_SVD_H

#include "data/data.h"
#include "dtm/stats.h"

typedef struct {   /* what had to be mended */
    int n_floored; /* variances held at the floor */
    int n_stable;  /* 1 when A had to be made stable, else 0 */
} vh_dt_mended;

/* dt, whose n is set, from n_seq sequences.  Any of them may be the beginning: mu and Sigma are the moments
 * of all states. */
vhem_status vh_dt_svd(vhem_ctx *ctx, const vhem_data *data, const int64_t *seq, int64_t n_seq,
                      const vh_dt_limits *lim, vh_dt *dt, vh_dt_mended *mended);

#endif
