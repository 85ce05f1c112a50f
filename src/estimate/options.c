/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c - see options.h. */
#include "estimate/options.h"

#include "core/alloc.h"
#include "estimate/init.h"
#include "estimate/spread.h"
#include "model/emission.h"

#include <math.h>

void vhem_fit_options_init(vhem_fit_options *opt)
{
    *opt = (vhem_fit_options){
        .S = 3,
        .M = 1,
        .max_iter = 200,
        .tol = 1e-5,
        .cov_floor = 1e-4,
        .emission = "gaussian-diag",
        .init = "kmeans",
        .topology = "free",
        .repair = 1,
    };
}

static vhem_status check_options(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt)
{
    vhem_status st = VHEM_OK;
    VH_CHECK(opt->S >= 1, VHEM_EINVAL, "S is %d, an HMM needs at least one state", opt->S);
    VH_CHECK(opt->S <= 4096, VHEM_EINVAL, "S is %d, at most 4096 states are possible", opt->S);
    VH_CHECK(opt->M >= 1, VHEM_EINVAL, "M is %d, a state needs at least one component", opt->M);
    VH_CHECK(opt->M <= 4096, VHEM_EINVAL, "M is %d, at most 4096 components are possible", opt->M);
    VH_CHECK(opt->restarts >= 0 && opt->restarts < 65536, VHEM_EINVAL, "%d restarts, must be from 1 to 65535",
             opt->restarts);
    VH_CHECK(opt->max_iter >= 0, VHEM_EINVAL, "max_iter is %d, must not be negative", opt->max_iter);
    VH_CHECK(opt->tol >= 0 && isfinite(opt->tol), VHEM_EINVAL, "tol is %g, must be 0 or more", opt->tol);
    VH_CHECK(opt->cov_floor >= 0 && isfinite(opt->cov_floor), VHEM_EINVAL,
             "cov_floor is %g, must be 0 or more", opt->cov_floor);
    VH_CHECK(vh_emission_find(opt->emission), VHEM_EINVAL, "emission '%s' is unknown; known are %s",
             opt->emission, vh_emission_names());
    VH_CHECK(opt->start || vh_start_find(opt->init), VHEM_EINVAL,
             "init '%s' is unknown; known are kmeans, segment, random", opt->init);
    VH_CHECK(data->N > 0, VHEM_EINVAL, "there are no sequences to fit");
    VH_CHECK(!opt->by_group || data->group, VHEM_EINVAL,
             "one HMM per group is wanted, but the data has no groups");
    VH_TRY(vh_data_require_complete(ctx, data));
done:
    return st;
}

vhem_status vh_fit_resolve(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *asked,
                           vhem_fit_options *out)
{
    vhem_fit_options defaults, o;

    vhem_fit_options_init(&defaults);
    o = asked ? *asked : defaults;
    o.emission = o.emission ? o.emission : defaults.emission;
    o.init = o.init ? o.init : defaults.init;
    o.topology = o.topology ? o.topology : defaults.topology;
    vhem_status st = check_options(ctx, data, &o);
    if (st == VHEM_OK)
        *out = o;
    return st;
}

vhem_status vh_fit_floor(vhem_ctx *ctx, const vhem_data *data, double share, double **spread, double **floor)
{
    vhem_status st = VHEM_OK;
    double *mean = NULL, *sd;
    int d = data->d;

    VH_NEW(mean, d);
    VH_NEW(*spread, d);
    sd = *spread;
    vh_spread(data, NULL, data->N, mean, sd);
    for (int k = 0; k < d; k++)
        VH_CHECK(isfinite(sd[k] * sd[k]), VHEM_EINVAL,
                 "column '%s' has values too large for their variance to be a number; "
                 "divide it by a constant",
                 vh_data_column(data, k));
    for (int k = 0; k < d; k++)
        if (!(sd[k] > 0))
            vh_log(ctx, VHEM_LOG_WARN, "column '%s' never varies; it tells nothing and may be left out",
                   vh_data_column(data, k));
    if (share > 0) {
        VH_NEW(*floor, d);
        for (int k = 0; k < d; k++)
            (*floor)[k] = share * (sd[k] > 0 ? sd[k] * sd[k] : 1);
    }
done:
    free(mean);
    return st;
}
