/* SPDX-License-Identifier: BSD-3-Clause */
/* classes_eval.c - vhem classify|annotate eval and cross. */
#include "classes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int classes_load_examples(cli *c, const char *path, classes_args *a)
{
    int status = cli_status(c, vhem_data_load(c->ctx, path, &a->data, &a->sequences));
    if (status == CLI_GO && a->tags)
        status = cli_status(c, vhem_tags_load(c->ctx, a->tags, &a->tag_list));
    return status;
}

int classes_load(cli *c, classes_args *a)
{
    int status = cli_check_streams(c, NULL);
    if (status == CLI_GO)
        status = cli_status(c, vhem_classes_load(c->ctx, c->arg[0], &a->classes));
    return status == CLI_GO ? classes_load_examples(c, c->arg[1], a) : status;
}

static int evaluate(cli *c, classes_args *a)
{
    vhem_prediction *p = NULL, *fast = NULL;
    int status = cli_out_check(c, a->output);
    if (status == CLI_GO)
        status = classes_need_tags(c, a);
    if (status == CLI_GO)
        status = classes_load(c, a);
    if (status == CLI_GO)
        status = cli_status(c, vhem_classes_predict(c->ctx, a->classes, a->sequences, 0, &p));
    if (status == CLI_GO && a->fast > 0)
        status = cli_status(c, vhem_classes_predict(c->ctx, a->classes, a->sequences, a->fast, &fast));
    if (status == CLI_GO)
        status = classes_judge(c, a, p, fast);
    vhem_prediction_free(p);
    vhem_prediction_free(fast);
    return status;
}

int classes_eval(cli *c, int argc, char **argv)
{
    classes_args a;
    bool tags = classes_are_tags(c);
    classes_args_init(&a, tags);
    const cli_option tags_row = CLASSES_TAGS_OPTION(&a), none = { 0 };
    const cli_option options[] = {
        { "output", 'o', OPT_TEXT, "FILE", &a.output, 0, "-, standard output",
          "file to write the tables to" },
        CLASSES_JUDGE_OPTIONS(&a),
        { "fast", 0, OPT_INT, "B", &a.fast, 1, "none",
          "judge a fast search that follows B branches as well" },
        CLASSES_DATA_OPTIONS(&a),
        tags ? tags_row : none,
        { 0 },
    };
    const cli_usage usage = {
        .args = tags ? "MODEL DATA --tags FILE" : "MODEL DATA",
        .n_min = 2,
        .n_max = 2,
        .options = options,
        .about =
            tags ? "Tags the songs of DATA and finds them by tag, and says how well: precision, recall and F "
                   "of the --top tags of each song, average precision and P@k of the songs ranked by tag."
                 : "Classifies the sequences of DATA, whose classes are known, and says how well: accuracy, "
                   "precision, recall, P@k when ranked by class, and who was taken for whom.",
        .examples = tags ? "  vhem annotate eval tags.json new.csv --group song --tags new-tags.csv\n"
                         : "  vhem classify eval letters.json test.csv --label letter\n",
    };
    return classes_run(c, argc, argv, &usage, &a, evaluate);
}

static int cross(cli *c, classes_args *a)
{
    vhem_prediction *p = NULL;
    int status = cli_out_check(c, a->output);
    if (status == CLI_GO)
        status = classes_need_tags(c, a);
    if (status == CLI_GO && a->folds < 2 && !(a->holdout > 0 && a->holdout < 1))
        status = cli_misuse(c, "--folds needs at least 2, or --holdout a share between 0 and 1");
    if (status == CLI_GO)
        status = classes_load_examples(c, c->arg[0], a);
    if (status != CLI_GO)
        return status;
    classes_settle(a, a->store);
    vhem_status st = vhem_crossvalidate(c->ctx, a->sequences, a->tag_list, &a->train,
                                        a->holdout > 0 ? 0 : a->folds, a->holdout, &p);
    status = classes_stopped(c, st, a->store);
    if (status == CLI_GO)
        status = classes_judge(c, a, p, NULL);
    vhem_prediction_free(p);
    return status;
}

int classes_cross(cli *c, int argc, char **argv)
{
    classes_args a;
    bool tags = classes_are_tags(c);
    classes_args_init(&a, tags);
    const cli_option tags_row = CLASSES_TAGS_OPTION(&a), none = { 0 };
    const cli_option options[] = {
        { "output", 'o', OPT_TEXT, "FILE", &a.output, 0, "-, standard output",
          "file to write the tables to" },
        { "folds", 0, OPT_INT, "N", &a.folds, 2, NULL, "parts of the examples, each held out once" },
        { "holdout", 0, OPT_REAL, "P", &a.holdout, 0, "none", "instead: hold out this share of them, once" },
        CLASSES_STORE_OPTION(&a, "none"),
        CLASSES_JUDGE_OPTIONS(&a),
        CLASSES_TRAIN_OPTIONS(&a),
        CLASSES_DATA_OPTIONS(&a),
        tags ? tags_row : none,
        { 0 },
    };
    const cli_usage usage = {
        .args = tags ? "DATA --tags FILE" : "DATA --label COL",
        .n_min = 1,
        .n_max = 1,
        .options = options,
        .about =
            "Cross-validation: learns from some of the examples in DATA and judges by the others, as eval "
            "does, until each was judged once. Which are held out together follows from --seed.",
        .examples = tags ? "  vhem annotate cross songs.csv --group song --tags tags.csv --folds 5\n"
                         : "  vhem classify cross letters.csv --label letter --folds 5\n"
                           "  vhem classify cross letters.csv --label letter --holdout 0.5 --seed 3\n",
    };
    return classes_run(c, argc, argv, &usage, &a, cross);
}
