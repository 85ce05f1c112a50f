/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_convert.c - vhem convert A B. */
#include "cli.h"

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

static int load_and_convert(cli *c, const vhem_data_options *opt)
{
    cli_input in = { 0 };
    const char *to = c->arg[1];
    int status = c->json && strcmp(to, "-") == 0 ? cli_check_streams(c, to) : CLI_GO;
    if (status == CLI_GO)
        status = cli_out_check(c, to);
    if (status == CLI_GO)
        status = cli_load_input(c, c->arg[0], opt, &in);
    in.from.by_group = 0; /* sequences are written one by one, with their groups */
    if (status == CLI_GO)
        status = check_ending(c, in.from.models != NULL, to);
    if (status == CLI_GO)
        status = cli_status(c, in.from.models ? vhem_models_save(c->ctx, in.from.models, NULL, to)
                                              : vhem_data_save(c->ctx, in.from.data, to));
    if (status == CLI_GO) {
        vhem_models_facts models = { 0 };
        vhem_data_facts data = { 0 };
        if (in.from.models)
            vhem_models_info(in.from.models, &models);
        else
            vhem_data_info(in.from.data, &data);
        tell_converted(c, &in, models.K + data.N);
        status = EXIT_DONE;
    }
    cli_input_free(&in);
    return status;
}

int cmd_convert(cli *c, int argc, char **argv)
{
    vhem_data_options opt;
    cli_table t = { 0 };
    vhem_data_options_init(&opt);
    cli_add_data(&t, &opt, "column with the group of a sequence");
    const cli_usage usage = {
        .args = "A B",
        .n_min = 2,
        .n_max = 2,
        .writes_last = true,
        .table = &t,
        .about = "Writes what is in A in the format that the ending of B names: models as .json or .h5, "
                 "sequences as .csv .tsv .npy .npz .ts or .h5. The options say how to read sequences. - is "
                 "standard input or output.",
        .examples = "  vhem convert models.json models.h5\n"
                    "  vhem convert fixations.csv fixations.npz --id subject,trial --columns x,y\n",
    };
    int status = cli_begin(c, argc, argv, &usage);
    return status == CLI_GO ? load_and_convert(c, &opt) : status;
}
