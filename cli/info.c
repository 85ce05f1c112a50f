/* SPDX-License-Identifier: BSD-3-Clause */
/* info.c - gathers the facts about models and sequences; info_tell.c puts them into words.
 *
 *   1. products of channels
 *   2. columns of symbols
 *   3. the files */
#include "cluster_report.h"
#include "info.h"
#include "vhem.h"
#include "vhem/classes.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- 1. channels --------------------------------------------------------------------------------------- */

/* How many numbers a parameter has in a channel of d columns and V symbols: one for each column, but for the
 * families named here. */
static int numbers_of(const char *emission, const char *param, int d, int V)
{
    bool full = strcmp(emission, "gaussian-full") == 0 && strcmp(param, "cov") == 0;
    return V > 0 ? V : full ? d * d : d;
}

static json_t *names_json(const vhem_symbols *of)
{
    json_t *names = json_array();
    for (int v = 0; v < of->n; v++)
        json_array_append_new(names, cli_json_text(of->name[v]));
    return names;
}

/* Of the first column; NULL: it has none. */
static json_t *symbols_of(const vhem_models *models)
{
    vhem_column_view column;
    bool any = vhem_models_column(models, 0, &column) == VHEM_OK && column.symbols.n > 0;
    return any ? names_json(&column.symbols) : NULL;
}

static json_t *channels_json(const vhem_models *models)
{
    json_t *list = json_array(), *one = NULL;
    vhem_column_view column;
    int last = -1;
    for (int k = 0; vhem_models_column(models, k, &column) == VHEM_OK; k++) {
        if (column.channel != last) {
            one = json_pack("{s:s, s:[]}", "emission", column.emission, "columns");
            json_array_append_new(list, one);
            last = column.channel;
        }
        json_array_append_new(json_object_get(one, "columns"), cli_json_text(column.name));
        if (column.symbols.n > 0)
            json_object_set_new(one, "symbols", names_json(&column.symbols));
    }
    return list;
}

static const char *emission_of(const json_t *channel)
{
    return json_string_value(json_object_get(channel, "emission"));
}

/* A parameter in a channel. */
static int size_in(const json_t *channel, const char *param)
{
    return numbers_of(emission_of(channel), param, (int)json_array_size(json_object_get(channel, "columns")),
                      (int)json_array_size(json_object_get(channel, "symbols")));
}

/* Of a component: of all parameters of all channels together. */
static size_t count_numbers(const json_t *channels)
{
    size_t c, all = 0;
    json_t *channel;
    json_array_foreach(channels, c, channel)
    {
        const char *name;
        for (int p = 0; (name = vhem_emission_param(emission_of(channel), p)) != NULL; p++)
            all += (size_t)size_in(channel, name);
    }
    return all;
}

/* The parameters of one state and component, by name: theta [numbers] of its channels.  None where there are
 * more or fewer than are known of: a family that numbers_of lacks. */
static json_t *parameters_json(const json_t *channels, const vhem_hmm_view *h, int s, int m)
{
    json_t *all = json_array(), *channel;
    size_t c, SM = (size_t)h->S * (size_t)h->M, numbers = ((size_t)h->n_theta - SM) / SM;
    const double *at = h->theta + SM + ((size_t)s * (size_t)h->M + (size_t)m) * numbers;
    bool known = count_numbers(channels) == numbers;

    assert(known);
    json_array_foreach(channels, c, channel)
    {
        const char *name;
        json_t *one = json_object();
        for (int p = 0; known && (name = vhem_emission_param(emission_of(channel), p)); p++) {
            json_t *values = json_array();
            for (int i = 0, n = size_in(channel, name); i < n; i++)
                json_array_append_new(values, cli_json_real(*at++));
            json_object_set_new(one, name, values);
        }
        json_array_append_new(all, one);
    }
    return all;
}

/* ---- 2. symbols ---------------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    int number; /* in the order in which they came */
    int64_t n;
} symbol;

/* The most frequent first, then in the order in which they came. */
static int by_count(const void *a, const void *b)
{
    const symbol *x = a, *y = b;
    return x->n != y->n ? (x->n < y->n ? 1 : -1) : x->number - y->number;
}

static json_t *symbols_json(const vhem_data *data, const vhem_data_facts *facts, int k)
{
    const vhem_symbols *of = &facts->symbols[k];
    symbol *all = calloc((size_t)of->n + 1, sizeof *all);
    json_t *list = json_array();
    int64_t missing = 0;

    for (int v = 0; all && v < of->n; v++)
        all[v] = (symbol){ of->name[v], v, 0 };
    for (int64_t s = 0; all && s < facts->N; s++) {
        vhem_seq_view seq = cli_sequence_at(data, s);
        for (int64_t t = 0; t < seq.T; t++) {
            double y = seq.y[t * facts->d + k];
            missing += isnan(y);
            if (y >= 0 && y < of->n)
                all[(int)y].n++;
        }
    }
    if (all)
        qsort(all, (size_t)of->n, sizeof *all, by_count);
    else
        cli_json_lacks();
    for (int v = 0; all && v < of->n; v++)
        json_array_append_new(list, json_pack("{s:o, s:I}", "name", cli_json_text(all[v].name), "frames",
                                              (json_int_t)all[v].n));
    free(all);
    return json_pack("{s:o, s:o, s:I}", "name", cli_json_text(facts->column[k]), "symbols", list, "missing",
                     (json_int_t)missing);
}

/* ---- 3. files ------------------------------------------------------------------------------------------ */

/* Counts one more of the key. */
static void count_key(json_t *counts, const char *key)
{
    if (*key)
        json_object_set_new(counts, key, json_integer(json_integer_value(json_object_get(counts, key)) + 1));
}

static json_t *provenance_json(const char *text)
{
    json_t *made = text ? json_loads(text, 0, NULL) : NULL;
    return made ? made : json_null();
}

/* The parameters of every state, and component of a mixture, of a product. */
static json_t *states_json(const json_t *channels, const vhem_models *models, int64_t i)
{
    json_t *list = json_array();
    vhem_hmm_view h;
    if (vhem_models_hmm(models, i, &h) != VHEM_OK)
        return list;
    for (int q = 0; q < h.S * h.M; q++) {
        char name[32];
        snprintf(name, sizeof name, h.M > 1 ? "state %d.%d" : "state %d", q / h.M, q % h.M);
        json_array_append_new(list,
                              json_pack("{s:s, s:o, s:o}", "state", name, "c", cli_json_real(h.theta[q]),
                                        "channels", parameters_json(channels, &h, q / h.M, q % h.M)));
    }
    return list;
}

/* HMMs and textures differ by the names of their sizes. */
static json_t *model_json(const cli_model *m, bool textures)
{
    json_t *one = json_pack("{s:o, s:o, s:i}", "name", cli_json_text(m->name), "label",
                            cli_json_text(m->label), textures ? "n" : "S", m->S);
    if (!textures)
        json_object_set_new(one, "M", json_integer(m->M));
    json_object_set_new(one, "omega", cli_json_real(m->omega));
    return one;
}

/* Of a set on disk that is not listed whole. */
static void add_sizes(json_t *all, const vhem_models *models, const vhem_models_facts *facts)
{
    int M = cli_model_at(models, 0).M, G = M > facts->M ? M : 0; /* Gaussians of a background */
    json_object_set_new(all, "S", json_pack("[i, i]", facts->S_least, facts->S));
    json_object_set_new(all, "M", json_pack("[i, i]", G ? G : facts->M_least, G ? G : facts->M));
}

json_t *info_models(const char *path, const vhem_models *models, bool every, int64_t detailed)
{
    json_t *list = json_array(), *labels = json_object();
    const vhem_models_facts facts = cli_models_facts(models);
    bool textures = facts.kind == VHEM_TEXTURES;
    bool few = facts.on_disk && !every;
    json_t *channels = strcmp(facts.emission, "product") == 0 ? channels_json(models) : NULL;
    for (int64_t i = 0; i < facts.K && (i < INFO_FIRST || !few); i++) {
        cli_model m = cli_model_at(models, i);
        json_t *one = model_json(&m, textures);
        if (channels && i < detailed)
            json_object_set_new(one, "states", states_json(channels, models, i));
        json_array_append_new(list, one);
        if (!few)
            count_key(labels, m.label);
    }
    json_t *all =
        json_pack("{s:s, s:o, s:I, s:i, s:o, s:o, s:o}", "kind", textures ? "textures" : "models", "file",
                  cli_json_text(path), "K", (json_int_t)facts.K, "d", facts.d, "labels", labels,
                  textures ? "textures" : "hmms", list, "provenance", provenance_json(facts.provenance));
    if (!textures)
        json_object_set_new(all, "emission", json_string(facts.emission));
    if (few)
        add_sizes(all, models, &facts);
    json_t *symbols = channels ? NULL : symbols_of(models);
    if (channels)
        json_object_set_new(all, "channels", channels);
    if (symbols)
        json_object_set_new(all, "symbols", symbols);
    if (facts.files > 0)
        json_object_set_new(all, "files", json_integer(facts.files));
    return all;
}

static json_t *options_json(const vhem_cluster_options *o, int64_t K)
{
    return json_pack("{s:o, s:I, s:i, s:i, s:i, s:o, s:i, s:o, s:o, s:o, s:o, s:i}", "preset",
                     cli_json_text(o->preset), "K", (json_int_t)K, "S", o->S, "M", o->M, "tau", o->tau, "nv",
                     cli_json_real(o->nv), "max_iter", o->max_iter, "tol", cli_json_real(o->tol), "cov_floor",
                     cli_json_real(o->cov_floor), "cov_add", cli_json_real(o->cov_add), "init",
                     cli_json_text(o->init), "soft", o->soft);
}

json_t *info_clusters(cli *c, const char *path, const vhem_tree *tree)
{
    const vhem_clustering *first = vhem_tree_level(tree, 0);
    json_t *levels = json_array();
    const vhem_tree_facts facts = cli_tree_facts(tree);
    for (int l = 0; l < facts.levels; l++) {
        cluster_level level = cluster_level_of(tree, l, NULL);
        json_t *one = cluster_level_json(c, &level);
        json_object_set_new(one, "options", options_json(level.clustering->options, level.clustering->Kr));
        json_array_append_new(levels, one);
    }
    return json_pack("{s:s, s:o, s:I, s:s, s:o, s:o}", "kind", facts.levels > 1 ? "tree" : "clustering",
                     "file", cli_json_text(path), "models", (json_int_t)first->Kb, "item",
                     cluster_item_word(tree), "levels", levels, "provenance",
                     provenance_json(facts.provenance));
}

json_t *info_classes(const char *path, const vhem_classes *classes)
{
    json_t *list = json_array();
    vhem_models_facts models = { .emission = "" };
    const vhem_classes_facts all = cli_classes_facts(classes);
    for (int k = 0; k < all.C; k++) {
        vhem_class_view v = cli_class_at(classes, k);
        models = cli_models_facts(v.models);
        json_array_append_new(list, json_pack("{s:o, s:I, s:I, s:I, s:i, s:i, s:o}", "name",
                                              cli_json_text(v.name), "examples", (json_int_t)v.items,
                                              "pieces", (json_int_t)v.pieces, "K", (json_int_t)models.K, "S",
                                              models.S, "M", models.M, "prior", cli_json_real(v.prior)));
    }
    return json_pack("{s:s, s:o, s:o, s:o, s:i, s:o}", "kind", "classes", "file", cli_json_text(path),
                     "estimator", cli_json_text(all.options->estimator), "emission",
                     cli_json_text(models.emission), "d", models.d, "classes", list);
}

/* Mean and spread over the frames that have a value; one pass, Welford's update keeps the digits. */
static json_t *column_facts(const vhem_data *data, const vhem_data_facts *facts, int k)
{
    int d = facts->d;
    int64_t n = 0, missing = 0;
    double mean = 0, square = 0, least = INFINITY, most = -INFINITY;
    for (int64_t s = 0; s < facts->N; s++) {
        vhem_seq_view seq = cli_sequence_at(data, s);
        for (int64_t t = 0; t < seq.T; t++) {
            double y = seq.y[t * d + k];
            if (isnan(y)) {
                missing++;
                continue;
            }
            double step = y - mean;
            mean += step / (double)++n;
            square += step * (y - mean);
            least = fmin(least, y);
            most = fmax(most, y);
        }
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:I}", "name", cli_json_text(facts->column[k]), "min",
                     cli_json_real(least), "mean", n ? cli_json_real(mean) : json_null(), "sd",
                     n ? cli_json_real(sqrt(square / (double)n)) : json_null(), "max", cli_json_real(most),
                     "missing", (json_int_t)missing);
}

static int by_length(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static json_t *length_facts(int64_t *length, int64_t N, int64_t frames)
{
    if (N == 0 || !length)
        return json_null();
    qsort(length, (size_t)N, sizeof *length, by_length);
    int64_t low = length[(N - 1) / 2], high = length[N / 2];
    return json_pack("{s:I, s:o, s:I, s:o}", "min", (json_int_t)length[0], "median",
                     cli_json_real(0.5 * (double)(low + high)), "max", (json_int_t)length[N - 1], "mean",
                     cli_json_real((double)frames / (double)N));
}

json_t *info_data(const char *path, const vhem_data *data)
{
    const vhem_data_facts facts = cli_data_facts(data);
    int64_t N = facts.N;
    json_t *list = json_array(), *columns = json_array(), *labels = json_object(), *groups = json_object();
    int64_t *length = malloc((size_t)(N + 1) * sizeof *length);
    for (int64_t n = 0; n < N; n++) {
        vhem_seq_view seq = cli_sequence_at(data, n);
        if (length)
            length[n] = seq.T;
        count_key(labels, seq.label);
        count_key(groups, seq.group);
        json_array_append_new(list,
                              json_pack("{s:o, s:o, s:o, s:I, s:o}", "name", cli_json_text(seq.name), "label",
                                        cli_json_text(seq.label), "group", cli_json_text(seq.group), "frames",
                                        (json_int_t)seq.T, "weight", cli_json_real(seq.weight)));
    }
    int texts = 0;
    for (int k = 0; k < facts.d; k++)
        texts += facts.symbols && facts.symbols[k].n > 0;
    for (int k = 0; k < facts.d; k++)
        json_array_append_new(columns, facts.symbols && facts.symbols[k].n > 0
                                           ? symbols_json(data, &facts, k)
                                           : column_facts(data, &facts, k));
    json_t *lengths = length_facts(length, N, facts.frames);
    free(length);
    return json_pack("{s:s, s:o, s:s, s:I, s:I, s:i, s:i, s:I, s:o, s:o, s:o, s:o, s:o}", "kind", "data",
                     "file", cli_json_text(path), "format", facts.format, "N", (json_int_t)N, "frames",
                     (json_int_t)facts.frames, "d", facts.d - texts, "texts", texts, "missing",
                     (json_int_t)facts.missing, "length", lengths, "labels", labels, "groups", groups,
                     "columns", columns, "sequences", list);
}
