/* SPDX-License-Identifier: BSD-3-Clause */
/* eval_load.c - the files that vhem eval judges, and whether they fit together. */
#include "eval.h"

#include <stdlib.h>
#include <string.h>

/* Runs can be compared when they have the same levels over the same models. */
static int check_run(cli *c, const char *path, const vhem_tree *tree, const eval_result *r, const char *first)
{
    int levels = vhem_tree_levels(tree), Kb = levels ? vhem_tree_level(tree, 0)->Kb : 0;
    if (levels != r->levels)
        return cli_fail(c, "%s has %d level%s, but %s has %d", path, levels, cli_plural(levels), first,
                        r->levels);
    if (Kb != r->Kb)
        return cli_fail(c, "%s clusters %d models, but %s %d", path, Kb, first, r->Kb);
    return CLI_GO;
}

int eval_load(cli *c, eval_runs *runs, eval_result *r)
{
    int status = CLI_GO;
    runs->run = calloc((size_t)runs->n + 1, sizeof *runs->run);
    if (!runs->run)
        return cli_fail(c, "out of memory");
    for (int k = 0; status == CLI_GO && k < runs->n; k++) {
        eval_run *one = &runs->run[k];
        status = cli_load_clusters(c, runs->path[k], &one->tree);
        if (status != CLI_GO)
            break;
        if (r->levels == 0) {
            r->levels = vhem_tree_levels(one->tree);
            r->Kb = vhem_tree_level(one->tree, 0)->Kb;
        }
        status = check_run(c, runs->path[k], one->tree, r, r->a.path[0]);
        one->value = calloc((size_t)r->levels, sizeof *one->value);
        if (status == CLI_GO && !one->value)
            status = cli_fail(c, "out of memory");
    }
    return status;
}

void eval_free(eval_runs *runs)
{
    for (int k = 0; runs->run && k < runs->n; k++) {
        vhem_tree_free(runs->run[k].tree);
        free(runs->run[k].value);
    }
    free(runs->run);
}
