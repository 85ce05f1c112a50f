/* SPDX-License-Identifier: BSD-3-Clause */
/* classes_train.c - vhem classify|annotate train, update and cross: what learns; and the loading of examples,
 * for all parts. */
#include "classes.h"
#include "vhem.h"
#include "vhem/classes.h"

#include <stdlib.h>
#include <string.h>

/* ---- examples ------------------------------------------------------------------------------------------ */

int classes_need_tags(cli *c, const classes_args *a)
{
    return a->are_tags && !a->tags ? cli_misuse(c, "--tags FILE is needed: a table of the tags of each song")
                                   : CLI_GO;
}

/* DATA, and --tags where given. */
static int load_examples(cli *c, const char *path, classes_args *a)
{
    const vhem_models *models = a->classes ? cli_class_at(a->classes, 0).models : NULL;
    CLI_TRY(cli_load_data(c, path, &a->data, models, a->piece.emission, &a->sequences));
    return a->tags ? cli_status(c, vhem_tags_load(c->ctx, a->tags, &a->tag_list)) : CLI_GO;
}

/* The models of all classes are compared with each other. */
static void tell_common(cli *c, const vhem_classes *classes)
{
    const vhem_classes_facts facts = cli_classes_facts(classes);
    CLI_AUTOFREE const vhem_models **sets = calloc((size_t)facts.C + 1, sizeof *sets);
    for (int k = 0; sets && k < facts.C; k++)
        sets[k] = cli_class_at(classes, k).models;
    if (sets)
        cli_tell_common(c, facts.C, sets, false);
}

int classes_load(cli *c, classes_args *a)
{
    CLI_TRY(cli_check_streams(c, NULL));
    CLI_TRY(cli_status(c, vhem_classes_load(c->ctx, c->arg[0], &a->classes)));
    tell_common(c, a->classes);
    return load_examples(c, c->arg[1], a);
}

/* ---- what is learned ----------------------------------------------------------------------------------- */

/* CLI_GO for VHEM_OK; after an interruption says where the store is. */
static int tell_stopped(cli *c, vhem_status st, const char *store)
{
    if (st != VHEM_ESTOPPED || !store)
        return cli_status(c, st);
    cli_fail(c, "interrupted; what is fitted is in %s, and the same command continues from there", store);
    return EXIT_STOPPED;
}

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
    const vhem_classes_facts facts = cli_classes_facts(a->classes);
    for (int k = 0; k < facts.C; k++) {
        const vhem_class_view v = cli_class_at(a->classes, k);
        json_array_append_new(list, json_pack("{s:o, s:I, s:I, s:I, s:o}", "name", cli_json_text(v.name),
                                              "examples", (json_int_t)v.items, "pieces", (json_int_t)v.pieces,
                                              "K", (json_int_t)cli_models_facts(v.models).K, "prior",
                                              cli_json_real(v.prior)));
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
    CLI_AUTOFREE char *made = cli_provenance(c, cli_options_json(a->usage, "model", model_of(a)), false);
    CLI_CHECK(made, "out of memory");
    CLI_CHECK(vhem_classes_save(c->ctx, a->classes, made, output) == VHEM_OK, "%s", vhem_ctx_error(c->ctx));
    if (c->json)
        cli_json_put(stdout, classes_json(c, a, output));
    const vhem_classes_facts facts = cli_classes_facts(a->classes);
    const char *what = a->are_tags ? "tag" : "class", *many = a->are_tags ? "s" : "es";
    cli_say(c, "models of %d %s%s in %s", facts.C, what, facts.C == 1 ? "" : many, cli_where(output));
    return EXIT_DONE;
}

/* No option is ignored silently. */
static int check_uses(cli *c, const classes_args *a)
{
    bool textures = strcmp(model_of(a), "dtm") == 0;
    CLI_TRY(cli_check_uses(c, a->usage, "model", model_of(a)));
    CLI_TRY(cli_check_uses(c, a->usage, "method", cli_method_facts(a->train.estimator, textures).name));
    return cli_check_prior(c, "--fit-prior", true, a->piece.prior);
}

/* What the options of the command mean for the training. */
static int settle_training(cli *c, classes_args *a, const char *store)
{
    a->train.store = store;
    a->train.by_group = a->data.group != NULL;
    return cli_emission(c, a->cov, &a->piece.emission);
}

/* ---- parts --------------------------------------------------------------------------------------------- */

int classes_train(cli *c, classes_args *a)
{
    CLI_TRY(check_uses(c, a));
    CLI_TRY(check_output(c, a->output));
    CLI_TRY(classes_need_tags(c, a));
    CLI_TRY(load_examples(c, c->arg[0], a));
    CLI_AUTOFREE char *store = store_path(a, a->output);
    CLI_TRY(settle_training(c, a, store));
    CLI_TRY(tell_stopped(c, vhem_classes_train(c->ctx, a->sequences, a->tag_list, &a->train, &a->classes),
                         store));
    return save_classes(c, a, a->output);
}

int classes_update(cli *c, classes_args *a)
{
    const char *output = a->output ? a->output : c->arg[0];
    CLI_TRY(check_output(c, output));
    CLI_TRY(classes_need_tags(c, a));
    CLI_TRY(classes_load(c, a));
    CLI_AUTOFREE char *store = store_path(a, c->arg[0]);
    CLI_TRY(
        tell_stopped(c, vhem_classes_update(c->ctx, a->classes, a->sequences, a->tag_list, store), store));
    return save_classes(c, a, output);
}

int classes_cross(cli *c, classes_args *a)
{
    CLI_OWN vhem_prediction *p = NULL;
    CLI_TRY(check_uses(c, a));
    CLI_TRY(cli_out_check_table(c, a->output));
    CLI_TRY(classes_need_tags(c, a));
    if (a->folds < 2 && !(a->holdout > 0 && a->holdout < 1))
        return cli_misuse(c, "--folds needs at least 2, or --holdout a share between 0 and 1");
    CLI_TRY(load_examples(c, c->arg[0], a));
    CLI_TRY(settle_training(c, a, a->train.store));
    CLI_TRY(tell_stopped(c,
                         vhem_crossvalidate(c->ctx, a->sequences, a->tag_list, &a->train,
                                            a->holdout > 0 ? 0 : a->folds, a->holdout, &p),
                         a->train.store));
    return classes_judge(c, a, p, NULL);
}
