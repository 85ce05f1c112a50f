/* SPDX-License-Identifier: BSD-3-Clause */
/* sequence_graphs.c - see sequence_graphs.h.
 *
 *   1. the table
 *   2. distances by cross-likelihood
 *   3. distances by time warping
 *
 * Distance of items i and j by their models, in nats per frame: what each loses when the model of the other
 * takes the place of its own,
 *
 *   D_ij = ((L_ii - L_ij) / T_i + (L_jj - L_ji) / T_j) / 2,   L_ij = log p(item i | model of j)
 *
 * Only its order is used, by ranks, so that unusual items are not the neighbours of all others. */
#include "search/sequence_graphs.h"

#include "distance/dtw.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "emission/layout.h"
#include "core/rng.h"
#include "fit/angle_units.h"
#include "fit/fit.h"
#include "fit/fit_prior.h"
#include "fit/infer.h"
#include "fit/options.h"
#include "fit/sets.h"
#include "prior/prior.h"
#include "vhem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    NEAREST = 24,      /* neighbours kept of each item: a graph of a part of the items uses the next ones */
    RESTARTS = 1,      /* of a fit that only chooses */
    PRIOR_ITEMS = 100, /* from which the prior of the fits is learned */
    LEAST_FRAMES = 50, /* for time warping, however many the columns */
};
#define ROUGHLY    1e-3    /* nats per frame: where a fit ends that only chooses */
#define WARPING    4e9     /* cells and columns of time warping: some seconds */
#define IMPOSSIBLE (-1e12) /* log-likelihoods count as at least this: no distance is infinite */

/* ---- 1. the table -------------------------------------------------------------------------------------- */

static const vh_graph_kind table[] = {
    { VH_AS_THEY_ARE, "free", 3 },         { VH_AS_THEY_ARE, "linear", 5 },
    { VH_AS_THEY_ARE, "linear", 8 },       { VH_WITH_DIFFERENCES, "linear", 8 },
    { VH_EACH_STANDARDISED, "linear", 8 }, { VH_AS_THEY_ARE, NULL, 0 },
};
enum { N_KINDS = sizeof table / sizeof table[0] };

/* Differences and deviations need numbers on a line, of which each sequence has several. */
static bool has_views(const vh_graph_source *from)
{
    const vh_emission *family = vh_emission_find(from->emission);
    for (int64_t n = 0; n < from->data->N; n++)
        if (vh_data_length(from->data, n) < 2)
            return false;
    return family && vh_prior_normal(family) && !from->data->layout;
}

/* True if most items are too short to pass through S states. */
static bool is_too_short(const vh_graph_source *from, int S)
{
    int64_t n = 0;
    for (int64_t i = 0; i < from->data->N; i++)
        n += vh_data_length(from->data, i) < S;
    return 2 * n > from->data->N;
}

/* Why a kind of graph cannot serve these items; NULL if it can, "" if the user has excluded it. */
static const char *why_not(const vh_graph_source *from, const vh_graph_kind *kind)
{
    bool restricted = from->S > 0 || from->M > 0 || from->topology;
    bool free = kind->topology && strcmp(kind->topology, "free") == 0;

    if (!kind->topology)
        return restricted                                        ? ""
               : from->by_group                                  ? "it compares two sequences, not two groups"
               : from->data->layout && from->data->layout->V > 0 ? "symbols have no differences"
                                                                 : NULL;
    if (from->topology && (strcmp(from->topology, "free") == 0) != free)
        return "";
    if (!free && !from->topology && from->S <= 0 && is_too_short(from, kind->S))
        return "most sequences have fewer frames than that";
    if (kind->view == VH_AS_THEY_ARE)
        return NULL;
    if (!has_views(from))
        return "it needs columns of numbers, and sequences of two frames or more";
    bool same = kind->view == VH_EACH_STANDARDISED && vh_view_is_same(from->data);
    return same ? "the sequences are standardised already" : NULL;
}

/* True if the kind is among n others, as some are after the user has restricted them. */
static bool is_among(const vh_graph_kind *kind, const vh_graph_kind *all, int n)
{
    for (int j = 0; j < n && kind->topology; j++)
        if (all[j].view == kind->view && all[j].S == kind->S && strcmp(all[j].topology, kind->topology) == 0)
            return true;
    return false;
}

int vh_graph_kinds(vhem_ctx *ctx, const vh_graph_source *from, vh_graph_kind kind[VH_MOST_GRAPHS])
{
    char name[80];
    int n = 0;
    for (int k = 0; k < N_KINDS; k++) {
        vh_graph_kind one = table[k];
        const char *why = why_not(from, &one);
        if (why && *why)
            vh_log(ctx, VHEM_LOG_INFO, "%s: left out: %s", vh_graph_name(&one, name, sizeof name), why);
        if (one.topology && from->S > 0)
            one.S = from->S;
        if (one.topology && from->topology)
            one.topology = from->topology; /* "left-right" takes the place of "linear" */
        if (!why && !is_among(&one, kind, n))
            kind[n++] = one;
    }
    return n;
}

const char *vh_graph_name(const vh_graph_kind *kind, char *text, size_t size)
{
    const char *view = vh_view_name(kind->view);
    if (kind->topology)
        snprintf(text, size, "%s models of %d state%s%s%s", kind->topology, kind->S, kind->S == 1 ? "" : "s",
                 *view ? ", " : "", view);
    else
        snprintf(text, size, "elastic distance");
    return text;
}

/* ---- 2. distances by cross-likelihood ------------------------------------------------------------------ */

vhem_fit_options vh_graph_fit(const vh_graph_source *from, const vh_graph_kind *kind)
{
    vhem_fit_options o;
    VHEM_INIT(VHEM_FIT_OPTIONS, &o);
    o.S = kind->S;
    o.M = from->M > 0 ? from->M : 1;
    o.emission = from->emission;
    o.topology = kind->topology;
    o.init = strcmp(kind->topology, "free") == 0 ? "kmeans" : "segment";
    o.by_group = from->by_group;
    o.restarts = RESTARTS;
    o.tol = ROUGHLY;
    return o;
}

/* D [n][n] in place of the log-likelihoods L [n][n]. */
static void compare(const vh_graph_source *from, const double *L, double *D)
{
    int64_t n = from->sets->n;
    for (int64_t i = 0; i < n; i++) {
        double frames = (double)vh_sets_frames(from->sets, from->data, i, NULL);
        double own = fmax(L[vh_ij(i, n, i)], IMPOSSIBLE);
        for (int64_t j = 0; j < n; j++) {
            double lost = (own - fmax(L[vh_ij(i, n, j)], IMPOSSIBLE)) / (2 * frames);
            D[vh_ij(i, n, j)] += lost;
            if (i != j)
                D[vh_ij(j, n, i)] += lost;
        }
    }
}

/* The prior of the fits, from some of the items: learning it from all of them takes longer than the fits. */
static vhem_status learn_prior(vhem_ctx *ctx, const vhem_data *data, const vh_graph_source *from,
                               const vhem_fit_options *opt, char **out)
{
    VH_OWN(vhem_data) *some = NULL;
    VH_AUTOFREE int64_t *pick = NULL;
    int n = from->sets->n < PRIOR_ITEMS ? (int)from->sets->n : PRIOR_ITEMS;
    vh_rng rng;

    VH_NEW(pick, n);
    vh_rng_init(&rng, (uint64_t)ctx->opt.seed, VH_RNG_SPLIT, 0);
    vh_rng_spread(&rng, from->sets->n, n, pick);
    VH_TRY(vh_sets_data(ctx, data, from->sets, pick, n, &some));
    return vh_fit_prior_text(ctx, some, opt, out);
}

static vhem_status by_models(vhem_ctx *ctx, const vh_graph_source *from, const vh_graph_kind *kind, double *D)
{
    VH_OWN(vhem_data) *seen = NULL;
    VH_OWN(vh_h3m) *models = NULL;
    VH_AUTOFREE char *prior = NULL;
    VH_AUTOFREE double *loglik = NULL, *total = NULL;
    const vhem_data *data = from->data;
    int64_t n = from->sets->n;
    vhem_fit_options o = vh_graph_fit(from, kind);

    if (kind->view != VH_AS_THEY_ARE) {
        VH_TRY(vh_view_make(ctx, kind->view, data, &seen));
        data = seen;
    }
    VH_TRY(learn_prior(ctx, data, from, &o, &prior));
    o.prior = prior;
    VH_TRY(vh_fit_each(ctx, data, &o, &models, NULL));
    VH_NEW(loglik, vh_cells(data->N, n));
    VH_TRY(vh_score(ctx, models, data, NULL, loglik));
    if (data->N != n) {
        VH_NEW(total, vh_cells(n, n));
        vh_sets_sum(from->sets, n, loglik, total);
    }
    compare(from, total ? total : loglik, D);
    return VHEM_OK;
}

/* ---- 3. distances by time warping ---------------------------------------------------------------------- */

/* Frames of a sequence, on average, such that the table costs about WARPING cells and columns. */
static int frames_to_warp(const vh_graph_source *from)
{
    double pairs = 0.5 * (double)from->sets->n * (double)from->sets->n;
    double frames = sqrt(WARPING / (pairs * VH_DTW_WINDOW * 2 * from->data->d));
    return frames < LEAST_FRAMES ? LEAST_FRAMES : frames < VH_DTW_FRAMES ? (int)frames : VH_DTW_FRAMES;
}

static vhem_status by_warping(vhem_ctx *ctx, const vh_graph_source *from, double *D)
{
    const vh_emission *family = vh_emission_find(from->emission);
    VH_AUTOFREE bool *circular = NULL;

    VH_NEW(circular, from->data->d);
    for (int k = 0; k < from->data->d; k++)
        circular[k] = vh_is_angle(family, from->data->layout, k);
    return vh_dtw(ctx, from->data, VH_DTW_WINDOW, frames_to_warp(from), circular, D);
}

vhem_status vh_graph_neighbours(vhem_ctx *ctx, const vh_graph_source *from, const vh_graph_kind *kind,
                                vh_near *out)
{
    VH_AUTOFREE double *D = NULL;
    int n = (int)from->sets->n;
    vhem_ctx quiet; /* each graph would repeat the warnings of the others */

    VH_NEW(D, vh_cells(n, n));
    vh_ctx_child(ctx, ctx->threads, &quiet);
    vhem_status st = kind->topology ? by_models(&quiet, from, kind, D) : by_warping(&quiet, from, D);
    VH_CHECK(st == VHEM_OK, st, "%s", quiet.error);
    return vh_near_mutual(ctx, n, D, NEAREST, out);
}
