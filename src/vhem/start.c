/* SPDX-License-Identifier: BSD-3-Clause */
/* start.c - starts for VHEM.  The objective has many local optima, and no single kind of start finds the best
 * everywhere.
 *
 *   base        centres are random base HMMs
 *   far         centres are base HMMs far apart under L_hmm (k-means++ with a divergence)
 *   emissions   states are random base components, chains uniform
 *   pooled      one Gaussian mixture of S M components for all base components, shared by all centres,
 *               chains random
 *   dealt       one mixture of K S M components, distributed over the centres
 *
 *   1. from base HMMs      2. from base components */
#include "vhem/start.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "math/kmeans.h"
#include "math/logsum.h"

#include <math.h>
#include <string.h>

#define LITTLE      1e-3 /* mass mixed into rows with zeros, and of the pooled component into each */
#define WIDEN_SHARE 0.01 /* share of the pooled variance added to singular components */
#define CUT_MASS    1e-9 /* added where states are dropped or repeated: no row is all zero */
#define CUT_SHARE   1e-6 /* added to each mixture weight */
#define LEAST_DRAW  0.05 /* added to the draws of a random chain, to keep probabilities away from 0 */
#define LEAST_COUNT 1e-3 /* smallest weight of a pooled component, as a share of all components */
static const char no_room[] = "out of memory: no room for a centre";

/* ---- 1. from base HMMs --------------------------------------------------------------------------------- */

/* True if entry e of pi (A false) or A is positive in any base HMM with this many states. */
static bool possible(const vh_base *base, int S, bool A, int e)
{
    bool comparable = false;
    for (int64_t i = 0; i < base->Kb && i < VH_BASE_SAMPLE; i++) {
        const vh_hmm *h = &base->h3m->hmm[i];
        if (h->S != S)
            continue;
        comparable = true;
        if ((A ? h->A : h->pi)[e] > 0)
            return true;
    }
    return !comparable;
}

static void soften(const vh_base *base, vh_hmm *h)
{
    int S = h->S;
    for (int s = -1; s < S; s++) {
        double *row = s < 0 ? h->pi : h->A + s * S;
        for (int q = 0; q < S; q++)
            if (possible(base, S, s >= 0, s < 0 ? q : s * S + q))
                row[q] += LITTLE / S;
        vh_normalise(S, row);
    }
}

/* Perturbs a copy of a component, so that copies can diverge.  A zero never changes in later steps, so
 * where the family has zeros the component also gets a little of the pooled one.  Returns false if out of
 * memory. */
static bool jitter(const vh_base *base, vh_rng *rng, const vh_h3m *h3m, double *const *par)
{
    vh_coords x = base->packed->x;
    double *work = malloc(sizeof *work * (vh_nudge_work(h3m->family, &h3m->shape) + (size_t)h3m->d));
    double *scale = work ? work + vh_nudge_work(h3m->family, &h3m->shape) : NULL;
    for (int k = 0; work && vh_emission_place(h3m->family) && k < h3m->d; k++) {
        scale[k] = base->still[k] ? 0 : base->scale[k];
        x.scale = scale;
    }
    if (work)
        vh_emission_jitter(h3m->family, &x, rng, par, work);
    free(work);
    return work != NULL;
}

/* Copies base component a into centre component b; columns a lacks come from the pooled component. */
static void copy_component(const vh_base *base, const vh_h3m *from, double *const *a, double *const *b)
{
    vh_emission_copy(from->family, &from->shape, (const double *const *)a, b);
    for (int p = 0; base->whole[0] && p < from->family->n_param; p++)
        for (size_t e = 0; e < vh_param_size(from->family, p, &from->shape); e++)
            if (isnan(b[p][e]))
                b[p][e] = base->whole[p][e];
}

static bool widen(const vh_base *base, const vh_h3m *h3m, vh_hmm *h)
{
    const vh_packed *b = base->packed;
    const vh_location *location = vh_emission_place(h3m->family);
    int d = h3m->d;
    size_t room = vh_emission_room(h3m->family, &h3m->shape);
    double *theta = malloc(sizeof *theta * ((size_t)b->n_stat + room + (size_t)d));
    if (!theta)
        return false;
    double *work = theta + b->n_stat, *add = work + room;
    for (int k = 0; k < d; k++)
        add[k] = WIDEN_SHARE * base->scale[k] * base->scale[k];
    for (int q = 0; q < h->S * h->M; q++) {
        double *par[VH_MAX_PARAM];
        vh_hmm_component(h3m, h, q / h->M, q % h->M, par);
        bool singular = b->family->natural(&b->x, (const double *const *)par, theta, work) < 0;
        if (singular && location)
            location->widen(&h3m->shape, add, par);
        if (!location) {
            b->family->stats_of_component(&b->x, (const double *const *)par, theta);
            for (int e = 0; e < b->n_stat; e++)
                theta[e] += LITTLE * (base->mean[e] - theta[e]);
            b->family->maximise(&b->x, theta, add, par, work);
        }
    }
    free(theta);
    return true;
}

/* Copies HMM i of a set into centre j.  Returns false if out of memory. */
static bool center_from(const vh_base *base, const vh_h3m *set, int64_t i, vh_rng *rng, vh_h3m *centers,
                        int64_t j)
{
    const vh_hmm *b = &set->hmm[i];
    vh_hmm *r = &centers->hmm[j];
    /* a random choice of the states that are dropped */
    int off = b->S > 1 && r->S < b->S ? (int)vh_rng_below(rng, b->S) : 0;
    bool good = true;
    for (int s = 0; s < r->S; s++) {
        int bs = (s + off) % b->S;
        r->pi[s] = b->pi[bs] + CUT_MASS * (r->S != b->S);
        for (int q = 0; q < r->S; q++)
            r->A[s * r->S + q] = b->A[bs * b->S + (q + off) % b->S] + CUT_MASS * (r->S != b->S);
        for (int m = 0; m < r->M; m++) {
            double *from[VH_MAX_PARAM], *to[VH_MAX_PARAM];
            vh_hmm_component(set, b, bs, m % b->M, from);
            vh_hmm_component(centers, r, s, m, to);
            copy_component(base, centers, from, to);
            if (s >= b->S || m >= b->M)
                good &= jitter(base, rng, centers, to);
            vh_hmm_c(r)[s * r->M + m] = vh_hmm_c(b)[bs * b->M + m % b->M] + CUT_SHARE;
        }
        vh_normalise(r->M, vh_hmm_c(r) + s * r->M);
        vh_normalise(r->S, r->A + s * r->S);
    }
    vh_normalise(r->S, r->pi);
    soften(base, r);
    return widen(base, centers, r) && good;
}

bool vh_center_from_base(const vh_base *base, int64_t i, vh_rng *rng, vh_h3m *centers, int64_t j)
{
    return center_from(base, base->h3m, i, rng, centers, j);
}

vhem_status vh_center_from_any(vhem_ctx *ctx, const vh_base *base, int64_t i, vh_rng *rng, vh_h3m *centers,
                               int j)
{
    VH_OWN(vh_h3m) *one = NULL;

    if (base->shards)
        VH_TRY(vh_shards_read(ctx, base->shards, i, 1, false, &one));
    VH_CHECK(center_from(base, one ? one : base->h3m, one ? 0 : i, rng, centers, j), VHEM_ENOMEM, "%s",
             no_room);
    return VHEM_OK;
}

/* A random base HMM with weight that is not taken yet (taken [Kb]), or any once all are taken. */
static int64_t pick_base(const vh_base *base, vh_rng *rng, unsigned char *taken)
{
    for (int tries = 0; tries < 64; tries++) {
        int64_t i = vh_rng_below(rng, base->Kb);
        if (!taken[i] && base->h3m->omega[i] > 0) {
            taken[i] = 1;
            return i;
        }
    }
    for (int64_t i = 0; i < base->Kb; i++)
        if (!taken[i] && base->h3m->omega[i] > 0) {
            taken[i] = 1;
            return i;
        }
    return vh_rng_below(rng, base->Kb);
}

static vhem_status from_random_base(vhem_ctx *ctx, const vh_base *base, vh_rng *rng, vh_h3m *centers)
{
    VH_AUTOFREE unsigned char *taken = NULL;
    VH_NEW(taken, base->Kb);
    for (int64_t j = 0; j < centers->K; j++)
        VH_CHECK(vh_center_from_base(base, pick_base(base, rng, taken), rng, centers, j), VHEM_ENOMEM, "%s",
                 no_room);
    return VHEM_OK;
}

/* Draws each further centre with probability proportional to how much worse the centres so far describe a
 * base HMM than the best-described one. */
static vhem_status from_far_base(vhem_ctx *ctx, const vh_base *base, int tau, vh_rng *rng,
                                 vh_scratch *scratch, vh_h3m *centers)
{
    VH_OWN(vh_packed) *pk = NULL;
    VH_AUTOFREE unsigned char *taken = NULL;
    VH_AUTOFREE double *L = NULL, *best = NULL, *far = NULL;
    int64_t Kb = base->Kb;

    VH_NEW(taken, Kb);
    VH_NEW(L, Kb);
    VH_NEW(best, Kb);
    VH_NEW(far, Kb);
    int64_t pick = pick_base(base, rng, taken);
    for (int64_t i = 0; i < Kb; i++)
        best[i] = -INFINITY;
    for (int64_t j = 0; j < centers->K; j++) {
        double top = -INFINITY, sum = 0;
        taken[pick] = 1;
        VH_CHECK(vh_center_from_base(base, pick, rng, centers, j), VHEM_ENOMEM, "%s", no_room);
        if (!pk)
            VH_TRY(vh_base_pack_centers(ctx, base, centers, &j, 1, &pk));
        VH_TRY(vh_pack_update(ctx, centers, &j, pk));
        const vh_reduce_step step = { .reduced = pk, .tau = tau, .L = L };
        VH_TRY(vh_reduce_run(ctx, base->opened, &step, &(vh_workers){ 1, scratch }, false, NULL));
        for (int64_t i = 0; i < Kb; i++)
            best[i] = fmax(best[i], L[i]);
        for (int64_t i = 0; i < Kb; i++)
            top = fmax(top, best[i]);
        for (int64_t i = 0; i < Kb; i++)
            sum += far[i] = taken[i] ? 0 : base->h3m->omega[i] * (top - best[i]);
        for (int64_t i = 0; i < Kb && sum > 0; i++)
            far[i] /= sum;
        pick = sum > 0 ? vh_rng_pick(rng, Kb, far) : pick_base(base, rng, taken);
    }
    return VHEM_OK;
}

/* ---- 2. from base components --------------------------------------------------------------------------- */

static void uniform_chain(vh_hmm *h)
{
    for (int s = 0; s < h->S; s++)
        h->pi[s] = 1.0 / h->S;
    for (int e = 0; e < h->S * h->S; e++)
        h->A[e] = 1.0 / h->S;
}

static void random_chain(vh_hmm *h, vh_rng *rng)
{
    for (int s = -1; s < h->S; s++) {
        double *row = s < 0 ? h->pi : h->A + s * h->S;
        for (int q = 0; q < h->S; q++)
            row[q] = vh_rng_exponential(rng) + LEAST_DRAW;
        vh_normalise(h->S, row);
    }
}

static vhem_status from_emissions(vhem_ctx *ctx, const vh_base *base, vh_rng *rng, vh_h3m *centers)
{
    for (int64_t j = 0; j < centers->K; j++) {
        vh_hmm *r = &centers->hmm[j];
        uniform_chain(r);
        for (int q = 0; q < r->S * r->M; q++) {
            double *from[VH_MAX_PARAM], *to[VH_MAX_PARAM];
            const vh_hmm *b = &base->h3m->hmm[vh_rng_below(rng, base->Kb)];
            int s = (int)vh_rng_below(rng, b->S);
            vh_hmm_component(base->h3m, b, s, vh_rng_pick(rng, b->M, vh_hmm_c(b) + s * b->M), from);
            vh_hmm_component(centers, r, q / r->M, q % r->M, to);
            copy_component(base, centers, from, to);
            vh_hmm_c(r)[q] = 1.0 / r->M;
        }
        VH_CHECK(widen(base, centers, r), VHEM_ENOMEM, "%s", no_room);
    }
    return VHEM_OK;
}

/* Fits k components to all base components: k-means on their means (features), then maximises the mean
 * statistics of each cluster.  Uses at most POOL base components, evenly spaced. */
enum { POOL = 20000 };

/* The k-means features of a component with mean statistics T. */
static void features_of(const vh_packed *b, const double *T, double *x)
{
    if (b->family->mean_features)
        b->family->mean_features(&b->shape, T, x);
    else
        memcpy(x, T + 1, sizeof *x * (size_t)vh_features(b->family, &b->shape));
}

/* Features of n base components, `step` apart, into X [n][d].  Columns they lack come from the pooled
 * component; spare is an HMM of one component, T [n_stat] scratch. */
static void look_at_all(const vh_base *base, int n, int d, int step, const vh_h3m *spare, double *T,
                        double *X)
{
    const vh_packed *b = base->packed;
    for (int i = 0; i < n; i++, X += d) {
        size_t r = vh_row(i, step);
        double *par[VH_MAX_PARAM];
        if (base->whole[0]) {
            vh_hmm_component(spare, &spare->hmm[0], 0, 0, par);
            copy_component(base, spare, (double *const *)(b->par + r * VH_MAX_PARAM), par);
            b->family->stats_of_component(&b->x, (const double *const *)par, T);
        }
        features_of(b, base->whole[0] ? T : b->mean + r * (size_t)b->n_stat, X);
    }
}

static vhem_status pool(vhem_ctx *ctx, const vh_base *base, vh_rng *rng, int k, vh_h3m *out)
{
    const vh_packed *b = base->packed;
    int d = vh_features(b->family, &b->shape), n_stat = b->n_stat, step = (b->n_comp + POOL - 1) / POOL,
        n = (b->n_comp + step - 1) / step;
    VH_AUTOFREE double *X = NULL, *centre = NULL, *sum = NULL, *work = NULL;
    VH_AUTOFREE int *label = NULL;

    VH_NEW(X, vh_cells(n, d));
    VH_NEW(centre, vh_cells(k, d));
    VH_NEW(sum, n_stat);
    VH_NEW(work, vh_emission_room(b->family, &b->shape));
    VH_NEW(label, n);
    look_at_all(base, n, d, step, out, sum, X);
    if (b->family->uneven)
        vh_even_out(n, d, X);
    VH_TRY(vh_kmeans(ctx, rng, &(vh_points){ n, d, X, NULL }, k, 30,
                     &(vh_kmeans_result){ centre, label, 0, false }));
    for (int c = 0; c < k; c++) {
        double *par[VH_MAX_PARAM];
        memset(sum, 0, sizeof *sum * (size_t)n_stat);
        for (int i = 0; i < n; i++)
            for (int e = 0; label[i] == c && e < n_stat; e++)
                sum[e] += b->mean[vh_row(i, step) * (size_t)n_stat + (size_t)e];
        vh_hmm_component(out, &out->hmm[0], 0, c, par);
        for (int p = 0; base->whole[0] && p < b->family->n_param;
             p++) /* maximise keeps these values where there is no data */
            memcpy(par[p], base->whole[p], sizeof *par[p] * vh_param_size(b->family, p, &b->shape));
        double count = sum[0];
        for (int e = 0; count > 0 && e < n_stat; e++)
            sum[e] /= count;
        if (!(count > 0) || b->family->maximise(&b->x, sum, NULL, par, work) < 0) {
            double *from[VH_MAX_PARAM]; /* empty, or no spread: use a random base component */
            const vh_hmm *h = &base->h3m->hmm[vh_rng_below(rng, base->Kb)];
            vh_hmm_component(base->h3m, h, (int)vh_rng_below(rng, h->S), 0, from);
            copy_component(base, out, from, par);
        }
        vh_hmm_c(&out->hmm[0])[c] = fmax(count, LEAST_COUNT * n);
    }
    return VHEM_OK;
}

/* Distributes a pool of components over the centres.  shared: all centres get the same S M components;
 * otherwise each gets its own. */
static vhem_status from_pool(vhem_ctx *ctx, const vh_base *base, vh_rng *rng, vh_h3m *centers, bool shared)
{
    int S = centers->hmm[0].S, M = centers->hmm[0].M, C = S * M, k = shared ? C : C * centers->K;
    VH_OWN(vh_h3m) *mix = NULL;
    VH_AUTOFREE int *deal = NULL;

    VH_NEW(deal, k);
    VH_TRY(vh_h3m_new(ctx, centers->family, centers->shape, 1, &mix));
    VH_TRY(vh_h3m_shape(ctx, mix, 0, 1, k));
    VH_TRY(pool(ctx, base, rng, k, mix));
    for (int q = 0; q < k; q++)
        deal[q] = q;
    for (int q = k - 1; q > 0; q--) {
        int other = (int)vh_rng_below(rng, q + 1), t = deal[q];
        deal[q] = deal[other];
        deal[other] = t;
    }
    for (int64_t j = 0; j < centers->K; j++) {
        vh_hmm *r = &centers->hmm[j];
        random_chain(r, rng);
        for (int q = 0; q < C; q++) {
            double *from[VH_MAX_PARAM], *to[VH_MAX_PARAM];
            int which = deal[shared ? q : j * C + q];
            vh_hmm_component(mix, &mix->hmm[0], 0, which, from);
            vh_hmm_component(centers, r, q / M, q % M, to);
            copy_component(base, centers, from, to);
            if (shared && j > 0)
                VH_CHECK(jitter(base, rng, centers, to), VHEM_ENOMEM, "%s", no_room);
            vh_hmm_c(r)[q] = vh_hmm_c(&mix->hmm[0])[which];
        }
        for (int s = 0; s < S; s++)
            vh_normalise(M, vh_hmm_c(r) + s * M);
        VH_CHECK(widen(base, centers, r), VHEM_ENOMEM, "%s", no_room);
    }
    return VHEM_OK;
}

const char *const vh_vhem_starts[] = { "base", "far", "emissions", "pooled", "dealt", NULL };

vhem_status vh_vhem_start(vhem_ctx *ctx, const char *name, const vh_base *base, int tau, vh_rng *rng,
                          vh_scratch *scratch, vh_h3m *centers)
{
    if (strcmp(name, "base") == 0)
        return from_random_base(ctx, base, rng, centers);
    if (strcmp(name, "far") == 0)
        return from_far_base(ctx, base, tau, rng, scratch, centers);
    if (strcmp(name, "emissions") == 0)
        return from_emissions(ctx, base, rng, centers);
    return from_pool(ctx, base, rng, centers, strcmp(name, "pooled") == 0);
}
