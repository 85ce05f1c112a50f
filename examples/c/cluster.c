/* SPDX-License-Identifier: BSD-3-Clause */
/* cluster.c - groups the HMMs of a file into clusters and prints who is in which.
 *
 *   cc cluster.c -o cluster $(pkg-config --cflags --libs vhem)
 *   ./cluster models.json 3 clusters.json */
#include <vhem/vhem.h>

#include <stdio.h>
#include <stdlib.h>

static void print_clusters(const vhem_clustering *clusters)
{
    for (int j = 0; j < clusters->Kr; j++) {
        printf("cluster %d:", j);
        for (int i = 0; i < clusters->Kb; i++)
            if (clusters->label[i] == j)
                printf(" %s", clusters->name[i]);
        printf("\n");
    }
    printf("bound after %d iterations: %.2f nats\n", clusters->n_iter, clusters->bound[clusters->n_iter]);
}

static int cluster(vhem_ctx *ctx, const char *input, int64_t K, const char *output)
{
    vhem_models *models = NULL;
    vhem_tree *clusters = NULL; /* of one level */

    vhem_status st = vhem_models_load(ctx, input, &models);
    if (st == VHEM_OK)
        st = vhem_cluster(ctx, &(vhem_source){ .models = models }, 1, &K, NULL, &clusters);
    if (st == VHEM_OK)
        st = vhem_tree_save(ctx, clusters, NULL, output);
    if (st == VHEM_OK)
        print_clusters(vhem_tree_level(clusters, 0));
    else
        fprintf(stderr, "cluster: %s\n", vhem_ctx_error(ctx));
    vhem_free(clusters);
    vhem_free(models);
    return st != VHEM_OK;
}

int main(int argc, char **argv)
{
    vhem_ctx *ctx = NULL;
    if (argc != 4) {
        fprintf(stderr, "usage: cluster MODELS K OUT\n");
        return 2;
    }
    if (vhem_ctx_new(NULL, &ctx) != VHEM_OK)
        return 1;
    int failed = cluster(ctx, argv[1], atoi(argv[2]), argv[3]);
    vhem_free(ctx);
    return failed;
}
