/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.c - the ranks of vhem-mpi before they begin: all run the command of rank 0, with its backend.  Ranks
 * that do not would come to other bits, or wait for each other. */
#include "cli.h"
#include "vhem.h"

#include <stdlib.h>
#include <string.h>

typedef struct { /* what rank 0 tells the others */
    char version[32], backend[32];
    char command[4096]; /* with the options that were given; not its files, whose data the library compares */
} start;

static void own_start(const cli *c, const cli_usage *usage, start *s)
{
    memset(s, 0, sizeof *s);
    size_t n = (size_t)snprintf(s->command, sizeof s->command, "%s", c->command);
    snprintf(s->version, sizeof s->version, "%s", vhem_version());
    if (c->ctx)
        snprintf(s->backend, sizeof s->backend, "%s", vhem_ctx_backend(c->ctx));
    cli_repeat(c, usage, "output checkpoint memory backend", s->command + n, sizeof s->command - n);
}

/* The backend of rank 0, unless this rank would choose it anyway: asked for by name, a GPU takes work of any
 * size. */
static int take_backend(cli *c, const char *first)
{
    char usable[128];
    const char *problem = cli_backend_problem(first);
    if (c->backend && strcmp(c->backend, first) != 0)
        return cli_fail(c, "--backend is %s here, but rank 0 has %s: give all ranks the same", c->backend,
                        first);
    if (problem)
        return cli_fail(c,
                        "rank 0 has backend %s, which cannot be used here: %s; choose one that all have with "
                        "--backend",
                        first, problem);
    cli_backends(usable, sizeof usable);
    if (strcspn(usable, " ") != strlen(first) || strncmp(usable, first, strlen(first)) != 0) {
        snprintf(c->backend_of_first, sizeof c->backend_of_first, "%s", first);
        c->backend = c->backend_of_first;
    }
    return CLI_GO;
}

static int compare(cli *c, const start *mine, const start *first)
{
    if (strcmp(mine->version, first->version) != 0)
        return cli_fail(c, "this is vhem %s, but rank 0 is vhem %.31s: install the same everywhere",
                        mine->version, first->version);
    if (strcmp(mine->command, first->command) != 0)
        return cli_fail(
            c,
            "this rank was started with '%.400s', but rank 0 with '%.400s': give all ranks the same command",
            mine->command, first->command);
    return take_backend(c, first->backend);
}

int cli_agree(cli *c, const cli_usage *usage)
{
    char why[VHEM_WHY] = "";
    start mine;
    own_start(c, usage, &mine);
    void *first = cli_is_first(c) ? &mine : NULL;
    size_t n = sizeof mine;
    if (c->ranks->pass(c->ranks->arg, 0, 1, &first, &n, why) != VHEM_OK)
        return cli_fail(c, "%s", why);
    if (cli_is_first(c))
        return CLI_GO;
    int status = n == sizeof mine
                     ? compare(c, &mine, first)
                     : cli_fail(c, "rank 0 is another version of vhem: install the same everywhere");
    free(first);
    return status;
}
