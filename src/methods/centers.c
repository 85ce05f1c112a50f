/* SPDX-License-Identifier: BSD-3-Clause */
/* centers.c - see centers.h.  Paper, Section 4.2: the centre of a cluster of HMMs is one of its members, or
 * learned from all members by VHEM with one centre ("hybrid"). */
#include "methods/centers.h"

#include "methods/state_order.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "core/options.h"
#include "core/rng.h"
#include "math/logsum.h"
#include "hmm/convert.h"
#include "vhem/bounds.h"
#include "vhem/start.h"

#include <math.h>

/* Makes a start of the requested size from member i of the models. */
static vhem_status start_at(vhem_ctx *ctx, const vh_h3m *models, const vhem_cluster_options *opt, int64_t i,
                            uint64_t seed, vh_h3m **out)
{
    VH_OWN(vh_h3m) *start = NULL;
    VH_OWN(vh_base) *base = NULL;
    vh_rng rng;

    vh_rng_init(&rng, seed, VH_RNG_INIT, 0);
    VH_TRY(vh_base_new(ctx, models, &base));
    VH_TRY(vh_h3m_new(ctx, models->family, models->shape, 1, &start));
    VH_TRY(vh_h3m_shape(ctx, start, 0, opt->S, opt->M));
    VH_CHECK(vh_center_from_base(base, i, &rng, start, 0), VHEM_ENOMEM,
             "out of memory: no room for a centre");
    *out = vh_take(start);
    return VHEM_OK;
}

enum { MORE_STARTS = 20 }; /* extra starts of a centre, besides its representative member */

static double reached(const vh_clustering *c)
{
    return c && c->bound ? c->bound[c->n_iter] : -INFINITY;
}

/* Runs VHEM with one centre on the members, from `start` and, unless only one restart is requested, from
 * random starts; returns the better result.  Also returns a centre with VHEM_ESTOPPED. */
static vhem_status best_center(vhem_ctx *ctx, const vh_h3m *members, const vhem_models *start,
                               const vhem_cluster_options *opt, uint64_t seed, vh_clustering **out)
{
    vh_clustering *first = NULL, *more = NULL;
    vhem_cluster_options o = *opt;
    vh_input only = vh_input_models(members, 1);

    only.centers_only = true;
    o.method = "vhem";
    vh_options_drop_unused(VHEM_CLUSTER_OPTIONS, o.method, &o);
    o.init = NULL;
    o.start = start;
    o.S = o.M = o.restarts = -1;
    vhem_status st = vh_cluster(ctx, &only, &o, seed, &first);
    if (st == VHEM_OK && opt->restarts > 1) {
        o.start = NULL;
        o.search = "restarts";
        o.S = opt->S;
        o.M = opt->M;
        o.restarts = opt->restarts - 1 < MORE_STARTS ? opt->restarts - 1 : MORE_STARTS;
        st = vh_cluster(ctx, &only, &o, seed, &more);
    }
    bool swap = reached(more) > reached(first);
    *out = swap ? more : first;
    vh_clustering_free(swap ? first : more);
    return st;
}

/* Learns the centre of the members of cluster j, with normalised weights.  Also returns a centre with
 * VHEM_ESTOPPED. */
static vhem_status learn_one(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *opt,
                             const vh_partition *part, int64_t j, uint64_t seed, vh_h3m **out)
{
    VH_AUTOFREE int64_t *index = NULL;
    int64_t n = 0, pick = 0;
    VH_OWN(vh_h3m) *members = NULL, *start = NULL;
    VH_OWN(vh_clustering) *one = NULL;

    VH_NEW(index, in->Kb);
    for (int64_t i = 0; i < in->Kb; i++)
        if (part->label[i] == j) {
            pick = i == part->pick[j] ? n : pick;
            index[n++] = i;
        }
    VH_TRY(vh_h3m_subset(ctx, in->models, index, n, &members));
    bool weighty = vh_normalise(n, members->omega);
    for (int64_t i = 0; !weighty && i < n; i++) /* all weights are 0: use equal ones */
        members->omega[i] = 1.0 / (double)n;
    VH_TRY(start_at(ctx, members, opt, pick, seed, &start));
    const vhem_models given = vh_models_of_hmms(start);
    vhem_status run = best_center(ctx, members, &given, opt, seed, &one);
    if (!one || (run != VHEM_OK && run != VHEM_ESTOPPED)) {
        return run;
    }
    *out = one->centers;
    one->centers = NULL;
    return run;
}

/* Learns the centres of clusters with members; *centers holds HMMs of the input.  If the preset uses full
 * covariances, all centres get them.  VHEM_ESTOPPED leaves the remaining centres unchanged. */
static vhem_status learn_all(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *opt,
                             const vh_partition *part, uint64_t seed, vh_h3m **centers)
{
    vhem_status st = VHEM_OK, run = VHEM_OK;
    VH_OWN(vh_h3m) *one = NULL, *full = NULL;
    const vh_h3m *like;
    VH_AUTOFREE int *members = NULL;
    int64_t K = (*centers)->K;

    VH_NEW(members, K);
    for (int64_t i = 0; i < in->Kb; i++)
        members[part->label[i]]++;
    for (int64_t j = 0; j < K && run == VHEM_OK; j++) {
        if (members[j] == 0)
            continue;
        run = learn_one(ctx, in, opt, part, j, vh_rng_seed(seed, (uint64_t)j + 1), &one);
        if (!one)
            break;
        VH_TRY(vh_h3m_like(ctx, *centers, one, &full, &like));
        if (full) {
            vh_h3m_free(*centers);
            *centers = vh_take(full);
        }
        VH_TRY(vh_h3m_shape(ctx, *centers, j, one->hmm[0].S, one->hmm[0].M));
        vh_hmm_copy(&(*centers)->hmm[j], &one->hmm[0]);
        vh_h3m_free(one);
        one = NULL;
        vh_progress(ctx, "centres", j + 1, K);
    }
    VH_TRY(vh_order_states(ctx, *centers, opt->tau));
    st = run;
    return st;
}

/* z is 0 or 1; the weight of a centre is that of its members. */
static vhem_status fill_assignments(vhem_ctx *ctx, const vh_partition *part, vh_clustering *out)
{
    double sum = 0;

    VH_NEW(out->z, vh_cells(out->Kb, out->Kr));
    for (int j = 0; j < out->Kr; j++) {
        out->centers->omega[j] = 0;
        VH_TRY(vh_h3m_set_cluster(ctx, &out->centers->hmm[j].name, j));
        VH_TRY(vh_h3m_set_text(ctx, &out->centers->hmm[j].label, NULL));
    }
    for (int64_t i = 0; i < out->Kb; i++) {
        out->label[i] = part->label[i];
        out->z[vh_ij(i, out->Kr, part->label[i])] = 1;
        out->centers->omega[part->label[i]] += part->weight[i];
        sum += part->weight[i];
    }
    for (int j = 0; j < out->Kr; j++)
        out->centers->omega[j] /= sum;
    return VHEM_OK;
}

/* Computes L_hmm of every model under every centre, and the state map.  Leaves them NULL after a stop. */
static vhem_status fill_tables(vhem_ctx *ctx, const vh_h3m *models, int tau, vh_clustering *out)
{
    vhem_status st = VHEM_OK;
    VH_OWN(vh_h3m) *full = NULL;
    VH_OWN(vh_base) *base = NULL;

    VH_TRY(vh_h3m_like(ctx, models, out->centers, &full, &models));
    VH_NEW(out->L_hmm, vh_cells(out->Kb, out->Kr));
    st = vh_reduce_score(ctx, models, out->centers, tau, out->L_hmm);
    if (st == VHEM_ESTOPPED) {
        free(out->L_hmm);
        out->L_hmm = NULL;
    }
    VH_TRY(st);
    if (out->Kb <= VH_MAX_MAPPED) {
        VH_TRY(vh_base_new(ctx, models, &base));
        VH_TRY(vh_map_states(ctx, base, out->centers, out->label, tau, &out->state_map, &out->state_map_at));
    }
    return VHEM_OK;
}

vhem_status vh_centers_make(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *opt,
                            const vh_partition *part, uint64_t seed, vh_clustering *out)
{
    vhem_status st = VHEM_OK, run = VHEM_OK;
    VH_TRY(vh_h3m_subset(ctx, in->models, part->pick, out->Kr, &out->centers));
    if (part->learn)
        run = learn_all(ctx, in, opt, part, seed, &out->centers);
    if (run != VHEM_OK && run != VHEM_ESTOPPED) {
        st = run;
        return st;
    }
    VH_TRY(fill_assignments(ctx, part, out));
    if (!in->centers_only)
        VH_TRY(fill_tables(ctx, in->models, opt->tau, out));
    st = run;
    return st;
}
