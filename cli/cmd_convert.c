/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_convert.c - vhem convert A B, and vhem convert A... -o OUT, which makes one set of several. */
#include "cli.h"
#include "vhem.h"
#include "os/path.h"

#include <stdlib.h>
#include <string.h>

/* Models and sequences are not made from each other: the ending must suit what A holds. */
static int check_ending(cli *c, bool model, const char *to)
{
    if (strcmp(to, "-") == 0 || (model && strncmp(to, "/dev/", 5) == 0)
        || cli_ends_with(to, model ? cli_model_endings : cli_data_endings))
        return CLI_GO;
    if (model)
        return cli_fail(c,
                        "%s holds models, which are written as .json or .h5, not as %s; 'vhem sample' draws "
                        "sequences from them",
                        c->arg[0], to);
    return cli_fail(c,
                    "%s holds sequences, which are written as .csv .tsv .npy .npz .ts or .h5, not as %s; "
                    "'vhem fit' makes models from them",
                    c->arg[0], to);
}

static void tell_converted(cli *c, const cli_input *in, int64_t n)
{
    const char *from = c->arg[0], *where = cli_where(c->arg[1]), *word = cli_item_word(&in->from);
    if (c->json)
        cli_json_put(stdout, json_pack("{s:s, s:o, s:o, s:s, s:I}", "command", c->command, "input",
                                       cli_json_text(from), "output", cli_json_text(c->arg[1]), "kind",
                                       in->from.data              ? "data"
                                       : strcmp(word, "HMM") == 0 ? "models"
                                                                  : "textures",
                                       "size", (json_int_t)n));
    if (in->file.tree) /* said even with --quiet: not all of A is in B */
        cli_fail(c, "warning: only the centres of the lowest clusters of %s are in %s, not their members",
                 from, where);
    if (in->file.tree)
        cli_say(c, "the %lld centre%s of the clustering in %s", (long long)n, cli_plural(n), where);
    else
        cli_say(c, "%lld %s%s in %s", (long long)n, word, cli_plural(n), where);
}

/* Text stays text in a table.  An array gets numbers for it, where its columns were asked for or there is
 * nothing else. */
static int load_to_convert(cli *c, const vhem_data_options *asked, cli_input *in)
{
    vhem_data_options opt = *asked;
    opt.symbols = cli_holds_text(c->arg[1]) || opt.columns ? "?" : "??";
    return cli_load_input(c, c->arg[0], &opt, in);
}

static int load_and_convert(cli *c, const vhem_data_options *opt)
{
    CLI_CLEANUP(cli_input_free) cli_input in = { 0 };
    const char *to = c->arg[1];
    if (c->json && strcmp(to, "-") == 0)
        CLI_TRY(cli_check_streams(c, to));
    CLI_TRY(cli_out_check(c, to));
    CLI_TRY(load_to_convert(c, opt, &in));
    in.from.by_group = 0; /* sequences are written one by one, with their groups */
    CLI_TRY(check_ending(c, in.from.models != NULL, to));
    CLI_TRY(cli_status(c, in.from.models ? vhem_models_save(c->ctx, in.from.models, NULL, to)
                                         : vhem_data_save(c->ctx, in.from.data, to)));
    tell_converted(c, &in, cli_models_facts(in.from.models).K + cli_data_facts(in.from.data).N);
    if (in.from.data)
        cli_tell_symbols(c, in.from.data, to);
    return EXIT_DONE;
}

/* What has no ending of a file is a folder. */
static bool is_file(const char *to)
{
    return strcmp(to, "-") == 0 || strncmp(to, "/dev/", 5) == 0 || cli_ends_with(to, cli_model_endings)
           || cli_ends_with(to, cli_data_endings);
}

/* ---- several sets into one ----------------------------------------------------------------------------- */

/* A folder that is there is never written into. */
static int check_target(cli *c, const char *to, int shards)
{
    if (is_file(to) && shards > 0)
        return cli_misuse(c, "--shards makes a folder, but %s is the name of a file", to);
    if (is_file(to) && strncmp(to, "/dev/", 5) != 0 && strcmp(to, "-") != 0
        && !cli_ends_with(to, cli_model_endings))
        return cli_misuse(c,
                          "-o %s: several files become one set of models, .json, .h5 or a folder; sequences "
                          "are converted one file at a time",
                          to);
    if (is_file(to))
        return cli_out_check(c, to);
    return vh_path_exists(to) ? cli_fail(c, "%s already exists; remove it, or choose another name", to)
                              : CLI_GO;
}

static void tell_merged(cli *c, const char *to, int64_t K, int shards)
{
    if (c->json)
        cli_json_put(stdout, json_pack("{s:s, s:o, s:s, s:I, s:i, s:i}", "command", c->command, "output",
                                       cli_json_text(to), "kind", "models", "size", (json_int_t)K, "inputs",
                                       c->n_arg, "shards", shards));
    if (shards > 0)
        cli_say(c, "%lld HMM%s in %d file%s of %s", (long long)K, cli_plural(K), shards, cli_plural(shards),
                to);
    else
        cli_say(c, "%lld HMM%s in %s", (long long)K, cli_plural(K), cli_where(to));
}

/* Sequences, by the name of their file, that would be written in a format that does not exist. */
static int check_sequences(cli *c, const char *to, int shards)
{
    const char *from = c->arg[0], *dot = strrchr(vh_path_name(to), '.');
    bool sequences = cli_ends_with(from, cli_table_endings)
                     || (cli_ends_with(from, cli_data_endings) && !cli_ends_with(from, cli_model_endings));
    if (!sequences || c->n_arg != 1 || shards > 0 || is_file(to))
        return CLI_GO;
    return cli_misuse(c, "-o %s: %s%s%s; sequences are written as .csv .tsv .npy .npz .ts or .h5", to,
                      dot ? "the ending '" : "it has no ending", dot ? dot : "", dot ? "' is unknown" : "");
}

typedef struct {
    vhem_models *set[CLI_MAX_ARGS];
} merged;

static void free_merged(merged *m)
{
    for (int p = 0; p < CLI_MAX_ARGS; p++)
        vhem_free(m->set[p]);
}

static int merge(cli *c, const char *to, int shards)
{
    CLI_CLEANUP(free_merged) merged in = { 0 };
    int64_t K = 0;
    CLI_TRY(check_sequences(c, to, shards));
    CLI_TRY(check_target(c, to, shards));
    for (int p = 0; p < c->n_arg; p++) {
        CLI_TRY(cli_load_hmms(c, c->arg[p], &in.set[p]));
        K += cli_models_facts(in.set[p]).K;
    }
    if (shards <= 0 && !is_file(to))
        shards = c->n_arg;
    CLI_TRY(cli_status(
        c, vhem_models_merge(c->ctx, c->n_arg, (const vhem_models *const *)in.set, shards, NULL, to)));
    tell_merged(c, to, K, shards);
    return EXIT_DONE;
}

int cmd_convert(cli *c, int argc, char **argv)
{
    vhem_data_options opt;
    const char *output = NULL;
    int shards = 0;
    cli_table t = { 0 };
    VHEM_INIT(VHEM_DATA_OPTIONS, &opt);
    cli_add(&t,
            (const cli_option[]){
                { "output", 'o', OPT_TEXT, "OUT", &output,
                  .help = "file to write, as B; for the models of several files, or for shards, a .json or "
                          ".h5 file or a folder" },
                { "shards", 0, OPT_INT, "N", &shards, .least = 1, .shown = "as many as inputs",
                  .help = "number of files in that folder" },
                { 0 } });
    cli_add_data(&t, &opt, "column with the group of a sequence");
    const cli_usage usage = {
        .args = "A B  or  A... -o OUT",
        .n_min = 1,
        .n_max = CLI_MAX_ARGS,
        .writes_last = true,
        .table = &t,
        .first = "output shards format id columns",
        .about = "Writes the contents of A in the format that the ending of B names: models as .json or .h5, "
                 "sequences as .csv .tsv .npy .npz .ts or .h5. The options describe how to read sequences. - "
                 "is "
                 "standard input or output. With -o the models of several files become one set, in the "
                 "order of the files; --shards cuts it into files of a handy size.",
        .examples = "  vhem convert models.json models.h5\n"
                    "  vhem convert fixations.csv fixations.npz --id subject,trial --columns x,y\n"
                    "  vhem convert part_*.h5 -o all.h5\n"
                    "  vhem convert models.h5 --shards 16 -o models\n",
    };
    CLI_TRY(cli_begin(c, argc, argv, &usage));
    if (output && c->n_arg == 1 && shards <= 0 && is_file(output)) { /* the same as A B */
        c->arg[c->n_arg++] = output;
        return load_and_convert(c, &opt);
    }
    if (output)
        return merge(c, output, shards);
    if (shards > 0)
        return cli_misuse(c, "--shards needs -o FOLDER");
    if (c->n_arg != 2)
        return cli_misuse(c,
                          c->n_arg < 2 ? "too few arguments; the command is: vhem convert %s"
                                       : "which of them is the output? The command is: vhem convert %s",
                          usage.args);
    return load_and_convert(c, &opt);
}
