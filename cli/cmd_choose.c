/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_choose.c - vhem choose MODELS -k 2..6: how many clusters and states? */
#include "choose.h"
#include "cluster_args.h"
#include "vhem.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    cluster_args a;
    const char *S_text;
    int splits, seeds, path, n_S, S[CLI_MAX_LIST];
    vhem_choice *rows; /* [n_K][n_S], then [path] */
    int n;             /* of rows; those that were not reached have K = 0 */
} choose_args;

static void list_reasons(json_t *list, const char *text)
{
    if (text[0])
        json_array_append_new(list, cli_json_text(text));
}

static json_t *advice_json(const choose_advice *a)
{
    json_t *why = json_array(), *doubt = json_array();
    for (int k = 0; k < CHOOSE_REASONS; k++) {
        list_reasons(why, a->why[k]);
        list_reasons(doubt, a->doubt[k]);
    }
    return json_pack("{s:I, s:i, s:o, s:o}", "K", (json_int_t)a->K, "S", a->S, "for", why, "against", doubt);
}

static json_t *result_json(const cli *c, const choose_rows *t, bool stopped)
{
    json_t *facts =
        json_pack("{s:s, s:o, s:I, s:s, s:b}", "command", c->command, "input", cli_json_text(c->arg[0]),
                  "seed", (json_int_t)c->seed, "backend", vhem_ctx_backend(c->ctx), "interrupted", stopped);
    json_auto_t *rows = choose_json(t);
    choose_advice a = choose_advise(t);
    json_object_set_new(facts, "recommended", stopped || a.K == 0 ? json_null() : advice_json(&a));
    json_object_update(facts, rows);
    return facts;
}

/* What to type. */
static void tell_next(cli *c, const choose_args *g, const choose_rows *t, const choose_advice *a)
{
    char options[512], bayes[512], word[CLI_WORD];
    const char *input = cli_word(c->arg[0], word, sizeof word);
    if (a->K == 1) {
        cli_say(c, "these models look like one kind: there is nothing to cluster");
        return;
    }
    cli_repeat(c, g->a.usage, "output clusters states splits seeds path", options, sizeof options);
    cli_repeat(c, g->a.usage, "output clusters states splits seeds path method nv search", bayes,
               sizeof bayes);
    cli_say(c, "next: vhem cluster %s -k %lld --states %d%s -o clusters.json", input, (long long)a->K,
            t->bayes ? a->S : a->S_needed, options);
    if (a->needed && !t->bayes)
        cli_say(c,
                "  or, with as many states as each centre needs: vhem cluster %s --method vbhem -k %lld "
                "--states %d%s -o clusters.json",
                input, (long long)a->K, a->S, bayes);
}

static void tell_best(cli *c, const choose_args *g, const choose_rows *t)
{
    char path[400];
    choose_advice a = choose_advise(t);
    if (choose_path_text(t, path, sizeof path)[0])
        cli_say(c, "clusters needed, by virtual frames per model (--nv times --tau): %s", path);
    if (a.K == 0) {
        cli_say(c, "no number of clusters is recommended: %s", a.none);
        return;
    }
    cli_say(c, "recommended: %lld cluster%s, centres of %s%d state%s", (long long)a.K, cli_plural(a.K),
            a.S_needed < a.S ? "at most " : "", a.S_needed, cli_plural(a.S_needed));
    for (int k = 0; k < CHOOSE_REASONS && a.why[k][0]; k++)
        cli_say(c, "  for it: %s", a.why[k]);
    for (int k = 0; k < CHOOSE_REASONS && a.doubt[k][0]; k++)
        cli_say(c, "  against it: %s", a.doubt[k]);
    tell_next(c, g, t, &a);
}

static int write_result(cli *c, const choose_args *g, bool stopped)
{
    const choose_rows t = { g->rows, g->n, g->a.method.finds_k };
    const cli_rows table = choose_table(&t);
    CLI_TRY(cli_write_table(c, g->a.output, c->json ? result_json(c, &t, stopped) : NULL, &table));
    if (stopped)
        cli_fail(c, "interrupted; the table has what was done so far");
    else
        tell_best(c, g, &t);
    return stopped ? EXIT_STOPPED : EXIT_DONE;
}

static int choose_and_write(cli *c, choose_args *g)
{
    bool some = false;
    vhem_choose_options want;

    VHEM_INIT(VHEM_CHOOSE_OPTIONS, &want);
    want.n_K = g->a.K.n;
    want.n_S = g->n_S;
    want.K = g->a.K.value;
    want.S = g->S;
    want.n_splits = g->splits;
    want.n_seeds = g->seeds;
    want.n_path = g->path;
    g->n = want.n_K * want.n_S + want.n_path;
    g->rows = calloc((size_t)g->n, sizeof *g->rows);
    CLI_CHECK(g->rows, "out of memory");
    vhem_status st = vhem_choose(c->ctx, &g->a.input.from, &want, &g->a.opt, g->rows);
    for (int i = 0; i < g->n; i++)
        some |= g->rows[i].K > 0;
    bool stopped = st == VHEM_ESTOPPED;
    int status = some && (stopped || st == VHEM_OK) ? write_result(c, g, stopped) : cli_status(c, st);
    if (status == EXIT_DONE && g->a.opt.checkpoint)
        cli_remove_checkpoint(g->a.opt.checkpoint);
    return status;
}

/* One entry of 0 means: as the input. */
static int read_states(cli *c, choose_args *g)
{
    cli_list list = { .n = 1 };
    if (g->S_text)
        CLI_TRY(cli_read_list(c, "states", g->S_text, &list));
    g->n_S = list.n;
    for (int k = 0; k < list.n; k++)
        g->S[k] = (int)list.value[k];
    return CLI_GO;
}

/* Sequences: one search finds the groups for all numbers. */
static int choose_for_sequences(cli *c, choose_args *g)
{
    for (int k = 0; k < g->a.usage->table->n; k++)
        if (c->given[k] && cli_has_word("splits seeds path", ' ', g->a.usage->table->row[k].name))
            return cli_misuse(c, "--%s is about models, but %s holds sequences",
                              g->a.usage->table->row[k].name, c->arg[0]);
    if (g->n_S > 1)
        return cli_misuse(c, "--states %s: models of sequences have one number of states, or leave it out",
                          g->S_text);
    g->a.opt.S = g->S[0] > 0 ? g->S[0] : -1;
    return choose_of_sequences(c, g->a.usage, &g->a.input.from, &g->a.opt, &g->a.K, g->a.output);
}

/* Of the methods for sequences only one is chosen with. */
static int check_choosable(cli *c, const cluster_args *a)
{
    const vhem_method_facts m = cli_method_facts(a->opt.method, false);
    CLI_TRY(cluster_check(c, a));
    if (a->opt.method && m.takes_data && strcmp(m.name, "auto") != 0)
        return cli_misuse(c,
                          "method %s clusters sequences; vhem choose compares clusters of models, or of "
                          "sequences by method auto",
                          m.name);
    return CLI_GO;
}

static int needs_numbers(cli *c)
{
    return cli_misuse(c, "which numbers of clusters? say it with -k, for instance -k 2..6");
}

static int prepare_and_choose(cli *c, choose_args *g)
{
    int64_t most = 0;
    bool named = g->a.opt.preset || (g->a.opt.method && strcmp(g->a.opt.method, "auto") != 0);
    if (g->a.K_text)
        CLI_TRY(cli_read_list(c, "clusters", g->a.K_text, &g->a.K));
    else if (named)
        return needs_numbers(c);
    CLI_TRY(read_states(c, g));
    for (int k = 0; k < g->a.K.n; k++)
        most = g->a.K.value[k] > most ? g->a.K.value[k] : most;
    CLI_TRY(cli_out_check_table(c, g->a.output));
    CLI_TRY(check_choosable(c, &g->a));
    CLI_TRY(cluster_load(c, &g->a));
    CLI_TRY(cluster_enough(c, &g->a, most));
    if (strcmp(g->a.method.name, "auto") == 0)
        return choose_for_sequences(c, g);
    if (!g->a.K_text)
        return needs_numbers(c);
    CLI_TRY(cluster_fit(c, &g->a));
    return choose_and_write(c, g);
}

static void free_args(choose_args *g)
{
    free(g->rows);
    cluster_args_free(&g->a);
}

int cmd_choose(cli *c, int argc, char **argv)
{
    CLI_CLEANUP(free_args) choose_args g = { .splits = 4, .seeds = 2, .path = 5 };
    cluster_args *a = &g.a;
    cli_table t = { 0 };
    cluster_args_init(a);
    cli_add_output(&t, &a->output, "file to write the table to");
    cli_add(&t, (const cli_option[]){
                    { "clusters", 'k', OPT_TEXT, "K..K,K", &a->K_text,
                      .shown = "of sequences those that suit them; else it must be given",
                      .help = "numbers of clusters to try, like 2..6,8" },
                    { "states", 'S', OPT_TEXT, "S..S,S", &g.S_text, .shown = "as the input",
                      .methods = cli_field(VHEM_CLUSTER_OPTIONS, "S").methods, .user = "method",
                      .help = "numbers of states of the centres to try" },
                    { "splits", 0, OPT_INT, "N", &g.splits,
                      .help = "halvings of the models for the stability; 0: none, which is faster" },
                    { "seeds", 0, OPT_INT, "N", &g.seeds,
                      .help = "other seeds to repeat every clustering with; 0: none" },
                    { "path", 0, OPT_INT, "N", &g.path,
                      .help = "numbers of virtual frames, from few to many, to ask variational Bayes for the "
                              "clusters that are needed; 0: none" },
                    { 0 } });
    cluster_add_options(&t, a, "S candidate memory keep_tables first_reduce", true);
    cli_add_cov(&t, &a->cov, "method", "auto em-h3m");
    cli_add_data(&t, &a->data, "column with the group; the sequences of a group stay together");
    const cli_usage usage = {
        .args = "DATA|MODELS [-k K..K]",
        .n_min = 1,
        .n_max = 1,
        .merges = true,
        .table = &t,
        .first = "output clusters states splits path method tau nv prior preset",
        .methods = true,
        .about =
            "For sequences, DATA: tries all numbers of groups, as vhem cluster DATA does without -k, and "
            "prints how distinct the groups are (modularity: 0 is chance), and how well samples of the "
            "sequences agree on them (stability: 1 is perfect); the largest sum is recommended. For MODELS: "
            "clusters them with each number of clusters and of states, prints a table and recommends a "
            "number, with reasons and doubts.",
        .more =
            "The columns for models: bound and expected log-likelihood in nats; number of parameters; BIC "
            "and ICL (smaller is better); stability, the mean adjusted Rand index between the clusters of "
            "two halves of the models (1 is perfect, 0 is chance); evidence, the bound of variational Bayes "
            "(vbhem, larger is better) plus the logarithm of the number of ways to name clusters, states and "
            "components; frames, the virtual frames per model that it is for, and K_used and S_used, the "
            "clusters and states needed (--nv and --prior change these only with --method vbhem); same_runs, "
            "the share of restarts with the groups that were kept; same_seeds, the adjusted Rand index with "
            "the groups of other seeds; best, the criteria by which a row is best, where negligible "
            "differences count as ties and ties go to the smaller number. Rows without BIC are steps of the "
            "path. Ctrl-C prints the rows that are finished.",
        .examples = "  vhem choose walks.csv\n"
                    "  vhem choose models.json -k 2..6\n"
                    "  vhem choose models.json -k 2..8 --states 2..4 --splits 0 -o choice.tsv\n",
    };
    a->usage = &usage;
    CLI_TRY(cli_begin(c, argc, argv, &usage));
    return prepare_and_choose(c, &g);
}
