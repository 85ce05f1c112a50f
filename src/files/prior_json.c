/* SPDX-License-Identifier: BSD-3-Clause */
/* prior_json.c - see prior_json.h.
 *
 *   1. priors of pseudo-frames      2. all priors      3. in files */
#include "files/prior_json.h"

#include "os/stream.h"
#include "core/alloc.h"
#include "core/number.h"
#include "core/text.h"
#include "files/hmm_file.h"
#include "files/json.h"
#include "emission/layout.h"
#include "files/prior_columns.h"

#include <math.h>
#include <string.h>

#define VERSION 1

/* ---- 1. priors of pseudo-frames ------------------------------------------------------------------------ */

vhem_status vh_frames_prior_text(vhem_ctx *ctx, const vh_frames_prior *p, char **out)
{
    vhem_status st = VHEM_OK;
    VH_AUTOFREE char *text = NULL;
    char frames[VH_NUMBER_SIZE], count[VH_NUMBER_SIZE];
    size_t size;
    FILE *f = vh_memory_open(&text, &size);

    VH_CHECK(f, VHEM_ENOMEM, "out of memory: no room for the text of a prior");
    vh_number_text(p->frames, frames);
    vh_number_text(p->count, count);
    fprintf(f,
            "{\"format\": \"vhem-prior\", \"version\": %d, \"emission\": \"%s\", \"d\": %d, \"frames\": %s, "
            "\"count\": %s, \"model\": ",
            VERSION, p->model->family->name, p->model->d, frames, count);
    st = vh_model_print_json(ctx, p->model, f);
    putc('}', f);
    vhem_status closed = vh_text_close(ctx, f, &text, &size);
    VH_TRY(st);
    VH_TRY(closed);
    *out = vh_take(text);
    return VHEM_OK;
}

static vhem_status read_positive(vhem_ctx *ctx, json_t *root, const char *key, double *out)
{
    json_t *v = json_object_get(root, key);
    VH_CHECK(json_is_number(v), VHEM_EFORMAT, "%s is %s, must be a number", key,
             v ? vh_json_kind(v) : "missing");
    *out = json_number_value(v);
    VH_CHECK(*out > 0 && isfinite(*out), VHEM_EFORMAT, "%s is %g, must be more than 0", key, *out);
    return VHEM_OK;
}

static vhem_status frames_prior_from(vhem_ctx *ctx, json_t *root, vh_frames_prior *p)
{
    int d;
    const char *format = "", *emission = "";

    VH_TRY(vh_json_required_text(ctx, root, "format", &format));
    VH_CHECK(strcmp(format, "vhem-prior") == 0, VHEM_EFORMAT, "format is '%.80s', must be 'vhem-prior'",
             format);
    VH_TRY(vh_json_version(ctx, root, VERSION));
    VH_TRY(vh_json_required_text(ctx, root, "emission", &emission));
    VH_CHECK(json_object_get(root, "frames"), VHEM_EFORMAT,
             "it is a prior for %.80s models and has no made-up frames, which this emission needs", emission);
    VH_TRY(read_positive(ctx, root, "frames", &p->frames));
    VH_TRY(read_positive(ctx, root, "count", &p->count));
    VH_CHECK(json_is_object(json_object_get(root, "model")), VHEM_EFORMAT,
             "model is missing: the component that made-up frames come from");
    VH_TRY(vh_model_from_json(ctx, json_object_get(root, "model"), NULL, &p->model));
    VH_CHECK(
        p->model->K == 1 && p->model->hmm[0].S * p->model->hmm[0].M == 1, VHEM_EFORMAT,
        "the model has %lld HMMs, the first of %d states; must be one HMM of one state and one component",
        (long long)p->model->K, p->model->hmm[0].S);
    VH_TRY(vh_json_count(ctx, root, "d", &d));
    VH_CHECK(d == p->model->d && strcmp(emission, p->model->family->name) == 0, VHEM_EFORMAT,
             "it is for %.80s models of dimension %d, but its component is %s of dimension %d", emission, d,
             p->model->family->name, p->model->d);
    return VHEM_OK;
}

vhem_status vh_frames_prior_read(vhem_ctx *ctx, const char *text, vh_frames_prior *out)
{
    json_t *root = NULL;
    vh_frames_prior p = { 0 };
    vhem_status st = vh_json_object(ctx, "the prior", text, &root);
    if (st == VHEM_OK)
        st = frames_prior_from(ctx, root, &p);
    json_decref(root);
    if (st == VHEM_OK) {
        *out = p;
        return VHEM_OK;
    }
    if (root)
        vh_error_prefix(ctx, "prior");
    vh_frames_prior_free(&p);
    return st;
}

bool vh_frames_prior_is(vhem_ctx *ctx, const char *text)
{
    json_t *root = NULL;
    bool is = text && *text == '{' && vh_json_object(ctx, "the prior", text, &root) == VHEM_OK
              && json_object_get(root, "frames");
    json_decref(root);
    return is;
}

/* ---- 2. all priors ------------------------------------------------------------------------------------- */

static void print_number(FILE *f, const char *key, double x)
{
    char text[VH_NUMBER_SIZE];
    vh_number_text(x, text);
    fprintf(f, ", \"%s\": %s", key, text);
}

/* Rank of W; a full scale matrix that is diagonal is written as its diagonal, moved to the front of W. */
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

/* Prints the prior of components; W [vh_prior_size] is scratch. */
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
    FILE *f = vh_memory_open(&text, &size);
    VH_CHECK(f, VHEM_ENOMEM, "out of memory: no room for the text of a prior");
    fprintf(f, "{\"format\": \"vhem-prior\", \"version\": %d, \"emission\": \"%s\", \"d\": %d", VERSION,
            p->family->name, p->d);
    print_number(f, "alpha", p->alpha);
    print_number(f, "eta", p->eta);
    print_number(f, "eps", p->eps);
    print_number(f, "kappa", p->kappa);
    st = print_components(ctx, p, W, f);
    vhem_status closed = vh_text_close(ctx, f, &text, &size);
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

/* Sets *yes if x [vh_prior_size] is finite and has a finite inverse. */
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

/* Reads W and computes B.  A full prior may give only the diagonal of W. */
static vhem_status read_scale(vhem_ctx *ctx, json_t *root, vh_prior *p)
{
    bool full = vh_prior_full(p->family), back;
    json_t *W = json_object_get(root, "W");
    int d = p->d, rank = full && json_is_array(json_array_get(W, 0)) ? 2 : 1;
    vh_named_array a = { .name = "W", .rank = rank, .dim = { { "d", d }, { "d", d } } };

    VH_TRY(vh_json_numbers(ctx, root, &a, p->B));
    for (int k = d - 1; full && rank == 1 && k >= 0; k--) { /* spread along the diagonal, backwards */
        double w = p->B[k];
        p->B[k] = 0;
        p->B[k * d + k] = w;
    }
    for (int i = 0; full && i < d; i++)
        for (int j = 0; j < i;
             j++) { /* symmetric up to rounding, like an inverse; exactly symmetric afterwards */
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

/* Reads *out [d]; it stays NULL if the key is absent. */
static vhem_status read_variance(vhem_ctx *ctx, json_t *root, const char *key, int d, double **out)
{
    vh_named_array a = { .name = key, .rank = 1, .dim = { { "d", d } } };

    if (!json_object_get(root, key))
        return VHEM_OK;
    VH_NEW(*out, d);
    VH_TRY(vh_json_numbers(ctx, root, &a, *out));
    for (int k = 0; k < d; k++)
        VH_CHECK((*out)[k] >= 0, VHEM_EFORMAT, "%s[%d] is %g, must not be negative", key, k, (*out)[k]);
    return VHEM_OK;
}

/* Reads the remaining parameters of a Gaussian prior. */
static vhem_status read_normal(vhem_ctx *ctx, json_t *root, const vh_emission *family, int d, vh_prior **out)
{
    VH_OWN(vh_prior) *p = NULL;
    const char *start = json_string_value(json_object_get(root, "start"));
    vh_named_array m = { .name = "m", .rank = 1, .dim = { { "d", d } } };

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
        VH_TRY(frames_prior_from(ctx, root, &frames));
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

/* ---- 3. in files --------------------------------------------------------------------------------------- */

/* Reads the prior of a model file, or a prior file. */
static vhem_status read_json_file(vhem_ctx *ctx, const char *text, size_t size, char **out)
{
    VH_OWN(json_t) *root = NULL;

    VH_TRY(vh_json_parse(ctx, text, size, &root));
    const char *format = json_string_value(json_object_get(root, "format"));
    json_t *prior = format && strcmp(format, "vhem-prior") == 0 ? root : json_object_get(root, "prior");
    VH_CHECK(json_is_object(prior), VHEM_EFORMAT, "it has no prior: it was not fitted with one");
    if (prior != root && json_is_array(json_object_get(root, "columns"))) /* older priors lack them */
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
