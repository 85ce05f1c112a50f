/* SPDX-License-Identifier: BSD-3-Clause */
/* cluster_args.c - see cluster_args.h. */
#include "cluster_args.h"
#include "vhem.h"

#include <string.h>

void cluster_args_init(cluster_args *a)
{
    memset(a, 0, sizeof *a);
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &a->opt);
    VHEM_INIT(VHEM_DATA_OPTIONS, &a->data);
    a->output = "-";
}

void cluster_args_free(cluster_args *a)
{
    vhem_free(a->items);
    vhem_free(a->start);
    vhem_free(a->fitted);
    cli_input_free(&a->input);
}

void cluster_add_options(cli_table *t, cluster_args *a, const char *without, bool choose)
{
    const cli_change change[] = {
        { .field = "init",
          .file = choose ? NULL : &a->init,
          .help = choose ? "how a run starts"
                         : "how a run starts; em-h3m, shem: auto, far, dealt; hem-dtm: auto, base, far; or a "
                           "model file: start exactly there, at the lowest level" },
        { .field = "restarts",
          .shown = choose ? "20 to 300, more for small inputs"
                          : "20 to 300, more for small inputs; em-h3m, shem, hem-dtm: 10; 1 when --init is a "
                            "file" },
        { .field = "soft", .shown = choose ? "20" : "20; 0 when --init is a file" },
        { .field = "method", .help = "how to cluster, see Methods below" },
        { 0 },
    };
    cli_add_fields(t, &(cli_fields){ VHEM_CLUSTER_OPTIONS, &a->opt, .without = without, .change = change });
}

/* How the sequences of a file are read; what models and clusters need does no harm. */
static int prepare_to_read(cli *c, cluster_args *a, vhem_data_options *data)
{
    CLI_TRY(cli_emission(c, a->cov, &a->opt.emission));
    if (a->start && a->opt.emission && !cli_emission_is(a->start, a->opt.emission))
        return cli_fail(c, "%s holds %s models, but --%s asks for %s; leave it out, the start has its own",
                        a->init, cli_models_facts(a->start).emission, a->cov ? "cov" : "emission",
                        a->cov ? a->cov : a->opt.emission);
    if (a->start)
        a->opt.emission = NULL;
    return cli_read_for(c, c->arg[0], a->start, a->opt.emission, data);
}

static bool has_textures(const cluster_args *a)
{
    return cli_models_facts(a->input.from.models).kind == VHEM_TEXTURES;
}

/* Of the options given, those that are about sequences alone. */
static bool is_about_sequences(const cli_option *o)
{
    return (o->heading == cli_data_heading && strcmp(o->name, "memory") != 0)
           || cli_has_word("cov emission topology models", ' ', o->name);
}

/* Models were given: whatever was said about sequences is a mistake. */
static int check_models(cli *c, const cluster_args *a)
{
    const char *holds = a->input.file.tree ? "clusters" : "models";
    for (int k = 0; k < a->usage->table->n; k++) {
        const cli_option *o = &a->usage->table->row[k];
        if (c->given[k] && is_about_sequences(o))
            return cli_misuse(c, "--%s is about sequences, but %s holds %s", o->name, c->arg[0], holds);
    }
    vhem_method_facts method = cli_method_facts(a->opt.method, has_textures(a));
    CLI_CHECK(method.takes_hmms || method.takes_textures,
              "method %s clusters sequences, but %s holds %s; give it the data they came from", method.name,
              c->arg[0], holds);
    return CLI_GO;
}

/* Sequences for a method that takes models: they are fitted first, as vhem fit does. */
static int fit_models(cli *c, cluster_args *a)
{
    vhem_fit_options fit;
    VHEM_INIT(VHEM_FIT_OPTIONS, &fit);
    fit.S = a->opt.S;
    fit.M = a->opt.M;
    fit.emission = a->opt.emission;
    fit.topology = a->opt.topology;
    fit.by_group = a->input.from.by_group;
    CLI_TRY(cli_status(c, vhem_fit(c->ctx, a->input.file.data, &fit, &a->fitted, NULL)));
    a->input.from = (vhem_source){ .models = a->fitted };
    a->opt.emission = a->opt.topology = NULL; /* the models have theirs */
    for (int k = 0; k < a->usage->table->n; k++)
        c->given[k] = c->given[k] && !is_about_sequences(&a->usage->table->row[k]);
    return CLI_GO;
}

static int load_items(cli *c, cluster_args *a)
{
    vhem_data_options data = a->data;
    CLI_TRY(prepare_to_read(c, a, &data));
    CLI_TRY(cli_load_input(c, c->arg[0], &data, &a->input));
    bool sequences = a->input.from.data != NULL;
    a->method = sequences && !a->opt.method && !a->opt.preset && !a->init
                    ? cli_method_facts("auto", false)
                    : cli_method_facts(a->opt.method, has_textures(a));
    if (!sequences)
        CLI_TRY(check_models(c, a));
    else if (!a->method.takes_data)
        CLI_TRY(fit_models(c, a));
    a->opt.method = sequences ? a->method.name : a->opt.method;
    if (a->method.by_part) /* to the others --memory says nothing */
        a->opt.memory = a->data.memory;
    return cluster_find_items(c, a);
}

int cluster_find_items(cli *c, cluster_args *a)
{
    if (cli_models_facts(a->input.from.models).on_disk || a->items)
        return CLI_GO;
    return cli_status(c, vhem_source_items(c->ctx, &a->input.from, &a->items));
}

/* The start says how large the centres are; a size that was asked for must agree with it.  Of sequences its
 * columns were read. */
static int use_start(cli *c, cluster_args *a)
{
    const vhem_models_facts start = cli_models_facts(a->start);
    const vhem_models_facts models = cli_models_facts(a->input.from.models);
    CLI_CHECK(a->K.n == 0 || a->K.value[0] == start.K, "%s holds %lld %s%s, but %lld clusters are asked for",
              a->init, (long long)start.K, cli_model_word(a->start), cli_plural(start.K),
              (long long)a->K.value[0]);
    CLI_CHECK(!a->input.from.models || start.d == models.d, "%s has dimension %d, but %s has %d", a->init,
              start.d, c->arg[0], models.d);
    CLI_CHECK(a->opt.S < 0 || start.S == a->opt.S, "%s has %d states, but --states asks for %d", a->init,
              start.S, a->opt.S);
    CLI_CHECK(a->opt.M < 0 || start.M == a->opt.M, "%s has %d components per state, but --mix asks for %d",
              a->init, start.M, a->opt.M);
    if (a->K.n == 0)
        a->K.n = 1;
    a->K.value[0] = start.K;
    a->opt.start = a->start;
    return CLI_GO;
}

/* No option is ignored silently. */
static int check_options(cli *c, const cluster_args *a)
{
    CLI_TRY(cli_check_uses(c, a->usage, "method", a->method.name));
    CLI_TRY(cli_check_prior(c, "--prior", false, a->opt.prior));
    if (a->method.inits && a->opt.init && !a->init && !cli_has_word(a->method.inits, '|', a->opt.init))
        return cli_misuse(c, "method %s does not use --init %s; it knows %s", a->method.name, a->opt.init,
                          a->method.inits);
    return CLI_GO;
}

int cluster_load(cli *c, cluster_args *a)
{
    if (a->init)
        CLI_TRY(cli_load_models(c, a->init, &a->start));
    CLI_TRY(load_items(c, a));
    CLI_TRY(check_options(c, a));
    return a->init ? use_start(c, a) : CLI_GO;
}

int cluster_enough(cli *c, const cluster_args *a, int64_t K)
{
    int64_t n = a->items ? a->items->n : cli_models_facts(a->input.from.models).K;
    if (K <= n || a->start || a->method.finds_k) /* a given start may have more: the equations do not mind */
        return CLI_GO;
    return cli_fail(c, "%s holds %lld %s%s, too few for %lld clusters", c->arg[0], (long long)n,
                    cli_item_word(&a->input.from), cli_plural(n), (long long)K);
}
