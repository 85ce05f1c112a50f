/* SPDX-License-Identifier: BSD-3-Clause */
/* classes_report.c - vhem classify|annotate predict, search and eval.
 *
 *   1. predictions, of classes and of tags
 *   2. how they are judged: tables of measures, classes and confusions */
#include "classes.h"
#include "vhem.h"
#include "vhem/classes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- 1. predictions ------------------------------------------------------------------------------------ */

typedef struct { /* in a ranking */
    double score;
    int64_t at; /* which class, or song */
} place;

typedef struct {
    const vhem_prediction *p;
    int all, top;
    int tag;     /* that songs are searched by; -1: none */
    place *rank; /* [C] of the classes of one item; [n] of all songs by the tag */
} found;

static int best_class(const vhem_prediction *p, int64_t i)
{
    const double *x = p->log_posterior + i * p->C;
    int best = 0;
    for (int c = 1; c < p->C; c++)
        best = x[c] > x[best] ? c : best;
    return best;
}

static int best_first(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->score != y->score)
        return (x->score < y->score) - (x->score > y->score);
    return (x->at > y->at) - (x->at < y->at);
}

static void rank_classes(const vhem_prediction *p, int64_t i, place *list)
{
    for (int c = 0; c < p->C; c++)
        list[c] = (place){ p->log_posterior[i * p->C + c], c };
    qsort(list, (size_t)p->C, sizeof *list, best_first);
}

/* Songs by the posterior of tag k. */
static void rank_songs(const vhem_prediction *p, int k, place *list)
{
    for (int64_t i = 0; i < p->n; i++)
        list[i] = (place){ p->log_posterior[i * p->C + k], i };
    qsort(list, (size_t)p->n, sizeof *list, best_first);
}

static void put_class(cli_row *r, const void *of, int64_t i)
{
    const found *s = of;
    const vhem_prediction *p = s->p;
    const double *x = p->log_posterior + i * p->C;
    int best = best_class(p, i);
    cli_cell_text(r, "name", p->name[i]);
    cli_cell_text(r, "label", p->label[i]);
    cli_cell_text(r, "class", p->class_name[best]);
    if (!r->json)
        cli_cell_real(r, "posterior", exp(x[best]));
    for (int k = 0; (s->all || r->json) && k < p->C; k++)
        cli_cell_real_of(r, "posterior", p->class_name[k], exp(x[k]));
    if (r->json)
        cli_cell_int(r, "fragments", p->sequences[i]);
}

/* A row for each song and each of its tags, best first. */
static void put_tag(cli_row *r, const void *of, int64_t at)
{
    const found *s = of;
    const vhem_prediction *p = s->p;
    int64_t i = at / s->top, rank = at % s->top;
    if (rank == 0)
        rank_classes(p, i, s->rank);
    cli_cell_text(r, "name", p->name[i]);
    cli_cell_int(r, "rank", rank + 1);
    cli_cell_text(r, "tag", p->class_name[s->rank[rank].at]);
    cli_cell_real(r, "posterior", exp(s->rank[rank].score));
}

static void put_song(cli_row *r, const void *of, int64_t rank)
{
    const found *s = of;
    if (!r->json)
        cli_cell_int(r, "rank", rank + 1);
    cli_cell_text(r, "name", s->p->name[s->rank[rank].at]);
    cli_cell_real(r, "log_posterior", s->rank[rank].score);
}

static json_t *tags_json(const found *s)
{
    const vhem_prediction *p = s->p;
    json_t *songs = json_array();
    for (int64_t i = 0; i < p->n; i++) {
        rank_classes(p, i, s->rank);
        json_t *tags = json_array(), *smn = json_object();
        for (int r = 0; r < s->top; r++)
            json_array_append_new(tags, cli_json_text(p->class_name[s->rank[r].at]));
        for (int k = 0; k < p->C; k++)
            json_object_set_new(smn, p->class_name[k], cli_json_real(exp(p->log_posterior[i * p->C + k])));
        json_array_append_new(songs, json_pack("{s:o, s:I, s:o, s:o}", "name", cli_json_text(p->name[i]),
                                               "fragments", (json_int_t)p->sequences[i], "tags", tags,
                                               "multinomial", smn));
    }
    return songs;
}

static json_t *found_json(const cli *c, const classes_args *a, const found *s)
{
    const vhem_prediction *p = s->p;
    if (s->tag >= 0)
        return json_pack("{s:s, s:s, s:o}", "command", c->command, "tag", p->class_name[s->tag], "songs",
                         cli_rows_json(&(cli_rows){ .n = s->top, .put = put_song, .of = s }));
    json_t *all = json_pack("{s:s, s:o}", "command", c->command, "model", cli_json_text(c->arg[0]));
    if (!a->are_tags) {
        json_t *names = json_array();
        for (int k = 0; k < p->C; k++)
            json_array_append_new(names, cli_json_text(p->class_name[k]));
        json_object_set_new(all, "classes", names);
    }
    json_object_set_new(all, "scored", cli_json_real(p->scored));
    json_object_set_new(all, a->are_tags ? "songs" : "predicted",
                        a->are_tags ? tags_json(s)
                                    : cli_rows_json(&(cli_rows){ .n = p->n, .put = put_class, .of = s }));
    return all;
}

/* Number of the tag; a wrong word is answered by the nearest. */
static int find_tag(cli *c, const classes_args *a, const char *tag, int *out)
{
    int C = cli_classes_facts(a->classes).C;
    CLI_AUTOFREE const char **names = malloc((size_t)C * sizeof *names);
    const char *near = NULL;
    *out = -1;
    for (int k = 0; names && k < C; k++) {
        vhem_class_view v = cli_class_at(a->classes, k);
        names[k] = v.name;
        if (strcmp(v.name, tag) == 0)
            *out = k;
    }
    if (names && *out < 0)
        near = cli_nearest(tag, names, C);
    if (*out >= 0)
        return CLI_GO;
    char word[CLI_WORD];
    return cli_fail(c, "%s has no tag '%s'%s%s%s; 'vhem info %s' lists its %d", c->arg[0], tag,
                    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "",
                    cli_word(c->arg[0], word, sizeof word), C);
}

/* Predicts all items again without the fast search: how many have the same best class? */
static int say_cost(cli *c, const classes_args *a, const vhem_prediction *fast)
{
    CLI_OWN vhem_prediction *full = NULL;
    int64_t same = 0;
    CLI_TRY(cli_status(c, vhem_classes_predict(c->ctx, a->classes, a->sequences, 0, &full)));
    for (int64_t i = 0; i < full->n; i++)
        same += best_class(full, i) == best_class(fast, i);
    cli_say(c, "fast: %.0f%% of the scores; %lld of %lld have the same answer without", 100 * fast->scored,
            (long long)same, (long long)full->n);
    return CLI_GO;
}

int classes_predict(cli *c, classes_args *a)
{
    CLI_OWN vhem_prediction *p = NULL;
    int tag = -1;
    CLI_TRY(cli_out_check_table(c, a->output));
    CLI_TRY(classes_load(c, a));
    if (c->n_arg > 2)
        CLI_TRY(find_tag(c, a, c->arg[2], &tag));
    CLI_TRY(cli_status(c, vhem_classes_predict(c->ctx, a->classes, a->sequences, a->fast, &p)));
    if (a->fast > 0 && a->check)
        CLI_TRY(say_cost(c, a, p));
    int64_t most = tag < 0 ? p->C : p->n;
    CLI_AUTOFREE place *rank = calloc((size_t)most + 1, sizeof *rank);
    CLI_CHECK(rank, "out of memory");
    const found s = { p, a->all, a->rank.top < most ? a->rank.top : (int)most, tag, rank };
    const cli_rows songs = { .n = s.top, .put = put_song, .of = &s },
                   tags = { .n = p->n * s.top, .put = put_tag, .of = &s },
                   classes = { .n = p->n, .put = put_class, .of = &s };
    if (tag >= 0)
        rank_songs(p, tag, rank);
    CLI_TRY(cli_write_table(c, a->output, c->json ? found_json(c, a, &s) : NULL,
                            tag >= 0      ? &songs
                            : a->are_tags ? &tags
                                          : &classes));
    return EXIT_DONE;
}

/* ---- 2. judging ---------------------------------------------------------------------------------------- */

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

static void put_measures(cli_row *r, const void *of, int64_t c)
{
    const verdict *v = of;
    const vhem_tag_measure *m = &v->j->tag[c];
    char key[32];
    cli_cell_text(r, r->json ? "name" : v->tags ? "tag" : "class", v->p->class_name[c]);
    cli_cell_int(r, "n", m->n);
    cli_cell_int(r, "given", m->given);
    cli_cell_int(r, "right", m->right);
    cli_cell_fixed(r, "precision", m->precision, 4);
    cli_cell_fixed(r, "recall", m->recall, 4);
    cli_cell_fixed(r, "F", m->F, 4);
    cli_cell_fixed(r, "AP", m->average_precision, 4);
    for (int k = 0; k < v->j->n_k; k++)
        cli_cell_fixed(r, cli_numbered("P@", v->k[k], key), v->j->tag_p_at[c * v->j->n_k + k], 4);
}

static void put_confusion(cli_row *r, const void *of, int64_t c)
{
    const verdict *v = of;
    cli_cell_text(r, "true", v->p->class_name[c]);
    for (int e = 0; e < v->j->C; e++)
        cli_cell_int(r, v->p->class_name[e], v->j->confusion[c * v->j->C + e]);
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

/* Tables one below the other: the measures, the classes, and the confusions. */
static void write_tables(const cli_out *out, const verdict *v, json_t *summary)
{
    const char *key;
    json_t *x;
    fprintf(out->f, "measure%cvalue\n", out->separator);
    json_object_foreach(summary, key, x)
    {
        fprintf(out->f, "%s%c", key, out->separator);
        cli_put_number(out->f, json_is_number(x) ? json_number_value(x) : NAN);
        fputc('\n', out->f);
    }
    fputc('\n', out->f);
    cli_write_rows(out, &(cli_rows){ .n = v->j->C, .put = put_measures, .of = v });
    if (v->tags)
        return;
    fputc('\n', out->f);
    cli_write_rows(out, &(cli_rows){ .n = v->j->C, .put = put_confusion, .of = v });
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
    CLI_CLEANUP(cli_out_close) cli_out out = { 0 };
    json_auto_t *summary = summary_json(v);
    CLI_TRY(cli_out_open(c, a->output, &out));
    if (c->json)
        cli_json_put(out.f,
                     json_pack("{s:s, s:O, s:o, s:o}", "command", c->command, "summary", summary,
                               v->tags ? "tags" : "classes",
                               cli_rows_json(&(cli_rows){ .n = v->j->C, .put = put_measures, .of = v }),
                               "confusion", v->tags ? json_null() : confusion_json(v->j)));
    else
        write_tables(&out, v, summary);
    CLI_TRY(cli_out_commit(c, &out));
    tell_verdict(c, v);
    return EXIT_DONE;
}

int classes_judge(cli *c, const classes_args *a, const vhem_prediction *p, const vhem_prediction *fast)
{
    CLI_OWN vhem_judgement *j = NULL;
    CLI_OWN vhem_judgement *of_fast = NULL;
    cli_list at;
    vhem_rank_options rank = a->rank;
    CLI_TRY(cli_read_list(c, "at", a->at, &at));
    rank.n_k = at.n;
    rank.k = at.value;
    CLI_TRY(cli_status(c, vhem_judge(c->ctx, p, a->tag_list, &rank, &j)));
    CLI_CHECK(j->n > 0 || j->unknown > 0, "nothing to judge: nothing was held out");
    CLI_CHECK(j->n > 0, "nothing to judge: no sequence has a %s that the models know",
              a->tag_list ? "tag" : "label");
    if (fast)
        CLI_TRY(cli_status(c, vhem_judge(c->ctx, fast, a->tag_list, &rank, &of_fast)));
    const verdict v = { p, j, of_fast, at.value, fast ? fast->scored : 1, a->are_tags, rank.top };
    return write_verdict(c, a, &v);
}

int classes_eval(cli *c, classes_args *a)
{
    CLI_OWN vhem_prediction *p = NULL;
    CLI_OWN vhem_prediction *fast = NULL;
    CLI_TRY(cli_out_check_table(c, a->output));
    CLI_TRY(classes_need_tags(c, a));
    CLI_TRY(classes_load(c, a));
    CLI_TRY(cli_status(c, vhem_classes_predict(c->ctx, a->classes, a->sequences, 0, &p)));
    if (a->fast > 0)
        CLI_TRY(cli_status(c, vhem_classes_predict(c->ctx, a->classes, a->sequences, a->fast, &fast)));
    return classes_judge(c, a, p, fast);
}
