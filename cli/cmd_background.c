/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_background.c - vhem background DATA -g G -o BACKGROUND: the Gaussians that HMMs of gaussian-tied
 * share. */
#include "cli.h"
#include "vhem.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    vhem_data_options data;
    vhem_fit_options fit;
    const char *output;
    const cli_usage *usage;
} background_args;

static int fit_and_save(cli *c, const background_args *a)
{
    enum { MOST = 4096 }; /* components of a state that the library takes */
    CLI_OWN vhem_data *data = NULL;
    CLI_OWN vhem_models *models = NULL;
    char read[1024], data_word[CLI_WORD], word[CLI_WORD];
    if (a->fit.M > MOST)
        return cli_misuse(c, "--gaussians is %d, must be at most %d", a->fit.M, MOST);
    CLI_TRY(cli_out_check_ending(c, a->output, "a background is written as .json or .h5", cli_model_endings));
    CLI_TRY(cli_load_data(c, c->arg[0], &a->data, NULL, NULL, &data));
    CLI_TRY(cli_status(c, vhem_fit(c->ctx, data, &a->fit, &models, NULL)));
    CLI_AUTOFREE char *made = cli_provenance(c, cli_options_json(a->usage, "model", "hmm"), false);
    CLI_CHECK(made, "out of memory");
    CLI_CHECK(vhem_models_save(c->ctx, models, made, a->output) == VHEM_OK, "%s", vhem_ctx_error(c->ctx));
    const vhem_data_facts facts = cli_data_facts(data);
    if (c->json)
        cli_json_put(stdout,
                     json_pack("{s:s, s:o, s:i, s:i}", "command", c->command, "output",
                               cli_json_text(a->output), "gaussians", a->fit.M, "dimension", facts.d));
    cli_say(c, "%d Gaussians of dimension %d in %s; next: vhem fit %s --emission gaussian-tied:%s%s",
            a->fit.M, facts.d, cli_where(a->output), cli_word(c->arg[0], data_word, sizeof data_word),
            cli_word(a->output, word, sizeof word),
            cli_repeat_reading(c, a->usage, "memory", read, sizeof read));
    return EXIT_DONE;
}

int cmd_background(cli *c, int argc, char **argv)
{
    background_args a = { .output = "-" };
    cli_table t = { 0 };
    VHEM_INIT(VHEM_DATA_OPTIONS, &a.data);
    VHEM_INIT(VHEM_FIT_OPTIONS, &a.fit);
    a.fit.K = a.fit.S = a.fit.restarts = 1;
    a.fit.M = 256;
    a.fit.max_iter = 20;
    a.fit.prior = "none";
    cli_add(&t, (const cli_option[]){
                    { "output", 'o', OPT_TEXT, "BACKGROUND", &a.output, .shown = "-, standard output",
                      .help = "file to write, .json or .h5" },
                    { "gaussians", 'g', OPT_INT, "G", &a.fit.M, 1, .help = "Gaussians of the background" },
                    { "max-iter", 0, OPT_INT, "N", &a.fit.max_iter, 1, .help = "most iterations of EM" },
                    { 0 } });
    cli_add_data(&t, &a.data, "column with the group; not used here");
    const cli_usage usage = {
        .args = "DATA -g G -o BACKGROUND",
        .n_min = 1,
        .n_max = 1,
        .table = &t,
        .about =
            "Fits a mixture of G Gaussians to all frames of DATA together: k-means, then EM. HMMs fitted "
            "with --emission gaussian-tied:BACKGROUND share these Gaussians and have weights only, and "
            "clustering such HMMs costs nothing that grows with the number of columns. BACKGROUND is a model "
            "file with one HMM of one state.",
        .examples = "  vhem background songs.h5 -g 256 -o background.h5\n"
                    "  vhem fit songs.h5 --emission gaussian-tied:background.h5 -o hmms.h5\n",
    };
    a.usage = &usage;
    CLI_TRY(cli_begin(c, argc, argv, &usage));
    return fit_and_save(c, &a);
}
