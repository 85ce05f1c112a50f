/* SPDX-License-Identifier: BSD-3-Clause */
/* cluster_samples.h - models with clusters in them, for the tests of clustering. */
#ifndef VH_TESTS_CLUSTER_SAMPLES_H
#define VH_TESTS_CLUSTER_SAMPLES_H

#include "support.h"
#include "vhem.h"
#include "vhem/analysis.h"

/* n models around each of K random ones, in turn: model i belongs to i % K.  Means move by `noise`. */
static inline vh_h3m *clustered_h3m(vhem_ctx *ctx, uint64_t seed, int K, int n, int S, int M, int d, int full,
                                    double noise)
{
    vh_rng rng;
    vh_h3m *out = NULL;
    vh_rng_init(&rng, seed, VH_RNG_TEST, 0);
    vh_h3m *proto = random_h3m(ctx, &rng, K, S, M, d, full, 10);
    assert_ok(ctx, vh_h3m_new(ctx, proto->family, proto->shape, K * n, &out));
    for (int i = 0; i < K * n; i++) {
        char name[32];
        snprintf(name, sizeof name, "model \"%d\"", i);
        assert_ok(ctx, vh_h3m_shape(ctx, out, i, S, M));
        vh_hmm_copy(&out->hmm[i], &proto->hmm[i % K]);
        double *mu = vh_hmm_param(out, &out->hmm[i], 0);
        for (int k = 0; k < S * M * d; k++)
            mu[k] += noise * vh_rng_normal(&rng);
        assert_ok(ctx, vh_h3m_set_text(ctx, &out->hmm[i].name, name));
    }
    vh_h3m_free(proto);
    return out;
}

/* Are models of the same cluster, and only they, together? */
static inline int found_clusters(const vh_clustering *c, int K)
{
    vhem_agreement a;
    int *want = malloc(sizeof *want * (size_t)c->Kb);
    for (int64_t i = 0; i < c->Kb; i++)
        want[i] = i % K;
    vhem_partition_compare(c->Kb, want, c->label, &a);
    free(want);
    return a.adjusted_rand > 1 - 1e-12;
}

static inline vhem_cluster_options cluster_options(void)
{
    vhem_cluster_options opt;
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &opt);
    return opt;
}

#endif
