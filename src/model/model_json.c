/* model_json.c - model files as JSON text, the format of docs/formats.md.  No other file knows it.
 *
 *   1. keys that are not ours       3. reading a model file
 *   2. reading arrays of numbers     4. writing
 *
 * Reading goes through a Jansson tree; writing streams, since a tree of a million numbers would only be in
 * the way.  Shapes are checked before anything is allocated: no file can ask for more memory than it is
 * long. */
#include "core/alloc.h"
#include "core/file.h"
#include "core/number.h"
#include "core/text.h"
#include "model/h3m.h"
#include "model/json.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define VERSION 1                        /* of the format; files up to this one are read */
#define MAX_RANK 4

/* ---- 1. keys that are not ours ------------------------------------------------------------------------- */

static bool is_one_of(const char *key, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(key, *names) == 0)
            return true;
    return false;
}

/* Of the file when family is NULL, else of an HMM. */
static bool known_key(const vh_emission *family, const char *key)
{
    static const char *const file[] = { "format", "version", "emission", "d", "omega", "hmms", "provenance",
                                        NULL };
    static const char *const hmm[] = { "name", "label", "S", "M", "pi", "A", "c", NULL };
    if (!family)
        return is_one_of(key, file);
    for (int p = 0; p < family->n_param; p++)
        if (strcmp(key, family->param[p].name) == 0)
            return true;
    return is_one_of(key, hmm);
}

/* The members of object that are not ours into *slot, which stays NULL when there are none. */
static vhem_status keep_unknown(vhem_ctx *ctx, const vh_emission *family, json_t *object, char **slot)
{
    vhem_status st = VHEM_OK;
    json_t *rest = json_object(), *v;
    const char *key;

    VH_CHECK(rest, VHEM_ENOMEM, "out of memory: could not keep unknown keys");
    json_object_foreach(object, key, v)
        if (!known_key(family, key))
            VH_CHECK(json_object_set(rest, key, v) == 0, VHEM_ENOMEM,
                     "out of memory: could not keep unknown keys");
    if (json_object_size(rest) > 0)
        VH_TRY(vh_json_keep(ctx, rest, slot));
done:
    json_decref(rest);
    return st;
}

/* The object in text; NULL and a sentence when it is not one. */
static json_t *parse_object(vhem_ctx *ctx, const char *what, const char *text)
{
    json_t *root = vh_json_parse(ctx, text, strlen(text));
    if (!root) {
        vh_error_prefix(ctx, what);
    } else if (!json_is_object(root)) {
        vh_fail(ctx, VHEM_EINVAL, "%s is %s, must be an object", what, vh_json_kind(root));
        json_decref(root);
        root = NULL;
    }
    return root;
}

vhem_status vh_model_check_object(vhem_ctx *ctx, const char *what, const char *text)
{
    json_t *root = parse_object(ctx, what, text);
    json_decref(root);
    return root ? VHEM_OK : VHEM_EINVAL;
}

vhem_status vh_model_unknown_keys(vhem_ctx *ctx, const vh_emission *family, const char *what,
                                  const char *text, char **out)
{
    json_t *root = parse_object(ctx, what, text);
    *out = NULL;
    vhem_status st = root ? keep_unknown(ctx, family, root, out) : VHEM_EFORMAT;
    json_decref(root);
    return st;
}

/* ---- 2. reading arrays of numbers ---------------------------------------------------------------------- */

typedef struct {                         /* an array that is being read */
    const char *key;
    int         rank;
    struct { const char *name; int n; } dim[MAX_RANK];   /* "S" and what it is here */
    int         at[MAX_RANK];            /* where in the array we are */
} numbers;

/* "mu[2][0]": the entry we are at, of the given level. */
static const char *place(const numbers *a, int level, char *text, size_t size)
{
    size_t n = (size_t)snprintf(text, size, "%s", a->key);
    for (int k = 0; k < level && n < size; k++)
        n += (size_t)snprintf(text + n, size - n, "[%d]", a->at[k]);
    return text;
}

/* Reads v, a part of the array at this level, to *out and moves that on; only checks when out is NULL. */
static vhem_status read_level(vhem_ctx *ctx, numbers *a, json_t *v, int level, double **out)
{
    vhem_status st = VHEM_OK;
    char where[96];
    const char *dim = a->dim[level].name;
    int n = a->dim[level].n;
    bool last = level == a->rank - 1;

    VH_CHECK(json_is_array(v), VHEM_EFORMAT, "%s is %s, must be an array of %s = %d %s",
             place(a, level, where, sizeof where), vh_json_kind(v), dim, n, last ? "numbers" : "arrays");
    size_t size = json_array_size(v);
    VH_CHECK(size == (size_t)n, VHEM_EFORMAT, "%s has %zu %s%s, must have %s = %d",
             place(a, level, where, sizeof where), size, last ? "number" : "row", size == 1 ? "" : "s", dim,
             n);
    for (int k = 0; k < n; k++) {
        json_t *child = json_array_get(v, (size_t)k);
        a->at[level] = k;
        if (!last) {
            VH_TRY(read_level(ctx, a, child, level + 1, out));
            continue;
        }
        VH_CHECK(json_is_number(child), VHEM_EFORMAT, "%s is %s, must be a number",
                 place(a, level + 1, where, sizeof where), vh_json_kind(child));
        if (out)
            *(*out)++ = json_number_value(child);
    }
done:
    return st;
}

static vhem_status read_numbers(vhem_ctx *ctx, json_t *object, numbers *a, double *out)
{
    json_t *v = json_object_get(object, a->key);
    if (!v)
        return vh_fail(ctx, VHEM_EFORMAT, "%s is missing", a->key);
    return read_level(ctx, a, v, 0, out ? &out : NULL);
}

/* A whole number of at least 1. */
static vhem_status read_count(vhem_ctx *ctx, json_t *object, const char *key, int *out)
{
    vhem_status st = VHEM_OK;
    json_t *v = json_object_get(object, key);
    VH_CHECK(v, VHEM_EFORMAT, "%s is missing", key);
    VH_CHECK(json_is_number(v), VHEM_EFORMAT, "%s is %s, must be a whole number", key, vh_json_kind(v));
    double x = json_number_value(v);
    VH_CHECK(x == floor(x) && x >= 1 && x <= INT_MAX, VHEM_EFORMAT,
             "%s is %.12g, must be a whole number from 1 to %d", key, x, INT_MAX);
    *out = (int)x;
done:
    return st;
}

/* Optional text into *slot. */
static vhem_status read_text(vhem_ctx *ctx, json_t *object, const char *key, char **slot)
{
    vhem_status st = VHEM_OK;
    json_t *v = json_object_get(object, key);
    if (!v || json_is_null(v))
        goto done;
    VH_CHECK(json_is_string(v), VHEM_EFORMAT, "%s is %s, must be text", key, vh_json_kind(v));
    VH_TRY(vh_h3m_set_text(ctx, slot, json_string_value(v)));
done:
    return st;
}

/* ---- 3. reading a model file --------------------------------------------------------------------------- */

/* M may be left out: the first row of c tells it. */
static vhem_status read_M(vhem_ctx *ctx, json_t *object, int *M)
{
    json_t *row = json_array_get(json_object_get(object, "c"), 0);
    size_t n = json_array_size(row);
    if (json_object_get(object, "M") || n < 1 || n > INT_MAX)
        return read_count(ctx, object, "M", M);
    *M = (int)n;
    return VHEM_OK;
}

/* All arrays of HMM i; only checks them when fill is false. */
static vhem_status read_arrays(vhem_ctx *ctx, json_t *object, const vhem_h3m *h3m, int i, int S, int M,
                               bool fill)
{
    vhem_status st = VHEM_OK;
    const vh_hmm *h = &h3m->hmm[i];
    int d = h3m->d;
    numbers pi = { .key = "pi", .rank = 1, .dim = { { "S", S } } };
    numbers A = { .key = "A", .rank = 2, .dim = { { "S", S }, { "S", S } } };
    numbers c = { .key = "c", .rank = 2, .dim = { { "S", S }, { "M", M } } };

    VH_TRY(read_numbers(ctx, object, &pi, fill ? h->pi : NULL));
    VH_TRY(read_numbers(ctx, object, &A, fill ? h->A : NULL));
    VH_TRY(read_numbers(ctx, object, &c, fill ? vh_hmm_c(h) : NULL));
    for (int p = 0; p < h3m->family->n_param; p++) {
        const vh_param *param = &h3m->family->param[p];
        numbers a = { .key = param->name, .rank = 2 + param->rank,
                      .dim = { { "S", S }, { "M", M }, { "d", d }, { "d", d } } };
        VH_TRY(read_numbers(ctx, object, &a, fill ? vh_hmm_param(h3m, h, p) : NULL));
    }
done:
    return st;
}

static vhem_status read_hmm(vhem_ctx *ctx, json_t *object, vhem_h3m *h3m, int i)
{
    vhem_status st = VHEM_OK;
    vh_hmm *h = &h3m->hmm[i];
    int S, M;

    VH_CHECK(json_is_object(object), VHEM_EFORMAT, "is %s, must be an object", vh_json_kind(object));
    VH_TRY(read_text(ctx, object, "name", &h->name));
    VH_TRY(read_text(ctx, object, "label", &h->label));
    VH_TRY(read_count(ctx, object, "S", &S));
    VH_TRY(read_M(ctx, object, &M));
    VH_TRY(read_arrays(ctx, object, h3m, i, S, M, false));
    VH_TRY(vh_h3m_shape(ctx, h3m, i, S, M));
    VH_TRY(read_arrays(ctx, object, h3m, i, S, M, true));
    VH_TRY(keep_unknown(ctx, h3m->family, object, &h->extra));
done:
    if (st != VHEM_OK)
        vh_h3m_prefix(ctx, h3m, i);
    return st;
}

static vhem_status required_text(vhem_ctx *ctx, json_t *root, const char *key, const char **out)
{
    vhem_status st = VHEM_OK;
    json_t *v = json_object_get(root, key);
    VH_CHECK(v, VHEM_EFORMAT, "%s is missing", key);
    VH_CHECK(json_is_string(v), VHEM_EFORMAT, "%s is %s, must be text", key, vh_json_kind(v));
    *out = json_string_value(v);
done:
    return st;
}

static vhem_status check_version(vhem_ctx *ctx, json_t *root)
{
    vhem_status st = VHEM_OK;
    int version;
    VH_TRY(read_count(ctx, root, "version", &version));
    VH_CHECK(version <= VERSION, VHEM_EFORMAT, "version %d of the format, this program reads up to %d",
             version, VERSION);
done:
    return st;
}

/* hmms and omega into a new H3M. */
static vhem_status read_hmms(vhem_ctx *ctx, json_t *root, const vh_emission *family, int d, vhem_h3m **out)
{
    vhem_status st = VHEM_OK;
    vhem_h3m *h3m = NULL;
    json_t *hmms = json_object_get(root, "hmms");
    size_t K = json_array_size(hmms);

    VH_CHECK(hmms, VHEM_EFORMAT, "hmms is missing");
    VH_CHECK(json_is_array(hmms), VHEM_EFORMAT, "hmms is %s, must be an array", vh_json_kind(hmms));
    VH_CHECK(K >= 1 && K <= INT_MAX, VHEM_EFORMAT, "there are %zu HMMs, must be 1 to %d", K, INT_MAX);
    VH_TRY(vh_h3m_new(ctx, family, d, (int)K, &h3m));
    if (K > 1 || json_object_get(root, "omega")) {       /* a single HMM has no choice of weight */
        numbers omega = { .key = "omega", .rank = 1, .dim = { { "K", (int)K } } };
        VH_TRY(read_numbers(ctx, root, &omega, h3m->omega));
    }
    for (int i = 0; i < h3m->K; i++)
        VH_TRY(read_hmm(ctx, json_array_get(hmms, (size_t)i), h3m, i));
    *out = h3m;
    h3m = NULL;
done:
    vhem_h3m_free(h3m);
    return st;
}

/* The object of a vhem-h3m file. */
static vhem_status read_h3m(vhem_ctx *ctx, json_t *root, vhem_h3m **out)
{
    vhem_status st = VHEM_OK;
    vhem_h3m *h3m = NULL;
    json_t *provenance = json_object_get(root, "provenance");
    const char *emission = "";
    int d;

    VH_TRY(check_version(ctx, root));
    VH_TRY(required_text(ctx, root, "emission", &emission));
    const vh_emission *family = vh_emission_find(emission);
    VH_CHECK(family, VHEM_EFORMAT, "emission is '%.80s', must be one of: %s", emission, vh_emission_names());
    VH_TRY(read_count(ctx, root, "d", &d));
    VH_TRY(read_hmms(ctx, root, family, d, &h3m));
    VH_TRY(keep_unknown(ctx, NULL, root, &h3m->extra));
    if (provenance && !json_is_null(provenance)) {
        VH_CHECK(json_is_object(provenance), VHEM_EFORMAT, "provenance is %s, must be an object",
                 vh_json_kind(provenance));
        VH_TRY(vh_json_keep(ctx, provenance, &h3m->provenance));
    }
    VH_TRY(vhem_h3m_validate(ctx, h3m));
    *out = h3m;
    h3m = NULL;
done:
    vhem_h3m_free(h3m);
    return st;
}

/* The models of a clustering file are its centres. */
static vhem_status read_centers(vhem_ctx *ctx, json_t *root, vhem_h3m **out)
{
    vhem_status st = VHEM_OK;
    json_t *centers = json_object_get(root, "centers");
    const char *format = "";

    VH_TRY(check_version(ctx, root));
    VH_CHECK(centers && !json_is_null(centers), VHEM_EFORMAT,
             "a clustering without centers: no models in it");
    VH_CHECK(json_is_object(centers), VHEM_EFORMAT, "centers is %s, must be an object",
             vh_json_kind(centers));
    st = required_text(ctx, centers, "format", &format);
    if (st == VHEM_OK && strcmp(format, "vhem-h3m") != 0)
        st = vh_fail(ctx, VHEM_EFORMAT, "format is '%.80s', must be 'vhem-h3m'", format);
    if (st == VHEM_OK)
        st = read_h3m(ctx, centers, out);
    if (st != VHEM_OK)
        vh_error_prefix(ctx, "centers");
done:
    return st;
}

vhem_status vh_model_from_json(vhem_ctx *ctx, json_t *root, vhem_h3m **out)
{
    vhem_status st = VHEM_OK;
    const char *format = "";

    VH_CHECK(json_is_object(root), VHEM_EFORMAT, "the file holds %s, must hold an object",
             vh_json_kind(root));
    VH_TRY(required_text(ctx, root, "format", &format));
    if (strcmp(format, "vhem-clustering") == 0) {
        VH_TRY(read_centers(ctx, root, out));
    } else {
        VH_CHECK(strcmp(format, "vhem-h3m") == 0, VHEM_EFORMAT,
                 "format is '%.80s', must be 'vhem-h3m' or 'vhem-clustering'", format);
        VH_TRY(read_h3m(ctx, root, out));
    }
done:
    return st == VHEM_EINVAL ? VHEM_EFORMAT : st;        /* what is invalid came from a file */
}

vhem_status vh_model_read_json(vhem_ctx *ctx, const char *text, size_t size, const char *name, vhem_h3m **out)
{
    vhem_status st = VHEM_OK;
    json_t *root = NULL;

    VH_CHECK(size > 0, VHEM_EFORMAT, "the file is empty, must be a model file");
    root = vh_json_parse(ctx, text, size);
    st = root ? vh_model_from_json(ctx, root, out) : VHEM_EFORMAT;
done:
    json_decref(root);
    if (st != VHEM_OK)
        vh_error_prefix(ctx, name);
    return st;
}

/* ---- 4. writing ---------------------------------------------------------------------------------------- */

/* An array of the given rank and sizes n; returns where the next number lies. */
static const double *print_numbers(FILE *f, int rank, const int *n, const double *x)
{
    char text[VH_NUMBER_SIZE];
    putc('[', f);
    for (int k = 0; k < n[0]; k++) {
        if (k > 0)
            fputs(", ", f);
        if (rank > 1)
            x = print_numbers(f, rank - 1, n + 1, x);
        else
            fwrite(text, 1, vh_number_text(*x++, text), f);
    }
    putc(']', f);
    return x;
}

static void print_array(FILE *f, const char *lead, const char *key, int rank, const int *n, const double *x)
{
    fprintf(f, "%s\"%s\": ", lead, key);
    print_numbers(f, rank, n, x);
}

/* The members of an object in text, each after a comma. */
static void print_members(FILE *f, const char *lead, const char *object)
{
    const char *first = strchr(object, '{'), *last = strrchr(object, '}');
    if (!first || !last || last <= first)
        return;
    first++;
    first += strspn(first, " \t\r\n");
    if (first < last) {
        fputs(lead, f);
        fwrite(first, 1, (size_t)(last - first), f);
    }
}

static void print_hmm(FILE *f, const vhem_h3m *h3m, const vh_hmm *h)
{
    static const char *const lead = ",\n   ";
    int states[] = { h->S, h->S }, component[] = { h->S, h->M, h3m->d, h3m->d };

    fputs("  {", f);
    if (h->name && *h->name) {
        fputs("\"name\": ", f);
        vh_text_json(f, h->name);
        fputs(", ", f);
    }
    if (h->label && *h->label) {
        fputs("\"label\": ", f);
        vh_text_json(f, h->label);
        fputs(", ", f);
    }
    fprintf(f, "\"S\": %d, \"M\": %d", h->S, h->M);
    print_array(f, lead, "pi", 1, states, h->pi);
    print_array(f, lead, "A", 2, states, h->A);
    print_array(f, lead, "c", 2, component, vh_hmm_c(h));
    for (int p = 0; p < h3m->family->n_param; p++) {
        const vh_param *param = &h3m->family->param[p];
        print_array(f, lead, param->name, 2 + param->rank, component, vh_hmm_param(h3m, h, p));
    }
    if (h->extra)
        print_members(f, lead, h->extra);
    putc('}', f);
}

vhem_status vh_model_print_json(vhem_ctx *ctx, const vhem_h3m *h3m, FILE *f)
{
    vhem_status st = VHEM_OK;

    VH_TRY(vh_h3m_require_finite(ctx, h3m));
    fprintf(f, "{\"format\": \"vhem-h3m\", \"version\": %d, \"emission\": \"%s\", \"d\": %d", VERSION,
            h3m->family->name, h3m->d);
    print_array(f, ",\n ", "omega", 1, &h3m->K, h3m->omega);
    fputs(",\n \"hmms\": [\n", f);
    for (int i = 0; i < h3m->K; i++) {
        print_hmm(f, h3m, &h3m->hmm[i]);
        fputs(i + 1 < h3m->K ? ",\n" : "]", f);
        if (ferror(f))                                   /* a full disk: the caller says so */
            break;
    }
    if (h3m->provenance)
        fprintf(f, ",\n \"provenance\": %s", h3m->provenance);
    if (h3m->extra)
        print_members(f, ",\n ", h3m->extra);
    putc('}', f);
done:
    return st;
}

vhem_status vh_model_write_json(vhem_ctx *ctx, const vhem_h3m *h3m, const char *path)
{
    vhem_status st = VHEM_OK;
    vh_out out = { 0 };

    VH_TRY(vh_out_open(ctx, path, &out));
    st = vh_out_end(ctx, vh_model_print_json(ctx, h3m, out.f), &out);
done:
    vh_out_close(&out);
    return st;
}
