/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_fit.c - vhem fit DATA -o MODELS. */
#include "cli.h"
#include "fit_dtm.h"
#include "fit_report.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    vhem_data_options data;
    vhem_fit_options fit;
    vhem_dtm_fit_options dtm;
    const char *model, *cov, *init, *topology, *output, *store;
    const cli_usage *usage;
    vhem_h3m *start;
    double *fixed_pi, *fixed_A;
} fit_args;

static const char *const inits[] = { "kmeans", "random", "segment", NULL };
static const char *const topologies[] = { "free", "left-right", "linear", NULL };

/* A size that was not asked for follows the file; one that was must agree with it. */
static int agree(cli *c, const fit_args *a, const char *option, const char *path, int in_file, int *asked)
{
    if (cli_given(c, a->usage, option) && *asked != in_file)
        return cli_fail(c, "%s has %d %s, but --%s asks for %d", path, in_file,
                        strcmp(option, "mix") == 0 ? "components per state" : "states", option, *asked);
    *asked = in_file;
    return CLI_GO;
}

static int load_start(cli *c, fit_args *a)
{
    vhem_hmm_view hmm;
    if (cli_one_of(a->init, inits)) {
        a->fit.init = a->init;
        return CLI_GO;
    }
    int status = cli_check_word(c, "init", "kmeans, random, segment", a->init);
    if (status == CLI_GO)
        status = cli_status(c, vhem_h3m_load(c->ctx, a->init, &a->start));
    if (status != CLI_GO)
        return status;
    vhem_h3m_view(a->start, 0, &hmm);
    const char *cov = strcmp(hmm.emission, "gaussian-full") == 0 ? "full" : "diag";
    if (cli_given(c, a->usage, "cov") && strcmp(cov, a->cov) != 0)
        return cli_fail(c, "%s holds %s models, but --cov asks for %s", a->init, hmm.emission, a->cov);
    a->cov = cov;
    a->fit.start = a->start;
    status = agree(c, a, "states", a->init, hmm.S, &a->fit.S);
    return status == CLI_GO ? agree(c, a, "mix", a->init, hmm.M, &a->fit.M) : status;
}

static int load_topology(cli *c, fit_args *a)
{
    int S, status;
    if (cli_one_of(a->topology, topologies)) {
        a->fit.topology = a->topology;
        return CLI_GO;
    }
    status = cli_check_word(c, "topology", "free, left-right, linear", a->topology);
    if (status == CLI_GO)
        status = cli_topology_load(c, a->topology, &S, &a->fixed_pi, &a->fixed_A);
    if (status != CLI_GO)
        return status;
    if (a->start && S != a->fit.S)
        return cli_fail(c, "%s has %d states, but %s has %d", a->topology, S, a->init, a->fit.S);
    a->fit.fixed_pi = a->fixed_pi;
    a->fit.fixed_A = a->fixed_A;
    return agree(c, a, "states", a->topology, S, &a->fit.S);
}

static int check_output(cli *c, const fit_args *a)
{
    int status = cli_check_streams(c, a->output);
    if (status == CLI_GO && strcmp(a->output, "-") != 0 && strncmp(a->output, "/dev/", 5) != 0
        && !cli_ends_with(a->output, cli_model_endings))
        status = cli_misuse(c, "%s: models are written as .json or .h5", a->output);
    return status == CLI_GO ? cli_out_check(c, a->output) : status;
}

static int save(cli *c, const fit_args *a, vhem_h3m *h3m, const vhem_fit_report *report, bool stopped)
{
    static const char *const of_textures[] = { "model", "learn", "noise", NULL };
    char *text = fit_provenance(c, a->usage, report, of_textures, stopped);
    if (!text)
        return cli_fail(c, "out of memory");
    vhem_status st = vhem_h3m_set_provenance(c->ctx, h3m, text);
    free(text);
    if (st == VHEM_OK)
        st = vhem_h3m_save(c->ctx, h3m, a->output);
    return st == VHEM_OK ? CLI_GO : cli_fail(c, "%s", vhem_ctx_error(c->ctx));
}

static int fit(cli *c, fit_args *a, const vhem_data *data)
{
    vhem_h3m *h3m = NULL;
    vhem_fit_report *report = NULL;
    int status;

    vhem_status st = a->fit.K > 0 ? vhem_fit_mixture(c->ctx, data, &a->fit, &h3m, &report)
                                  : vhem_fit_each(c->ctx, data, &a->fit, &h3m, &report);
    bool stopped = st == VHEM_ESTOPPED;
    if (stopped && h3m && report)
        status = save(c, a, h3m, report, true);
    else if (st == VHEM_OK)
        status = save(c, a, h3m, report, false);
    else
        status = cli_status(c, st);
    if (status == CLI_GO) {
        bool mixture = a->fit.K > 0;
        if (c->json)
            cli_json_put(
                stdout, fit_report_json(c, &(cli_models){ .h3m = h3m }, report, mixture, a->output, stopped));
        fit_summary(c, data, h3m, report, mixture, a->output, stopped);
        status = stopped ? EXIT_STOPPED : EXIT_DONE;
    }
    vhem_fit_report_free(report);
    vhem_h3m_free(h3m);
    return status;
}

/* --model dtm: the options of HMMs that dynamic textures have as well, and none of the others. */
static int prepare_and_fit_textures(cli *c, fit_args *a)
{
    vhem_data *data = NULL;
    int status = CLI_GO;
    for (int k = 0; status == CLI_GO && fit_of_hmms[k]; k++)
        if (cli_given(c, a->usage, fit_of_hmms[k]))
            status = cli_misuse(c, "--%s is about HMMs, a dynamic texture has none", fit_of_hmms[k]);
    if (status == CLI_GO)
        status = check_output(c, a);
    if (status == CLI_GO)
        status = cli_status(c, vhem_data_load(c->ctx, c->arg[0], &a->data, &data));
    a->dtm.n = a->fit.S;
    a->dtm.K = a->fit.K;
    a->dtm.by_group = a->data.group != NULL;
    a->dtm.restarts = a->fit.restarts;
    a->dtm.max_iter = a->fit.max_iter;
    a->dtm.tol = a->fit.tol;
    a->dtm.cov_floor = a->fit.cov_floor;
    if (status == CLI_GO)
        status = fit_textures(c, a->usage, data, &a->dtm, a->output);
    vhem_data_free(data);
    return status;
}

static int prepare_and_fit(cli *c, fit_args *a)
{
    vhem_data *data = NULL;
    if (strcmp(a->model, "dtm") == 0 && a->store)
        return cli_misuse(c, "--store keeps HMMs, not dynamic textures");
    if (strcmp(a->model, "dtm") == 0)
        return prepare_and_fit_textures(c, a);
    if (cli_given(c, a->usage, "learn") || cli_given(c, a->usage, "noise"))
        return cli_misuse(c, "--learn and --noise are about dynamic textures; ask for them with --model dtm");
    int status = check_output(c, a);
    if (status == CLI_GO)
        status = load_start(c, a);
    if (status == CLI_GO)
        status = load_topology(c, a);
    if (status == CLI_GO)
        status = cli_status(c, vhem_data_load(c->ctx, c->arg[0], &a->data, &data));
    if (status == CLI_GO) {
        bool once = a->fit.restarts <= 1;
        a->fit.emission = strcmp(a->cov, "full") == 0 ? "gaussian-full" : "gaussian-diag";
        a->fit.by_group = a->data.group != NULL;
        /* From a given start, with nothing else asked for: the equations of Baum-Welch and nothing but them.
         */
        if (a->start && once && a->fit.tol == 0 && a->fit.cov_floor == 0)
            a->fit.repair = 0;
        status = a->store ? fit_pieces(c, a->usage, data, &a->fit, a->store, a->output) : fit(c, a, data);
    }
    vhem_data_free(data);
    vhem_h3m_free(a->start);
    free(a->fixed_pi);
    free(a->fixed_A);
    return status;
}

int cmd_fit(cli *c, int argc, char **argv)
{
    fit_args a = { .output = "-", .model = "hmm" };
    vhem_data_options_init(&a.data);
    vhem_fit_options_init(&a.fit);
    vhem_dtm_fit_options_init(&a.dtm);
    a.cov = strcmp(a.fit.emission, "gaussian-full") == 0 ? "full" : "diag";
    a.init = a.fit.init;
    a.topology = a.fit.topology;
    const cli_option options[] = {
        { "output", 'o', OPT_TEXT, "MODELS", &a.output, 0, "-, standard output",
          "file to write, .json or .h5" },
        { "model", 0, OPT_CHOICE, "hmm|dtm", &a.model, 0, NULL,
          "HMMs, or dynamic textures: linear dynamical systems" },
        { "mixture", 'k', OPT_INT, "K", &a.fit.K, 1, "none, one HMM for each sequence or group",
          "fit all sequences together: K HMMs with weights, by EM" },
        { "store", 0, OPT_TEXT, "FILE", &a.store, 0, "none",
          "keep each HMM as soon as it is fitted, and go on from there; --mixture is then of each sequence "
          "or group by itself" },
        { "states", 'S', OPT_INT, "S", &a.fit.S, 1, NULL, "states of each HMM; dtm: dimension of its state" },
        { "mix", 'M', OPT_INT, "M", &a.fit.M, 1, NULL, "Gaussians in the mixture of each state" },
        { "cov", 0, OPT_CHOICE, "diag|full", &a.cov, 0, NULL, "covariances of the Gaussians" },
        { "learn", 0, OPT_CHOICE, "svd|em", &a.dtm.method, 0, NULL,
          "dtm: in closed form from principal components, or by EM from there; mixtures are always EM" },
        { "noise", 0, OPT_CHOICE, "diag|isotropic", &a.dtm.noise, 0, NULL,
          "dtm: covariance of the noise, R" },
        { "restarts", 'r', OPT_INT, "R", &a.fit.restarts, 1, "4; 1 when --init is a file",
          "runs from different starts, the best of which is kept" },
        { "max-iter", 0, OPT_INT, "N", &a.fit.max_iter, 0, NULL, "most iterations of a run" },
        { "tol", 0, OPT_REAL, "T", &a.fit.tol, 0, NULL,
          "a run ends when an iteration gains less than this, in nats per frame; 0: never" },
        { "cov-floor", 0, OPT_REAL, "F", &a.fit.cov_floor, 0, NULL,
          "smallest variance, as a share of the variance of all the data; 0: none" },
        { "prior", 0, OPT_TEXT, "PRIOR", &a.fit.prior, 0, "vb; none when --init is a file",
          "none: highest likelihood; vb: variational Bayes; eb: with the strength of the prior estimated too; "
          "with settings, vb:nu0=1,start=ml; or a file that has one, as models fitted with a prior have" },
        { "init", 0, OPT_TEXT, "START", &a.init, 0, NULL, "kmeans, random, segment, or a model file" },
        { "topology", 0, OPT_TEXT, "WHICH", &a.topology, 0, NULL,
          "free, left-right (never back), linear (to the next state only), or a JSON file {\"pi\":[...], "
          "\"A\":[[...]]} where null is free and a number stays; 0 forbids" },
        CLI_DATA_OPTIONS(&a.data, "column with the group; one HMM per group instead of per sequence; in a "
                                  "mixture the sequences of a group belong together"),
        { 0 },
    };
    const cli_usage usage = {
        .args = "DATA -o MODELS",
        .n_min = 1,
        .n_max = 1,
        .options = options,
        .about = "Fits one HMM with Gaussian mixtures to each sequence of DATA by Baum-Welch, or one to each "
                 "group of sequences, and writes them as one set of models; or fits a mixture of K HMMs to "
                 "all sequences by EM. With --model dtm the models are dynamic textures. DATA is a file, a "
                 "folder of CSV files, or - for CSV on standard input. Ctrl-C saves what is done so far.",
        .examples = "  vhem fit walks.csv --states 4 -o walks.json\n"
                    "  vhem fit fixations.csv --id subject,trial --group subject -o subjects.json\n"
                    "  vhem fit walks.csv --mixture 3 --states 4 -o mixture.json\n"
                    "  vhem fit walks.csv --model dtm --states 7 -o textures.json\n",
    };
    a.usage = &usage;
    int status = cli_begin(c, argc, argv, &usage);
    return status == CLI_GO ? prepare_and_fit(c, &a) : status;
}
