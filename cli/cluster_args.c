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
    CLI_CHECK(a->method.takes_hmms || a->method.takes_textures,
              "method %s clusters sequences, but %s holds %s; give it the data they came from",
              a->method.name, c->arg[0], holds);
    return CLI_GO;
}

/* The first method that takes models and uses an option. */
static const char *user_of_option(const cli_option *o)
{
    vhem_method_facts m;
    for (int i = 0; vhem_method_info(i, &m) == VHEM_OK; i++)
        if (m.takes_hmms && cli_has_word(o->methods, ' ', m.name))
            return m.name;
    return NULL;
}

/* Nobody asked for the method of sequences: what it does not use may be meant for clusters of models. */
static int check_unasked(cli *c, const cluster_args *a)
{
    for (int k = 0; k < a->usage->table->n; k++) {
        const cli_option *o = &a->usage->table->row[k];
        const char *user =
            c->given[k] && cli_is_useless(o, "method", a->method.name) ? user_of_option(o) : NULL;
        if (user)
            return cli_misuse(c,
                              "--%s is for clustering models; with --method %s, which uses it, models are "
                              "fitted to the sequences first",
                              o->name, user);
    }
    return CLI_GO;
}

/* No option is ignored silently.  A method that takes models gets those fitted to the sequences, which are
 * not its own business: nor is their size, unless there are models already. */
static int check_uses(cli *c, const cluster_args *a, const vhem_method_facts *method)
{
    bool given[CLI_MAX_OPTIONS], models = a->input.from.models != NULL;
    memcpy(given, c->given, sizeof given);
    for (int k = 0; k < a->usage->table->n; k++) {
        const cli_option *o = &a->usage->table->row[k];
        bool of_fit = is_about_sequences(o) || (!models && cli_has_word("states mix", ' ', o->name));
        c->given[k] = given[k] && (method->takes_data || !of_fit);
    }
    int status = cli_check_uses(c, a->usage, "method", method->name);
    memcpy(c->given, given, sizeof given);
    return status;
}

static int check_method(cli *c, const cluster_args *a, const vhem_method_facts *method)
{
    CLI_TRY(check_uses(c, a, method));
    if (method->inits && a->opt.init && !a->init && !cli_has_word(method->inits, '|', a->opt.init))
        return cli_misuse(c, "method %s does not use --init %s; it knows %s", method->name, a->opt.init,
                          method->inits);
    return CLI_GO;
}

int cluster_check(cli *c, const cluster_args *a)
{
    if (!a->opt.method)
        return CLI_GO;
    vhem_method_facts method = cli_method_facts(a->opt.method, false);
    return check_method(c, a, &method);
}

static int check_options(cli *c, const cluster_args *a)
{
    bool sequences = a->input.from.data != NULL;
    if (sequences && !a->opt.method && a->method.takes_data)
        CLI_TRY(check_unasked(c, a));
    CLI_TRY(check_method(c, a, &a->method));
    CLI_TRY(cli_check_prior(c, "--prior", false, a->opt.prior));
    return sequences ? CLI_GO : check_models(c, a);
}

void cluster_add_shape(const vhem_fit_options *fit, json_t *options)
{
    if (fit->S > 0)
        json_object_set_new(options, "states", json_integer(fit->S));
    if (fit->M > 0)
        json_object_set_new(options, "mix", json_integer(fit->M));
    if (fit->emission)
        json_object_set_new(options, "emission", cli_json_text(fit->emission));
    if (fit->topology)
        json_object_set_new(options, "topology", cli_json_text(fit->topology));
}

void cluster_shape(const vhem_clustering *cl, vhem_fit_options *fit)
{
    fit->S = cl->options->S;
    fit->topology = cl->options->topology;
    for (int r = 0; r < cl->n_run; r++)
        if (cl->run[r].as_good && cl->run[r].topology) {
            fit->S = cl->run[r].S;
            fit->topology = cl->run[r].topology;
        }
}

int cluster_save_models(cli *c, const cluster_args *a, const vhem_models *models, const vhem_fit_options *fit)
{
    const vhem_models_facts facts = cli_models_facts(models);
    const cli_table *t = a->usage->table;
    if (!a->models || !cli_is_first(c))
        return CLI_GO;
    /* As vhem fit would write it, with what it has to be told. */
    cli as_fit = *c;
    as_fit.command = "fit";
    json_t *options = cli_options_json(a->usage, "method", "auto");
    for (int k = 0; k < t->n; k++)
        if (t->row[k].heading != cli_data_heading)
            json_object_del(options, t->row[k].name);
    if (fit->model)
        json_object_set_new(options, "model", cli_json_text(fit->model));
    vhem_fit_options shape = *fit;
    shape.S = facts.S; /* the number that was found, where it was */
    cluster_add_shape(&shape, options);
    CLI_AUTOFREE char *made = cli_provenance(&as_fit, options, false);
    CLI_CHECK(made, "out of memory");
    CLI_TRY(cli_status(c, vhem_models_save(c->ctx, models, made, a->models)));
    cli_say(c, "%lld %s%s of %d state%s%s%s in %s", (long long)facts.K, cli_model_word(models),
            cli_plural(facts.K), facts.S, cli_plural(facts.S), fit->topology ? ", " : "",
            fit->topology ? fit->topology : "", a->models);
    return CLI_GO;
}

int cluster_fit(cli *c, cluster_args *a)
{
    if (!a->input.from.data || a->method.takes_data)
        return CLI_GO;
    CLI_TRY(cli_status(c, vhem_fit(c->ctx, a->input.file.data, &a->shape, &a->fitted, NULL)));
    a->input.from = (vhem_source){ .models = a->fitted };
    vhem_free(a->items);
    a->items = NULL;
    return cluster_find_items(c, a);
}

static bool uses(const cluster_args *a, const char *field)
{
    const char *methods = cli_field(VHEM_CLUSTER_OPTIONS, field).methods;
    return !methods || cli_has_word(methods, ' ', a->method.name);
}

/* Which models of the sequences are wanted: with a start, those that it can be compared with. */
static int find_shape(cli *c, cluster_args *a)
{
    const char *like = a->start ? cli_models_facts(a->start).emission : a->opt.emission;
    VHEM_INIT(VHEM_FIT_OPTIONS, &a->shape);
    a->shape.model = a->method.takes_textures ? "dtm" : NULL;
    a->shape.S = a->opt.S;
    a->shape.M = a->opt.M;
    a->shape.emission = like && *like ? like : NULL;
    a->shape.topology = a->opt.topology;
    a->shape.by_group = a->input.from.by_group;
    if (a->method.takes_data)
        return CLI_GO;
    CLI_CHECK(!like || !cli_has_word("product gaussian-tied", ' ', like),
              "%s holds %s models; fit such models to %s first, with vhem fit, and give those", a->init, like,
              c->arg[0]);
    a->opt.emission = a->opt.topology = NULL; /* the models will have theirs */
    if (!uses(a, "S"))
        a->opt.S = -1;
    if (!uses(a, "M"))
        a->opt.M = -1;
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
    CLI_TRY(check_options(c, a));
    a->opt.method = sequences ? a->method.name : a->opt.method;
    if (a->method.by_part) /* to the others --memory says nothing */
        a->opt.memory = a->data.memory;
    if (sequences)
        CLI_TRY(find_shape(c, a));
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

int cluster_load(cli *c, cluster_args *a)
{
    if (a->init)
        CLI_TRY(cli_load_models(c, a->init, &a->start));
    CLI_TRY(load_items(c, a));
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
