/* SPDX-License-Identifier: BSD-3-Clause */
/* prior.c - see prior.h. */
#define _GNU_SOURCE /* open_memstream */
#include "model/prior.h"

#include "core/alloc.h"
#include "core/number.h"
#include "core/text.h"
#include "math/linalg.h"
#include "model/json.h"
#include "model/layout.h"
#include "model/convert.h"
#include "model/prior_columns.h"

#include <math.h>
#include <string.h>

#define VERSION 1

bool vh_prior_exists(const vh_emission *family, const vh_shape *shape)
{
    bool all = family->prior != VH_PRIOR_FRAMES;
    for (int c = 0; family->prior == VH_PRIOR_CHANNELS && c < shape->layout->n_channel; c++)
        all = all && shape->layout->channel[c].family->prior != VH_PRIOR_FRAMES;
    return all;
}

/* "column 'step': " or "columns 'x', 'y': " of channel c; as many as there is room for. */
static void tell_columns(const vh_layout *layout, int c, char *text, size_t size)
{
    const vh_channel *ch = &layout->channel[c];
    size_t at = (size_t)snprintf(text, size, "column%s", ch->shape.d > 1 ? "s" : "");
    for (int k = 0; k < ch->shape.d && at + 48 < size; k++)
        at += (size_t)snprintf(text + at, size - at, "%s '%.32s'", k > 0 ? "," : "",
                               layout->column ? layout->column[ch->column + k] : "");
    snprintf(text + at, size - at, ": ");
}

vhem_status vh_prior_require(vhem_ctx *ctx, const vh_emission *family, const vh_shape *shape)
{
    char where[256] = "";

    if (vh_prior_exists(family, shape))
        return VHEM_OK;
    for (int c = 0; family->prior == VH_PRIOR_CHANNELS; c++) {
        tell_columns(shape->layout, c, where, sizeof where);
        family = shape->layout->channel[c].family->prior == VH_PRIOR_FRAMES ? shape->layout->channel[c].family
                                                                            : family;
    }
    VH_CHECK(
        false, VHEM_EINVAL,
        "%sthere is no variational Bayes for %s emissions: %s; compare numbers of clusters and states by "
        "their BIC and stability (vhem choose)%s",
        where, family->name, family->no_prior, *where ? ", or leave such columns out" : "");
    return VHEM_OK;
}

/* Storage of this prior, and of its channels. */
static vhem_status make_room(vhem_ctx *ctx, vh_prior *p)
{
    VH_NEW(p->m, vh_prior_means(p));
    VH_NEW(p->B, vh_prior_size(p));
    VH_NEW(p->count, vh_prior_counts(p));
    if (p->family->prior != VH_PRIOR_CHANNELS)
        return VHEM_OK;
    VH_NEW(p->channel, p->shape.layout->n_channel);
    p->n_channel = p->shape.layout->n_channel;
    for (int c = 0; c < p->n_channel; c++) {
        const vh_channel *ch = &p->shape.layout->channel[c];
        VH_TRY(vh_prior_new_shaped(ctx, ch->family, &ch->shape, &p->channel[c]));
    }
    return VHEM_OK;
}

vhem_status vh_prior_new_shaped(vhem_ctx *ctx, const vh_emission *family, const vh_shape *shape,
                                vh_prior **out)
{
    VH_OWN(vh_prior) *p = NULL;

    VH_TRY(vh_prior_require(ctx, family, shape));
    VH_NEW(p, 1);
    *p = (vh_prior){ .family = family, .shape = *shape, .d = shape->d, .alpha = 1, .broad = true };
    vh_layout_keep(shape->layout);
    VH_TRY(make_room(ctx, p));
    *out = vh_take(p);
    return VHEM_OK;
}

vhem_status vh_prior_new(vhem_ctx *ctx, const vh_emission *family, int d, vh_prior **out)
{
    return vh_prior_new_shaped(ctx, family, &(vh_shape){ .d = d }, out);
}

void vh_prior_free(vh_prior *p)
{
    if (!p)
        return;
    for (int c = 0; c < p->n_channel; c++)
        vh_prior_free(p->channel[c]);
    free(p->channel);
    free(p->m);
    free(p->B);
    free(p->variance);
    free(p->within);
    free(p->still);
    free(p->count);
    vh_frames_prior_free(&p->made_up);
    vh_layout_drop(p->shape.layout);
    free(p);
}

vhem_status vh_prior_copy(vhem_ctx *ctx, const vh_prior *p, vh_prior **out)
{
    VH_OWN(vh_prior) *copy = NULL;
    VH_CLEANUP(vh_frames_prior_free) vh_frames_prior made_up = p->made_up;
    int64_t all[] = { 0 };

    if (p->made_up.model) {
        made_up.model = NULL;
        VH_TRY(vh_h3m_subset(ctx, p->made_up.model, all, 1, &made_up.model));
        VH_TRY(vh_prior_from_frames(ctx, &made_up, &copy));
    } else {
        VH_TRY(vh_prior_new_shaped(ctx, p->family, &p->shape, &copy));
    }
    copy->alpha = p->alpha;
    copy->eta = p->eta;
    copy->eps = p->eps;
    copy->kappa = p->kappa;
    copy->lambda = p->lambda;
    copy->nu = p->nu;
    copy->broad = p->broad;
    memcpy(copy->m, p->m, sizeof *p->m * vh_prior_means(p));
    memcpy(copy->B, p->B, sizeof *p->B * vh_prior_size(p));
    if (p->variance) {
        VH_NEW(copy->variance, p->d);
        memcpy(copy->variance, p->variance, sizeof *p->variance * (size_t)p->d);
    }
    if (p->within) {
        VH_NEW(copy->within, p->d);
        memcpy(copy->within, p->within, sizeof *p->within * (size_t)p->d);
    }
    if (p->still) {
        VH_NEW(copy->still, p->d);
        memcpy(copy->still, p->still, sizeof *p->still * (size_t)p->d);
        copy->n_still = p->n_still;
    }
    *out = vh_take(copy);
    return VHEM_OK;
}

/* What so many frames of the component say; its variances are not 0. */
static vhem_status begin(vhem_ctx *ctx, vh_prior *p, double frames, double *const *par)
{
    double *of[VH_MAX_PARAM];

    if (p->family->counts)
        p->family->counts->begin(&p->shape, frames, (const double *const *)par, p->count);
    for (int c = 0; c < p->n_channel; c++) {
        vh_channel_par(&p->shape.layout->channel[c], par, of);
        VH_TRY(begin(ctx, p->channel[c], frames, of));
    }
    if (!vh_prior_normal(p->family))
        return VHEM_OK;
    p->lambda = frames;
    p->nu = frames + (vh_prior_full(p->family) ? p->d - 1 : 0);
    memcpy(p->m, par[0], sizeof *p->m * (size_t)p->d);
    for (size_t e = 0; e < vh_prior_size(p); e++)
        p->B[e] = frames * par[1][e];
    for (int k = 0; k < p->d; k++)
        VH_CHECK(p->B[vh_scatter_at(p->family, p->d, k)] > 0, VHEM_EINVAL,
                 "the component of the prior has the variance 0 in dimension %d", k);
    return VHEM_OK;
}

vhem_status vh_prior_from_frames(vhem_ctx *ctx, vh_frames_prior *from, vh_prior **out)
{
    VH_OWN(vh_prior) *p = NULL;
    double *par[VH_MAX_PARAM];

    VH_TRY(vh_prior_new_shaped(ctx, from->model->family, &from->model->shape, &p));
    p->eta = p->eps = p->kappa = from->count;
    p->made_up = *from;
    from->model = NULL;
    vh_hmm_component(p->made_up.model, &p->made_up.model->hmm[0], 0, 0, par);
    VH_TRY(begin(ctx, p, p->made_up.frames, par));
    *out = vh_take(p);
    return VHEM_OK;
}

/* Has column k no covariance with others? */
static bool alone(const vh_prior *p, int k)
{
    bool yes = true;
    for (int i = 0; vh_prior_full(p->family) && i < p->d; i++)
        yes = yes && (i == k || p->B[vh_ij(i, p->d, k)] == 0);
    return yes;
}

vhem_status vh_prior_set_still(vhem_ctx *ctx, const bool *never_varies, const double *mean, bool given,
                               vh_prior *p)
{
    bool normal = vh_prior_normal(p->family);

    for (int c = 0; c < p->n_channel; c++) {
        int k = p->shape.layout->channel[c].column;
        VH_TRY(vh_prior_set_still(ctx, never_varies + k, mean + k, given, p->channel[c]));
    }
    VH_NEW(p->still, p->d);
    for (int k = 0; k < p->d && p->n_channel == 0; k++) {
        bool same = normal ? p->m[k] == mean[k] && (!p->variance || p->variance[k] == 0) : !given;
        p->still[k] = never_varies[k] && same && (!normal || alone(p, k));
        p->n_still += p->still[k];
    }
    return VHEM_OK;
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

/* What components are drawn from; W [vh_prior_size] is scratch. */
static vhem_status print_components(vhem_ctx *ctx, const vh_prior *p, double *W, FILE *f)
{
    int64_t n[] = { p->d, p->d };

    if (!vh_prior_normal(p->family)) {
        print_number(f, "frames", p->made_up.frames);
        print_number(f, "count", p->made_up.count);
        fputs(", \"model\": ", f);
        VH_TRY(vh_model_print_json(ctx, p->made_up.model, f));
        putc('}', f);
        return VHEM_OK;
    }
    print_number(f, "lambda", p->lambda);
    print_number(f, "nu", p->nu);
    vh_json_print_array(f, ", ", "m", 1, n, p->m);
    vh_json_print_array(f, ", ", "W", scale_rank(p, W), n, W);
    if (p->variance)
        vh_json_print_array(f, ", ", "variance", 1, n, p->variance);
    if (p->within)
        vh_json_print_array(f, ", ", "within", 1, n, p->within);
    fprintf(f, ", \"start\": \"%s\"}", p->broad ? "broad" : "ml");
    return VHEM_OK;
}

vhem_status vh_prior_text(vhem_ctx *ctx, const vh_prior *p, char **out)
{
    vhem_status st = VHEM_OK;
    VH_AUTOFREE double *W = NULL;
    VH_AUTOFREE char *text = NULL;
    size_t size;

    VH_NEW(W, vh_prior_size(p));
    memcpy(W, p->B, sizeof *W * vh_prior_size(p));
    VH_CHECK(!vh_prior_normal(p->family) || vh_prior_invert(p, W), VHEM_ENUMERIC,
             "the scale of the prior is singular");
    FILE *f = open_memstream(&text, &size);
    VH_CHECK(f, VHEM_ENOMEM, "out of memory: no room for the text of a prior");
    fprintf(f, "{\"format\": \"vhem-prior\", \"version\": %d, \"emission\": \"%s\", \"d\": %d", VERSION,
            p->family->name, p->d);
    print_number(f, "alpha", p->alpha);
    print_number(f, "eta", p->eta);
    print_number(f, "eps", p->eps);
    print_number(f, "kappa", p->kappa);
    st = print_components(ctx, p, W, f);
    vhem_status closed = vh_text_close(ctx, f, &text);
    VH_TRY(st);
    VH_TRY(closed);
    *out = vh_take(text);
    return VHEM_OK;
}

static vhem_status read_number(vhem_ctx *ctx, json_t *root, const char *key, double above, double *out)
{
    json_t *v = json_object_get(root, key);
    VH_CHECK(v, VHEM_EFORMAT, "%s is missing", key);
    VH_CHECK(json_is_number(v), VHEM_EFORMAT, "%s is %s, must be a number", key, vh_json_kind(v));
    *out = json_number_value(v);
    VH_CHECK(*out > above && isfinite(*out), VHEM_EFORMAT, "%s is %g, must be more than %g", key, *out,
             above);
    return VHEM_OK;
}

/* Can x [vh_prior_size] be inverted, to numbers? */
static vhem_status invertible(vhem_ctx *ctx, const vh_prior *p, const double *x, bool *yes)
{
    VH_AUTOFREE double *copy = NULL;

    *yes = true;
    for (size_t e = 0; e < vh_prior_size(p); e++)
        *yes = *yes && isfinite(x[e]);
    VH_NEW(copy, vh_prior_size(p));
    memcpy(copy, x, sizeof *x * vh_prior_size(p));
    *yes = *yes && vh_prior_invert(p, copy);
    for (size_t e = 0; e < vh_prior_size(p); e++)
        *yes = *yes && isfinite(copy[e]);
    return VHEM_OK;
}

/* W, and B from it.  A full prior may give the diagonal of W alone. */
static vhem_status read_scale(vhem_ctx *ctx, json_t *root, vh_prior *p)
{
    bool full = vh_prior_full(p->family), back;
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
        for (int j = 0; j < i;
             j++) { /* to rounding, as an inverse is; the same in both places from here on */
            double below = p->B[i * d + j], above = p->B[j * d + i];
            VH_CHECK(fabs(below - above) <= 1e-6 * sqrt(fabs(p->B[i * d + i] * p->B[j * d + j])),
                     VHEM_EFORMAT, "W is not symmetric");
            p->B[i * d + j] = p->B[j * d + i] = below == above ? below : (below + above) / 2;
        }
    VH_CHECK(vh_prior_invert(p, p->B), VHEM_EFORMAT, "W is not positive%s", full ? " definite" : "");
    VH_TRY(invertible(ctx, p, p->B, &back));
    VH_CHECK(back, VHEM_EFORMAT, "W has no inverse in numbers: it is nearly singular, or too small");
    return VHEM_OK;
}

/* *out [d]; it stays NULL where the prior has none under the key. */
static vhem_status read_variance(vhem_ctx *ctx, json_t *root, const char *key, int d, double **out)
{
    vh_json_array a = { .key = key, .rank = 1, .dim = { { "d", d } } };

    if (!json_object_get(root, key))
        return VHEM_OK;
    VH_NEW(*out, d);
    VH_TRY(vh_json_numbers(ctx, root, &a, *out));
    for (int k = 0; k < d; k++)
        VH_CHECK((*out)[k] >= 0, VHEM_EFORMAT, "%s[%d] is %g, must not be negative", key, k, (*out)[k]);
    return VHEM_OK;
}

/* The rest of a prior of Gaussians. */
static vhem_status read_normal(vhem_ctx *ctx, json_t *root, const vh_emission *family, int d, vh_prior **out)
{
    VH_OWN(vh_prior) *p = NULL;
    const char *start = json_string_value(json_object_get(root, "start"));
    vh_json_array m = { .key = "m", .rank = 1, .dim = { { "d", d } } };

    VH_TRY(vh_json_numbers(ctx, root, &m, NULL)); /* before anything is allocated */
    VH_TRY(vh_prior_new(ctx, family, d, &p));
    VH_TRY(vh_json_numbers(ctx, root, &m, p->m));
    VH_TRY(read_number(ctx, root, "lambda", 0, &p->lambda));
    VH_TRY(read_number(ctx, root, "nu", vh_prior_full(family) ? d - 1 : 0, &p->nu));
    VH_TRY(read_scale(ctx, root, p));
    VH_TRY(read_variance(ctx, root, "variance", d, &p->variance));
    VH_TRY(read_variance(ctx, root, "within", d, &p->within));
    VH_CHECK(!start || strcmp(start, "broad") == 0 || strcmp(start, "ml") == 0, VHEM_EFORMAT,
             "start is '%.80s', must be broad or ml", start);
    p->broad = !start || strcmp(start, "broad") == 0;
    *out = vh_take(p);
    return VHEM_OK;
}

static vhem_status read_prior(vhem_ctx *ctx, json_t *root, vh_prior **out)
{
    VH_OWN(vh_prior) *p = NULL;
    VH_CLEANUP(vh_frames_prior_free) vh_frames_prior frames = { 0 };
    const char *format = "", *emission = "";
    int d;

    VH_TRY(vh_json_required_text(ctx, root, "format", &format));
    VH_CHECK(strcmp(format, "vhem-prior") == 0, VHEM_EFORMAT, "format is '%.80s', must be 'vhem-prior'",
             format);
    VH_TRY(vh_json_version(ctx, root, VERSION));
    VH_TRY(vh_json_required_text(ctx, root, "emission", &emission));
    const vh_emission *family = vh_emission_find(emission);
    VH_CHECK(family, VHEM_EFORMAT, "emission is '%.80s', must be one of: %s", emission, vh_emission_names());
    VH_TRY(vh_json_count(ctx, root, "d", &d));
    if (vh_prior_normal(family)) {
        VH_TRY(read_normal(ctx, root, family, d, &p));
    } else {
        VH_TRY(vh_frames_prior_from_json(ctx, root, &frames));
        VH_TRY(vh_prior_from_frames(ctx, &frames, &p));
    }
    const struct {
        const char *key;
        double *to;
        bool optional;
    } row[] = { { "alpha", &p->alpha, true },
                { "eta", &p->eta, p->made_up.model },
                { "eps", &p->eps, p->made_up.model },
                { "kappa", &p->kappa, p->made_up.model } };
    for (int k = 0; k < 4; k++)
        if (!row[k].optional || json_object_get(root, row[k].key))
            VH_TRY(read_number(ctx, root, row[k].key, 0, row[k].to));
    *out = vh_take(p);
    return VHEM_OK;
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
    VH_OWN(vh_prior) *p = NULL;

    VH_TRY(vh_prior_read(ctx, text, &p));
    VH_CHECK(p->d == d, VHEM_EINVAL, "the prior has dimension %d, must be %d, that of %s", p->d, d, what);
    VH_CHECK(strcmp(p->family->name, emission) == 0, VHEM_EINVAL, "the prior is for %s models, not for %s",
             p->family->name, emission);
    *out = vh_take(p);
    return VHEM_OK;
}

/* The prior in a model file, or a file that is a prior. */
static vhem_status read_json_file(vhem_ctx *ctx, const char *text, size_t size, char **out)
{
    VH_OWN(json_t) *root = NULL;

    VH_TRY(vh_json_parse(ctx, text, size, &root));
    const char *format = json_string_value(json_object_get(root, "format"));
    json_t *prior = format && strcmp(format, "vhem-prior") == 0 ? root : json_object_get(root, "prior");
    VH_CHECK(json_is_object(prior), VHEM_EFORMAT, "it has no prior: it was not fitted with one");
    if (prior != root
        && json_is_array(json_object_get(root, "columns"))) /* else priors written before lack them */
        json_object_set(prior, "columns", json_object_get(root, "columns"));
    return vh_json_keep(ctx, prior, out);
}

vhem_status vh_prior_load(vhem_ctx *ctx, const char *path, char **out)
{
    vhem_status st = VHEM_OK;
    VH_OWN(vh_h3m) *h3m = NULL;
    VH_AUTOFREE char *text = NULL;
    size_t size = 0;

    VH_TRY(vh_model_read(ctx, path, &text, &size));
    if (text) {
        st = read_json_file(ctx, text, size, out);
        if (st != VHEM_OK)
            vh_error_prefix(ctx, path);
        return st;
    }
    VH_TRY(vh_h3m_load(ctx, path, &h3m));
    VH_CHECK(h3m->prior, VHEM_EFORMAT, "%s: it has no prior: it was not fitted with one", path);
    if (h3m->shape.layout && h3m->shape.layout->column)
        VH_TRY(
            vh_prior_add_columns(ctx, (const char *const *)h3m->shape.layout->column, h3m->d, &h3m->prior));
    *out = h3m->prior;
    h3m->prior = NULL;
    return VHEM_OK;
}
