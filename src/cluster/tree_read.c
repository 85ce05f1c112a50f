/* SPDX-License-Identifier: BSD-3-Clause */
/* tree_read.c - reads clustering and tree files.
 *
 *   1. single values      3. a clustering
 *   2. arrays             4. files
 *
 * Keys that a method does not produce may be absent; those present must have the right shape. */
#include "cluster/tree_file.h"

#include "methods/methods.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "dtm/dtm.h"
#include "hmm/hmm_set.h"
#include "files/hmm_file.h"
#include "files/json.h"
#include "files/options_json.h"
#include "vhem/vhem_h3m.h"
#include "vhem.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* ---- 1. single values ---------------------------------------------------------------------------------- */

/* Reads a whole number, if the key exists. */
static vhem_status get_int(vhem_ctx *ctx, json_t *object, const char *key, int *out)
{
    json_t *v = json_object_get(object, key);
    if (!v)
        return VHEM_OK;
    VH_CHECK(json_is_number(v), VHEM_EFORMAT, "%s is %s, must be a whole number", key, vh_json_kind(v));
    double x = json_number_value(v);
    VH_CHECK(x == floor(x) && fabs(x) <= INT_MAX, VHEM_EFORMAT, "%s is %.12g, must be a whole number", key,
             x);
    *out = (int)x;
    return VHEM_OK;
}

static vhem_status get_number(vhem_ctx *ctx, json_t *object, const char *key, double *out)
{
    json_t *v = json_object_get(object, key);
    if (!v)
        return VHEM_OK;
    VH_CHECK(json_is_number(v), VHEM_EFORMAT, "%s is %s, must be a number", key, vh_json_kind(v));
    *out = json_number_value(v);
    return VHEM_OK;
}

static vhem_status get_bool(vhem_ctx *ctx, json_t *object, const char *key, int *out)
{
    json_t *v = json_object_get(object, key);
    if (!v)
        return VHEM_OK;
    VH_CHECK(json_is_boolean(v), VHEM_EFORMAT, "%s is %s, must be true or false", key, vh_json_kind(v));
    *out = json_is_true(v);
    return VHEM_OK;
}

static vhem_status get_text(vhem_ctx *ctx, json_t *object, const char *key, vh_clustering *c,
                            const char **out)
{
    json_t *v = json_object_get(object, key);
    if (!v || json_is_null(v))
        return VHEM_OK;
    VH_CHECK(json_is_string(v), VHEM_EFORMAT, "%s is %s, must be text", key, vh_json_kind(v));
    return vh_clustering_keep(ctx, c, json_string_value(v), out);
}

static vhem_status check_kind(vhem_ctx *ctx, const char *key, json_t *v, bool object)
{
    VH_CHECK(object ? json_is_object(v) : json_is_array(v), VHEM_EFORMAT, "%s is %s, must be an %s", key,
             vh_json_kind(v), object ? "object" : "array");
    return VHEM_OK;
}

/* ---- 2. arrays ----------------------------------------------------------------------------------------- */

/* Reads v as n numbers into x; row: its index in key for messages, -1: v is all of key. */
static vhem_status read_tree_numbers(vhem_ctx *ctx, const char *key, int64_t row, json_t *v, size_t n,
                                     double *x)
{
    char where[64];

    if (row >= 0)
        snprintf(where, sizeof where, "%s[%lld]", key, (long long)row);
    else
        snprintf(where, sizeof where, "%s", key);
    VH_TRY(check_kind(ctx, where, v, false));
    VH_CHECK(json_array_size(v) == n, VHEM_EFORMAT, "%s has %zu numbers, must have %zu", where,
             json_array_size(v), n);
    for (size_t k = 0; k < n; k++) {
        json_t *e = json_array_get(v, k);
        VH_CHECK(json_is_number(e), VHEM_EFORMAT, "%s[%zu] is %s, must be a number", where, k,
                 vh_json_kind(e));
        x[k] = json_number_value(e);
    }
    return VHEM_OK;
}

/* Reads a table [Kb][Kr], if the key exists. */
static vhem_status read_table(vhem_ctx *ctx, json_t *root, const char *key, int64_t Kb, int Kr, double **out)
{
    json_t *v = json_object_get(root, key);
    VH_AUTOFREE double *x = NULL;

    if (!v)
        return VHEM_OK;
    VH_TRY(check_kind(ctx, key, v, false));
    VH_CHECK(json_array_size(v) == (size_t)Kb, VHEM_EFORMAT, "%s has %zu rows, must have %lld", key,
             json_array_size(v), (long long)Kb);
    for (int64_t i = 0; i < Kb; i++)
        VH_CHECK(json_array_size(json_array_get(v, (size_t)i)) == (size_t)Kr, VHEM_EFORMAT,
                 "%s[%lld] has %zu numbers, must have %d", key, (long long)i,
                 json_array_size(json_array_get(v, (size_t)i)), Kr);
    VH_NEW(x, vh_cells(Kb, Kr));
    for (int64_t i = 0; i < Kb; i++)
        VH_TRY(read_tree_numbers(ctx, key, i, json_array_get(v, (size_t)i), (size_t)Kr, x + vh_row(i, Kr)));
    *out = vh_take(x);
    return VHEM_OK;
}

/* Reads n whole numbers from 0 to hi into x. */
static vhem_status read_indices(vhem_ctx *ctx, const char *key, json_t *v, size_t n, int hi, int *x)
{
    VH_TRY(check_kind(ctx, key, v, false));
    VH_CHECK(json_array_size(v) == n, VHEM_EFORMAT, "%s has %zu numbers, must have %zu", key,
             json_array_size(v), n);
    for (size_t k = 0; k < n; k++) {
        json_t *e = json_array_get(v, k);
        double value = json_number_value(e);
        VH_CHECK(json_is_number(e), VHEM_EFORMAT, "%s[%zu] is %s, must be a whole number from 0 to %d", key,
                 k, vh_json_kind(e), hi);
        VH_CHECK(value >= 0 && value <= hi && value == floor(value), VHEM_EFORMAT,
                 "%s[%zu] is %.12g, must be a whole number from 0 to %d", key, k, value, hi);
        x[k] = (int)value;
    }
    return VHEM_OK;
}

/* ---- 3. a clustering ----------------------------------------------------------------------------------- */

static vhem_status read_names(vhem_ctx *ctx, json_t *root, vh_clustering *c)
{
    json_t *v = json_object_get(root, "names");
    if (!v)
        return VHEM_OK;
    VH_TRY(check_kind(ctx, "names", v, false));
    VH_CHECK(json_array_size(v) == (size_t)c->Kb, VHEM_EFORMAT, "names has %zu entries, labels has %lld",
             json_array_size(v), (long long)c->Kb);
    for (int64_t i = 0; i < c->Kb; i++) {
        json_t *e = json_array_get(v, (size_t)i);
        VH_CHECK(json_is_string(e), VHEM_EFORMAT, "names[%lld] is %s, must be text", (long long)i,
                 vh_json_kind(e));
        VH_TRY(vh_clustering_set_name(ctx, c, i, json_string_value(e)));
    }
    return VHEM_OK;
}

static vhem_status read_fingerprints(vhem_ctx *ctx, json_t *root, vh_clustering *c)
{
    json_t *v = json_object_get(root, "fingerprints");
    if (!v)
        return VHEM_OK;
    VH_TRY(check_kind(ctx, "fingerprints", v, false));
    VH_CHECK(json_array_size(v) == (size_t)c->Kb, VHEM_EFORMAT,
             "fingerprints has %zu entries, labels has %lld", json_array_size(v), (long long)c->Kb);
    for (int64_t i = 0; i < c->Kb; i++) {
        json_t *e = json_array_get(v, (size_t)i);
        uint64_t one = 0;
        VH_CHECK(json_is_null(e) || vh_fingerprint_read(json_string_value(e), &one), VHEM_EFORMAT,
                 "fingerprints[%lld] must be 16 digits in hexadecimal, or null", (long long)i);
        VH_TRY(vh_clustering_set_fingerprint(ctx, c, i, one));
    }
    return VHEM_OK;
}

/* Virtual samples are needed again for assignments; 0 is none, -1 unspecified. */
static vhem_status check_range(vhem_ctx *ctx, json_t *options, const char *key, double most)
{
    json_t *v = json_object_get(options, key);
    double x = json_number_value(v);
    VH_CHECK(!v || x == -1 || (x >= 0 && x <= most), VHEM_EFORMAT, "%s is %.12g, must be from 0 to %g", key,
             x, most);
    return VHEM_OK;
}

static vhem_status take_options(vhem_ctx *ctx, json_t *v, vh_clustering *c)
{
    int by_group = 0;

    VH_TRY(check_kind(ctx, "options", v, true));
    VH_TRY(vh_options_read(ctx, v, VHEM_CLUSTER_OPTIONS, &c->kept, &c->options));
    VH_TRY(check_range(ctx, v, "tau", VH_MOST_TAU));
    VH_TRY(check_range(ctx, v, "nv", INFINITY));
    VH_TRY(get_bool(ctx, v, "by_group", &by_group));
    const vh_method *method = vh_method_find(c->method);
    c->by_group = by_group;
    c->items = !method || !(method->takes & VH_DATA) ? "models" : by_group ? "groups" : "sequences";
    return VHEM_OK;
}

static vhem_status read_options(vhem_ctx *ctx, json_t *root, vh_clustering *c)
{
    json_t *v = json_object_get(root, "options");

    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &c->options);
    c->options.method = c->method;
    if (!v)
        return VHEM_OK;
    vhem_status st = take_options(ctx, v, c);
    return st == VHEM_EFORMAT && json_is_object(v) ? vh_error_in(ctx, st, "options") : st;
}

/* Reads the objective after each of n_iter iterations; *out stays NULL if the key is absent. */
static vhem_status read_curve(vhem_ctx *ctx, json_t *object, const char *key, int n_iter, double **out)
{
    json_t *v = json_object_get(object, key);

    VH_CHECK(n_iter >= 0, VHEM_EFORMAT, "n_iter is %d, must not be negative", n_iter);
    if (!v)
        return VHEM_OK;
    VH_TRY(check_kind(ctx, key, v, false));
    VH_CHECK(json_array_size(v) == (size_t)n_iter + 1, VHEM_EFORMAT,
             "%s has %zu numbers, must have n_iter + 1 = %d", key, json_array_size(v), n_iter + 1);
    VH_NEW(*out, (size_t)n_iter + 1);
    return read_tree_numbers(ctx, key, -1, v, (size_t)n_iter + 1, *out);
}

/* groups: of its partition there are at most so many. */
static vhem_status read_run(vhem_ctx *ctx, json_t *v, int64_t groups, vh_clustering *c, vhem_cluster_run *run)
{
    json_t *seed = json_object_get(v, "seed"), *labels = json_object_get(v, "labels");

    VH_CHECK(json_is_object(v), VHEM_EFORMAT, "is %s, must be an object", vh_json_kind(v));
    if (json_is_integer(seed))
        run->seed = (uint64_t)json_integer_value(seed);
    else if (json_is_real(seed) && json_real_value(seed) >= 0 && json_real_value(seed) < 0x1p64)
        run->seed = (uint64_t)json_real_value(seed);
    run->init = "";
    run->modularity = run->agreement = run->stability = NAN;
    VH_TRY(get_text(ctx, v, "init", c, &run->init));
    VH_TRY(get_number(ctx, v, "bound", &run->bound));
    VH_TRY(get_int(ctx, v, "n_iter", &run->n_iter));
    VH_TRY(get_bool(ctx, v, "converged", &run->converged));
    VH_TRY(get_bool(ctx, v, "finished", &run->finished));
    VH_TRY(read_curve(ctx, v, "bounds", run->n_iter, &run->bounds));
    VH_TRY(get_number(ctx, v, "modularity", &run->modularity));
    VH_TRY(get_number(ctx, v, "agreement", &run->agreement));
    VH_TRY(get_bool(ctx, v, "as_good", &run->as_good));
    if (labels) {
        VH_NEW(run->label, c->Kb);
        VH_TRY(read_indices(ctx, "labels", labels, (size_t)c->Kb, (int)(groups - 1), run->label));
    }
    return VHEM_OK;
}

/* A graph of sequences counts as a run without a bound.  Where the number of groups was chosen, each has its
 * own. */
static vhem_status read_graph(vhem_ctx *ctx, json_t *v, vh_clustering *c, vhem_cluster_run *run)
{
    VH_TRY(read_run(ctx, v, c->Kb, c, run));
    run->bound = NAN;
    run->finished = 1;
    VH_TRY(get_text(ctx, v, "graph", c, &run->init));
    VH_TRY(get_text(ctx, v, "topology", c, &run->topology));
    VH_TRY(get_int(ctx, v, "S", &run->S));
    VH_TRY(get_bool(ctx, v, "kept", &run->as_good));
    return get_number(ctx, v, "stability", &run->stability);
}

static vhem_status read_runs(vhem_ctx *ctx, json_t *root, vh_clustering *c)
{
    json_t *graphs = json_object_get(root, "graphs"),
           *v = graphs ? graphs : json_object_get(root, "restarts");
    const char *key = graphs ? "graphs" : "restarts";
    char who[32];

    if (!v)
        return VHEM_OK;
    VH_TRY(check_kind(ctx, key, v, false));
    VH_CHECK(json_array_size(v) <= INT_MAX, VHEM_EFORMAT, "%s has %zu entries, must have at most %d", key,
             json_array_size(v), INT_MAX);
    VH_NEW(c->run, json_array_size(v));
    for (int r = 0; r < (int)json_array_size(v); r++) {
        c->n_run++; /* so that a partial run is freed */
        json_t *one = json_array_get(v, (size_t)r);
        vhem_status st =
            graphs ? read_graph(ctx, one, c, &c->run[r]) : read_run(ctx, one, c->Kr, c, &c->run[r]);
        if (st != VHEM_OK) {
            snprintf(who, sizeof who, "%s[%d]", key, r);
            vh_error_prefix(ctx, who);
            return st;
        }
    }
    return VHEM_OK;
}

/* The numbers of groups that were tried in a graph of sequences. */
static vhem_status read_choice(vhem_ctx *ctx, json_t *root, vh_clustering *c)
{
    json_t *v = json_object_get(root, "choice"), *row;
    char who[48];
    size_t t;

    if (!v)
        return VHEM_OK;
    VH_TRY(check_kind(ctx, "choice", v, false));
    VH_CHECK(json_array_size(v) <= INT_MAX, VHEM_EFORMAT, "choice has %zu entries, must have at most %d",
             json_array_size(v), INT_MAX);
    VH_NEW(c->choice, json_array_size(v));
    c->n_choice = (int)json_array_size(v);
    json_array_foreach(v, t, row)
    {
        int K = 0;
        snprintf(who, sizeof who, "choice[%zu]", t);
        VH_TRY(check_kind(ctx, who, row, true));
        c->choice[t] = vh_choice_new(0);
        vhem_status st = get_int(ctx, row, "K", &K);
        st = st == VHEM_OK ? get_number(ctx, row, "modularity", &c->choice[t].modularity) : st;
        st = st == VHEM_OK ? get_number(ctx, row, "stability", &c->choice[t].stability) : st;
        VH_TRY(vh_error_in(ctx, st, who));
        c->choice[t].K = K;
    }
    return VHEM_OK;
}

/* Does not change labels: another program may assign an item to a cluster other than that of largest z. */
static vhem_status read_z(vhem_ctx *ctx, json_t *root, vh_clustering *c)
{
    const double ROUNDED = 1e-3; /* other programs write few digits */

    VH_TRY(read_table(ctx, root, "z", c->Kb, c->Kr, &c->z));
    for (int64_t i = 0; c->z && i < c->Kb; i++) {
        const double *row = c->z + vh_row(i, c->Kr);
        double sum = 0;
        for (int j = 0; j < c->Kr; j++) {
            VH_CHECK(row[j] >= 0, VHEM_EFORMAT, "z[%lld][%d] is %g, must be 0 or more", (long long)i, j,
                     row[j]);
            sum += row[j];
        }
        VH_CHECK(fabs(sum - 1) <= ROUNDED, VHEM_EFORMAT, "z[%lld] sums to %g, must be 1", (long long)i, sum);
    }
    return VHEM_OK;
}

static vhem_status read_state_map(vhem_ctx *ctx, json_t *root, vh_clustering *c)
{
    json_t *v = json_object_get(root, "state_map");
    char who[48];

    if (!v)
        return VHEM_OK;
    VH_TRY(check_kind(ctx, "state_map", v, false));
    VH_CHECK(json_array_size(v) == (size_t)c->Kb, VHEM_EFORMAT, "state_map has %zu rows, labels has %lld",
             json_array_size(v), (long long)c->Kb);
    VH_NEW(c->state_map_at, (size_t)c->Kb + 1);
    for (int64_t i = 0; i < c->Kb; i++)
        c->state_map_at[i + 1] = c->state_map_at[i] + (int64_t)json_array_size(json_array_get(v, (size_t)i));
    VH_NEW(c->state_map, c->state_map_at[c->Kb]);
    for (int64_t i = 0; i < c->Kb; i++) {
        int hi = c->centers ? c->centers->hmm[c->label[i]].S - 1 : INT_MAX;
        snprintf(who, sizeof who, "state_map[%lld]", (long long)i);
        VH_TRY(read_indices(ctx, who, json_array_get(v, (size_t)i),
                            (size_t)(c->state_map_at[i + 1] - c->state_map_at[i]), hi,
                            c->state_map + c->state_map_at[i]));
    }
    return VHEM_OK;
}

static vhem_status read_lacking(vhem_ctx *ctx, json_t *root, vh_clustering *c)
{
    json_t *v = json_object_get(root, "lacking");
    if (!v)
        return VHEM_OK;
    VH_NEW(c->lacking, c->Kb);
    return read_indices(ctx, "lacking", v, (size_t)c->Kb, INT_MAX, c->lacking);
}

static vhem_status read_share(vhem_ctx *ctx, json_t *root, vh_clustering *c)
{
    json_t *v = json_object_get(root, "share");
    if (!v)
        return VHEM_OK;
    VH_NEW(c->share, c->Kb);
    VH_TRY(read_tree_numbers(ctx, "share", -1, v, (size_t)c->Kb, c->share));
    for (int64_t i = 0; i < c->Kb; i++)
        VH_CHECK(c->share[i] >= 0 && c->share[i] <= 1, VHEM_EFORMAT, "share[%lld] is %g, must be from 0 to 1",
                 (long long)i, c->share[i]);
    return VHEM_OK;
}

static vhem_status read_bound(vhem_ctx *ctx, json_t *root, vh_clustering *c)
{
    json_t *repairs = json_object_get(root, "repairs");

    VH_TRY(get_int(ctx, root, "n_iter", &c->n_iter));
    VH_TRY(get_bool(ctx, root, "converged", &c->converged));
    VH_TRY(read_curve(ctx, root, "bound", c->n_iter, &c->bound));
    if (repairs) {
        VH_TRY(check_kind(ctx, "repairs", repairs, true));
        VH_TRY(get_int(ctx, repairs, "empty_clusters", &c->n_empty));
        VH_TRY(get_int(ctx, repairs, "revived_states", &c->n_revived));
        VH_TRY(get_int(ctx, repairs, "bound_fell", &c->n_fell));
    }
    return VHEM_OK;
}

/* Reads the centres, if any, and the number of clusters. */
static vhem_status read_centers(vhem_ctx *ctx, json_t *root, vh_clustering *c)
{
    vhem_status st = VHEM_OK;
    json_t *v = json_object_get(root, "centers"), *z = json_object_get(root, "z");

    if (v && !json_is_null(v)) {
        const char *format = json_string_value(json_object_get(v, "format"));
        st = format && strcmp(format, "vhem-dtm") == 0 ? vh_dtm_from_json(ctx, v, &c->textures)
                                                       : vh_model_from_json(ctx, v, NULL, &c->centers);
        if (st != VHEM_OK) {
            vh_error_prefix(ctx, "centers");
            return st;
        }
        c->Kr = (int)(c->centers ? c->centers->K : c->textures->K);
    } else {
        size_t n = json_array_size(json_array_get(z, 0));
        c->Kr = n <= INT_MAX ? (int)n : 0;
        if (c->Kr == 0)
            VH_TRY(get_int(ctx, json_object_get(root, "options"), "K", &c->Kr));
    }
    VH_CHECK(c->Kr >= 1, VHEM_EFORMAT, "neither centers nor z nor options tell the number of clusters");
    return st;
}

static vhem_status check_header(vhem_ctx *ctx, json_t *root, const char *format)
{
    int version = 0;
    json_t *v = json_object_get(root, "format");

    VH_CHECK(v, VHEM_EFORMAT, "format is missing");
    VH_CHECK(json_is_string(v) && strcmp(json_string_value(v), format) == 0, VHEM_EFORMAT,
             "format is '%.80s', must be '%s'", json_is_string(v) ? json_string_value(v) : vh_json_kind(v),
             format);
    VH_CHECK(json_object_get(root, "version"), VHEM_EFORMAT, "version is missing");
    VH_TRY(get_int(ctx, root, "version", &version));
    VH_CHECK(version >= 1, VHEM_EFORMAT, "version is %d, must be at least 1", version);
    VH_CHECK(version <= VH_CLUSTERING_VERSION, VHEM_EFORMAT,
             "version %d of the format, this program reads up to %d", version, VH_CLUSTERING_VERSION);
    return VHEM_OK;
}

/* Reads the extras of variational Bayes: K_max, and objects kept as text, which are checked when used. */
static vhem_status read_bayes(vhem_ctx *ctx, json_t *root, vh_clustering *c)
{
    const struct {
        const char *key;
        char **to;
    } object[] = { { "prior", &c->prior }, { "posterior", &c->posterior } };

    for (int k = 0; k < 2; k++) {
        json_t *v = json_object_get(root, object[k].key);
        if (!v || json_is_null(v))
            continue;
        VH_TRY(check_kind(ctx, object[k].key, v, true));
        VH_TRY(vh_json_keep(ctx, v, object[k].to));
    }
    return get_int(ctx, root, "K_max", &c->K_max);
}

static vhem_status read_provenance(vhem_ctx *ctx, json_t *root, char **out)
{
    json_t *v = json_object_get(root, "provenance");
    if (!v || json_is_null(v))
        return VHEM_OK;
    VH_TRY(check_kind(ctx, "provenance", v, true));
    return vh_json_keep(ctx, v, out);
}

static vhem_status read_clustering(vhem_ctx *ctx, json_t *root, vh_clustering **out)
{
    VH_OWN(vh_clustering) *c = NULL;
    json_t *labels = json_object_get(root, "labels");
    size_t Kb = json_array_size(labels);

    VH_CHECK(json_is_object(root), VHEM_EFORMAT, "holds %s, must hold an object", vh_json_kind(root));
    VH_TRY(check_header(ctx, root, "vhem-clustering"));
    VH_CHECK(labels, VHEM_EFORMAT, "labels is missing");
    VH_TRY(check_kind(ctx, "labels", labels, false));
    VH_CHECK(Kb >= 1, VHEM_EFORMAT, "labels has %zu entries, must have at least 1", Kb);
    VH_TRY(vh_clustering_new(ctx, (int64_t)Kb, &c));
    c->method = "";
    VH_TRY(get_text(ctx, root, "method", c, &c->method));
    VH_CHECK(!*c->method || vh_method_find(c->method), VHEM_EFORMAT,
             "method '%.40s' is unknown to this version", c->method);
    VH_TRY(read_centers(ctx, root, c));
    VH_TRY(read_indices(ctx, "labels", labels, Kb, c->Kr - 1, c->label));
    VH_TRY(read_names(ctx, root, c));
    VH_TRY(read_fingerprints(ctx, root, c));
    VH_TRY(read_options(ctx, root, c));
    VH_TRY(read_share(ctx, root, c));
    VH_TRY(read_z(ctx, root, c));
    VH_TRY(read_table(ctx, root, "L_hmm", c->Kb, c->Kr, &c->L_hmm));
    VH_TRY(read_bound(ctx, root, c));
    VH_TRY(read_runs(ctx, root, c));
    VH_TRY(read_choice(ctx, root, c));
    VH_TRY(read_state_map(ctx, root, c));
    VH_TRY(read_lacking(ctx, root, c));
    VH_TRY(read_bayes(ctx, root, c));
    VH_TRY(read_provenance(ctx, root, &c->provenance));
    *out = vh_take(c);
    return VHEM_OK;
}

/* ---- 4. files ------------------------------------------------------------------------------------------ */

/* Checks base_labels against the labels, from which they follow. */
static vhem_status check_base_labels(vhem_ctx *ctx, json_t *level, const vhem_tree *tree, int l)
{
    json_t *v = json_object_get(level, "base_labels");
    int64_t n = tree->level[0]->Kb;
    VH_AUTOFREE int *said = NULL;

    if (!v)
        return VHEM_OK;
    VH_NEW(said, n);
    VH_TRY(read_indices(ctx, "base_labels", v, (size_t)n, tree->level[l]->Kr - 1, said));
    for (int64_t i = 0; i < n; i++)
        VH_CHECK(said[i] == tree->base_labels[l][i], VHEM_EFORMAT,
                 "base_labels[%lld] is %d, the labels of the levels lead to %d", (long long)i, said[i],
                 tree->base_labels[l][i]);
    return VHEM_OK;
}

static vhem_status read_tree(vhem_ctx *ctx, json_t *root, vhem_tree **out)
{
    vhem_status st = VHEM_OK;
    VH_OWN(vhem_tree) *tree = NULL;
    VH_OWN(vh_clustering) *c = NULL;
    json_t *levels = json_object_get(root, "levels");
    char who[32];

    VH_TRY(check_header(ctx, root, "vhem-tree"));
    VH_CHECK(levels, VHEM_EFORMAT, "levels is missing");
    VH_TRY(check_kind(ctx, "levels", levels, false));
    VH_CHECK(json_array_size(levels) >= 1 && json_array_size(levels) < 1000000, VHEM_EFORMAT,
             "levels has %zu entries, must have at least 1", json_array_size(levels));
    VH_TRY(vh_tree_new(ctx, (int)json_array_size(levels), &tree));
    for (int l = 0; l < tree->cap; l++) {
        json_t *v = json_array_get(levels, (size_t)l);
        snprintf(who, sizeof who, "levels[%d]", l);
        st = read_clustering(ctx, v, &c);
        if (st == VHEM_OK)
            st = vh_tree_add(ctx, tree, c);
        if (st == VHEM_OK) {
            c = NULL;
            st = check_base_labels(ctx, v, tree, l);
        }
        if (st != VHEM_OK) {
            vh_error_prefix(ctx, who);
            return st;
        }
    }
    VH_TRY(read_provenance(ctx, root, &tree->provenance));
    *out = vh_take(tree);
    return VHEM_OK;
}

/* Reads a clustering as a tree of one level. */
static vhem_status read_single(vhem_ctx *ctx, json_t *root, vhem_tree **out)
{
    VH_OWN(vhem_tree) *tree = NULL;
    VH_OWN(vh_clustering) *c = NULL;

    VH_TRY(read_clustering(ctx, root, &c));
    VH_TRY(vh_tree_new(ctx, 1, &tree));
    tree->provenance = c->provenance;
    c->provenance = NULL;
    VH_TRY(vh_tree_add(ctx, tree, c));
    c = NULL;
    *out = vh_take(tree);
    return VHEM_OK;
}

vhem_status vh_tree_from_parsed(vhem_ctx *ctx, vh_parsed_file *doc, vhem_tree **out)
{
    vhem_status st;

    if (strcmp(doc->format, "vhem-h3m") == 0 || strcmp(doc->format, "vhem-dtm") == 0) {
        vhem_models *models = NULL;
        st = vh_parsed_file_models(ctx, doc, &models);
        if (st == VHEM_OK)
            return vh_tree_of_models(ctx, models, out);
    } else {
        bool single = strcmp(doc->format, "vhem-clustering") == 0;
        st = single ? read_single(ctx, doc->root, out) : read_tree(ctx, doc->root, out);
        st = vh_error_in(ctx, st, doc->name);
    }
    return st == VHEM_EINVAL ? VHEM_EFORMAT : st;
}

vhem_status vhem_tree_load(vhem_ctx *ctx, const char *path, vhem_tree **out)
{
    VH_ENTER(path, out);
    VH_CLEANUP(vh_parsed_file_close) vh_parsed_file doc = { 0 };

    VH_TRY(vh_parsed_file_open(ctx, path, "a clustering or a tree", &doc));
    return vh_tree_from_parsed(ctx, &doc, out);
}
