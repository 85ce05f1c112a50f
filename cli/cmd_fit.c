/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_fit.c - vhem fit DATA -o MODELS. */
#include "fit_report.h"
#include "vhem.h"

#include <stdlib.h>
#include <string.h>

enum { AUTO_MOST = 6 }; /* states of --states auto */

typedef struct {
    vhem_data_options data;
    vhem_fit_options fit;
    const char *cov, *init, *topology, *output; /* init, topology: files */
    const cli_usage *usage;
    vhem_models *start;
    double *fixed_pi, *fixed_A;
} fit_args;

/* A size that was not asked for follows the file; one that was must agree with it. */
static int agree_size(cli *c, const char *option, const char *path, int in_file, int *asked)
{
    if (*asked == VHEM_AUTO)
        return cli_fail(c, "%s has %d states, but --%s auto is to choose the number", path, in_file, option);
    if (*asked >= 0 && *asked != in_file)
        return cli_fail(c, "%s has %d %s, but --%s asks for %d", path, in_file,
                        strcmp(option, "mix") == 0 ? "components per state" : "states", option, *asked);
    *asked = in_file;
    return CLI_GO;
}

static int load_start(cli *c, fit_args *a)
{
    if (!a->init)
        return CLI_GO;
    CLI_TRY(cli_load_models(c, a->init, &a->start));
    const vhem_models_facts start = cli_models_facts(a->start);
    if (a->fit.emission && !cli_emission_is(a->start, a->fit.emission))
        return cli_fail(c, "%s holds %s models, but --%s asks for %s; leave it out, the start has its own",
                        a->init, start.emission, a->cov ? "cov" : "emission",
                        a->cov ? a->cov : a->fit.emission);
    bool named = strcmp(start.emission, "product") != 0 && strcmp(start.emission, "gaussian-tied") != 0;
    a->fit.emission = named ? start.emission : NULL; /* that of the start, columns and background included */
    a->fit.start = a->start;
    CLI_TRY(agree_size(c, "states", a->init, start.S, &a->fit.S));
    return agree_size(c, "mix", a->init, start.M, &a->fit.M);
}

static int load_topology(cli *c, fit_args *a)
{
    int S;
    if (!a->topology)
        return CLI_GO;
    CLI_TRY(cli_topology_load(c, a->topology, &S, &a->fixed_pi, &a->fixed_A));
    CLI_CHECK(!a->start || S == a->fit.S, "%s has %d states, but %s has %d", a->topology, S, a->init,
              a->fit.S);
    a->fit.fixed_pi = a->fixed_pi;
    a->fit.fixed_A = a->fixed_A;
    return agree_size(c, "states", a->topology, S, &a->fit.S);
}

static int save_models(cli *c, const fit_args *a, const vhem_models *models, const vhem_fit_report *report,
                       bool stopped)
{
    json_t *options = cli_options_json(a->usage, "model", a->fit.model ? a->fit.model : "hmm");
    if (report)
        json_object_set_new(options, "restarts", json_integer(report->R));
    CLI_AUTOFREE char *made = cli_provenance(c, options, stopped);
    CLI_CHECK(made, "out of memory");
    CLI_CHECK(vhem_models_save(c->ctx, models, made, a->output) == VHEM_OK, "%s", vhem_ctx_error(c->ctx));
    return CLI_GO;
}

/* With a store an interrupted run has nothing to save: what is fitted is there. */
static int fit_and_save(cli *c, const fit_args *a, const vhem_data *data)
{
    CLI_OWN vhem_models *models = NULL;
    CLI_OWN vhem_fit_report *report = NULL;
    char read[1024];
    vhem_status st = vhem_fit(c->ctx, data, &a->fit, &models, &report);
    bool stopped = st == VHEM_ESTOPPED, good = stopped || st == VHEM_OK;
    if (!cli_is_first(c)) /* rank 0 has the same models */
        return good ? EXIT_DONE : cli_status(c, st);
    if (stopped && (a->fit.store || !models)) {
        if (a->fit.store)
            cli_fail(c, "interrupted; what is fitted is in %s, and the same command continues from there",
                     a->fit.store);
        else
            cli_fail(c, "interrupted before any model was finished; nothing was written");
        return EXIT_STOPPED;
    }
    CLI_TRY(models && good ? save_models(c, a, models, report, stopped) : cli_status(c, st));
    const fit_result r = {
        .models = models,
        .data = data,
        .report = report,
        .output = a->output,
        .store = a->fit.store,
        .mixture = a->fit.K > 0 && !a->fit.store,
        .stopped = stopped,
        .unasked = !a->fit.emission && !a->start,
        .most = a->fit.S == VHEM_AUTO ? AUTO_MOST
                : a->fit.S_max > 0    ? a->fit.S_max
                                      : 0,
        .read = cli_repeat_reading(c, a->usage, "memory label group weight where", read, sizeof read),
    };
    fit_tell(c, &r);
    return stopped ? EXIT_STOPPED : EXIT_DONE;
}

static int prepare_and_fit(cli *c, fit_args *a)
{
    CLI_OWN vhem_data *data = NULL;
    CLI_TRY(cli_check_uses(c, a->usage, "model", a->fit.model ? a->fit.model : "hmm"));
    if (c->ranks && c->ranks->size > 1 && a->fit.store)
        return cli_misuse(c,
                          "only one process can write a store, but there are %d ranks: leave --store out, or "
                          "use one rank",
                          c->ranks->size);
    CLI_TRY(cli_out_check_ending(c, a->output, "models are written as .json or .h5", cli_model_endings));
    CLI_TRY(cli_check_prior(c, "--prior", true, a->fit.prior));
    CLI_TRY(cli_emission(c, a->cov, &a->fit.emission));
    CLI_TRY(load_start(c, a));
    CLI_TRY(load_topology(c, a));
    CLI_TRY(cli_load_data(c, c->arg[0], &a->data, a->start, a->fit.emission, &data));
    a->fit.by_group = a->data.group != NULL;
    a->fit.pieces = a->fit.store && a->fit.K > 0;
    /* From a given start, with nothing else asked for: the equations of Baum-Welch and nothing but them. */
    if (a->start && a->fit.restarts <= 1 && a->fit.tol == 0 && a->fit.cov_floor == 0)
        a->fit.repair = 0;
    return fit_and_save(c, a, data);
}

static void free_args(fit_args *a)
{
    vhem_free(a->start);
    free(a->fixed_pi);
    free(a->fixed_A);
}

static void add_options(cli_table *t, fit_args *a)
{
    const cli_change change[] = {
        { .field = "K",
          .name = "mixture",
          .letter = 'k',
          .least = 1,
          .shown = "none, one model for each sequence or group",
          .help = "fit all sequences together: K models with weights, by EM" },
        { .field = "init",
          .file = &a->init,
          .help = "how a run starts, or a model file: start exactly there" },
        { .field = "topology",
          .file = &a->topology,
          .help = "transitions that are allowed: all, never back, to the next state only, or a JSON file "
                  "{\"pi\":[...], \"A\":[[...]]} where null is free and a number stays; 0 forbids" },
        { .field = "S",
          .upto = &a->fit.S_max,
          .help = "states of each HMM; a range such as 2..6, or auto, chooses for each; for textures, the "
                  "dimension of the state" },
        { .field = "restarts", .shown = "10; 4 with --mixture; 1 when --init is a file" },
        { .field = "store",
          .help = "file that keeps each model as soon as it is fitted; the same command "
                  "continues from there. --mixture is then of each sequence or group" },
        { 0 },
    };
    cli_add(t, (const cli_option[]){ { "output", 'o', OPT_TEXT, "MODELS", &a->output,
                                       .shown = "-, standard output", .help = "file to write, .json or .h5" },
                                     { 0 } });
    cli_add_cov(t, &a->cov, "model", "hmm");
    cli_add_fields(t, &(cli_fields){ VHEM_FIT_OPTIONS, &a->fit, .without = "pieces by_group repair S_max",
                                     .change = change });
    cli_add_data(t, &a->data,
                 "column with the group: one model per group instead of per sequence; in a mixture "
                 "the sequences of a group belong together");
}

int cmd_fit(cli *c, int argc, char **argv)
{
    CLI_CLEANUP(free_args) fit_args a = { .output = "-" };
    cli_table t = { 0 };
    VHEM_INIT(VHEM_DATA_OPTIONS, &a.data);
    VHEM_INIT(VHEM_FIT_OPTIONS, &a.fit);
    add_options(&t, &a);
    const cli_usage usage = {
        .args = "DATA -o MODELS",
        .n_min = 1,
        .n_max = 1,
        .table = &t,
        .first = "output states mix emission prior restarts mixture id label group columns",
        .about =
            "Fits one HMM to each sequence of DATA by Baum-Welch, or one to each "
            "group of sequences, and writes them as one set of models; or fits a mixture of K HMMs to "
            "all sequences by EM. With --model dtm the models are dynamic textures. DATA is a file, a "
            "folder of CSV files, or - for CSV on standard input. The best of several restarts is kept. "
            "With --init FILE --restarts 1 --tol 0 --cov-floor 0 each iteration follows the equations "
            "of Baum-Welch exactly: dead states are not revived. Ctrl-C saves the models that are finished "
            "or under way, but nothing while the prior is still being learned.",
        .examples = "  vhem fit walks.csv --states 4 -o walks.json\n"
                    "  vhem fit walks.csv --states 2..6 -o walks.json\n"
                    "  vhem fit fixations.csv --id subject,trial --group subject -o subjects.json\n"
                    "  vhem fit walks.csv --mixture 3 --states 4 -o mixture.json\n"
                    "  vhem fit walks.csv --model dtm --states 7 -o textures.json\n",
    };
    a.usage = &usage;
    CLI_TRY(cli_begin(c, argc, argv, &usage));
    return prepare_and_fit(c, &a);
}
