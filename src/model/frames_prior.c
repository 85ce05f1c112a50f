/* SPDX-License-Identifier: BSD-3-Clause */
/* frames_prior.c - see frames_prior.h. */
#define _GNU_SOURCE /* open_memstream */
#include "model/frames_prior.h"

#include "core/alloc.h"
#include "core/number.h"
#include "core/text.h"
#include "model/json.h"

#include <math.h>
#include <string.h>

#define VERSION 1

void vh_frames_prior_free(vh_frames_prior *p)
{
    vh_h3m_free(p->model);
    *p = (vh_frames_prior){ 0 };
}

vhem_status vh_frames_prior_text(vhem_ctx *ctx, const vh_frames_prior *p, char **out)
{
    vhem_status st = VHEM_OK;
    VH_AUTOFREE char *text = NULL;
    char frames[VH_NUMBER_SIZE], count[VH_NUMBER_SIZE];
    size_t size;
    FILE *f = open_memstream(&text, &size);

    VH_CHECK(f, VHEM_ENOMEM, "out of memory: no room for the text of a prior");
    vh_number_text(p->frames, frames);
    vh_number_text(p->count, count);
    fprintf(f,
            "{\"format\": \"vhem-prior\", \"version\": %d, \"emission\": \"%s\", \"d\": %d, \"frames\": %s, "
            "\"count\": %s, \"model\": ",
            VERSION, p->model->family->name, p->model->d, frames, count);
    st = vh_model_print_json(ctx, p->model, f);
    putc('}', f);
    vhem_status closed = vh_text_close(ctx, f, &text);
    VH_TRY(st);
    VH_TRY(closed);
    *out = vh_take(text);
    return VHEM_OK;
}

static vhem_status read_number(vhem_ctx *ctx, json_t *root, const char *key, double *out)
{
    json_t *v = json_object_get(root, key);
    VH_CHECK(json_is_number(v), VHEM_EFORMAT, "%s is %s, must be a number", key,
             v ? vh_json_kind(v) : "missing");
    *out = json_number_value(v);
    VH_CHECK(*out > 0 && isfinite(*out), VHEM_EFORMAT, "%s is %g, must be more than 0", key, *out);
    return VHEM_OK;
}

vhem_status vh_frames_prior_from_json(vhem_ctx *ctx, json_t *root, vh_frames_prior *p)
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
    VH_TRY(read_number(ctx, root, "frames", &p->frames));
    VH_TRY(read_number(ctx, root, "count", &p->count));
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
        st = vh_frames_prior_from_json(ctx, root, &p);
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
