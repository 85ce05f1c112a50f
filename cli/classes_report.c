/* SPDX-License-Identifier: BSD-3-Clause */
/* classes_report.c - predictions judged: accuracy, confusion, precision and recall, rankings. */
#include "classes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int n_k;
    cli_list k;                     /* P@k */
    int n, C, right;                /* things that were judged, classes, things whose best class is right */
    int unknown;                    /* things of no class that is known */
    double *score;                  /* [n][C] */
    unsigned char *truth;           /* [n][C] */
    vhem_tag_measure *tag;          /* [C] */
    double *p_at;                   /* [C][n_k] */
    int *confusion;                 /* [C][C]  true, predicted */
    double fast_accuracy, fast_map; /* of the fast search, NaN without */
} judgement;

int classes_best(const vhem_prediction *p, int i, int rank)
{
    const double *x = p->log_posterior + (size_t)i * (size_t)p->C;
    for (int c = 0; c < p->C; c++) {
        int better = 0;
        for (int e = 0; e < p->C; e++)
            better += x[e] > x[c] || (x[e] == x[c] && e < c);
        if (better == rank)
            return c;
    }
    return 0;
}

static int class_number(const vhem_prediction *p, const char *name)
{
    for (int c = 0; c < p->C; c++)
        if (strcmp(p->class_name[c], name) == 0)
            return c;
    return -1;
}

unsigned char *classes_truth(const vhem_prediction *p, const vhem_tags *tags)
{
    unsigned char *truth = calloc((size_t)p->n * (size_t)p->C + 1, 1);
    for (int i = 0; truth && !tags && i < p->n; i++) {
        int c = class_number(p, p->label[i]);
        if (c >= 0)
            truth[(size_t)i * (size_t)p->C + (size_t)c] = 1;
    }
    for (int t = 0; truth && tags && t < tags->n; t++)
        for (int i = 0; i < p->n; i++)
            for (int e = 0; strcmp(p->name[i], tags->thing[t]) == 0 && e < tags->C; e++) {
                int c =
                    tags->has[(size_t)t * (size_t)tags->C + (size_t)e] ? class_number(p, tags->tag[e]) : -1;
                if (c >= 0)
                    truth[(size_t)i * (size_t)p->C + (size_t)c] = 1;
            }
    return truth;
}

/* Only what has a class that is known, and was held out, can be judged. */
static bool gather(const vhem_prediction *p, const unsigned char *truth, judgement *j)
{
    size_t C = (size_t)p->C, size = (size_t)p->n * C + 1;
    j->C = p->C;
    j->score = calloc(size, sizeof *j->score);
    j->truth = calloc(size, 1);
    j->tag = calloc(C, sizeof *j->tag);
    j->p_at = calloc(C * (size_t)j->n_k + 1, sizeof *j->p_at);
    j->confusion = calloc(C * C, sizeof *j->confusion);
    if (!truth || !j->score || !j->truth || !j->tag || !j->p_at || !j->confusion)
        return false;
    for (int i = 0; i < p->n; i++) {
        const unsigned char *has = truth + (size_t)i * C;
        if (p->fold && p->fold[i] < 0)
            continue;
        if (!memchr(has, 1, C)) {
            j->unknown++;
            continue;
        }
        memcpy(j->score + (size_t)j->n * C, p->log_posterior + (size_t)i * C, C * sizeof *j->score);
        memcpy(j->truth + (size_t)j->n * C, has, C);
        int best = classes_best(p, i, 0);
        for (int c = 0; c < p->C; c++)
            j->confusion[(size_t)c * C + (size_t)best] += has[c];
        j->right += has[best];
        j->n++;
    }
    return true;
}

static double mean(const judgement *j, size_t at)
{
    double sum = 0;
    int n = 0;
    for (int c = 0; c < j->C; c++)
        if (j->tag[c].n > 0) {
            sum += *(const double *)((const char *)&j->tag[c] + at);
            n++;
        }
    return n > 0 ? sum / n : NAN;
}

static double mean_p_at(const judgement *j, int k)
{
    double sum = 0;
    int n = 0;
    for (int c = 0; c < j->C; c++)
        if (j->tag[c].n > 0) {
            sum += j->p_at[(size_t)c * (size_t)j->n_k + (size_t)k];
            n++;
        }
    return n > 0 ? sum / n : NAN;
}

static double accuracy(const judgement *j)
{
    return j->n > 0 ? (double)j->right / j->n : NAN;
}

static json_t *summary_json(const judgement *j, bool tags, int top, double scored)
{
    json_t *all = json_pack("{s:i}", "judged", j->n);
    char key[32];
    if (tags)
        json_object_set_new(all, "top", json_integer(top));
    else
        json_object_set_new(all, "accuracy", cli_json_real(accuracy(j)));
    json_object_set_new(all, "precision", cli_json_real(mean(j, offsetof(vhem_tag_measure, precision))));
    json_object_set_new(all, "recall", cli_json_real(mean(j, offsetof(vhem_tag_measure, recall))));
    json_object_set_new(all, "F", cli_json_real(mean(j, offsetof(vhem_tag_measure, F))));
    json_object_set_new(all, "MAP", cli_json_real(mean(j, offsetof(vhem_tag_measure, average_precision))));
    for (int k = 0; k < j->n_k; k++) {
        snprintf(key, sizeof key, "P@%d", j->k.value[k]);
        json_object_set_new(all, key, cli_json_real(mean_p_at(j, k)));
    }
    if (!isnan(j->fast_map)) {
        if (!tags)
            json_object_set_new(all, "fast_accuracy", cli_json_real(j->fast_accuracy));
        json_object_set_new(all, "fast_MAP", cli_json_real(j->fast_map));
        json_object_set_new(all, "fast_scored", cli_json_real(scored));
    }
    return all;
}

static json_t *classes_json(const vhem_prediction *p, const judgement *j)
{
    json_t *list = json_array();
    char key[32];
    for (int c = 0; c < j->C; c++) {
        const vhem_tag_measure *m = &j->tag[c];
        json_t *one = json_pack(
            "{s:o, s:i, s:i, s:i, s:o, s:o, s:o, s:o}", "name", cli_json_text(p->class_name[c]), "n", m->n,
            "given", m->given, "right", m->right, "precision", cli_json_real(m->precision), "recall",
            cli_json_real(m->recall), "F", cli_json_real(m->F), "AP", cli_json_real(m->average_precision));
        for (int k = 0; k < j->n_k; k++) {
            snprintf(key, sizeof key, "P@%d", j->k.value[k]);
            json_object_set_new(one, key, cli_json_real(j->p_at[(size_t)c * (size_t)j->n_k + (size_t)k]));
        }
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *confusion_json(const judgement *j)
{
    json_t *rows = json_array();
    for (int c = 0; c < j->C; c++) {
        json_t *row = json_array();
        for (int e = 0; e < j->C; e++)
            json_array_append_new(row, json_integer(j->confusion[(size_t)c * (size_t)j->C + (size_t)e]));
        json_array_append_new(rows, row);
    }
    return rows;
}

/* Tables one below the other: the measures, the classes, who was taken for whom. */
static void write_tables(FILE *f, const vhem_prediction *p, const judgement *j, bool tags, json_t *summary)
{
    const char *key;
    json_t *v;
    fputs("measure\tvalue\n", f);
    json_object_foreach(summary, key, v)
    {
        fprintf(f, "%s\t", key);
        cli_put_number(f, json_is_number(v) ? json_number_value(v) : NAN);
        fputc('\n', f);
    }
    fprintf(f, "\n%s\tn\tgiven\tright\tprecision\trecall\tF\tAP", tags ? "tag" : "class");
    for (int k = 0; k < j->n_k; k++)
        fprintf(f, "\tP@%d", j->k.value[k]);
    for (int c = 0; c < j->C; c++) {
        const vhem_tag_measure *m = &j->tag[c];
        fputc('\n', f);
        cli_put_cell(f, p->class_name[c]);
        fprintf(f, "\t%d\t%d\t%d\t%.4f\t%.4f\t%.4f\t%.4f", m->n, m->given, m->right, m->precision, m->recall,
                m->F, m->average_precision);
        for (int k = 0; k < j->n_k; k++)
            fprintf(f, "\t%.4f", j->p_at[(size_t)c * (size_t)j->n_k + (size_t)k]);
    }
    fputs(tags ? "\n" : "\n\ntrue", f);
    for (int c = 0; !tags && c < j->C; c++) {
        fputc('\t', f);
        cli_put_cell(f, p->class_name[c]);
    }
    for (int c = 0; !tags && c < j->C; c++) {
        fputc('\n', f);
        cli_put_cell(f, p->class_name[c]);
        for (int e = 0; e < j->C; e++)
            fprintf(f, "\t%d", j->confusion[(size_t)c * (size_t)j->C + (size_t)e]);
    }
    fputs(tags ? "" : "\n", f);
}

static void judgement_free(judgement *j)
{
    free(j->score);
    free(j->truth);
    free(j->tag);
    free(j->p_at);
    free(j->confusion);
}

static int measure(cli *c, const classes_args *a, const vhem_prediction *p, judgement *j)
{
    unsigned char *truth = classes_truth(p, a->tag_list);
    int status = cli_read_list(c, "at", a->at, &j->k);
    j->n_k = j->k.n;
    const vhem_rank_options opt = { a->top, j->n_k, j->k.value, a->never_given };
    if (status == CLI_GO && !gather(p, truth, j))
        status = cli_fail(c, "out of memory");
    if (status == CLI_GO && j->n == 0 && j->unknown == 0)
        status = cli_fail(c, "nothing to judge: nothing was held out");
    if (status == CLI_GO && j->n == 0)
        status = cli_fail(c, "nothing to judge: no sequence has a %s that the models know",
                          a->tag_list ? "tag" : "label");
    if (status == CLI_GO)
        status = cli_status(c, vhem_rank(c->ctx, j->n, j->C, j->score, j->truth, &opt, j->tag, j->p_at));
    free(truth);
    return status;
}

int classes_judge(cli *c, const classes_args *a, const vhem_prediction *p, const vhem_prediction *fast)
{
    judgement *j = calloc(2, sizeof *j); /* a list of numbers inside is large for a stack */
    bool tags = classes_are_tags(c);
    cli_out out = { 0 };
    int status = j ? measure(c, a, p, &j[0]) : cli_fail(c, "out of memory");
    if (status == CLI_GO && fast)
        status = measure(c, a, fast, &j[1]);
    if (status == CLI_GO)
        status = cli_out_open(c, a->output, &out);
    if (status == CLI_GO) {
        size_t ap = offsetof(vhem_tag_measure, average_precision);
        j->fast_accuracy = fast ? accuracy(&j[1]) : NAN;
        j->fast_map = fast ? mean(&j[1], ap) : NAN;
        json_t *summary = summary_json(j, tags, a->top, fast ? fast->scored : 1);
        if (c->json)
            cli_json_put(out.f, json_pack("{s:s, s:O, s:o, s:o}", "command", c->command, "summary", summary,
                                          tags ? "tags" : "classes", classes_json(p, j), "confusion",
                                          tags ? json_null() : confusion_json(j)));
        else
            write_tables(out.f, p, j, tags, summary);
        json_decref(summary);
        status = cli_out_commit(c, &out);
        cli_out_close(&out);
        if (status == CLI_GO && j->unknown > 0)
            cli_say(c, "warning: %d of %d are not judged: they have no %s that the models know", j->unknown,
                    j->n + j->unknown, tags ? "tag" : "label");
        if (status == CLI_GO && tags)
            cli_say(c, "%d judged: mean average precision %.3f, F %.3f", j->n, mean(j, ap),
                    mean(j, offsetof(vhem_tag_measure, F)));
        else if (status == CLI_GO)
            cli_say(c, "%d judged: accuracy %.3f", j->n, accuracy(j));
        if (status == CLI_GO && fast)
            cli_say(c, "fast: %s %.3f, with %.0f%% of the scores",
                    tags ? "mean average precision" : "accuracy", tags ? j->fast_map : j->fast_accuracy,
                    100 * fast->scored);
    }
    for (int k = 0; j && k < 2; k++)
        judgement_free(&j[k]);
    free(j);
    return status == CLI_GO ? EXIT_DONE : status;
}
