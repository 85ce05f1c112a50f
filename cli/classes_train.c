/* SPDX-License-Identifier: BSD-3-Clause */
/* classes_train.c - vhem classify|annotate train, update and cross: what learns. */
#include "classes.h"
#include "vhem.h"
#include "vhem/classes.h"

#include <stdlib.h>
#include <string.h>

static int check_output(cli *c, const char *output)
{
    return cli_out_check_ending(c, output, "models of classes are written as .json", cli_json_endings);
}

/* The store stands next to the models unless it is told where, or not to be. */
static char *store_path(const classes_args *a, const char *model)
{
    const char *store = a->train.store;
    if (a->no_store || (!store && (strcmp(model, "-") == 0 || strncmp(model, "/dev/", 5) == 0)))
        return NULL;
    if (store)
        return strdup(store);
    char *path = malloc(strlen(model) + sizeof ".store");
    if (path)
        strcat(strcpy(path, model), ".store");
    return path;
}

static json_t *classes_json(const cli *c, const classes_args *a, const char *output)
{
    json_t *list = json_array();
    vhem_classes_facts facts;
    vhem_classes_info(a->classes, &facts);
    for (int k = 0; k < facts.C; k++) {
        vhem_class_view v;
        vhem_models_facts models;
        v = cli_class_at(a->classes, k);
        vhem_models_info(v.models, &models);
        json_array_append_new(list, json_pack("{s:o, s:I, s:I, s:I, s:o}", "name", cli_json_text(v.name),
                                              "examples", (json_int_t)v.items, "pieces", (json_int_t)v.pieces,
                                              "K", (json_int_t)models.K, "prior", cli_json_real(v.prior)));
    }
    return json_pack("{s:s, s:o, s:o, s:o}", "command", c->command, "output", cli_json_text(output),
                     "estimator", cli_json_text(facts.options->estimator), "classes", list);
}

static const char *model_of(const classes_args *a)
{
    return a->piece.model ? a->piece.model : "hmm";
}

static int save_classes(cli *c, const classes_args *a, const char *output)
{
    vhem_classes_facts facts;
    char *made = cli_provenance(c, cli_options_json(a->usage, "model", model_of(a)), false);
    if (!made)
        return cli_fail(c, "out of memory");
    vhem_status st = vhem_classes_save(c->ctx, a->classes, made, output);
    free(made);
    if (st != VHEM_OK)
        return cli_fail(c, "%s", vhem_ctx_error(c->ctx));
    if (c->json)
        cli_json_put(stdout, classes_json(c, a, output));
    vhem_classes_info(a->classes, &facts);
    const char *what = classes_are_tags(c) ? "tag" : "class", *many = classes_are_tags(c) ? "s" : "es";
    cli_say(c, "models of %d %s%s in %s", facts.C, what, facts.C == 1 ? "" : many, cli_where(output));
    return EXIT_DONE;
}

/* No option is ignored silently. */
static int check_uses(cli *c, const classes_args *a)
{
    bool textures = strcmp(model_of(a), "dtm") == 0;
    int status = cli_check_uses(c, a->usage, "model", model_of(a));
    if (status == CLI_GO)
        status = cli_check_uses(c, a->usage, "method", cli_method_facts(a->train.estimator, textures).name);
    return status == CLI_GO ? cli_check_prior(c, "--fit-prior", true, a->piece.prior) : status;
}

/* What the options of the command mean for the training. */
static int settle_training(cli *c, classes_args *a, const char *store)
{
    a->train.store = store;
    a->train.by_group = a->data.group != NULL;
    return cli_emission(c, a->cov, &a->piece.emission);
}

/* ---- train --------------------------------------------------------------------------------------------- */

static int train_classes(cli *c, classes_args *a)
{
    int status = check_uses(c, a);
    if (status == CLI_GO)
        status = check_output(c, a->output);
    if (status == CLI_GO)
        status = classes_need_tags(c, a);
    if (status == CLI_GO)
        status = classes_load_examples(c, c->arg[0], a);
    if (status != CLI_GO)
        return status;
    char *store = store_path(a, a->output);
    status = settle_training(c, a, store);
    if (status != CLI_GO) {
        free(store);
        return status;
    }
    vhem_status st = vhem_classes_train(c->ctx, a->sequences, a->tag_list, &a->train, &a->classes);
    status = st == VHEM_OK ? save_classes(c, a, a->output) : classes_stopped(c, st, store);
    free(store);
    return status;
}

static void add_store(cli_table *t, classes_args *a, const char *shown, const char *help)
{
    cli_add(t,
            (const cli_option[]){
                { "store", 0, OPT_TEXT, "FILE", &a->train.store, .shown = shown,
                  .help = help ? help
                               : "file that keeps each model as soon as it is fitted, to continue from after "
                                 "an interruption" },
                { 0 } });
}

int classes_train(cli *c, int argc, char **argv)
{
    classes_args a;
    cli_table t = { 0 };
    bool tags = classes_are_tags(c);
    classes_args_init(&a, tags);
    classes_add_output(&t, &a, "file of models to write, .json");
    add_store(&t, &a, "MODEL.store", NULL);
    cli_add(&t, (const cli_option[]){
                    { "no-store", 0, OPT_FLAG, NULL, &a.no_store, .help = "keep nothing to continue from" },
                    { 0 } });
    classes_add_training(&t, &a, tags);
    classes_add_data(&t, &a, tags);
    const cli_usage usage = {
        .args = tags ? "DATA --tags FILE -o MODEL" : "DATA --label COL -o MODEL",
        .n_min = 1,
        .n_max = 1,
        .table = &t,
        .first = "output tags label group id columns hmms states mix estimator emission store",
        .about =
            tags ? "Learns a model of every tag. The sequences of DATA are cut into pieces, one for each "
                   "song or other item, a model or --mixture of models is fitted to each, and the pieces of "
                   "all songs with a tag are reduced to the model of the tag. Ctrl-C keeps what is fitted."
                 : "Learns a model of every class, a mixture of HMMs, or of dynamic textures with --model "
                   "dtm. The sequences of DATA are cut into pieces, a model is fitted to each, and the "
                   "pieces of a class are reduced to its model. Ctrl-C keeps what is fitted.",
        .examples = tags ? "  vhem annotate train songs.csv --group song --tags tags.csv -o tags.json\n"
                         : "  vhem classify train letters.csv --label letter --states 4 -o letters.json\n"
                           "  vhem classify train letters.csv --label letter --estimator em-h3m -o em.json\n",
    };
    return classes_run(c, argc, argv, &usage, &a, train_classes);
}

/* ---- update -------------------------------------------------------------------------------------------- */

static int update_classes(cli *c, classes_args *a)
{
    const char *output = a->output ? a->output : c->arg[0];
    int status = check_output(c, output);
    if (status == CLI_GO)
        status = classes_need_tags(c, a);
    if (status == CLI_GO)
        status = classes_load(c, a);
    if (status != CLI_GO)
        return status;
    char *store = store_path(a, c->arg[0]);
    vhem_status st = vhem_classes_update(c->ctx, a->classes, a->sequences, a->tag_list, store);
    status = st == VHEM_OK ? save_classes(c, a, output) : classes_stopped(c, st, store);
    free(store);
    return status;
}

int classes_update(cli *c, int argc, char **argv)
{
    classes_args a;
    cli_table t = { 0 };
    bool tags = classes_are_tags(c);
    classes_args_init(&a, tags);
    a.output = NULL;
    cli_add(&t, (const cli_option[]){ { "output", 'o', OPT_TEXT, "MODEL", &a.output,
                                        .shown = "the MODEL itself", .help = "file to write, .json" },
                                      { 0 } });
    add_store(&t, &a, "MODEL.store", "the store of the training");
    classes_add_data(&t, &a, tags);
    const cli_usage usage = {
        .args = tags ? "MODEL DATA --tags FILE" : "MODEL DATA",
        .n_min = 2,
        .n_max = 2,
        .table = &t,
        .updates = true,
        .about =
            "Adds the examples in DATA to the models: only the new pieces are fitted, and only the classes "
            "or tags that have new pieces are reduced again. The result is that of a training with all "
            "the data.",
        .examples = tags ? "  vhem annotate update tags.json more.csv --group song --tags more-tags.csv\n"
                         : "  vhem classify update letters.json more.csv --label letter\n",
    };
    return classes_run(c, argc, argv, &usage, &a, update_classes);
}

/* ---- cross --------------------------------------------------------------------------------------------- */

static int cross_validate(cli *c, classes_args *a)
{
    vhem_prediction *p = NULL;
    int status = check_uses(c, a);
    if (status == CLI_GO)
        status = cli_out_check_table(c, a->output);
    if (status == CLI_GO)
        status = classes_need_tags(c, a);
    if (status == CLI_GO && a->folds < 2 && !(a->holdout > 0 && a->holdout < 1))
        status = cli_misuse(c, "--folds needs at least 2, or --holdout a share between 0 and 1");
    if (status == CLI_GO)
        status = classes_load_examples(c, c->arg[0], a);
    if (status == CLI_GO)
        status = settle_training(c, a, a->train.store);
    if (status != CLI_GO)
        return status;
    vhem_status st = vhem_crossvalidate(c->ctx, a->sequences, a->tag_list, &a->train,
                                        a->holdout > 0 ? 0 : a->folds, a->holdout, &p);
    status = classes_stopped(c, st, a->train.store);
    if (status == CLI_GO)
        status = classes_judge(c, a, p, NULL);
    vhem_free(p);
    return status;
}

int classes_cross(cli *c, int argc, char **argv)
{
    classes_args a;
    cli_table t = { 0 };
    bool tags = classes_are_tags(c);
    classes_args_init(&a, tags);
    classes_add_output(&t, &a, "file to write the tables to");
    cli_add(&t, (const cli_option[]){ { "folds", 0, OPT_INT, "N", &a.folds, 2,
                                        .help = "parts of the examples, each held out once" },
                                      { "holdout", 0, OPT_REAL, "P", &a.holdout, .shown = "none",
                                        .help = "instead: hold out this share of them, once" },
                                      { 0 } });
    add_store(&t, &a, "none", NULL);
    classes_add_judging(&t, &a);
    classes_add_training(&t, &a, tags);
    classes_add_data(&t, &a, tags);
    const cli_usage usage = {
        .args = tags ? "DATA --tags FILE" : "DATA --label COL",
        .n_min = 1,
        .n_max = 1,
        .table = &t,
        .first = "output folds holdout tags label group id columns hmms states mix estimator emission",
        .about =
            "Cross-validation: learns from some of the examples in DATA and judges by the others, as eval "
            "does, until each was judged once. Which are held out together follows from --seed.",
        .examples = tags ? "  vhem annotate cross songs.csv --group song --tags tags.csv --folds 5\n"
                         : "  vhem classify cross letters.csv --label letter --folds 5\n"
                           "  vhem classify cross letters.csv --label letter --holdout 0.5 --seed 3\n",
    };
    return classes_run(c, argc, argv, &usage, &a, cross_validate);
}
