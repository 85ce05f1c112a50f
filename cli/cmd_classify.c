/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_classify.c - vhem classify: its parts, and predict. */
#include "classes.h"

#include <math.h>
#include <stdlib.h>

/* Predicts all things again without the fast search, and says what it cost: how many have the same best
 * class? */
static int say_cost(cli *c, const classes_args *a, const vhem_prediction *fast)
{
    vhem_prediction *full = NULL;
    int same = 0;
    int status = cli_status(c, vhem_classes_predict(c->ctx, a->classes, a->sequences, 0, &full));
    if (status != CLI_GO)
        return status;
    for (int i = 0; i < full->n; i++)
        same += classes_best(full, i, 0) == classes_best(fast, i, 0);
    cli_say(c, "fast: %.0f%% of the scores; %d of %d have the same answer without", 100 * fast->scored, same,
            full->n);
    vhem_prediction_free(full);
    return CLI_GO;
}

int classes_predict(cli *c, const classes_args *a, vhem_prediction **p)
{
    int status = cli_status(c, vhem_classes_predict(c->ctx, a->classes, a->sequences, a->fast, p));
    return status == CLI_GO && a->fast > 0 && a->check ? say_cost(c, a, *p) : status;
}

static void write_table(FILE *f, const classes_args *a, const vhem_prediction *p)
{
    fputs("name\tlabel\tclass\tposterior", f);
    for (int k = 0; a->all && k < p->C; k++) {
        fputc('\t', f);
        cli_put_cell(f, p->class_name[k]);
    }
    for (int i = 0; i < p->n; i++) {
        int best = classes_best(p, i, 0);
        const double *x = p->log_posterior + (size_t)i * (size_t)p->C;
        fputc('\n', f);
        cli_put_cell(f, p->name[i]);
        fputc('\t', f);
        cli_put_cell(f, p->label[i]);
        fputc('\t', f);
        cli_put_cell(f, p->class_name[best]);
        fputc('\t', f);
        cli_put_number(f, exp(x[best]));
        for (int k = 0; a->all && k < p->C; k++) {
            fputc('\t', f);
            cli_put_number(f, exp(x[k]));
        }
    }
    fputc('\n', f);
}

static json_t *prediction_json(const cli *c, const vhem_prediction *p)
{
    json_t *names = json_array(), *rows = json_array();
    for (int k = 0; k < p->C; k++)
        json_array_append_new(names, cli_json_text(p->class_name[k]));
    for (int i = 0; i < p->n; i++) {
        json_t *posterior = json_array();
        for (int k = 0; k < p->C; k++)
            json_array_append_new(posterior,
                                  cli_json_real(exp(p->log_posterior[(size_t)i * (size_t)p->C + (size_t)k])));
        json_array_append_new(rows, json_pack("{s:o, s:o, s:o, s:o, s:i}", "name", cli_json_text(p->name[i]),
                                              "label", cli_json_text(p->label[i]), "class",
                                              cli_json_text(p->class_name[classes_best(p, i, 0)]),
                                              "posterior", posterior, "fragments", p->fragments[i]));
    }
    return json_pack("{s:s, s:o, s:o, s:o, s:o}", "command", c->command, "model", cli_json_text(c->arg[0]),
                     "classes", names, "scored", cli_json_real(p->scored), "predicted", rows);
}

static int predict(cli *c, classes_args *a)
{
    vhem_prediction *p = NULL;
    cli_out out = { 0 };
    int status = cli_out_check(c, a->output);
    if (status == CLI_GO)
        status = classes_load(c, a);
    if (status == CLI_GO)
        status = classes_predict(c, a, &p);
    if (status == CLI_GO)
        status = cli_out_open(c, a->output, &out);
    if (status == CLI_GO) {
        if (c->json)
            cli_json_put(out.f, prediction_json(c, p));
        else
            write_table(out.f, a, p);
        status = cli_out_commit(c, &out);
        cli_out_close(&out);
    }
    vhem_prediction_free(p);
    return status == CLI_GO ? EXIT_DONE : status;
}

static int classify_predict(cli *c, int argc, char **argv)
{
    classes_args a;
    classes_args_init(&a, false);
    const cli_option options[] = {
        { "output", 'o', OPT_TEXT, "FILE", &a.output, 0, "-, standard output", "file to write the table to" },
        { "all", 'a', OPT_FLAG, NULL, &a.all, 0, NULL,
          "the posterior of every class, not of the best alone" },
        CLASSES_FAST_OPTIONS(&a),
        CLASSES_DATA_OPTIONS(&a),
        { 0 },
    };
    const cli_usage usage = {
        .args = "MODEL DATA",
        .n_min = 2,
        .n_max = 2,
        .options = options,
        .about =
            "Classifies the sequences of DATA by the models that 'vhem classify train' made, and prints a "
            "table: name, label, the class of largest posterior probability, and that probability.",
        .examples = "  vhem classify predict letters.json new.csv\n"
                    "  vhem classify predict letters.json new.csv --fast 2 --all -o posteriors.tsv\n",
    };
    return classes_run(c, argc, argv, &usage, &a, predict);
}

int cmd_classify(cli *c, int argc, char **argv)
{
    static const cli_subcommand table[] = {
        { "train", classes_train, "learn a model of every class" },
        { "predict", classify_predict, "the classes of sequences" },
        { "eval", classes_eval, "how well sequences of known class are classified" },
        { "cross", classes_cross, "the same by cross-validation, or on a share held out" },
        { "update", classes_update, "add examples to models that were learned" },
        { 0 },
    };
    return cli_dispatch(c, argc, argv,
                        "Learns a mixture of HMMs for each class and classifies by Bayes' rule.", table);
}
