/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_choose.c - vhem choose MODELS -k 2..6: how many clusters and states? */
#include "cluster_args.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    cluster_args a;
    const char *S_text;
    int splits, n_S, S[CLI_MAX_LIST];
    vhem_choice *rows; /* [n_K][n_S] */
    int n;             /* of rows; those that were not reached have K = 0 */
} choose_args;

typedef struct {
    const char *name;
    size_t at; /* of its number in a row */
    bool most; /* the largest is best */
} criterion;

static const criterion criteria[] = {
    { "bic", offsetof(vhem_choice, bic), false },
    { "icl", offsetof(vhem_choice, icl), false },
    { "stability", offsetof(vhem_choice, stability), true },
};
enum { N_CRITERIA = sizeof criteria / sizeof criteria[0] };

static double number_of(const vhem_choice *row, const criterion *k)
{
    double x;
    memcpy(&x, (const char *)row + k->at, sizeof x);
    return x;
}

/* The row that a criterion likes best, the first of equals; -1 when none has the number. */
static int best_by(const choose_args *g, const criterion *k)
{
    int best = -1;
    for (int i = 0; i < g->n; i++) {
        double x = number_of(&g->rows[i], k), than = best < 0 ? 0 : number_of(&g->rows[best], k);
        if (g->rows[i].K > 0 && isfinite(x) && (best < 0 || (k->most ? x > than : x < than)))
            best = i;
    }
    return best;
}

static void write_table(FILE *f, const choose_args *g)
{
    fputs("K\tS\tbound\tloglik\tn_param\tbic\ticl\tstability\tbest\n", f);
    for (int i = 0; i < g->n; i++) {
        const vhem_choice *row = &g->rows[i];
        const char *between = "";
        if (row->K == 0)
            continue;
        fprintf(f, "%lld\t%d\t", (long long)row->K, row->S);
        fprintf(f, isnan(row->bound) ? "-" : "%.2f", row->bound);
        fprintf(f, "\t%.2f\t%.0f\t%.2f\t%.2f\t", row->loglik, row->n_param, row->bic, row->icl);
        if (isfinite(row->stability))
            fprintf(f, "%.3f\t", row->stability);
        else
            fputs("-\t", f);
        for (int k = 0; k < N_CRITERIA; k++)
            if (best_by(g, &criteria[k]) == i) {
                fprintf(f, "%s%s", between, criteria[k].name);
                between = ",";
            }
        fputc('\n', f);
    }
}

static void write_json(FILE *f, const cli *c, const choose_args *g, bool stopped)
{
    json_t *rows = json_array(), *best = json_object();
    for (int i = 0; i < g->n; i++) {
        const vhem_choice *row = &g->rows[i];
        if (row->K > 0)
            json_array_append_new(
                rows,
                json_pack("{s:I, s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "K", (json_int_t)row->K, "S", row->S,
                          "bound", cli_json_real(row->bound), "loglik", cli_json_real(row->loglik), "n_param",
                          cli_json_real(row->n_param), "bic", cli_json_real(row->bic), "icl",
                          cli_json_real(row->icl), "stability", cli_json_real(row->stability)));
    }
    for (int k = 0; k < N_CRITERIA; k++) {
        int i = best_by(g, &criteria[k]);
        json_object_set_new(
            best, criteria[k].name,
            i < 0 ? json_null() : json_pack("{s:I, s:i}", "K", (json_int_t)g->rows[i].K, "S", g->rows[i].S));
    }
    cli_json_put(f,
                 json_pack("{s:s, s:o, s:I, s:s, s:b, s:o, s:o}", "command", c->command, "input",
                           cli_json_text(c->arg[0]), "seed", (json_int_t)c->seed, "backend",
                           vhem_ctx_backend(c->ctx), "interrupted", stopped, "best", best, "choices", rows));
}

static void tell_best(cli *c, const choose_args *g)
{
    char options[512];
    static const char *const words[N_CRITERIA] = { "smallest BIC", "smallest ICL", "most stable" };
    for (int k = 0; k < N_CRITERIA; k++) {
        int i = best_by(g, &criteria[k]);
        if (i >= 0)
            cli_say(c, "%s: %lld cluster%s, centres of %d state%s", words[k], (long long)g->rows[i].K,
                    cli_plural(g->rows[i].K), g->rows[i].S, cli_plural(g->rows[i].S));
    }
    int i = best_by(g, &criteria[0]);
    if (i >= 0)
        cli_say(c, "next: vhem cluster %s -k %lld --states %d%s -o clusters.json", c->arg[0],
                (long long)g->rows[i].K, g->rows[i].S,
                cli_repeat(c, g->a.usage, "output clusters states splits", options, sizeof options));
}

static int write_result(cli *c, const choose_args *g, bool stopped)
{
    cli_out out;
    int status = cli_out_open(c, g->a.output, &out);
    if (status != CLI_GO)
        return status;
    if (c->json)
        write_json(out.f, c, g, stopped);
    else
        write_table(out.f, g);
    status = cli_out_commit(c, &out);
    cli_out_close(&out);
    if (status == CLI_GO && stopped)
        cli_fail(c, "interrupted; the table has what was done so far");
    else if (status == CLI_GO)
        tell_best(c, g);
    return status != CLI_GO ? status : stopped ? EXIT_STOPPED : EXIT_DONE;
}

static int choose_and_write(cli *c, choose_args *g)
{
    bool some = false;
    g->n = g->a.K.n * g->n_S;
    g->rows = calloc((size_t)g->n, sizeof *g->rows);
    if (!g->rows)
        return cli_fail(c, "out of memory");
    vhem_status st = vhem_choose(c->ctx, &g->a.input.from, g->a.K.n, g->a.K.value, g->n_S, g->S, g->splits,
                                 &g->a.opt, g->rows);
    for (int i = 0; i < g->n; i++)
        some |= g->rows[i].K > 0;
    bool stopped = st == VHEM_ESTOPPED;
    return some && (stopped || st == VHEM_OK) ? write_result(c, g, stopped) : cli_status(c, st);
}

/* One entry of 0 means: as the input. */
static int read_states(cli *c, choose_args *g)
{
    cli_list list = { .n = 1 };
    int status = g->S_text ? cli_read_list(c, "states", g->S_text, &list) : CLI_GO;
    g->n_S = list.n;
    for (int k = 0; k < list.n; k++)
        g->S[k] = (int)list.value[k];
    return status;
}

static int prepare_and_choose(cli *c, choose_args *g)
{
    int64_t most = 0;
    if (!g->a.K_text)
        return cli_misuse(c, "which numbers of clusters? say it with -k, for instance -k 2..6");
    int status = cli_read_list(c, "clusters", g->a.K_text, &g->a.K);
    if (status == CLI_GO)
        status = read_states(c, g);
    for (int k = 0; k < g->a.K.n; k++)
        most = g->a.K.value[k] > most ? g->a.K.value[k] : most;
    if (status == CLI_GO)
        status = cli_out_check(c, g->a.output);
    if (status == CLI_GO)
        status = cluster_load(c, &g->a, true);
    if (status == CLI_GO)
        status = cluster_enough(c, &g->a, most);
    if (status == CLI_GO)
        status = choose_and_write(c, g);
    free(g->rows);
    cluster_args_free(&g->a);
    return status;
}

int cmd_choose(cli *c, int argc, char **argv)
{
    choose_args g = { .splits = 4 };
    cluster_args *a = &g.a;
    cli_table t = { 0 };
    cluster_args_init(a);
    cli_add(&t, (const cli_option[]){
                    { "output", 'o', OPT_TEXT, "FILE", &a->output, .shown = "-, standard output",
                      .help = "file to write the table to" },
                    { "clusters", 'k', OPT_TEXT, "K..K,K", &a->K_text, .shown = "none, it must be given",
                      .help = "numbers of clusters to try, like 2..6,8" },
                    { "states", 'S', OPT_TEXT, "S..S,S", &g.S_text, .shown = "as the input",
                      .help = "numbers of states of the centres to try" },
                    { "splits", 0, OPT_INT, "N", &g.splits,
                      .help = "halvings of the models for the stability; 0: none, which is faster" },
                    { 0 } });
    cluster_add_options(&t, a, "emission S candidate", true);
    const cli_usage usage = {
        .args = "MODELS -k K..K",
        .n_min = 1,
        .n_max = 1,
        .table = &t,
        .methods = true,
        .about =
            "Clusters the models of MODELS with each number of clusters and of states and prints a "
            "table: bound and expected log-likelihood in nats, number of parameters, BIC and ICL "
            "(smaller is better), and stability, the mean adjusted Rand index between the clusters "
            "that two halves of the models give: 1 is perfect, 0 is chance. One cluster has none. BIC and "
            "ICL depend on --tau. The last column names what a row is best in. Ctrl-C prints the rows "
            "that are finished.",
        .examples = "  vhem choose models.json -k 2..6\n"
                    "  vhem choose models.json -k 2..8 --states 2..4 --splits 0 -o choice.tsv\n",
    };
    a->usage = &usage;
    int status = cli_begin(c, argc, argv, &usage);
    return status == CLI_GO ? prepare_and_choose(c, &g) : status;
}
