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

static int convert(cli *c, const vhem_data_options *opt)
{
    cli_models m = { 0 };
    vhem_data *data = NULL;
    const char *from = c->arg[0], *to = c->arg[1], *where = strcmp(to, "-") == 0 ? "standard output" : to;
    bool clusters = cli_recognise(from) == CLI_IS_CLUSTERING;
    int status = c->json && strcmp(to, "-") == 0 ? cli_check_streams(c, to) : CLI_GO;
    if (status == CLI_GO)
        status = cli_out_check(c, to);
    if (status == CLI_GO)
        status = cli_load_textures(c, from, &m.dtm);
    if (status == CLI_GO && !m.dtm)
        status = cli_load_any(c, from, opt, &m.h3m, &data);
    if (status == CLI_GO)
        status = check_ending(c, !data, to);
    if (status == CLI_GO)
        status = cli_status(c, m.h3m   ? vhem_h3m_save(c->ctx, m.h3m, to)
                               : m.dtm ? vhem_dtm_save(c->ctx, m.dtm, to)
                                       : vhem_data_save(c->ctx, data, to));
    if (status == CLI_GO) {
        const char *what = data ? "sequence" : cli_models_kind(&m);
        int n = data ? vhem_data_size(data) : cli_models_size(&m);
        if (c->json)
            cli_json_put(stdout, json_pack("{s:s, s:o, s:o, s:s, s:i}", "command", c->command, "input",
                                           cli_json_text(from), "output", cli_json_text(to), "kind",
                                           data    ? "data"
                                           : m.h3m ? "models"
                                                   : "textures",
                                           "size", n));
        if (clusters) /* said even with --quiet: not all of A is in B */
            cli_fail(c, "warning: the labels and z of %s are not in %s, only its centres are", from, where);
        if (clusters)
            cli_say(c, "the %d centre%s of the clustering in %s", n, cli_plural(n), where);
        else
            cli_say(c, "%d %s%s in %s", n, what, cli_plural(n), where);
        status = EXIT_DONE;
    }
    vhem_data_free(data);
    cli_models_free(&m);
    return status;
}

int cmd_convert(cli *c, int argc, char **argv)
{
    vhem_data_options opt;
    vhem_data_options_init(&opt);
    const cli_option options[] = {
        CLI_DATA_OPTIONS(&opt, "column with the group of a sequence"),
        { 0 },
    };
    const cli_usage usage = {
        .args = "A B",
        .n_min = 2,
        .n_max = 2,
        .options = options,
        .about = "Writes what is in A in the format that the ending of B names: models as .json or .h5, "
                 "sequences as .csv .tsv .npy .npz .ts or .h5. The options say how to read sequences. - is "
                 "standard input or output.",
        .examples = "  vhem convert models.json models.h5\n"
                    "  vhem convert fixations.csv fixations.npz --id subject,trial --columns x,y\n",
    };
    int status = cli_begin(c, argc, argv, &usage);
    return status == CLI_GO ? convert(c, &opt) : status;
}
