/* SPDX-License-Identifier: BSD-3-Clause */
/* prior.c - see prior.h. */
#define _GNU_SOURCE /* open_memstream */
#include "model/prior.h"

#include "core/alloc.h"
#include "core/number.h"
#include "core/text.h"
#include "math/linalg.h"
#include "model/json.h"

#include <math.h>
#include <string.h>

#define VERSION 1

vhem_status vh_prior_new(vhem_ctx *ctx, const vh_emission *family, int d, vh_prior **out)
{
    vhem_status st = VHEM_OK;
    vh_prior *p = NULL;

    VH_CHECK(family->prior != VH_PRIOR_FRAMES, VHEM_EINVAL, "there are no priors for %s emissions",
             family->name);
    VH_NEW(p, 1);
    *p = (vh_prior){ .family = family, .d = d, .alpha = 1, .broad = true };
    VH_NEW(p->m, d);
    VH_NEW(p->B, vh_prior_size(p));
    *out = p;
    p = NULL;
done:
    vh_prior_free(p);
    return st;
}

void vh_prior_free(vh_prior *p)
{
    if (!p)
        return;
    free(p->m);
    free(p->B);
    free(p->variance);
    free(p);
}

vhem_status vh_prior_copy(vhem_ctx *ctx, const vh_prior *p, vh_prior **out)
{
    vhem_status st = VHEM_OK;
    vh_prior *copy = NULL;

    VH_TRY(vh_prior_new(ctx, p->family, p->d, &copy));
    double *m = copy->m, *B = copy->B;
    *copy = *p;
    copy->m = memcpy(m, p->m, sizeof *m * (size_t)p->d);
    copy->B = memcpy(B, p->B, sizeof *B * vh_prior_size(p));
    copy->variance = NULL;
    if (p->variance) {
        VH_NEW(copy->variance, p->d);
        memcpy(copy->variance, p->variance, sizeof *p->variance * (size_t)p->d);
    }
    *out = copy;
    copy = NULL;
done:
    vh_prior_free(copy);
    return st;
}

bool vh_prior_invert(const vh_prior *p, double *x)
{
    bool ok = true;
    if (vh_prior_full(p->family))
        return vh_cholesky(p->d, x) && vh_cholesky_inverse(p->d, x);
    for (int k = 0; k < p->d; k++) {
        x[k] = 1 / x[k];
        ok = ok && x[k] > 0 && isfinite(x[k]);
    }
    return ok;
}

/* ---- as JSON ------------------------------------------------------------------------------------------- */

static void print_number(FILE *f, const char *key, double x)
{
    char text[VH_NUMBER_SIZE];
    vh_number_text(x, text);
    fprintf(f, ", \"%s\": %s", key, text);
}

/* A full scale matrix without covariances is written as its diagonal, which moves to the front of W. */
static int scale_rank(const vh_prior *p, double *W)
{
    int d = p->d;
    if (!vh_prior_full(p->family))
        return 1;
    for (int e = 0; e < d * d; e++)
        if (e / d != e % d && W[e] != 0)
            return 2;
    for (int k = 0; k < d; k++)
        W[k] = W[k * d + k];
    return 1;
}

vhem_status vh_prior_text(vhem_ctx *ctx, const vh_prior *p, char **out)
{
    vhem_status st = VHEM_OK;
    int n[] = { p->d, p->d };
    double *W = NULL;
    char *text = NULL;
    size_t size;

    VH_NEW(W, vh_prior_size(p));
    memcpy(W, p->B, sizeof *W * vh_prior_size(p));
    VH_CHECK(vh_prior_invert(p, W), VHEM_ENUMERIC, "the scale of the prior is singular");
    FILE *f = open_memstream(&text, &size);
    VH_CHECK(f, VHEM_ENOMEM, "out of memory: no room for the text of a prior");
    fprintf(f, "{\"format\": \"vhem-prior\", \"version\": %d, \"emission\": \"%s\", \"d\": %d", VERSION,
            p->family->name, p->d);
    print_number(f, "alpha", p->alpha);
    print_number(f, "eta", p->eta);
    print_number(f, "eps", p->eps);
    print_number(f, "kappa", p->kappa);
    print_number(f, "lambda", p->lambda);
    print_number(f, "nu", p->nu);
    vh_json_print_array(f, ", ", "m", 1, n, p->m);
    vh_json_print_array(f, ", ", "W", scale_rank(p, W), n, W);
    if (p->variance)
        vh_json_print_array(f, ", ", "variance", 1, n, p->variance);
    fprintf(f, ", \"start\": \"%s\"}", p->broad ? "broad" : "ml");
    VH_TRY(vh_text_close(ctx, f, &text));
    *out = text;
    text = NULL;
done:
    free(W);
    free(text);
    return st;
}

static vhem_status read_number(vhem_ctx *ctx, json_t *root, const char *key, double above, double *out)
{
    vhem_status st = VHEM_OK;
    json_t *v = json_object_get(root, key);
    VH_CHECK(v, VHEM_EFORMAT, "%s is missing", key);
    VH_CHECK(json_is_number(v), VHEM_EFORMAT, "%s is %s, must be a number", key, vh_json_kind(v));
    *out = json_number_value(v);
    VH_CHECK(*out > above && isfinite(*out), VHEM_EFORMAT, "%s is %g, must be more than %g", key, *out,
             above);
done:
    return st;
}

/* W, and B from it.  A full prior may give the diagonal of W alone. */
static vhem_status read_scale(vhem_ctx *ctx, json_t *root, vh_prior *p)
{
    vhem_status st = VHEM_OK;
    bool full = vh_prior_full(p->family);
    json_t *W = json_object_get(root, "W");
    int d = p->d, rank = full && json_is_array(json_array_get(W, 0)) ? 2 : 1;
    vh_json_array a = { .key = "W", .rank = rank, .dim = { { "d", d }, { "d", d } } };

    VH_TRY(vh_json_numbers(ctx, root, &a, p->B));
    for (int k = d - 1; full && rank == 1 && k >= 0; k--) { /* to its place in the matrix, from the end */
        double w = p->B[k];
        p->B[k] = 0;
        p->B[k * d + k] = w;
    }
    for (int i = 0; full && i < d; i++)
        for (int j = 0; j < i; j++)
            VH_CHECK(p->B[i * d + j] == p->B[j * d + i], VHEM_EFORMAT, "W is not symmetric");
    VH_CHECK(vh_prior_invert(p, p->B), VHEM_EFORMAT, "W is not positive%s", full ? " definite" : "");
done:
    return st;
}

static vhem_status read_variance(vhem_ctx *ctx, json_t *root, vh_prior *p)
{
    vhem_status st = VHEM_OK;
    vh_json_array a = { .key = "variance", .rank = 1, .dim = { { "d", p->d } } };

    if (!json_object_get(root, "variance"))
        goto done;
    VH_NEW(p->variance, p->d);
    VH_TRY(vh_json_numbers(ctx, root, &a, p->variance));
    for (int k = 0; k < p->d; k++)
        VH_CHECK(p->variance[k] >= 0, VHEM_EFORMAT, "variance[%d] is %g, must not be negative", k,
                 p->variance[k]);
done:
    return st;
}

static vhem_status read_prior(vhem_ctx *ctx, json_t *root, vh_prior **out)
{
    vhem_status st = VHEM_OK;
    vh_prior *p = NULL;
    const char *format = "", *emission = "", *start = json_string_value(json_object_get(root, "start"));
    int d;

    VH_TRY(vh_json_required_text(ctx, root, "format", &format));
    VH_CHECK(strcmp(format, "vhem-prior") == 0, VHEM_EFORMAT, "format is '%.80s', must be 'vhem-prior'",
             format);
    VH_TRY(vh_json_version(ctx, root, VERSION));
    VH_TRY(vh_json_required_text(ctx, root, "emission", &emission));
    const vh_emission *family = vh_emission_find(emission);
    VH_CHECK(family, VHEM_EFORMAT, "emission is '%.80s', must be one of: %s", emission, vh_emission_names());
    VH_TRY(vh_json_count(ctx, root, "d", &d));
    vh_json_array m = { .key = "m", .rank = 1, .dim = { { "d", d } } };
    VH_TRY(vh_json_numbers(ctx, root, &m, NULL)); /* before anything is allocated */
    VH_TRY(vh_prior_new(ctx, family, d, &p));
    VH_TRY(vh_json_numbers(ctx, root, &m, p->m));
    if (json_object_get(root, "alpha"))
        VH_TRY(read_number(ctx, root, "alpha", 0, &p->alpha));
    VH_TRY(read_number(ctx, root, "eta", 0, &p->eta));
    VH_TRY(read_number(ctx, root, "eps", 0, &p->eps));
    VH_TRY(read_number(ctx, root, "kappa", 0, &p->kappa));
    VH_TRY(read_number(ctx, root, "lambda", 0, &p->lambda));
    VH_TRY(read_number(ctx, root, "nu", vh_prior_full(family) ? d - 1 : 0, &p->nu));
    VH_TRY(read_scale(ctx, root, p));
    VH_TRY(read_variance(ctx, root, p));
    VH_CHECK(!start || strcmp(start, "broad") == 0 || strcmp(start, "ml") == 0, VHEM_EFORMAT,
             "start is '%.80s', must be broad or ml", start);
    p->broad = !start || strcmp(start, "broad") == 0;
    *out = p;
    p = NULL;
done:
    vh_prior_free(p);
    return st;
}

vhem_status vh_prior_read(vhem_ctx *ctx, const char *text, vh_prior **out)
{
    json_t *root = NULL;
    vhem_status st = vh_json_object(ctx, "the prior", text, &root);
    if (st == VHEM_OK)
        st = read_prior(ctx, root, out);
    json_decref(root);
    if (st != VHEM_OK && root)
        vh_error_prefix(ctx, "prior");
    return st == VHEM_EINVAL ? VHEM_EFORMAT : st;
}

vhem_status vh_prior_read_for(vhem_ctx *ctx, const char *text, const char *what, int d, const char *emission,
                              vh_prior **out)
{
    vhem_status st = VHEM_OK;
    vh_prior *p = NULL;

    VH_TRY(vh_prior_read(ctx, text, &p));
    VH_CHECK(p->d == d, VHEM_EINVAL, "the prior has dimension %d, %s %d", p->d, what, d);
    VH_CHECK(strcmp(p->family->name, emission) == 0, VHEM_EINVAL, "the prior is for %s models, not for %s",
             p->family->name, emission);
    *out = p;
    p = NULL;
done:
    vh_prior_free(p);
    return st;
}

/* The prior in a model file, or a file that is a prior. */
static vhem_status read_json_file(vhem_ctx *ctx, const char *text, size_t size, char **out)
{
    vhem_status st = VHEM_OK;
    json_t *root = NULL;

    VH_TRY(vh_json_parse(ctx, text, size, &root));
    const char *format = json_string_value(json_object_get(root, "format"));
    json_t *prior = format && strcmp(format, "vhem-prior") == 0 ? root : json_object_get(root, "prior");
    VH_CHECK(json_is_object(prior), VHEM_EFORMAT, "no prior in it: it was not fitted with one");
    VH_TRY(vh_json_keep(ctx, prior, out));
done:
    json_decref(root);
    return st;
}

vhem_status vh_prior_load(vhem_ctx *ctx, const char *path, char **out)
{
    vhem_status st = VHEM_OK;
    vh_h3m *h3m = NULL;
    char *text = NULL;
    size_t size = 0;

    VH_TRY(vh_model_read(ctx, path, &text, &size));
    if (text) {
        st = read_json_file(ctx, text, size, out);
        if (st != VHEM_OK)
            vh_error_prefix(ctx, path);
        goto done;
    }
    VH_TRY(vh_h3m_load(ctx, path, &h3m));
    VH_CHECK(h3m->prior, VHEM_EFORMAT, "%s: no prior in it: it was not fitted with one", path);
    *out = h3m->prior;
    h3m->prior = NULL;
done:
    free(text);
    vh_h3m_free(h3m);
    return st;
}
