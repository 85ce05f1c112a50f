/* SPDX-License-Identifier: BSD-3-Clause */
/* family.c - see family.h. */
#include "fit/family.h"

#include "core/alloc.h"
#include "fit/options.h"
#include "fit/lengths.h"
#include "emission/layout.h"
#include "hmm/missing_columns.h"

#include <math.h>

typedef struct {
    const vh_emission *family;
    const vh_shape *shape;
} judge;

static const char *refuse_value(const void *arg, int k, double y)
{
    const judge *j = arg;
    return j->family->refuse(j->shape, k, y);
}

vhem_status vh_family_for(vhem_ctx *ctx, const vh_emission *family, const vh_shape *shape,
                          const vhem_data *data, const int64_t *seq, int64_t n, const vh_emission **out)
{
    int64_t n_missing = 0;

    const judge j = { family, shape };
    VH_TRY(vh_data_suits(ctx, data, seq, n, family->refuse ? refuse_value : NULL, &j, &n_missing));
    if (n_missing > 0 && !vh_emission_with_gaps(family, shape))
        VH_TRY(vh_data_require_complete(ctx, data, seq, n)); /* reports the location */
    *out = n_missing > 0 || family->tied ? family->with_gaps : family;
    return VHEM_OK;
}

const vh_emission *vh_family_of_some(const vh_emission *complete, const vh_emission *with_gaps,
                                     const vhem_data *data, const int64_t *seq, int64_t n)
{
    if (complete->tied)
        return with_gaps;
    for (int64_t i = 0; complete != with_gaps && i < n; i++) {
        const double *y = vh_data_frames(data, seq[i]);
        for (int64_t e = 0; e < vh_data_length(data, seq[i]) * data->d; e++)
            if (isnan(y[e]))
                return with_gaps;
    }
    return complete;
}

/* First of the columns k .. k+n-1 missing in all n_seq sequences; -1: none.  *all: true if all are
 * missing. */
static int first_lacking(const vhem_data *data, const int64_t *seq, int64_t n_seq, int k, int n, bool *all)
{
    int first = -1, lacking = 0;
    for (int i = k + n - 1; i >= k; i--)
        if (vh_fit_lacks(data, seq, n_seq, i)) {
            lacking++;
            first = i;
        }
    *all = lacking == n;
    return first;
}

vhem_status vh_family_require(vhem_ctx *ctx, const vhem_data *data, const int64_t *seq, int64_t n,
                              const vh_emission *family, const vh_shape *shape)
{
    bool all;

    first_lacking(data, seq, n, 0, shape->d, &all);
    VH_CHECK(!all, VHEM_EINVAL,
             "none of its frames has a value, so there is nothing to fit; delete its "
             "rows, or mark those to keep in a column and choose them with " VH_OPT("where='COLUMN=VALUE'"));
    if (!vh_emission_gathers(family, shape) || family->tied) /* the background covers missing columns */
        return VHEM_OK;
    for (int k = 0, step = 1; k < shape->d; k += step) {
        int together;
        vh_columns_together(family, shape, k, &together);
        step = together > 0 ? together : 1;
        int which = first_lacking(data, seq, n, k, step, &all);
        VH_CHECK(which < 0 || (all && together > 0), VHEM_EINVAL,
                 "its sequences have no value in column '%s', which a full covariance needs; %s",
                 vh_data_column(data, which),
                 vh_param_is_channels(&family->param[0]) ? "let that column be gaussian-diag"
                                                         : VH_OPT("emission=gaussian-diag") " does not");
    }
    return VHEM_OK;
}

void vh_family_forget(const vhem_data *data, const int64_t *seq, int64_t n, const vh_h3m *h3m, vh_hmm *h)
{
    for (int k = 0, step = 1; k<h3m->d; k += step> 0 ? step : 1) {
        bool lacks = vh_columns_together(h3m->family, &h3m->shape, k, &step) == k && step > 0;
        for (int i = 0; lacks && i < step; i++)
            lacks = vh_fit_lacks(data, seq, n, k + i);
        if (lacks)
            vh_hmm_forget(h3m, h, k);
    }
}

/* sum [n_stat] := the mean statistics of all frames in the coordinates x; T is scratch [n_stat]. */
static void mean_statistics(const vh_emission *family, const vhem_data *data, const vh_coords *x, double *sum,
                            double *T)
{
    int n_stat = family->n_stat(&x->shape);
    for (int64_t n = 0; n < data->N; n++) {
        const double *y = vh_data_frames(data, n);
        for (int64_t t = 0; t < vh_data_length(data, n); t++, y += data->d) {
            family->stats_of_obs(x, y, 1, T);
            for (int e = 0; e < n_stat; e++)
                sum[e] += T[e];
        }
        vh_data_passed(data, n);
    }
    for (int e = n_stat - 1; e >= 0; e--)
        sum[e] /= sum[0];
}

vhem_status vh_family_pooled(vhem_ctx *ctx, const vh_emission *family, const vhem_data *data,
                             const double *floor, vh_h3m **out)
{
    VH_OWN(vh_h3m) *h3m = NULL;
    const vh_shape shape = vh_fit_shape(data);
    size_t n_stat = (size_t)family->n_stat(&shape), d = (size_t)data->d;
    VH_AUTOFREE double *sum = NULL;
    double *par[VH_MAX_PARAM];

    VH_NEW(sum, 2 * n_stat + 2 * d + vh_emission_room(family, &shape));
    const vh_coords x = { shape, sum + 2 * n_stat, sum + 2 * n_stat + d };
    VH_TRY(vh_h3m_new(ctx, family, shape, 1, &h3m));
    VH_TRY(vh_h3m_shape(ctx, h3m, 0, 1, 1));
    vh_hmm *h = &h3m->hmm[0];
    h->pi[0] = h->A[0] = vh_hmm_c(h)[0] = 1;
    vh_data_coords(family, &shape, data, NULL, data->N, NULL, sum + 2 * n_stat);
    mean_statistics(family, data, &x, sum, sum + n_stat);
    vh_hmm_component(h3m, h, 0, 0, par);
    VH_CHECK(family->maximise(&x, sum, floor, par, sum + 2 * n_stat + 2 * d) >= 0, VHEM_ENUMERIC,
             "the data has no spread; a floor (" VH_OPT("cov_floor") ") helps");
    *out = vh_take(h3m);
    return VHEM_OK;
}
