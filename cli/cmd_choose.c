/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_choose.c - vhem choose MODELS -k 2..6: how many clusters and states? */
#include "cluster_args.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    cluster_args a;
    const char *K_text, *S_text;
    int splits;
    cli_list K, S;
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
        fprintf(f, "%d\t%d\t", row->K, row->S);
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
                rows, json_pack("{s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "K", row->K, "S", row->S, "bound",
                                cli_json_real(row->bound), "loglik", cli_json_real(row->loglik), "n_param",
                                cli_json_real(row->n_param), "bic", cli_json_real(row->bic), "icl",
                                cli_json_real(row->icl), "stability", cli_json_real(row->stability)));
    }
    for (int k = 0; k < N_CRITERIA; k++) {
        int i = best_by(g, &criteria[k]);
        json_object_set_new(best, criteria[k].name,
                            i < 0 ? json_null()
                                  : json_pack("{s:i, s:i}", "K", g->rows[i].K, "S", g->rows[i].S));
    }
    cli_json_put(f,
                 json_pack("{s:s, s:o, s:I, s:s, s:b, s:o, s:o}", "command", c->command, "input",
                           cli_json_text(c->arg[0]), "seed", (json_int_t)c->seed, "backend",
                           vhem_ctx_backend(c->ctx), "interrupted", stopped, "best", best, "choices", rows));
}

static void tell(cli *c, const choose_args *g)
{
    static const char *const not_for_cluster[] = { "output", "clusters", "states", "splits", NULL };
    char options[512];
    static const char *const words[N_CRITERIA] = { "smallest BIC", "smallest ICL", "most stable" };
    for (int k = 0; k < N_CRITERIA; k++) {
        int i = best_by(g, &criteria[k]);
        if (i >= 0)
            cli_say(c, "%s: %d cluster%s, centres of %d state%s", words[k], g->rows[i].K,
                    cli_plural(g->rows[i].K), g->rows[i].S, cli_plural(g->rows[i].S));
    }
    int i = best_by(g, &criteria[0]);
    if (i >= 0)
        cli_say(c, "next: vhem cluster %s -k %d --states %d%s -o clusters.json", c->arg[0], g->rows[i].K,
                g->rows[i].S, cli_repeat(c, g->a.usage, not_for_cluster, options, sizeof options));
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
        tell(c, g);
    return status != CLI_GO ? status : stopped ? EXIT_STOPPED : EXIT_DONE;
}

static int choose(cli *c, choose_args *g)
{
    bool some = false;
    g->n = g->K.n * g->S.n;
    g->rows = calloc((size_t)g->n, sizeof *g->rows);
    if (!g->rows)
        return cli_fail(c, "out of memory");
    vhem_status st = vhem_choose(c->ctx, g->a.models, g->K.n, g->K.value, g->S.n, g->S.value, g->splits,
                                 &g->a.opt, g->rows);
    for (int i = 0; i < g->n; i++)
        some |= g->rows[i].K > 0;
    bool stopped = st == VHEM_ESTOPPED;
    return some && (stopped || st == VHEM_OK) ? write_result(c, g, stopped) : cli_status(c, st);
}

static int prepare_and_choose(cli *c, choose_args *g)
{
    int status, most = 0;
    if (!g->K_text)
        return cli_misuse(c, "which numbers of clusters? say it with -k, for instance -k 2..6");
    status = cli_read_list(c, "clusters", g->K_text, &g->K);
    g->S = (cli_list){ .n = 1 }; /* one entry of 0: as the input */
    if (status == CLI_GO && g->S_text)
        status = cli_read_list(c, "states", g->S_text, &g->S);
    for (int k = 0; k < g->K.n; k++)
        most = g->K.value[k] > most ? g->K.value[k] : most;
    if (status == CLI_GO)
        status = cli_out_check(c, g->a.output);
    if (status == CLI_GO)
        status = cluster_prepare(c, &g->a, NULL);
    if (status == CLI_GO)
        status = cluster_enough(c, &g->a, most);
    if (status == CLI_GO)
        status = choose(c, g);
    free(g->rows);
    cluster_args_free(&g->a);
    return status;
}

int cmd_choose(cli *c, int argc, char **argv)
{
    choose_args g = { .splits = 4 };
    cluster_args *a = &g.a;
    cluster_args_init(a);
    const cli_option options[] = {
        { "output", 'o', OPT_TEXT, "FILE", &a->output, 0, "-, standard output",
          "file to write the table to" },
        { "clusters", 'k', OPT_TEXT, "K..K,K", &g.K_text, 0, "none, it must be given",
          "numbers of clusters to try, like 2..6,8" },
        { "states", 'S', OPT_TEXT, "S..S,S", &g.S_text, 0, "as the input",
          "numbers of states of the centres to try" },
        { "splits", 0, OPT_INT, "N", &g.splits, 0, NULL,
          "halvings of the models for the stability; 0: none, which is faster" },
        CLUSTER_OPTIONS(a, "20 to 300, more for small inputs", "WAY",
                        "auto, base, far, emissions, pooled or dealt: where a run starts"),
        { 0 },
    };
    const cli_usage usage = {
        .args = "MODELS -k K..K",
        .n_min = 1,
        .n_max = 1,
        .options = options,
        .about = "Clusters the HMMs of MODELS with each number of clusters and of states and prints a "
                 "table: bound and expected log-likelihood in nats, number of parameters, BIC and ICL "
                 "(smaller is better), and stability, the mean adjusted Rand index between the clusters "
                 "that two halves of the models give; one cluster has none, always being stable. BIC and ICL "
                 "depend on --tau. The last column names what a row is best in. Ctrl-C prints the rows that "
                 "are finished.",
        .examples = "  vhem choose models.json -k 2..6\n"
                    "  vhem choose models.json -k 2..8 --states 2..4 --splits 0 -o choice.tsv\n",
    };
    a->usage = &usage;
    int status = cli_begin(c, argc, argv, &usage);
    return status == CLI_GO ? prepare_and_choose(c, &g) : status;
}
