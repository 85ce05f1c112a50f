/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_sample.c - vhem sample MODELS -n N -T T -o DATA. */
#include "cli.h"
#include "vhem.h"

#include <string.h>

static int load_and_sample(cli *c, int64_t N, int64_t T, const char *output)
{
    CLI_OWN vhem_models *models = NULL;
    CLI_OWN vhem_data *data = NULL;
    CLI_TRY(cli_out_check_ending(c, output, "sequences are written as .csv .tsv .npy .npz .ts or .h5",
                                 cli_data_endings));
    CLI_TRY(cli_load_models(c, c->arg[0], &models));
    CLI_TRY(cli_status(c, vhem_sample(c->ctx, models, N, T, &data)));
    CLI_TRY(cli_status(c, vhem_data_save(c->ctx, data, output)));
    if (c->json)
        cli_json_put(stdout, json_pack("{s:s, s:o, s:o, s:I, s:I, s:I, s:i}", "command", c->command, "models",
                                       cli_json_text(c->arg[0]), "output", cli_json_text(output), "seed",
                                       (json_int_t)c->seed, "sequences", (json_int_t)N, "frames",
                                       (json_int_t)T, "dimension", cli_data_facts(data).d));
    cli_say(c, "%lld sequence%s of %lld frame%s in %s", (long long)N, cli_plural(N), (long long)T,
            cli_plural(T), cli_where(output));
    cli_tell_symbols(c, data, output);
    return EXIT_DONE;
}

int cmd_sample(cli *c, int argc, char **argv)
{
    int64_t N = 10, T = 100;
    const char *output = "-";
    cli_table t = { 0 };
    cli_add(&t, (const cli_option[]){ { "output", 'o', OPT_TEXT, "DATA", &output,
                                        .shown = "-, CSV on standard output",
                                        .help = "file to write, .csv .tsv .npy .npz .ts or .h5" },
                                      { "number", 'n', OPT_INT64, "N", &N, 1, .help = "sequences to draw" },
                                      { "length", 'T', OPT_INT64, "T", &T, 1, .help = "frames of each" },
                                      { 0 } });
    const cli_usage usage = {
        .args = "MODELS -n N -T T -o DATA",
        .n_min = 1,
        .n_max = 1,
        .table = &t,
        .about = "Draws sequences from MODELS. Each comes from one HMM or texture, chosen by its weight, "
                 "whose name becomes the label of the sequence.",
        .examples = "  vhem sample walks.json -n 20 -T 150 -o drawn.csv\n"
                    "  vhem sample walks.json --seed 7 | head\n",
    };
    CLI_TRY(cli_begin(c, argc, argv, &usage));
    return load_and_sample(c, N, T, output);
}
