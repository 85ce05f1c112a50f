/* SPDX-License-Identifier: BSD-3-Clause */
/* posteriors.c - see posteriors.h.
 *
 *   1. storage      2. less of it      3. as models      4. as JSON */
#define _GNU_SOURCE /* open_memstream */
#include "model/posteriors.h"

#include "core/alloc.h"
#include "core/atomic_file.h"
#include "core/text.h"
#include "math/gamma.h"
#include "model/json.h"
#include "model/layout_json.h"

#include <math.h>
#include <string.h>

#define VERSION 1

/* ---- 1. storage ---------------------------------------------------------------------------------------- */

vhem_status vh_posteriors_new(vhem_ctx *ctx, const vh_prior *shape, int K, vh_posteriors **out)
{
    VH_OWN(vh_posteriors) *p = NULL;

    VH_NEW(p, 1);
    p->shape = shape;
    p->K = K;
    VH_NEW(p->alpha, K);
    VH_NEW(p->hmm, K);
    *out = vh_take(p);
    return VHEM_OK;
}

vhem_status vh_posteriors_like(vhem_ctx *ctx, const vh_prior *shape, const vh_h3m *h3m, vh_posteriors **out)
{
    VH_OWN(vh_posteriors) *p = NULL;

    VH_TRY(vh_posteriors_new(ctx, shape, h3m->K, &p));
    for (int j = 0; j < p->K; j++)
        VH_TRY(vh_posterior_new(ctx, shape, h3m->hmm[j].S, h3m->hmm[j].M, &p->hmm[j]));
    *out = vh_take(p);
    return VHEM_OK;
}

/* Component `from` of h becomes component `to` of out, which may be h; rows apart. */
static void copy_component(const vh_prior *shape, const vh_posterior *h, size_t from, vh_posterior *out,
                           size_t to)
{
    double *x[VH_POSTERIOR_ARRAYS], *y[VH_POSTERIOR_ARRAYS];
    size_t n[VH_POSTERIOR_ARRAYS];

    out->by_column = h->by_column;
    vh_posterior_arrays(shape, h, x, n);
    vh_posterior_arrays(shape, out, y, n);
    for (int k = 0; k < VH_POSTERIOR_ARRAYS; k++)
        memmove(y[k] + to * n[k], x[k] + from * n[k], sizeof **x * n[k]);
    for (int c = 0; c < shape->n_channel; c++)
        copy_component(shape->channel[c], &h->channel[c], from, &out->channel[c], to);
}

vhem_status vh_posteriors_copy(vhem_ctx *ctx, const vh_posteriors *post, vh_posteriors **out)
{
    VH_OWN(vh_posteriors) *p = NULL;

    VH_TRY(vh_posteriors_new(ctx, post->shape, post->K, &p));
    memcpy(p->alpha, post->alpha, sizeof *p->alpha * (size_t)p->K);
    for (int j = 0; j < p->K; j++) {
        const vh_posterior *h = &post->hmm[j];
        size_t S = (size_t)h->S;
        VH_TRY(vh_posterior_new(ctx, p->shape, h->S, h->M, &p->hmm[j]));
        memcpy(p->hmm[j].eta, h->eta, sizeof *h->eta * S);
        memcpy(p->hmm[j].eps, h->eps, sizeof *h->eps * S * S);
        for (size_t q = 0; q < S * (size_t)h->M; q++)
            copy_component(p->shape, h, q, &p->hmm[j], q);
    }
    *out = vh_take(p);
    return VHEM_OK;
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

/* The sizes of an HMM and of what its channels know of it. */
static void resize(vh_posterior *h, int S, int M)
{
    h->S = S;
    h->M = M;
    for (int c = 0; c < h->n_channel; c++)
        resize(&h->channel[c], S, M);
}

void vh_posteriors_drop_state(vh_posteriors *p, int j, int s)
{
    vh_posterior *h = &p->hmm[j];
    size_t S = (size_t)h->S, M = (size_t)h->M, at = (size_t)s, n = 0;

    for (size_t e = 0; e < S * S; e++)
        if (e / S != at && e % S != at)
            h->eps[n++] = h->eps[e];
    for (size_t r = at + 1; r < S; r++) {
        h->eta[r - 1] = h->eta[r];
        for (size_t l = 0; l < M; l++)
            copy_component(p->shape, h, r * M + l, h, (r - 1) * M + l);
    }
    resize(h, h->S - 1, h->M);
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
            copy_component(p->shape, h, (size_t)q, h, to++);
    resize(h, h->S, M);
}

vhem_status vh_posteriors_order_states(vhem_ctx *ctx, vh_posteriors *p, int j, const int *from)
{
    vh_posterior *h = &p->hmm[j], old = { 0 };
    int S = h->S, M = h->M;

    VH_TRY(vh_posterior_new(ctx, p->shape, S, M, &old));
    for (int s = 0; s < S; s++) {
        old.eta[s] = h->eta[from[s]];
        for (int r = 0; r < S; r++)
            old.eps[s * S + r] = h->eps[from[s] * S + from[r]];
        for (int l = 0; l < M; l++)
            copy_component(p->shape, h, (size_t)(from[s] * M + l), &old, (size_t)(s * M + l));
    }
    vh_posterior_free(h);
    *h = old;
    return VHEM_OK;
}

vhem_status vh_posteriors_order(vhem_ctx *ctx, vh_posteriors *p, const int *from)
{
    VH_AUTOFREE vh_posterior *hmm = NULL;
    VH_AUTOFREE double *alpha = NULL;

    VH_NEW(hmm, p->K);
    VH_NEW(alpha, p->K);
    for (int j = 0; j < p->K; j++) {
        hmm[j] = p->hmm[from[j]];
        alpha[j] = p->alpha[from[j]];
    }
    memcpy(p->hmm, hmm, sizeof *hmm * (size_t)p->K);
    memcpy(p->alpha, alpha, sizeof *alpha * (size_t)p->K);
    return VHEM_OK;
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
    const vh_limits lim = { .exact = true };
    VH_OWN(vh_h3m) *h3m = NULL;
    int n_floored;

    VH_TRY(vh_h3m_new(ctx, p->shape->family, p->shape->shape, p->K, &h3m));
    vh_dirichlet_mean(p->K, p->alpha, h3m->omega);
    for (int j = 0; j < p->K; j++) {
        VH_TRY(vh_h3m_shape(ctx, h3m, j, p->hmm[j].S, p->hmm[j].M));
        VH_TRY(vh_posterior_mean(ctx, p->shape, &lim, &p->hmm[j], h3m, &h3m->hmm[j], &n_floored));
    }
    *out = vh_take(h3m);
    return VHEM_OK;
}

/* ---- 4. as JSON ---------------------------------------------------------------------------------------- */

/* W of all components, [S M][size]; the caller frees it. */
static vhem_status scales(vhem_ctx *ctx, const vh_prior *shape, const vh_posterior *h, double **out)
{
    size_t size = vh_prior_size(shape), n = (size_t)(h->S * h->M);
    VH_AUTOFREE double *W = NULL;

    VH_NEW(W, n * size);
    memcpy(W, h->B, sizeof *W * n * size);
    for (size_t q = 0; q < n; q++)
        VH_CHECK(vh_prior_invert(shape, W + q * size), VHEM_ENUMERIC,
                 "a scatter of the posterior is singular");
    *out = vh_take(W);
    return VHEM_OK;
}

/* What is known of components: lambda, nu, m and W of Gaussians, counts, or channels. */
static vhem_status print_known(vhem_ctx *ctx, const vh_prior *shape, const vh_posterior *h, FILE *f)
{
    int64_t n[] = { h->S, h->M, shape->d, shape->d };
    VH_AUTOFREE double *W = NULL;

    if (vh_prior_normal(shape->family)) {
        VH_TRY(scales(ctx, shape, h, &W));
        vh_json_print_array(f, ", ", "lambda", 2, n, h->lambda);
        vh_json_print_array(f, ", ", "nu", 2, n, h->nu);
        if (h->by_column) {
            vh_json_print_array(f, ", ", "lambda_columns", 3, n, h->col_lambda);
            vh_json_print_array(f, ", ", "nu_columns", 3, n, h->col_nu);
        }
        vh_json_print_array(f, ", ", "m", 3, n, h->m);
        vh_json_print_array(f, ", ", "W", vh_prior_full(shape->family) ? 4 : 3, n, W);
    }
    const vh_counts *counts = shape->family->counts;
    for (int k = 0; counts && k < counts->n_array; k++) {
        size_t all = vh_prior_counts(shape), one = all / (size_t)counts->n_array;
        n[2] = (int)one;
        vh_json_print_apart(f, ", ", counts->array[k], 3, n, h->count + (size_t)k * one, all);
    }
    for (int c = 0; c < shape->n_channel; c++) {
        fprintf(f, "%s{\"emission\": \"%s\"", c == 0 ? ", \"channels\": [" : ", ",
                shape->channel[c]->family->name);
        VH_TRY(print_known(ctx, shape->channel[c], &h->channel[c], f));
        fputs(c + 1 < shape->n_channel ? "}" : "}]", f);
    }
    return VHEM_OK;
}

static vhem_status print_hmm(vhem_ctx *ctx, const vh_prior *shape, const vh_posterior *h, FILE *f)
{
    int64_t n[] = { h->S, h->M }, square[] = { h->S, h->S };

    fprintf(f, "{\"S\": %d, \"M\": %d", h->S, h->M);
    vh_json_print_array(f, ", ", "eta", 1, n, h->eta);
    vh_json_print_array(f, ", ", "eps", 2, square, h->eps);
    vh_json_print_array(f, ", ", "kappa", 2, n, h->kappa);
    vhem_status st = print_known(ctx, shape, h, f);
    putc('}', f);
    return st;
}

vhem_status vh_posteriors_text(vhem_ctx *ctx, const vh_posteriors *p, char **out)
{
    VH_AUTOFREE char *text = NULL;
    size_t size;
    VH_OWN(FILE) *f = open_memstream(&text, &size);
    const int64_t K = p->K;

    VH_CHECK(f, VHEM_ENOMEM, "out of memory: no room for the text of a posterior");
    fprintf(f, "{\"format\": \"vhem-posterior\", \"version\": %d, \"emission\": \"%s\", \"d\": %d", VERSION,
            p->shape->family->name, p->shape->d);
    if (!vh_prior_normal(p->shape->family))
        vh_layout_print(f, ", ", p->shape->shape.layout);
    vh_json_print_array(f, ", ", "alpha", 1, &K, p->alpha);
    fputs(", \"hmms\": [", f);
    for (int j = 0; j < p->K; j++) {
        fputs(j > 0 ? ",\n  " : "\n  ", f);
        VH_TRY(print_hmm(ctx, p->shape, &p->hmm[j], f));
    }
    fputs("]}", f);
    VH_TRY(vh_text_close(ctx, vh_take(f), &text));
    *out = vh_take(text);
    return VHEM_OK;
}

/* The numbers of key into x; all must be more than `above`, -infinity: any. */
static vhem_status read_array(vhem_ctx *ctx, json_t *object, vh_json_array a, double above, double *x)
{
    size_t n = 1;

    VH_TRY(vh_json_numbers(ctx, object, &a, x));
    for (int k = 0; k < a.rank; k++)
        n *= (size_t)a.dim[k].n;
    for (size_t k = 0; k < n; k++)
        VH_CHECK(isfinite(x[k]) && x[k] > above, VHEM_EFORMAT, "%s has an entry %g, must be more than %g",
                 a.key, x[k], above);
    return VHEM_OK;
}

/* B from W.  Inverses that other programs make are symmetric to rounding only. */
static vhem_status read_scales(vhem_ctx *ctx, json_t *object, const vh_prior *shape, vh_posterior *h)
{
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
    return VHEM_OK;
}

static vh_json_array shaped(const char *key, int rank, const vh_posterior *h, int d)
{
    return (vh_json_array){ .key = key, .rank = rank, .dim = { { "S", h->S }, { "M", h->M }, { "d", d } } };
}

/* lambda, nu, m and W.  Diagonal covariances may have a lambda and nu for each column besides. */
static vhem_status read_normal(vhem_ctx *ctx, json_t *object, const vh_prior *shape, vh_posterior *h)
{
    int d = shape->d;
    bool full = vh_prior_full(shape->family);

    VH_TRY(read_array(ctx, object, shaped("lambda", 2, h, d), 0, h->lambda));
    VH_TRY(read_array(ctx, object, shaped("nu", 2, h, d), full ? d - 1 : 0, h->nu));
    h->by_column = !full && json_object_get(object, "lambda_columns");
    if (h->by_column) {
        VH_TRY(read_array(ctx, object, shaped("lambda_columns", 3, h, d), 0, h->col_lambda));
        VH_TRY(read_array(ctx, object, shaped("nu_columns", 3, h, d), 0, h->col_nu));
    }
    VH_TRY(read_array(ctx, object, shaped("m", 3, h, d), -INFINITY, h->m));
    return read_scales(ctx, object, shape, h);
}

/* The arrays of counts, whose entries stand side by side in each component. */
static vhem_status read_counts(vhem_ctx *ctx, json_t *object, const vh_prior *shape, vh_posterior *h)
{
    const vh_counts *counts = shape->family->counts;
    size_t all = vh_prior_counts(shape), one = all / (size_t)counts->n_array;
    bool symbols = shape->family->param[0].dim[0] == VH_PER_SYMBOL;
    VH_AUTOFREE double *x = NULL;

    VH_NEW(x, (size_t)(h->S * h->M) * one);
    for (int k = 0; k < counts->n_array; k++) {
        const vh_json_array a = { .key = counts->array[k],
                                  .rank = 3,
                                  .dim = {
                                      { "S", h->S }, { "M", h->M }, { symbols ? "V" : "d", (int)one } } };
        VH_TRY(read_array(ctx, object, a, 0, x));
        for (size_t q = 0; q < (size_t)(h->S * h->M); q++)
            memcpy(h->count + q * all + (size_t)k * one, x + q * one, sizeof *x * one);
    }
    return VHEM_OK;
}

static vhem_status read_known(vhem_ctx *ctx, json_t *object, const vh_prior *shape, vh_posterior *h)
{
    vhem_status st = VHEM_OK;
    json_t *channels = json_object_get(object, "channels");

    VH_CHECK(json_is_object(object), VHEM_EFORMAT, "is %s, must be an object", vh_json_kind(object));
    VH_CHECK(shape->n_channel == 0 || json_array_size(channels) == (size_t)shape->n_channel, VHEM_EFORMAT,
             "channels is not an array of %d objects, one for each channel of the file", shape->n_channel);
    if (vh_prior_normal(shape->family))
        VH_TRY(read_normal(ctx, object, shape, h));
    if (shape->family->counts)
        VH_TRY(read_counts(ctx, object, shape, h));
    for (int c = 0; c < shape->n_channel; c++) {
        char who[32];
        st = read_known(ctx, json_array_get(channels, (size_t)c), shape->channel[c], &h->channel[c]);
        snprintf(who, sizeof who, "channel %d", c);
        if (st != VHEM_OK)
            vh_error_prefix(ctx, who);
        VH_TRY(st);
    }
    return st;
}

static vhem_status read_hmm(vhem_ctx *ctx, json_t *object, const vh_prior *shape, vh_posterior *h)
{
    int S, M, d = shape->d;

    VH_CHECK(json_is_object(object), VHEM_EFORMAT, "is %s, must be an object", vh_json_kind(object));
    VH_TRY(vh_json_count(ctx, object, "S", &S));
    VH_TRY(vh_json_count(ctx, object, "M", &M));
    const vh_json_array eta = { .key = "eta", .rank = 1, .dim = { { "S", S } } },
                        eps = { .key = "eps", .rank = 2, .dim = { { "S", S }, { "S", S } } },
                        kappa = { .key = "kappa", .rank = 2, .dim = { { "S", S }, { "M", M } } },
                        m = { .key = "m", .rank = 3, .dim = { { "S", S }, { "M", M }, { "d", d } } };
    vh_json_array shape_only = eps;
    VH_TRY(vh_json_numbers(ctx, object, &shape_only, NULL)); /* before anything is allocated */
    shape_only = vh_prior_normal(shape->family) ? m : kappa;
    VH_TRY(vh_json_numbers(ctx, object, &shape_only, NULL));
    VH_TRY(vh_posterior_new(ctx, shape, S, M, h));
    VH_TRY(read_array(ctx, object, eta, 0, h->eta));
    VH_TRY(read_array(ctx, object, eps, 0, h->eps));
    VH_TRY(read_array(ctx, object, kappa, 0, h->kappa));
    return read_known(ctx, object, shape, h);
}

/* Family, dimension and layout of the file, as a prior without numbers. */
static vhem_status read_shape(vhem_ctx *ctx, json_t *root, vh_prior **out)
{
    const char *emission = "";
    VH_OWN(vh_layout) *layout = NULL;
    int d;

    VH_TRY(vh_json_required_text(ctx, root, "emission", &emission));
    const vh_emission *family = vh_emission_find(emission);
    VH_CHECK(family, VHEM_EFORMAT, "emission is '%.80s', must be one of: %s", emission, vh_emission_names());
    VH_TRY(vh_json_count(ctx, root, "d", &d));
    if (vh_prior_normal(family)) {
        json_t *m = json_object_get(json_array_get(json_object_get(root, "hmms"), 0), "m");
        VH_CHECK(json_array_size(json_array_get(json_array_get(m, 0), 0)) == (size_t)d, VHEM_EFORMAT,
                 "m of HMM 0 does not have d = %d numbers", d); /* before anything is allocated */
        VH_TRY(vh_prior_new(ctx, family, d, out));
        return VHEM_OK;
    }
    VH_TRY(vh_layout_from_json(ctx, root, family, d, &layout));
    json_t *a = json_object_get(json_array_get(json_object_get(root, "hmms"), 0), "a");
    VH_CHECK(layout || json_array_size(json_array_get(json_array_get(a, 0), 0)) == (size_t)d, VHEM_EFORMAT,
             "a of HMM 0 does not have d = %d numbers", d);
    const vh_shape shape = layout ? vh_layout_shape(layout) : (vh_shape){ .d = d };
    return vh_prior_new_shaped(ctx, family, &shape, out);
}

static vhem_status read_all(vhem_ctx *ctx, json_t *root, vh_posteriors **out)
{
    vhem_status st = VHEM_OK;
    VH_OWN(vh_posteriors) *p = NULL;
    VH_OWN(vh_prior) *shape = NULL;
    const char *format = "";
    json_t *hmms = json_object_get(root, "hmms");
    int K = (int)json_array_size(hmms);
    char who[32];

    VH_TRY(vh_json_required_text(ctx, root, "format", &format));
    VH_CHECK(strcmp(format, "vhem-posterior") == 0, VHEM_EFORMAT,
             "format is '%.80s', must be 'vhem-posterior'", format);
    VH_TRY(vh_json_version(ctx, root, VERSION));
    VH_CHECK(K >= 1, VHEM_EFORMAT, "hmms has no entries, must have at least one");
    VH_TRY(read_shape(ctx, root, &shape));
    VH_TRY(vh_posteriors_new(ctx, shape, K, &p));
    p->own = vh_take(shape);
    const vh_json_array alpha = { .key = "alpha", .rank = 1, .dim = { { "K", K } } };
    VH_TRY(read_array(ctx, root, alpha, 0, p->alpha));
    for (int j = 0; j < K; j++) {
        st = read_hmm(ctx, json_array_get(hmms, (size_t)j), p->shape, &p->hmm[j]);
        snprintf(who, sizeof who, "HMM %d", j);
        if (st != VHEM_OK)
            vh_error_prefix(ctx, who);
        VH_TRY(st);
    }
    *out = vh_take(p);
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
