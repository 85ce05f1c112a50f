/* SPDX-License-Identifier: BSD-3-Clause */
/* classes.c - see classes.h. */
#include "classes.h"
#include "vhem.h"
#include "vhem/classes.h"

#include <stdlib.h>
#include <string.h>

bool classes_are_tags(const cli *c)
{
    return strncmp(c->command, "annotate", 8) == 0;
}

/* ---- options ------------------------------------------------------------------------------------------- */

void classes_args_init(classes_args *a, bool annotate)
{
    memset(a, 0, sizeof *a);
    VHEM_INIT(VHEM_DATA_OPTIONS, &a->data);
    VHEM_INIT(VHEM_TRAIN_OPTIONS, &a->train);
    VHEM_INIT(VHEM_FIT_OPTIONS, &a->piece);
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &a->reduce);
    a->train.piece = &a->piece;
    a->train.reduce = &a->reduce;
    VHEM_INIT(VHEM_RANK_OPTIONS, &a->rank);
    a->output = "-";
    a->at = annotate ? "5,10,15" : "3,5";
    a->folds = 5;
    a->rank.top = annotate ? 10 : 1;
    a->train.K = annotate ? 3 : 4;
}

void classes_add_output(cli_table *t, classes_args *a, const char *help)
{
    cli_add(t, (const cli_option[]){ { "output", 'o', OPT_TEXT, "FILE", &a->output,
                                       .shown = "-, standard output", .help = help },
                                     { 0 } });
}

void classes_add_training(cli_table *t, classes_args *a, bool tags)
{
    const cli_change of_classes[] = {
        { .field = "estimator", .help = "how the model of a class is made: a method of vhem cluster" },
        { .field = "K",
          .name = "hmms",
          .letter = 'k',
          .shown = tags ? "3" : "4",
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
    cli_add(t, (const cli_option[]){ { "cov", 0, OPT_CHOICE, cli_cov_words, &a->cov, .shown = "diag",
                                       .help = "short for --emission gaussian-diag or gaussian-full",
                                       .methods = "hmm", .user = "model" },
                                     { 0 } });
    cli_add_fields(t, &(cli_fields){ VHEM_CLUSTER_OPTIONS, &a->reduce, .only = "tau nv restarts max_iter tol",
                                     .change = of_reduction });
}

void classes_add_judging(cli_table *t, classes_args *a)
{
    const cli_change change[] = { { .field = "top", .least = 1, .shown = a->rank.top == 1 ? "1" : "10" },
                                  { 0 } };
    cli_add_fields(t, &(cli_fields){ VHEM_RANK_OPTIONS, &a->rank, .change = change });
    cli_add(t, (const cli_option[]){ { "at", 0, OPT_TEXT, "N[,N]", &a->at,
                                       .help = "numbers k of precision among the first k, P@k" },
                                     { 0 } });
}

void classes_add_fast(cli_table *t, classes_args *a)
{
    cli_add(t, (const cli_option[]){
                   { "fast", 0, OPT_INT, "B", &a->fast, 1, .shown = "none, score every model",
                     .help = "look the models up in a tree and score only those in its B best branches" },
                   { "check", 0, OPT_FLAG, NULL, &a->check,
                     .help = "say how many answers of --fast are those of a full search" },
                   { 0 } });
}

void classes_add_data(cli_table *t, classes_args *a, bool tags)
{
    if (tags)
        cli_add(
            t,
            (const cli_option[]){
                { "tags", 0, OPT_TEXT, "FILE", &a->tags,
                  .help = "table of the tags: names in the first column and a column for each tag, 0 and 1 "
                          "below, or columns name,tag" },
                { 0 } });
    cli_add_data(t, &a->data, "column with the song or other item that several sequences are fragments of");
}

/* ---- work that several parts do ------------------------------------------------------------------------ */

int classes_run(cli *c, int argc, char **argv, const cli_usage *usage, classes_args *a, classes_do *work)
{
    a->usage = usage;
    int status = cli_begin(c, argc, argv, usage);
    if (status == CLI_GO)
        status = work(c, a);
    vhem_free(a->sequences);
    vhem_free(a->tag_list);
    vhem_free(a->classes);
    return status;
}

int classes_need_tags(cli *c, const classes_args *a)
{
    if (classes_are_tags(c) && !a->tags)
        return cli_misuse(c, "--tags FILE is needed: a table of the tags of each song");
    return CLI_GO;
}

int classes_load_examples(cli *c, const char *path, classes_args *a)
{
    vhem_class_view first = { 0 };
    if (a->classes)
        first = cli_class_at(a->classes, 0);
    int status = cli_load_data(c, path, &a->data, first.models, a->piece.emission, &a->sequences);
    if (status == CLI_GO && a->tags)
        status = cli_status(c, vhem_tags_load(c->ctx, a->tags, &a->tag_list));
    return status;
}

/* The models of all classes are compared with each other. */
static void tell_common(cli *c, const vhem_classes *classes)
{
    vhem_classes_facts facts;
    vhem_classes_info(classes, &facts);
    const vhem_models **sets = calloc((size_t)facts.C + 1, sizeof *sets);
    for (int k = 0; sets && k < facts.C; k++) {
        vhem_class_view view;
        if (vhem_classes_view(classes, k, &view) == VHEM_OK)
            sets[k] = view.models;
    }
    if (sets)
        cli_tell_common(c, facts.C, sets, false);
    free(sets);
}

int classes_load(cli *c, classes_args *a)
{
    int status = cli_check_streams(c, NULL);
    if (status == CLI_GO)
        status = cli_status(c, vhem_classes_load(c->ctx, c->arg[0], &a->classes));
    if (status == CLI_GO)
        tell_common(c, a->classes);
    return status == CLI_GO ? classes_load_examples(c, c->arg[1], a) : status;
}

int classes_stopped(cli *c, vhem_status st, const char *store)
{
    if (st != VHEM_ESTOPPED || !store)
        return cli_status(c, st);
    cli_fail(c, "interrupted; what is fitted is in %s, and the same command continues from there", store);
    return EXIT_STOPPED;
}

int classes_best(const vhem_prediction *p, int64_t i)
{
    const double *x = p->log_posterior + i * p->C;
    int best = 0;
    for (int c = 1; c < p->C; c++)
        best = x[c] > x[best] ? c : best;
    return best;
}

int classes_best_first(const void *a, const void *b)
{
    const classes_place *x = a, *y = b;
    if (x->score != y->score)
        return (x->score < y->score) - (x->score > y->score);
    return (x->at > y->at) - (x->at < y->at);
}

void classes_rank(const vhem_prediction *p, int64_t i, classes_place *place)
{
    for (int c = 0; c < p->C; c++)
        place[c] = (classes_place){ p->log_posterior[i * p->C + c], c };
    qsort(place, (size_t)p->C, sizeof *place, classes_best_first);
}

/* Predicts all items again without the fast search: how many have the same best class? */
static int say_cost(cli *c, const classes_args *a, const vhem_prediction *fast)
{
    vhem_prediction *full = NULL;
    int64_t same = 0;
    int status = cli_status(c, vhem_classes_predict(c->ctx, a->classes, a->sequences, 0, &full));
    if (status != CLI_GO)
        return status;
    for (int64_t i = 0; i < full->n; i++)
        same += classes_best(full, i) == classes_best(fast, i);
    cli_say(c, "fast: %.0f%% of the scores; %lld of %lld have the same answer without", 100 * fast->scored,
            (long long)same, (long long)full->n);
    vhem_free(full);
    return CLI_GO;
}

int classes_predict(cli *c, const classes_args *a, vhem_prediction **p)
{
    int status = cli_status(c, vhem_classes_predict(c->ctx, a->classes, a->sequences, a->fast, p));
    return status == CLI_GO && a->fast > 0 && a->check ? say_cost(c, a, *p) : status;
}
