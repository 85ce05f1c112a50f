/* SPDX-License-Identifier: BSD-3-Clause */
/* cluster_args.h - what vhem cluster, tree and choose are told. */
#ifndef VHEM_CLI_CLUSTER_ARGS_H
#define VHEM_CLI_CLUSTER_ARGS_H

#include "cli.h"

typedef struct {
    vhem_cluster_options opt; /* what was not asked for is left to the library and the preset */
    const char *output, *init;
    bool no_repair, weighted;
    const cli_usage *usage;
    vhem_data_options columns; /* how to read sequences, for methods that start from them */
    const char *cov;
    vhem_h3m *models, *start;
    vhem_dtm *textures, *start_dtm;
    vhem_data *data; /* what is clustered: this, models or textures */
} cluster_args;

/* The rows that all three commands have; a is a cluster_args *. */
/* clang-format off */
#define CLUSTER_OPTIONS(a, restarts_shown, init_arg, init_help)                                             \
    { "method", 0, OPT_TEXT, "NAME", &(a)->opt.method, 0, "vhem", cluster_method_help() },                  \
    { "mix", 'M', OPT_INT, "M", &(a)->opt.M, 1, "as the input", "Gaussians in each state of the centres" }, \
    { "tau", 0, OPT_INT, "T|auto", &(a)->opt.tau, 1, "10",                                                  \
      "length of the virtual samples, in frames; auto: that of the sequences the models were fitted to" },  \
    { "nv", 0, OPT_REAL, "V", &(a)->opt.nv, 0, "10000; shem: 10; emhmm: models / tau",                      \
      "virtual samples for each input model; fewer make assignments softer" },                              \
    { "init", 0, OPT_TEXT, init_arg, &(a)->init, 0, "auto", init_help },                                    \
    { "restarts", 'r', OPT_INT, "R", &(a)->opt.restarts, 1, restarts_shown,                                 \
      "runs from different starts, the best of which is kept; most of them, where the best bound is found "  \
      "again before" },                                                                                     \
    { "search", 0, OPT_CHOICE, "auto|fast|thorough|restarts", &(a)->opt.search, 0,                          \
      "auto; restarts with a preset or an --init",                                                          \
      "auto: restarts, and candidates from distances between the models; fast: one such candidate; "        \
      "thorough: more of all; restarts: those alone" },                                                     \
    { "max-iter", 0, OPT_INT, "N", &(a)->opt.max_iter, 0, "200; emhmm: 101", "most iterations of a run" },  \
    { "tol", 0, OPT_REAL, "T", &(a)->opt.tol, 0, "1e-05",                                                   \
      "a run ends when the bound changes by less than this share; 0: never" },                              \
    { "cov-floor", 0, OPT_REAL, "F", &(a)->opt.cov_floor, 0,                                                \
      "1e-06; em-h3m, shem: 0.0001; 0 with a preset",                                                       \
      "smallest variance of a centre, as a share of that of the input; 0: none" },                          \
    { "cov-add", 0, OPT_REAL, "A", &(a)->opt.cov_add, 0, "0; emhmm: 0.001",                                 \
      "added to the diagonal of covariances after each iteration" },                                        \
    { "soft", 0, OPT_INT, "N", &(a)->opt.soft, 0, "20; 0 when --init is a file",                            \
      "iterations with soft assignments before the wanted --nv" },                                          \
    { "lambda", 0, OPT_REAL, "L", &(a)->opt.lambda, 0, "0.5", "ppk: power of the kernel" },                 \
    { "kernel", 0, OPT_CHOICE, "normalised|raw|scaled", &(a)->opt.kernel, 0, "normalised",                  \
      "ppk-sc: kernels divided by those of each HMM with itself; as they are; or divided and then to the "  \
      "power that makes their median 1/e" },                                                                \
    { "neighbours", 0, OPT_INT, "N", &(a)->opt.neighbours, 1, "10, fewer in small clusters",                \
      "knn-sc: nearest neighbours of each HMM" },                                                           \
    { "diagonal", 0, OPT_CHOICE, "zero|keep", &(a)->opt.diagonal, 0, "zero",                                \
      "-sc: does the affinity of an HMM to itself count?" },                                                \
    { "linkage", 0, OPT_CHOICE, "average|complete|single", &(a)->opt.linkage, 0, "average",                 \
      "-ac: what of the distances between their HMMs is the distance of two clusters" },                    \
    { "no-repair", 0, OPT_FLAG, NULL, &(a)->no_repair, 0, NULL,                                             \
      "leave empty clusters and dead states as they are" },                                                 \
    { "weighted-omega", 0, OPT_FLAG, NULL, &(a)->weighted, 0, NULL,                                         \
      "weigh a centre by the mass of its members, not by their number" },                                   \
    { "preset", 0, OPT_CHOICE, "paper|emhmm", &(a)->opt.preset, 0, "none",                                  \
      "paper: as published; emhmm: as the toolbox of eye-movement laboratories. Options win over a preset" }

/* The rows for methods that start from sequences. */
#define CLUSTER_DATA_OPTIONS(a)                                                                             \
    { "cov", 0, OPT_CHOICE, "diag|full", &(a)->cov, 0, "diag; models have theirs",                          \
      "covariances of the centres of sequences" },                                                          \
    CLI_DATA_OPTIONS(&(a)->columns, "column with the group; the sequences of a group stay together")
/* clang-format on */

#define CLUSTER_RESTARTS \
    "20 to 300, more for small inputs; em-h3m, shem, hem-dtm: 10; 1 when --init is a file"
#define CLUSTER_INIT_HELP                                                                                    \
    "auto, base, far, emissions, pooled, dealt (em-h3m, shem: auto, far, dealt; hem-dtm: auto, base, far), " \
    "or a model file: start exactly there"

void cluster_args_init(cluster_args *a);
void cluster_args_free(cluster_args *a);
/* Is --init a file, or at least no word that is known? */
bool cluster_has_start(const cluster_args *a);
/* Can a file of clusters be written there? */
int cluster_check_output(cli *c, const cluster_args *a);
/* "how to cluster: vhem, em-h3m (sequences), ...", from the library's own list. */
const char *cluster_method_help(void);
/* Loads the models or, for a method that starts from them, the sequences, and, where --init is a file, the
 * start.  *K is the number of clusters of the start, 0 when none was asked for, and follows the start then;
 * NULL: a start makes no sense here. */
int cluster_prepare(cli *c, cluster_args *a, int *K);
/* Are there enough models or sequences for K clusters? */
int cluster_enough(cli *c, const cluster_args *a, int K);
/* Clusters, and builds a tree of, what was loaded. */
vhem_status cluster_run(cli *c, const cluster_args *a, vhem_clustering **out);
vhem_status cluster_build(cli *c, const cluster_args *a, int n, const int *K, vhem_tree **out);
/* The classes of what was clustered, cl by name; free() the array.  NULL without memory. */
const char **cluster_classes(const cluster_args *a, const vhem_clustering *cl);
/* Every option by name, with the values that were used. */
json_t *cluster_options_json(const cluster_args *a, const vhem_cluster_options *used);

#endif
