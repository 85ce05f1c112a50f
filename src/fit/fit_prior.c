/* SPDX-License-Identifier: BSD-3-Clause */
/* fit_prior.c - see fit_prior.h. */
#include "fit/fit_prior.h"

#include "core/alloc.h"
#include "prior/posterior.h"
#include "files/prior_json.h"
#include "core/array2.h"
#include "core/settings.h"
#include "math/gamma.h"
#include "math/linalg.h"

#include <math.h>
#include <string.h>

vhem_status vh_fit_prior_given(vhem_ctx *ctx, const vh_prior_choice *choice, int d, const char *emission,
                               vh_prior **out)
{
    return vh_prior_read_for(ctx, choice->text, "the data", d, emission, out);
}

void vh_fit_prior_scale(const vh_prior *p, double share, vh_fit_scale *scale)
{
    const double *within = p->within ? p->within : p->variance; /* older files have only this */

    if (!p->variance)
        return;
    for (int k = 0; k < p->d; k++) {
        scale->spread[k] = sqrt(p->variance[k]);
        scale->within[k] = sqrt(within[k]);
    }
    vh_fit_scale_floor(p->d, share, scale);
}

void vh_fit_prior_step(int d, double share, vh_fit_scale *scale)
{
    for (int k = 0; k < d; k++) {
        double all = scale->spread[k] * scale->spread[k], within = scale->within[k] * scale->within[k];
        scale->spread[k] = sqrt(vh_prior_digits(all, all));
        scale->within[k] = sqrt(vh_prior_digits(within, within));
    }
    vh_fit_scale_floor(d, share, scale);
}

vhem_status vh_fit_prior_widen(vhem_ctx *ctx, const double *floor, vh_h3m *runs)
{
    int d = runs->d;
    VH_AUTOFREE double *work = NULL;

    VH_NEW(work, vh_posterior_work(runs->family, d));
    for (int64_t i = 0; i < runs->K; i++)
        for (int q = 0; q < runs->hmm[i].S * runs->hmm[i].M; q++) {
            double *par[VH_MAX_PARAM];
            vh_hmm_component(runs, &runs->hmm[i], q / runs->hmm[i].M, q % runs->hmm[i].M, par);
            VH_CHECK(vh_posterior_put(runs->family, d, floor, par[0], par[1], 1, par, work) >= 0,
                     VHEM_ENUMERIC, "the start has a singular covariance");
        }
    return VHEM_OK;
}

vhem_status vh_fit_prior_gather(vhem_ctx *ctx, const vh_fit_item *item, const vh_h3m *hmm,
                                vh_workers *workers, double *frames, double *seen, double *scatter)
{
    VH_OWN(vh_packed) *pk = NULL;
    VH_CLEANUP(vh_stats_free) vh_stats stats = { 0 };
    VH_AUTOFREE double *loglik = NULL, *mean = NULL;
    size_t size = vh_scatter_size(hmm->family, hmm->d);

    VH_NEW(loglik, item->n);
    VH_NEW(mean, hmm->d);
    VH_TRY(vh_pack_new(ctx, hmm, NULL, 1, item->origin, item->scale, &pk));
    VH_TRY(vh_pack_update(ctx, hmm, NULL, pk));
    VH_TRY(vh_stats_new(ctx, pk, &stats));
    const vh_sequences in = { .data = item->data, .seq = item->seq, .n = item->n, .workers = workers };
    VH_TRY(vh_expect(ctx, pk, &in, loglik, &stats));
    for (int q = 0; q < pk->n_comp; q++) {
        frames[q] = vh_posterior_moments(pk, q, &stats, mean, scatter + (size_t)q * size);
        if (hmm->family->seen == VH_SEEN_FRAMES)
            frames[q] = vh_posterior_seen(pk, q, &stats, 0);
        for (int k = 0; seen && k < hmm->d; k++)
            seen[q * hmm->d + k] = vh_posterior_seen(pk, q, &stats, k);
    }
    return VHEM_OK;
}

typedef struct {        /* sums over sequences in one dimension */
    double both, own;   /* products of neighbouring frames, squares */
    double pairs, seen; /* number of terms of each */
} products;

static void add_products(const vhem_data *data, int64_t seq, int k, products *x)
{
    int d = data->d;
    const double *y = vh_data_frames(data, seq) + k;
    int64_t T = vh_data_length(data, seq), n = 0;
    double mean = 0;
    for (int64_t t = 0; t < T; t++)
        n += !isnan(y[t * d]);
    for (int64_t t = 0; t < T; t++)
        mean += isnan(y[t * d]) ? 0 : y[t * d] / (double)n;
    for (int64_t t = 0; t < T; t++) {
        if (isnan(y[t * d]))
            continue;
        x->own += (y[t * d] - mean) * (y[t * d] - mean);
        x->seen++;
        if (t + 1 < T && !isnan(y[(t + 1) * d])) {
            x->both += (y[t * d] - mean) * (y[(t + 1) * d] - mean);
            x->pairs++;
        }
    }
}

/* Autocorrelation in dimension k; NaN if nothing varies.  n complete frames have n - 1 pairs. */
static double correlation(const vhem_data *data, const vh_sets *sets, const int64_t *which, int64_t n, int k)
{
    products x = { 0 };
    double frames = 0, pairs = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t s = sets->first[which[i]]; s < sets->first[which[i] + 1]; s++) {
            add_products(data, sets->seq[s], k, &x);
            frames += (double)vh_data_length(data, sets->seq[s]);
            pairs += (double)vh_data_length(data, sets->seq[s]) - 1;
        }
    double lost = x.seen < frames && x.pairs > 0 ? pairs / frames * x.seen / x.pairs : 1;
    return x.own > 0 ? lost * x.both / x.own : NAN;
}

double vh_fit_prior_correlation(const vhem_data *data, const vh_sets *sets, const bool *still,
                                const int64_t *which, int64_t n)
{
    double sum = 0;
    int used = 0;
    for (int k = 0; k < data->d; k++) {
        double rho = still[k] ? NAN : correlation(data, sets, which, n, k); /* rounding correlates, too */
        used += !isnan(rho);
        sum += isnan(rho) ? 0 : rho;
    }
    return used > 0 ? sum / used : 0;
}

/* ---- the requested prior ------------------------------------------------------------------------------- */

/* 1. the option      2. type-II maximum likelihood      3. a prior from scatters
 *
 * The scale of the prior is the variance within states, pooled over all of them: W = sum C / sum n.  It is
 * computed once and then fixed: if it changed in every iteration, the bound might decrease. */

/* ---- 1. the option ------------------------------------------------------------------------------------- */

void vh_prior_choice_free(vh_prior_choice *choice)
{
    free(choice->text);
    choice->text = NULL;
}

/* Reads "nu0=1" or "start=ml". */
static vhem_status read_setting(vhem_ctx *ctx, void *arg, const char *key, const char *value)
{
    vh_prior_choice *out = arg;
    const struct {
        const char *name;
        double *to;
    } number[] = { { "nu0", &out->nu0 }, { "count", &out->count }, { "lambda", &out->lambda } };
    const struct {
        const char *name, *yes, *no;
        bool *to;
    } word[] = { { "start", "broad", "ml", &out->broad }, { "frames", "effective", "all", &out->effective } };

    for (int k = 0; k < 3; k++)
        if (strcmp(key, number[k].name) == 0) {
            out->gaussian = number[k].to == &out->lambda ? "lambda" : out->gaussian;
            VH_TRY(vh_setting_positive(ctx, "prior", key, value, number[k].to));
            return VHEM_OK;
        }
    for (int k = 0; k < 2; k++)
        if (strcmp(key, word[k].name) == 0) {
            out->gaussian = word[k].name;
            *word[k].to = strcmp(value, word[k].yes) == 0;
            VH_CHECK(*word[k].to || strcmp(value, word[k].no) == 0, VHEM_EINVAL,
                     "prior: %s is '%s', must be %s or %s", key, value, word[k].yes, word[k].no);
            return VHEM_OK;
        }
    return vh_fail(ctx, VHEM_EINVAL,
                   "prior: there is no setting '%.80s'; known are nu0, count, lambda, start, frames", key);
}

/* "nu0=5" and "vb:nu0=5" are settings; "runs/nu0=5/m.json" is a file. */
static bool is_settings(const char *spec)
{
    return strchr(spec, '=') && !strchr(spec, '/') && *spec != '{';
}

vhem_status vh_prior_choose(vhem_ctx *ctx, const char *spec, bool started, vh_prior_choice *out)
{
    /* The best of eight settings over twenty sets of sequences: docs/priors.md. */
    *out = (vh_prior_choice){
        .nu0 = 1, .count = 1, .lambda = 0.01, .broad = true, .effective = true, .least = 1e-4
    };
    if (!spec || !*spec)
        spec = started ? "none" : VH_PRIOR_DEFAULT;
    size_t word = strcspn(spec, ":");
    out->none = strcmp(spec, "none") == 0;
    if (out->none)
        return VHEM_OK;
    if (*spec == '{')
        VH_DUP(out->text, spec);
    else if (word == 2 && (strncmp(spec, "vb", 2) == 0 || strncmp(spec, "eb", 2) == 0)) {
        out->estimate = *spec == 'e';
        VH_TRY(vh_settings_read(ctx, "prior", "nu0=1", spec[2] ? spec + 3 : "", read_setting, out));
    } else if (is_settings(spec))
        VH_TRY(vh_settings_read(ctx, "prior", "nu0=1", spec, read_setting, out));
    else
        VH_TRY(vh_prior_load(ctx, spec, &out->text));
    return VHEM_OK;
}

/* ---- 2. type-II maximum likelihood --------------------------------------------------------------------- */

#define LEAST_FRAMES 1.5 /* a state with fewer says nothing about a variance */

typedef struct {
    const vh_scatters *from;
    int d, n;     /* n: states with enough frames */
    int64_t *use; /* [n] */
    bool full;
    int moving;             /* number of columns that vary */
    const double *variance; /* [d]  of the data */
    double *s, *work;       /* scale: [d] or [d][d] */
} evidence;

static void evidence_free(evidence *e)
{
    free(e->use);
    free(e->s);
    free(e->work);
}

/* Number of frames of state i that have column k. */
static double frames_of(const vh_scatters *from, int d, int64_t i, int k)
{
    return from->seen ? from->seen[vh_ij(i, d, k)] : from->frames[i];
}

/* A column that never varies says nothing about how variances differ. */
static bool is_still(const double *variance, int k)
{
    return !(variance[k] > 0);
}

/* One step of s = 1 / mean[(f + n0) / (n0 s + C)]; returns the gradient in n0 at this s.  Each variance has
 * the prior inverse chi^2(n0, s), and C given it is chi^2 with f = n - 1 degrees of freedom. */
static double step_diag(evidence *e, double n0)
{
    double g = 0;
    for (int k = 0; k < e->d; k++) {
        double sum = 0, s = e->s[k];
        int n = 0;
        if (is_still(e->variance, k))
            continue;
        for (int i = 0; i < e->n; i++) {
            double f = frames_of(e->from, e->d, e->use[i], k) - 1,
                   C = e->from->scatter[vh_ij(e->use[i], e->d, k)];
            double both = n0 * s + C;
            if (!(f > LEAST_FRAMES - 1)) /* the column is missing there */
                continue;
            n++;
            sum += (f + n0) / both;
            g += log(n0 * s / both) + 1 - (f + n0) * s / both + vh_digamma((f + n0) / 2) - vh_digamma(n0 / 2);
        }
        e->s[k] = n > 0 ? n / sum : s;
    }
    return g;
}

/* True if entry `at` of a matrix belongs to such a column. */
static bool in_still(const evidence *e, size_t at)
{
    return is_still(e->variance, (int)(at / (size_t)e->d)) || is_still(e->variance, (int)(at % (size_t)e->d));
}

/* The same for an inverse Wishart prior with nu = n0 + d - 1, d the columns that vary:
 *   s = n [sum (nu + f)(nu s + C)^-1]^-1. */
static double step_full(evidence *e, double n0)
{
    int d = e->d;
    size_t dd = vh_cells(d, d);
    double nu = n0 + e->moving - 1, g = 0, *L = e->work, *sum = e->work + dd;

    for (size_t k = 0; k < dd; k++)
        L[k] = nu * e->s[k];
    if (!vh_cholesky(d, L))
        return 0;
    double logdet = vh_cholesky_logdet(d, L);
    memset(sum, 0, sizeof *sum * dd);
    for (int i = 0; i < e->n; i++) {
        const double *C = e->from->scatter + (size_t)e->use[i] * dd;
        double f = e->from->frames[e->use[i]] - 1;
        for (size_t k = 0; k < dd; k++)
            L[k] = nu * e->s[k] + (in_still(e, k) ? 0 : C[k]);
        if (!vh_cholesky(d, L))
            continue;
        g += vh_digamma_wishart(e->moving, nu + f) - vh_digamma_wishart(e->moving, nu) + logdet
             - vh_cholesky_logdet(d, L);
        vh_cholesky_inverse(d, L);
        for (size_t k = 0; k < dd; k++)
            sum[k] += (nu + f) / e->n * L[k];
    }
    if (vh_cholesky(d, sum) && vh_cholesky_inverse(d, sum))
        for (size_t k = 0; k < dd; k++)
            e->s[k] = in_still(e, k) ? e->s[k] : sum[k];
    return g;
}

/* Finds n0 by bisection in its log; s follows, with a warm start from one n0 to the next. */
static double climb(evidence *e)
{
    enum { HALVINGS = 40, STEPS = 6 };
    double lo = log(1e-2), hi = log(1e3);
    for (int k = 0; k < HALVINGS; k++) {
        double mid = (lo + hi) / 2, g = 0;
        for (int i = 0; i < STEPS; i++)
            g = (e->full ? step_full : step_diag)(e, exp(mid));
        if (g > 0)
            lo = mid;
        else
            hi = mid;
    }
    return exp((lo + hi) / 2);
}

/* Estimates *nu0 and sets B := nu0 s. */
static vhem_status estimate(vhem_ctx *ctx, const vh_scatters *from, vh_prior *p, double *nu0)
{
    size_t size = vh_prior_size(p);
    VH_CLEANUP(evidence_free)
    evidence e = { .from = from, .d = p->d, .full = vh_prior_full(p->family), .variance = p->variance };
    /* a few hundred states suffice, and matrices are expensive */
    int step = e.full ? 1 + (int)(from->n * pow(p->d, 3) / 1e7) : 1;

    VH_NEW(e.use, from->n);
    VH_NEW(e.s, size);
    VH_NEW(e.work, 2 * size);
    for (int64_t i = 0; i < from->n; i += step)
        if (from->frames[i] > LEAST_FRAMES)
            e.use[e.n++] = i;
    for (int k = 0; k < p->d; k++)
        e.moving += !is_still(e.variance, k);
    if (e.n < 2 || e.moving == 0)
        return VHEM_OK; /* no information: keep the pooled variance */
    for (size_t k = 0; k < size; k++)
        e.s[k] = p->B[k] / *nu0;
    *nu0 = climb(&e);
    for (size_t k = 0; k < size; k++)
        p->B[k] = (e.full ? *nu0 + e.moving - 1 : *nu0) * e.s[k];
    return VHEM_OK;
}

/* ---- 3. a prior from scatters -------------------------------------------------------------------------- */

/* The last digits of sums depend on the order of the sequences.  A prior needs no more than eight digits;
 * with these, the models do not depend on the order. */
double vh_prior_digits(double x, double size)
{
    int k = size > 0 && isfinite(size) ? 7 - (int)floor(log10(size)) : 0;
    double p = pow(10, abs(k));
    return k >= 0 ? round(x * p) / p : round(x / p) * p;
}

static void round_all(vh_prior *p)
{
    int d = p->d;
    bool full = vh_prior_full(p->family);
    p->nu = vh_prior_digits(p->nu, p->nu);
    p->lambda = vh_prior_digits(p->lambda, p->lambda);
    for (int i = 0; i < d; i++)
        p->m[i] = is_still(p->variance, i) ? p->m[i] : vh_prior_digits(p->m[i], sqrt(p->variance[i]));
    for (int i = 0; full && i < d; i++)
        for (int j = 0; j < i; j++)
            p->B[i * d + j] = p->B[j * d + i] =
                vh_prior_digits(p->B[i * d + j], sqrt(p->B[i * d + i] * p->B[j * d + j]));
    for (int i = 0; i < d; i++) {
        double *B = &p->B[vh_scatter_at(p->family, d, i)];
        *B = vh_prior_digits(*B, *B);
    }
}

/* A variance of 0, as of constant frames, would make the prior of all states 0. */
static void guard(const vh_prior *p, double share, const vh_scatters *from, int64_t i)
{
    double *scatter = from->scatter + (size_t)i * vh_prior_size(p);
    for (int k = 0; k < p->d; k++) {
        double *c = &scatter[vh_scatter_at(p->family, p->d, k)];
        double least = share * frames_of(from, p->d, i, k) * (p->within[k] > 0 ? p->within[k] : 1);
        if (vh_prior_full(p->family))
            *c += least; /* any direction may have variance 0 */
        else
            *c = fmax(*c, least);
    }
}

/* B := nu0 W with W the pooled variance; a column by the frames that have it, a matrix by all of them. */
static void pool(const vh_prior *p, const vh_scatters *from, double nu0)
{
    size_t size = vh_prior_size(p);
    memset(p->B, 0, sizeof *p->B * size);
    for (int64_t i = 0; i < from->n; i++)
        for (size_t k = 0; k < size; k++)
            p->B[k] += from->scatter[(size_t)i * size + k];
    for (size_t k = 0; k < size; k++) {
        double frames = 0;
        for (int64_t i = 0; i < from->n; i++)
            frames += vh_prior_full(p->family) ? from->frames[i] : frames_of(from, p->d, i, (int)k);
        p->B[k] *= nu0 / frames;
    }
}

/* The smallest ratio of the scale to the variance of the data over the dimensions.  Means spread about m as
 * widely as the data, which is W / lambda: a larger lambda would pull far, narrow states towards m and make
 * them wide. */
static double narrowest(const vh_prior *p, double nu0)
{
    double least = INFINITY;
    for (int k = 0; k < p->d; k++)
        if (p->variance[k] > 0)
            least = fmin(least, p->B[vh_scatter_at(p->family, p->d, k)] / nu0 / p->variance[k]);
    return least;
}

vhem_status vh_prior_learn(vhem_ctx *ctx, const vh_prior_choice *choice, const vh_emission *family, int d,
                           const double *mean, const double *variance, double rho, const vh_scatters *from,
                           char **out)
{
    VH_OWN(vh_prior) *p = NULL;
    double nu0 = choice->nu0;

    if (choice->effective && !choice->estimate)
        nu0 *= (1 + fmin(fmax(rho, 0), 0.999)) / (1 - fmin(fmax(rho, 0), 0.999));
    VH_TRY(vh_prior_new(ctx, family, d, &p));
    p->eta = p->eps = p->kappa = choice->count;
    p->broad = choice->broad;
    memcpy(p->m, mean, sizeof *mean * (size_t)d);
    VH_NEW(p->variance, d);
    memcpy(p->variance, variance, sizeof *variance * (size_t)d);
    VH_NEW(p->within, d);
    for (int k = 0; k < d; k++) {
        double within = choice->within ? choice->within[k] * choice->within[k] : variance[k];
        p->within[k] = vh_prior_digits(within, within);
    }
    for (int64_t i = 0; i < from->n; i++)
        guard(p, choice->least, from, i);
    pool(p, from, nu0);
    if (choice->estimate)
        VH_TRY(estimate(ctx, from, p, &nu0));
    /* so that a single variance has the same prior whether or not it belongs to a full matrix */
    p->nu = vh_prior_full(family) ? nu0 + d - 1 : nu0;
    p->lambda = choice->lambda * fmin(1, narrowest(p, nu0));
    round_all(p);
    return vh_prior_text(ctx, p, out);
}
