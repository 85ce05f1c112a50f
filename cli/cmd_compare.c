/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_compare.c - vhem compare A [B]: distances between HMMs. */
#include "cli.h"
#include "vhem.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PAIRS = 10000, MOST_JSON = 1 << 22 }; /* of a table with everything in it; of JSON */

typedef struct {
    const char *output, *kernel; /* "normalised", "raw" */
    vhem_distance_options opt;   /* kind NULL: all, as a table of pairs */
    int raw;
} compare_args;

typedef struct {
    vhem_models *a, *b; /* the same object for a set against itself */
    int64_t Ka, Kb;
    int symmetric;
    cli_matrix kl, sampled, error, ppk; /* [Ka][Kb] each, without numbers: not asked for */
} comparison;

static bool is_npy(const char *path)
{
    static const char *const npy[] = { ".npy", NULL };
    return cli_ends_with(path, npy);
}

/* ---- what is written ----------------------------------------------------------------------------------- */

typedef struct {
    const comparison *s;
    const double *D; /* [Ka][Kb] */
} matrix;

static void put_matrix_row(cli_row *r, const void *of, int64_t i)
{
    const matrix *m = of;
    char buf[32];
    cli_cell_text(r, "name", cli_model_name(m->s->a, i, buf, sizeof buf));
    for (int64_t k = 0; k < m->s->Kb; k++)
        cli_cell_real(r, r->head ? cli_model_name(m->s->b, k, buf, sizeof buf) : NULL,
                      m->D[i * m->s->Kb + k]);
}

/* Is it a pair to tell?  Not a model with itself, and not the same pair twice. */
static bool is_told(const comparison *s, int64_t i, int64_t k)
{
    return s->a != s->b || (s->symmetric ? i < k : i != k);
}

static void put_pair(cli_row *r, const void *of, int64_t at)
{
    const comparison *s = of;
    char buf[32];
    if (!r->head && !is_told(s, at / s->Kb, at % s->Kb))
        return;
    cli_cell_text(r, "a", cli_model_name(s->a, at / s->Kb, buf, sizeof buf));
    cli_cell_text(r, "b", cli_model_name(s->b, at % s->Kb, buf, sizeof buf));
    cli_cell_real(r, "kl", s->kl.x[at]);
    cli_cell_real(r, "kl_sampled", s->sampled.x[at]);
    cli_cell_real(r, "error", s->error.x[at]);
    cli_cell_real(r, "log_ppk", s->ppk.x[at]);
}

static json_t *matrix_json(const cli_matrix *D)
{
    return D->x ? cli_json_matrix(D->x, D->rows, D->columns) : json_null();
}

static json_t *result_json(const cli *c, const compare_args *a, const comparison *s)
{
    return json_pack("{s:s, s:o, s:o, s:i, s:i, s:f, s:b, s:b, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "command",
                     c->command, "a", cli_json_text(c->arg[0]), "b", cli_json_text(c->arg[c->n_arg - 1]),
                     "tau", a->opt.tau, "samples", a->opt.samples, "lambda", a->opt.lambda, "normalised",
                     a->opt.normalised, "symmetric", a->opt.symmetric, "seed", (json_int_t)c->seed, "names_a",
                     cli_json_names(s->a), "names_b", cli_json_names(s->b), "kl", matrix_json(&s->kl),
                     "kl_sampled", matrix_json(&s->sampled), "kl_sampled_error", matrix_json(&s->error),
                     "log_ppk", matrix_json(&s->ppk));
}

static int write_distances(cli *c, const compare_args *a, const comparison *s)
{
    CLI_CLEANUP(cli_out_close) cli_out out = { 0 };
    const cli_matrix *D = s->kl.x ? &s->kl : s->sampled.x ? &s->sampled : &s->ppk;
    const matrix m = { s, D->x };
    const cli_rows one = { .n = s->Ka, .put = put_matrix_row, .of = &m, .exact = true },
                   all = { .n = s->Ka * s->Kb, .put = put_pair, .of = s, .exact = true };
    if (!a->opt.kind || !is_npy(a->output))
        return cli_write_table(c, a->output, c->json ? result_json(c, a, s) : NULL,
                               a->opt.kind ? &one : &all);
    CLI_TRY(cli_out_open(c, a->output, &out));
    cli_matrix_write_npy(out.f, D);
    return cli_out_commit(c, &out);
}

static void tell_distances(cli *c, const compare_args *a, const comparison *s)
{
    char other[32] = "each other";
    int64_t negative = 0;
    for (int64_t k = 0; s->kl.x && k < s->Ka * s->Kb; k++)
        negative += s->kl.x[k] < 0;
    if (s->a != s->b)
        snprintf(other, sizeof other, "%lld", (long long)s->Kb);
    cli_say(c, "%lld HMM%s against %s for sequences of %d frame%s, in nats", (long long)s->Ka,
            cli_plural(s->Ka), other, a->opt.tau, cli_plural(a->opt.tau));
    cli_tell_common(c, s->a == s->b ? 1 : 2, (const vhem_models *const[]){ s->a, s->b }, true);
    if (negative)
        cli_say(c, "%lld variational divergence%s below zero: a difference of two bounds, see vhem(1)",
                (long long)negative, negative == 1 ? " is" : "s are");
}

/* ---- the work ------------------------------------------------------------------------------------------ */

/* One kind into a matrix of its own, on rank 0; error may be NULL. */
static int compute_distances(cli *c, const compare_args *a, const comparison *s, const char *kind,
                             cli_matrix *D, cli_matrix *error)
{
    vhem_distance_options opt = a->opt;
    if (a->opt.kind && strcmp(a->opt.kind, kind) != 0)
        return CLI_GO;
    opt.kind = kind;
    if (cli_is_first(c))
        CLI_TRY(cli_matrix_new(c, s->Ka, s->Kb, D));
    if (error && cli_is_first(c))
        CLI_TRY(cli_matrix_new(c, s->Ka, s->Kb, error));
    return cli_status(c, vhem_distance(c->ctx, s->a, s->b, &opt, D->x, error ? error->x : NULL));
}

/* Can the output be of the form that the options ask for? */
static int check_form(cli *c, const compare_args *a)
{
    if (!is_npy(a->output))
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
    CLI_CHECK(a->opt.kind || pairs <= MOST_PAIRS,
              "%lld times %lld pairs are too many for a table of everything; choose a matrix with --kind",
              (long long)s->Ka, (long long)s->Kb);
    CLI_CHECK(!c->json || pairs <= MOST_JSON,
              "%lld times %lld pairs are too many for --json; write a matrix to a file, .npy or .csv",
              (long long)s->Ka, (long long)s->Kb);
    return CLI_GO;
}

static int load_and_compare(cli *c, const compare_args *a, comparison *s)
{
    CLI_TRY(cli_check_streams(c, NULL));
    CLI_TRY(check_form(c, a));
    CLI_TRY(is_npy(a->output) ? cli_out_check(c, a->output) : cli_out_check_table(c, a->output));
    CLI_TRY(cli_load_hmms(c, c->arg[0], &s->a));
    if (c->n_arg == 1 || strcmp(c->arg[0], c->arg[1]) == 0)
        s->b = s->a;
    else
        CLI_TRY(cli_load_hmms(c, c->arg[1], &s->b));
    s->Ka = cli_models_facts(s->a).K;
    s->Kb = cli_models_facts(s->b).K;
    s->symmetric = a->opt.symmetric;
    CLI_TRY(check_size(c, a, s));
    CLI_TRY(compute_distances(c, a, s, "kl", &s->kl, NULL));
    /* the errors are in the table of everything, and in JSON */
    CLI_TRY(
        compute_distances(c, a, s, "kl-sampled", &s->sampled, a->opt.kind && !c->json ? NULL : &s->error));
    CLI_TRY(compute_distances(c, a, s, "ppk", &s->ppk, NULL));
    if (!cli_is_first(c))
        return EXIT_DONE;
    CLI_TRY(write_distances(c, a, s));
    tell_distances(c, a, s);
    return EXIT_DONE;
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
    CLI_CLEANUP(free_comparison) comparison s = { 0 };
    cli_table t = { 0 };
    VHEM_INIT(VHEM_DISTANCE_OPTIONS, &a.opt);
    const cli_change change[] = {
        { .field = "kind", .shown = "all, one row per pair", .help = "a matrix of this kind" },
        { .field = "lambda", .help = "power of the kernel" },
        { .field = "symmetric", .help = "divergences: the mean of both directions" },
        { 0 },
    };
    cli_add_output(&t, &a.output,
                   "file to write, .csv with commas, .npy as an array for NumPy, else with tabs");
    cli_add_fields(&t, &(cli_fields){ VHEM_DISTANCE_OPTIONS, &a.opt, .without = "normalised",
                                      .heading = "Options", .change = change });
    cli_add(&t, (const cli_option[]){
                    { "kernel", 0, OPT_CHOICE, "normalised|raw", &a.kernel, .shown = "normalised",
                      .methods = "ppk", .user = "kind", .heading = "Options",
                      .help = "kernels divided by the kernels of each HMM with itself, or raw" },
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
    CLI_TRY(cli_begin(c, argc, argv, &usage));
    if (a.opt.kind)
        CLI_TRY(cli_check_uses(c, &usage, "kind", a.opt.kind));
    fill_defaults(&a);
    return load_and_compare(c, &a, &s);
}
