/* SPDX-License-Identifier: BSD-3-Clause */
/* prior.c - see prior.h. */
#include "prior/prior.h"

#include "core/alloc.h"
#include "math/linalg.h"
#include "emission/layout.h"
#include "hmm/convert.h"

#include <math.h>
#include <string.h>

bool vh_prior_exists(const vh_emission *family, const vh_shape *shape)
{
    bool all = family->prior != VH_PRIOR_FRAMES;
    for (int c = 0; family->prior == VH_PRIOR_CHANNELS && c < shape->layout->n_channel; c++)
        all = all && shape->layout->channel[c].family->prior != VH_PRIOR_FRAMES;
    return all;
}

/* Writes "column 'step': " or "columns 'x', 'y': " for channel c, truncated to the buffer. */
static void tell_columns(const vh_layout *layout, int c, char *text, size_t size)
{
    const vh_channel *ch = &layout->channel[c];
    size_t at = (size_t)snprintf(text, size, "column%s", ch->shape.d > 1 ? "s" : "");
    for (int k = 0; k < ch->shape.d && at + 48 < size; k++)
        at += (size_t)snprintf(text + at, size - at, "%s '%.32s'", k > 0 ? "," : "",
                               layout->column ? layout->column[ch->column + k] : "");
    snprintf(text + at, size - at, ": ");
}

vhem_status vh_prior_require(vhem_ctx *ctx, const vh_emission *family, const vh_shape *shape)
{
    char where[256] = "";

    if (vh_prior_exists(family, shape))
        return VHEM_OK;
    for (int c = 0; family->prior == VH_PRIOR_CHANNELS; c++) {
        tell_columns(shape->layout, c, where, sizeof where);
        family = shape->layout->channel[c].family->prior == VH_PRIOR_FRAMES ? shape->layout->channel[c].family
                                                                            : family;
    }
    VH_CHECK(
        false, VHEM_EINVAL,
        "%sthere is no variational Bayes for %s emissions: %s; compare numbers of clusters and states by "
        "their BIC and stability (vhem choose)%s",
        where, family->name, family->no_prior, *where ? ", or leave such columns out" : "");
    return VHEM_OK;
}

/* Allocates this prior and its channels. */
static vhem_status make_room(vhem_ctx *ctx, vh_prior *p)
{
    VH_NEW(p->m, vh_prior_means(p));
    VH_NEW(p->B, vh_prior_size(p));
    VH_NEW(p->count, vh_prior_counts(p));
    if (p->family->prior != VH_PRIOR_CHANNELS)
        return VHEM_OK;
    VH_NEW(p->channel, p->shape.layout->n_channel);
    p->n_channel = p->shape.layout->n_channel;
    for (int c = 0; c < p->n_channel; c++) {
        const vh_channel *ch = &p->shape.layout->channel[c];
        VH_TRY(vh_prior_new_shaped(ctx, ch->family, &ch->shape, &p->channel[c]));
    }
    return VHEM_OK;
}

vhem_status vh_prior_new_shaped(vhem_ctx *ctx, const vh_emission *family, const vh_shape *shape,
                                vh_prior **out)
{
    VH_OWN(vh_prior) *p = NULL;

    VH_TRY(vh_prior_require(ctx, family, shape));
    VH_NEW(p, 1);
    *p = (vh_prior){ .family = family, .shape = *shape, .d = shape->d, .alpha = 1, .broad = true };
    vh_layout_keep(shape->layout);
    VH_TRY(make_room(ctx, p));
    *out = vh_take(p);
    return VHEM_OK;
}

vhem_status vh_prior_new(vhem_ctx *ctx, const vh_emission *family, int d, vh_prior **out)
{
    return vh_prior_new_shaped(ctx, family, &(vh_shape){ .d = d }, out);
}

void vh_frames_prior_free(vh_frames_prior *p)
{
    vh_h3m_free(p->model);
    *p = (vh_frames_prior){ 0 };
}

void vh_prior_free(vh_prior *p)
{
    if (!p)
        return;
    for (int c = 0; c < p->n_channel; c++)
        vh_prior_free(p->channel[c]);
    free(p->channel);
    free(p->m);
    free(p->B);
    free(p->variance);
    free(p->within);
    free(p->still);
    free(p->count);
    vh_frames_prior_free(&p->made_up);
    vh_layout_drop(p->shape.layout);
    free(p);
}

vhem_status vh_prior_copy(vhem_ctx *ctx, const vh_prior *p, vh_prior **out)
{
    VH_OWN(vh_prior) *copy = NULL;
    VH_CLEANUP(vh_frames_prior_free) vh_frames_prior made_up = p->made_up;
    int64_t all[] = { 0 };

    if (p->made_up.model) {
        made_up.model = NULL;
        VH_TRY(vh_h3m_subset(ctx, p->made_up.model, all, 1, &made_up.model));
        VH_TRY(vh_prior_from_frames(ctx, &made_up, &copy));
    } else {
        VH_TRY(vh_prior_new_shaped(ctx, p->family, &p->shape, &copy));
    }
    copy->alpha = p->alpha;
    copy->eta = p->eta;
    copy->eps = p->eps;
    copy->kappa = p->kappa;
    copy->lambda = p->lambda;
    copy->nu = p->nu;
    copy->broad = p->broad;
    memcpy(copy->m, p->m, sizeof *p->m * vh_prior_means(p));
    memcpy(copy->B, p->B, sizeof *p->B * vh_prior_size(p));
    if (p->variance) {
        VH_NEW(copy->variance, p->d);
        memcpy(copy->variance, p->variance, sizeof *p->variance * (size_t)p->d);
    }
    if (p->within) {
        VH_NEW(copy->within, p->d);
        memcpy(copy->within, p->within, sizeof *p->within * (size_t)p->d);
    }
    if (p->still) {
        VH_NEW(copy->still, p->d);
        memcpy(copy->still, p->still, sizeof *p->still * (size_t)p->d);
        copy->n_still = p->n_still;
    }
    *out = vh_take(copy);
    return VHEM_OK;
}

/* Sets the prior to the given number of frames of a component; fails if a variance is 0. */
static vhem_status prior_from_component(vhem_ctx *ctx, vh_prior *p, double frames, double *const *par)
{
    double *of[VH_MAX_PARAM];

    if (p->family->counts)
        p->family->counts->begin(&p->shape, frames, (const double *const *)par, p->count);
    for (int c = 0; c < p->n_channel; c++) {
        vh_channel_par(&p->shape.layout->channel[c], par, of);
        VH_TRY(prior_from_component(ctx, p->channel[c], frames, of));
    }
    if (!vh_prior_normal(p->family))
        return VHEM_OK;
    p->lambda = frames;
    p->nu = frames + (vh_prior_full(p->family) ? p->d - 1 : 0);
    memcpy(p->m, par[0], sizeof *p->m * (size_t)p->d);
    for (size_t e = 0; e < vh_prior_size(p); e++)
        p->B[e] = frames * par[1][e];
    for (int k = 0; k < p->d; k++)
        VH_CHECK(p->B[vh_scatter_at(p->family, p->d, k)] > 0, VHEM_EINVAL,
                 "the component of the prior has the variance 0 in dimension %d", k);
    return VHEM_OK;
}

vhem_status vh_prior_from_frames(vhem_ctx *ctx, vh_frames_prior *from, vh_prior **out)
{
    VH_OWN(vh_prior) *p = NULL;
    double *par[VH_MAX_PARAM];

    VH_TRY(vh_prior_new_shaped(ctx, from->model->family, &from->model->shape, &p));
    p->eta = p->eps = p->kappa = from->count;
    p->made_up = *from;
    from->model = NULL;
    vh_hmm_component(p->made_up.model, &p->made_up.model->hmm[0], 0, 0, par);
    VH_TRY(prior_from_component(ctx, p, p->made_up.frames, par));
    *out = vh_take(p);
    return VHEM_OK;
}

/* True if column k has no covariance with other columns. */
static bool alone(const vh_prior *p, int k)
{
    bool yes = true;
    for (int i = 0; vh_prior_full(p->family) && i < p->d; i++)
        yes = yes && (i == k || p->B[vh_ij(i, p->d, k)] == 0);
    return yes;
}

vhem_status vh_prior_set_still(vhem_ctx *ctx, const bool *never_varies, const double *mean, bool given,
                               vh_prior *p)
{
    bool normal = vh_prior_normal(p->family);

    for (int c = 0; c < p->n_channel; c++) {
        int k = p->shape.layout->channel[c].column;
        VH_TRY(vh_prior_set_still(ctx, never_varies + k, mean + k, given, p->channel[c]));
    }
    VH_NEW(p->still, p->d);
    for (int k = 0; k < p->d && p->n_channel == 0; k++) {
        bool same = normal ? p->m[k] == mean[k] && (!p->variance || p->variance[k] == 0) : !given;
        p->still[k] = never_varies[k] && same && (!normal || alone(p, k));
        p->n_still += p->still[k];
    }
    return VHEM_OK;
}

bool vh_prior_invert(const vh_prior *p, double *x)
{
    bool ok = true;
    if (vh_prior_full(p->family))
        return vh_cholesky(p->d, x) && vh_cholesky_inverse(p->d, x);
    for (int k = 0; k < p->d; k++) {
        x[k] = 1 / x[k];
        ok = ok && x[k] > 0 && isfinite(x[k]);
    }
    return ok;
}
