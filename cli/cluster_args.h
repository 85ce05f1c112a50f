/* SPDX-License-Identifier: BSD-3-Clause */
/* cluster_args.h - the options and inputs of vhem cluster, tree and choose. */
#ifndef VHEM_CLI_CLUSTER_ARGS_H
#define VHEM_CLI_CLUSTER_ARGS_H

#include "cli.h"

typedef struct {
    vhem_cluster_options opt; /* what was not asked for is left to the library and the preset */
    vhem_data_options data;   /* how to read sequences, for methods that cluster them */
    const char *output, *K_text, *init, *cov; /* init: a file */
    const char *models;                       /* file for the models of sequences; NULL: none is wanted */
    const cli_usage *usage;
    cli_list K;
    vhem_method_facts method; /* once loaded: the one asked for, or the default for this input */
    cli_input input;
    vhem_models *start;
    vhem_models *fitted;    /* to the sequences, for a method that clusters models; else NULL */
    vhem_fit_options shape; /* of the models of sequences, as it was asked for */
    vhem_items *items;      /* NULL: not known */
} cluster_args;

void cluster_args_init(cluster_args *a);
void cluster_args_free(cluster_args *a);
/* The rows of vhem_cluster_options, without some; choose: a start is not a file. */
void cluster_add_options(cli_table *t, cluster_args *a, const char *without, bool choose);
/* Before anything is read: does the method that is named use the options that are given? */
int cluster_check(cli *c, const cluster_args *a);
/* Loads the models or the sequences, and the start where --init is a file, which gives the number of clusters
 * unless it was asked for. */
int cluster_load(cli *c, cluster_args *a);
/* Has cluster_load read sequences for a method or a preset that takes models?  Then they are fitted as vhem
 * fit would, and clustered instead. */
int cluster_fit(cli *c, cluster_args *a);
/* Adds how models are fitted to sequences, as far as it is said, to the options of a file. */
void cluster_add_shape(const vhem_fit_options *fit, json_t *options);
/* Sets the states and the topology of a fit to those of the graph that was kept, or of the centres where that
 * has no models. */
void cluster_shape(const vhem_clustering *cl, vhem_fit_options *fit);
/* The file that --models wants, of these models; they were fitted with these options. */
int cluster_save_models(cli *c, const cluster_args *a, const vhem_models *models,
                        const vhem_fit_options *fit);
/* Names and labels of what is clustered; not of models that stay on disk: items is NULL then. */
int cluster_find_items(cli *c, cluster_args *a);
/* Are there enough items for K clusters? */
int cluster_enough(cli *c, const cluster_args *a, int64_t K);

#endif
