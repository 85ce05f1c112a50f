/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_annotate.c - vhem annotate: its parts, predict and search. */
#include "classes.h"
#include "vhem.h"
#include "vhem/classes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row for each song and each of its tags, best first; place [C] is scratch. */
static void write_tags(FILE *f, const classes_args *a, const vhem_prediction *p, classes_place *place)
{
    fputs("name\trank\ttag\tposterior\n", f);
    for (int64_t i = 0; i < p->n; i++) {
        classes_rank(p, i, place);
        for (int r = 0; r < a->rank.top && r < p->C; r++) {
            int64_t k = place[r].at;
            cli_put_cell(f, p->name[i]);
            fprintf(f, "\t%d\t", r + 1);
            cli_put_cell(f, p->class_name[k]);
            fputc('\t', f);
            cli_put_number(f, exp(p->log_posterior[i * p->C + k]));
            fputc('\n', f);
        }
    }
}

static json_t *tags_json(const cli *c, const classes_args *a, const vhem_prediction *p, classes_place *place)
{
    json_t *songs = json_array();
    for (int64_t i = 0; i < p->n; i++) {
        classes_rank(p, i, place);
        json_t *tags = json_array(), *smn = json_object();
        for (int r = 0; r < a->rank.top && r < p->C; r++)
            json_array_append_new(tags, cli_json_text(p->class_name[place[r].at]));
        for (int k = 0; k < p->C; k++)
            json_object_set_new(smn, p->class_name[k], cli_json_real(exp(p->log_posterior[i * p->C + k])));
        json_array_append_new(songs, json_pack("{s:o, s:I, s:o, s:o}", "name", cli_json_text(p->name[i]),
                                               "fragments", (json_int_t)p->sequences[i], "tags", tags,
                                               "multinomial", smn));
    }
    return json_pack("{s:s, s:o, s:o, s:o}", "command", c->command, "model", cli_json_text(c->arg[0]),
                     "scored", cli_json_real(p->scored), "songs", songs);
}

/* Songs by the posterior of tag k. */
static classes_place *rank_songs(const vhem_prediction *p, int k)
{
    classes_place *list = malloc(((size_t)p->n + 1) * sizeof *list);
    for (int64_t i = 0; list && i < p->n; i++)
        list[i] = (classes_place){ p->log_posterior[i * p->C + k], i };
    if (list)
        qsort(list, (size_t)p->n, sizeof *list, classes_best_first);
    return list;
}

static int write_songs(cli *c, const classes_args *a, const vhem_prediction *p, int k, FILE *f)
{
    classes_place *list = rank_songs(p, k);
    json_t *rows = json_array();
    int n = a->rank.top < p->n ? a->rank.top : (int)p->n;
    if (!list) {
        json_decref(rows);
        return cli_fail(c, "out of memory");
    }
    if (!c->json)
        fputs("rank\tname\tlog_posterior\n", f);
    for (int r = 0; r < n; r++) {
        json_array_append_new(rows, json_pack("{s:o, s:o}", "name", cli_json_text(p->name[list[r].at]),
                                              "log_posterior", cli_json_real(list[r].score)));
        if (c->json)
            continue;
        fprintf(f, "%d\t", r + 1);
        cli_put_cell(f, p->name[list[r].at]);
        fputc('\t', f);
        cli_put_number(f, list[r].score);
        fputc('\n', f);
    }
    if (c->json)
        cli_json_put(
            f, json_pack("{s:s, s:s, s:O}", "command", c->command, "tag", p->class_name[k], "songs", rows));
    json_decref(rows);
    free(list);
    return CLI_GO;
}

/* Number of the tag; a wrong word is answered by the nearest. */
static int find_tag(cli *c, const classes_args *a, const char *tag, int *out)
{
    vhem_classes_facts facts;
    vhem_classes_info(a->classes, &facts);
    int C = facts.C;
    const char **names = malloc((size_t)C * sizeof *names), *near = NULL;
    *out = -1;
    for (int k = 0; names && k < C; k++) {
        vhem_class_view v = cli_class_at(a->classes, k);
        names[k] = v.name;
        if (strcmp(v.name, tag) == 0)
            *out = k;
    }
    if (names && *out < 0)
        near = cli_nearest(tag, names, C);
    free(names);
    if (*out >= 0)
        return CLI_GO;
    char word[CLI_WORD];
    return cli_fail(c, "%s has no tag '%s'%s%s%s; 'vhem info %s' lists its %d", c->arg[0], tag,
                    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "",
                    cli_word(c->arg[0], word, sizeof word), C);
}

static int predict_tags(cli *c, classes_args *a, bool search)
{
    vhem_prediction *p = NULL;
    cli_out out = { 0 };
    int k = 0, status = cli_out_check_table(c, a->output);
    if (status == CLI_GO)
        status = classes_load(c, a);
    if (status == CLI_GO && search)
        status = find_tag(c, a, c->arg[2], &k);
    if (status == CLI_GO)
        status = classes_predict(c, a, &p);
    if (status == CLI_GO)
        status = cli_out_open(c, a->output, &out);
    if (status == CLI_GO) {
        classes_place *place = calloc((size_t)p->C + 1, sizeof *place);
        if (!place)
            status = cli_fail(c, "out of memory");
        else if (search)
            status = write_songs(c, a, p, k, out.f);
        else if (c->json)
            cli_json_put(out.f, tags_json(c, a, p, place));
        else
            write_tags(out.f, a, p, place);
        free(place);
        if (status == CLI_GO)
            status = cli_out_commit(c, &out);
        cli_out_close(&out);
    }
    vhem_free(p);
    return status == CLI_GO ? EXIT_DONE : status;
}

static int search_songs(cli *c, classes_args *a)
{
    return predict_tags(c, a, true);
}

static int give_tags(cli *c, classes_args *a)
{
    return predict_tags(c, a, false);
}

static int look_up(cli *c, int argc, char **argv, bool search)
{
    classes_args a;
    classes_args_init(&a, true);
    cli_table t = { 0 };
    classes_add_output(&t, &a, "file to write the table to");
    cli_add(&t, (const cli_option[]){ { "top", 'n', OPT_INT, "N", &a.rank.top, 1,
                                        .help = search ? "songs to show" : "tags to show for each song" },
                                      { 0 } });
    classes_add_fast(&t, &a);
    classes_add_data(&t, &a, false);
    const cli_usage usage = {
        .args = search ? "MODEL DATA TAG" : "MODEL DATA",
        .n_min = search ? 3 : 2,
        .n_max = search ? 3 : 2,
        .table = &t,
        .about =
            search ? "Ranks the songs of DATA by how well TAG suits them: by the logarithm of its share in "
                     "their semantic multinomial."
                   : "Gives each song of DATA its --top tags, with their share in its semantic multinomial: "
                     "the posterior probabilities of all tags, from the mean over the fragments of a song of "
                     "their log-likelihood.",
        .examples = search ? "  vhem annotate search tags.json songs.csv Calming --group song\n"
                           : "  vhem annotate predict tags.json songs.csv --group song --top 5\n",
    };
    return classes_run(c, argc, argv, &usage, &a, search ? search_songs : give_tags);
}

static int annotate_predict(cli *c, int argc, char **argv)
{
    return look_up(c, argc, argv, false);
}

static int annotate_search(cli *c, int argc, char **argv)
{
    return look_up(c, argc, argv, true);
}

int cmd_annotate(cli *c, int argc, char **argv)
{
    static const cli_command parts[] = {
        { "train", classes_train, "learn a model of every tag" },
        { "predict", annotate_predict, "the tags of songs" },
        { "search", annotate_search, "songs ranked by a tag" },
        { "eval", classes_eval, "how well songs of known tags are tagged and found" },
        { "cross", classes_cross, "the same by cross-validation" },
        { "update", classes_update, "add songs to models that were learned" },
        { 0 },
    };
    return cli_dispatch(
        c, argc, argv, "Learns a mixture of models for each tag; tags songs, and finds songs by tag.", parts);
}
