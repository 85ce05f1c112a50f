/* SPDX-License-Identifier: BSD-3-Clause */
/* vb_prior.c - see vb_prior.h. */
#include "methods/vb_prior.h"

#include "core/settings.h"
#include "emission/layout.h"
#include "files/prior_json.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    vh_prior *p;
    double scale;  /* factor of the prior's covariances, default prior: 1 */
    double frames; /* of priors of other families */
} choice;

static vhem_status read_setting(vhem_ctx *ctx, void *arg, const char *key, const char *value)
{
    choice *c = arg;
    bool normal = vh_prior_normal(c->p->family);
    const struct {
        const char *name;
        double *to;
        bool known;
    } number[] = { { "alpha", &c->p->alpha, true },     { "eta", &c->p->eta, true },
                   { "eps", &c->p->eps, true },         { "kappa", &c->p->kappa, true },
                   { "nu", &c->p->nu, normal },         { "scale", &c->scale, normal },
                   { "lambda", &c->p->lambda, normal }, { "frames", &c->frames, !normal } };
    for (size_t k = 0; k < sizeof number / sizeof *number; k++)
        if (number[k].known && strcmp(key, number[k].name) == 0)
            return vh_setting_positive(ctx, "prior", key, value, number[k].to);
    return vh_fail(ctx, VHEM_EINVAL,
                   "prior: there is no setting '%.80s' for %s models; known are alpha, eta, eps, kappa, %s",
                   key, c->p->family->name, normal ? "lambda, nu, scale" : "frames");
}

/* Replaces some numbers of the default prior *at; its covariances keep their mean. */
static vhem_status apply(vhem_ctx *ctx, const char *spec, vh_prior **at)
{
    vh_prior *p = *at, *other = NULL;
    choice c = { p, 1, p->made_up.frames };
    double before = p->nu, least = vh_prior_full(p->family) ? p->d - 1 : 0;

    VH_TRY(vh_settings_read(ctx, "prior", vh_prior_normal(p->family) ? "nu=5" : "frames=2", spec,
                            read_setting, &c));
    if (!vh_prior_normal(p->family)) {
        p->made_up.frames = c.frames;
        VH_TRY(vh_prior_copy(ctx, p, &other)); /* recomputes the prior from the new number */
        vh_prior_free(p);
        *at = other;
        return VHEM_OK;
    }
    VH_CHECK(p->nu > least, VHEM_EINVAL, "prior: nu is %g, must be more than %g", p->nu, least);
    for (size_t e = 0; e < vh_prior_size(p); e++)
        p->B[e] *= c.scale * p->nu / before;
    return VHEM_OK;
}

vhem_status vh_vb_prior(vhem_ctx *ctx, const vh_base *base, const char *spec, vh_prior **out)
{
    vhem_status st = VHEM_OK;
    const vh_h3m *h3m = base->h3m;
    VH_OWN(vh_prior) *p = NULL;
    VH_AUTOFREE char *text = NULL;
    char why[160];
    bool settings = spec && *spec != '{' && strchr(spec, '=');

    if (!spec || settings) {
        VH_TRY(vh_vb_default_prior(ctx, base, &p));
        if (settings)
            VH_TRY(apply(ctx, spec, &p));
    } else {
        if (*spec != '{')
            VH_TRY(vh_prior_load(ctx, spec, &text));
        st = vh_prior_read_for(ctx, text ? text : spec, "the models", h3m->d, h3m->family->name, &p);
        if (st == VHEM_OK && *vh_layout_differs(&p->shape, &h3m->shape, why, sizeof why))
            st = vh_fail(ctx, VHEM_EINVAL, "the prior is for other models: %s", why);
        if (st != VHEM_OK && text)
            vh_error_prefix(ctx, spec);
        VH_TRY(st);
    }
    *out = vh_take(p);
    return st;
}
