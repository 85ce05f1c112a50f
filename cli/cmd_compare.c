/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_compare.c - vhem compare A [B]: distances between HMMs. */
#include "compare.h"
#include "vhem.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PAIRS = 10000, MOST_JSON = 1 << 22 }; /* of a table with everything in it; of JSON */

/* One kind into a matrix of its own, on rank 0; error may be NULL. */
static int compute_distances(cli *c, const compare_args *a, const comparison *s, const char *kind,
                             cli_matrix *D, cli_matrix *error)
{
    vhem_distance_options opt = a->opt;
    int status = CLI_GO;
    if (a->opt.kind && strcmp(a->opt.kind, kind) != 0)
        return CLI_GO;
    opt.kind = kind;
    if (cli_is_first(c))
        status = cli_matrix_new(c, s->Ka, s->Kb, D);
    if (status == CLI_GO && error && cli_is_first(c))
        status = cli_matrix_new(c, s->Ka, s->Kb, error);
    if (status != CLI_GO)
        return status;
    return cli_status(c, vhem_distance(c->ctx, s->a, s->b, &opt, D->x, error ? error->x : NULL));
}

/* Can the output be of the form that the options ask for? */
static int check_form(cli *c, const compare_args *a)
{
    if (!compare_is_npy(a->output))
        return CLI_GO;
    if (c->json)
        return cli_misuse(c, "%s: --json writes JSON, not an array: leave --json out, or name a .json file",
                          a->output);
    if (!a->opt.kind)
        return cli_misuse(c, "%s: an array holds one matrix: choose it with --kind", a->output);
    return CLI_GO;
}

/* The table of all kinds would have very many rows, and JSON needs memory for every number: both have a
 * limit. */
static int check_size(cli *c, const compare_args *a, const comparison *s)
{
    double pairs = (double)s->Ka * (double)s->Kb;
    if (!a->opt.kind && pairs > MOST_PAIRS)
        return cli_fail(c,
                        "%lld times %lld pairs are too many for a table of everything; choose a matrix with "
                        "--kind",
                        (long long)s->Ka, (long long)s->Kb);
    if (c->json && pairs > MOST_JSON)
        return cli_fail(
            c, "%lld times %lld pairs are too many for --json; write a matrix to a file, .npy or .csv",
            (long long)s->Ka, (long long)s->Kb);
    return CLI_GO;
}

static int load_and_compare(cli *c, const compare_args *a, comparison *s)
{
    bool same = c->n_arg == 1 || strcmp(c->arg[0], c->arg[1]) == 0;
    int status = cli_check_streams(c, NULL);
    if (status == CLI_GO)
        status = check_form(c, a);
    if (status == CLI_GO)
        status = compare_is_npy(a->output) ? cli_out_check(c, a->output) : cli_out_check_table(c, a->output);
    if (status == CLI_GO)
        status = cli_load_hmms(c, c->arg[0], &s->a);
    if (status == CLI_GO && same)
        s->b = s->a;
    else if (status == CLI_GO)
        status = cli_load_hmms(c, c->arg[1], &s->b);
    if (status != CLI_GO)
        return status;
    vhem_models_facts facts[2];
    vhem_models_info(s->a, &facts[0]);
    vhem_models_info(s->b, &facts[1]);
    s->Ka = facts[0].K;
    s->Kb = facts[1].K;
    status = check_size(c, a, s);
    if (status == CLI_GO)
        status = compute_distances(c, a, s, "kl", &s->kl, NULL);
    if (status == CLI_GO) /* the errors are in the table of everything, and in JSON */
        status =
            compute_distances(c, a, s, "kl-sampled", &s->sampled, a->opt.kind && !c->json ? NULL : &s->error);
    if (status == CLI_GO)
        status = compute_distances(c, a, s, "ppk", &s->ppk, NULL);
    if (status == CLI_GO && !cli_is_first(c))
        return EXIT_DONE;
    return status == CLI_GO ? compare_write(c, a, s) : status;
}

/* What was not asked for: the numbers are told, so they must be known here. */
static void fill_defaults(compare_args *a)
{
    vhem_option o;
    for (int i = 0; vhem_option_info(VHEM_DISTANCE_OPTIONS, i, &o) == VHEM_OK; i++) {
        void *field = (char *)&a->opt + o.offset;
        if (o.type == VHEM_OPTION_REAL && *(double *)field < 0)
            *(double *)field = strtod(o.fallback, NULL);
        if ((o.type == VHEM_OPTION_INT || o.type == VHEM_OPTION_FLAG) && *(int *)field < 0)
            *(int *)field = atoi(o.fallback);
    }
    if (a->raw || (a->kernel && strcmp(a->kernel, "raw") == 0))
        a->opt.normalised = 0;
}

static void free_comparison(comparison *s)
{
    cli_matrix_free(&s->kl);
    cli_matrix_free(&s->sampled);
    cli_matrix_free(&s->error);
    cli_matrix_free(&s->ppk);
    if (s->b != s->a)
        vhem_free(s->b);
    vhem_free(s->a);
}

int cmd_compare(cli *c, int argc, char **argv)
{
    compare_args a = { .output = "-" };
    comparison s = { 0 };
    cli_table t = { 0 };
    VHEM_INIT(VHEM_DISTANCE_OPTIONS, &a.opt);
    const cli_change change[] = {
        { .field = "kind", .shown = "all, one row per pair", .help = "a matrix of this kind" },
        { .field = "lambda", .help = "power of the kernel" },
        { .field = "symmetric", .help = "divergences: the mean of both directions" },
        { 0 },
    };
    cli_add(&t, (const cli_option[]){
                    { "output", 'o', OPT_TEXT, "FILE", &a.output, .shown = "-, standard output",
                      .help = "file to write, .csv with commas, .npy as an array for NumPy, else with tabs" },
                    { 0 } });
    cli_add_fields(&t, &(cli_fields){ VHEM_DISTANCE_OPTIONS, &a.opt, .without = "normalised",
                                      .heading = "Options", .change = change });
    cli_add(&t, (const cli_option[]){
                    { "kernel", 0, OPT_CHOICE, "normalised|raw", &a.kernel, .shown = "normalised",
                      .methods = "ppk", .user = "kind", .heading = "Options",
                      .help = "kernels divided by those of each HMM with itself, or as they are" },
                    { "raw", 0, OPT_FLAG, NULL, &a.raw, .methods = "ppk", .user = "kind",
                      .heading = "Options", .help = "the same as --kernel raw" },
                    { 0 } });
    const cli_usage usage = {
        .args = "A [B]",
        .n_min = 1,
        .n_max = 2,
        .table = &t,
        .about =
            "Compares every HMM of A with every HMM of B, or the HMMs of A with each other. One row per "
            "pair: the Kullback-Leibler divergence from a to b by the variational bound, which is a "
            "difference of two bounds and may be negative, and by sampling, with its standard error, in "
            "nats, and the logarithm of the probability product kernel, 0 for equal HMMs. With --kind one "
            "of these as a matrix, which for many models is best written to an .npy file.",
        .examples = "  vhem compare models.json\n"
                    "  vhem compare models.json clusters.json --kind ppk -o kernel.csv\n"
                    "  vhem compare models.h5 --kind kl -o divergences.npy\n",
    };
    int status = cli_begin(c, argc, argv, &usage);
    if (status == CLI_GO && a.opt.kind)
        status = cli_check_uses(c, &usage, "kind", a.opt.kind);
    fill_defaults(&a);
    if (status == CLI_GO)
        status = load_and_compare(c, &a, &s);
    free_comparison(&s);
    return status;
}
