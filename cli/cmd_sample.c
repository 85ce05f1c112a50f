/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_sample.c - vhem sample MODELS -n N -T T -o DATA. */
#include "cli.h"

#include <string.h>

static int load_and_sample(cli *c, int N, int T, const char *output)
{
    cli_models m = { 0 };
    vhem_data *data = NULL;
    int status = cli_check_streams(c, output);
    if (status == CLI_GO && strcmp(output, "-") != 0 && !cli_ends_with(output, cli_data_endings))
        status = cli_misuse(c, "%s: sequences are written as .csv .tsv .npy .npz .ts or .h5", output);
    if (status == CLI_GO)
        status = cli_out_check(c, output);
    if (status == CLI_GO)
        status = cli_models_load(c, c->arg[0], &m);
    if (status == CLI_GO)
        status = cli_status(c, m.h3m ? vhem_sample(c->ctx, m.h3m, N, T, &data)
                                     : vhem_dtm_sample(c->ctx, m.dtm, N, T, &data));
    if (status == CLI_GO)
        status = cli_status(c, vhem_data_save(c->ctx, data, output));
    if (status == CLI_GO) {
        if (c->json)
            cli_json_put(stdout, json_pack("{s:s, s:o, s:o, s:I, s:i, s:i, s:i}", "command", c->command,
                                           "models", cli_json_text(c->arg[0]), "output",
                                           cli_json_text(output), "seed", (json_int_t)c->seed, "sequences", N,
                                           "frames", T, "dimension", vhem_data_dim(data)));
        cli_say(c, "%d sequence%s of %d frame%s in %s", N, N == 1 ? "" : "s", T, T == 1 ? "" : "s",
                strcmp(output, "-") == 0 ? "standard output" : output);
        status = EXIT_DONE;
    }
    vhem_data_free(data);
    cli_models_free(&m);
    return status;
}

int cmd_sample(cli *c, int argc, char **argv)
{
    int N = 10, T = 100;
    const char *output = "-";
    const cli_option options[] = {
        { "output", 'o', OPT_TEXT, "DATA", &output, 0, "-, CSV on standard output",
          "file to write, .csv .tsv .npy .npz .ts or .h5" },
        { "number", 'n', OPT_INT, "N", &N, 1, NULL, "sequences to draw" },
        { "length", 'T', OPT_INT, "T", &T, 1, NULL, "frames of each" },
        { 0 },
    };
    const cli_usage usage = {
        .args = "MODELS -n N -T T -o DATA",
        .n_min = 1,
        .n_max = 1,
        .options = options,
        .about = "Draws sequences from MODELS. Each comes from one HMM or texture, chosen by its weight, "
                 "whose name becomes the label of the sequence.",
        .examples = "  vhem sample walks.json -n 20 -T 150 -o drawn.csv\n"
                    "  vhem sample walks.json --seed 7 | head\n",
    };
    int status = cli_begin(c, argc, argv, &usage);
    return status == CLI_GO ? load_and_sample(c, N, T, output) : status;
}
