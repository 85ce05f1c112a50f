/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_million.c - a very large reduction through the public functions: Kb base HMMs (default a million)
 * with S = 3, M = 1, d = 2 into 10, with default options.  Prints memory over the models, seconds per
 * iteration and how well the groups that were put in come out. */
#include "common.h"
#include "vhem.h"
#include "vhem/analysis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { S = 3, D = 2, GROUPS = 10 };

/* A small generator of its own: the public functions have none. */
static double uniform(uint64_t *x)
{
    *x = *x * 6364136223846793005u + 1442695040888963407u;
    return (double)(*x >> 11) * 0x1p-53;
}

static vhem_models *models(vhem_ctx *ctx, int K, int *group)
{
    enum { N = S + S * S + S + 2 * S * D };
    vhem_hmm_view *v = calloc((size_t)K, sizeof *v);
    double *all = calloc((size_t)K * N, sizeof *all);
    uint64_t x = 1;
    vhem_models *h = NULL;
    for (int i = 0; i < K; i++) {
        double *pi = all + (size_t)i * N, *A = pi + S, *theta = A + S * S, *mu = theta + S, *cov = mu + S * D;
        group[i] = (int)(uniform(&x) * GROUPS);
        for (int s = 0; s < S; s++) {
            pi[s] = 1.0 / S;
            theta[s] = 1;
            for (int q = 0; q < S; q++)
                A[s * S + q] = q == s ? 0.6 : 0.4 / (S - 1);
            for (int k = 0; k < D; k++) {
                mu[s * D + k] = 3 * sin(group[i] * (1.7 + s) + 2.1 * k) + 0.3 * (uniform(&x) - 0.5);
                cov[s * D + k] = 0.3 + 0.2 * uniform(&x);
            }
        }
        v[i] = (vhem_hmm_view){ .S = S,
                                .M = 1,
                                .d = D,
                                .omega = 1.0 / K,
                                .n_theta = S + 2 * S * D,
                                .pi = pi,
                                .A = A,
                                .theta = theta };
    }
    if (vhem_models_new_hmms(ctx, "gaussian-diag", D, K, v, &h) != VHEM_OK) {
        fprintf(stderr, "bench_million: %s\n", vhem_ctx_error(ctx));
        exit(1);
    }
    free(all);
    free(v);
    return h;
}

int main(int argc, char **argv)
{
    int K = argc > 1 ? atoi(argv[1]) : 1000000;
    vhem_ctx *ctx = NULL;
    vhem_cluster_options opt;
    vhem_tree *tree = NULL;
    const int64_t clusters = GROUPS;
    vhem_agreement agree;
    int *group = calloc((size_t)K, sizeof *group);

    if (vhem_ctx_new(NULL, &ctx) != VHEM_OK)
        return 1;
    vhem_models *h = models(ctx, K, group);
    double before = bench_memory("VmRSS:"), t0 = bench_wall();
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &opt);
    if (vhem_cluster(ctx, &(vhem_source){ .models = h }, 1, &clusters, &opt, &tree) != VHEM_OK) {
        fprintf(stderr, "bench_million: %s\n", vhem_ctx_error(ctx));
        return 1;
    }
    const vhem_clustering *c = vhem_tree_level(tree, 0);
    vhem_partition_compare(K, group, c->label, &agree);
    printf("%d models of %.0f MB: %.1f s, %d iterations of the winner, %d restarts, "
           "%.0f MB beside the models (scores and assignments of one run: %.0f MB), Rand index %.4f\n",
           K, before, bench_wall() - t0, c->n_iter, c->n_run, bench_memory("VmHWM:") - before,
           2.0 * K * GROUPS * 8 / 1048576, agree.rand);
    vhem_free(tree);
    vhem_free(h);
    vhem_free(ctx);
    free(group);
    return 0;
}
