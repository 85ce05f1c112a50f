/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c - see options.h. */
#include "fit/options.h"

#include "core/alloc.h"
#include "core/options.h"
#include "data/values.h"
#include "fit/lengths.h"
#include "emission/layout.h"
#include "vhem.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { MOST_STATES = 4096, MOST_RESTARTS = 65535, ITERATIONS = 200, DTM_ITERATIONS = 100 };

bool vh_fit_wants_textures(const vhem_fit_options *opt)
{
    return opt->model && strcmp(opt->model, "dtm") == 0;
}

vhem_fit_options vh_fit_filled(const vhem_fit_options *asked)
{
    vhem_fit_options o;

    VHEM_INIT(VHEM_FIT_OPTIONS, &o);
    if (asked)
        o = *asked;
    vh_options_fill(VHEM_FIT_OPTIONS, &o);
    if (o.max_iter < 0)
        o.max_iter = vh_fit_wants_textures(&o) ? DTM_ITERATIONS : ITERATIONS;
    return o;
}

static vhem_status check_options(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt)
{
    VH_TRY(vh_options_check(ctx, VHEM_FIT_OPTIONS, opt));
    VH_CHECK(opt->S <= MOST_STATES, VHEM_EINVAL, "S is %d, must be from 1 to %d", opt->S, MOST_STATES);
    VH_CHECK(opt->M <= MOST_STATES, VHEM_EINVAL, "M is %d, must be from 1 to %d", opt->M, MOST_STATES);
    const vh_emission *family = vh_fit_family(data, opt);
    VH_CHECK(opt->M <= 1 || !family || !family->single, VHEM_EINVAL,
             "M is %d, must be 1: a mixture of %s components is one such component", opt->M, family->name);
    VH_CHECK(opt->restarts <= MOST_RESTARTS, VHEM_EINVAL, "restarts is %d, must be from 1 to %d",
             opt->restarts, MOST_RESTARTS);
    VH_CHECK(opt->K <= INT_MAX, VHEM_EINVAL, "K is %lld, must be at most %d", (long long)opt->K, INT_MAX);
    VH_CHECK(data->N > 0, VHEM_EINVAL, "there are no sequences to fit");
    VH_CHECK(opt->by_group <= 0 || data->group, VHEM_EINVAL,
             "groups were asked for, but the data has no groups");
    return VHEM_OK;
}

vhem_status vh_fit_resolve(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *asked,
                           vhem_fit_options *out)
{
    vhem_fit_options o = vh_fit_filled(asked);
    vhem_status st = check_options(ctx, data, &o);
    if (st == VHEM_OK)
        *out = o;
    return st;
}

vh_shape vh_fit_shape(const vhem_data *data)
{
    return data->layout ? vh_layout_shape(data->layout) : (vh_shape){ .d = data->d };
}

const vh_emission *vh_fit_family(const vhem_data *data, const vhem_fit_options *opt)
{
    return data->layout ? data->layout->family : vh_emission_find(opt->emission);
}

bool vh_fit_lacks(const vhem_data *data, const int64_t *seq, int64_t n, int k)
{
    for (int64_t i = 0; i < n; i++) {
        const double *y = vh_data_frames(data, seq ? seq[i] : i) + k;
        for (int64_t t = 0; t < vh_data_length(data, seq ? seq[i] : i); t++)
            if (!isnan(y[t * data->d]))
                return false;
    }
    return true;
}

/* Suggests naming the columns that have values, in the option that now names the columns. */
vhem_status vh_fit_no_values(vhem_ctx *ctx, const vhem_data *data, int lacking, bool by_column)
{
    vhem_status st = VHEM_OK;
    VH_AUTOFREE char **others = NULL;
    char list[256];
    int n = 0;

    VH_NEW(others, data->d);
    for (int k = 0; k < data->d; k++)
        if (!vh_fit_lacks(data, NULL, data->N, k))
            others[n++] = data->column[k];
    bool joined = vh_join(others, n, ",", list, sizeof list);
    const char *path = data->origin.path, *name = vh_data_column(data, lacking);
    if (n == 0)
        st = vh_fail(ctx, VHEM_EINVAL,
                     "%s%scolumn '%.80s' is missing throughout, and there is nothing else to fit",
                     path ? path : "", path ? ": " : "", name);
    else if (by_column)
        st = vh_fail(ctx, VHEM_EINVAL,
                     "%s%scolumn '%.80s' is missing throughout; leave it out of the emission",
                     path ? path : "", path ? ": " : "", name);
    else
        st = vh_fail(ctx, VHEM_EINVAL,
                     "%s%scolumn '%.80s' is missing throughout; leave it out with " VH_OPT("columns%s%s%s"),
                     path ? path : "", path ? ": " : "", name, joined ? "='" : "", joined ? list : "",
                     joined ? "'" : "");
    return st;
}

vhem_status vh_fit_require_values(vhem_ctx *ctx, const vhem_data *data)
{
    bool by_column = data->layout && vh_param_is_channels(&data->layout->family->param[0]);

    for (int k = 0; k < data->d; k++)
        if (vh_fit_lacks(data, NULL, data->N, k)) /* it cannot be fitted */
            VH_TRY(vh_fit_no_values(ctx, data, k, by_column));
    return VHEM_OK;
}

static bool is_symbols(const vhem_data *data, int k)
{
    const vh_layout *layout = data->layout;
    for (int i = 0; layout && i < layout->n_channel; i++)
        if (layout->channel[i].shape.V > 0 && layout->channel[i].column == k)
            return true;
    return false;
}

void vh_fit_scale_floor(int d, double share, vh_fit_scale *x)
{
    for (int k = 0; x->floor && k < d; k++)
        x->floor[k] = share * (x->within[k] > 0 ? x->within[k] * x->within[k] : 1);
}

vhem_status vh_fit_scale_of(vhem_ctx *ctx, const vhem_data *data, const vh_sets *sets, int n_state,
                            double share, vh_fit_scale *out)
{
    VH_AUTOFREE double *mean = NULL;
    int d = data->d;

    VH_NEW(mean, d);
    VH_NEW(out->spread, d);
    VH_NEW(out->within, d);
    const double *sd = out->spread;
    vh_spread(data, NULL, data->N, mean, out->spread);
    for (int k = 0; k < d; k++)
        VH_CHECK(isfinite(sd[k] * sd[k]), VHEM_EINVAL,
                 "column '%s' has values too large for their variance to be a number; "
                 "divide it by a constant",
                 vh_data_column(data, k));
    for (int k = 0; k < d; k++)
        if (!(sd[k] > 0) && !vh_fit_lacks(data, NULL, data->N, k))
            vh_log(ctx, VHEM_LOG_WARN,
                   is_symbols(data, k)
                       ? "column '%s' has one symbol only; it may be left out"
                       : "column '%s' never varies by more than the rounding of its numbers; it may be left "
                         "out",
                   vh_data_column(data, k));
    memcpy(out->within, sd, sizeof *sd * (size_t)d);
    if (sets)
        VH_TRY(vh_spread_within(ctx, data, sets, n_state, sd, out->within));
    if (share > 0)
        VH_NEW(out->floor, d);
    vh_fit_scale_floor(d, share, out);
    return VHEM_OK;
}

void vh_fit_scale_free(vh_fit_scale *scale)
{
    free(scale->spread);
    free(scale->within);
    free(scale->floor);
    *scale = (vh_fit_scale){ 0 };
}
