/* SPDX-License-Identifier: BSD-3-Clause */
/* facts.c - see facts.h. */
#include "report/facts.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "core/names.h"
#include "vhem/analysis.h"
#include "vhem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- classes ------------------------------------------------------------------------------------------- */

static const char *class_text(const vhem_report_input *in, int64_t i)
{
    if (in->truth)
        return in->truth[i] ? in->truth[i] : "";
    vhem_hmm_view h;
    vhem_dt_view t;
    if (in->models && vhem_models_hmm(in->models, i, &h) == VHEM_OK)
        return h.label;
    return in->models && vhem_models_texture(in->models, i, &t) == VHEM_OK ? t.label : "";
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts the classes by name, so that colours do not depend on the order of the models. */
static vhem_status find_classes(vhem_ctx *ctx, vh_facts *facts)
{
    VH_AUTOFREE const char **text = NULL;
    int64_t n = 0;

    VH_NEW(text, facts->n_model);
    for (int64_t i = 0; i < facts->n_model; i++)
        if (*(text[n] = class_text(facts->in, i)))
            n++;
    qsort(text, (size_t)n, sizeof *text, by_text);
    for (int64_t i = 0; i < n; i++)
        if (facts->n_class == 0 || strcmp(text[facts->n_class - 1], text[i]) != 0)
            text[facts->n_class++] = text[i];
    facts->class_name = vh_take(text);
    VH_NEW(facts->class_size, facts->n_class);
    for (int64_t i = 0; i < facts->n_model; i++) {
        const char *name = class_text(facts->in, i);
        const char **at = bsearch(&name, facts->class_name, (size_t)facts->n_class, sizeof name, by_text);
        facts->class_of[i] = at ? (int)(at - facts->class_name) : -1;
        if (at)
            facts->class_size[at - facts->class_name]++;
    }
    return VHEM_OK;
}

/* ---- levels -------------------------------------------------------------------------------------------- */

static vhem_status find_level(vhem_ctx *ctx, vh_facts *facts, int l)
{
    vh_level *v = &facts->level[l];
    vhem_models_facts of = { 0 };

    v->c = vhem_tree_level(facts->in->tree, l);
    v->label = v->c->base_label;
    v->K = (int)v->c->Kr;
    if (v->c->centers)
        vhem_models_info(v->c->centers, &of);
    v->hmms = of.kind == VHEM_HMMS ? v->c->centers : NULL;
    v->textures = of.kind == VHEM_TEXTURES ? v->c->centers : NULL;
    VH_NEW(v->parent, v->K);
    VH_NEW(v->size, v->K);
    VH_NEW(v->order, v->K);
    VH_NEW(v->first, v->K);
    VH_NEW(v->count, vh_cells(v->K, facts->n_class));
    for (int j = 0; j < v->K; j++)
        v->parent[j] = v->c->parent ? v->c->parent[j] : -1;
    for (int64_t i = 0; i < facts->n_model; i++) {
        VH_CHECK(v->label[i] >= 0 && v->label[i] < v->K, VHEM_EINVAL,
                 "model %lld is in cluster %d of level %d, which has %d", (long long)i, v->label[i], l + 1,
                 v->K);
        v->size[v->label[i]]++;
        if (facts->class_of[i] >= 0)
            v->count[v->label[i] * facts->n_class + facts->class_of[i]]++;
    }
    return VHEM_OK;
}

/* Orders from the top level down: children in the order of their parents, those without a parent last. */
static void order_level(vh_facts *facts, int l)
{
    vh_level *v = &facts->level[l];
    const vh_level *above = l + 1 < facts->n_level ? v + 1 : NULL;
    int n = 0, at = 0;

    for (int k = 0; above && k < above->K; k++)
        for (int j = 0; j < v->K; j++)
            if (v->parent[j] == above->order[k])
                v->order[n++] = j;
    for (int j = 0; j < v->K; j++)
        if (v->parent[j] < 0)
            v->order[n++] = j;
    for (int k = 0; k < v->K; k++) {
        v->first[v->order[k]] = at;
        at += v->size[v->order[k]];
    }
}

double vh_facts_own_z(const vh_level *level, int64_t i)
{
    const vhem_clustering *c = level->c;
    return c->z ? c->z[vh_ij(i, c->Kr, c->label[i])] : 1;
}

double vh_facts_share(const vh_level *level, int64_t i)
{
    return level->c->share ? level->c->share[i] : NAN;
}

bool vh_facts_graphs(const vh_level *level)
{
    return level->c->n_run > 0 && isnan(level->c->run[0].bound);
}

static double nearness(const vhem_clustering *c, int64_t i)
{
    const double *x = c->L_hmm ? c->L_hmm : c->z;
    return x ? x[vh_ij(i, c->Kr, c->label[i])] : 0;
}

typedef struct { /* where a model stands among all */
    int64_t model;
    int first, lacking; /* where its cluster begins; the columns it lacks */
    double near;
} model_place;

static int by_cluster(const void *a, const void *b)
{
    const model_place *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->lacking != y->lacking) /* L_hmm needs equally many values */
        return x->lacking < y->lacking ? -1 : 1;
    return x->near > y->near ? -1 : x->near < y->near ? 1 : x->model < y->model ? -1 : 1;
}

/* Models of a cluster stand together, the nearest to its centre first. */
static vhem_status order_models(vhem_ctx *ctx, vh_facts *facts)
{
    const vh_level *level = &facts->level[0];
    const vhem_clustering *c = level->c;
    VH_AUTOFREE model_place *place = NULL;

    VH_NEW(place, facts->n_model);
    for (int64_t i = 0; i < facts->n_model; i++)
        place[i] =
            (model_place){ i, level->first[c->label[i]], c->lacking ? c->lacking[i] : 0, nearness(c, i) };
    qsort(place, (size_t)facts->n_model, sizeof *place, by_cluster);
    for (int64_t i = 0; i < facts->n_model; i++)
        facts->model[i] = place[i].model;
    return VHEM_OK;
}

/* Takes given measures; the report computes none, and missing ones are NaN. */
static vhem_status take_measures(vhem_ctx *ctx, vh_facts *facts)
{
    VH_NEW(facts->measures, facts->n_level);
    for (int l = 0; l < facts->n_level; l++) {
        vhem_measures *m = &facts->measures[l];
        *m = facts->in->measures ? facts->in->measures[l] : (vhem_measures){ NAN, NAN, NAN, NAN };
        facts->measured = facts->measured || isfinite(m->expected_loglik) || isfinite(m->loglik)
                          || isfinite(m->compactness) || isfinite(m->modularity);
    }
    return VHEM_OK;
}

static vhem_status find_models(vhem_ctx *ctx, vh_facts *facts)
{
    const vhem_data *data = facts->in->data;
    VH_CLEANUP(vh_names_free) vh_names known = { 0 };
    bool is_new = true;
    int64_t index;
    vhem_seq_view seq;

    if (!data || !facts->column || facts->d != facts->data.d)
        return VHEM_OK;
    VH_NEW(facts->model_of, facts->data.N);
    for (int64_t i = 0; i < facts->n_model && is_new; i++)
        VH_TRY(vh_names_put(ctx, &known, vh_facts_name(facts, i), strlen(vh_facts_name(facts, i)), &index,
                            &is_new));
    for (int64_t n = 0; n < facts->data.N; n++) {
        VH_TRY(vhem_data_view(data, n, &seq));
        index = is_new && *seq.name ? vh_names_find(&known, seq.name, strlen(seq.name)) : -1;
        if (index < 0 && is_new && *seq.group)
            index = vh_names_find(&known, seq.group, strlen(seq.group));
        facts->model_of[n] = index;
    }
    return VHEM_OK;
}

static void find_words(vh_facts *facts)
{
    const char *items = facts->level[0].c->items;
    bool textures = facts->level[0].textures, data = strcmp(items, "models") != 0;
    bool groups = strcmp(items, "groups") == 0;
    facts->item = textures ? "texture" : !data ? "model" : groups ? "group" : "sequence";
    facts->kind = textures ? "dynamic textures"
                  : !data  ? "hidden Markov models"
                  : groups ? "groups of sequences"
                           : "sequences";
}

/* Looks up the columns of the lowest centres once, as figures need them often. */
static vhem_status find_columns(vhem_ctx *ctx, vh_facts *facts)
{
    const vhem_models *hmms = facts->level[0].hmms;
    vhem_models_facts of;

    if (!hmms)
        return VHEM_OK;
    vhem_models_info(hmms, &of);
    VH_NEW(facts->column, of.d);
    facts->d = of.d;
    for (int k = 0; k < of.d; k++)
        VH_TRY(vhem_models_column(hmms, k, &facts->column[k]));
    return VHEM_OK;
}

vhem_status vh_facts_new(vhem_ctx *ctx, const vhem_report_input *in, vh_facts **out)
{
    VH_OWN(vh_facts) *facts = NULL;
    vhem_tree_facts of;

    vhem_tree_info(in->tree, &of);
    VH_CHECK(of.levels > 0, VHEM_EINVAL, "the tree has no level to report on");
    VH_NEW(facts, 1);
    facts->ctx = ctx;
    facts->in = in;
    VH_NEW(facts->lacks_memory, 1);
    facts->n_level = of.levels;
    facts->n_model = vhem_tree_level(in->tree, 0)->Kb;
    VH_CHECK(facts->n_model > 0, VHEM_EINVAL,
             "these are models, not clusters: there is nothing to report on");
    if (in->models)
        VH_TRY(vhem_tree_check(ctx, in->tree, in->models));
    if (in->data)
        vhem_data_info(in->data, &facts->data);
    VH_NEW(facts->class_of, facts->n_model);
    VH_NEW(facts->level, facts->n_level);
    VH_NEW(facts->model, facts->n_model);
    VH_TRY(find_classes(ctx, facts));
    for (int l = 0; l < facts->n_level; l++)
        VH_TRY(find_level(ctx, facts, l));
    find_words(facts);
    VH_TRY(find_columns(ctx, facts));
    for (int l = facts->n_level - 1; l >= 0; l--)
        order_level(facts, l);
    VH_TRY(order_models(ctx, facts));
    VH_TRY(take_measures(ctx, facts));
    VH_TRY(find_models(ctx, facts));
    *out = vh_take(facts);
    return VHEM_OK;
}

void vh_facts_free(vh_facts *facts)
{
    if (!facts)
        return;
    for (int l = 0; facts->level && l < facts->n_level; l++) {
        vh_level *v = &facts->level[l];
        free(v->parent);
        free(v->size);
        free(v->order);
        free(v->first);
        free(v->count);
    }
    free(facts->level);
    free(facts->model);
    free(facts->class_of);
    free(facts->class_name);
    free(facts->class_size);
    free(facts->measures);
    free(facts->model_of);
    free(facts->column);
    free(facts->lacks_memory);
    free(facts);
}

/* ---- single facts -------------------------------------------------------------------------------------- */

void *vh_facts_room(const vh_facts *facts, size_t n, size_t size)
{
    void *room = vh_alloc(facts->ctx, n, size);
    *facts->lacks_memory = *facts->lacks_memory || !room;
    return room;
}

const char *vh_facts_unit(const vh_facts *facts, const vhem_clustering *c, char *buf, size_t size)
{
    char word[64];
    if (c->options->tau > 0)
        snprintf(buf, size, "nats per %s", vh_facts_frames(facts, 1, word, sizeof word));
    else
        snprintf(buf, size, "nats");
    return buf;
}

const char *vh_facts_frames(const vh_facts *facts, double n, char *buf, size_t size)
{
    const char *many = facts->in->frame_name && *facts->in->frame_name ? facts->in->frame_name : "frames";
    size_t length = strlen(many);
    bool one = fabs(n - 1) < 0.005 && length > 1 && many[length - 1] == 's';
    snprintf(buf, size, "%.*s", (int)(length - one), many);
    return buf;
}

/* An uncut visit lasts 1 / (1 - a) frames; within T frames, (1 - a^T) / (1 - a). */
double vh_stay_within(double a, int64_t T)
{
    return a < 1 - 1e-9 ? (1 - pow(a, (double)T)) / (1 - a) : (double)T;
}

int vh_facts_usual(const vh_level *level)
{
    enum { LONG = 100000 };
    vhem_models_facts of = { 0 };
    if (level->c->options->tau > 1)
        return level->c->options->tau;
    if (level->c->options->tau <= 0 && level->hmms)
        vhem_models_info(level->hmms, &of);
    return of.length > LONG ? LONG : of.length > 0 ? (int)of.length : VH_USUAL_TAU;
}

int64_t vh_facts_longest(const vh_facts *facts, int l)
{
    const vhem_data *data = facts->in->data;
    int64_t most = 0;
    vhem_seq_view seq;
    for (int64_t n = 0; n < facts->data.N; n++)
        if (vhem_data_view(data, n, &seq) == VHEM_OK && seq.T > most)
            most = seq.T;
    return most > 0 ? most : vh_facts_usual(&facts->level[l]);
}

const char *vh_facts_name(const vh_facts *facts, int64_t i)
{
    return facts->level[0].c->name[i];
}

const char *vh_facts_dimension(const vh_facts *facts, int k, char *buf, size_t size)
{
    if (k < facts->d && *facts->column[k].name)
        return facts->column[k].name;
    if (k < facts->data.d)
        return facts->data.column[k];
    snprintf(buf, size, "y%d", k);
    return buf;
}

int vh_facts_column(const vh_facts *facts, int k)
{
    char buf[32];
    const char *name = vh_facts_dimension(facts, k, buf, sizeof buf);
    for (int e = 0; e < facts->data.d; e++)
        if (strcmp(facts->data.column[e], name) == 0)
            return e;
    return k;
}

bool vh_facts_agreement(const vh_facts *facts, int l, vhem_agreement *out)
{
    /* purity refers to clusters */
    return vhem_partition_compare(facts->n_model, facts->level[l].label, facts->class_of, out) > 1;
}

bool vh_facts_measured(const vh_facts *facts, int l)
{
    const vhem_measures *m = &facts->measures[l];
    return facts->n_class > 0 || isfinite(m->expected_loglik) || isfinite(m->loglik)
           || isfinite(m->compactness);
}

void vh_hmm_share(const vhem_hmm_view *h, int tau, double *share)
{
    int S = h->S;
    double *p = share + S, *q = p + S;

    memcpy(p, h->pi, (size_t)S * sizeof *p);
    memset(share, 0, (size_t)S * sizeof *share);
    for (int t = 0; t < tau; t++) {
        for (int s = 0; s < S; s++) {
            share[s] += p[s] / tau;
            q[s] = 0;
            for (int r = 0; r < S; r++)
                q[s] += p[r] * h->A[r * h->S + s];
        }
        memcpy(p, q, (size_t)S * sizeof *p);
    }
}
