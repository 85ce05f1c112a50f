/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_fit.c - vhem fit DATA -o MODELS.
 *
 *   1. the result for machines
 *   2. the result for people
 *   3. the work */
#include "cluster_args.h"
#include "vhem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AUTO_MOST = 6 }; /* states of --states auto */

typedef struct {
    vhem_data_options data;
    vhem_fit_options fit;
    const char *cov, *init, *topology, *shape, *output; /* init, topology: files */
    const cli_usage *usage;
    vhem_models *start;
    vhem_tree *searched; /* for the shape, which it owns; else NULL */
    double *fixed_pi, *fixed_A;
} fit_args;

typedef struct {
    const vhem_models *models;
    const vhem_data *data;
    const vhem_fit_report *report; /* NULL, or of models from a store: only their number is told */
    const char *output, *store;    /* store may be NULL */
    bool mixture, stopped;
    bool unasked;     /* the emission is the default */
    int most;         /* states that each model may have had to choose from; 0: their number was given */
    const char *read; /* " --missing lost": how DATA was read, for the next command */
} fit_result;

static const double SAME = 1e-3; /* nats per frame: restarts this close found the same optimum */

static const vhem_fit_run *run_of(const vhem_fit_report *report, int64_t i, int r)
{
    return &report->run[i * report->R + r];
}

/* ---- 1. for machines ----------------------------------------------------------------------------------- */

/* The bound is that of the evidence, which only fits with a prior have. */
static json_t *run_json(const vhem_fit_run *run, bool prior)
{
    json_t *one =
        json_pack("{s:o, s:i, s:b, s:i, s:i}", "loglik", cli_json_real(run->loglik), "n_iter", run->n_iter,
                  "converged", run->converged, "revived", run->n_revived, "floored", run->n_floored);
    if (prior)
        json_object_set_new(one, "bound", cli_json_real(run->bound));
    return one;
}

/* Row i of the report: a model, or the whole mixture. */
static json_t *row_json(const vhem_fit_report *report, int64_t i, json_t *name, bool prior)
{
    json_t *runs = json_array();
    for (int r = 0; r < report->R; r++)
        json_array_append_new(runs, run_json(run_of(report, i, r), prior));
    double loglik = run_of(report, i, report->best[i])->loglik;
    return json_pack("{s:o, s:I, s:o, s:o, s:i, s:o}", "name", name, "frames", (json_int_t)report->frames[i],
                     "loglik", cli_json_real(loglik), "per_frame",
                     cli_json_real(loglik / (double)report->frames[i]), "best", report->best[i], "restarts",
                     runs);
}

static json_t *mixture_json(const fit_result *r, int64_t K)
{
    json_t *row = row_json(r->report, 0, json_string("mixture"), false), *omega = json_array();
    for (int64_t j = 0; j < K; j++)
        json_array_append_new(omega, cli_json_real(cli_model_at(r->models, j).omega));
    json_object_set_new(row, "K", json_integer(K));
    json_object_set_new(row, "omega", omega);
    return row;
}

static json_t *report_json(const cli *c, const fit_result *r, const vhem_models_facts *facts)
{
    char buf[32];
    if (!r->report || r->store)
        return json_pack("{s:s, s:o, s:o, s:I}", "command", c->command, "output", cli_json_text(r->output),
                         "store", cli_json_text(r->store), "K", (json_int_t)facts->K);
    json_t *models = json_array();
    for (int64_t i = 0; !r->mixture && i < r->report->K; i++) {
        json_t *name = cli_json_text(cli_model_name(r->models, i, buf, sizeof buf));
        json_t *row = row_json(r->report, i, name, facts->prior != NULL);
        if (r->most > 0)
            json_object_set_new(row, "S", json_integer(cli_model_at(r->models, i).S));
        json_array_append_new(models, row);
    }
    if (r->mixture)
        json_array_append_new(models, mixture_json(r, facts->K));
    return json_pack("{s:s, s:o, s:o, s:I, s:s, s:b, s:o}", "command", c->command, "input",
                     cli_json_text(c->arg[0]), "output", cli_json_text(r->output), "seed",
                     (json_int_t)c->seed, "backend", vhem_ctx_backend(c->ctx), "interrupted", r->stopped,
                     "models", models);
}

/* ---- 2. for people ------------------------------------------------------------------------------------- */

typedef struct {
    double loglik;
    int64_t frames, agreed, unconverged, revived, floored;
} totals;

static totals add_up(const vhem_fit_report *report)
{
    totals t = { 0 };
    for (int64_t i = 0; i < report->K; i++) {
        const vhem_fit_run *best = run_of(report, i, report->best[i]);
        int same = 0;
        t.loglik += best->loglik;
        t.frames += report->frames[i];
        t.unconverged += !best->converged && best->n_iter > 0; /* without iterations it is in closed form */
        t.revived += best->n_revived;
        t.floored += best->n_floored;
        for (int r = 0; r < report->R; r++)
            same += fabs(run_of(report, i, r)->bound - best->bound) <= SAME * (double)report->frames[i];
        t.agreed += same > 1;
    }
    return t;
}

static void tell_restarts(cli *c, const fit_result *r, const totals *t, const char *word)
{
    const vhem_fit_report *report = r->report;
    int same = 0;
    for (int k = 0; r->mixture && k < report->R; k++)
        same += fabs(report->run[k].loglik - t->loglik) <= SAME * (double)t->frames;
    if (r->mixture && report->R > 1)
        cli_say(c, "%d of %d restarts reached this likelihood%s", same, report->R,
                same < 2 ? "; more --restarts may find a better one" : "");
    else if (report->R > 1)
        cli_say(c, "in %lld of %lld %s%s at least 2 of %d restarts agree on the best%s", (long long)t->agreed,
                (long long)report->K, word, cli_plural(report->K), report->R,
                2 * t->agreed < report->K ? "; more --restarts may find better ones" : "");
    if (t->unconverged && !r->stopped)
        cli_say(c, "%lld %s%s did not converge within --max-iter", (long long)t->unconverged,
                r->mixture ? "mixture" : word, cli_plural(t->unconverged));
}

static void tell_repairs(cli *c, const totals *t, const vhem_models *models)
{
    vhem_hmm_view hmm;
    bool textures = vhem_models_hmm(models, 0, &hmm) != VHEM_OK;
    if (t->revived && textures)
        cli_say(c,
                "repairs: A of %lld texture%s made stable: as estimated, sequences would grow without bound",
                (long long)t->revived, cli_plural(t->revived));
    else if (t->revived)
        cli_say(c, "repairs: %lld dead state%s or component%s revived", (long long)t->revived,
                cli_plural(t->revived), cli_plural(t->revived));
    if (t->floored)
        cli_say(c, "repairs: %lld %s%s held at --cov-floor", (long long)t->floored,
                textures || hmm.cov ? "covariance" : "component", cli_plural(t->floored));
}

/* Fewer than FEW numbers seen for each one estimated: a variance by itself then needs 10 frames, and one of a
 * full matrix more with every dimension. */
static void tell_few_frames(cli *c, const vhem_models *models, const vhem_models_facts *m, int64_t frames)
{
    enum { FEW = 5 };
    vhem_hmm_view hmm;
    if (vhem_models_hmm(models, 0, &hmm) != VHEM_OK || !hmm.cov)
        return;
    bool full = hmm.n_theta > hmm.S * hmm.M * (1 + 2 * hmm.d);
    double per = (double)frames / (double)m->K / (m->S * m->M);
    if (per >= FEW * (full ? 1 + (m->d + 1) / 2.0 : 2))
        return;
    bool one = per < 1.5;
    const char *what = m->M > 1 ? "component" : "state",
               *then = m->prior ? "the prior draws variances towards those of all states together"
                                : "variances may be far too small; --prior vb, or fewer --states, help";
    if (per < 0.5)
        cli_say(c, "the HMMs have more %ss than frames: %s", what, then);
    else
        cli_say(c, "about %.0f frame%s for each %s %s few for %d dimension%s%s: %s", per, one ? "" : "s",
                what, one ? "is" : "are", m->d, cli_plural(m->d), full ? " and full covariances" : "", then);
}

static void tell_next(cli *c, const fit_result *r, bool textures)
{
    char word[CLI_WORD], uses[CLI_WORD + 1200];
    const char *out = cli_word(r->output, word, sizeof word);
    if (*r->read)
        snprintf(uses, sizeof uses, "'vhem score %s DATA%s'%s", out, r->read,
                 textures ? " uses" : " and 'vhem decode' use");
    else
        snprintf(uses, sizeof uses, "%s",
                 textures ? "'vhem score' uses" : "'vhem score' and 'vhem decode' use");
    if (strcmp(r->output, "-") == 0 || r->stopped)
        return;
    if (r->mixture)
        cli_say(
            c,
            "next: 'vhem info %s' shows it; 'vhem assign %s DATA%s' puts sequences into its components; %s "
            "it on sequences",
            out, out, r->read, uses);
    else
        cli_say(
            c,
            "next: 'vhem cluster %s -k K' groups them; %s%s%s'vhem info %s' shows them; %s them on sequences",
            out, textures ? "" : "'vhem choose ", textures ? "" : out,
            textures ? "" : " -k 1..K' helps to find K; ", out, uses);
}

static void tell_missing(cli *c, const fit_result *r, double loglik)
{
    const cli_values v = cli_count_values(r->models, r->data, false);
    if (v.missing > 0)
        cli_say(c, "%lld of %lld values %s missing and integrated out: mean log-likelihood %.4f per value",
                (long long)v.missing, (long long)v.all, v.missing == 1 ? "was" : "were",
                loglik / (double)(v.all - v.missing));
}

/* How many HMMs have how many states, where they differ or were chosen. */
static void tell_states(cli *c, const fit_result *r, const vhem_models_facts *facts)
{
    char text[256] = "";
    size_t at = 0;
    int64_t n = 0; /* at last of those with the most states */
    for (int S = 1; S <= facts->S && at + 40 < sizeof text; S++) {
        n = 0;
        for (int64_t i = 0; i < facts->K; i++)
            n += cli_model_at(r->models, i).S == S;
        if (n > 0)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%d state%s: %lld", at ? ", " : "", S,
                                   cli_plural(S), (long long)n);
    }
    cli_say(c, "states chosen by variational Bayes: %s", text);
    if (n > 0 && facts->S == r->most)
        cli_say(
            c,
            "%lld of %lld HMMs %s all %d states that were allowed, and might need more: try --states 1..%d",
            (long long)n, (long long)facts->K, n == 1 ? "has" : "have", r->most, 2 * r->most);
}

static void tell_report(cli *c, const fit_result *r, const vhem_models_facts *facts, const char *word)
{
    bool textures = facts->kind == VHEM_TEXTURES;
    int64_t K = facts->K;
    totals t = add_up(r->report);
    const char *where = cli_where(r->output);
    const vhem_data_facts data = cli_data_facts(r->data);
    if (r->stopped) /* said even with --quiet: the result is not what was asked for */
        cli_fail(c, "interrupted; the best so far, %lld %s%s, is %s %s", (long long)K, word, cli_plural(K),
                 strcmp(r->output, "-") == 0 ? "written to" : "saved in", where);
    else
        cli_say(c,
                "%s%lld %s%s from %lld sequence%s (%lld frame%s) in %s: mean log-likelihood %.4f per frame",
                r->mixture ? "a mixture of " : "", (long long)K, word, cli_plural(K), (long long)data.N,
                cli_plural(data.N), (long long)t.frames, cli_plural(t.frames), where,
                t.loglik / (double)t.frames);
    tell_missing(c, r, t.loglik);
    if (r->unasked && cli_models_facts(r->models).kind == VHEM_HMMS)
        cli_tell_families(c, r->data, true);
    tell_repairs(c, &t, r->models);
    if (!r->mixture && K > 0)
        tell_few_frames(c, r->models, facts, t.frames);
    if (r->most > 0)
        tell_states(c, r, facts);
    tell_restarts(c, r, &t, word);
    tell_next(c, r, textures);
}

/* With --json every restart of every model on standard output, and the summary on standard error. */
static void tell_result(cli *c, const fit_result *r)
{
    const char *word = cli_model_word(r->models);
    const vhem_models_facts facts = cli_models_facts(r->models);
    if (c->json)
        cli_json_put(stdout, report_json(c, r, &facts));
    if (r->report && !r->store)
        tell_report(c, r, &facts, word);
    else
        cli_say(c, "%lld %s%s in %s; what was fitted is kept in %s", (long long)facts.K, word,
                cli_plural(facts.K), cli_where(r->output), r->store ? r->store : "no store");
}

/* ---- 3. the work --------------------------------------------------------------------------------------- */

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

/* The shape is said once: as "auto", or in parts. */
static int check_shape(cli *c, const fit_args *a)
{
    if (!a->shape)
        return CLI_GO;
    if (strcmp(a->shape, "auto") != 0)
        return cli_misuse(c, "--shape %s: it is auto, or else given by --states and --topology", a->shape);
    const char *other = a->fit.S >= 0 || a->fit.S_max > 0                  ? "--states"
                        : a->fit.topology || a->topology                   ? "--topology"
                        : a->init                                          ? "--init FILE"
                        : a->fit.K > 0                                     ? "--mixture"
                        : a->fit.model && strcmp(a->fit.model, "hmm") != 0 ? "--model"
                                                                           : NULL;
    return other ? cli_misuse(c, "--shape auto and %s exclude each other", other) : CLI_GO;
}

/* Finds the shape whose models show groups of the sequences best. */
static int find_shape(cli *c, fit_args *a, const vhem_data *data)
{
    const vhem_source from = { .data = data, .by_group = a->fit.by_group };
    const int64_t any = 0;
    vhem_cluster_options o;
    if (!a->shape)
        return CLI_GO;
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &o);
    o.method = "auto";
    o.emission = a->fit.emission;
    o.M = a->fit.M;
    CLI_TRY(cli_status(c, vhem_cluster(c->ctx, &from, 1, &any, &o, &a->searched)));
    cluster_shape(vhem_tree_level(a->searched, 0), &a->fit);
    cli_say(c, "models are %s, of %d state%s: with these the sequences show groups best", a->fit.topology,
            a->fit.S, cli_plural(a->fit.S));
    return CLI_GO;
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
    tell_result(c, &r);
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
    CLI_TRY(check_shape(c, a));
    CLI_TRY(load_start(c, a));
    CLI_TRY(load_topology(c, a));
    CLI_TRY(cli_load_data(c, c->arg[0], &a->data, a->start, a->fit.emission, &data));
    a->fit.by_group = a->data.group != NULL;
    CLI_TRY(find_shape(c, a, data));
    a->fit.pieces = a->fit.store && a->fit.K > 0;
    /* From a given start, with nothing else asked for: the equations of Baum-Welch and nothing but them. */
    if (a->start && a->fit.restarts <= 1 && a->fit.tol == 0 && a->fit.cov_floor == 0)
        a->fit.repair = 0;
    return fit_and_save(c, a, data);
}

static void free_args(fit_args *a)
{
    vhem_free(a->start);
    vhem_free(a->searched);
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
                                     { "shape", 0, OPT_TEXT, "auto", &a->shape, .shown = "none",
                                       .help = "auto: the states and the topology with which the sequences "
                                               "show groups best, as vhem cluster DATA tries them" },
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
        .about = "Fits one HMM to each sequence of DATA by Baum-Welch, or one to each "
                 "group of sequences, and writes them as one set of models; or fits a mixture of K HMMs to "
                 "all sequences by EM. With --model dtm the models are dynamic textures. DATA is a file, a "
                 "folder of CSV files, or - for CSV on standard input. The best of several restarts is kept.",
        .more =
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
