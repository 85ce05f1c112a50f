/* cluster_args.c - see cluster_args.h. */
#include "cluster_args.h"

#include <string.h>

static const char *const inits[] = { "auto", "base", "far", "emissions", "pooled", "dealt", NULL };
static const char *const endings[] = { ".json", NULL };

void cluster_args_init(cluster_args *a)
{
    memset(a, 0, sizeof *a);
    vhem_cluster_options_init(&a->opt);
    a->output = "-";
}

void cluster_args_free(cluster_args *a)
{
    vhem_h3m_free(a->models);
    vhem_h3m_free(a->start);
    a->models = a->start = NULL;
}

bool cluster_has_start(const cluster_args *a)
{
    return a->init && !cli_one_of(a->init, inits);
}

int cluster_check_output(cli *c, const cluster_args *a)
{
    int status = cli_check_streams(c, a->output);
    if (status == CLI_GO && strcmp(a->output, "-") != 0 && strncmp(a->output, "/dev/", 5) != 0 &&
        !cli_ends_with(a->output, endings))
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
        vhem_h3m_view(a->models, 0, &input);
        if (hmm.d != input.d)
            return cli_fail(c, "%s has dimension %d, but %s has %d", a->init, hmm.d, c->arg[0], input.d);
        if (cli_given(c, a->usage, "states") && hmm.S != a->opt.S)
            return cli_fail(c, "%s has %d states, but --states asks for %d", a->init, hmm.S, a->opt.S);
        if (cli_given(c, a->usage, "mix") && hmm.M != a->opt.M)
            return cli_fail(c, "%s has %d components per state, but --mix asks for %d", a->init, hmm.M,
                            a->opt.M);
    }
    return CLI_GO;
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
        status = cli_load_models(c, c->arg[0], &a->models);
    if (status == CLI_GO && file)
        status = cli_load_models(c, a->init, &a->start);
    if (status == CLI_GO && file)
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
    int n = vhem_h3m_size(a->models);
    if (K <= n || a->start)              /* a given start may have more: the equations do not mind */
        return CLI_GO;
    return cli_fail(c, "%s holds %d HMM%s, too few for %d clusters", c->arg[0], n, cli_plural(n), K);
}

json_t *cluster_options_json(const cluster_args *a, const vhem_cluster_options *used)
{
    json_t *all = cli_options_json(a->usage);
    json_object_set_new(all, "method", cli_json_text(used->method));
    json_object_set_new(all, "states", json_integer(used->S));
    json_object_set_new(all, "mix", json_integer(used->M));
    json_object_set_new(all, "tau", json_integer(used->tau));
    json_object_set_new(all, "nv", cli_json_real(used->nv));
    json_object_set_new(all, "init", cli_json_text(a->start ? a->init : used->init));
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
    json_object_set_new(all, "no-repair", json_boolean(!used->repair));
    json_object_set_new(all, "weighted-omega", json_boolean(used->weighted_omega));
    return all;
}
