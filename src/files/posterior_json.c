/* SPDX-License-Identifier: BSD-3-Clause */
/* posterior_json.c - see posterior_json.h. */
#include "files/posterior_json.h"

#include "os/stream.h"
#include "core/alloc.h"
#include "core/atomic_file.h"
#include "core/text.h"
#include "files/json.h"
#include "files/layout_json.h"

#include <math.h>
#include <string.h>

#define VERSION 1

/* Computes W of all components, [S M][size]; the caller frees it. */
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

/* Prints the parameters of components: lambda, nu, m and W of Gaussians, counts, or channels. */
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
    VH_OWN(FILE) *f = vh_memory_open(&text, &size);
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
    VH_TRY(vh_text_close(ctx, vh_take(f), &text, &size));
    *out = vh_take(text);
    return VHEM_OK;
}

/* Reads the numbers of key into x; all must exceed `above`, -infinity: any. */
static vhem_status read_array(vhem_ctx *ctx, json_t *object, vh_named_array a, double above, double *x)
{
    size_t n = 1;

    VH_TRY(vh_json_numbers(ctx, object, &a, x));
    for (int k = 0; k < a.rank; k++)
        n *= (size_t)a.dim[k].n;
    for (size_t k = 0; k < n; k++)
        VH_CHECK(isfinite(x[k]) && x[k] > above, VHEM_EFORMAT, "%s has an entry %g, must be more than %g",
                 a.name, x[k], above);
    return VHEM_OK;
}

/* Reads W and computes B.  Inverses from other programs are symmetric only up to rounding. */
static vhem_status read_scales(vhem_ctx *ctx, json_t *object, const vh_prior *shape, vh_posterior *h)
{
    int d = shape->d, rank = vh_prior_full(shape->family) ? 2 : 1;
    size_t size = vh_prior_size(shape);
    const vh_named_array W = { .name = "W",
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

static vh_named_array shaped(const char *key, int rank, const vh_posterior *h, int d)
{
    return (vh_named_array){ .name = key, .rank = rank, .dim = { { "S", h->S }, { "M", h->M }, { "d", d } } };
}

/* Reads lambda, nu, m and W; diagonal covariances may also have lambda and nu per column. */
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

/* Reads the arrays of counts, which are stored one after the other in each component. */
static vhem_status read_counts(vhem_ctx *ctx, json_t *object, const vh_prior *shape, vh_posterior *h)
{
    const vh_counts *counts = shape->family->counts;
    size_t all = vh_prior_counts(shape), one = all / (size_t)counts->n_array;
    bool symbols = shape->family->param[0].dim[0] == VH_PER_SYMBOL;
    VH_AUTOFREE double *x = NULL;

    VH_NEW(x, (size_t)(h->S * h->M) * one);
    for (int k = 0; k < counts->n_array; k++) {
        const vh_named_array a = { .name = counts->array[k],
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
    const vh_named_array eta = { .name = "eta", .rank = 1, .dim = { { "S", S } } },
                         eps = { .name = "eps", .rank = 2, .dim = { { "S", S }, { "S", S } } },
                         kappa = { .name = "kappa", .rank = 2, .dim = { { "S", S }, { "M", M } } },
                         m = { .name = "m", .rank = 3, .dim = { { "S", S }, { "M", M }, { "d", d } } };
    vh_named_array shape_only = eps;
    VH_TRY(vh_json_numbers(ctx, object, &shape_only, NULL)); /* before anything is allocated */
    shape_only = vh_prior_normal(shape->family) ? m : kappa;
    VH_TRY(vh_json_numbers(ctx, object, &shape_only, NULL));
    VH_TRY(vh_posterior_new(ctx, shape, S, M, h));
    VH_TRY(read_array(ctx, object, eta, 0, h->eta));
    VH_TRY(read_array(ctx, object, eps, 0, h->eps));
    VH_TRY(read_array(ctx, object, kappa, 0, h->kappa));
    return read_known(ctx, object, shape, h);
}

/* Reads family, dimension and layout into a prior without numbers. */
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
    const vh_named_array alpha = { .name = "alpha", .rank = 1, .dim = { { "K", K } } };
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
