/* SPDX-License-Identifier: BSD-3-Clause */
/* classes_json.c - the file of class models, docs/formats.md. */
#include "annotate/classes.h"
#include "annotate/settings.h"
#include "core/alloc.h"
#include "core/file.h"
#include "core/number.h"
#include "core/text.h"
#include "model/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char format[] = "vhem-classes";

/* ---- writing ------------------------------------------------------------------------------------------- */

static vhem_status print_class(vhem_ctx *ctx, const vh_class *c, FILE *f)
{
    vhem_status st = VHEM_OK;
    char number[VH_NUMBER_SIZE];

    fputs("  {\"name\": ", f);
    vh_text_json(f, c->name);
    vh_number_text(c->prior, number);
    fprintf(f, ", \"prior\": %s, \"things\": %d,\n   \"pieces\": [", number, c->things);
    for (int p = 0; p < c->n_part; p++)
        fprintf(f, "%s[\"%s\", %d]", p > 0 ? ", " : "", c->part[p].key.text, c->part[p].things);
    fputs("],\n   \"model\": ", f);
    VH_TRY(vh_model_print_json(ctx, c->model, f));
    putc('}', f);
done:
    return st;
}

static vhem_status print_classes(vhem_ctx *ctx, const vhem_classes *k, const char *provenance, FILE *f)
{
    vhem_status st = VHEM_OK;
    /* From 2^63 on a seed is written as the negative number of the same bits, which JSON readers can hold. */
    fprintf(f, "{\"format\": \"%s\", \"version\": %d, \"tags\": %s, \"seed\": %" PRId64 ",\n \"train\": ",
            format, VH_CLASSES_VERSION, k->tags ? "true" : "false", (int64_t)k->seed);
    vh_settings_print(f, vh_train_settings, &k->opt);
    fputs(",\n \"piece\": ", f);
    vh_settings_print(f, vh_fit_settings, &k->opt.piece);
    fputs(",\n \"reduce\": ", f);
    vh_settings_print(f, vh_reduce_settings, &k->opt.reduce);
    fputs(",\n \"classes\": [\n", f);
    for (int c = 0; c < k->C && !ferror(f); c++) {
        VH_TRY(print_class(ctx, &k->cls[c], f));
        fputs(c + 1 < k->C ? ",\n" : "]", f);
    }
    if (provenance)
        fprintf(f, ",\n \"provenance\": %s", provenance);
    putc('}', f);
done:
    return st;
}

/* The pieces of a whole must fit together, or nobody could be compared: before they are written, and after
 * they are read. */
static vhem_status check_whole(vhem_ctx *ctx, const vhem_classes *k)
{
    vhem_status st = VHEM_OK;
    const vh_h3m *first = k->cls[0].model;
    double sum = 0;
    for (int c = 0; c < k->C; c++) {
        const vh_h3m *m = k->cls[c].model;
        VH_CHECK(m->d == first->d && m->family == first->family, VHEM_EFORMAT,
                 "class '%.100s' has %s emissions of dimension %d, '%.100s' %s of %d", k->cls[c].name,
                 m->family->name, m->d, k->cls[0].name, first->family->name, first->d);
        sum += k->cls[c].prior;
    }
    VH_CHECK(fabs(sum - 1) < 1e-6, VHEM_EFORMAT, "the priors sum to %.10g, must be 1", sum);
done:
    return st;
}

vhem_status vhem_classes_save(vhem_ctx *ctx, const vhem_classes *k, const char *provenance, const char *path)
{
    vhem_status st = VHEM_OK;
    vh_out out = { 0 };

    if (!provenance)
        provenance = k->provenance;
    VH_TRY(check_whole(ctx, k));
    if (provenance)
        VH_TRY(vh_model_check_object(ctx, "provenance", provenance));
    VH_TRY(vh_out_open(ctx, path, &out));
    st = vh_out_end(ctx, print_classes(ctx, k, provenance, out.f), &out);
done:
    vh_out_close(&out);
    return st;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

enum { MAX_THINGS = 1 << 30 };

static vhem_status read_parts(vhem_ctx *ctx, json_t *list, vh_class *c)
{
    vhem_status st = VHEM_OK;
    size_t p;
    json_t *v;

    json_array_foreach(list, p, v)
    {
        const char *key = json_string_value(json_array_get(v, 0));
        json_t *things = json_array_get(v, 1);
        vh_key name;
        vh_part *part;
        VH_CHECK(
            key && strlen(key) == sizeof name.text - 1 && json_is_integer(things)
                && json_integer_value(things) > 0 && json_integer_value(things) <= MAX_THINGS - c->things,
            VHEM_EFORMAT, "pieces[%zu] must be a key of %zu letters and a number", p, sizeof name.text - 1);
        strcpy(name.text, key);
        VH_TRY(vh_class_put(ctx, c, &name, &part));
        VH_CHECK(part->things == 0, VHEM_EFORMAT, "pieces[%zu] is there twice", p);
        part->things = (int)json_integer_value(things);
        c->things += part->things; /* unless the file says how many */
    }
done:
    return st;
}

static vhem_status read_class(vhem_ctx *ctx, json_t *v, vhem_classes *k)
{
    vhem_status st = VHEM_OK;
    const char *name = json_string_value(json_object_get(v, "name"));
    json_t *prior = json_object_get(v, "prior"), *things = json_object_get(v, "things"),
           *model = json_object_get(v, "model");
    vh_class *c;
    int before = k->C;

    VH_CHECK(name, VHEM_EFORMAT, "it has no name");
    VH_TRY(vh_classes_put(ctx, k, name, &c));
    VH_CHECK(k->C > before, VHEM_EFORMAT, "'%.100s' is there twice", name);
    VH_CHECK(json_is_number(prior) && json_number_value(prior) >= 0, VHEM_EFORMAT,
             "prior must be a number of 0 or more");
    VH_CHECK(json_is_object(model), VHEM_EFORMAT, "it has no model");
    VH_TRY(read_parts(ctx, json_object_get(v, "pieces"), c));
    c->prior = json_number_value(prior);
    if (things) {
        VH_CHECK(json_is_integer(things) && json_integer_value(things) > 0
                     && json_integer_value(things) <= MAX_THINGS,
                 VHEM_EFORMAT, "things must be a whole number from 1 to %d", MAX_THINGS);
        c->things = (int)json_integer_value(things);
    }
    VH_TRY(vh_model_from_json(ctx, model, &c->model));
done:
    return st;
}

static vhem_status check_head(vhem_ctx *ctx, json_t *root)
{
    vhem_status st = VHEM_OK;
    const char *found = json_string_value(json_object_get(root, "format"));
    json_t *version = json_object_get(root, "version");

    VH_CHECK(json_is_object(root), VHEM_EFORMAT, "the file is %s, must be an object", vh_json_kind(root));
    VH_CHECK(found && strcmp(found, format) == 0, VHEM_EFORMAT, "format is '%.40s', must be '%s'",
             found ? found : "", format);
    VH_CHECK(json_is_integer(version), VHEM_EFORMAT, "version is missing or no whole number");
    VH_CHECK(json_integer_value(version) <= VH_CLASSES_VERSION, VHEM_EFORMAT,
             "version is %lld, this program reads up to %d", (long long)json_integer_value(version),
             VH_CLASSES_VERSION);
    VH_CHECK(json_array_size(json_object_get(root, "classes")) > 0, VHEM_EFORMAT, "there are no classes");
done:
    return st;
}

static vhem_status read_classes(vhem_ctx *ctx, json_t *root, vhem_classes **out)
{
    vhem_status st = VHEM_OK;
    vhem_classes *k = NULL;
    char where[32];
    size_t c;
    json_t *v;

    VH_TRY(check_head(ctx, root));
    VH_TRY(vh_classes_new(ctx, NULL, &k));
    VH_TRY(vh_settings_read(ctx, json_object_get(root, "train"), vh_train_settings, &k->names, &k->opt));
    VH_TRY(vh_settings_read(ctx, json_object_get(root, "piece"), vh_fit_settings, &k->names, &k->opt.piece));
    VH_TRY(vh_settings_read(ctx, json_object_get(root, "reduce"), vh_reduce_settings, &k->names,
                            &k->opt.reduce));
    k->opt = vh_train_filled(&k->opt);
    if (!k->opt.piece.prior) /* of a time when there were none */
        k->opt.piece.prior = "none";
    k->tags = json_is_true(json_object_get(root, "tags"));
    k->seed = (uint64_t)json_integer_value(json_object_get(root, "seed"));
    json_array_foreach(json_object_get(root, "classes"), c, v)
    {
        st = read_class(ctx, v, k);
        if (st != VHEM_OK) {
            snprintf(where, sizeof where, "class %zu", c);
            vh_error_prefix(ctx, where);
            goto done;
        }
    }
    VH_TRY(check_whole(ctx, k));
    if (json_is_object(json_object_get(root, "provenance")))
        VH_TRY(vh_json_keep(ctx, json_object_get(root, "provenance"), &k->provenance));
    *out = k;
    k = NULL;
done:
    vhem_classes_free(k);
    return st;
}

vhem_status vhem_classes_load(vhem_ctx *ctx, const char *path, vhem_classes **out)
{
    vhem_status st = VHEM_OK;
    char *text = NULL;
    size_t size;
    json_t *root = NULL;

    VH_TRY(vh_read_all(ctx, path, &text, &size));
    root = vh_json_parse(ctx, text, size);
    st = root ? read_classes(ctx, root, out) : VHEM_EFORMAT;
    if (st != VHEM_OK)
        vh_error_prefix(ctx, strcmp(path, "-") == 0 ? "standard input" : path);
done:
    json_decref(root);
    free(text);
    return st;
}
