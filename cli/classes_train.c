/* SPDX-License-Identifier: BSD-3-Clause */
/* classes_train.c - vhem classify|annotate train and update. */
#include "classes.h"

#include <stdlib.h>
#include <string.h>

bool classes_are_tags(const cli *c)
{
    return strncmp(c->command, "annotate", 8) == 0;
}

int cli_dispatch(cli *c, int argc, char **argv, const char *about, const cli_subcommand *table)
{
    static char command[64]; /* the name of what runs, for messages, until the end */
    const char *word = argc > 1 ? argv[1] : "--help", *names[16];
    int n = 0;
    for (; table[n].name; n++) {
        names[n] = table[n].name;
        if (strcmp(word, table[n].name) != 0)
            continue;
        snprintf(command, sizeof command, "%s %s", c->command, word);
        c->command = command;
        return table[n].run(c, argc - 1, argv + 1);
    }
    if (argc > 1 && strcmp(word, "--help") != 0 && strcmp(word, "-h") != 0) {
        const char *near = cli_nearest(word, names, n);
        return cli_misuse(c, "there is no '%s'%s%s%s", word, near ? "; did you mean " : "", near ? near : "",
                          near ? "?" : "");
    }
    FILE *f = argc > 1 ? stdout : stderr;
    fprintf(f, "Usage: vhem %s WHAT [OPTION]... ARGUMENT...\n\n%s\n\nWhat:\n", c->command, about);
    for (int k = 0; k < n; k++)
        fprintf(f, "  %-10s%s\n", table[k].name, table[k].help);
    fprintf(f, "\n  vhem %s WHAT --help   its options and their defaults\n", c->command);
    return argc > 1 ? EXIT_DONE : EXIT_USAGE;
}

void classes_args_init(classes_args *a, bool annotate)
{
    memset(a, 0, sizeof *a);
    vhem_data_options_init(&a->data);
    vhem_train_options_init(&a->train);
    a->output = "-";
    a->cov = "diag";
    a->top = annotate ? 10 : 1;
    a->at = annotate ? "5,10,15" : "3,5";
    a->folds = 5;
    a->never_given = "zero";
    a->train.reduce.K = annotate ? 3 : 4;
}

void classes_args_free(classes_args *a)
{
    vhem_data_free(a->sequences);
    vhem_tags_free(a->tag_list);
    vhem_classes_free(a->classes);
}

static int check_output(cli *c, const char *output)
{
    static const char *const endings[] = { ".json", NULL };
    int status = cli_check_streams(c, output);
    if (status == CLI_GO && strcmp(output, "-") != 0 && strncmp(output, "/dev/", 5) != 0
        && !cli_ends_with(output, endings))
        status = cli_misuse(c, "%s: models of classes are written as .json", output);
    return status == CLI_GO ? cli_out_check(c, output) : status;
}

/* The store stands beside the models unless it is told where, or not to be. */
static char *store_beside(const classes_args *a, const char *model)
{
    if (a->no_store || (!a->store && (strcmp(model, "-") == 0 || strncmp(model, "/dev/", 5) == 0)))
        return NULL;
    if (a->store)
        return strdup(a->store);
    char *path = malloc(strlen(model) + sizeof ".store");
    if (path)
        strcat(strcpy(path, model), ".store");
    return path;
}

static json_t *facts(const cli *c, const classes_args *a, const char *output)
{
    json_t *list = json_array();
    for (int k = 0; k < vhem_classes_size(a->classes); k++) {
        vhem_class_view v;
        vhem_classes_view(a->classes, k, &v);
        json_array_append_new(list, json_pack("{s:o, s:i, s:i, s:i, s:o}", "name", cli_json_text(v.name),
                                              "examples", v.things, "pieces", v.pieces, "K",
                                              vhem_h3m_size(v.model), "prior", cli_json_real(v.prior)));
    }
    return json_pack("{s:s, s:o, s:s, s:o}", "command", c->command, "output", cli_json_text(output),
                     "estimator", vhem_classes_options(a->classes)->estimator, "classes", list);
}

static int save(cli *c, const classes_args *a, const char *output)
{
    json_t *options = cli_options_json(a->usage);
    json_object_del(options, "store"); /* where the work was kept does not change what it came to */
    json_object_del(options, "no-store");
    char *made = cli_provenance(c, options, false);
    if (!made)
        return cli_fail(c, "out of memory");
    vhem_status st = vhem_classes_save(c->ctx, a->classes, made, output);
    free(made);
    if (st != VHEM_OK)
        return cli_fail(c, "%s", vhem_ctx_error(c->ctx));
    if (c->json)
        cli_json_put(stdout, facts(c, a, output));
    int n = vhem_classes_size(a->classes);
    const char *what = classes_are_tags(c) ? "tag" : "class", *many = classes_are_tags(c) ? "s" : "es";
    cli_say(c, "models of %d %s%s -> %s", n, what, n == 1 ? "" : many, output);
    return EXIT_DONE;
}

int classes_stopped(cli *c, vhem_status st, const char *store)
{
    if (st != VHEM_ESTOPPED || !store)
        return cli_status(c, st);
    cli_fail(c, "interrupted; what is fitted is in %s, the same command goes on from there", store);
    return EXIT_STOPPED;
}

int classes_need_tags(cli *c, const classes_args *a)
{
    if (classes_are_tags(c) && !a->tags)
        return cli_misuse(c, "--tags FILE is needed: who has which tags");
    return CLI_GO;
}

void classes_settle(classes_args *a, const char *store)
{
    a->train.store = store;
    a->train.by_group = a->data.group != NULL;
    a->train.piece.emission = strcmp(a->cov, "full") == 0 ? "gaussian-full" : "gaussian-diag";
}

int classes_run(cli *c, int argc, char **argv, const cli_usage *usage, classes_args *a, classes_do *run)
{
    a->usage = usage;
    int status = cli_begin(c, argc, argv, usage);
    if (status == CLI_GO)
        status = run(c, a);
    classes_args_free(a);
    return status;
}

static int train(cli *c, classes_args *a)
{
    int status = check_output(c, a->output);
    if (status == CLI_GO && a->store && strcmp(a->store, a->output) == 0)
        status =
            cli_misuse(c, "--store and --output are both %s: the models would overwrite the store", a->store);
    if (status == CLI_GO)
        status = classes_need_tags(c, a);
    if (status == CLI_GO)
        status = classes_load_examples(c, c->arg[0], a);
    if (status != CLI_GO)
        return status;
    char *store = store_beside(a, a->output);
    classes_settle(a, store);
    vhem_status st = vhem_classes_train(c->ctx, a->sequences, a->tag_list, &a->train, &a->classes);
    status = st == VHEM_OK ? save(c, a, a->output) : classes_stopped(c, st, store);
    free(store);
    return status;
}

int classes_train(cli *c, int argc, char **argv)
{
    classes_args a;
    bool tags = classes_are_tags(c);
    classes_args_init(&a, tags);
    const cli_option tags_row = CLASSES_TAGS_OPTION(&a);
    const cli_option options[] = {
        { "output", 'o', OPT_TEXT, "MODEL", &a.output, 0, "-, standard output", "file to write, .json" },
        CLASSES_STORE_OPTION(&a, "MODEL.store"),
        { "no-store", 0, OPT_FLAG, NULL, &a.no_store, 0, NULL, "keep nothing to go on from" },
        CLASSES_TRAIN_OPTIONS(&a),
        CLASSES_DATA_OPTIONS(&a),
        tags ? tags_row : (cli_option){ 0 },
        { 0 },
    };
    const cli_usage usage = {
        .args = tags ? "DATA --tags FILE -o MODEL" : "DATA --label COL -o MODEL",
        .n_min = 1,
        .n_max = 1,
        .options = options,
        .about =
            tags
                ? "Learns a model of every tag. The sequences of DATA are cut into pieces, one for each song "
                  "or other thing, an HMM or --mixture of HMMs is fitted to each, and the pieces of all "
                  "songs with a tag are reduced to the model of the tag. Ctrl-C keeps what is fitted."
                : "Learns a model of every class, a mixture of HMMs. The sequences of DATA are cut into "
                  "pieces, an HMM is fitted to each, and the pieces of a class are reduced to its model. "
                  "Ctrl-C keeps what is fitted.",
        .examples = tags ? "  vhem annotate train songs.csv --group song --tags tags.csv -o tags.json\n"
                         : "  vhem classify train letters.csv --label letter --states 4 -o letters.json\n"
                           "  vhem classify train letters.csv --label letter --estimator em-h3m -o em.json\n",
    };
    return classes_run(c, argc, argv, &usage, &a, train);
}

static int update(cli *c, classes_args *a)
{
    const char *output = a->output ? a->output : c->arg[0];
    int status = check_output(c, output);
    if (status == CLI_GO)
        status = classes_need_tags(c, a);
    if (status == CLI_GO)
        status = classes_load(c, a);
    if (status != CLI_GO)
        return status;
    char *store = store_beside(a, c->arg[0]);
    vhem_status st = vhem_classes_update(c->ctx, a->classes, a->sequences, a->tag_list, store);
    status = st == VHEM_OK ? save(c, a, output) : classes_stopped(c, st, store);
    free(store);
    return status;
}

int classes_update(cli *c, int argc, char **argv)
{
    classes_args a;
    bool tags = classes_are_tags(c);
    classes_args_init(&a, tags);
    a.output = NULL;
    const cli_option tags_row = CLASSES_TAGS_OPTION(&a);
    const cli_option options[] = {
        { "output", 'o', OPT_TEXT, "MODEL", &a.output, 0, "the MODEL itself", "file to write, .json" },
        { "store", 0, OPT_TEXT, "FILE", &a.store, 0, "MODEL.store", "the store of the training" },
        CLASSES_DATA_OPTIONS(&a),
        tags ? tags_row : (cli_option){ 0 },
        { 0 },
    };
    const cli_usage usage = {
        .args = tags ? "MODEL DATA --tags FILE" : "MODEL DATA",
        .n_min = 2,
        .n_max = 2,
        .options = options,
        .about =
            "Adds the examples in DATA to the models: HMMs are fitted to the new pieces only, and only the "
            "classes or tags that have new pieces are reduced again. The result is that of a training with "
            "all the data and the prior of the first.",
        .examples = tags ? "  vhem annotate update tags.json more.csv --group song --tags more-tags.csv\n"
                         : "  vhem classify update letters.json more.csv --label letter\n",
    };
    return classes_run(c, argc, argv, &usage, &a, update);
}
