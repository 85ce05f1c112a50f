/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_classify.c - vhem classify and vhem annotate: their parts, and the options of these. */
#include "classes.h"
#include "vhem.h"
#include "vhem/classes.h"

#include <string.h>

typedef struct {
    const char *name, *help, *args;
    int n_arg;
    classes_do *work;
    const char *first, *about, *examples;
} part;

static const char first_of_train[] =
    "output tags label group id columns hmms states mix estimator emission store";
static const char first_of_cross[] =
    "output folds holdout tags label group id columns hmms states mix estimator emission";
static const char about_cross[] =
    "Cross-validation: learns from some of the examples in DATA and judges by the others, as eval does, "
    "until each was judged once. Which are held out together follows from --seed.";
static const char about_update[] =
    "Adds the examples in DATA to the models: only the new pieces are fitted, and only the classes or "
    "tags that have new pieces are reduced again. The result equals a training with all the data.";

static const part class_parts[] = {
    { "train", "learn a model of every class", "DATA --label COL -o MODEL", 1, classes_train, first_of_train,
      "Learns a model of every class, a mixture of HMMs, or of dynamic textures with --model dtm. The "
      "sequences of DATA are cut into pieces, a model is fitted to each, and the pieces of a class are "
      "reduced to its model. Ctrl-C keeps the fitted models.",
      "  vhem classify train letters.csv --label letter --states 4 -o letters.json\n"
      "  vhem classify train letters.csv --label letter --estimator em-h3m -o em.json\n" },
    { "predict", "the classes of sequences", "MODEL DATA", 2, classes_predict, NULL,
      "Classifies the sequences of DATA by the models of 'vhem classify train', and prints a table: name, "
      "label, the class with the largest posterior probability, and that probability.",
      "  vhem classify predict letters.json new.csv\n"
      "  vhem classify predict letters.json new.csv --fast 2 --all -o posteriors.tsv\n" },
    { "eval", "how well sequences of known class are classified", "MODEL DATA", 2, classes_eval, NULL,
      "Classifies the sequences of DATA, whose classes are known, and measures how well: accuracy, "
      "precision, recall, P@k when ranked by class, and the confusion matrix.",
      "  vhem classify eval letters.json test.csv --label letter\n" },
    { "cross", "the same by cross-validation, or on a share held out", "DATA --label COL", 1, classes_cross,
      first_of_cross, about_cross,
      "  vhem classify cross letters.csv --label letter --folds 5\n"
      "  vhem classify cross letters.csv --label letter --holdout 0.5 --seed 3\n" },
    { "update", "add examples to models that were learned", "MODEL DATA", 2, classes_update, NULL,
      about_update, "  vhem classify update letters.json more.csv --label letter\n" },
    { 0 },
};

static const part tag_parts[] = {
    { "train", "learn a model of every tag", "DATA --tags FILE -o MODEL", 1, classes_train, first_of_train,
      "Learns a model of every tag. The sequences of DATA are cut into pieces, one for each song or other "
      "item, a model or --mixture of models is fitted to each, and the pieces of all songs with a tag are "
      "reduced to the model of the tag. Ctrl-C keeps the fitted models.",
      "  vhem annotate train songs.csv --group song --tags tags.csv -o tags.json\n" },
    { "predict", "the tags of songs", "MODEL DATA", 2, classes_predict, NULL,
      "Gives each song of DATA its --top tags, with their share in its semantic multinomial: the posterior "
      "probabilities of all tags, from the mean over the fragments of a song of their log-likelihood.",
      "  vhem annotate predict tags.json songs.csv --group song --top 5\n" },
    { "search", "songs ranked by a tag", "MODEL DATA TAG", 3, classes_predict, NULL,
      "Ranks the songs of DATA by how well TAG suits them: by the logarithm of its share in their semantic "
      "multinomial.",
      "  vhem annotate search tags.json songs.csv Calming --group song\n" },
    { "eval", "how well songs of known tags are tagged and found", "MODEL DATA --tags FILE", 2, classes_eval,
      NULL,
      "Tags the songs of DATA and finds them by tag, and measures how well: precision, recall and F of "
      "the --top tags of each song, average precision and P@k of the songs ranked by tag.",
      "  vhem annotate eval tags.json new.csv --group song --tags new-tags.csv\n" },
    { "cross", "the same by cross-validation", "DATA --tags FILE", 1, classes_cross, first_of_cross,
      about_cross, "  vhem annotate cross songs.csv --group song --tags tags.csv --folds 5\n" },
    { "update", "add songs to models that were learned", "MODEL DATA --tags FILE", 2, classes_update, NULL,
      about_update, "  vhem annotate update tags.json more.csv --group song --tags more-tags.csv\n" },
    { 0 },
};

/* ---- options ------------------------------------------------------------------------------------------- */

static void init_args(classes_args *a, bool are_tags)
{
    memset(a, 0, sizeof *a);
    VHEM_INIT(VHEM_DATA_OPTIONS, &a->data);
    VHEM_INIT(VHEM_TRAIN_OPTIONS, &a->train);
    VHEM_INIT(VHEM_FIT_OPTIONS, &a->piece);
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &a->reduce);
    a->train.piece = &a->piece;
    a->train.reduce = &a->reduce;
    VHEM_INIT(VHEM_RANK_OPTIONS, &a->rank);
    a->are_tags = are_tags;
    a->output = "-";
    a->at = are_tags ? "5,10,15" : "3,5";
    a->folds = 5;
    a->rank.top = are_tags ? 10 : 1;
    a->train.K = are_tags ? 3 : 4;
}

static void free_args(classes_args *a)
{
    vhem_free(a->sequences);
    vhem_free(a->tag_list);
    vhem_free(a->classes);
}

static void add_training(cli_table *t, classes_args *a)
{
    const cli_change of_classes[] = {
        { .field = "estimator", .help = "how the model of a class is made: a method of vhem cluster" },
        { .field = "K",
          .name = "hmms",
          .letter = 'k',
          .shown = a->are_tags ? "3" : "4",
          .help = "models of a class, or fewer when it has fewer pieces" },
        { 0 },
    };
    const cli_change of_pieces[] = {
        { .field = "K",
          .name = "mixture",
          .least = 1,
          .shown = "1",
          .help = "models fitted to each piece of the data" },
        { .field = "restarts", .name = "fit-restarts", .shown = "4", .help = "starts of the fit of a piece" },
        { .field = "tol",
          .name = "fit-tol",
          .help = "such a fit ends when an iteration gains less, in nats per frame" },
        { .field = "max_iter", .name = "fit-max-iter", .help = "most iterations of such a fit" },
        { .field = "cov_floor",
          .help = "smallest variance of such a fit, as a share of the variance of the data; 0: none" },
        { .field = "prior", .name = "fit-prior", .help = "prior of such a fit, as --prior of vhem fit" },
        { .field = "init", .name = "fit-init", .help = "how such a fit starts" },
        { 0 },
    };
    const cli_change of_reduction[] = {
        { .field = "nv", .shown = "as the estimator has it" },
        { .field = "restarts",
          .name = "restarts",
          .letter = 'r',
          .shown = "5",
          .help = "starts of the model of a class" },
        { .field = "max_iter", .shown = "200" },
        { .field = "tol", .help = "a run ends when its objective changes by less than this share" },
        { 0 },
    };
    cli_add_fields(
        t, &(cli_fields){ VHEM_TRAIN_OPTIONS, &a->train, .without = "by_group store", .change = of_classes });
    cli_add_fields(
        t, &(cli_fields){
               VHEM_FIT_OPTIONS, &a->piece,
               .only = "model S M K restarts tol max_iter cov_floor prior init topology learn noise emission",
               .change = of_pieces });
    cli_add_cov(t, &a->cov, "model", "hmm");
    cli_add_fields(t, &(cli_fields){ VHEM_CLUSTER_OPTIONS, &a->reduce, .only = "tau nv restarts max_iter tol",
                                     .change = of_reduction });
}

static void add_judging(cli_table *t, classes_args *a)
{
    const cli_change change[] = { { .field = "top", .least = 1, .shown = a->are_tags ? "10" : "1" }, { 0 } };
    const cli_option at = { "at",    0,      OPT_TEXT,
                            "N[,N]", &a->at, .help = "numbers k of precision among the first k, P@k" };
    cli_add_fields(t, &(cli_fields){ VHEM_RANK_OPTIONS, &a->rank, .change = change });
    cli_add(t, (const cli_option[]){ at, { 0 } });
}

static void add_learning(cli_table *t, classes_args *a, const part *p)
{
    bool cross = p->work == classes_cross;
    const cli_option rows[] = {
        { "store", 0, OPT_TEXT, "FILE", &a->train.store, .shown = cross ? "none" : "MODEL.store",
          .help = p->work == classes_update
                      ? "the store of the training"
                      : "file that keeps each model as soon as it is fitted, to continue from after an "
                        "interruption" },
        { p->work == classes_train ? "no-store" : NULL, 0, OPT_FLAG, NULL, &a->no_store,
          .help = "keep nothing to continue from" },
        { 0 },
    };
    if (cross)
        cli_add(t, (const cli_option[]){ { "folds", 0, OPT_INT, "N", &a->folds, 2,
                                           .help = "parts of the examples, each held out once" },
                                         { "holdout", 0, OPT_REAL, "P", &a->holdout, .shown = "none",
                                           .help = "instead: hold out this share of them, once" },
                                         { 0 } });
    cli_add(t, rows);
    if (cross)
        add_judging(t, a);
    if (p->work != classes_update)
        add_training(t, a);
}

static void add_predicting(cli_table *t, classes_args *a, bool search)
{
    const cli_option all = { "all", 'a',     OPT_FLAG,
                             NULL,  &a->all, .help = "the posterior of every class, not just of the best" };
    const cli_option top = { "top",
                             'n',
                             OPT_INT,
                             "N",
                             &a->rank.top,
                             1,
                             .help = search ? "songs to show" : "tags to show for each song" };
    const cli_option rows[] = {
        a->are_tags ? top : all,
        { "fast", 0, OPT_INT, "B", &a->fast, 1, .shown = "none, score every model",
          .help = "look the models up in a tree and score only those in its B best branches" },
        { "check", 0, OPT_FLAG, NULL, &a->check, .help = "report how often --fast and a full search agree" },
        { 0 },
    };
    cli_add(t, rows);
}

static void add_options(cli_table *t, classes_args *a, const part *p)
{
    bool predict = p->work == classes_predict;
    if (p->work == classes_update)
        cli_add(t, (const cli_option[]){ { "output", 'o', OPT_TEXT, "MODEL", &a->output,
                                           .shown = "the MODEL itself", .help = "file to write, .json" },
                                         { 0 } });
    else
        cli_add_output(t, &a->output,
                       p->work == classes_train ? "file of models to write, .json"
                       : predict                ? "file to write the table to"
                                                : "file to write the tables to");
    if (predict) {
        add_predicting(t, a, p->n_arg == 3);
    } else if (p->work == classes_eval) {
        add_judging(t, a);
        cli_add(t, (const cli_option[]){ { "fast", 0, OPT_INT, "B", &a->fast, 1, .shown = "none",
                                           .help = "also judge a fast search that follows B branches" },
                                         { 0 } });
    } else {
        add_learning(t, a, p);
    }
    if (a->are_tags && !predict)
        cli_add(t, (const cli_option[]){
                       { "tags", 0, OPT_TEXT, "FILE", &a->tags,
                         .help = "table of the tags: names in the first column and a column for each tag, 0 "
                                 "and 1 below, or columns name,tag" },
                       { 0 } });
    cli_add_data(t, &a->data, "column with the song or other item that several sequences are fragments of");
}

/* ---- parts --------------------------------------------------------------------------------------------- */

/* The part that c->command names, as "classify train". */
static int run_part(cli *c, int argc, char **argv)
{
    CLI_CLEANUP(free_args) classes_args a;
    cli_table t = { 0 };
    bool are_tags = strncmp(c->command, "annotate", 8) == 0;
    const part *p = are_tags ? tag_parts : class_parts;
    while (strcmp(strchr(c->command, ' ') + 1, p->name) != 0)
        p++;
    init_args(&a, are_tags);
    a.output = p->work == classes_update ? NULL : a.output;
    add_options(&t, &a, p);
    const cli_usage usage = {
        .args = p->args,
        .n_min = p->n_arg,
        .n_max = p->n_arg,
        .table = &t,
        .first = p->first,
        .updates = p->work == classes_update,
        .about = p->about,
        .examples = p->examples,
    };
    a.usage = &usage;
    CLI_TRY(cli_begin(c, argc, argv, &usage));
    return p->work(c, &a);
}

static int dispatch(cli *c, int argc, char **argv, const char *about, const part *parts)
{
    cli_command list[8] = { 0 };
    for (int k = 0; parts[k].name; k++)
        list[k] = (cli_command){ parts[k].name, run_part, parts[k].help };
    return cli_dispatch(c, argc, argv, about, list);
}

int cmd_classify(cli *c, int argc, char **argv)
{
    return dispatch(c, argc, argv, "Learns a mixture of models for each class and classifies by Bayes' rule.",
                    class_parts);
}

int cmd_annotate(cli *c, int argc, char **argv)
{
    return dispatch(c, argc, argv,
                    "Learns a mixture of models for each tag; tags songs, and finds songs by tag.",
                    tag_parts);
}
