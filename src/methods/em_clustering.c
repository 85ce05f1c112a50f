/* SPDX-License-Identifier: BSD-3-Clause */
/* em_clustering.c - see em_clustering.h. */
#include "methods/em_clustering.h"

#include "methods/state_order.h"
#include "core/alloc.h"
#include "fit/frames.h"
#include "fit/em_h3m.h"
#include "fit/options.h"

#include <math.h>
#include <string.h>

/* EM on sequences is much slower than VHEM, and can collapse onto a few frames. */
enum { RESTARTS = 10 };
#define FLOOR 1e-4

void vh_em_defaults(const vh_input *in, vhem_cluster_options *o)
{
    (void)in;
    o->restarts = o->restarts > 0 ? o->restarts : RESTARTS;
    o->cov_floor = o->cov_floor >= 0 ? o->cov_floor : FLOOR;
    o->soft = o->soft >= 0 ? o->soft : 0;
}

static vhem_status report_runs(vhem_ctx *ctx, vh_mixture_result *x, vh_clustering *out)
{
    VH_NEW(out->run, x->R);
    for (int r = 0; r < x->R && x->run[r].J; r++) {
        vh_em_run *u = &x->run[r];
        out->run[out->n_run++] =
            (vhem_cluster_run){ .seed = u->seed,
                                .init = u->kind,
                                .bound = u->J[u->n_iter],
                                .n_iter = u->n_iter,
                                .converged = u->converged,
                                .finished = u->converged || u->n_iter >= out->options.max_iter,
                                .bounds = r == x->best ? NULL : u->J,
                                .modularity = NAN,
                                .stability = NAN,
                                .agreement = NAN };
        if (r != x->best)
            u->J = NULL; /* ownership moves to out */
    }
    return VHEM_OK;
}

/* Moves the best run to the clustering. */
static vhem_status take_winner(vhem_ctx *ctx, const vhem_data *data, bool given, vh_mixture_result *x,
                               vh_clustering *out)
{
    vh_em_run *w = &x->run[x->best];
    int64_t length = data->start[data->N] / data->N; /* mean sequence length */

    VH_TRY(report_runs(ctx, x, out));
    out->n_iter = w->n_iter;
    out->converged = w->converged;
    out->n_empty = w->n_empty;
    out->n_revived = w->n_revived;
    out->n_fell = w->n_fell;
    out->bound = w->J;
    out->z = x->z;
    out->L_hmm = x->L;
    out->centers = x->h3m;
    w->J = x->z = x->L = NULL;
    x->h3m = NULL;
    if (!given)
        VH_TRY(vh_order_states(ctx, out->centers, length < 1000 ? (int)length : 1000));
    return VHEM_OK;
}

vhem_status vh_cluster_sets(vhem_ctx *ctx, const vhem_data *data, const vh_sets *sets,
                            const vhem_cluster_options *opt, uint64_t seed, vh_clustering *out)
{
    vhem_status st = VHEM_OK;
    VH_CLEANUP(vh_mixture_result_free) vh_mixture_result x = { 0 };
    VH_CLEANUP(vh_frames_free) vh_frames frames = { 0 };
    vhem_fit_options fit;
    bool any = opt->start || strcmp(opt->init, "auto") == 0;

    fit = vh_fit_filled(NULL);
    fit.K = out->Kr;
    fit.S = opt->S;
    fit.M = opt->M;
    fit.max_iter = opt->max_iter;
    fit.restarts = opt->restarts;
    fit.tol = opt->tol;
    fit.cov_floor = opt->cov_floor;
    fit.emission = opt->emission;
    fit.start = opt->start;
    fit.repair = opt->repair;
    VH_TRY(vh_frames_to_fit(ctx, data, opt->emission, vh_fit_start(&fit), NULL, &frames));
    const vh_mixture mixture = { .item = { .data = frames.data, .opt = &fit },
                                 .sets = sets,
                                 .kind = any ? NULL : opt->init,
                                 .relative = true,
                                 .seed = seed,
                                 .what = "cluster" };
    st = vh_mixture_fit(ctx, &mixture, &x);
    if (st != VHEM_OK && st != VHEM_ESTOPPED)
        return st;
    if (!x.h3m) /* stopped before the first result */
        return st;
    vhem_status handed = take_winner(ctx, data, opt->start != NULL, &x, out);
    if (handed == VHEM_OK)
        handed = vh_frames_name(ctx, data, out->centers);
    st = handed == VHEM_OK ? st : handed;
    if (st == VHEM_ESTOPPED)
        vh_fail(ctx, st, "stopped; the best of %d restarts is kept", out->n_run);
    return st;
}
