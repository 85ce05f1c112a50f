/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_classify.c - vhem classify: its parts, and predict. */
#include "classes.h"
#include "vhem.h"
#include "vhem/classes.h"

#include <math.h>
#include <stdlib.h>

static void write_table(FILE *f, const classes_args *a, const vhem_prediction *p)
{
    fputs("name\tlabel\tclass\tposterior", f);
    for (int k = 0; a->all && k < p->C; k++) {
        fputc('\t', f);
        cli_put_cell(f, p->class_name[k]);
    }
    for (int64_t i = 0; i < p->n; i++) {
        int best = classes_best(p, i);
        const double *x = p->log_posterior + i * p->C;
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
    for (int64_t i = 0; i < p->n; i++) {
        json_t *posterior = json_array();
        for (int k = 0; k < p->C; k++)
            json_array_append_new(posterior, cli_json_real(exp(p->log_posterior[i * p->C + k])));
        json_array_append_new(rows, json_pack("{s:o, s:o, s:o, s:o, s:I}", "name", cli_json_text(p->name[i]),
                                              "label", cli_json_text(p->label[i]), "class",
                                              cli_json_text(p->class_name[classes_best(p, i)]), "posterior",
                                              posterior, "fragments", (json_int_t)p->sequences[i]));
    }
    return json_pack("{s:s, s:o, s:o, s:o, s:o}", "command", c->command, "model", cli_json_text(c->arg[0]),
                     "classes", names, "scored", cli_json_real(p->scored), "predicted", rows);
}

static int predict_classes(cli *c, classes_args *a)
{
    vhem_prediction *p = NULL;
    cli_out out = { 0 };
    int status = cli_out_check_table(c, a->output);
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
    vhem_free(p);
    return status == CLI_GO ? EXIT_DONE : status;
}

static int classify_predict(cli *c, int argc, char **argv)
{
    classes_args a;
    cli_table t = { 0 };
    classes_args_init(&a, false);
    classes_add_output(&t, &a, "file to write the table to");
    cli_add(&t, (const cli_option[]){ { "all", 'a', OPT_FLAG, NULL, &a.all,
                                        .help = "the posterior of every class, not just of the best" },
                                      { 0 } });
    classes_add_fast(&t, &a);
    classes_add_data(&t, &a, false);
    const cli_usage usage = {
        .args = "MODEL DATA",
        .n_min = 2,
        .n_max = 2,
        .table = &t,
        .about =
            "Classifies the sequences of DATA by the models of 'vhem classify train', and prints a table: "
            "name, label, the class with the largest posterior probability, and that probability.",
        .examples = "  vhem classify predict letters.json new.csv\n"
                    "  vhem classify predict letters.json new.csv --fast 2 --all -o posteriors.tsv\n",
    };
    return classes_run(c, argc, argv, &usage, &a, predict_classes);
}

int cmd_classify(cli *c, int argc, char **argv)
{
    static const cli_command parts[] = {
        { "train", classes_train, "learn a model of every class" },
        { "predict", classify_predict, "the classes of sequences" },
        { "eval", classes_eval, "how well sequences of known class are classified" },
        { "cross", classes_cross, "the same by cross-validation, or on a share held out" },
        { "update", classes_update, "add examples to models that were learned" },
        { 0 },
    };
    return cli_dispatch(c, argc, argv,
                        "Learns a mixture of models for each class and classifies by Bayes' rule.", parts);
}
