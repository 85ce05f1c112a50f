/* SPDX-License-Identifier: BSD-3-Clause */
/* center_again.c - see center_again.h. */
#include "cluster/center_again.h"

#include "core/alloc.h"
#include "hmm/convert.h"
#include "vhem.h"

/* The sequences as one group. */
static vhem_status join(vhem_ctx *ctx, const vhem_data *data, const int64_t *seq, int64_t n, vhem_data **out)
{
    VH_OWN(vhem_data) *copy = NULL;
    VH_AUTOFREE const char **group = NULL;

    VH_NEW(group, n);
    for (int64_t i = 0; i < n; i++)
        group[i] = "1";
    VH_TRY(vh_data_subset(ctx, data, seq, n, &copy));
    VH_TRY(vh_data_describe(ctx, copy, &(vhem_data_text){ .group = group }));
    *out = vh_take(copy);
    return VHEM_OK;
}

vhem_status vh_center_again(vhem_ctx *ctx, const vh_clustering *c, int j, const vhem_data *data,
                            const int64_t *seq, int64_t n, vhem_models **out)
{
    VH_OWN(vhem_data) *group = NULL;
    VH_OWN(vh_h3m) *one = NULL;
    const int64_t index = j;
    vhem_fit_options o;

    VH_TRY(join(ctx, data, seq, n, &group));
    VH_TRY(vh_h3m_subset(ctx, c->centers, &index, 1, &one));
    one->omega[0] = 1;
    const vhem_models start = vh_models_of_hmms(one);
    VHEM_INIT(VHEM_FIT_OPTIONS, &o);
    o.start = &start;
    o.S = one->hmm[0].S;
    o.M = one->hmm[0].M;
    o.topology = c->options.topology;
    o.prior = c->centers->prior;
    o.by_group = 1;
    o.restarts = 1;
    return vhem_fit(ctx, group, &o, out, NULL);
}
