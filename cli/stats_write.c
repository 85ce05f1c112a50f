/* SPDX-License-Identifier: BSD-3-Clause */
/* stats_write.c - see stats.h. */
#include "stats.h"
#include "vhem.h"
#include "vhem/analysis.h"

#include <math.h>
#include <string.h>

static void put_real(FILE *f, double x)
{
    fputc('\t', f);
    if (isfinite(x))
        cli_put_number(f, x);
}

void stats_put_persons(FILE *f, const vhem_statistics *s, const stats_who *who)
{
    cli_put_cell(f, who->name);
    fputs("\tlabel\tcluster\tclustered\tsequences\tframes", f);
    for (int j = 0; j < s->K; j++)
        fprintf(f, "\tloglik_%d", j);
    for (int j = 0; j < s->K; j++)
        fprintf(f, "\tscale_%d", j);
    fputs("\tuncertainty\tentropy\tshare", f);
    cli_put_id_names(f, who->sequences, NULL);
    fputc('\n', f);
    for (int64_t i = 0; i < s->n; i++) {
        cli_put_cell(f, s->name[i]);
        fputc('\t', f);
        cli_put_cell(f, s->label[i]);
        fprintf(f, "\t%d\t%s\t%lld\t%lld", s->cluster[i], s->clustered[i] ? "yes" : "no",
                (long long)s->sequences[i], (long long)s->frames[i]);
        for (int j = 0; j < s->K; j++)
            put_real(f, s->loglik[i * s->K + j]);
        for (int j = 0; j < s->K; j++)
            put_real(f, s->scale[i * s->K + j]);
        put_real(f, s->uncertainty[i]);
        put_real(f, s->entropy[i]);
        put_real(f, s->share[i]);
        cli_put_ids(f, who->sequences, s->name[i]);
        fputc('\n', f);
    }
}

/* "loglik_0", "entropy": the column of the persons' table. */
static const char *column(const char *measure, int centre, char buf[32])
{
    snprintf(buf, 32, centre < 0 ? "%s" : "%s_%d", measure, centre);
    return buf;
}

/* What stands on the two sides of a test. */
static void sides(const vhem_test *t, char a[64], char b[64])
{
    if (t->b) {
        snprintf(a, 64, "%s", t->a);
        snprintf(b, 64, "%s", t->b);
    } else {
        snprintf(a, 64, "centre %d", t->centre);
        snprintf(b, 64, "centre %d", t->other);
    }
}

void stats_put_tests(FILE *f, const vhem_statistics *s)
{
    char buf[32], a[64], b[64], who[64];
    fputs("test\tmeasure\tpersons\ta\tb\tn_a\tn_b\tmean_a\tmean_b\tstatistic\tdf\tp\tp_greater\t"
          "p_adjusted\td\td_low\td_high\n",
          f);
    for (int k = 0; k < s->n_test; k++) {
        const vhem_test *t = &s->test[k];
        sides(t, a, b);
        snprintf(who, sizeof who, t->b ? "all" : "cluster %d", t->centre);
        fprintf(f, "%s\t%s\t%s\t", t->kind, t->b ? column(t->measure, t->centre, buf) : t->measure, who);
        cli_put_cell(f, a);
        fputc('\t', f);
        cli_put_cell(f, b);
        fprintf(f, "\t%lld\t%lld", (long long)t->n_a, (long long)t->n_b);
        const double all[] = { t->mean_a,    t->mean_b,     t->statistic, t->freedom, t->p,
                               t->p_greater, t->p_adjusted, t->d,         t->d_low,   t->d_high };
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            put_real(f, all[i]);
        fputc('\n', f);
    }
}

static json_t *reals(const double *x, int n)
{
    json_t *list = json_array();
    for (int k = 0; k < n; k++)
        json_array_append_new(list, cli_json_real(x[k]));
    return list;
}

static json_t *test_json(const vhem_test *t)
{
    char a[64], b[64];
    sides(t, a, b);
    json_t *row = json_pack("{s:s, s:s, s:i, s:o, s:o, s:I, s:I}", "test", t->kind, "measure", t->measure,
                            "centre", t->centre, "a", cli_json_text(a), "b", cli_json_text(b), "n_a",
                            (json_int_t)t->n_a, "n_b", (json_int_t)t->n_b);
    const struct {
        const char *name;
        double value;
    } all[] = { { "mean_a", t->mean_a },
                { "mean_b", t->mean_b },
                { "statistic", t->statistic },
                { "df", t->freedom },
                { "p", t->p },
                { "p_greater", t->p_greater },
                { "p_adjusted", t->p_adjusted },
                { "d", t->d },
                { "d_low", t->d_low },
                { "d_high", t->d_high } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        json_object_set_new(row, all[i].name, cli_json_real(all[i].value));
    return row;
}

json_t *stats_json(const cli *c, const vhem_statistics *s, const stats_who *who)
{
    json_t *persons = json_array(), *tests = json_array();
    for (int64_t i = 0; i < s->n; i++) {
        json_t *row = json_pack(
            "{s:o, s:o, s:i, s:b, s:I, s:I, s:o, s:o, s:o, s:o}", "name", cli_json_text(s->name[i]), "label",
            cli_json_text(s->label[i]), "cluster", s->cluster[i], "clustered", s->clustered[i], "sequences",
            (json_int_t)s->sequences[i], "frames", (json_int_t)s->frames[i], "loglik",
            reals(s->loglik + i * s->K, s->K), "scale", reals(s->scale + i * s->K, s->K), "uncertainty",
            cli_json_real(s->uncertainty[i]), "entropy", cli_json_real(s->entropy[i]));
        json_object_set_new(row, "share", cli_json_real(s->share[i]));
        cli_json_ids(row, who->sequences, s->name[i]);
        json_array_append_new(persons, row);
    }
    for (int k = 0; k < s->n_test; k++)
        json_array_append_new(tests, test_json(&s->test[k]));
    return json_pack("{s:s, s:o, s:o, s:b, s:o, s:o, s:o}", "command", c->command, "clusters",
                     cli_json_text(c->arg[0]), "data", cli_json_text(c->arg[1]), "left_out", s->left_out,
                     "who", cli_json_text(who->name), "persons", persons, "tests", tests);
}

static const double CLEAR = 0.05; /* of p, corrected where there is more than one test */

static void say_paired(cli *c, const vhem_test *t)
{
    double p = isfinite(t->p_adjusted) ? t->p_adjusted : t->p;
    if (!isfinite(t->p))
        cli_say(c, "cluster %d: %lld is too few to test centre %d against centre %d", t->centre,
                (long long)t->n_a, t->centre, t->other);
    else if (p > CLEAR)
        cli_say(
            c,
            "cluster %d: no clear difference between centre %d and centre %d, t(%.0f) = %.2f, p = %.2g%s, "
            "d = %.2f [%.2f, %.2f]",
            t->centre, t->centre, t->other, t->freedom, t->statistic, p, p > t->p ? " (corrected)" : "", t->d,
            t->d_low, t->d_high);
    else
        cli_say(
            c,
            "cluster %d: centre %d fits %s than centre %d, t(%.0f) = %.2f, p = %.2g, d = %.2f [%.2f, %.2f]",
            t->centre, t->centre, t->statistic > 0 ? "better" : "worse", t->other, t->freedom, t->statistic,
            t->p, t->d, t->d_low, t->d_high);
}

void stats_check_persons(cli *c, const vhem_statistics *s, const vhem_tree *tree, const vhem_data *data,
                         const char *group)
{
    const vhem_clustering *items = vhem_tree_level(tree, 0);
    const char *column;
    for (int64_t i = 0; i < s->n; i++)
        if (s->clustered[i])
            return;
    if (!group && cli_ids_have(data, items->Kb, items->name, &column))
        cli_say(c,
                "warning: %lld sequences were tested as separate persons, but what was clustered has several "
                "of them; did you mean --group %s?",
                (long long)s->n, column ? column : "COLUMN, the one with the persons");
}

/* How far the tests between centres can be believed. */
static void say_who(cli *c, const vhem_statistics *s)
{
    int64_t seen = 0, other = 0;
    for (int64_t i = 0; i < s->n; i++) {
        seen += s->clustered[i] == 1;
        other += s->clustered[i] > 1;
    }
    if (s->left_out && seen + other > 0)
        cli_say(c, "each was scored under centres made without its own model; cluster membership still comes "
                   "from the full clustering");
    else if (seen > 0)
        cli_say(
            c,
            "warning: %lld of %lld were clustered, so their centres were made to fit them: the tests between "
            "centres are circular and their p too small; use --leave-out, or sequences that no model was "
            "fitted to",
            (long long)seen, (long long)s->n);
    else if (other > 0)
        cli_say(c,
                "the models of %lld of %lld were clustered, fitted to other data than these: the tests "
                "between centres are not circular",
                (long long)other, (long long)s->n);
    else
        cli_say(
            c,
            "warning: none of these was clustered: each is in the cluster whose centre fits it best, so the "
            "tests between centres only say how clear that choice is; labels can be tested without this "
            "circle");
}

void stats_say(cli *c, const vhem_statistics *s)
{
    for (int k = 0; k < s->n_test && s->n_test <= 12; k++)
        if (!s->test[k].b)
            say_paired(c, &s->test[k]);
    say_who(c, s);
}
