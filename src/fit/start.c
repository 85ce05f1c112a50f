/* SPDX-License-Identifier: BSD-3-Clause */
/* start.c - starts for Baum-Welch.  Each gives every frame a state; the model follows from these labels.
 *
 *   kmeans    k-means++ on the frames: states are places
 *   segment   each sequence cut into S pieces: states are times; first restart equal pieces, then random ones
 *   random    random frames as means, random chains
 *
 *   1. frames of an item      2. from labels to a model      3. the starts      4. all starts of an item */
#include "fit/start.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "parallel/map.h"
#include "fit/options.h"
#include "math/kmeans.h"
#include "math/logsum.h"
#include "math/order.h"

#include <math.h>
#include <string.h>

enum { START_FRAMES = 200000, KMEANS_FRAMES = 20000, KMEANS_ITER = 20 };

/* ---- 1. frames of an item ------------------------------------------------------------------------------ */

vhem_status vh_start_thin(vhem_ctx *ctx, vh_fit_item *item, int64_t **seq)
{
    int64_t step = (item->frames + START_FRAMES - 1) / START_FRAMES, n = 0;

    *seq = NULL;
    if (step <= 1 || item->n <= 1)
        return VHEM_OK;
    VH_NEW(*seq, (item->n + step - 1) / step);
    item->frames = 0;
    for (int64_t i = 0; i < item->n; i += step) {
        (*seq)[n++] = item->seq[i];
        item->frames += vh_data_length(item->data, item->seq[i]);
    }
    item->seq = *seq;
    item->n = n;
    return VHEM_OK;
}

/* Computes all frames of an item in its coordinates: X [frames][d]. */
static vhem_status frames_of(vhem_ctx *ctx, const vh_fit_item *item, double **out)
{
    int d = item->data->d;
    double *X = NULL, *x;

    VH_NEW(X, vh_cells(item->frames, d));
    x = X;
    for (int64_t i = 0; i < item->n; i++) {
        const double *y = vh_data_frames(item->data, item->seq[i]);
        for (int64_t t = 0; t < vh_data_length(item->data, item->seq[i]); t++, y += d, x += d)
            for (int k = 0; k < d; k++)
                x[k] = (y[k] - item->origin[k]) / item->scale[k];
    }
    *out = X;
    return VHEM_OK;
}

typedef struct { /* the frames of an item and their labels */
    const vh_fit_item *item;
    const vh_h3m *h3m; /* its family is that of the frames */
    const double *X;   /* [frames][d] */
    double *own;       /* the same, if not shared by the item */
    int *label;        /* [frames]  a state, or state * M + component */
} labelled;

/* Sets all labels to zero. */
static vhem_status labelled_new(vhem_ctx *ctx, const vh_fit_item *item, const vh_h3m *h3m, labelled *x)
{
    *x = (labelled){ .item = item, .h3m = h3m, .X = item->X };
    if (!x->X)
        VH_TRY(frames_of(ctx, item, &x->own));
    x->X = x->X ? x->X : x->own;
    VH_NEW(x->label, item->frames);
    return VHEM_OK;
}

static void labelled_free(labelled *x)
{
    free(x->own);
    free(x->label);
}

static bool has_gaps(int64_t n, const double *X)
{
    for (int64_t e = 0; e < n; e++)
        if (isnan(X[e]))
            return true;
    return false;
}

/* Runs k-means on at most KMEANS_FRAMES evenly spaced points of X [n][d], then assigns all points to the
 * nearest centre.  Coordinates may be missing. */
static vhem_status kmeans_points(vhem_ctx *ctx, vh_rng *rng, int64_t n, int d, const double *X, int k,
                                 int *label)
{
    int64_t step = (n + KMEANS_FRAMES - 1) / KMEANS_FRAMES;
    int m = (int)((n + step - 1) / step);
    bool gaps = has_gaps(n * d, X);
    vh_points points = { m, d, X, NULL };
    VH_AUTOFREE double *some = NULL, *centre = NULL;

    VH_NEW(centre, vh_cells(k, d));
    if (step > 1) {
        VH_NEW(some, vh_cells(m, d));
        for (int i = 0; i < m; i++)
            memcpy(some + vh_row(i, d), X + vh_row(i, step) * (size_t)d, sizeof *some * (size_t)d);
        points.X = some;
    }
    if (gaps)
        VH_TRY(vh_kmeans_gaps(ctx, rng, &points, k, KMEANS_ITER, centre, label));
    else
        VH_TRY(vh_kmeans(ctx, rng, &points, k, KMEANS_ITER, &(vh_kmeans_result){ centre, label, 0, false }));
    for (int64_t i = 0; step > 1 && i < n; i += KMEANS_FRAMES) {
        int here = n - i < KMEANS_FRAMES ? (int)(n - i) : KMEANS_FRAMES;
        VH_CHECK(!vh_overdue(ctx), VHEM_ESTOPPED, "stopped");
        if (gaps)
            vh_nearest_gaps(here, d, X + vh_row(i, d), k, centre, label + i);
        else
            VH_TRY(vh_nearest(ctx, here, d, X + vh_row(i, d), k, centre, label + i));
    }
    return VHEM_OK;
}

/* The same for n frames X [n][d] of a family, by their features. */
static vhem_status kmeans_labels(vhem_ctx *ctx, vh_rng *rng, const vh_h3m *h3m, int64_t n, const double *X,
                                 int k, int *label)
{
    int m = vh_features(h3m->family, &h3m->shape);
    VH_AUTOFREE double *features = NULL;

    if (h3m->family->features) {
        VH_NEW(features, vh_cells(n, m));
        h3m->family->features(&h3m->shape, X, n, features);
        if (h3m->family->uneven)
            vh_even_out(n, m, features);
    }
    return kmeans_points(ctx, rng, n, m, features ? features : X, k, label);
}

/* ---- 2. from labels to a model ------------------------------------------------------------------------- */

/* sum [n_stat] += the statistics of the frames with label q, of all frames if q < 0; returns their number.
 * stat [n_stat] is scratch. */
static int64_t add_frames(const labelled *x, const vh_coords *about, int q, double *sum, double *stat)
{
    const vh_emission *family = x->h3m->family;
    int d = about->shape.d, n_stat = family->n_stat(&about->shape);
    int64_t count = 0;
    for (int64_t i = 0; i < x->item->frames; i++)
        if (q < 0 || x->label[i] == q) {
            family->stats_of_obs(about, x->X + i * d, 1, stat);
            for (int e = 0; e < n_stat; e++)
                sum[e] += stat[e];
            count++;
        }
    return count;
}

/* Adds one pseudo-frame, so that a handful of frames do not give certainty: for families with a location, at
 * their centre with the spread of all the data; else the average frame of the item.  work [n_stat +
 * vh_emission_work]. */
static void add_made_up(const labelled *x, const vh_coords *about, double *sum, double *stat, double *work)
{
    const vh_emission *family = x->h3m->family;
    int n_stat = family->n_stat(&about->shape);
    if (family->location && family->location->add_frame) {
        family->location->add_frame(&about->shape, sum, stat, work);
        return;
    }
    memset(work, 0, sizeof *work * (size_t)n_stat);
    add_frames(x, about, -1, work, stat);
    for (int e = 0; e < n_stat; e++)
        sum[e] += work[e] / (double)x->item->frames;
}

/* centre [d] := the mean of the frames with label q; 0 for columns missing in them all, or without a
 * location. */
static void centre_of(const labelled *x, int q, double *centre)
{
    int d = x->h3m->d;
    for (int k = 0; k < d; k++) {
        if (!vh_located(x->h3m->family, &x->h3m->shape, k))
            continue;
        double sum = 0;
        int64_t seen = 0;
        for (int64_t i = 0; i < x->item->frames; i++)
            if (x->label[i] == q && !isnan(x->X[i * d + k])) {
                sum += x->X[i * d + k];
                seen++;
            }
        centre[k] = seen > 0 ? sum / (double)seen : 0;
    }
}

/* Fits component (s, m) to the frames with its label and one pseudo-frame; weight is the number of frames. */
static vhem_status component(vhem_ctx *ctx, const labelled *x, int q, vh_h3m *h3m, vh_hmm *h, double *weight)
{
    const vh_fit_item *item = x->item;
    int d = h3m->d, n_stat = h3m->family->n_stat(&h3m->shape);
    VH_AUTOFREE double *sum = NULL;
    double *stat, *centre, *one, *work, *par[VH_MAX_PARAM];

    VH_NEW(sum, 3 * (size_t)n_stat + 2 * (size_t)d + vh_emission_room(h3m->family, &h3m->shape));
    stat = sum + n_stat;
    centre = stat + n_stat;
    one = centre + d;
    work = one + d; /* [n_stat + vh_emission_work] */
    for (int k = 0; k < d; k++)
        one[k] = 1;
    centre_of(x, q, centre);

    /* statistics about the centre of these frames: tight groups far from the origin keep their digits */
    vh_coords about = { .shape = h3m->shape, .origin = centre, .scale = one };
    *weight = add_frames(x, &about, q, sum, stat);
    add_made_up(x, &about, sum, stat, work);
    for (int e = n_stat - 1; e >= 0; e--)
        sum[e] /= sum[0];
    for (int k = 0; k < d; k++)
        centre[k] = item->origin[k] + item->scale[k] * centre[k];
    about.scale = item->scale;
    vh_hmm_component(h3m, h, q / h->M, q % h->M, par);
    VH_CHECK(h3m->family->maximise(&about, sum, item->limits.floor, par, work) >= 0, VHEM_ENUMERIC,
             "the start has a singular covariance; a floor (" VH_OPT("cov_floor") ") helps");
    return VHEM_OK;
}

/* Estimates pi and A from the labels, with one pseudo-count per transition. */
static void chain(const vh_fit_item *item, const int *label, vh_hmm *h)
{
    int S = h->S;
    int64_t at = 0;
    for (int s = 0; s < S; s++)
        h->pi[s] = 1.0 / S;
    for (int e = 0; e < S * S; e++)
        h->A[e] = 1.0;
    for (int64_t i = 0; i < item->n; i++) {
        int64_t T = vh_data_length(item->data, item->seq[i]);
        h->pi[label[at] / h->M] += 1;
        for (int64_t t = 1; t < T; t++)
            h->A[label[at + t - 1] / h->M * S + label[at + t] / h->M] += 1;
        at += T;
    }
    vh_normalise(S, h->pi);
    for (int s = 0; s < S; s++)
        vh_normalise(S, h->A + s * S);
}

/* Labels are state * M + component. */
static vhem_status model_from_labels(vhem_ctx *ctx, const labelled *x, vh_h3m *h3m, vh_hmm *h)
{
    for (int s = 0; s < h->S; s++) {
        double *c = vh_hmm_c(h) + s * h->M;
        for (int m = 0; m < h->M; m++) {
            VH_TRY(component(ctx, x, s * h->M + m, h3m, h, &c[m]));
            c[m] += 1;
        }
        vh_normalise(h->M, c);
    }
    chain(x->item, x->label, h);
    return VHEM_OK;
}

/* Splits the frames of each state into M components by k-means: label becomes state * M + component. */
static vhem_status label_components(vhem_ctx *ctx, labelled *x, vh_rng *rng, int S, int M)
{
    const vh_fit_item *item = x->item;
    const double *X = x->X;
    int d = item->data->d, *label = x->label;
    VH_AUTOFREE int *sub = NULL;
    VH_AUTOFREE int64_t *where = NULL;
    VH_AUTOFREE double *own = NULL;

    if (M == 1)
        return VHEM_OK;
    VH_NEW(own, vh_cells(item->frames, d));
    VH_NEW(sub, item->frames);
    VH_NEW(where, item->frames);
    for (int64_t i = 0; i < item->frames; i++)
        label[i] = -1 - label[i]; /* negative: still a state */
    for (int s = 0; s < S; s++) {
        int64_t n = 0;
        for (int64_t i = 0; i < item->frames; i++)
            if (label[i] == -1 - s) {
                memcpy(own + vh_row(n, d), X + vh_row(i, d), sizeof *own * (size_t)d);
                where[n++] = i;
            }
        if (n > 0)
            VH_TRY(kmeans_labels(ctx, rng, x->h3m, n, own, M, sub));
        for (int64_t i = 0; i < n; i++)
            label[where[i]] = s * M + sub[i];
    }
    return VHEM_OK;
}

/* ---- 3. the starts ------------------------------------------------------------------------------------- */

static vhem_status label_by_kmeans(vhem_ctx *ctx, labelled *x, vh_rng *rng, int restart, int S)
{
    (void)restart;
    return kmeans_labels(ctx, rng, x->h3m, x->item->frames, x->X, S, x->label);
}

static vhem_status label_by_time(vhem_ctx *ctx, labelled *x, vh_rng *rng, int restart, int S)
{
    const vh_fit_item *item = x->item;
    VH_AUTOFREE double *cut = NULL; /* [S-1]  where each state ends, as a share of the sequence */
    int64_t at = 0;

    VH_NEW(cut, S);
    for (int s = 0; s + 1 < S; s++)
        cut[s] = restart == 0 ? (s + 1.0) / S : vh_rng_uniform(rng);
    vh_sort((size_t)(S - 1), cut);
    for (int64_t i = 0; i < item->n; i++) {
        int64_t T = vh_data_length(item->data, item->seq[i]);
        for (int64_t t = 0; t < T; t++) {
            int s = 0;
            while (s + 1 < S && (t + 0.5) / (double)T >= cut[s])
                s++;
            x->label[at + t] = s;
        }
        at += T;
    }
    return VHEM_OK;
}

typedef vhem_status (*labeller)(vhem_ctx *, labelled *, vh_rng *, int restart, int S);

static vhem_status start_from(vhem_ctx *ctx, const vh_fit_item *item, vh_rng *rng, int restart, labeller by,
                              vh_h3m *h3m, vh_hmm *h)
{
    VH_CLEANUP(labelled_free) labelled x = { 0 };

    VH_TRY(labelled_new(ctx, item, h3m, &x));
    VH_TRY(by(ctx, &x, rng, restart, h->S));
    VH_TRY(label_components(ctx, &x, rng, h->S, h->M));
    return model_from_labels(ctx, &x, h3m, h);
}

static vhem_status kmeans(vhem_ctx *ctx, const vh_fit_item *item, vh_rng *rng, int restart, vh_h3m *h3m,
                          vh_hmm *h)
{
    return start_from(ctx, item, rng, restart, label_by_kmeans, h3m, h);
}

static vhem_status segment(vhem_ctx *ctx, const vh_fit_item *item, vh_rng *rng, int restart, vh_h3m *h3m,
                           vh_hmm *h)
{
    return start_from(ctx, item, rng, restart, label_by_time, h3m, h);
}

/* Every component is fitted to all frames, then moved to a random frame. */
static vhem_status random_start(vhem_ctx *ctx, const vh_fit_item *item, vh_rng *rng, int restart, vh_h3m *h3m,
                                vh_hmm *h)
{
    const vh_coords about = { h3m->shape, item->origin, item->scale };
    VH_AUTOFREE double *work = NULL;
    double unused, *first[VH_MAX_PARAM], *par[VH_MAX_PARAM];
    VH_CLEANUP(labelled_free) labelled x = { 0 }; /* all zero: component 0 has every frame */
    (void)restart;

    VH_TRY(labelled_new(ctx, item, h3m, &x));
    VH_NEW(work, vh_nudge_work(h3m->family, &h3m->shape));
    VH_TRY(component(ctx, &x, 0, h3m, h, &unused));
    vh_hmm_component(h3m, h, 0, 0, first);
    for (int q = 1; q < h->S * h->M; q++) {
        vh_hmm_component(h3m, h, q / h->M, q % h->M, par);
        vh_emission_copy(h3m->family, &h3m->shape, (const double *const *)first, par);
    }
    for (int q = 0; q < h->S * h->M; q++) {
        int64_t pick = vh_rng_below(rng, item->frames);
        vh_hmm_component(h3m, h, q / h->M, q % h->M, par);
        vh_emission_sit(h3m->family, &about, x.X + pick * h3m->d, par, work);
        vh_hmm_c(h)[q] = 1.0 / h->M;
    }
    for (int s = -1; s < h->S; s++) {
        double *row = s < 0 ? h->pi : h->A + s * h->S;
        for (int q = 0; q < h->S; q++)
            row[q] = vh_rng_exponential(rng) + 1e-3;
        vh_normalise(h->S, row);
    }
    return VHEM_OK;
}

vh_start vh_start_find(const char *name)
{
    static const struct {
        const char *name;
        vh_start start;
    } table[] = { { "kmeans", kmeans }, { "segment", segment }, { "random", random_start } };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(name, table[i].name) == 0)
            return table[i].start;
    return NULL;
}

vhem_status vh_start_hmm(vhem_ctx *ctx, const vh_fit_item *item, vh_rng *rng, int restart, vh_h3m *h3m,
                         vh_hmm *h)
{
    const char *init = item->opt->init;
    if (item->ordered && strcmp(init, "kmeans") == 0) /* clusters ignore time order */
        init = "segment";
    return vh_start_find(init)(ctx, item, rng, restart, h3m, h);
}

/* Makes a row that violates the topology comply; leaves other rows unchanged to the last bit. */
static void obey(int n, const double *fixed, double *row)
{
    for (int q = 0; q < n; q++)
        if (!isnan(fixed[q]) && row[q] != fixed[q]) {
            vh_constrain(n, fixed, row, row);
            return;
        }
}

void vh_start_obey(const vh_limits *lim, vh_hmm *h)
{
    if (lim->fixed_pi)
        obey(h->S, lim->fixed_pi, h->pi);
    for (int s = 0; lim->fixed_A && s < h->S; s++)
        obey(h->S, lim->fixed_A + s * h->S, h->A + s * h->S);
}

/* ---- 4. all starts of an item -------------------------------------------------------------------------- */

typedef struct {
    const vh_fit_item *item;
    const vh_hmm *given;
    vh_h3m *runs;
    bool *left; /* [R]  skipped: after a stop one start suffices */
} starting;

static vhem_status make_one(vhem_ctx *ctx, void *arg, int64_t r, int worker)
{
    const starting *s = arg;
    vh_hmm *h = &s->runs->hmm[r];
    vh_rng rng;
    (void)worker;

    s->left[r] = !s->given && r > 0 && vh_stopped(ctx);
    if (s->left[r])
        return VHEM_OK;
    vh_rng_init(&rng, ctx->opt.seed, VH_RNG_INIT, s->item->number << 16 | (uint64_t)r);
    if (s->given)
        vh_hmm_copy(h, s->given);
    else
        VH_TRY(vh_start_hmm(ctx, s->item, &rng, (int)r, s->runs, h));
    vh_start_obey(&s->item->limits, h);
    return VHEM_OK;
}

vhem_status vh_starts(vhem_ctx *ctx, const vh_fit_item *item, const vh_hmm *given, int R, vh_h3m **out)
{
    vh_fit_item shared = *item;
    starting s = { .item = &shared, .given = given };
    const vh_work all = { .n = R, .finishes = true, .run = make_one, .arg = &s };
    VH_AUTOFREE int64_t *some = NULL;
    VH_AUTOFREE double *X = NULL;
    VH_AUTOFREE bool *left = NULL;
    VH_OWN(vh_h3m) *runs = NULL;

    VH_NEW(left, R);
    s.left = left;
    if (!given)
        VH_TRY(vh_start_thin(ctx, &shared, &some));
    if (!given && R > 1)
        VH_TRY(frames_of(ctx, &shared, &X));
    shared.X = X;
    VH_TRY(vh_h3m_new(ctx, item->family, vh_fit_shape(item->data), R, &runs));
    s.runs = runs;
    for (int r = 0; r < R; r++)
        VH_TRY(vh_h3m_shape(ctx, runs, r, item->opt->S, item->opt->M));
    VH_TRY(vh_map(ctx, &all, NULL));
    for (int r = 1; r < R; r++)
        if (left[r])
            vh_hmm_copy(&runs->hmm[r], &runs->hmm[0]);
    *out = vh_take(runs);
    return VHEM_OK;
}
