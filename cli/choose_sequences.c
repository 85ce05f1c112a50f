/* SPDX-License-Identifier: BSD-3-Clause */
/* choose_sequences.c - vhem choose DATA: the numbers of groups that were tried in the graph of sequences that
 * was kept, and the one that modularity and stability together like best. */
#include "choose.h"
#include "vhem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 3 };                 /* other numbers that are named */
static const double CLOSE = 0.03; /* sums that differ by less are practically equal */

typedef struct { /* the numbers of groups of sequences that were tried */
    vhem_choice *row;
    int n;
    int64_t K;       /* recommended */
    char graph[128]; /* the one that was kept, where it is known */
} choose_sequences;

static double worth(const vhem_choice *row)
{
    return row->modularity + row->stability;
}

static void put_number(cli_row *r, const void *of, int64_t i)
{
    const choose_sequences *t = of;
    const vhem_choice *row = &t->row[i];
    cli_cell_int(r, "K", row->K);
    cli_cell_fixed(r, "modularity", row->modularity, 3);
    cli_cell_fixed(r, "stability", row->stability, 3);
    cli_cell_fixed(r, "sum", worth(row), 3);
    if (!r->json)
        cli_cell_text(r, "best", row->K == t->K ? "yes" : "");
}

/* Other numbers that are practically as good, the best first. */
static int list_close(const choose_sequences *t, const vhem_choice *best, char *text, size_t size)
{
    int n = 0;
    double last = INFINITY;
    size_t at = 0;
    text[0] = '\0';
    while (n < FEW && at + 40 < size) {
        const vhem_choice *next = NULL;
        for (int i = 0; i < t->n; i++) {
            const vhem_choice *row = &t->row[i];
            if (row->K != best->K && worth(row) < last && worth(row) > worth(best) - CLOSE
                && (!next || worth(row) > worth(next)))
                next = row;
        }
        if (!next)
            break;
        at += (size_t)snprintf(text + at, size - at, "%s%lld", n++ ? ", " : "", (long long)next->K);
        last = worth(next);
    }
    return n;
}

static const vhem_choice *find_best(const choose_sequences *t)
{
    for (int i = 0; i < t->n; i++)
        if (t->row[i].K == t->K)
            return &t->row[i];
    return NULL;
}

static json_t *all_json(const cli *c, const choose_sequences *t, const cli_rows *table)
{
    json_t *rows = cli_rows_json(table);
    return json_pack("{s:s, s:o, s:I, s:s, s:o, s:I, s:o}", "command", c->command, "input",
                     cli_json_text(c->arg[0]), "seed", (json_int_t)c->seed, "backend",
                     vhem_ctx_backend(c->ctx), "graph", t->graph[0] ? cli_json_text(t->graph) : json_null(),
                     "recommended", (json_int_t)t->K, "choices", rows);
}

/* As vhem cluster finds the number: what it tried and what it took. */
static int try_all(cli *c, const vhem_source *from, const vhem_cluster_options *opt, choose_sequences *t)
{
    CLI_OWN vhem_tree *tree = NULL;
    const int64_t any = 0;
    CLI_TRY(cli_status(c, vhem_cluster(c->ctx, from, 1, &any, opt, &tree)));
    const vhem_clustering *cl = vhem_tree_level(tree, 0);
    t->row = calloc((size_t)cl->n_choice + 1, sizeof *t->row);
    CLI_CHECK(t->row, "out of memory");
    t->n = cl->n_choice;
    memcpy(t->row, cl->choice, sizeof *t->row * (size_t)t->n);
    t->K = cl->Kr;
    for (int r = 0; r < cl->n_run; r++)
        if (cl->run[r].as_good)
            snprintf(t->graph, sizeof t->graph, "%s", cl->run[r].init);
    return CLI_GO;
}

static int try_asked(cli *c, const vhem_source *from, const vhem_cluster_options *opt, const cli_list *asked,
                     choose_sequences *t)
{
    const int S = opt->S;
    vhem_choose_options want;
    VHEM_INIT(VHEM_CHOOSE_OPTIONS, &want);
    want.n_K = asked->n;
    want.K = asked->value;
    want.n_S = 1;
    want.S = &S;
    t->row = calloc((size_t)asked->n, sizeof *t->row);
    CLI_CHECK(t->row, "out of memory");
    t->n = asked->n;
    CLI_TRY(cli_status(c, vhem_choose(c->ctx, from, &want, opt, t->row)));
    const vhem_choice *best = &t->row[0];
    for (int i = 1; i < t->n; i++)
        best = worth(&t->row[i]) > worth(best) || isnan(worth(best)) ? &t->row[i] : best;
    t->K = best->K;
    return CLI_GO;
}

static void free_sequences(choose_sequences *t)
{
    free(t->row);
}

static void tell_choice(cli *c, const cli_usage *usage, const choose_sequences *t)
{
    const vhem_choice *best = find_best(t);
    char options[512], close[100], word[CLI_WORD];
    cli_say(c, "recommended: %lld cluster%s%s%s", (long long)t->K, cli_plural(t->K),
            t->graph[0] ? ", found by " : "", t->graph);
    if (t->n > 1 && t->K > 1)
        cli_say(c, "  for it: modularity %.2f and stability %.2f have the largest sum", best->modularity,
                best->stability);
    if (list_close(t, best, close, sizeof close) > 0)
        cli_say(c, "  against it: %s would be practically as good", close);
    cli_repeat(c, usage, "output clusters splits seeds path", options, sizeof options);
    cli_say(c, "next: vhem cluster %s -k %lld%s -o clusters.json", cli_word(c->arg[0], word, sizeof word),
            (long long)t->K, options);
}

int choose_of_sequences(cli *c, const cli_usage *usage, const vhem_source *from,
                        const vhem_cluster_options *opt, const cli_list *asked, const char *output)
{
    CLI_CLEANUP(free_sequences) choose_sequences t = { 0 };
    CLI_TRY(asked->n > 0 ? try_asked(c, from, opt, asked, &t) : try_all(c, from, opt, &t));
    const cli_rows table = { .n = t.n, .put = put_number, .of = &t, .unknown = "-" };
    CLI_TRY(cli_write_table(c, output, c->json ? all_json(c, &t, &table) : NULL, &table));
    tell_choice(c, usage, &t);
    return EXIT_DONE;
}
