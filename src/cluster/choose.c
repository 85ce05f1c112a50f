/* SPDX-License-Identifier: BSD-3-Clause */
/* choose.c - how many clusters and states: one clustering for each, with what speaks for and against it.
 *
 * Stability: two random halves of the models are clustered each for itself, all models are assigned to the
 * centres of either half, and the two labelings are compared by the adjusted Rand index.  A number of
 * clusters that is really there is found in both halves.  One cluster always is, which says nothing: its
 * stability is NaN. */
#include "cluster/methods.h"
#include "core/alloc.h"
#include "core/rng.h"
#include "math/agreement.h"
#include "model/convert.h"
#include "reduce/score.h"

#include <limits.h>
#include <math.h>

/* Free numbers of Kr HMMs with S states of M components and their weights. */
static double count_parameters(const vh_h3m *centers)
{
    double n = centers->K - 1;
    for (int j = 0; j < centers->K; j++) {
        double S = centers->hmm[j].S, M = centers->hmm[j].M;
        n += S - 1 + S * (S - 1) + S * (M - 1) + S * M * centers->family->n_free(&centers->shape);
    }
    return n;
}

/* The centre of largest L_ij among those that are used. */
static int nearest(const double *L, const double *omega, int Kr)
{
    int best = -1;
    for (int j = 0; j < Kr; j++)
        if (omega[j] > 0 && (best < 0 || L[j] > L[best]))
            best = j;
    return best;
}

static void fill_row(const vh_h3m *h3m, const vh_clustering *c, vhem_choice *row)
{
    double entropy = 0;
    row->S = c->options.S;
    row->bound = c->bound ? c->bound[c->n_iter] : NAN;
    row->n_param = count_parameters(c->centers);
    row->loglik = 0;
    for (int i = 0; i < c->Kb; i++) {
        const double *L = c->L_hmm + (size_t)i * (size_t)c->Kr, *z = c->z + (size_t)i * (size_t)c->Kr;
        row->loglik += h3m->omega[i] * c->Kb * L[nearest(L, c->centers->omega, c->Kr)];
        for (int j = 0; j < c->Kr; j++)
            entropy -= z[j] > 0 ? z[j] * log(z[j]) : 0;
    }
    row->bic = -2 * row->loglik + row->n_param * log(c->Kb);
    row->icl = row->bic + 2 * entropy;
    row->stability = NAN;
}

typedef struct {      /* one half of the models */
    const int *index; /* [n] */
    int n, K;
    uint64_t seed;
} half_of;

/* The labels that the centres of one half give to all models. */
static vhem_status label_from_half(vhem_ctx *ctx, const vh_h3m *h3m, const half_of *part,
                                   const vhem_cluster_options *opt, double *L, int *label)
{
    vhem_status st = VHEM_OK;
    const vh_h3m *like;
    vh_h3m *half = NULL, *full = NULL;
    vh_clustering *c = NULL;

    VH_TRY(vh_h3m_subset(ctx, h3m, part->index, part->n, &half));
    vh_input in = vh_input_models(half, part->K);
    VH_TRY(vh_cluster(ctx, &in, opt, part->seed, &c));
    VH_TRY(vh_h3m_like(ctx, h3m, c->centers, &full, &like));
    VH_TRY(vh_reduce_score(ctx, like, c->centers, c->options.tau, L));
    for (int i = 0; i < h3m->K; i++)
        label[i] = nearest(L + (size_t)i * (size_t)c->Kr, c->centers->omega, c->Kr);
done:
    vh_clustering_free(c);
    vh_h3m_free(half);
    vh_h3m_free(full);
    return st;
}

static void shuffle(vh_rng *rng, int n, int *index)
{
    for (int i = 0; i < n; i++)
        index[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int k = (int)vh_rng_below(rng, i + 1), t = index[i];
        index[i] = index[k];
        index[k] = t;
    }
}

static vhem_status find_stability(vhem_ctx *ctx, const vh_h3m *h3m, int K, const vhem_cluster_options *opt,
                                  int n_splits, double *out)
{
    vhem_status st = VHEM_OK;
    int Kb = h3m->K, half = Kb / 2, *index = NULL, *a = NULL, *b = NULL;
    double *L = NULL, sum = 0;

    *out = NAN;
    if (n_splits < 1 || K < 2 || half < K) /* nothing to say */
        goto done;
    VH_NEW(index, Kb);
    VH_NEW(a, Kb);
    VH_NEW(b, Kb);
    VH_NEW(L, (size_t)Kb * (size_t)K);
    for (int s = 0; s < n_splits; s++) {
        uint64_t seed = ctx->opt.seed;
        vhem_agreement agree;
        vh_rng rng;
        vh_rng_init(&rng, seed, VH_RNG_SPLIT, (uint64_t)s); /* the same halves for every K and S */
        shuffle(&rng, Kb, index);
        uint64_t at = (uint64_t)(2 * s + 1) << 32;
        const half_of one = { index, half, K, vh_rng_seed(seed, at) };
        VH_TRY(label_from_half(ctx, h3m, &one, opt, L, a));
        at += (uint64_t)1 << 32;
        const half_of other = { index + half, Kb - half, K, vh_rng_seed(seed, at) };
        VH_TRY(label_from_half(ctx, h3m, &other, opt, L, b));
        vh_agreement(Kb, a, b, &agree);
        VH_CHECK(!isnan(agree.rand), VHEM_ENOMEM, "out of memory: no room to compare %d labels", Kb);
        sum += agree.adjusted_rand;
    }
    *out = sum / n_splits;
done:
    free(index);
    free(a);
    free(b);
    free(L);
    return st;
}

static vhem_status choose_one(vhem_ctx *ctx, const vh_h3m *h3m, int n_splits, const vhem_cluster_options *opt,
                              vhem_choice *row)
{
    vhem_status st = VHEM_OK;
    vh_clustering *c = NULL;
    vhem_choice r = *row;
    vh_input in = vh_input_models(h3m, (int)r.K);

    VH_TRY(vh_cluster(ctx, &in, opt, (uint64_t)ctx->opt.seed, &c));
    VH_CHECK(c->centers && c->L_hmm && c->z, VHEM_EINVAL,
             "method %s makes no centres, and a choice is made among those", c->method);
    fill_row(h3m, c, &r);
    VH_TRY(find_stability(ctx, h3m, (int)r.K, opt, n_splits, &r.stability));
    *row = r;
done:
    vh_clustering_free(c);
    return st;
}

static vhem_status check_choice(vhem_ctx *ctx, const vhem_source *source, int n_K, const int64_t *K, int n_S,
                                const vhem_cluster_options *o)
{
    vhem_status st = VHEM_OK;
    VH_TRY(vh_models_gather(ctx, source->models));
    VH_CHECK(source->models && source->models->h3m && !source->data, VHEM_EINVAL,
             "the source has %s, a choice is made among clusters of HMMs",
             source->data     ? "sequences"
             : source->models ? "dynamic textures"
                              : "nothing");
    VH_CHECK(!o->start, VHEM_EINVAL, "a given start has its own K and S: there is nothing to choose");
    VH_CHECK(n_K >= 1 && n_S >= 1, VHEM_EINVAL, "nothing to choose from: %d values of K, %d of S", n_K, n_S);
    for (int k = 0; k < n_K; k++)
        VH_CHECK(K[k] >= 1 && K[k] <= INT_MAX, VHEM_EINVAL, "K is %lld, must be from 1 to %d",
                 (long long)K[k], INT_MAX);
done:
    return st;
}

vhem_status vhem_choose(vhem_ctx *ctx, const vhem_source *source, int n_K, const int64_t *K, int n_S,
                        const int *S, int n_splits, const vhem_cluster_options *opt, vhem_choice *rows)
{
    vhem_status st = VHEM_OK;
    vhem_choice *found = NULL;
    vhem_cluster_options o;

    vhem_cluster_options_init(&o);
    if (opt)
        o = *opt;
    VH_TRY(check_choice(ctx, source, n_K, K, n_S, &o));
    VH_NEW(found, (size_t)n_K * (size_t)n_S);
    for (int k = 0; k < n_K * n_S; k++) {
        o.S = S[k % n_S] > 0 ? S[k % n_S] : -1;
        vhem_choice row = { .K = K[k / n_S] };
        VH_TRY(choose_one(ctx, source->models->h3m, n_splits, &o, &row));
        found[k] = row;
        vh_log(ctx, VHEM_LOG_INFO, "K = %lld, S = %d: bound %.6g", (long long)row.K, row.S, row.bound);
    }
done:
    for (int k = 0; found && (st == VHEM_OK || st == VHEM_ESTOPPED) && k < n_K * n_S; k++)
        rows[k] = found[k];
    free(found);
    return st;
}
