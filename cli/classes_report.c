/* SPDX-License-Identifier: BSD-3-Clause */
/* classes_report.c - vhem classify|annotate eval, and how predictions are judged: tables of measures, classes
 * and confusions. */
#include "classes.h"
#include "vhem.h"
#include "vhem/classes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const vhem_prediction *p;
    const vhem_judgement *j, *fast; /* fast: NULL without */
    const int64_t *k;               /* [n_k]  of P@k */
    double scored;                  /* share of the scores that the fast search needed */
    bool tags;
    int top;
} verdict;

static json_t *summary_json(const verdict *v)
{
    const vhem_judgement *j = v->j;
    json_t *all = json_pack("{s:I}", "judged", (json_int_t)j->n);
    char key[32];
    if (v->tags)
        json_object_set_new(all, "top", json_integer(v->top));
    else
        json_object_set_new(all, "accuracy", cli_json_real(j->accuracy));
    json_object_set_new(all, "precision", cli_json_real(j->precision));
    json_object_set_new(all, "recall", cli_json_real(j->recall));
    json_object_set_new(all, "F", cli_json_real(j->F));
    json_object_set_new(all, "MAP", cli_json_real(j->MAP));
    for (int k = 0; k < j->n_k; k++) {
        snprintf(key, sizeof key, "P@%lld", (long long)v->k[k]);
        json_object_set_new(all, key, cli_json_real(j->p_at[k]));
    }
    if (v->fast) {
        if (!v->tags)
            json_object_set_new(all, "fast_accuracy", cli_json_real(v->fast->accuracy));
        json_object_set_new(all, "fast_MAP", cli_json_real(v->fast->MAP));
        json_object_set_new(all, "fast_scored", cli_json_real(v->scored));
    }
    return all;
}

static json_t *classes_json(const verdict *v)
{
    const vhem_judgement *j = v->j;
    json_t *list = json_array();
    char key[32];
    for (int c = 0; c < j->C; c++) {
        const vhem_tag_measure *m = &j->tag[c];
        json_t *one =
            json_pack("{s:o, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "name", cli_json_text(v->p->class_name[c]),
                      "n", (json_int_t)m->n, "given", (json_int_t)m->given, "right", (json_int_t)m->right,
                      "precision", cli_json_real(m->precision), "recall", cli_json_real(m->recall), "F",
                      cli_json_real(m->F), "AP", cli_json_real(m->average_precision));
        for (int k = 0; k < j->n_k; k++) {
            snprintf(key, sizeof key, "P@%lld", (long long)v->k[k]);
            json_object_set_new(one, key, cli_json_real(j->tag_p_at[c * j->n_k + k]));
        }
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *confusion_json(const vhem_judgement *j)
{
    json_t *rows = json_array();
    for (int c = 0; c < j->C; c++) {
        json_t *row = json_array();
        for (int e = 0; e < j->C; e++)
            json_array_append_new(row, json_integer(j->confusion[c * j->C + e]));
        json_array_append_new(rows, row);
    }
    return rows;
}

static void write_confusion(FILE *f, const verdict *v)
{
    fputs("\ntrue", f);
    for (int c = 0; c < v->j->C; c++) {
        fputc('\t', f);
        cli_put_cell(f, v->p->class_name[c]);
    }
    for (int c = 0; c < v->j->C; c++) {
        fputc('\n', f);
        cli_put_cell(f, v->p->class_name[c]);
        for (int e = 0; e < v->j->C; e++)
            fprintf(f, "\t%lld", (long long)v->j->confusion[c * v->j->C + e]);
    }
    fputc('\n', f);
}

/* Tables one below the other: the measures, the classes, and the confusions. */
static void write_tables(FILE *f, const verdict *v, json_t *summary)
{
    const vhem_judgement *j = v->j;
    const char *key;
    json_t *x;
    fputs("measure\tvalue\n", f);
    json_object_foreach(summary, key, x)
    {
        fprintf(f, "%s\t", key);
        cli_put_number(f, json_is_number(x) ? json_number_value(x) : NAN);
        fputc('\n', f);
    }
    fprintf(f, "\n%s\tn\tgiven\tright\tprecision\trecall\tF\tAP", v->tags ? "tag" : "class");
    for (int k = 0; k < j->n_k; k++)
        fprintf(f, "\tP@%lld", (long long)v->k[k]);
    for (int c = 0; c < j->C; c++) {
        const vhem_tag_measure *m = &j->tag[c];
        fputc('\n', f);
        cli_put_cell(f, v->p->class_name[c]);
        fprintf(f, "\t%lld\t%lld\t%lld\t%.4f\t%.4f\t%.4f\t%.4f", (long long)m->n, (long long)m->given,
                (long long)m->right, m->precision, m->recall, m->F, m->average_precision);
        for (int k = 0; k < j->n_k; k++)
            fprintf(f, "\t%.4f", j->tag_p_at[c * j->n_k + k]);
    }
    fputc('\n', f);
    if (!v->tags)
        write_confusion(f, v);
}

static void tell_verdict(cli *c, const verdict *v)
{
    const vhem_judgement *j = v->j;
    if (j->unknown > 0)
        cli_say(c, "warning: %lld of %lld are not judged: they have no %s that the models know",
                (long long)j->unknown, (long long)(j->n + j->unknown), v->tags ? "tag" : "label");
    if (v->tags)
        cli_say(c, "%lld judged: mean average precision %.3f, F %.3f", (long long)j->n, j->MAP, j->F);
    else
        cli_say(c, "%lld judged: accuracy %.3f", (long long)j->n, j->accuracy);
    if (v->fast)
        cli_say(c, "fast: %s %.3f, with %.0f%% of the scores",
                v->tags ? "mean average precision" : "accuracy", v->tags ? v->fast->MAP : v->fast->accuracy,
                100 * v->scored);
}

static int write_verdict(cli *c, const classes_args *a, const verdict *v)
{
    cli_out out = { 0 };
    int status = cli_out_open(c, a->output, &out);
    if (status != CLI_GO)
        return status;
    json_t *summary = summary_json(v);
    if (c->json)
        cli_json_put(out.f, json_pack("{s:s, s:O, s:o, s:o}", "command", c->command, "summary", summary,
                                      v->tags ? "tags" : "classes", classes_json(v), "confusion",
                                      v->tags ? json_null() : confusion_json(v->j)));
    else
        write_tables(out.f, v, summary);
    json_decref(summary);
    status = cli_out_commit(c, &out);
    cli_out_close(&out);
    if (status == CLI_GO)
        tell_verdict(c, v);
    return status;
}

int classes_judge(cli *c, const classes_args *a, const vhem_prediction *p, const vhem_prediction *fast)
{
    vhem_judgement *j = NULL, *of_fast = NULL;
    cli_list at;
    int status = cli_read_list(c, "at", a->at, &at);
    vhem_rank_options rank = a->rank;
    rank.n_k = at.n;
    rank.k = at.value;
    if (status == CLI_GO)
        status = cli_status(c, vhem_judge(c->ctx, p, a->tag_list, &rank, &j));
    if (status == CLI_GO && j->n == 0 && j->unknown == 0)
        status = cli_fail(c, "nothing to judge: nothing was held out");
    if (status == CLI_GO && j->n == 0)
        status = cli_fail(c, "nothing to judge: no sequence has a %s that the models know",
                          a->tag_list ? "tag" : "label");
    if (status == CLI_GO && fast)
        status = cli_status(c, vhem_judge(c->ctx, fast, a->tag_list, &rank, &of_fast));
    if (status == CLI_GO)
        status = write_verdict(
            c, a,
            &(verdict){ p, j, of_fast, at.value, fast ? fast->scored : 1, classes_are_tags(c), rank.top });
    vhem_free(j);
    vhem_free(of_fast);
    return status == CLI_GO ? EXIT_DONE : status;
}

/* ---- eval ---------------------------------------------------------------------------------------------- */

static int evaluate_models(cli *c, classes_args *a)
{
    vhem_prediction *p = NULL, *fast = NULL;
    int status = cli_out_check_table(c, a->output);
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
    vhem_free(p);
    vhem_free(fast);
    return status;
}

int classes_eval(cli *c, int argc, char **argv)
{
    classes_args a;
    cli_table t = { 0 };
    bool tags = classes_are_tags(c);
    classes_args_init(&a, tags);
    classes_add_output(&t, &a, "file to write the tables to");
    classes_add_judging(&t, &a);
    cli_add(&t, (const cli_option[]){ { "fast", 0, OPT_INT, "B", &a.fast, 1, .shown = "none",
                                        .help = "also judge a fast search that follows B branches" },
                                      { 0 } });
    classes_add_data(&t, &a, tags);
    const cli_usage usage = {
        .args = tags ? "MODEL DATA --tags FILE" : "MODEL DATA",
        .n_min = 2,
        .n_max = 2,
        .table = &t,
        .about =
            tags ? "Tags the songs of DATA and finds them by tag, and measures how well: precision, recall "
                   "and F of the --top tags of each song, average precision and P@k of the songs ranked by "
                   "tag."
                 : "Classifies the sequences of DATA, whose classes are known, and measures how well: "
                   "accuracy, precision, recall, P@k when ranked by class, and the confusion matrix.",
        .examples = tags ? "  vhem annotate eval tags.json new.csv --group song --tags new-tags.csv\n"
                         : "  vhem classify eval letters.json test.csv --label letter\n",
    };
    return classes_run(c, argc, argv, &usage, &a, evaluate_models);
}
