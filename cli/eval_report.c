/* SPDX-License-Identifier: BSD-3-Clause */
/* eval_report.c - tables of measures: values of one run; mean and standard deviation of several; the paired
 * t-test of one list of runs against another. */
#include "eval.h"
#include "vhem.h"
#include "vhem/analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *key, *name;
} measures[EVAL_MEASURES] = {
    { "rand", "Rand index" },
    { "adjusted_rand", "adjusted Rand index" },
    { "nmi", "mutual information" },
    { "purity", "purity" },
    { "expected_loglik", "expected log-likelihood" },
    { "loglik", "log-likelihood" },
    { "compactness", "PPK compactness" },
    { "modularity", "modularity" },
};

typedef struct { /* one row of the table */
    int level, measure;
    int64_t K;
    double mean[2], sd[2]; /* of a and b; sd is NaN for one run */
    double t, p;           /* NaN without b, or when the test cannot be made */
} row;

/* x [n]: the values of the runs; false when none is known. */
static bool summarise(const eval_runs *runs, int l, int m, double *x, double *mean, double *sd)
{
    double square = 0;
    *mean = 0;
    *sd = NAN;
    for (int r = 0; r < runs->n; r++) {
        x[r] = runs->run[r].value[l][m];
        *mean += x[r] / runs->n;
    }
    for (int r = 0; r < runs->n; r++)
        square += (x[r] - *mean) * (x[r] - *mean);
    if (runs->n > 1)
        *sd = sqrt(square / (runs->n - 1));
    return runs->n > 0 && !isnan(*mean);
}

static bool make_row(const eval_result *r, int l, int m, row *out)
{
    static const double unknown[CLI_MAX_ARGS];
    double a[CLI_MAX_ARGS], b[CLI_MAX_ARGS];
    *out =
        (row){ .level = l, .measure = m, .K = vhem_tree_level(r->a.run[0].tree, l)->Kr, .t = NAN, .p = NAN };
    memcpy(b, unknown, sizeof b);
    bool known = summarise(&r->a, l, m, a, &out->mean[0], &out->sd[0]);
    if (summarise(&r->b, l, m, b, &out->mean[1], &out->sd[1]) && known)
        vhem_paired_t(r->a.n, a, b, &out->t, &out->p);
    return known;
}

static void put_or_dash(FILE *f, const char *lead, double x, const char *format)
{
    fputs(lead, f);
    if (isnan(x))
        fputs("-", f);
    else
        fprintf(f, format, x);
}

/* Items of class k in cluster j. */
static int64_t count_of(const eval_result *r, int l, const int *number, int j, int k)
{
    const int *label = vhem_tree_level(r->a.run[0].tree, l)->base_label;
    int64_t count = 0;
    for (int64_t i = 0; i < r->Kb; i++)
        count += label[i] == j && number[i] == k;
    return count;
}

/* Rows are clusters, columns classes, of one run; number [Kb] of the class of each item.  False: no
 * memory. */
static bool put_confusion(FILE *f, const eval_result *r, int l, const int *number, int classes)
{
    int64_t K = vhem_tree_level(r->a.run[0].tree, l)->Kr;
    int *width = calloc((size_t)classes + 1, sizeof *width), k = 0;
    if (!width)
        return false;
    fprintf(f, "\nlevel %d: clusters by classes\ncluster", l + 1);
    for (int64_t i = 0; i < r->Kb; i++)
        if (number[i] == k) {
            width[k++] = (int)strlen(r->class_of[i]);
            fprintf(f, "  %s", r->class_of[i]);
        }
    fputc('\n', f);
    for (int64_t j = 0; j < K; j++) {
        fprintf(f, "%7lld", (long long)j);
        for (k = 0; k < classes; k++)
            fprintf(f, "  %*lld", width[k], (long long)count_of(r, l, number, j, k));
        fputc('\n', f);
    }
    free(width);
    return true;
}

static bool put_confusions(cli *c, FILE *f, const eval_result *r)
{
    int classes, *number = malloc(((size_t)r->Kb + 1) * sizeof *number);
    bool good = number && vhem_number_names(c->ctx, r->Kb, r->class_of, number, &classes) == VHEM_OK;
    for (int l = 0; good && classes > 0 && l < r->levels; l++)
        good = put_confusion(f, r, l, number, classes);
    free(number);
    return good;
}

bool eval_put_text(cli *c, FILE *f, const eval_result *r)
{
    row x;
    bool several = r->a.n > 1, pair = r->b.n > 0;
    fprintf(f, "%5s %8s  %-24s %14s", "level", "clusters", "measure", several ? "mean" : "value");
    fprintf(f, several ? " %10s" : "", "sd");
    if (pair)
        fprintf(f, " %14s %10s %8s %9s", "against", "sd", "t", "p");
    fputc('\n', f);
    for (int l = 0; l < r->levels; l++)
        for (int m = 0; m < EVAL_MEASURES; m++) {
            if (!make_row(r, l, m, &x))
                continue;
            fprintf(f, "%5d %8lld  %-24s", l + 1, (long long)x.K, measures[m].name);
            put_or_dash(f, " ", x.mean[0], "%14.6g");
            if (several)
                put_or_dash(f, " ", x.sd[0], "%10.3g");
            if (pair) {
                put_or_dash(f, " ", x.mean[1], "%14.6g");
                put_or_dash(f, " ", x.sd[1], "%10.3g");
                put_or_dash(f, isnan(x.t) ? "        " : " ", x.t, "%8.3f");
                put_or_dash(f, isnan(x.p) ? "         " : " ", x.p, "%9.2g");
            }
            fputc('\n', f);
        }
    return !r->class_of || several || pair || put_confusions(c, f, r);
}

static void put_cell(FILE *f, double x)
{
    fputc('\t', f);
    if (!isnan(x))
        cli_put_number(f, x);
}

void eval_put_tsv(FILE *f, const eval_result *r)
{
    row x;
    fputs("level\tclusters\tmeasure\truns\tmean\tsd", f);
    fputs(r->b.n ? "\tagainst_mean\tagainst_sd\tt\tp\n" : "\n", f);
    for (int l = 0; l < r->levels; l++)
        for (int m = 0; m < EVAL_MEASURES; m++) {
            if (!make_row(r, l, m, &x))
                continue;
            fprintf(f, "%d\t%lld\t%s\t%d", l + 1, (long long)x.K, measures[m].key, r->a.n);
            put_cell(f, x.mean[0]);
            put_cell(f, x.sd[0]);
            if (r->b.n) {
                put_cell(f, x.mean[1]);
                put_cell(f, x.sd[1]);
                put_cell(f, x.t);
                put_cell(f, x.p);
            }
            fputc('\n', f);
        }
}

/* {cluster: {class: count}}, as a list over clusters. */
static json_t *confusion_json(const eval_result *r, int l)
{
    const int *label = vhem_tree_level(r->a.run[0].tree, l)->base_label;
    json_t *all = json_array();
    for (int j = 0; j < vhem_tree_level(r->a.run[0].tree, l)->Kr; j++)
        json_array_append_new(all, json_object());
    for (int64_t i = 0; i < r->Kb; i++) {
        json_t *one = json_array_get(all, (size_t)label[i]);
        if (r->class_of[i][0])
            json_object_set_new(one, r->class_of[i],
                                json_integer(json_integer_value(json_object_get(one, r->class_of[i])) + 1));
    }
    return all;
}

static json_t *runs_json(const eval_runs *runs, int l, int m)
{
    json_t *all = json_array();
    for (int k = 0; k < runs->n; k++)
        json_array_append_new(all, cli_json_real(runs->run[k].value[l][m]));
    return all;
}

json_t *eval_json(const cli *c, const eval_result *r)
{
    json_t *levels = json_array();
    row x;
    for (int l = 0; l < r->levels; l++) {
        json_t *all = json_object(), *level = json_pack("{s:i, s:I}", "level", l + 1, "K",
                                                        (json_int_t)vhem_tree_level(r->a.run[0].tree, l)->Kr);
        for (int m = 0; m < EVAL_MEASURES; m++) {
            if (!make_row(r, l, m, &x))
                continue;
            json_t *one = json_pack("{s:o, s:o, s:o}", "mean", cli_json_real(x.mean[0]), "sd",
                                    cli_json_real(x.sd[0]), "runs", runs_json(&r->a, l, m));
            if (r->b.n)
                json_object_set_new(one, "against",
                                    json_pack("{s:o, s:o, s:o, s:o, s:o}", "mean", cli_json_real(x.mean[1]),
                                              "sd", cli_json_real(x.sd[1]), "runs", runs_json(&r->b, l, m),
                                              "t", cli_json_real(x.t), "p", cli_json_real(x.p)));
            json_object_set_new(all, measures[m].key, one);
        }
        json_object_set_new(level, "measures", all);
        if (r->class_of && r->a.n == 1)
            json_object_set_new(level, "confusion", confusion_json(r, l));
        json_array_append_new(levels, level);
    }
    return json_pack("{s:s, s:o, s:i, s:I, s:o}", "command", c->command, "input", cli_json_text(c->arg[0]),
                     "runs", r->a.n, "models", (json_int_t)r->Kb, "levels", levels);
}
