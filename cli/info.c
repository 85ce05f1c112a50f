/* SPDX-License-Identifier: BSD-3-Clause */
/* info.c - gathers the facts about models and sequences; info_tell.c puts them into words. */
#include "cluster_report.h"
#include "info.h"

#include <math.h>
#include <stdlib.h>

/* Counts one more of the key. */
static void count(json_t *counts, const char *key)
{
    if (*key)
        json_object_set_new(counts, key, json_integer(json_integer_value(json_object_get(counts, key)) + 1));
}

static json_t *provenance(const char *text)
{
    json_t *made = text ? json_loads(text, 0, NULL) : NULL;
    return made ? made : json_null();
}

json_t *info_models(const char *path, const vhem_h3m *h3m)
{
    json_t *hmms = json_array(), *labels = json_object();
    vhem_hmm_view hmm = { .emission = "", .d = 0 };
    for (int i = 0; i < vhem_h3m_size(h3m); i++) {
        vhem_h3m_view(h3m, i, &hmm);
        count(labels, hmm.label);
        json_array_append_new(hmms, json_pack("{s:o, s:o, s:i, s:i, s:o}", "name", cli_json_text(hmm.name),
                                              "label", cli_json_text(hmm.label), "S", hmm.S, "M", hmm.M,
                                              "omega", cli_json_real(hmm.omega)));
    }
    return json_pack("{s:s, s:o, s:i, s:s, s:i, s:o, s:o, s:o}", "kind", "models", "file",
                     cli_json_text(path), "K", vhem_h3m_size(h3m), "emission", hmm.emission, "d", hmm.d,
                     "labels", labels, "hmms", hmms, "provenance", provenance(vhem_h3m_provenance(h3m)));
}

json_t *info_textures(const char *path, const vhem_dtm *dtm)
{
    json_t *all = json_array(), *labels = json_object();
    vhem_dt_view dt = { .d = 0 };
    for (int i = 0; i < vhem_dtm_size(dtm); i++) {
        vhem_dtm_view(dtm, i, &dt);
        count(labels, dt.label);
        json_array_append_new(all, json_pack("{s:o, s:o, s:i, s:o}", "name", cli_json_text(dt.name), "label",
                                             cli_json_text(dt.label), "n", dt.n, "omega",
                                             cli_json_real(dt.omega)));
    }
    return json_pack("{s:s, s:o, s:i, s:i, s:o, s:o, s:o}", "kind", "textures", "file", cli_json_text(path),
                     "K", vhem_dtm_size(dtm), "d", dt.d, "labels", labels, "textures", all, "provenance",
                     provenance(vhem_dtm_provenance(dtm)));
}

static json_t *options_json(const vhem_cluster_options *o)
{
    return json_pack("{s:o, s:i, s:i, s:i, s:i, s:o, s:i, s:o, s:o, s:o, s:o, s:i}", "preset",
                     cli_json_text(o->preset), "K", o->K, "S", o->S, "M", o->M, "tau", o->tau, "nv",
                     cli_json_real(o->nv), "max_iter", o->max_iter, "tol", cli_json_real(o->tol), "cov_floor",
                     cli_json_real(o->cov_floor), "cov_add", cli_json_real(o->cov_add), "init",
                     cli_json_text(o->init), "soft", o->soft);
}

json_t *info_clusters(const char *path, const vhem_tree *tree, bool is_tree)
{
    const vhem_clustering *first = vhem_tree_level(tree, 0);
    const char *made = is_tree ? vhem_tree_provenance(tree) : first->provenance;
    json_t *levels = json_array();
    for (int l = 0; l < vhem_tree_levels(tree); l++) {
        const vhem_clustering *cl = vhem_tree_level(tree, l);
        cluster_level level = { cl, first->Kb, vhem_tree_base_labels(tree, l), first->name, NULL };
        json_t *facts = cluster_level_json(&level);
        json_object_set_new(facts, "options", options_json(&cl->options));
        json_array_append_new(levels, facts);
    }
    return json_pack("{s:s, s:o, s:i, s:s, s:o, s:o}", "kind", is_tree ? "tree" : "clustering", "file",
                     cli_json_text(path), "models", first->Kb, "thing", cluster_thing(first), "levels",
                     levels, "provenance", provenance(made));
}

json_t *info_classes(const char *path, const vhem_classes *classes)
{
    json_t *list = json_array();
    vhem_hmm_view hmm = { .emission = "", .d = 0 };
    for (int c = 0; c < vhem_classes_size(classes); c++) {
        vhem_class_view v;
        vhem_classes_view(classes, c, &v);
        vhem_h3m_view(v.model, 0, &hmm);
        json_array_append_new(list,
                              json_pack("{s:o, s:i, s:i, s:i, s:i, s:i, s:o}", "name", cli_json_text(v.name),
                                        "examples", v.things, "pieces", v.pieces, "K", vhem_h3m_size(v.model),
                                        "S", hmm.S, "M", hmm.M, "prior", cli_json_real(v.prior)));
    }
    return json_pack("{s:s, s:o, s:s, s:s, s:i, s:o}", "kind", "classes", "file", cli_json_text(path),
                     "estimator", vhem_classes_options(classes)->estimator, "emission", hmm.emission, "d",
                     hmm.d, "classes", list);
}

/* Mean and spread over the frames that have a value; one pass, Welford's update keeps the digits. */
static json_t *column_facts(const vhem_data *data, int k)
{
    int d = vhem_data_dim(data);
    int64_t n = 0, missing = 0;
    double mean = 0, square = 0, least = INFINITY, most = -INFINITY;
    for (int s = 0; s < vhem_data_size(data); s++) {
        vhem_seq_view seq;
        vhem_data_view(data, s, &seq);
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
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:I}", "name", cli_json_text(vhem_data_column(data, k)),
                     "min", cli_json_real(least), "mean", n ? cli_json_real(mean) : json_null(), "sd",
                     n ? cli_json_real(sqrt(square / (double)n)) : json_null(), "max", cli_json_real(most),
                     "missing", (json_int_t)missing);
}

static int by_length(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static json_t *length_facts(int64_t *length, int N, int64_t frames)
{
    if (N == 0 || !length)
        return json_null();
    qsort(length, (size_t)N, sizeof *length, by_length);
    int64_t low = length[(N - 1) / 2], high = length[N / 2];
    return json_pack("{s:I, s:o, s:I, s:o}", "min", (json_int_t)length[0], "median",
                     cli_json_real(0.5 * (double)(low + high)), "max", (json_int_t)length[N - 1], "mean",
                     cli_json_real((double)frames / N));
}

json_t *info_data(const char *path, const vhem_data *data)
{
    int N = vhem_data_size(data);
    json_t *list = json_array(), *columns = json_array(), *labels = json_object(), *groups = json_object();
    int64_t *length = malloc((size_t)(N + 1) * sizeof *length), frames = 0;
    for (int n = 0; n < N; n++) {
        vhem_seq_view seq;
        vhem_data_view(data, n, &seq);
        frames += seq.T;
        if (length)
            length[n] = seq.T;
        count(labels, seq.label);
        count(groups, seq.group);
        json_array_append_new(list,
                              json_pack("{s:o, s:o, s:o, s:I, s:o}", "name", cli_json_text(seq.name), "label",
                                        cli_json_text(seq.label), "group", cli_json_text(seq.group), "frames",
                                        (json_int_t)seq.T, "weight", cli_json_real(seq.weight)));
    }
    for (int k = 0; k < vhem_data_dim(data); k++)
        json_array_append_new(columns, column_facts(data, k));
    json_t *lengths = length_facts(length, N, frames);
    free(length);
    return json_pack("{s:s, s:o, s:s, s:i, s:I, s:i, s:I, s:o, s:o, s:o, s:o, s:o}", "kind", "data", "file",
                     cli_json_text(path), "format", vhem_data_format(data), "N", N, "frames",
                     (json_int_t)frames, "d", vhem_data_dim(data), "missing",
                     (json_int_t)vhem_data_missing(data), "length", lengths, "labels", labels, "groups",
                     groups, "columns", columns, "sequences", list);
}
