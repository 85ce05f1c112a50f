/* SPDX-License-Identifier: BSD-3-Clause */
/* family_models.h - random models of any family. */
#ifndef VH_TESTS_FAMILY_MODELS_H
#define VH_TESTS_FAMILY_MODELS_H

#include "support.h"

#include "hmm/hmm_set.h"
#include "emission/layout.h"

static inline void random_row(vh_rng *rng, int n, double *row)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += row[i] = vh_rng_exponential(rng) + 0.05;
    for (int i = 0; i < n; i++)
        row[i] /= sum;
}

/* Parameters of any family that make a proper component: diagonal, positive, and below 1 where they must
 * be. */
static inline void random_component(vh_rng *rng, const vh_emission *family, const vh_shape *shape,
                                    double *const *par)
{
    for (int p = 0; p < family->n_param; p++) {
        const char *name = family->param[p].name;
        size_t n = vh_param_size(family, p, shape);
        bool square = family->param[p].rank == 2;
        for (int c = 0; vh_param_is_channels(&family->param[p]) && c < shape->layout->n_channel; c++) {
            double *of[VH_MAX_PARAM];
            vh_channel_par(&shape->layout->channel[c], par, of);
            random_component(rng, shape->layout->channel[c].family, &shape->layout->channel[c].shape, of);
        }
        if (family->param[p].dim[0] == VH_PER_SYMBOL || family->param[p].dim[0] == VH_PER_GAUSSIAN)
            random_row(rng, (int)n, par[p]);
        for (size_t k = 0; k < n && family->param[p].dim[0] == VH_PER_COLUMN; k++) {
            double u = vh_rng_uniform(rng);
            par[p][k] = strcmp(name, "mu") == 0 || strcmp(name, "mean") == 0 ? 3 * (2 * u - 1)
                        : strcmp(name, "p") == 0                             ? 0.05 + 0.9 * u
                        : strcmp(name, "zero") == 0                          ? 0.3 * u
                                                                             : 0.3 + 4 * u;
            if (square && k / (size_t)shape->d != k % (size_t)shape->d)
                par[p][k] = 0;
        }
    }
}

/* Two columns, and Gaussians that all HMMs share. */
static inline vh_layout *make_background(vhem_ctx *ctx, const vh_emission *family)
{
    static const double mu[] = { 0, 0, 6, 1, -5, 3, 1, 7, 0, 2 }, cov[] = { 1, 2, 1, 1, 0.5, 2, 2, 1, 1, 1 };
    vh_layout *layout = NULL;
    assert_ok(ctx, vh_layout_new(ctx, 1, &layout));
    layout->family = layout->channel[0].family = family;
    layout->channel[0].shape.d = 2;
    assert_ok(ctx, vh_layout_background(ctx, layout, 5, mu, cov));
    vh_layout_close(layout);
    return layout;
}

/* One column of symbols; or of these, a Gaussian and a count the product. */
static inline vh_layout *make_layout(vhem_ctx *ctx, const vh_emission *family)
{
    static const char *const of[] = { "categorical", "gaussian-full", "poisson" },
                             *const symbol[] = { "a", "b", "c", "d" }, *const column[] = { "s", "x", "n" };
    vh_layout *layout = NULL;
    int n = vh_param_is_channels(&family->param[0]) ? 3 : 1;
    if (family->tied)
        return make_background(ctx, family);
    assert_ok(ctx, vh_layout_new(ctx, n, &layout));
    layout->family = family;
    for (int c = 0; c < n; c++) {
        layout->channel[c].family = vh_emission_find(of[c]);
        layout->channel[c].shape.d = 1;
    }
    assert_ok(ctx, vh_layout_symbols(ctx, layout, 0, symbol, 4));
    assert_ok(ctx, vh_layout_columns(ctx, layout, column));
    vh_layout_close(layout);
    return layout;
}

static inline vh_h3m *random_models(vhem_ctx *ctx, vh_rng *rng, const char *name, int K, int S, int M)
{
    vh_h3m *h3m = NULL;
    const vh_emission *family = vh_emission_find(name);
    vh_layout *layout = vh_emission_needs_layout(family) ? make_layout(ctx, family) : NULL;
    M = family->single ? 1 : M;
    assert_ok(ctx, vh_h3m_new(ctx, family, layout ? vh_layout_shape(layout) : (vh_shape){ .d = 2 }, K, &h3m));
    vh_layout_drop(layout); /* the models have it */
    for (int i = 0; i < K; i++) {
        assert_ok(ctx, vh_h3m_shape(ctx, h3m, i, S, M));
        vh_hmm *h = &h3m->hmm[i];
        random_row(rng, S, h->pi);
        for (int s = 0; s < S; s++) {
            random_row(rng, S, h->A + s * S);
            random_row(rng, M, vh_hmm_c(h) + s * M);
        }
        for (int q = 0; q < S * M; q++) {
            double *par[VH_MAX_PARAM];
            vh_hmm_component(h3m, h, q / M, q % M, par);
            random_component(rng, h3m->family, &h3m->shape, par);
        }
    }
    assert_ok(ctx, vh_h3m_validate(ctx, h3m));
    return h3m;
}

/* A component that gives the frame y: with certainty, or, counts, in the mean. */
static inline void component_at(const vh_emission *family, const vh_shape *shape, const double *y,
                                double *const *par)
{
    if (family->param[0].dim[0] == VH_PER_SYMBOL)
        par[0][(int)y[0]] = 1;
    for (int k = 0; family->param[0].dim[0] == VH_PER_COLUMN && k < shape->d; k++)
        par[0][k] = y[k];
    for (int c = 0; family->param[0].dim[0] == VH_PER_CHANNEL && c < shape->layout->n_channel; c++) {
        const vh_channel *ch = &shape->layout->channel[c];
        double *of[VH_MAX_PARAM];
        vh_channel_par(ch, par, of);
        component_at(ch->family, &ch->shape, y + ch->column, of);
    }
}

/* A sequence as an HMM without spread: a state for each frame. */
static inline void spreadless(const double *y, int T, vh_h3m *h3m, vh_hmm *h)
{
    h->pi[0] = 1;
    for (int t = 0; t < T; t++) {
        double *par[VH_MAX_PARAM];
        vh_hmm_component(h3m, h, t, 0, par);
        component_at(h3m->family, &h3m->shape, y + t * h3m->d, par);
        vh_hmm_c(h)[t] = 1;
        h->A[t * T + (t + 1 < T ? t + 1 : t)] = 1;
    }
}

#endif
