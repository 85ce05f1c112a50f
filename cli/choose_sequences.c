/* SPDX-License-Identifier: BSD-3-Clause */
/* choose_sequences.c - vhem choose DATA: the numbers of groups that were tried in the graph of sequences that
 * was kept, and the one that modularity and stability together like best. */
#include "choose.h"
#include "vhem.h"

#include <math.h>

enum { FEW = 3 };                 /* other numbers that are named */
static const double CLOSE = 0.03; /* sums that differ by less are practically equal */

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

/* The rows whose numbers were asked for, or all. */
static int keep_asked(const vhem_clustering *cl, const cli_list *asked, vhem_choice *row)
{
    int n = 0;
    for (int t = 0; t < cl->n_choice; t++) {
        bool wanted = asked->n == 0;
        for (int k = 0; k < asked->n; k++)
            wanted |= asked->value[k] == cl->choice[t].K;
        if (wanted)
            row[n++] = cl->choice[t];
    }
    return n;
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
            if (row != best && worth(row) < last && worth(row) > worth(best) - CLOSE
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
                     vhem_ctx_backend(c->ctx), "graph", cli_json_text(t->graph), "recommended",
                     (json_int_t)t->K, "choices", rows);
}

/* The numbers that may be recommended: not the largest that was tried, unless the user named the numbers. */
static int64_t recommend(const choose_sequences *t, bool asked)
{
    const vhem_choice *best = &t->row[0];
    for (int i = 1; i < (asked ? t->n : t->n - 1); i++)
        best = worth(&t->row[i]) > worth(best) ? &t->row[i] : best;
    return best->K;
}

int choose_of_sequences(cli *c, const vhem_clustering *cl, const cli_list *asked, const char *output)
{
    CLI_AUTOFREE vhem_choice *row = calloc((size_t)cl->n_choice + 1, sizeof *row);
    choose_sequences t = { .row = row, .graph = "" };
    char close[100], word[CLI_WORD];
    CLI_CHECK(row, "out of memory");
    t.n = keep_asked(cl, asked, row);
    CLI_CHECK(t.n > 0, "none of these numbers of clusters can be tried for %lld items; the largest is %lld",
              (long long)cl->Kb, (long long)cl->choice[cl->n_choice - 1].K);
    t.K = recommend(&t, asked->n > 0);
    for (int r = 0; r < cl->n_run; r++)
        t.graph = cl->run[r].as_good ? cl->run[r].init : t.graph;
    const cli_rows table = { .n = t.n, .put = put_number, .of = &t, .unknown = "-" };
    CLI_TRY(cli_write_table(c, output, c->json ? all_json(c, &t, &table) : NULL, &table));
    const vhem_choice *best = find_best(&t);
    cli_say(c, "recommended: %lld clusters, found by %s", (long long)t.K, t.graph);
    cli_say(c, "  for it: modularity %.2f and stability %.2f have the largest sum", best->modularity,
            best->stability);
    if (list_close(&t, best, close, sizeof close) > 0)
        cli_say(c, "  against it: %s would be practically as good", close);
    cli_say(c, "next: vhem cluster %s -k %lld -o clusters.json", cli_word(c->arg[0], word, sizeof word),
            (long long)t.K);
    return EXIT_DONE;
}
