/* SPDX-License-Identifier: BSD-3-Clause */
/* posteriors.c - see posteriors.h.
 *
 *   1. storage      2. less of it      3. as models      4. as JSON */
#define _GNU_SOURCE /* open_memstream */
#include "model/posteriors.h"

#include "core/alloc.h"
#include "core/text.h"
#include "math/gamma.h"
#include "model/json.h"

#include <math.h>
#include <string.h>

#define VERSION 1

/* ---- 1. storage ---------------------------------------------------------------------------------------- */

vhem_status vh_posteriors_new(vhem_ctx *ctx, const vh_prior *shape, int K, vh_posteriors **out)
{
    vhem_status st = VHEM_OK;
    vh_posteriors *p = NULL;

    VH_NEW(p, 1);
    p->shape = shape;
    p->K = K;
    VH_NEW(p->alpha, K);
    VH_NEW(p->hmm, K);
    *out = p;
    p = NULL;
done:
    vh_posteriors_free(p);
    return st;
}

vhem_status vh_posteriors_like(vhem_ctx *ctx, const vh_prior *shape, const vh_h3m *h3m, vh_posteriors **out)
{
    vhem_status st = VHEM_OK;
    vh_posteriors *p = NULL;

    VH_TRY(vh_posteriors_new(ctx, shape, h3m->K, &p));
    for (int j = 0; j < p->K; j++)
        VH_TRY(vh_posterior_new(ctx, shape, h3m->hmm[j].S, h3m->hmm[j].M, &p->hmm[j]));
    *out = p;
    p = NULL;
done:
    vh_posteriors_free(p);
    return st;
}

/* The arrays of a posterior, and how many numbers each has. */
enum { N_ARRAYS = 7 };

static void arrays_of(const vh_prior *shape, const vh_posterior *h, double *x[N_ARRAYS], size_t n[N_ARRAYS])
{
    size_t S = (size_t)h->S, q = S * (size_t)h->M;
    double *all[N_ARRAYS] = { h->eta, h->eps, h->kappa, h->lambda, h->nu, h->m, h->B };
    size_t size[N_ARRAYS] = { S, S * S, q, q, q, q * (size_t)shape->d, q * vh_prior_size(shape) };
    memcpy(x, all, sizeof all);
    memcpy(n, size, sizeof size);
}

vhem_status vh_posteriors_copy(vhem_ctx *ctx, const vh_posteriors *post, vh_posteriors **out)
{
    vhem_status st = VHEM_OK;
    vh_posteriors *p = NULL;
    double *from[N_ARRAYS], *to[N_ARRAYS];
    size_t n[N_ARRAYS];

    VH_TRY(vh_posteriors_new(ctx, post->shape, post->K, &p));
    memcpy(p->alpha, post->alpha, sizeof *p->alpha * (size_t)p->K);
    for (int j = 0; j < p->K; j++) {
        VH_TRY(vh_posterior_new(ctx, p->shape, post->hmm[j].S, post->hmm[j].M, &p->hmm[j]));
        arrays_of(p->shape, &post->hmm[j], from, n);
        arrays_of(p->shape, &p->hmm[j], to, n);
        for (int k = 0; k < N_ARRAYS; k++)
            memcpy(to[k], from[k], sizeof *to[k] * n[k]);
    }
    *out = p;
    p = NULL;
done:
    vh_posteriors_free(p);
    return st;
}

void vh_posteriors_free(vh_posteriors *p)
{
    if (!p)
        return;
    for (int j = 0; p->hmm && j < p->K; j++)
        vh_posterior_free(&p->hmm[j]);
    vh_prior_free(p->own);
    free(p->alpha);
    free(p->hmm);
    free(p);
}

/* ---- 2. less of it ------------------------------------------------------------------------------------- */

void vh_posteriors_drop(vh_posteriors *p, int j)
{
    vh_posterior_free(&p->hmm[j]);
    for (p->K--; j < p->K; j++) {
        p->hmm[j] = p->hmm[j + 1];
        p->alpha[j] = p->alpha[j + 1];
    }
    p->hmm[p->K] = (vh_posterior){ 0 };
}

/* Entry `from` of x [n][size] becomes entry `to`. */
static void move(double *x, size_t size, size_t to, size_t from)
{
    if (to != from)
        memmove(x + to * size, x + from * size, sizeof *x * size);
}

/* Component `from` becomes component `to`, which comes before it. */
static void move_component(const vh_prior *shape, vh_posterior *h, size_t to, size_t from)
{
    move(h->kappa, 1, to, from);
    move(h->lambda, 1, to, from);
    move(h->nu, 1, to, from);
    move(h->m, (size_t)shape->d, to, from);
    move(h->B, vh_prior_size(shape), to, from);
}

void vh_posteriors_drop_state(vh_posteriors *p, int j, int s)
{
    vh_posterior *h = &p->hmm[j];
    size_t S = (size_t)h->S, M = (size_t)h->M, at = (size_t)s, n = 0;

    for (size_t e = 0; e < S * S; e++)
        if (e / S != at && e % S != at)
            h->eps[n++] = h->eps[e];
    for (size_t r = at + 1; r < S; r++) {
        move(h->eta, 1, r - 1, r);
        for (size_t l = 0; l < M; l++)
            move_component(p->shape, h, (r - 1) * M + l, r * M + l);
    }
    h->S--;
}

/* How many components of its state are heavier than component l; of equal ones the first is. */
static int rank_of(const double *kappa, int M, int l)
{
    int rank = 0;
    for (int k = 0; k < M; k++)
        rank += kappa[k] > kappa[l] || (kappa[k] == kappa[l] && k < l);
    return rank;
}

void vh_posteriors_keep_components(vh_posteriors *p, int j, int M)
{
    vh_posterior *h = &p->hmm[j];
    size_t to = 0;
    memcpy(h->shift, h->kappa, sizeof *h->shift * (size_t)(h->S * h->M)); /* kappa moves meanwhile */
    for (int q = 0; q < h->S * h->M; q++)
        if (rank_of(h->shift + q / h->M * h->M, h->M, q % h->M) < M)
            move_component(p->shape, h, to++, (size_t)q);
    h->M = M;
}

vhem_status vh_posteriors_order_states(vhem_ctx *ctx, vh_posteriors *p, int j, const int *from)
{
    vhem_status st = VHEM_OK;
    vh_posterior *h = &p->hmm[j], old = { 0 };
    int S = h->S, M = h->M, d = p->shape->d;
    size_t size = vh_prior_size(p->shape);

    VH_TRY(vh_posterior_new(ctx, p->shape, S, M, &old));
    for (int s = 0; s < S; s++) {
        old.eta[s] = h->eta[from[s]];
        for (int r = 0; r < S; r++)
            old.eps[s * S + r] = h->eps[from[s] * S + from[r]];
        for (int l = 0; l < M; l++) {
            int to = s * M + l, at = from[s] * M + l;
            old.kappa[to] = h->kappa[at];
            old.lambda[to] = h->lambda[at];
            old.nu[to] = h->nu[at];
            memcpy(old.m + to * d, h->m + at * d, sizeof *h->m * (size_t)d);
            memcpy(old.B + (size_t)to * size, h->B + (size_t)at * size, sizeof *h->B * size);
        }
    }
    vh_posterior_free(h);
    *h = old;
done:
    return st;
}

vhem_status vh_posteriors_order(vhem_ctx *ctx, vh_posteriors *p, const int *from)
{
    vhem_status st = VHEM_OK;
    vh_posterior *hmm = NULL;
    double *alpha = NULL;

    VH_NEW(hmm, p->K);
    VH_NEW(alpha, p->K);
    for (int j = 0; j < p->K; j++) {
        hmm[j] = p->hmm[from[j]];
        alpha[j] = p->alpha[from[j]];
    }
    memcpy(p->hmm, hmm, sizeof *hmm * (size_t)p->K);
    memcpy(p->alpha, alpha, sizeof *alpha * (size_t)p->K);
done:
    free(hmm);
    free(alpha);
    return st;
}

double vh_posteriors_log_symmetries(const vh_posteriors *p)
{
    double sum = vh_lgamma(p->K + 1);
    for (int j = 0; j < p->K; j++)
        sum += vh_lgamma(p->hmm[j].S + 1) + p->hmm[j].S * vh_lgamma(p->hmm[j].M + 1);
    return sum;
}

/* ---- 3. as models -------------------------------------------------------------------------------------- */

vhem_status vh_posteriors_mean(vhem_ctx *ctx, const vh_posteriors *p, vh_h3m **out)
{
    vhem_status st = VHEM_OK;
    const vh_limits lim = { .exact = true };
    vh_h3m *h3m = NULL;
    int n_floored;

    VH_TRY(vh_h3m_new(ctx, p->shape->family, (vh_shape){ .d = p->shape->d }, p->K, &h3m));
    vh_dirichlet_mean(p->K, p->alpha, h3m->omega);
    for (int j = 0; j < p->K; j++) {
        VH_TRY(vh_h3m_shape(ctx, h3m, j, p->hmm[j].S, p->hmm[j].M));
        VH_TRY(vh_posterior_mean(ctx, p->shape, &lim, &p->hmm[j], h3m, &h3m->hmm[j], &n_floored));
    }
    *out = h3m;
    h3m = NULL;
done:
    vh_h3m_free(h3m);
    return st;
}

/* ---- 4. as JSON ---------------------------------------------------------------------------------------- */

/* W of all components, [S M][size]; the caller frees it. */
static vhem_status scales(vhem_ctx *ctx, const vh_prior *shape, const vh_posterior *h, double **out)
{
    vhem_status st = VHEM_OK;
    size_t size = vh_prior_size(shape), n = (size_t)(h->S * h->M);
    double *W = NULL;

    VH_NEW(W, n * size);
    memcpy(W, h->B, sizeof *W * n * size);
    for (size_t q = 0; q < n; q++)
        VH_CHECK(vh_prior_invert(shape, W + q * size), VHEM_ENUMERIC,
                 "a scatter of the posterior is singular");
    *out = W;
    W = NULL;
done:
    free(W);
    return st;
}

static vhem_status print_hmm(vhem_ctx *ctx, const vh_prior *shape, const vh_posterior *h, FILE *f)
{
    vhem_status st = VHEM_OK;
    int n[] = { h->S, h->M, shape->d, shape->d }, square[] = { h->S, h->S };
    double *W = NULL;

    VH_TRY(scales(ctx, shape, h, &W));
    fprintf(f, "{\"S\": %d, \"M\": %d", h->S, h->M);
    vh_json_print_array(f, ", ", "eta", 1, n, h->eta);
    vh_json_print_array(f, ", ", "eps", 2, square, h->eps);
    vh_json_print_array(f, ", ", "kappa", 2, n, h->kappa);
    vh_json_print_array(f, ", ", "lambda", 2, n, h->lambda);
    vh_json_print_array(f, ", ", "nu", 2, n, h->nu);
    vh_json_print_array(f, ", ", "m", 3, n, h->m);
    vh_json_print_array(f, ", ", "W", vh_prior_full(shape->family) ? 4 : 3, n, W);
    putc('}', f);
done:
    free(W);
    return st;
}

vhem_status vh_posteriors_text(vhem_ctx *ctx, const vh_posteriors *p, char **out)
{
    vhem_status st = VHEM_OK;
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    VH_CHECK(f, VHEM_ENOMEM, "out of memory: no room for the text of a posterior");
    fprintf(f, "{\"format\": \"vhem-posterior\", \"version\": %d, \"emission\": \"%s\", \"d\": %d", VERSION,
            p->shape->family->name, p->shape->d);
    vh_json_print_array(f, ", ", "alpha", 1, &p->K, p->alpha);
    fputs(", \"hmms\": [", f);
    for (int j = 0; j < p->K; j++) {
        fputs(j > 0 ? ",\n  " : "\n  ", f);
        VH_TRY(print_hmm(ctx, p->shape, &p->hmm[j], f));
    }
    fputs("]}", f);
    st = vh_text_close(ctx, f, &text);
    f = NULL;
    VH_TRY(st);
    *out = text;
    text = NULL;
done:
    if (f)
        fclose(f);
    free(text);
    return st;
}

/* The numbers of key into x; all must be more than `above`, -infinity: any. */
static vhem_status read_array(vhem_ctx *ctx, json_t *object, vh_json_array a, double above, double *x)
{
    vhem_status st = VHEM_OK;
    size_t n = 1;

    VH_TRY(vh_json_numbers(ctx, object, &a, x));
    for (int k = 0; k < a.rank; k++)
        n *= (size_t)a.dim[k].n;
    for (size_t k = 0; k < n; k++)
        VH_CHECK(isfinite(x[k]) && x[k] > above, VHEM_EFORMAT, "%s has an entry %g, must be more than %g",
                 a.key, x[k], above);
done:
    return st;
}

/* B from W.  Inverses that other programs make are symmetric to rounding only. */
static vhem_status read_scales(vhem_ctx *ctx, json_t *object, const vh_prior *shape, vh_posterior *h)
{
    vhem_status st = VHEM_OK;
    int d = shape->d, rank = vh_prior_full(shape->family) ? 2 : 1;
    size_t size = vh_prior_size(shape);
    const vh_json_array W = { .key = "W",
                              .rank = 2 + rank,
                              .dim = { { "S", h->S }, { "M", h->M }, { "d", d }, { "d", d } } };

    VH_TRY(read_array(ctx, object, W, -INFINITY, h->B));
    for (int q = 0; q < h->S * h->M; q++) {
        double *B = h->B + (size_t)q * size;
        for (int e = 0; rank == 2 && e < d * d; e++) {
            int i = e / d, j = e % d;
            if (j >= i)
                continue;
            VH_CHECK(fabs(B[i * d + j] - B[j * d + i]) <= 1e-6 * sqrt(fabs(B[i * d + i] * B[j * d + j])),
                     VHEM_EFORMAT, "W of state %d, component %d is not symmetric", q / h->M, q % h->M);
            B[i * d + j] = B[j * d + i] = (B[i * d + j] + B[j * d + i]) / 2;
        }
        VH_CHECK(vh_prior_invert(shape, B), VHEM_EFORMAT, "W of state %d, component %d is not positive%s",
                 q / h->M, q % h->M, rank == 2 ? " definite" : "");
    }
done:
    return st;
}

static vhem_status read_hmm(vhem_ctx *ctx, json_t *object, const vh_prior *shape, vh_posterior *h)
{
    vhem_status st = VHEM_OK;
    int S, M, d = shape->d;
    double least = vh_prior_full(shape->family) ? d - 1 : 0;

    VH_CHECK(json_is_object(object), VHEM_EFORMAT, "is %s, must be an object", vh_json_kind(object));
    VH_TRY(vh_json_count(ctx, object, "S", &S));
    VH_TRY(vh_json_count(ctx, object, "M", &M));
    const vh_json_array eta = { .key = "eta", .rank = 1, .dim = { { "S", S } } },
                        eps = { .key = "eps", .rank = 2, .dim = { { "S", S }, { "S", S } } },
                        kappa = { .key = "kappa", .rank = 2, .dim = { { "S", S }, { "M", M } } },
                        m = { .key = "m", .rank = 3, .dim = { { "S", S }, { "M", M }, { "d", d } } };
    vh_json_array lambda = kappa, nu = kappa, shape_only = eps;
    lambda.key = "lambda";
    nu.key = "nu";
    VH_TRY(vh_json_numbers(ctx, object, &shape_only, NULL)); /* before anything is allocated */
    shape_only = m;
    VH_TRY(vh_json_numbers(ctx, object, &shape_only, NULL));
    VH_TRY(vh_posterior_new(ctx, shape, S, M, h));
    VH_TRY(read_array(ctx, object, eta, 0, h->eta));
    VH_TRY(read_array(ctx, object, eps, 0, h->eps));
    VH_TRY(read_array(ctx, object, kappa, 0, h->kappa));
    VH_TRY(read_array(ctx, object, lambda, 0, h->lambda));
    VH_TRY(read_array(ctx, object, nu, least, h->nu));
    VH_TRY(read_array(ctx, object, m, -INFINITY, h->m));
    VH_TRY(read_scales(ctx, object, shape, h));
done:
    return st;
}

static vhem_status read_all(vhem_ctx *ctx, json_t *root, vh_posteriors **out)
{
    vhem_status st = VHEM_OK;
    vh_posteriors *p = NULL;
    vh_prior *shape = NULL;
    const char *format = "", *emission = "";
    json_t *hmms = json_object_get(root, "hmms");
    int d, K = (int)json_array_size(hmms);
    char who[32];

    VH_TRY(vh_json_required_text(ctx, root, "format", &format));
    VH_CHECK(strcmp(format, "vhem-posterior") == 0, VHEM_EFORMAT,
             "format is '%.80s', must be 'vhem-posterior'", format);
    VH_TRY(vh_json_version(ctx, root, VERSION));
    VH_TRY(vh_json_required_text(ctx, root, "emission", &emission));
    const vh_emission *family = vh_emission_find(emission);
    VH_CHECK(family, VHEM_EFORMAT, "emission is '%.80s', must be one of: %s", emission, vh_emission_names());
    VH_TRY(vh_json_count(ctx, root, "d", &d));
    VH_CHECK(K >= 1, VHEM_EFORMAT, "hmms has no entries, must have at least one");
    json_t *m = json_object_get(json_array_get(hmms, 0), "m");
    VH_CHECK(json_array_size(json_array_get(json_array_get(m, 0), 0)) == (size_t)d, VHEM_EFORMAT,
             "m of HMM 0 has not d = %d numbers", d); /* before anything is allocated */
    VH_TRY(vh_prior_new(ctx, family, d, &shape));
    VH_TRY(vh_posteriors_new(ctx, shape, K, &p));
    p->own = shape;
    shape = NULL;
    const vh_json_array alpha = { .key = "alpha", .rank = 1, .dim = { { "K", K } } };
    VH_TRY(read_array(ctx, root, alpha, 0, p->alpha));
    for (int j = 0; j < K; j++) {
        st = read_hmm(ctx, json_array_get(hmms, (size_t)j), p->shape, &p->hmm[j]);
        snprintf(who, sizeof who, "HMM %d", j);
        if (st != VHEM_OK)
            vh_error_prefix(ctx, who);
        VH_TRY(st);
    }
    *out = p;
    p = NULL;
done:
    vh_prior_free(shape);
    vh_posteriors_free(p);
    return st;
}

vhem_status vh_posteriors_read(vhem_ctx *ctx, const char *text, vh_posteriors **out)
{
    json_t *root = NULL;
    vhem_status st = vh_json_object(ctx, "the posterior", text, &root);
    if (st == VHEM_OK)
        st = read_all(ctx, root, out);
    json_decref(root);
    if (st != VHEM_OK && root)
        vh_error_prefix(ctx, "posterior");
    return st == VHEM_EINVAL ? VHEM_EFORMAT : st;
}
