/* SPDX-License-Identifier: BSD-3-Clause */
/* classes_json.c - reads and writes class model files, docs/formats.md. */
#include "classify/classes.h"
#include "classify/classes_json.h"
#include "core/alloc.h"
#include "core/atomic_file.h"
#include "core/number.h"
#include "core/options.h"
#include "fit/options.h"
#include "core/text.h"
#include "files/hmm_file.h"
#include "files/json.h"
#include "files/options_json.h"
#include "vhem/classes.h"
#include "vhem.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char format[] = "vhem-classes";

/* ---- writing ------------------------------------------------------------------------------------------- */

static vhem_status print_class(vhem_ctx *ctx, const vh_class *c, FILE *f)
{
    char number[VH_NUMBER_SIZE];

    fputs("  {\"name\": ", f);
    vh_text_json(f, c->name);
    vh_number_text(c->prior, number);
    fprintf(f, ", \"prior\": %s", number);
    if (c->items > 0) /* hand-made files may omit it; readers reject 0 */
        fprintf(f, ", \"things\": %lld", (long long)c->items);
    fputs(",\n   \"pieces\": [", f);
    for (int64_t p = 0; p < c->n_part; p++)
        fprintf(f, "%s[\"%s\", %lld]", p > 0 ? ", " : "", c->part[p].key.text, (long long)c->part[p].items);
    fputs("],\n   \"model\": ", f);
    VH_TRY(vh_models_print_json(ctx, c->model, f));
    putc('}', f);
    return VHEM_OK;
}

/* Options of a reduction include K, the models per class. */
static void print_options(FILE *f, vhem_option_set set, const void *record, int64_t K)
{
    const char *lead = "";
    putc('{', f);
    for (const vh_option *row = vh_options(set); row->shown.name; row++) {
        if (!vh_option_in_files(row, record))
            continue;
        if (set == VHEM_CLUSTER_OPTIONS && strcmp(row->shown.name, "S") == 0)
            fprintf(f, "%s\"K\": %lld", lead, (long long)K);
        vh_option_print(f, lead, row, record, false);
        lead = ", ";
    }
    putc('}', f);
}

static vhem_status print_classes(vhem_ctx *ctx, const vhem_classes *k, const char *provenance, FILE *f)
{
    /* A seed from 2^63 on is written as the negative number with the same bits, which JSON readers can
     * hold. */
    fprintf(f, "{\"format\": \"%s\", \"version\": %d, \"tags\": %s, \"seed\": %" PRId64 ",\n \"train\": ",
            format, VH_CLASSES_VERSION, k->tags ? "true" : "false", (int64_t)k->seed);
    print_options(f, VHEM_TRAIN_OPTIONS, &k->opt.all, 0);
    fputs(",\n \"piece\": ", f);
    print_options(f, VHEM_FIT_OPTIONS, &k->opt.piece, 0);
    fputs(",\n \"reduce\": ", f);
    print_options(f, VHEM_CLUSTER_OPTIONS, &k->opt.reduce, k->opt.all.K);
    fputs(",\n \"classes\": [\n", f);
    for (int c = 0; c < k->C && !ferror(f); c++) {
        VH_TRY(print_class(ctx, &k->cls[c], f));
        fputs(c + 1 < k->C ? ",\n" : "]", f);
    }
    if (provenance)
        fprintf(f, ",\n \"provenance\": %s", provenance);
    putc('}', f);
    return VHEM_OK;
}

/* Checks that the models of all classes are comparable; before writing and after reading. */
static vhem_status check_whole(vhem_ctx *ctx, const vhem_classes *k)
{
    vhem_models_facts first, m;
    double sum = 0;
    vhem_models_info(k->cls[0].model, &first);
    for (int c = 0; c < k->C; c++) {
        vhem_models_info(k->cls[c].model, &m);
        VH_CHECK(m.kind == first.kind, VHEM_EFORMAT, "class '%.100s' has %ss, '%.100s' %ss", k->cls[c].name,
                 vh_models_word(k->cls[c].model), k->cls[0].name, vh_models_word(k->cls[0].model));
        VH_CHECK(m.d == first.d && strcmp(m.emission, first.emission) == 0, VHEM_EFORMAT,
                 "class '%.100s' has %s emissions of dimension %d, '%.100s' %s of %d", k->cls[c].name,
                 m.emission, m.d, k->cls[0].name, first.emission, first.d);
        sum += k->cls[c].prior;
    }
    VH_CHECK(fabs(sum - 1) < 1e-6, VHEM_EFORMAT, "the priors sum to %.10g, must be 1", sum);
    return VHEM_OK;
}

vhem_status vhem_classes_save(vhem_ctx *ctx, const vhem_classes *k, const char *provenance, const char *path)
{
    VH_ENTER(k, path);
    VH_CLEANUP(vh_atomic_file_close) vh_atomic_file out = { 0 };

    if (!provenance)
        provenance = k->provenance;
    VH_TRY(check_whole(ctx, k));
    if (provenance)
        VH_TRY(vh_model_check_object(ctx, "provenance", provenance));
    VH_TRY(vh_atomic_file_open(ctx, path, &out));
    return vh_atomic_file_end(ctx, print_classes(ctx, k, provenance, out.f), &out);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

#define MAX_THINGS ((int64_t)1 << 53) /* largest count that every JSON reader can represent */

static vhem_status read_parts(vhem_ctx *ctx, json_t *list, vh_class *c)
{
    size_t p;
    json_t *v;

    json_array_foreach(list, p, v)
    {
        const char *key = json_string_value(json_array_get(v, 0));
        json_t *items = json_array_get(v, 1);
        vh_key name;
        vh_class_part *part;
        VH_CHECK(key && strlen(key) == sizeof name.text - 1 && json_is_integer(items)
                     && json_integer_value(items) > 0 && json_integer_value(items) <= MAX_THINGS - c->items,
                 VHEM_EFORMAT, "pieces[%zu] must be a key of %zu letters and a number", p,
                 sizeof name.text - 1);
        strcpy(name.text, key);
        VH_TRY(vh_class_put(ctx, c, &name, &part));
        VH_CHECK(part->items == 0, VHEM_EFORMAT, "pieces[%zu] appears twice", p);
        part->items = json_integer_value(items);
        c->items += part->items; /* overridden if the file gives the number */
    }
    return VHEM_OK;
}

static vhem_status read_class(vhem_ctx *ctx, json_t *v, vhem_classes *k)
{
    const char *name = json_string_value(json_object_get(v, "name"));
    json_t *prior = json_object_get(v, "prior"), *items = json_object_get(v, "things"),
           *model = json_object_get(v, "model");
    vh_class *c;
    int before = k->C;

    VH_CHECK(name, VHEM_EFORMAT, "it has no name");
    VH_TRY(vh_classes_put(ctx, k, name, &c));
    VH_CHECK(k->C > before, VHEM_EFORMAT, "'%.100s' appears twice", name);
    VH_CHECK(json_is_number(prior) && json_number_value(prior) >= 0, VHEM_EFORMAT,
             "prior must be a number of 0 or more");
    VH_CHECK(json_is_object(model), VHEM_EFORMAT, "it has no model");
    VH_TRY(read_parts(ctx, json_object_get(v, "pieces"), c));
    c->prior = json_number_value(prior);
    if (items) {
        VH_CHECK(json_is_integer(items) && json_integer_value(items) > 0
                     && json_integer_value(items) <= MAX_THINGS,
                 VHEM_EFORMAT, "things must be a whole number from 1 to %lld", (long long)MAX_THINGS);
        c->items = json_integer_value(items);
    }
    return vh_models_from_json(ctx, model, NULL, &c->model);
}

static vhem_status check_head(vhem_ctx *ctx, json_t *root)
{
    const char *found = json_string_value(json_object_get(root, "format"));
    json_t *version = json_object_get(root, "version");

    VH_CHECK(json_is_object(root), VHEM_EFORMAT, "the file is %s, must be an object", vh_json_kind(root));
    VH_CHECK(found && strcmp(found, format) == 0, VHEM_EFORMAT, "format is '%.40s', must be '%s'",
             found ? found : "", format);
    VH_CHECK(json_is_integer(version), VHEM_EFORMAT, "version is missing or not a whole number");
    VH_CHECK(json_integer_value(version) <= VH_CLASSES_VERSION, VHEM_EFORMAT,
             "version is %lld, this program reads up to %d", (long long)json_integer_value(version),
             VH_CLASSES_VERSION);
    VH_CHECK(json_array_size(json_object_get(root, "classes")) > 0, VHEM_EFORMAT, "there are no classes");
    return VHEM_OK;
}

static vhem_status read_options(vhem_ctx *ctx, json_t *root, vhem_classes *k)
{
    json_t *reduce = json_object_get(root, "reduce"), *K = json_object_get(reduce, "K");
    vh_train_options o;

    VHEM_INIT(VHEM_TRAIN_OPTIONS, &o.all);
    VHEM_INIT(VHEM_FIT_OPTIONS, &o.piece);
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &o.reduce);
    VH_TRY(vh_options_read(ctx, json_object_get(root, "train"), VHEM_TRAIN_OPTIONS, &k->texts, &o.all));
    VH_TRY(vh_options_read(ctx, json_object_get(root, "piece"), VHEM_FIT_OPTIONS, &k->texts, &o.piece));
    VH_TRY(vh_options_read(ctx, reduce, VHEM_CLUSTER_OPTIONS, &k->texts, &o.reduce));
    VH_CHECK(!K || json_is_integer(K), VHEM_EFORMAT, "K is %s, must be a whole number", vh_json_kind(K));
    if (!o.piece.prior && !vh_fit_wants_textures(&o.piece)) /* from a version without priors */
        o.piece.prior = "none";
    o.all.K = K ? json_integer_value(K) : -1;
    o.all.piece = &o.piece;
    o.all.reduce = &o.reduce;
    k->opt = vh_train_filled(&o.all);
    k->opt.all.piece = &k->opt.piece;
    k->opt.all.reduce = &k->opt.reduce;
    return VHEM_OK;
}

static vhem_status read_classes(vhem_ctx *ctx, json_t *root, vhem_classes **out)
{
    vhem_status st = VHEM_OK;
    VH_OWN(vhem_classes) *k = NULL;
    char where[32];
    size_t c;
    json_t *v;

    VH_TRY(check_head(ctx, root));
    VH_TRY(vh_classes_new(ctx, NULL, &k));
    VH_TRY(read_options(ctx, root, k));
    k->tags = json_is_true(json_object_get(root, "tags"));
    k->seed = (uint64_t)json_integer_value(json_object_get(root, "seed"));
    json_array_foreach(json_object_get(root, "classes"), c, v)
    {
        st = read_class(ctx, v, k);
        if (st != VHEM_OK) {
            snprintf(where, sizeof where, "class %zu", c);
            vh_error_prefix(ctx, where);
            return st;
        }
    }
    VH_TRY(check_whole(ctx, k));
    if (json_is_object(json_object_get(root, "provenance")))
        VH_TRY(vh_json_keep(ctx, json_object_get(root, "provenance"), &k->provenance));
    *out = vh_take(k);
    return VHEM_OK;
}

vhem_status vh_classes_from_parsed(vhem_ctx *ctx, vh_parsed_file *doc, vhem_classes **out)
{
    vhem_status st =
        doc->root ? read_classes(ctx, doc->root, out)
                  : vh_fail(ctx, VHEM_EFORMAT, "an HDF5 file of models, must be models of classes in JSON");
    return vh_error_in(ctx, st, doc->name);
}

vhem_status vhem_classes_load(vhem_ctx *ctx, const char *path, vhem_classes **out)
{
    VH_ENTER(path, out);
    VH_CLEANUP(vh_parsed_file_close) vh_parsed_file doc = { 0 };

    VH_TRY(vh_parsed_file_open(ctx, path, "models of classes", &doc));
    return vh_classes_from_parsed(ctx, &doc, out);
}
