/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c - see options.h. */
#include "methods/options.h"

#include "core/options.h"
#include "emission/layout.h"
#include "hmm/missing_columns.h"
#include "vhem/vhem_h3m.h"
#include "vhem.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MIN_RESTARTS = 20, MAX_RESTARTS = 300, THOROUGH = 4 };

enum { DATA_STATES = 3 };
enum { MOST_STATES = 4096, MOST_RESTARTS = 65535 };
enum { NEIGHBOURS = 10 };   /* neighbours per model in the graph of knn-sc */
enum { DTM_RESTARTS = 10 }; /* of HEM-DTM, whose iterations are slow */
enum { LONG = 100 };        /* largest tau derived from sequence lengths */

/* ---- names --------------------------------------------------------------------------------------------- */

/* Fills in words that need no decision; the table of options has checked them. */
static void resolve_names(const vh_input *in, vhem_cluster_options *o)
{
    o->init = o->start ? "given" : o->init ? o->init : "auto";
    o->emission = in->models ? in->models->family->name : o->emission ? o->emission : VH_EMISSION_DEFAULT;
    o->kernel = o->kernel ? o->kernel : "normalised";
    o->diagonal = o->diagonal ? o->diagonal : "zero";
    o->linkage = o->linkage ? o->linkage : "average";
    if (o->start || (!o->search && (o->preset || strcmp(o->init, "auto") != 0)))
        o->search = "restarts"; /* a published search, or one the user controls */
    o->search = o->search ? o->search : "auto";
    o->lambda = o->lambda < 0 ? 0.5 : o->lambda;
}

/* ---- checks -------------------------------------------------------------------------------------------- */

static vhem_status check_init(vhem_ctx *ctx, const vhem_cluster_options *o)
{
    const char *inits = vh_method_find(o->method)->inits;
    char known[80];
    VH_CHECK(o->start || !inits || vh_has_word(inits, '|', o->init), VHEM_EINVAL,
             "method %s does not use init '%s'; known are %s", o->method, o->init,
             vh_list_words(inits, known, sizeof known));
    return VHEM_OK;
}

/* Fails on options for the other kind of models; the table of options has rejected the rest. */
static vhem_status check_meaning(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *o)
{
    const char *what = NULL;
    if (in->textures)
        what = vh_start_hmms(o)                        ? "a start of HMMs"
               : o->preset && vh_cluster_wants_full(o) ? "preset emhmm"
                                                       : NULL;
    else if (vh_start_textures(o))
        what = "a start of textures";
    VH_CHECK(!what, VHEM_EINVAL, "method %s does not use %s", o->method, what);
    return VHEM_OK;
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

/* Takes the sizes of the centres from the start, and checks that it matches the models or sequences. */
static vhem_status resolve_start(vhem_ctx *ctx, vh_input *in, vhem_cluster_options *o)
{
    const vh_h3m *start = vh_start_hmms(o), *h3m = in->models;
    int S = 0, M = 0, d = h3m ? h3m->d : in->data->d;
    char why[256];

    VH_CHECK(start->d == d || (!h3m && start->shape.layout), VHEM_EINVAL,
             "the start has dimension %d, but the %s have %d", start->d, h3m ? "models" : "sequences", d);
    VH_CHECK(!h3m || vh_family_same(start->family, h3m->family) || vh_cluster_wants_full(o), VHEM_EINVAL,
             "the start has %s emissions, the models %s", start->family->name, h3m->family->name);
    VH_CHECK(!h3m || !*vh_layout_differs(&start->shape, &h3m->shape, why, sizeof why), VHEM_EINVAL,
             "the start does not suit the models: %s", why);
    VH_CHECK(!vh_h3m_lacks_columns(start), VHEM_EINVAL,
             "the start has HMMs that lack a column; centres must have every column");
    o->emission = h3m ? o->emission : start->family->name;
    VH_CHECK(in->K == 0 || in->K == start->K, VHEM_EINVAL, "K is %lld, the start has %lld HMMs",
             (long long)in->K, (long long)start->K);
    for (int64_t j = 0; j < start->K; j++) {
        S = start->hmm[j].S > S ? start->hmm[j].S : S;
        M = start->hmm[j].M > M ? start->hmm[j].M : M;
    }
    VH_CHECK(o->S < 0 || o->S == S, VHEM_EINVAL, "S is %d, the start has %d states", o->S, S);
    VH_CHECK(o->M < 0 || o->M == M, VHEM_EINVAL, "M is %d, the start has %d components per state", o->M, M);
    VH_CHECK(o->restarts <= 1, VHEM_EINVAL, "%d restarts with a given start would all be the same",
             o->restarts);
    in->K = start->K;
    o->S = S;
    o->M = M;
    o->restarts = 1;
    return VHEM_OK;
}

static vhem_status resolve_start_dtm(vhem_ctx *ctx, vh_input *in, vhem_cluster_options *o)
{
    const vh_dtm *dtm = in->textures, *start = vh_start_textures(o);
    int n = 0;

    assert(dtm && start); /* elsewhere, starts of textures are rejected */
    VH_CHECK(start->d == dtm->d, VHEM_EINVAL, "the start has dimension %d, but the textures have %d",
             start->d, dtm->d);
    VH_CHECK(in->K == 0 || in->K == start->K, VHEM_EINVAL, "K is %lld, the start has %lld textures",
             (long long)in->K, (long long)start->K);
    for (int64_t j = 0; j < start->K; j++)
        n = start->dt[j].n > n ? start->dt[j].n : n;
    VH_CHECK(o->S < 0 || o->S == n, VHEM_EINVAL, "n is %d, that of the start is %d", o->S, n);
    VH_CHECK(o->restarts <= 1, VHEM_EINVAL, "%d restarts with a given start would all be the same",
             o->restarts);
    in->K = start->K;
    o->S = n;
    o->restarts = 1;
    return VHEM_OK;
}

/* Lowers K to the number of models, for methods where K is an upper limit. */
static void lower_K(vhem_ctx *ctx, vh_input *in, const vhem_cluster_options *o)
{
    bool finds = vh_method_find(o->method)->traits & VH_FINDS_K;
    if (!finds || o->start || in->K <= in->Kb)
        return;
    vh_log(ctx, VHEM_LOG_WARN, "at most %lld clusters are tried, not %lld: there are %lld models",
           (long long)in->Kb, (long long)in->K, (long long)in->Kb);
    in->K = in->Kb;
}

static vhem_status check_sizes(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *o)
{
    bool chosen = in->K == 0 && vh_method_find(o->method)->traits & VH_KEEPS;
    VH_CHECK(in->K >= 1 || chosen, VHEM_EINVAL, "K is %lld, must be at least 1", (long long)in->K);
    VH_CHECK(in->K <= in->Kb || o->start, VHEM_EINVAL, "K is %lld, but there are only %lld %s",
             (long long)in->K, (long long)in->Kb,
             in->models                  ? "models"
             : in->textures              ? "textures"
             : in->by_group || in->below ? "groups"
                                         : "sequences");
    VH_CHECK(o->S <= MOST_STATES, VHEM_EINVAL, "S is %d, must be from 1 to %d", o->S, MOST_STATES);
    const vh_emission *family = in->models     ? in->models->family
                                : in->textures ? NULL
                                               : vh_emission_find(o->emission);
    VH_CHECK(!family || !family->single || o->M <= 1, VHEM_EINVAL,
             "M is %d, must be 1: a mixture of %s components is one such component", o->M, o->emission);
    VH_CHECK(o->M <= MOST_STATES, VHEM_EINVAL, "M is %d, must be from 1 to %d", o->M, MOST_STATES);
    VH_CHECK(
        o->tau != VHEM_AUTO || (in->models && in->models->lengths.max > 0), VHEM_EINVAL,
        "tau 'auto' needs the lengths of the sequences, which these models do not have; fit them again, or "
        "give a number");
    VH_CHECK(o->tau <= VH_MOST_TAU || o->tau == VHEM_AUTO, VHEM_EINVAL, "tau is %d, must be from 1 to %d",
             o->tau, VH_MOST_TAU);
    VH_CHECK(o->restarts <= MOST_RESTARTS, VHEM_EINVAL, "restarts is %d, must be from 1 to %d", o->restarts,
             MOST_RESTARTS);
    return VHEM_OK;
}

static vhem_status check_models(vhem_ctx *ctx, int64_t K, const double *omega)
{
    double sum = 0;
    for (int64_t i = 0; i < K; i++)
        sum += omega[i];
    VH_CHECK(sum > 0, VHEM_EINVAL, "the weights of the models sum to %g, must be 1", sum);
    return VHEM_OK;
}

/* As many restarts as a moderate cost allows: small sets have the worst local optima and are cheap. */
static int default_restarts(const vh_input *in, const vhem_cluster_options *o)
{
    if (in->textures)
        return DTM_RESTARTS;
    int more = strcmp(o->search, "thorough") == 0 ? THOROUGH : 1;
    double n = 4e7 / (vh_cluster_work(in->models, in->K, o) * in->Kb / in->models->K);
    return more * (n < MIN_RESTARTS ? MIN_RESTARTS : n > MAX_RESTARTS ? MAX_RESTARTS : (int)n);
}

/* Frames of a virtual sample: for auto, from the models; else from the method or the preset. */
static int find_tau(const vh_input *in, const vhem_cluster_options *o, const vhem_cluster_options *p)
{
    const vh_h3m *h3m = in->models;
    int of_method = vh_method_find(o->method)->tau, tau = o->tau;

    if (in->data)
        return tau;
    if (h3m && tau == VHEM_AUTO)
        tau = h3m->lengths.median < LONG ? (int)h3m->lengths.median : LONG;
    return tau > 0 ? tau : of_method > 0 ? of_method : p->tau;
}

/* Centres are as large as the largest model. */
static void fill_sizes(const vh_input *in, vhem_cluster_options *o)
{
    const vh_h3m *h3m = in->models;
    int S = in->data ? DATA_STATES : 1, M = 1;

    for (int64_t i = 0; h3m && !in->shards && i < h3m->K; i++) {
        S = h3m->hmm[i].S > S ? h3m->hmm[i].S : S;
        M = h3m->hmm[i].M > M ? h3m->hmm[i].M : M;
    }
    if (in->shards) { /* models holds only the first of them */
        S = in->shards->S;
        M = in->shards->M;
    }
    for (int64_t i = 0; in->textures && i < in->Kb; i++)
        S = in->textures->dt[i].n > S ? in->textures->dt[i].n : S;
    o->S = o->S > 0 ? o->S : S;
    o->M = o->M > 0 ? o->M : h3m && h3m->family->single ? 1 : M;
}

/* Default neighbours in the graph of knn-sc: at most the average number of others in a cluster. */
static int find_neighbours(const vh_input *in)
{
    int64_t others = in->Kb / (in->K > 0 ? in->K : 1) - 1;
    return (int)(others < 2 ? 2 : others < NEIGHBOURS ? others : NEIGHBOURS);
}

/* Values of options, with defaults if unset. */
static double number_or(double asked, double otherwise)
{
    return asked >= 0 ? asked : otherwise;
}

static int count_or(int asked, int otherwise)
{
    return asked > 0 ? asked : otherwise;
}

/* Virtual samples per model; 0 for sequences. */
static double find_nv(const vh_input *in, const vhem_cluster_options *o, const vhem_cluster_options *p)
{
    const vh_method *m = vh_method_find(o->method);
    double usual = m->nv > 0 ? m->nv : p->nv > 0 ? p->nv : (double)in->Kb / o->tau;
    return in->data ? 0 : o->nv > 0 ? o->nv : usual;
}

/* Fills in unset numbers: first the method's defaults, then the preset's. */
static void fill_numbers(const vh_input *in, vhem_cluster_options *o)
{
    const vh_method *m = vh_method_find(o->method);
    vhem_cluster_options p;

    vh_preset_numbers(o->preset, &p);
    o->tau = find_tau(in, o, &p);
    if (m->defaults)
        m->defaults(in, o);
    if (!(m->traits & VH_KEEPS)) /* else what is not asked for is not restricted */
        fill_sizes(in, o);
    o->max_iter = o->max_iter >= 0 ? o->max_iter : p.max_iter;
    if (o->restarts <= 0)
        o->restarts = default_restarts(in, o);
    o->nv = find_nv(in, o, &p);
    o->tol = number_or(o->tol, p.tol);
    o->cov_floor = number_or(o->cov_floor, p.cov_floor);
    o->cov_add = number_or(o->cov_add, p.cov_add);
    bool exact = o->start && o->tol == 0 && o->cov_floor == 0;
    o->soft = o->soft >= 0 ? o->soft : o->start ? 0 : p.soft;
    o->repair = o->repair >= 0 ? o->repair > 0 : !exact && !vh_cluster_runs_all(o);
    o->weighted_omega = o->weighted_omega > 0;
    o->neighbours = count_or(o->neighbours, find_neighbours(in));
    o->candidate = count_or(o->candidate, 1);
    o->refine = count_or(o->refine, 1);
}

vhem_status vh_cluster_resolve(vhem_ctx *ctx, vh_input *in, const vhem_cluster_options *asked,
                               vhem_cluster_options *out)
{
    const vh_h3m *h3m = in->models;
    vhem_cluster_options o;

    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &o);
    if (asked)
        o = *asked;
    if (o.start)
        o.init = NULL;
    VH_TRY(vh_options_check(ctx, VHEM_CLUSTER_OPTIONS, &o));
    o.method = o.method ? o.method
                        : vh_method_usual(in->textures ? VH_TEXTURES
                                          : in->data   ? VH_DATA
                                                       : VH_MODELS)
                              ->name;
    VH_TRY(vh_options_check_uses(ctx, VHEM_CLUSTER_OPTIONS, &o, o.method));
    resolve_names(in, &o);
    int takes = vh_method_find(o.method)->takes;
    VH_CHECK(!in->textures || takes & VH_TEXTURES, VHEM_EINVAL,
             "method %s does not cluster dynamic textures, hem-dtm does", o.method);
    VH_CHECK(in->textures || takes != VH_TEXTURES, VHEM_EINVAL,
             "method %s clusters dynamic textures: fit them first, with " VH_OPT("model=dtm"), o.method);
    VH_CHECK(in->textures || takes & (h3m ? VH_MODELS : VH_DATA), VHEM_EINVAL, "method %s clusters %s",
             o.method,
             h3m ? "sequences, not models: give it the data" : "models, not sequences: fit them first");
    VH_TRY(check_init(ctx, &o));
    VH_TRY(check_meaning(ctx, in, &o));
    if (h3m) {
        VH_TRY(check_models(ctx, h3m->K, h3m->omega));
        if (!in->shards) /* else only the first are here; all are checked later */
            VH_TRY(vh_h3m_require_columns(ctx, h3m));
    }
    if (in->textures)
        VH_TRY(check_models(ctx, in->Kb, in->textures->omega));
    if (vh_start_hmms(&o))
        VH_TRY(resolve_start(ctx, in, &o));
    if (vh_start_textures(&o))
        VH_TRY(resolve_start_dtm(ctx, in, &o));
    lower_K(ctx, in, &o);
    VH_TRY(check_sizes(ctx, in, &o));
    fill_numbers(in, &o);
    *out = o;
    return VHEM_OK;
}
