/* SPDX-License-Identifier: BSD-3-Clause */
/* cluster_args.c - see cluster_args.h. */
#include "cluster_args.h"

#include <string.h>

static const char *const inits[] = { "auto", "base", "far", "emissions", "pooled", "dealt", NULL };
static const char *const endings[] = { ".json", NULL };

void cluster_args_init(cluster_args *a)
{
    memset(a, 0, sizeof *a);
    vhem_cluster_options_init(&a->opt);
    vhem_data_options_init(&a->columns);
    a->output = "-";
}

void cluster_args_free(cluster_args *a)
{
    vhem_h3m_free(a->models);
    vhem_h3m_free(a->start);
    vhem_dtm_free(a->textures);
    vhem_dtm_free(a->start_dtm);
    vhem_data_free(a->data);
    a->models = a->start = NULL;
    a->textures = a->start_dtm = NULL;
    a->data = NULL;
}

bool cluster_has_start(const cluster_args *a)
{
    return a->init && !cli_one_of(a->init, inits);
}

int cluster_check_output(cli *c, const cluster_args *a)
{
    int status = cli_check_streams(c, a->output);
    if (status == CLI_GO && strcmp(a->output, "-") != 0 && strncmp(a->output, "/dev/", 5) != 0
        && !cli_ends_with(a->output, endings))
        status = cli_misuse(c, "%s: clusters are written as .json", a->output);
    return status == CLI_GO ? cli_out_check(c, a->output) : status;
}

/* The start says how large the centres are; a size that was asked for must agree with it. */
static int check_start(cli *c, cluster_args *a, int *K)
{
    int n = vhem_h3m_size(a->start);
    if (*K > 0 && *K != n)
        return cli_fail(c, "%s holds %d HMM%s, but %d clusters are asked for", a->init, n, cli_plural(n), *K);
    *K = n;
    for (int j = 0; j < n; j++) {
        vhem_hmm_view hmm, input;
        vhem_h3m_view(a->start, j, &hmm);
        if (a->models)
            vhem_h3m_view(a->models, 0, &input);
        int d = a->models ? input.d : vhem_data_dim(a->data);
        if (hmm.d != d)
            return cli_fail(c, "%s has dimension %d, but %s has %d", a->init, hmm.d, c->arg[0], d);
        if (cli_given(c, a->usage, "states") && hmm.S != a->opt.S)
            return cli_fail(c, "%s has %d states, but --states asks for %d", a->init, hmm.S, a->opt.S);
        if (cli_given(c, a->usage, "mix") && hmm.M != a->opt.M)
            return cli_fail(c, "%s has %d components per state, but --mix asks for %d", a->init, hmm.M,
                            a->opt.M);
    }
    return CLI_GO;
}

const char *cluster_method_help(void)
{
    static char text[1024];
    char list[512], *save = NULL;
    size_t at = (size_t)snprintf(text, sizeof text, "how to cluster: ");
    snprintf(list, sizeof list, "%s", vhem_methods());
    for (char *name = strtok_r(list, " ", &save), *first = name; name; name = strtok_r(NULL, " ", &save))
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s%s", name == first ? "" : ", ", name,
                               vhem_method_takes_data(name) ? " (sequences, not models)" : "");
    return text;
}

static int check_method(cli *c, const char *method)
{
    char list[520], word[90], known[1024] = "";
    size_t at = 0;
    snprintf(list, sizeof list, " %s ", vhem_methods());
    snprintf(word, sizeof word, " %.80s ", method);
    if (strstr(list, word))
        return CLI_GO;
    for (const char *from = vhem_methods(); *from && at + 3 < sizeof known; from++) {
        if (*from == ' ')
            known[at++] = ',';
        known[at++] = *from;
    }
    return cli_fail(c, "method '%.80s' is unknown; known are %s", method, known);
}

/* A file for a method that wants sequences. */
static int load_data(cli *c, cluster_args *a)
{
    const char *path = c->arg[0];
    cli_content content = cli_recognise(path);
    if (content == CLI_IS_MODEL || content == CLI_IS_CLUSTERING || content == CLI_IS_TREE)
        return cli_fail(c, "method %s clusters sequences, but %s holds %s; give it the data they came from",
                        a->opt.method, path, content == CLI_IS_MODEL ? "models" : "clusters");
    int status = cli_status(c, vhem_data_load(c->ctx, path, &a->columns, &a->data));
    a->opt.by_group = a->columns.group != NULL;
    a->opt.emission = a->cov && strcmp(a->cov, "full") == 0 ? "gaussian-full" : NULL;
    return status;
}

static int load_input(cli *c, cluster_args *a, bool choice)
{
    static const char *const of_data[] = { "cov",     "format", "id",     "label", "weight",
                                           "columns", "where",  "memory", "group" };
    const char *method = a->opt.method ? a->opt.method : "vhem";
    bool takes_data = vhem_method_takes_data(method);
    int status = check_method(c, method);
    if (status == CLI_GO && takes_data && choice)
        return cli_fail(c, "method %s clusters sequences; a choice is made among clusters of models", method);
    for (size_t k = 0; status == CLI_GO && !takes_data && k < sizeof of_data / sizeof *of_data; k++)
        if (cli_given(c, a->usage, of_data[k]))
            status =
                cli_misuse(c, "--%s is about sequences, but method %s clusters models", of_data[k], method);
    if (status != CLI_GO)
        return status;
    if (takes_data)
        return load_data(c, a);
    status = cli_load_textures(c, c->arg[0], &a->textures);
    if (status == CLI_GO && a->textures && choice)
        return cli_fail(c, "%s holds dynamic textures; a choice is made among clusters of HMMs", c->arg[0]);
    return status == CLI_GO && !a->textures ? cli_load_models(c, c->arg[0], &a->models) : status;
}

/* The start of dynamic textures; the library checks that it suits them. */
static int load_start_dtm(cli *c, cluster_args *a, int *K)
{
    int status = cli_load_textures(c, a->init, &a->start_dtm);
    if (status == CLI_GO && !a->start_dtm)
        return cli_fail(c, "%s holds no dynamic textures to start from", a->init);
    if (status == CLI_GO && *K > 0 && *K != vhem_dtm_size(a->start_dtm))
        return cli_fail(c, "%s holds %d textures, but %d clusters are asked for", a->init,
                        vhem_dtm_size(a->start_dtm), *K);
    if (status == CLI_GO)
        *K = vhem_dtm_size(a->start_dtm);
    a->opt.start_dtm = a->start_dtm;
    return status;
}

int cluster_prepare(cli *c, cluster_args *a, int *K)
{
    bool file = cluster_has_start(a);
    int status = CLI_GO;
    if (file && !K)
        return cli_misuse(c, "--init is one of auto, base, far, emissions, pooled, dealt, not '%s'", a->init);
    if (file)
        status = cli_check_word(c, "init", "auto, base, far, emissions, pooled, dealt", a->init);
    if (status == CLI_GO)
        status = load_input(c, a, !K);
    if (status == CLI_GO && file && a->textures)
        status = load_start_dtm(c, a, K);
    else if (status == CLI_GO && file)
        status = cli_load_models(c, a->init, &a->start);
    if (status == CLI_GO && a->start)
        status = check_start(c, a, K);
    if (status != CLI_GO)
        return status;
    if (file)
        a->opt.start = a->start;
    else if (a->init)
        a->opt.init = a->init;
    if (a->no_repair)
        a->opt.repair = 0;
    if (a->weighted)
        a->opt.weighted_omega = 1;
    return CLI_GO;
}

int cluster_enough(cli *c, const cluster_args *a, int K)
{
    int n = a->models     ? vhem_h3m_size(a->models)
            : a->textures ? vhem_dtm_size(a->textures)
                          : vhem_data_size(a->data);
    if (K <= n || a->start || a->start_dtm) /* a given start may have more: the equations do not mind */
        return CLI_GO;
    return cli_fail(c, "%s holds %d %s%s, too few for %d clusters", c->arg[0], n,
                    a->models     ? "HMM"
                    : a->textures ? "texture"
                                  : "sequence",
                    cli_plural(n), K);
}

vhem_status cluster_run(cli *c, const cluster_args *a, vhem_clustering **out)
{
    if (a->textures)
        return vhem_cluster_dtm(c->ctx, a->textures, &a->opt, out);
    return a->data ? vhem_cluster_data(c->ctx, a->data, &a->opt, out)
                   : vhem_cluster(c->ctx, a->models, &a->opt, out);
}

vhem_status cluster_build(cli *c, const cluster_args *a, int n, const int *K, vhem_tree **out)
{
    if (a->textures)
        return vhem_tree_build_dtm(c->ctx, a->textures, n, K, &a->opt, out);
    return a->data ? vhem_tree_build_data(c->ctx, a->data, n, K, &a->opt, out)
                   : vhem_tree_build(c->ctx, a->models, n, K, &a->opt, out);
}

const char **cluster_classes(const cluster_args *a, const vhem_clustering *cl)
{
    if (a->models)
        return cli_classes_of_models(a->models);
    if (a->textures)
        return cli_classes_of_textures(a->textures);
    return a->columns.group ? cli_classes_of_groups(a->data, cl->Kb, cl->name) : cli_classes_of_data(a->data);
}

json_t *cluster_options_json(const cluster_args *a, const vhem_cluster_options *used)
{
    json_t *all = cli_options_json(a->usage);
    json_object_set_new(all, "method", cli_json_text(used->method));
    json_object_set_new(all, "states", json_integer(used->S));
    json_object_set_new(all, "mix", json_integer(used->M));
    json_object_set_new(all, "tau", json_integer(used->tau));
    json_object_set_new(all, "nv", cli_json_real(used->nv));
    json_object_set_new(all, "init", cli_json_text(a->start || a->start_dtm ? a->init : used->init));
    json_object_set_new(all, "restarts", json_integer(used->restarts));
    json_object_set_new(all, "max-iter", json_integer(used->max_iter));
    json_object_set_new(all, "tol", cli_json_real(used->tol));
    json_object_set_new(all, "cov-floor", cli_json_real(used->cov_floor));
    json_object_set_new(all, "cov-add", cli_json_real(used->cov_add));
    json_object_set_new(all, "soft", json_integer(used->soft));
    json_object_set_new(all, "lambda", cli_json_real(used->lambda));
    json_object_set_new(all, "kernel", cli_json_text(used->kernel));
    json_object_set_new(all, "diagonal", cli_json_text(used->diagonal));
    json_object_set_new(all, "linkage", cli_json_text(used->linkage));
    json_object_set_new(all, "search", cli_json_text(used->search));
    json_object_set_new(all, "neighbours", json_integer(used->neighbours));
    if (json_object_get(all, "candidate"))
        json_object_set_new(all, "candidate", json_integer(used->candidate));
    json_object_set_new(all, "no-repair", json_boolean(!used->repair));
    json_object_set_new(all, "weighted-omega", json_boolean(used->weighted_omega));
    if (a->data) { /* what means nothing to sequences */
        static const char *const none[] = { "tau", "nv", "cov-add", "soft", "weighted-omega", "preset" };
        for (size_t k = 0; k < sizeof none / sizeof *none; k++)
            json_object_del(all, none[k]);
        json_object_set_new(all, "cov", json_string(strstr(used->emission, "full") ? "full" : "diag"));
    }
    return all;
}
