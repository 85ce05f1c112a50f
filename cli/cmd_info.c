/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_info.c - vhem info FILE: gathers the facts as one JSON object, then prints it or tells it. */
#include "cli.h"
#include "info.h"

#include <string.h>

static int inform(cli *c, const vhem_data_options *opt, bool all)
{
    vhem_h3m *h3m = NULL;
    vhem_dtm *dtm = NULL;
    vhem_data *data = NULL;
    vhem_tree *tree = NULL;
    vhem_classes *classes = NULL;
    const char *name = strcmp(c->arg[0], "-") == 0 ? "standard input" : c->arg[0];
    cli_content content = cli_recognise(c->arg[0]);
    bool clusters = content == CLI_IS_CLUSTERING || content == CLI_IS_TREE;
    int status = clusters ? CLI_GO : cli_load_textures(c, c->arg[0], &dtm);
    if (status == CLI_GO && !dtm)
        status = clusters                    ? cli_status(c, vhem_tree_load(c->ctx, c->arg[0], &tree))
                 : content == CLI_IS_CLASSES ? cli_status(c, vhem_classes_load(c->ctx, c->arg[0], &classes))
                                             : cli_load_any(c, c->arg[0], opt, &h3m, &data);
    if (status == CLI_GO) {
        json_t *facts = dtm       ? info_textures(name, dtm)
                        : classes ? info_classes(name, classes)
                        : tree    ? info_clusters(name, tree, content == CLI_IS_TREE)
                        : h3m     ? info_models(name, h3m)
                                  : info_data(name, data);
        if (c->json)
            cli_json_put(stdout, facts);
        else
            info_tell(stdout, facts, all);
        status = EXIT_DONE;
    }
    vhem_classes_free(classes);
    vhem_tree_free(tree);
    vhem_data_free(data);
    vhem_h3m_free(h3m);
    vhem_dtm_free(dtm);
    return status;
}

int cmd_info(cli *c, int argc, char **argv)
{
    vhem_data_options opt;
    bool all = false;
    vhem_data_options_init(&opt);
    const cli_option options[] = {
        { "all", 'a', OPT_FLAG, NULL, &all, 0, NULL,
          "list every HMM, member or sequence, not just the first ones" },
        CLI_DATA_OPTIONS(&opt, "column with the group of a sequence"),
        { 0 },
    };
    const cli_usage usage = {
        .args = "FILE",
        .n_min = 1,
        .n_max = 1,
        .options = options,
        .about = "Says what is in a file of models, of clusters, of a tree, of class models, or of data.",
        .examples = "  vhem info models.json\n"
                    "  vhem info fixations.csv --id subject,trial --json\n",
    };
    int status = cli_begin(c, argc, argv, &usage);
    return status == CLI_GO ? inform(c, &opt, all) : status;
}
