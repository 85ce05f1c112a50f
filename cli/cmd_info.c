/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_info.c - vhem info FILE: the facts as one JSON object, printed as it is or in words. */
#include "cli.h"
#include "info.h"
#include "vhem.h"

#include <string.h>

static int load_and_tell(cli *c, const vhem_data_options *opt, bool all)
{
    CLI_CLEANUP(cli_input_free) cli_input in = { 0 };
    const vhem_contents *file = &in.file;
    const char *name = strcmp(c->arg[0], "-") == 0 ? "standard input" : c->arg[0];
    vhem_data_options read = *opt;
    int64_t detailed = all ? INT64_MAX : c->json ? 0 : 1; /* HMMs of which each state is shown */
    read.symbols = "?";                                   /* columns of text are shown, too */
    CLI_TRY(cli_status(c, vhem_load(c->ctx, c->arg[0], &read, &in.file)));
    if (file->models)
        CLI_TRY(cli_models_read(c, file->models, all || c->json ? INT64_MAX : INFO_FIRST));
    json_t *facts = file->models    ? info_models(name, file->models, all || c->json, detailed)
                    : file->tree    ? info_clusters(c, name, file->tree)
                    : file->classes ? info_classes(name, file->classes)
                                    : info_data(name, file->data);
    if (c->json)
        cli_json_put(stdout, facts);
    else
        info_tell(stdout, facts, all);
    return EXIT_DONE;
}

int cmd_info(cli *c, int argc, char **argv)
{
    vhem_data_options opt;
    int all = 0;
    cli_table t = { 0 };
    VHEM_INIT(VHEM_DATA_OPTIONS, &opt);
    cli_add(&t, (const cli_option[]){ { "all", 'a', OPT_FLAG, NULL, &all,
                                        .help = "list every model, member, column and sequence, not just the "
                                                "first ones; with --json, the states of products too" },
                                      { 0 } });
    cli_add_data(&t, &opt, "column with the group of a sequence");
    const cli_usage usage = {
        .args = "FILE",
        .n_min = 1,
        .n_max = 1,
        .table = &t,
        .first = "all id label group columns",
        .about = "Shows the contents of a file of models, clusters, a tree, class models, or data.",
        .examples = "  vhem info models.json\n"
                    "  vhem info fixations.csv --id subject,trial --json\n",
    };
    CLI_TRY(cli_begin(c, argc, argv, &usage));
    return load_and_tell(c, &opt, all);
}
