/* SPDX-License-Identifier: BSD-3-Clause */
/* infer.c - scores, decodes and samples models of either kind: public calls, checked and dispatched by
 * kind. */
#include "core/alloc.h"
#include "core/array2.h"
#include "dtm/infer.h"
#include "fit/frames.h"
#include "models/infer.h"
#include "fit/sets.h"
#include "fit/infer.h"
#include "vhem.h"

#include <limits.h>
#include <string.h>

vhem_status vh_models_score(vhem_ctx *ctx, const vhem_models *models, const vhem_data *data, double *loglik)
{
    vhem_status st = vh_models_gather(ctx, models);
    if (st != VHEM_OK)
        return st;
    return models->h3m ? vh_h3m_score(ctx, models->h3m, data, loglik)
                       : vh_dtm_score(ctx, models->dtm, data, loglik);
}

vhem_status vhem_score(vhem_ctx *ctx, const vhem_models *models, const vhem_source *source, double *loglik)
{
    VH_ENTER(models, source, loglik);
    VH_CLEANUP(vh_sets_free) vh_sets items = { 0 };
    VH_AUTOFREE double *each = NULL;
    int64_t K = vh_models_size(models);

    VH_CHECK(source->data && !source->models, VHEM_EINVAL, "models are scored on sequences, there are none");
    if (source->by_group <= 0) {
        VH_TRY(vh_models_score(ctx, models, source->data, loglik));
        return VHEM_OK;
    }
    VH_TRY(vh_sets_new(ctx, source->data, true, &items));
    VH_NEW(each, vh_cells(source->data->N, K));
    VH_TRY(vh_models_score(ctx, models, source->data, each));
    vh_sets_sum(&items, K, each, loglik);
    return VHEM_OK;
}

/* Checks i and n, and gathers the models. */
static vhem_status check_one(vhem_ctx *ctx, const vhem_models *models, int64_t i, const vhem_data *data,
                             int64_t n)
{
    VH_CHECK(i >= 0 && i < vh_models_size(models), VHEM_EINVAL, "%s %lld was asked for, but there are %lld",
             vh_models_word(models), (long long)i, (long long)vh_models_size(models));
    VH_CHECK(n >= 0 && n < data->N, VHEM_EINVAL, "sequence %lld was asked for, but there are %lld",
             (long long)n, (long long)data->N);
    return vh_models_gather(ctx, models);
}

vhem_status vhem_decode(vhem_ctx *ctx, const vhem_models *models, const int64_t *hmm, const vhem_data *data,
                        int64_t first, int64_t n, const vhem_decoding *out)
{
    VH_ENTER(models, hmm, data, out);
    VH_CHECK(models->kind == VHEM_HMMS, VHEM_EINVAL, "the models are dynamic textures, must be HMMs");
    VH_TRY(vh_models_gather(ctx, models));
    if (n != 0)
        VH_TRY(vh_h3m_decode(ctx, models->h3m, hmm, data, first, n, out));
    return VHEM_OK;
}

vhem_status vhem_posterior(vhem_ctx *ctx, const vhem_models *models, int64_t i, const vhem_data *data,
                           int64_t n, double *gamma, double *xi, double *loglik)
{
    VH_ENTER(models, data, gamma);
    VH_TRY(check_one(ctx, models, i, data, n));
    return models->h3m ? vh_h3m_posterior(ctx, models->h3m, i, data, n, gamma, xi, loglik)
                       : vh_dtm_smooth(ctx, models->dtm, i, data, n, gamma, xi, loglik);
}

vhem_status vhem_sample(vhem_ctx *ctx, const vhem_models *models, int64_t N, int64_t T, vhem_data **out)
{
    VH_ENTER(models, out);
    vhem_status st = VHEM_OK;
    VH_TRY(vh_models_gather(ctx, models));
    st =
        models->h3m ? vh_h3m_sample(ctx, models->h3m, N, T, out) : vh_dtm_sample(ctx, models->dtm, N, T, out);
    if (st == VHEM_OK && (*out)->layout)
        st = vh_frames_detach(ctx, *out);
    return st;
}
