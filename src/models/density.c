/* SPDX-License-Identifier: BSD-3-Clause */
/* density.c - per-column emission densities of HMM states and the range of their draws, for plots.
 *
 * Families provide only draws and densities.  The density of one column is that of a frame in which all other
 * columns are missing. */
#include "core/alloc.h"
#include "core/array2.h"
#include "emission/layout.h"
#include "models/models.h"
#include "vhem/analysis.h"

#include <string.h>

/* ---- densities ----------------------------------------------------------------------------------------- */

typedef struct { /* a column of frames */
    const vh_emission *family;
    vh_shape shape;            /* of its channel or of the model */
    const vh_channel *channel; /* of a product; else NULL */
    int at;                    /* its index among the columns of that */
} frame_column;

static frame_column find_column(const vh_h3m *h3m, int k)
{
    if (!vh_param_is_channels(&h3m->family->param[0]))
        return (frame_column){ h3m->family, h3m->shape, NULL, k };
    const vh_channel *c = vh_layout_channel(h3m->shape.layout, k);
    return (frame_column){ c->family, c->shape, c, k - c->column };
}

/* Adds the density of state s to p [n]; work: frames [n][d], [n] log-densities, scratch of the family. */
static void add_state(const vh_h3m *h3m, const vh_hmm *h, int s, const frame_column *c, int64_t n,
                      double *work, double *p)
{
    double *one = work + vh_cells(n, c->shape.d);
    const vh_emission *gaps = vh_emission_with_gaps(c->family, &c->shape);
    const vh_emission *by = gaps ? gaps : c->family;
    for (int m = 0; m < h->M; m++) {
        double *all[VH_MAX_PARAM], *own[VH_MAX_PARAM], weight = vh_hmm_c(h)[vh_ij(s, h->M, m)];
        vh_hmm_component(h3m, h, s, m, all);
        if (c->channel)
            vh_channel_par(c->channel, all, own);
        if (!by->log_density(&c->shape, (const double *const *)(c->channel ? own : all), work, n, one,
                             one + n))
            continue;
        for (int64_t t = 0; t < n; t++)
            p[t] += weight * exp(one[t]);
    }
}

vhem_status vhem_models_density(vhem_ctx *ctx, const vhem_models *models, int64_t i, int k, int64_t n,
                                const double *value, double *p)
{
    VH_ENTER(models, value, p);
    VH_AUTOFREE double *work = NULL;

    VH_TRY(vh_models_gather(ctx, models));
    const vh_h3m *h3m = models->h3m;
    VH_CHECK(h3m, VHEM_EINVAL, "the models are dynamic textures, must be HMMs");
    VH_CHECK(i >= 0 && i < h3m->K, VHEM_EINVAL, "HMM %lld was asked for, but there are %lld", (long long)i,
             (long long)h3m->K);
    VH_CHECK(k >= 0 && k < h3m->d, VHEM_EINVAL, "column %d was asked for, but there are %d", k, h3m->d);
    VH_CHECK(n >= 0, VHEM_EINVAL, "%lld values, must be 0 or more", (long long)n);
    const vh_hmm *h = &h3m->hmm[i];
    const frame_column c = find_column(h3m, k);
    VH_NEW(work, vh_cells(n, c.shape.d + 1) + vh_emission_room(h3m->family, &h3m->shape));
    for (int64_t t = 0; t < n; t++)
        for (int e = 0; e < c.shape.d; e++)
            work[vh_ij(t, c.shape.d, e)] = e == c.at ? value[t] : NAN;
    memset(p, 0, sizeof *p * vh_cells(h->S, n));
    for (int s = 0; s < h->S; s++)
        add_state(h3m, h, s, &c, n, work, p + vh_row(s, n));
    return VHEM_OK;
}

/* ---- range of draws
 * ------------------------------------------------------------------------------------- */

#define FAINT_WEIGHT 0.02 /* components with less weight are ignored */

enum { DRAWS = 64 }; /* per component */

typedef struct {         /* the caller's lo, hi and scratch */
    double *lo, *hi, *y; /* [d] */
    double *end;         /* [d][4]  two smallest and two largest draws per column */
    double *root, *work;
    vh_rng rng;
} reach;

static void free_reach(reach *x)
{
    free(x->y);
    free(x->end);
    free(x->root);
    free(x->work);
}

/* Updates the two smallest and two largest values. */
static void put_end(double *end, double v)
{
    if (v < end[0]) {
        end[1] = end[0];
        end[0] = v;
    } else if (v < end[1]) {
        end[1] = v;
    }
    if (v > end[3]) {
        end[2] = end[3];
        end[3] = v;
    } else if (v > end[2]) {
        end[2] = v;
    }
}

/* Widens lo, hi to the draws of a component, without the outermost ones. */
static void add_density(const vh_h3m *h3m, double *const *par, reach *x)
{
    const double *const *of = (const double *const *)par;
    if (!h3m->family->root(&h3m->shape, of, x->root, x->work))
        return;
    for (int k = 0; k < h3m->d; k++) {
        x->end[4 * k] = x->end[4 * k + 1] = INFINITY;
        x->end[4 * k + 2] = x->end[4 * k + 3] = -INFINITY;
    }
    for (int t = 0; t < DRAWS; t++) {
        h3m->family->draw(&x->rng, &h3m->shape, of, x->root, x->y);
        for (int k = 0; k < h3m->d; k++)
            put_end(x->end + 4 * k, x->y[k]);
    }
    for (int k = 0; k < h3m->d; k++) {
        x->lo[k] = fmin(x->lo[k], x->end[4 * k + 1]);
        x->hi[k] = fmax(x->hi[k], x->end[4 * k + 2]);
    }
}

static void add_set(const vh_h3m *h3m, reach *x)
{
    for (int64_t i = 0; i < h3m->K; i++) {
        const vh_hmm *h = &h3m->hmm[i];
        for (int q = 0; q < h->S * h->M; q++) {
            double *par[VH_MAX_PARAM];
            vh_hmm_component(h3m, h, q / h->M, q % h->M, par);
            if (vh_hmm_c(h)[q] >= FAINT_WEIGHT)
                add_density(h3m, par, x);
        }
    }
}

vhem_status vhem_models_reach(vhem_ctx *ctx, int n, const vhem_models *const *sets, double *lo, double *hi)
{
    VH_ENTER(sets, lo, hi);
    VH_CLEANUP(free_reach) reach x = { .lo = lo, .hi = hi };
    const vh_h3m *first = NULL;

    for (int s = 0; s < n; s++) {
        VH_CHECK(sets[s] && sets[s]->kind == VHEM_HMMS, VHEM_EINVAL, "set %d holds no HMMs", s);
        VH_TRY(vh_models_gather(ctx, sets[s]));
        first = sets[0]->h3m;
        VH_CHECK(strcmp(sets[s]->h3m->family->name, first->family->name) == 0 && sets[s]->h3m->d == first->d,
                 VHEM_EINVAL, "set %d has other emissions than set 0", s);
    }
    VH_CHECK(first, VHEM_EINVAL, "%d sets of HMMs, must be 1 or more", n);
    VH_NEW(x.y, first->d);
    VH_NEW(x.end, 4 * (size_t)first->d);
    VH_NEW(x.root, vh_param_size(first->family, first->family->n_param - 1, &first->shape));
    VH_NEW(x.work, vh_emission_room(first->family, &first->shape));
    vh_rng_init(&x.rng, 0, VH_RNG_SAMPLE, 0);
    for (int k = 0; k < first->d; k++) {
        lo[k] = INFINITY;
        hi[k] = -INFINITY;
    }
    for (int s = 0; s < n; s++)
        add_set(sets[s]->h3m, &x);
    return VHEM_OK;
}
