/* SPDX-License-Identifier: BSD-3-Clause */
/* stats_write.c - see stats.h. */
#include "stats.h"
#include "vhem.h"
#include "vhem/analysis.h"

#include <math.h>
#include <string.h>

static void put_person(cli_row *r, const void *of, int64_t i)
{
    const stats_table *t = of;
    const vhem_statistics *s = t->s;
    char buf[32];
    cli_cell_text(r, r->json ? "name" : t->who, s->name[i]);
    cli_cell_text(r, "label", s->label[i]);
    cli_cell_int(r, "cluster", s->cluster[i]);
    if (r->json)
        json_object_set_new(r->json, "clustered", json_boolean(s->clustered[i]));
    else
        cli_cell_text(r, "clustered", s->clustered[i] ? "yes" : "no");
    cli_cell_int(r, "sequences", s->sequences[i]);
    cli_cell_int(r, "frames", s->frames[i]);
    for (int j = 0; j < s->K; j++)
        cli_cell_real_of(r, "loglik", cli_numbered("loglik_", j, buf), s->loglik[i * s->K + j]);
    for (int j = 0; j < s->K; j++)
        cli_cell_real_of(r, "scale", cli_numbered("scale_", j, buf), s->scale[i * s->K + j]);
    cli_cell_real(r, "uncertainty", s->uncertainty[i]);
    cli_cell_real(r, "entropy", s->entropy[i]);
    cli_cell_real(r, "share", s->share[i]);
    cli_cell_ids(r, t->sequences, NULL, s->name[i]);
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

static void put_test(cli_row *r, const void *of, int64_t k)
{
    static const vhem_test none = { .kind = "", .measure = "", .a = "", .b = "" };
    const vhem_statistics *s = ((const stats_table *)of)->s;
    const vhem_test *t = s->n_test > 0 ? &s->test[k] : &none; /* for the head */
    char buf[64], a[64], b[64];
    sides(t, a, b);
    cli_cell_text(r, "test", t->kind);
    cli_cell_text(r, "measure", t->b && !r->json ? column(t->measure, t->centre, buf) : t->measure);
    if (r->json)
        cli_cell_int(r, "centre", t->centre);
    else
        cli_cell_text(r, "persons", t->b ? "all" : cli_numbered("cluster ", t->centre, buf));
    cli_cell_text(r, "a", a);
    cli_cell_text(r, "b", b);
    cli_cell_int(r, "n_a", t->n_a);
    cli_cell_int(r, "n_b", t->n_b);
    cli_cell_real(r, "mean_a", t->mean_a);
    cli_cell_real(r, "mean_b", t->mean_b);
    cli_cell_real(r, "statistic", t->statistic);
    cli_cell_real(r, "df", t->freedom);
    cli_cell_real(r, "p", t->p);
    cli_cell_real(r, "p_greater", t->p_greater);
    cli_cell_real(r, "p_adjusted", t->p_adjusted);
    cli_cell_real(r, "d", t->d);
    cli_cell_real(r, "d_low", t->d_low);
    cli_cell_real(r, "d_high", t->d_high);
}

cli_rows stats_persons(const stats_table *t)
{
    return (cli_rows){ .n = t->s->n, .put = put_person, .of = t, .unknown = "" };
}

cli_rows stats_tests(const stats_table *t)
{
    return (cli_rows){ .n = t->s->n_test, .put = put_test, .of = t, .unknown = "" };
}

json_t *stats_json(const cli *c, const stats_table *t)
{
    const cli_rows persons = stats_persons(t), tests = stats_tests(t);
    return json_pack("{s:s, s:o, s:o, s:b, s:o, s:o, s:o}", "command", c->command, "clusters",
                     cli_json_text(c->arg[0]), "data", cli_json_text(c->arg[1]), "left_out", t->s->left_out,
                     "who", cli_json_text(t->who), "persons", cli_rows_json(&persons), "tests",
                     cli_rows_json(&tests));
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
